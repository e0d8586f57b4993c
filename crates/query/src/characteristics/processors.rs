//! Which locations are a processor: a thread, or several that are not active at the same time.
//!
//! A thread that waits for the one that it started, and threads that follow one another, need one processor
//! together: with one for each, a program that starts a thousand short threads would have a thousand
//! processors, nearly all of them absent. Threads of parallel regions stay apart.

use std::collections::BTreeMap;

use proust_account::ledger::{Executed, Process, Run, Spans, Timeline, Window, Windows};
use proust_profile::{LocationId, ProcessId, Profile};
use rustc_hash::{FxHashMap, FxHashSet};

use super::at_once::AtOnce;

/// Threads of which at most this part of their active time is beside others share their processor.
const BESIDE: f64 = 0.01;
/// Outside of parallel regions also those that are active beside others for at most this part of the run.
const BRIEFLY: f64 = 0.001;

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

/// A location of an owner, by its position among them.
#[derive(Debug)]
struct Candidate {
    at: usize,
    /// How long it was active; where not all are compared, how long it lived.
    active_ns: u64,
    /// Where not all are compared.
    life: Windows,
    in_team: bool,
}

/// Those that share a processor.
#[derive(Debug)]
struct Taken {
    members: Vec<usize>,
    lives: Windows,
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
        let mut owners: BTreeMap<Option<RankOfJob>, Vec<&Timeline<_>>> = BTreeMap::new();
        for (rank, timeline) in counted(run, &ranks, in_scope) {
            if timeline.spans.spans().next().is_some() {
                owners.entry(rank).or_default().push(timeline);
            }
        }
        let lives = lives(run, &ranks);
        let of_owner = |(rank, timelines): (_, Vec<_>)| {
            Some(shared(&timelines, &teams, lives.get(&rank)?.length_ns(), rank))
        };
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

/// From the begin of a location's first state to the end of its last one.
fn life(timeline: &Timeline<impl Spans>) -> Windows {
    let mut spans = timeline.spans.spans();
    let Some(first) = spans.next() else { return Windows::default() };
    let end_ns = spans.last().map_or(first.end_ns, |last| last.end_ns);
    Windows::between(first.start_ns, end_ns)
}

/// The processors that an owner's locations share, by first location. With more locations than can be
/// compared only threads that follow one another share a processor.
fn shared(
    timelines: &[&Timeline<impl Spans>],
    teams: &FxHashSet<LocationId>,
    run_ns: u64,
    rank: Option<RankOfJob>,
) -> Vec<Processor> {
    let at_once = AtOnce::of(timelines);
    let candidate = |(at, timeline): (usize, &&Timeline<_>)| {
        let life = if at_once.is_some() { Windows::default() } else { life(timeline) };
        let active_ns = at_once.as_ref().map_or(life.length_ns(), |at_once| at_once.ns(at));
        Candidate { at, active_ns, life, in_team: teams.contains(&timeline.location) }
    };
    let mut candidates: Vec<Candidate> = timelines.iter().enumerate().map(candidate).collect();
    // The first one among equals: a stable sort.
    candidates.sort_by_key(|one| std::cmp::Reverse(one.active_ns));
    let mut taken: Vec<Taken> = Vec::new();
    for one in candidates {
        let may_be_beside_ns = if one.in_team { 0.0 } else { BRIEFLY * run_ns as f64 };
        let limit_ns = may_be_beside_ns.max(BESIDE * one.active_ns as f64);
        let fits = |place: &&mut Taken| match &at_once {
            Some(at_once) => at_once.is_at_most(&place.members, one.at, limit_ns),
            None => place.lives.intersection(&one.life).length_ns() as f64 <= limit_ns,
        };
        match taken.iter_mut().find(fits) {
            Some(place) => {
                place.members.push(one.at);
                let both = place.lives.as_slice().iter().chain(one.life.as_slice());
                place.lives = both.copied().collect();
            }
            None => taken.push(Taken { members: vec![one.at], lives: one.life }),
        }
    }
    let location = |at: usize| timelines[at].location;
    let processor =
        |place: Taken| Processor { rank, locations: place.members.into_iter().map(location).collect() };
    let mut processors: Vec<Processor> = taken.into_iter().map(processor).collect();
    processors.sort_by_key(|processor| processor.locations.iter().min().copied());
    processors
}

#[cfg(test)]
mod tests {
    use proust_account::ledger::{Span, State, Work};
    use proust_profile::ContextId;

    use super::*;

    const RUN_NS: u64 = 1_000_000;

    fn timeline(id: u32, active: &[(u64, u64)]) -> Timeline {
        let span =
            |&(from, to): &(u64, u64)| Span::new(from, to, State::Working(Work::Compute), ContextId(0));
        let spans = active.iter().map(span).collect();
        Timeline { location: LocationId(id), process: ProcessId(0), service: false, spans }
    }

    fn found(timelines: &[Timeline], in_teams: bool) -> Vec<Vec<u32>> {
        let timelines: Vec<&Timeline> = timelines.iter().collect();
        let teams = timelines.iter().filter(|_| in_teams).map(|timeline| timeline.location).collect();
        let mut all = Vec::new();
        for processor in shared(&timelines, &teams, RUN_NS, None) {
            let mut ids: Vec<u32> = processor.locations.iter().map(|id| id.0).collect();
            ids.sort_unstable();
            all.push(ids);
        }
        all
    }

    #[test]
    fn threads_that_follow_one_another_share_a_processor() {
        for threads in [9, 100] {
            let at = |n: u32| u64::from(n) * 100;
            let one_by_one: Vec<Timeline> =
                (0..threads).map(|n| timeline(n, &[(at(n), at(n) + 90)])).collect();
            assert_eq!(found(&one_by_one, false), [(0..threads).collect::<Vec<u32>>()]);
        }
    }

    #[test]
    fn of_very_many_threads_lives_are_compared() {
        let take_turns = |threads: u32| -> Vec<Timeline> {
            let at = |n: u32, turn: u64| u64::from(n) * 100 + turn * 100_000;
            (0..threads).map(|n| timeline(n, &[0, 1].map(|turn| (at(n, turn), at(n, turn) + 90)))).collect()
        };
        assert_eq!(found(&take_turns(64), true).len(), 1);
        assert_eq!(found(&take_turns(65), true).len(), 65);
    }

    #[test]
    fn who_waits_for_those_that_it_started_shares_a_processor_with_one() {
        let main = timeline(0, &[(0, 900), (900_000, 901_000)]);
        let [one, other] = [1, 2].map(|n| timeline(n, &[(100, 900_000)]));
        assert_eq!(found(&[main, one, other], false), [vec![0, 1], vec![2]]);
    }

    #[test]
    fn threads_of_a_team_stay_apart_however_short_the_region() {
        let all = [timeline(0, &[(0, RUN_NS)]), timeline(1, &[(500, 600)])];
        assert_eq!(found(&all, true), [[0], [1]]);
    }
}
