//! Which locations are a processor: a thread, or several that are not active at the same time.
//!
//! A thread that waits for the one that it started, and threads that follow one another, need one processor
//! together: with one for each, a program that starts a thousand short threads would have a thousand
//! processors, nearly all of them absent. Threads of parallel regions stay apart.

use std::collections::BTreeMap;

use proust_account::ledger::{Executed, Process, Run, Spans, State, Timeline, Window, Windows};
use proust_profile::{LocationId, ProcessId, Profile};
use rustc_hash::{FxHashMap, FxHashSet};

/// Threads of which at most this part of their active time is beside others share their processor.
const BESIDE: f64 = 0.01;
/// Outside of parallel regions also those that are active beside others for at most this part of the run.
const BRIEFLY: f64 = 0.001;
/// With more locations than these only threads that follow one another share a processor.
const COMPARED: usize = 64;

/// A rank of a job: a run may have several jobs, and each has a rank 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RankOfJob {
    /// The job, by any number; None where it is not known.
    pub job: Option<u32>,
    /// Its rank.
    pub rank: u32,
}

/// A processor: locations of one owner of slots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Processor {
    /// The rank.
    pub rank: Option<RankOfJob>,
    /// The locations; the one that is active longest first.
    pub locations: Vec<LocationId>,
}

/// The processors of a run.
#[derive(Clone, Debug, Default)]
pub struct Processors {
    /// All of them: by rank, and by first location.
    pub all: Vec<Processor>,
    /// The thread that executes the whole run: of each owner of slots.
    pub roots: Vec<Executed>,
    has_ranks: bool,
    ranks: Ranks,
}

#[derive(Debug)]
struct Candidate {
    location: LocationId,
    active: Windows,
    life: Window,
    in_team: bool,
}

#[derive(Debug)]
struct Taken {
    locations: Vec<LocationId>,
    active: Windows,
}

/// The rank of each process.
type Ranks = FxHashMap<ProcessId, Option<RankOfJob>>;

fn ranks<S>(run: &Run<S>) -> Ranks {
    let rank_of = |process: &Process| process.rank.map(|rank| RankOfJob { job: process.job, rank });
    run.processes.iter().map(|process| (process.id, rank_of(process))).collect()
}

/// The timelines of which processors consist, with their ranks.
fn counted<'r, S>(
    run: &'r Run<S>,
    ranks: &'r Ranks,
    in_scope: &'r dyn Fn(LocationId) -> bool,
) -> impl Iterator<Item = (Option<RankOfJob>, &'r Timeline<S>)> {
    let has_ranks = ranks.values().any(Option::is_some);
    let with_rank = |timeline: &'r Timeline<S>| (ranks.get(&timeline.process).copied().flatten(), timeline);
    // Processes outside of all ranks, such as the launcher, have no processors.
    run.timelines.iter().map(with_rank).filter(move |(rank, timeline)| {
        !timeline.service && (!has_ranks || rank.is_some()) && in_scope(timeline.location)
    })
}

/// The thread that executes the whole run: of each owner of slots the one that begins first.
pub fn roots(
    profile: &Profile,
    run: &Run<impl Spans>,
    in_scope: &dyn Fn(LocationId) -> bool,
) -> Vec<Executed> {
    let ranks = ranks(run);
    let mut first: BTreeMap<Option<RankOfJob>, (u64, LocationId)> = BTreeMap::new();
    for (rank, timeline) in counted(run, &ranks, in_scope) {
        let Some(span) = timeline.spans.spans().next() else { continue };
        let begins = (span.start_ns, timeline.location);
        first.entry(rank).and_modify(|first| *first = begins.min(*first)).or_insert(begins);
    }
    let (lives, what) = (lives(run, &ranks), profile.intervals.len() as u32);
    let root = |(rank, (_, location))| Some(Executed { what, location, window: *lives.get(&rank)? });
    first.into_iter().filter_map(root).collect()
}

impl Processors {
    /// The processors of these locations.
    pub fn of(profile: &Profile, run: &Run<impl Spans>, in_scope: &dyn Fn(LocationId) -> bool) -> Processors {
        let ranks = ranks(run);
        let teams: FxHashSet<LocationId> = profile.segments.iter().map(|row| row.location).collect();
        let mut owners: BTreeMap<Option<RankOfJob>, Vec<Candidate>> = BTreeMap::new();
        for (rank, timeline) in counted(run, &ranks, in_scope) {
            if let Some(candidate) = Candidate::of(timeline, &teams) {
                owners.entry(rank).or_default().push(candidate);
            }
        }
        let lives = lives(run, &ranks);
        let of_owner = |(rank, candidates)| Some(shared(candidates, lives.get(&rank)?.length_ns(), rank));
        Processors {
            all: owners.into_iter().filter_map(of_owner).flatten().collect(),
            roots: roots(profile, run, in_scope),
            has_ranks: ranks.values().any(Option::is_some),
            ranks,
        }
    }

    /// The processors of an owner of slots, by their positions.
    pub fn of_owner(&self, owner: ProcessId) -> impl Iterator<Item = usize> {
        let rank = self.ranks.get(&owner).copied().flatten();
        let is_of = move |processor: &Processor| processor.rank == rank || !self.has_ranks;
        self.all.iter().enumerate().filter(move |(_, processor)| is_of(processor)).map(|(at, _)| at)
    }

    /// Whether processes of the run are ranks.
    pub fn has_ranks(&self) -> bool {
        self.has_ranks
    }
}

/// From the first begin of an owner's processes to the last end, as the ledger has it.
fn lives<S>(run: &Run<S>, ranks: &Ranks) -> FxHashMap<Option<RankOfJob>, Window> {
    let mut lives: FxHashMap<Option<RankOfJob>, Window> = FxHashMap::default();
    for process in &run.processes {
        let rank = ranks.get(&process.id).copied().flatten();
        let own = Window::new(process.start_ns, process.end_ns);
        let life = lives.entry(rank).or_insert(own);
        *life = Window::new(life.start_ns.min(own.start_ns), life.end_ns.max(own.end_ns));
    }
    lives
}

impl Candidate {
    fn of(timeline: &Timeline<impl Spans>, teams: &FxHashSet<LocationId>) -> Option<Candidate> {
        let mut life: Option<Window> = None;
        let spans = timeline.spans.spans().inspect(|span| {
            let start_ns = life.map_or(span.start_ns, |life| life.start_ns);
            life = Some(Window::new(start_ns, span.end_ns));
        });
        let active = spans.filter(|span| !matches!(span.state, State::Passive(_)));
        let active = active.map(|span| Window::new(span.start_ns, span.end_ns)).collect();
        Some(Candidate {
            location: timeline.location,
            active,
            life: life?,
            in_team: teams.contains(&timeline.location),
        })
    }
}

/// The processors that an owner's locations share, by first location.
fn shared(mut candidates: Vec<Candidate>, run_ns: u64, rank: Option<RankOfJob>) -> Vec<Processor> {
    if candidates.len() > COMPARED {
        for one in &mut candidates {
            one.active = [one.life].into_iter().collect();
        }
    }
    // The first one among equals: a stable sort.
    candidates.sort_by_key(|one| std::cmp::Reverse(one.active.length_ns()));
    let mut taken: Vec<Taken> = Vec::new();
    for one in candidates {
        let own_ns = one.active.length_ns() as f64;
        let may_be_beside_ns = if one.in_team { 0.0 } else { BRIEFLY * run_ns as f64 };
        let limit_ns = may_be_beside_ns.max(BESIDE * own_ns);
        let fits = |place: &&mut Taken| place.active.intersection(&one.active).length_ns() as f64 <= limit_ns;
        match taken.iter_mut().find(fits) {
            Some(place) => {
                let both = place.active.as_slice().iter().chain(one.active.as_slice());
                place.active = both.copied().collect();
                place.locations.push(one.location);
            }
            None => taken.push(Taken { locations: vec![one.location], active: one.active }),
        }
    }
    let mut processors: Vec<Processor> =
        taken.into_iter().map(|place| Processor { rank, locations: place.locations }).collect();
    processors.sort_by_key(|processor| processor.locations.iter().min().copied());
    processors
}

#[cfg(test)]
mod tests {
    use super::*;

    const RUN_NS: u64 = 1_000_000;

    fn candidate(id: u32, active: &[(u64, u64)], in_team: bool) -> Candidate {
        let windows = || active.iter().map(|&(from, to)| Window::new(from, to));
        Candidate {
            location: LocationId(id),
            active: windows().collect(),
            life: Window::new(active[0].0, active[active.len() - 1].1),
            in_team,
        }
    }

    fn found(candidates: Vec<Candidate>) -> Vec<Vec<u32>> {
        let mut all = Vec::new();
        for processor in shared(candidates, RUN_NS, None) {
            let mut ids: Vec<u32> = processor.locations.iter().map(|id| id.0).collect();
            ids.sort_unstable();
            all.push(ids);
        }
        all
    }

    #[test]
    fn threads_that_follow_one_another_share_a_processor() {
        let one_by_one =
            (0..9).map(|n| candidate(n, &[(u64::from(n) * 100, u64::from(n) * 100 + 90)], false));
        assert_eq!(found(one_by_one.collect()), [(0..9).collect::<Vec<u32>>()]);
    }

    #[test]
    fn who_waits_for_those_that_it_started_shares_a_processor_with_one() {
        let main = candidate(0, &[(0, 900), (900_000, 901_000)], false);
        let workers = [1, 2].map(|n| candidate(n, &[(100, 900_000)], false));
        assert_eq!(found([main].into_iter().chain(workers).collect()), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn threads_of_a_team_stay_apart_however_short_the_region() {
        let main = candidate(0, &[(0, RUN_NS)], true);
        let worker = candidate(1, &[(500, 600)], true);
        assert_eq!(found(vec![main, worker]), [[0], [1]]);
    }
}
