//! What locations did in parts of their time: their recorded operations, exactly; those that are known as
//! sums as if they were spread evenly over the time of the sum; what is left is divided among contexts by
//! the weights of the samples whose instants lie in these parts, `M·w/W` with the variance `(M/W)²·Σ w²`.
//! Contexts are functions on their call paths; calls of MPI are apart from what calls them.

use std::collections::VecDeque;
use std::iter::Peekable;
use std::ops::Range;

use proust_profile::mpi_metrics::waits_of;
use proust_profile::{
    ContextId, ContextKind, EventRow, Events, LocationId, OperationId, PartnerWaitRow, Profile, Samples,
};
use rustc_hash::FxHashMap as Map;

/// What was done: a function, or an operation that it calls ([`Activities`]).
pub type Activity = (ContextId, Option<OperationId>);

/// What was done, and for how long.
pub(super) type Spent = Map<Activity, Amount>;

/// Own work in parts too short for a sample: all that is known is that it is the program's.
const UNSAMPLED: Activity = (ContextId::PROGRAM, None);

/// A part of a location's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The location.
    pub location: LocationId,
    /// From when, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// Until when.
    pub end_ns: u64,
}

/// A rank's time but for its waits.
pub(super) fn outside_of_waits(waits: &[PartnerWaitRow], rank: &Step) -> Vec<Step> {
    let mut parts = Vec::new();
    let mut from_ns = rank.begin_ns;
    let waits = waits_of(waits, rank.location);
    let first = waits.partition_point(|wait| wait.until_ns <= rank.begin_ns);
    for wait in waits[first..].iter().take_while(|wait| wait.begin_ns < rank.end_ns) {
        let until_ns = wait.begin_ns.min(rank.end_ns);
        if until_ns > from_ns {
            parts.push(Step { begin_ns: from_ns, end_ns: until_ns, ..*rank });
        }
        from_ns = from_ns.max(wait.until_ns);
    }
    if rank.end_ns > from_ns {
        parts.push(Step { begin_ns: from_ns, ..*rank });
    }
    parts
}

/// Which code and calls are one activity.
#[derive(Clone, Debug)]
pub struct Activities {
    of_context: Vec<ContextId>,
    is_apart: Vec<bool>,
}

impl Activities {
    /// Functions on their call paths; operations are apart from what calls them.
    pub fn functions(profile: &Profile) -> Activities {
        let mut of_context: Vec<ContextId> = Vec::with_capacity(profile.contexts.len());
        for (id, context) in profile.contexts.iter().enumerate() {
            let inside = matches!(context.kind, ContextKind::Line | ContextKind::Loop);
            let parent = context.parent.filter(|_| inside);
            let function = parent.and_then(|parent| of_context.get(parent.index()).copied());
            of_context.push(function.unwrap_or(ContextId::from_index(id)));
        }
        Activities { of_context, is_apart: vec![true; profile.operations.len()] }
    }

    /// By context the one that names its activity, and by operation whether it is apart from what calls it.
    pub fn new(of_context: Vec<ContextId>, is_apart: Vec<bool>) -> Activities {
        Activities { of_context, is_apart }
    }

    fn own(&self, context: ContextId) -> Activity {
        (self.of_context.get(context.index()).copied().unwrap_or(context), None)
    }

    fn call(&self, event: &EventRow) -> Activity {
        let is_apart = self.is_apart.get(event.operation.index()).copied().unwrap_or(true);
        let (context, _) = self.own(event.context);
        (context, is_apart.then_some(event.operation))
    }
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub(super) ns: f64,
    pub(super) variance: f64,
    /// Of it in operations, or on a processor: what is known to be no lack of one.
    pub(super) active_ns: f64,
    /// Parts of the time in which it was seen.
    pub(super) parts: u32,
    /// The number of the last one of them, from 1.
    last: u32,
    weight: f64,
    squares: f64,
}

impl Amount {
    fn seen_in(&mut self, part: u32) {
        self.parts += u32::from(self.last != part);
        self.last = part;
    }

    pub(super) fn add(&mut self, more: &Amount) {
        self.ns += more.ns;
        self.variance += more.variance;
        self.active_ns += more.active_ns;
        self.parts += more.parts;
    }
}

/// Divides own work that was too short for a sample among the functions that were sampled in other parts of
/// the same kind: those of `spent`, or of `like` where it has none.
pub(super) fn divide_unsampled(spent: &mut Spent, like: &Spent) {
    let is_sampled = |(activity, amount): &(&Activity, &Amount)| {
        **activity != UNSAMPLED && activity.1.is_none() && amount.ns > 0.0
    };
    let Some(left) = spent.get(&UNSAMPLED).copied() else { return };
    let of = if spent.iter().any(|one| is_sampled(&one)) { &*spent } else { like };
    let sampled: Vec<(Activity, Amount)> = of.iter().filter(is_sampled).map(|(&a, &of)| (a, of)).collect();
    let all_ns: f64 = sampled.iter().map(|(_, amount)| amount.ns).sum();
    if all_ns <= 0.0 {
        return;
    }
    spent.remove(&UNSAMPLED);
    let scale = left.ns / all_ns;
    for (activity, amount) in sampled {
        let sum = spent.entry(activity).or_default();
        // Errors of one ratio add up, their squares do not.
        sum.variance = (sum.variance.sqrt() + scale * amount.variance.sqrt()).powi(2);
        sum.ns += scale * amount.ns;
        sum.active_ns += scale * amount.ns;
    }
}

/// What locations did.
pub(super) struct Spending<'p> {
    pub(super) events: &'p Events,
    pub(super) samples: &'p Samples,
    activities: &'p Activities,
}

impl<'p> Spending<'p> {
    pub(super) fn of(profile: &'p Profile, activities: &'p Activities) -> Spending<'p> {
        Spending { events: &profile.events, samples: &profile.samples, activities }
    }

    /// What a location did in these parts of its time, which are in order and apart.
    pub(super) fn of_steps(&self, steps: &[Step]) -> Spent {
        let Some((location, range_ns)) = Spending::range_of(steps) else { return Spent::default() };
        let samples = self.samples_in(location, range_ns.clone());
        let singles = self.operations_in(location, range_ns.clone()).filter(|did| !did.summed);
        let sums = self.operations_in(location, range_ns).filter(|did| did.summed);
        spent_in(steps, samples, singles, sums)
    }

    /// Whose steps these are, and the time in which their rows are found.
    pub(super) fn range_of(steps: &[Step]) -> Option<(LocationId, Range<u64>)> {
        let (first, last) = (steps.first()?, steps.last()?);
        // A sample that is taken at their end counts.
        Some((first.location, first.begin_ns..last.end_ns + 1))
    }

    pub(super) fn operations_in(
        &self,
        location: LocationId,
        range_ns: Range<u64>,
    ) -> impl Iterator<Item = Did> + '_ {
        let rows = self.events.overlapping(location, range_ns);
        let rows = rows.filter(|row| !row.summed || row.time_ns > 0 && row.end_ns > row.begin_ns);
        rows.map(|row| Did {
            begin_ns: row.begin_ns,
            end_ns: row.end_ns,
            time_ns: row.time_ns,
            activity: self.activities.call(&row),
            summed: row.summed,
        })
    }

    pub(super) fn samples_in(
        &self,
        location: LocationId,
        range_ns: Range<u64>,
    ) -> impl Iterator<Item = Sampled> + '_ {
        let rows = self.samples.overlapping(location, range_ns);
        rows.filter(|row| !row.tail && !row.in_operation).map(|row| Sampled {
            time_ns: row.time_ns,
            weight: row.cpu_ns as f64,
            activity: self.activities.own(row.context),
        })
    }
}

/// An operation, or the sum of short ones.
#[derive(Clone, Copy, Debug)]
pub(super) struct Did {
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    /// Of it in operations, where they are summed.
    time_ns: u64,
    activity: Activity,
    pub(super) summed: bool,
}

/// A sample outside of operations.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sampled {
    pub(super) time_ns: u64,
    weight: f64,
    activity: Activity,
}

/// What was done in parts of a location's time: by its samples, operations and sums of short ones that have
/// a time in common with them, each in the order of their ends.
pub(super) fn spent_in(
    steps: &[Step],
    samples: impl Iterator<Item = Sampled>,
    singles: impl Iterator<Item = Did>,
    sums: impl Iterator<Item = Did>,
) -> Spent {
    let mut spent = Spent::default();
    let (mut samples, mut singles) = (samples.peekable(), singles.peekable());
    let mut sums = SumsInTime::new(sums);
    let (mut left_ns, mut all_weights) = (0.0, 0.0);
    for (step, part) in steps.iter().zip(1..) {
        let (mut from_ns, mut outside_ns) = (step.begin_ns, 0.0);
        while let Some(did) = singles.peek() {
            let (begin_ns, end_ns) = (did.begin_ns.max(from_ns), did.end_ns.min(step.end_ns));
            if end_ns > begin_ns {
                let sum = spent.entry(did.activity).or_default();
                let time_ns = (end_ns - begin_ns) as f64;
                (sum.ns, sum.active_ns) = (sum.ns + time_ns, sum.active_ns + time_ns);
                sum.seen_in(part);
                outside_ns += (begin_ns - from_ns) as f64;
                from_ns = end_ns;
            }
            // The next part may lie in the rest of it.
            if did.end_ns >= step.end_ns {
                break;
            }
            singles.next();
        }
        outside_ns += step.end_ns.saturating_sub(from_ns) as f64;
        for (activity, time_ns) in sums.within(step) {
            let time_ns = time_ns.min(outside_ns);
            let sum = spent.entry(activity).or_default();
            (sum.ns, sum.active_ns) = (sum.ns + time_ns, sum.active_ns + time_ns);
            sum.seen_in(part);
            outside_ns -= time_ns;
        }
        left_ns += outside_ns;
        let within = std::iter::from_fn(|| samples.next_if(|sample| sample.time_ns <= step.end_ns));
        for sample in within.skip_while(|sample| sample.time_ns <= step.begin_ns) {
            let (weight, sum) = (sample.weight, spent.entry(sample.activity).or_default());
            (sum.weight, sum.squares) = (sum.weight + weight, sum.squares + weight * weight);
            sum.seen_in(part);
            all_weights += weight;
        }
    }
    if left_ns > 0.0 && all_weights > 0.0 {
        let scale = left_ns / all_weights;
        for sum in spent.values_mut() {
            sum.ns += scale * sum.weight;
            sum.active_ns += scale.min(1.0) * sum.weight;
            sum.variance += scale * scale * sum.squares;
        }
    } else if left_ns > 0.0 {
        let sum = spent.entry(UNSAMPLED).or_default();
        (sum.ns, sum.active_ns) = (sum.ns + left_ns, sum.active_ns + left_ns);
        sum.parts += 1;
    } else {
        spent.retain(|_, sum| sum.ns > 0.0);
    }
    spent
}

/// The sums of a location's short operations, as they are met by parts of its time that follow each other.
struct SumsInTime<I: Iterator<Item = Did>> {
    all: Peekable<I>,
    /// Those that have begun, in the order of their ends.
    begun: VecDeque<Did>,
}

impl<I: Iterator<Item = Did>> SumsInTime<I> {
    fn new(all: I) -> SumsInTime<I> {
        SumsInTime { all: all.peekable(), begun: VecDeque::new() }
    }

    /// What was done in those that overlap a step, and how much of their time it has. Sums are written
    /// together, so that one that has not begun yet stands before no other one that has.
    fn within(&mut self, step: &Step) -> impl Iterator<Item = (Activity, f64)> {
        while self.begun.front().is_some_and(|sum| sum.end_ns <= step.begin_ns) {
            self.begun.pop_front();
        }
        while let Some(sum) = self.all.next_if(|sum| sum.begin_ns < step.end_ns) {
            if sum.end_ns > step.begin_ns {
                self.begun.push_back(sum);
            }
        }
        self.begun.iter().filter_map(|sum| {
            let (begin_ns, end_ns) = (sum.begin_ns.max(step.begin_ns), sum.end_ns.min(step.end_ns));
            let share = end_ns.checked_sub(begin_ns).filter(|&ns| ns > 0)? as f64;
            Some((sum.activity, sum.time_ns as f64 * share / (sum.end_ns - sum.begin_ns) as f64))
        })
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::{OperationInfo, SampleRow};

    use super::*;

    fn sum((begin_ns, end_ns): (u64, u64), time_ns: u64) -> EventRow {
        let calls = 10;
        EventRow {
            context: ContextId(1),
            begin_ns,
            end_ns,
            time_ns,
            calls,
            summed: true,
            ..EventRow::default()
        }
    }

    /// By context what a location did in parts of its time, of which it was in each sample in context 2.
    fn spent(events: Vec<EventRow>, steps: &[(u64, u64)]) -> Vec<(u32, bool, f64)> {
        let sample =
            |n: u64| SampleRow { context: ContextId(2), time_ns: 10 * n, cpu_ns: 10, ..SampleRow::default() };
        let profile = Profile {
            operations: vec![OperationInfo { name: "MPI_Put".to_owned(), kind: None }].into(),
            events: events.into(),
            samples: (1..=20_u64).map(sample).collect::<Vec<_>>().into(),
            ..Profile::default()
        };
        let step = |&(begin_ns, end_ns): &(u64, u64)| Step { location: LocationId(0), begin_ns, end_ns };
        let steps: Vec<Step> = steps.iter().map(step).collect();
        let activities = Activities::new((0..3).map(ContextId).collect(), vec![true]);
        let spent = Spending::of(&profile, &activities).of_steps(&steps);
        let mut all: Vec<(u32, bool, f64)> =
            spent.into_iter().map(|((context, call), sum)| (context.0, call.is_some(), sum.ns)).collect();
        all.sort_by(|a, b| a.partial_cmp(b).expect("no NaN"));
        all
    }

    #[test]
    fn short_operations_are_spread_over_the_time_of_their_sum() {
        // Half of the sum's time is in the first part, a quarter in the second one.
        let both = spent(vec![sum((0, 100), 40)], &[(0, 50), (75, 150)]);
        assert_eq!(both, [(1, true, 30.0), (2, false, 95.0)]);
        // Two sums of one stretch of time, and one behind it.
        let sums = vec![sum((0, 100), 40), sum((20, 100), 8), sum((100, 200), 50)];
        assert_eq!(spent(sums.clone(), &[(0, 100)]), [(1, true, 48.0), (2, false, 52.0)]);
        assert_eq!(spent(sums, &[(0, 10), (10, 20), (20, 200)]), [(1, true, 98.0), (2, false, 102.0)]);
    }

    #[test]
    fn work_too_short_for_a_sample_is_divided_as_sampled_work() {
        let work = |context: u32| (ContextId(context), None);
        let of = |rows: &[(Activity, f64)]| -> Spent {
            rows.iter().map(|&(activity, ns)| (activity, Amount { ns, ..Amount::default() })).collect()
        };
        let divided = |spent: &[(Activity, f64)], like: &[(Activity, f64)]| {
            let mut spent = of(spent);
            divide_unsampled(&mut spent, &of(like));
            let mut all: Vec<_> = spent.into_iter().map(|(activity, sum)| (activity, sum.ns)).collect();
            all.sort_by_key(|one| one.0);
            all
        };
        let (call, others) = ((ContextId(1), Some(OperationId(0))), [(work(9), 1.0)]);
        let spent = [(UNSAMPLED, 40.0), (work(1), 30.0), (call, 70.0), (work(2), 10.0)];
        assert_eq!(divided(&spent, &others), [(work(1), 60.0), (call, 70.0), (work(2), 20.0)]);
        // None was sampled there: as in the others; or nowhere.
        let spent = [(UNSAMPLED, 40.0), (call, 70.0)];
        assert_eq!(divided(&spent, &others), [(call, 70.0), (work(9), 40.0)]);
        assert_eq!(divided(&spent, &[]), [(UNSAMPLED, 40.0), (call, 70.0)]);
    }

    #[test]
    fn a_part_has_no_more_of_a_sum_than_it_has_time() {
        let long = EventRow { summed: false, calls: 1, ..sum((0, 90), 90) };
        assert_eq!(spent(vec![long, sum((0, 100), 60)], &[(0, 100)]), [(1, true, 100.0)]);
    }
}
