//! The hosts of a job's ranks, by what its launcher says of them in the environment of each rank.
//!
//! Slurm names the hosts and how many tasks each has, LSF does both in one variable. In which order ranks are
//! given to hosts neither says: block by block or in turn. So an order counts only if every rank that was
//! recorded was where it says.

/// Most numbers of a range of hosts that are believed.
const MOST: usize = 1 << 20;

/// By rank its host, of `size` ranks; None where that is not known. `variables` are those of one rank as
/// `NAME=value`, `recorded` has the ranks whose hosts are known.
pub fn of_ranks(variables: &[String], size: usize, recorded: &[(u32, &str)]) -> Option<Vec<String>> {
    let value = |name: &str| {
        variables.iter().find_map(|v| v.split_once('=').filter(|(n, _)| *n == name).map(|(_, value)| value))
    };
    let slurm = |list: &str, tasks: &str| {
        let (hosts, tasks) = (listed(value(list)?)?, tasks_of(value(tasks)?)?);
        (hosts.len() == tasks.len()).then(|| hosts.into_iter().zip(tasks).collect())
    };
    let given: [Option<Vec<(String, usize)>>; 3] = [
        slurm("SLURM_STEP_NODELIST", "SLURM_STEP_TASKS_PER_NODE"),
        slurm("SLURM_JOB_NODELIST", "SLURM_TASKS_PER_NODE"),
        value("LSB_MCPU_HOSTS").and_then(pairs),
    ];
    let orders = given.iter().flatten().flat_map(|hosts| [in_blocks(hosts, size), in_turn(hosts, size)]);
    let fits = |order: &Vec<String>| {
        recorded.iter().all(|&(rank, host)| order.get(rank as usize).is_some_and(|one| is_same(one, host)))
    };
    let mut orders = orders.flatten().filter(fits);
    let first = orders.next()?;
    // Of two that fit only what they have in common would be known.
    orders.all(|other| other == first).then_some(first)
}

/// Whether these name one host: one of them may be without its domain.
fn is_same(one: &str, other: &str) -> bool {
    let label = |name: &str| name.split('.').next().map(str::to_ascii_lowercase);
    label(one) == label(other)
}

fn in_blocks(hosts: &[(String, usize)], size: usize) -> Option<Vec<String>> {
    let all = hosts.iter().flat_map(|(host, tasks)| std::iter::repeat_n(host, *tasks));
    let order: Vec<String> = all.take(size).cloned().collect();
    (order.len() == size).then_some(order)
}

/// One to each host that has room for more, again and again.
fn in_turn(hosts: &[(String, usize)], size: usize) -> Option<Vec<String>> {
    let most = hosts.iter().map(|(_, tasks)| *tasks).max()?.min(size);
    let rounds = (0..most).flat_map(|round| hosts.iter().filter(move |(_, tasks)| *tasks > round));
    let order: Vec<String> = rounds.take(size).map(|(host, _)| host.clone()).collect();
    (order.len() == size).then_some(order)
}

/// Slurm's list of hosts: `node[1-3,07],login`.
fn listed(list: &str) -> Option<Vec<String>> {
    let mut hosts = Vec::new();
    let (mut depth, mut begin) = (0, 0);
    for (at, byte) in list.bytes().chain([b',']).enumerate() {
        match byte {
            b'[' => depth += 1,
            b']' => depth -= 1,
            b',' if depth == 0 => {
                hosts.extend(expanded(list.get(begin..at)?)?);
                begin = at + 1;
            }
            _ => {}
        }
        if hosts.len() > MOST {
            return None;
        }
    }
    // A bracket that is open at the end: the list was cut.
    (depth == 0).then_some(hosts)
}

/// A name, with at most one bracket of numbers and ranges of them.
fn expanded(name: &str) -> Option<Vec<String>> {
    let Some((before, rest)) = name.split_once('[') else {
        return (!name.is_empty()).then(|| vec![name.to_owned()]);
    };
    let (numbers, after) = rest.split_once(']')?;
    if after.contains('[') {
        return None;
    }
    let mut hosts = Vec::new();
    for range in numbers.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let width = first.len();
        let (first, last) = (first.parse::<usize>().ok()?, last.parse::<usize>().ok()?);
        if last.checked_sub(first)? > MOST {
            return None;
        }
        hosts.extend((first..=last).map(|number| format!("{before}{number:0width$}{after}")));
    }
    Some(hosts)
}

/// Slurm's list of tasks: `4(x2),3`.
fn tasks_of(list: &str) -> Option<Vec<usize>> {
    let mut tasks = Vec::new();
    for part in list.split(',') {
        let (number, times) = match part.split_once("(x") {
            Some((number, times)) => (number, times.strip_suffix(')')?.parse::<usize>().ok()?),
            None => (part, 1),
        };
        if times > MOST {
            return None;
        }
        tasks.extend(std::iter::repeat_n(number.parse::<usize>().ok()?, times));
    }
    Some(tasks)
}

/// LSF's list: `one 4 two 4`.
fn pairs(list: &str) -> Option<Vec<(String, usize)>> {
    let words: Vec<&str> = list.split_whitespace().collect();
    let pair = |pair: &[&str]| match *pair {
        [host, tasks] => Some((host.to_owned(), tasks.parse().ok()?)),
        _ => None,
    };
    words.chunks(2).map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[&str], size: usize, recorded: &[(u32, &str)]) -> Option<String> {
        let variables: Vec<String> = variables.iter().map(|&v| v.to_owned()).collect();
        of_ranks(&variables, size, recorded).map(|hosts| hosts.join(" "))
    }

    const STEP: [&str; 2] = ["SLURM_STEP_NODELIST=n[1-2]", "SLURM_STEP_TASKS_PER_NODE=2(x2)"];

    #[test]
    fn an_order_counts_if_recorded_ranks_were_there() {
        assert_eq!(of(&STEP, 4, &[(0, "n1"), (1, "n1")]).as_deref(), Some("n1 n1 n2 n2"));
        assert_eq!(of(&STEP, 4, &[(0, "n1.site"), (2, "N1")]).as_deref(), Some("n1 n2 n1 n2"));
        // Either may be so, or neither.
        assert_eq!(of(&STEP, 4, &[(0, "n1")]), None);
        assert_eq!(of(&STEP, 4, &[(0, "n2"), (1, "n1")]), None);
        assert_eq!(of(&STEP, 5, &[(0, "n1")]), None);
        assert_eq!(of(&STEP[..1], 4, &[(0, "n1"), (1, "n1")]), None);
        assert_eq!(of(&[], 4, &[]), None);
    }

    /// The step that `mpirun` starts in a job has one task a host; and LSF has slots that may stay empty.
    #[test]
    fn what_does_not_fit_is_passed_over() {
        let job = ["SLURM_JOB_NODELIST=a,b", "SLURM_TASKS_PER_NODE=3,1", "SLURM_STEP_NODELIST=a,b"];
        let with_step: Vec<&str> = job.into_iter().chain(["SLURM_STEP_TASKS_PER_NODE=1(x2)"]).collect();
        assert_eq!(of(&with_step, 4, &[(1, "a"), (2, "a")]).as_deref(), Some("a a a b"));
        let slots = ["LSB_MCPU_HOSTS=a 2 b 4"];
        assert_eq!(of(&slots, 3, &[(0, "a"), (1, "a")]).as_deref(), Some("a a b"));
        assert_eq!(of(&["LSB_MCPU_HOSTS=a 2 b"], 3, &[(0, "a"), (1, "a")]), None);
    }

    #[test]
    fn lists_of_hosts_are_read() {
        let all = |list: &str| listed(list).map(|hosts| hosts.join(" "));
        assert_eq!(all("n[08-10,3],login,r2-gpu").as_deref(), Some("n08 n09 n10 n3 login r2-gpu"));
        assert_eq!(all("n[1-2]-ib").as_deref(), Some("n1-ib n2-ib"));
        for broken in ["", "n[1-", "n[2-1]", "n[1]m[2]", "n[0-99999999999]", "n[x]", "a,,b"] {
            assert_eq!(all(broken), None, "{broken}");
        }
        assert_eq!(tasks_of("4(x2),3"), Some(vec![4, 4, 3]));
        for broken in ["", "4(x", "(x2)", "4(x99999999999)", "4x2"] {
            assert_eq!(tasks_of(broken), None, "{broken}");
        }
    }
}
