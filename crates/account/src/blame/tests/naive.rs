//! Blame at synchronisations, computed another way: from the script of a run, for each synchronisation from
//! scratch and over all of its past.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::ledger::Account;

/// Units of 100 µs: arrivals in different units are separate.
const UNIT_NS: u64 = 100_000;

/// One round: the threads that take part, and how long each does what before it arrives.
#[derive(Clone, Debug)]
struct Round {
    /// A barrier of all four, of the first two, or of the last three.
    barrier: usize,
    /// By thread: acts, as contexts, with their lengths.
    acts: Vec<Vec<(u32, u64)>>,
    /// Where the threads wait.
    site: u32,
    /// Whether they are sampled meanwhile, which cuts their waits in parts.
    sampled: bool,
}

const BARRIERS: [&[u32]; 3] = [&[0, 1, 2, 3], &[0, 1], &[1, 2, 3]];

fn script() -> impl Strategy<Value = Vec<Round>> {
    let acts = || prop::collection::vec(prop::collection::vec((1..5_u32, 1..8_u64), 0..4), 4);
    let round = (0..BARRIERS.len(), acts(), 6..8_u32, any::<bool>());
    let round = round.prop_map(|(barrier, acts, site, sampled)| Round { barrier, acts, site, sampled });
    prop::collection::vec(round, 1..14)
}

/// What happened in a round.
#[derive(Debug)]
struct Happened {
    members: &'static [u32],
    arrivals: BTreeMap<u32, u64>,
    opens_ns: u64,
    site: u32,
}

/// Thread, context, begin and end in ns of something that a thread did.
type Did = (u32, u32, u64, u64);

/// Plays a script: what each thread did when, and the rounds.
fn play(script: &[Round]) -> (Builder, Vec<Did>, Vec<Happened>) {
    let mut run = Builder::new(4, 2000);
    let (mut now, mut did, mut happened) = ([0_u64; 4], Vec::new(), Vec::new());
    for round in script {
        let members = BARRIERS[round.barrier];
        let mut arrivals = BTreeMap::new();
        for &thread in members {
            for &(context, length) in &round.acts[thread as usize] {
                let begin_ns = now[thread as usize];
                let end_ns = begin_ns + length * UNIT_NS;
                let event = run.wait(Operation::Sleep, thread, context, 0, (0, 0));
                (event.begin_ns, event.end_ns, event.time_ns) = (begin_ns, end_ns, end_ns - begin_ns);
                did.push((thread, context, begin_ns, end_ns));
                now[thread as usize] = end_ns;
            }
            arrivals.insert(thread, now[thread as usize]);
        }
        let opens_ns = arrivals.values().max().unwrap() + 1_000;
        let object = 0x100 * (round.barrier as u64 + 1);
        for (&thread, &begin_ns) in &arrivals {
            let event = run.wait(Operation::Barrier, thread, round.site, object, (0, 0));
            (event.begin_ns, event.end_ns, event.time_ns) = (begin_ns, opens_ns, opens_ns - begin_ns);
            if round.sampled {
                for at_ns in (begin_ns + UNIT_NS / 2..opens_ns).step_by(UNIT_NS as usize) {
                    run.sample_in_operation(thread, round.site, at_ns);
                }
            }
            now[thread as usize] = opens_ns;
        }
        happened.push(Happened { members, arrivals, opens_ns, site: round.site });
    }
    (run, did, happened)
}

/// What the waits of each thread are charged to by the script: by thread that waits, its site, the late
/// thread, and the context, ns.
fn expected(did: &[Did], happened: &[Happened]) -> BTreeMap<(u32, u32, u32, u32), f64> {
    type Sums = BTreeMap<u32, f64>;
    #[derive(Default)]
    struct Pair {
        late: Sums,
        early: Sums,
        waits: BTreeMap<u32, f64>,
    }
    let mut pairs: BTreeMap<(Option<u32>, u32, u32), Pair> = BTreeMap::new();
    for (n, now) in happened.iter().enumerate() {
        let before = happened[..n]
            .iter()
            .filter(|other| now.members.iter().all(|member| other.members.contains(member)));
        let before = before.max_by_key(|other| other.opens_ns);
        let begin_ns = before.map_or(0, |before| before.opens_ns);
        let last_ns = *now.arrivals.values().max().unwrap();
        let longest_ns = now.opens_ns - now.arrivals.values().min().unwrap();
        let border_ns = last_ns.saturating_sub((longest_ns / 100).max(20_000));
        let late: Vec<u32> =
            now.arrivals.iter().filter(|(_, at)| **at >= border_ns).map(|(&who, _)| who).collect();
        let doing = |who: u32, until_ns: u64| {
            let mut sums = Sums::new();
            for &(_, context, from_ns, to_ns) in did.iter().filter(|one| one.0 == who) {
                let ns = to_ns.min(until_ns).saturating_sub(from_ns.max(begin_ns));
                *sums.entry(context).or_default() += ns as f64;
            }
            for other in happened[..n].iter().filter(|other| other.members.contains(&who)) {
                // A wait at another barrier, in which others of this one took no part.
                let ns = other.opens_ns.saturating_sub(other.arrivals[&who].max(begin_ns));
                if other.opens_ns > begin_ns {
                    *sums.entry(1000 + other.site).or_default() += ns as f64;
                }
            }
            sums
        };
        for (&early, &came_ns) in now.arrivals.iter().filter(|(who, _)| !late.contains(who)) {
            for &late_one in &late {
                let key = (before.map(|before| before.site), now.site, late_one);
                let pair = pairs.entry(key).or_default();
                let add = |sums: &mut Sums, of: Sums| {
                    of.into_iter().for_each(|(context, ns)| *sums.entry(context).or_default() += ns);
                };
                add(&mut pair.late, doing(late_one, last_ns));
                add(&mut pair.early, doing(early, came_ns));
                *pair.waits.entry(early).or_default() += (last_ns - came_ns) as f64 / late.len() as f64;
            }
        }
    }
    let mut charged = BTreeMap::new();
    for ((_, site, late), pair) in pairs {
        let of = |sums: &Sums, context: u32| sums.get(&context).copied().unwrap_or(0.0);
        let mut longer: Vec<(u32, f64)> = Vec::new();
        for is_wait in [false, true] {
            // As wholes first.
            let of_kind = |sums: &Sums| -> f64 {
                sums.iter().filter(|(context, _)| (**context >= 1000) == is_wait).map(|(_, ns)| ns).sum()
            };
            let whole = of_kind(&pair.late) - of_kind(&pair.early);
            let more: Vec<(u32, f64)> = (pair.late.keys())
                .filter(|context| (**context >= 1000) == is_wait)
                .map(|&context| (context, (of(&pair.late, context) - of(&pair.early, context)).max(0.0)))
                .collect();
            let all: f64 = more.iter().map(|(_, ns)| ns).sum();
            longer
                .extend(more.into_iter().map(|(context, ns)| (context, whole.max(0.0) * ns / all.max(1.0))));
        }
        let all: f64 = longer.iter().map(|(_, ns)| ns).sum();
        for (context, more_ns) in longer.into_iter().filter(|(_, ns)| *ns > 0.0) {
            for (&early, &ns) in &pair.waits {
                *charged.entry((early, site, late, context)).or_default() += ns * more_ns / all;
            }
        }
    }
    charged
}

proptest! {
    /// The acts that took the late ones longer: their waits at other barriers are charged on from there.
    #[test]
    fn blame_is_what_a_second_computation_finds(script in script()) {
        let (run, did, happened) = play(&script);
        let expected = expected(&did, &happened);
        let (_, blame) = run.blame();
        let nested = expected.keys().any(|key| key.3 >= 1000);
        let mut found: BTreeMap<(u32, u32, u32, u32), f64> = BTreeMap::new();
        for row in blame.rows.iter().filter(|row| row.account == Account::Barrier && !row.slots) {
            if row.cause.kind == CauseKind::Late {
                let key = (row.location, row.context, row.cause.location, row.cause.context);
                *found.entry(key).or_default() += row.ns as f64;
            }
        }
        if !nested {
            for key in expected.keys().chain(found.keys()) {
                let one = found.get(key).copied().unwrap_or(0.0);
                let other = expected.get(key).copied().unwrap_or(0.0);
                prop_assert!((one - other).abs() <= 5.0 + 1e-6 * other,
                    "{key:?}: {one} found, {other} expected\n{script:?}");
            }
        } else {
            // What is charged on has other causes, so each has at least what it did longer.
            for (key, &least) in expected.iter().filter(|(key, _)| key.3 < 1000) {
                let found = found.get(key).copied().unwrap_or(0.0);
                prop_assert!(found >= least - 5.0 - 1e-6 * least,
                    "{key:?}: {found} found, {least} expected\n{script:?}");
            }
        }
    }
}
