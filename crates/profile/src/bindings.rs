//! Which processors each process of a run may use, and which job it is a rank of.

use std::collections::{BTreeSet, HashMap};

use crate::Process;

use crate::processor_set::{ProcessorSet, available as available_processors, first as first_processors};

/// Linux knows no more processors than that; a damaged log may claim any number.
const MOST_PROCESSORS: u32 = 1 << 13;

/// The sets of processors of a run, and which of them each process has.
#[derive(Debug, Default)]
pub struct Bindings {
    /// The distinct sets.
    pub sets: Vec<ProcessorSet>,
    /// Position in `sets`; None = not known.
    pub of_processes: Vec<Option<usize>>,
    known: HashMap<ProcessorSet, usize>,
}

impl Bindings {
    /// Those of these processes, in their order.
    pub fn of(processes: &[Process]) -> Bindings {
        let mut bindings = Bindings::default();
        let mut hosts = HashMap::new();
        for process in processes {
            let next = hosts.len() as u32;
            let host = *hosts.entry(process.host.as_str()).or_insert(next);
            let mask = match mask_of(&process.processors) {
                Some(mask) => mask,
                // Which they are is not known: as if all of so many had the same.
                None if (1..=MOST_PROCESSORS).contains(&process.available_processors) => {
                    first_processors(process.available_processors)
                }
                None => {
                    bindings.of_processes.push(None);
                    continue;
                }
            };
            let index = bindings.number(ProcessorSet { host, mask, quota_milli: process.quota_milli });
            bindings.of_processes.push(Some(index));
        }
        bindings
    }

    /// The position of the set of a location that is bound to these processors, which are others than its
    /// process has; None where that is not known.
    pub fn of_location(&mut self, process: usize, processors: &str) -> Option<usize> {
        let of_process = self.sets.get((*self.of_processes.get(process)?)?)?.clone();
        Some(self.number(ProcessorSet { mask: mask_of(processors)?, ..of_process }))
    }

    fn number(&mut self, set: ProcessorSet) -> usize {
        *self.known.entry(set).or_insert_with_key(|set| {
            self.sets.push(set.clone());
            self.sets.len() - 1
        })
    }
}

/// Processors that a run may use: of each host those of any of its processes. In a job only ranks count:
/// their launcher is bound to nothing and computes nothing. 0 = not known.
pub fn available(processes: &[Process]) -> u32 {
    let has_ranks = processes.iter().any(|process| process.rank.is_some());
    let counts = |process: &Process| !has_ranks || process.rank.is_some();
    let bindings = Bindings::of(processes);
    let mine = processes.iter().zip(&bindings.of_processes).filter(|(process, _)| counts(process));
    available_processors(mine.filter_map(|(_, set)| bindings.sets.get((*set)?))).unwrap_or(0)
}

/// A mask from ranges of numbers, such as `0-3,8`.
fn mask_of(ranges: &str) -> Option<Vec<u64>> {
    let mut mask = Vec::new();
    for range in ranges.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        let (from, to): (u32, u32) = (from.parse().ok()?, to.parse().ok()?);
        for number in (from..=to).take_while(|&number| number < MOST_PROCESSORS) {
            let word = number as usize / 64;
            mask.resize(mask.len().max(word + 1), 0);
            mask[word] |= 1_u64 << (number % 64);
        }
    }
    (!mask.is_empty()).then_some(mask)
}

/// Variables that name a job, by launcher.
const NAMES: [&str; 6] = [
    "PMIX_NAMESPACE",
    "OMPI_MCA_ess_base_jobid",
    "OMPI_MCA_orte_hnp_uri",
    "PMI_JOBID",
    "PMI_ID",
    "SLURM_JOB_ID",
];

/// The job of each process that is a rank: several may run in one recorded command, one after the other or
/// side by side, and each has a rank 0.
///
/// Where the launcher names no job, its process is the parent of all ranks on a host; that distinguishes jobs
/// on one host. Ranks that were recorded one by one have a recorder each as parent: if no two of them have
/// the same number, they are one job.
pub fn jobs(processes: &[Process], parent_of: impl Fn(usize) -> Option<usize>) -> Vec<Option<u32>> {
    let one_host = processes.windows(2).all(|pair| pair[0].host == pair[1].host);
    let launcher_of = |id: usize| {
        let process = &processes[id];
        // A rank's shell and what it starts have its variables: their launcher is that of the first of them.
        let is_same = |parent: &usize| processes[*parent].rank == process.rank;
        let ancestors = std::iter::successors(Some(id), |&id| parent_of(id).filter(is_same));
        let first = ancestors.take(processes.len()).last()?;
        // Whose parent has ended has another one: to whom it belonged is not known.
        let launcher = processes[first].parent_pid;
        (one_host && launcher > 1).then_some(launcher)
    };
    let launchers: Vec<Option<(u32, u32)>> = (0..processes.len())
        .map(|id| Some((processes[id].rank?, launcher_of(id)?)).filter(|_| name_of(&processes[id]).is_none()))
        .collect();
    let one_by_one = have_a_launcher_each(&launchers);
    let mut numbers: HashMap<String, u32> = HashMap::new();
    let mut job = |id: usize| {
        let process = &processes[id];
        process.rank?;
        let key = name_of(process).or_else(|| match launchers[id]? {
            _ if one_by_one => Some("recorded one by one".to_owned()),
            (_, launcher) => Some(format!("launcher {launcher}")),
        })?;
        let next = numbers.len() as u32;
        Some(*numbers.entry(key).or_insert(next))
    };
    (0..processes.len()).map(&mut job).collect()
}

/// Whether each of several ranks has a launcher of its own. Given: rank and launcher of each process.
fn have_a_launcher_each(ranks: &[Option<(u32, u32)>]) -> bool {
    let pairs: BTreeSet<(u32, u32)> = ranks.iter().flatten().copied().collect();
    let numbers: BTreeSet<u32> = pairs.iter().map(|(rank, _)| *rank).collect();
    let launchers: BTreeSet<u32> = pairs.iter().map(|(_, launcher)| *launcher).collect();
    pairs.len() > 1 && pairs.len() == numbers.len() && pairs.len() == launchers.len()
}

fn name_of(process: &Process) -> Option<String> {
    let value =
        |name: &str| process.environment.iter().find(|v| v.split_once('=').is_some_and(|(n, _)| n == name));
    let job = NAMES.iter().find_map(|name| value(name))?;
    let step = value("SLURM_STEP_ID").map_or("", |step| step);
    Some(format!("{job} {step}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent_pid: u32, processors: &str) -> Process {
        Process { pid, parent_pid, host: "here".into(), processors: processors.into(), ..Process::default() }
    }

    fn rank(rank: u32, of: Process, variable: &str) -> Process {
        Process { rank: Some(rank), environment: vec![variable.to_owned()], ..of }
    }

    #[test]
    fn ranges_are_masks() {
        assert_eq!(mask_of("0-3,8"), Some(vec![0b1_0000_1111]));
        assert_eq!(mask_of("64"), Some(vec![0, 1]));
        for broken in ["", "x", "3-", "1,,2", "5-2"] {
            assert_eq!(mask_of(broken), None, "{broken}");
        }
        assert_eq!(mask_of("0-4000000000").map(|mask| mask.len()), Some(128));
    }

    #[test]
    fn ranks_bound_apart_have_all_processors_together() {
        let ranks = [rank(0, process(2, 1, "0"), ""), rank(1, process(3, 1, "1"), "")];
        assert_eq!(available(&ranks), 2);
        let with_launcher = [process(1, 0, "0-7"), ranks[0].clone(), ranks[1].clone()];
        assert_eq!(available(&with_launcher), 2);
        let other = Process { host: "there".into(), ..ranks[0].clone() };
        assert_eq!(available(&[ranks[0].clone(), other]), 2);
        assert_eq!(available(&[process(2, 1, "0"), process(3, 1, "0")]), 1);
        let half = Process { quota_milli: Some(1500), ..process(2, 1, "0-7") };
        assert_eq!(available(&[half]), 2);
        assert_eq!(available(&[process(2, 1, "")]), 0);
    }

    #[test]
    fn jobs_are_told_apart_by_name_or_by_launcher() {
        let named =
            |number, pid, job: &str| rank(number, process(pid, 1, "0"), &format!("PMIX_NAMESPACE={job}"));
        let all = [named(0, 2, "a"), named(1, 3, "a"), named(0, 4, "b")];
        assert_eq!(jobs(&all, |_| None), [Some(0), Some(0), Some(1)]);
        // Two launchers, 10 and 20; 12 is a child of rank 0 of the first one.
        let of = |number, pid, parent| rank(number, process(pid, parent, "0"), "PMI_SIZE=2");
        let all = [of(0, 11, 10), of(1, 13, 10), of(0, 12, 11), of(0, 21, 20), process(5, 1, "0")];
        let parent_of = |id: usize| (id == 2).then_some(0);
        assert_eq!(jobs(&all, parent_of), [Some(0), Some(0), Some(0), Some(1), None]);
        // Each of three ranks has a recorder of its own; a fourth one repeats a number: another job is among
        // them.
        let one_by_one = [of(0, 11, 10), of(1, 13, 12), of(2, 15, 14), of(2, 16, 15)];
        let parent_of = |id: usize| (id == 3).then_some(2);
        assert_eq!(jobs(&one_by_one, parent_of), [Some(0); 4]);
        let two = [of(0, 11, 10), of(1, 13, 12), of(1, 15, 14)];
        assert_eq!(jobs(&two, |_| None), [Some(0), Some(1), Some(2)]);
        let orphan = [of(0, 11, 1)];
        assert_eq!(jobs(&orphan, |_| None), [None]);
    }
}
