//! Which computation repeats that of others: in intervals that the program marks as replicated.
//!
//! Where d processors each do the same, one d-th of what each computes is the work, and the rest is repeated.
//! An execution counts for all threads of its process, unless several of them are in the interval at once:
//! then each counts for itself. Of intervals in one another the outermost counts. Executions that are only
//! known as sums have no place in time: nothing is divided there.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{IntervalId, IntervalWork, LocationId, ProcessId, Profile};
use rustc_hash::FxHashMap;

use super::regions::take_until;
use crate::ledger::{PartKind, Span, State, Window, Work};

/// A stretch in which so many processors do the same.
type Stretch = (Window, u32);

/// The stretches of all locations.
#[derive(Debug, Default)]
pub(super) struct Replicated(FxHashMap<LocationId, Vec<Stretch>>);

impl Replicated {
    /// Those of a profile. `job_of` is the job that a process is a rank of.
    pub(super) fn of(profile: &Profile, job_of: impl Fn(ProcessId) -> Option<u32>) -> Replicated {
        let is_outermost = outermost(profile);
        let mut executions: BTreeMap<(IntervalId, ProcessId), Vec<(Window, LocationId)>> = BTreeMap::new();
        for row in profile.executions.iter().filter(|row| is_outermost[row.interval as usize]) {
            let Some(location) = profile.locations.get(row.location) else { continue };
            let window = Window::new(row.begin_ns, row.end_ns);
            executions.entry((row.interval, location.process)).or_default().push((window, row.location));
        }
        let mut all: FxHashMap<LocationId, Vec<Stretch>> = FxHashMap::default();
        for ((interval, process), mut of_process) in executions {
            let degree = profile.intervals[interval as usize].degree.unwrap_or_else(|| {
                let job = job_of(process);
                let is_rank = profile.processes.get(process).is_some_and(|process| process.rank.is_some());
                if is_rank {
                    ranks(profile, |other| job_of(other) == job)
                } else {
                    members(profile, interval)
                }
            });
            if degree < 2 {
                continue;
            }
            of_process.sort_by_key(|(window, location)| (window.start_ns, *location));
            if overlap(&of_process) {
                for (window, location) in of_process {
                    all.entry(location).or_default().push((window, degree));
                }
            } else {
                let members = profile.locations.iter_enumerated().filter(|(_, one)| one.process == process);
                for (location, _) in members {
                    let windows = of_process.iter().map(|&(window, _)| (window, degree));
                    all.entry(location).or_default().extend(windows);
                }
            }
        }
        for stretches in all.values_mut() {
            stretches.sort_by_key(|(window, _)| (window.start_ns, window.end_ns));
            // Threads may be in several such intervals at once: the one that began first counts.
            let mut until_ns = 0;
            for (window, _) in stretches.iter_mut() {
                window.start_ns = window.start_ns.max(until_ns).min(window.end_ns);
                until_ns = until_ns.max(window.end_ns);
            }
            stretches.retain(|(window, _)| window.length_ns() > 0);
        }
        Replicated(all)
    }

    /// The stretches of a location, in order and apart.
    pub(super) fn of_location(&self, location: LocationId) -> &[Stretch] {
        self.0.get(&location).map_or(&[], Vec::as_slice)
    }
}

/// The intervals that are marked as replicated, and lie in none that is. Those around others come first.
fn outermost(profile: &Profile) -> Vec<bool> {
    let mut is_inside: Vec<bool> = Vec::with_capacity(profile.intervals.len());
    let mut is_outermost = Vec::with_capacity(profile.intervals.len());
    for info in &profile.intervals {
        let around = info.parent.is_some_and(|parent| is_inside.get(parent as usize) == Some(&true));
        let is_marked = info.work == IntervalWork::Replicated;
        is_outermost.push(is_marked && !around);
        is_inside.push(is_marked || around);
    }
    is_outermost
}

fn ranks(profile: &Profile, is_of_job: impl Fn(ProcessId) -> bool) -> u32 {
    let of_job = profile.processes.iter_enumerated().filter(|(id, _)| is_of_job(*id));
    of_job.filter_map(|(_, process)| process.rank).collect::<BTreeSet<u32>>().len() as u32
}

/// The threads that execute an interval, where there are no ranks.
fn members(profile: &Profile, interval: IntervalId) -> u32 {
    let rows = profile.executions.iter().filter(|row| row.interval == interval && !row.inherited);
    rows.map(|row| row.location).collect::<BTreeSet<LocationId>>().len() as u32
}

/// Whether executions, sorted by begin, overlap in several locations.
fn overlap(executions: &[(Window, LocationId)]) -> bool {
    let mut ends: FxHashMap<LocationId, u64> = FxHashMap::default();
    for &(window, location) in executions {
        if ends.iter().any(|(&other, &end_ns)| other != location && end_ns > window.start_ns) {
            return true;
        }
        let end_ns = ends.entry(location).or_default();
        *end_ns = (*end_ns).max(window.end_ns);
    }
    false
}

/// The spans of a location, those that compute cut where a stretch begins or ends, with the repeated part of
/// those inside.
pub(super) fn divided(
    mut spans: impl Iterator<Item = Span>,
    stretches: &[Stretch],
) -> impl Iterator<Item = Span> {
    let mut next = 0;
    // What is left of a span that was cut.
    let mut rest: Option<Span> = None;
    std::iter::from_fn(move || {
        let mut span = rest.take().or_else(|| spans.next())?;
        while stretches.get(next).is_some_and(|(window, _)| window.end_ns <= span.start_ns) {
            next += 1;
        }
        let computes = span.state == State::Working(Work::Compute);
        match stretches.get(next).filter(|(window, _)| computes && window.start_ns < span.end_ns) {
            Some(&(window, degree)) => {
                if window.start_ns > span.start_ns {
                    let before = take_until(&mut span, window.start_ns);
                    rest = Some(span);
                    Some(before)
                } else if window.end_ns < span.end_ns {
                    let inside = take_until(&mut span, window.end_ns);
                    rest = Some(span);
                    Some(with_repeated(inside, degree))
                } else {
                    Some(with_repeated(span, degree))
                }
            }
            None => Some(span),
        }
    })
}

fn with_repeated(span: Span, degree: u32) -> Span {
    let compute_ns = u128::from(span.length_ns().saturating_sub(span.parts.sum_ns()));
    let degree = u128::from(degree.max(1));
    span.with(PartKind::Replicated, (compute_ns * (degree - 1) / degree) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proust_profile::{ContextId, ExecutionRow, IntervalInfo, Location, Process};

    fn span(start_ns: u64, end_ns: u64, work: Work) -> Span {
        Span::new(start_ns, end_ns, State::Working(work), ContextId(1))
    }

    fn shown(spans: &[Span]) -> Vec<(u64, u64, u64)> {
        let of = |span: &Span| (span.start_ns, span.end_ns, span.parts.get(PartKind::Replicated));
        spans.iter().map(of).collect()
    }

    #[test]
    fn of_what_is_computed_in_a_stretch_all_but_one_part_is_repeated() {
        let spans = vec![
            span(0, 100, Work::Compute),
            span(100, 200, Work::Io),
            span(200, 240, Work::Compute).with(PartKind::Delayed, 20),
            span(240, 400, Work::Compute),
        ];
        let stretches = [(Window::new(40, 80), 4), (Window::new(150, 280), 2)];
        let divided: Vec<Span> = divided(spans.iter().copied(), &stretches).collect();
        let expected = [
            (0, 40, 0),
            (40, 80, 30),
            (80, 100, 0),
            (100, 200, 0),
            (200, 240, 10),
            (240, 280, 20),
            (280, 400, 0),
        ];
        assert_eq!(shown(&divided), expected);
        let lengths = |spans: &[Span]| spans.iter().map(Span::length_ns).sum::<u64>();
        assert_eq!(lengths(&divided), lengths(&spans));
        assert!(super::divided(spans.iter().copied(), &[]).eq(spans.iter().copied()));
    }

    /// Two processes of two threads each, which are ranks 0 and 1 if asked for.
    fn profile(intervals: Vec<IntervalInfo>, executions: Vec<ExecutionRow>, ranks: bool) -> Profile {
        let process = |rank| Process { rank: ranks.then_some(rank), ..Process::default() };
        let location = |process| Location { process: ProcessId(process), ..Location::default() };
        Profile {
            processes: vec![process(0), process(1)].into(),
            locations: vec![location(0), location(0), location(1), location(1)].into(),
            intervals,
            executions,
            ..Profile::default()
        }
    }

    fn marked(degree: Option<u32>, parent: Option<IntervalId>) -> IntervalInfo {
        IntervalInfo { work: IntervalWork::Replicated, degree, parent, ..IntervalInfo::default() }
    }

    fn execution(interval: IntervalId, location: u32, begin_ns: u64, end_ns: u64) -> ExecutionRow {
        ExecutionRow { interval, location: LocationId(location), begin_ns, end_ns, ..ExecutionRow::default() }
    }

    fn stretches(profile: &Profile, location: u32) -> Vec<(u64, u64, u32)> {
        let replicated = Replicated::of(profile, |_| Some(0));
        let of = replicated.of_location(LocationId(location)).iter();
        of.map(|(window, degree)| (window.start_ns, window.end_ns, *degree)).collect()
    }

    #[test]
    fn an_execution_counts_for_the_threads_of_its_process() {
        let run = profile(
            vec![marked(Some(4), None), marked(Some(2), Some(0))],
            vec![execution(0, 0, 10, 20), execution(1, 0, 12, 14), execution(0, 0, 30, 40)],
            false,
        );
        for location in [0, 1] {
            assert_eq!(stretches(&run, location), [(10, 20, 4), (30, 40, 4)]);
        }
        assert_eq!(stretches(&run, 2), []);
    }

    #[test]
    fn threads_that_are_in_it_at_once_count_for_themselves() {
        let run =
            profile(vec![marked(None, None)], vec![execution(0, 0, 10, 20), execution(0, 1, 15, 40)], false);
        assert_eq!((stretches(&run, 0), stretches(&run, 1)), (vec![(10, 20, 2)], vec![(15, 40, 2)]));
    }

    #[test]
    fn all_ranks_do_the_same_where_no_number_is_given() {
        let of_both = vec![execution(0, 0, 10, 20), execution(0, 2, 12, 22)];
        let run = profile(vec![marked(None, None)], of_both.clone(), true);
        assert_eq!((stretches(&run, 1), stretches(&run, 3)), (vec![(10, 20, 2)], vec![(12, 22, 2)]));
        // One that does it alone repeats nothing.
        let run = profile(vec![marked(Some(1), None)], of_both, true);
        assert_eq!(stretches(&run, 0), []);
    }

    #[test]
    fn of_intervals_at_the_same_time_the_first_counts() {
        let run = profile(
            vec![marked(Some(4), None), marked(Some(2), None)],
            vec![execution(0, 0, 10, 20), execution(1, 1, 15, 30)],
            false,
        );
        assert_eq!(stretches(&run, 0), [(10, 20, 4), (20, 30, 2)]);
    }
}
