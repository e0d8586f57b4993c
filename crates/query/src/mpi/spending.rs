//! What locations did in parts of their time: their recorded operations, exactly; what is left is divided
//! among contexts by the weights of the samples whose instants lie in these parts, `M·w/W` with the variance
//! `(M/W)²·Σ w²`. Contexts are functions on their call paths; calls of MPI are apart from what calls them.

use proust_profile::{
    ContextId, ContextKind, EventRow, Events, LocationId, OperationId, PartnerWaitRow, Profile, Samples,
};
use rustc_hash::FxHashMap as Map;

/// What was done: a function, or an operation that it calls ([`Activities`]).
pub type Activity = (ContextId, Option<OperationId>);

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

/// The waits of a location, in order.
pub(super) fn waits_of(waits: &[PartnerWaitRow], location: LocationId) -> &[PartnerWaitRow] {
    let first = waits.partition_point(|wait| wait.location < location);
    let count = waits[first..].partition_point(|wait| wait.location == location);
    &waits[first..first + count]
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

/// What locations did.
pub(super) struct Spending<'p> {
    events: &'p Events,
    samples: &'p Samples,
    activities: &'p Activities,
}

impl<'p> Spending<'p> {
    pub(super) fn of(profile: &'p Profile, activities: &'p Activities) -> Spending<'p> {
        Spending { events: &profile.events, samples: &profile.samples, activities }
    }

    /// What a location did in these parts of its time, which are in order and apart.
    pub(super) fn of_steps(&self, steps: &[Step]) -> Map<Activity, Amount> {
        let mut spent: Map<Activity, Amount> = Map::default();
        let Some(&Step { location, begin_ns: first_ns, .. }) = steps.first() else { return spent };
        let mut samples = self.samples.ending_after(location, first_ns).peekable();
        let events = self.events.ending_after(location, first_ns);
        let mut events = events.filter(|event| !event.summed).peekable();
        let (mut left_ns, mut all_weights) = (0.0, 0.0);
        for (step, part) in steps.iter().zip(1..) {
            let mut from_ns = step.begin_ns;
            while let Some(event) = events.peek() {
                let (begin_ns, end_ns) = (event.begin_ns.max(from_ns), event.end_ns.min(step.end_ns));
                if end_ns > begin_ns {
                    let sum = spent.entry(self.activities.call(event)).or_default();
                    let time_ns = (end_ns - begin_ns) as f64;
                    (sum.ns, sum.active_ns) = (sum.ns + time_ns, sum.active_ns + time_ns);
                    sum.seen_in(part);
                    left_ns += (begin_ns - from_ns) as f64;
                    from_ns = end_ns;
                }
                // The next part may lie in the rest of it.
                if event.end_ns >= step.end_ns {
                    break;
                }
                events.next();
            }
            left_ns += step.end_ns.saturating_sub(from_ns) as f64;
            let within = std::iter::from_fn(|| samples.next_if(|row| row.time_ns <= step.end_ns));
            let within = within.skip_while(|row| row.time_ns <= step.begin_ns);
            for row in within.filter(|row| !row.tail && !row.in_operation) {
                let weight = row.cpu_ns as f64;
                let sum = spent.entry(self.activities.own(row.context)).or_default();
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
            // Too short for a sample: all that is known is that it is the program's.
            let sum = spent.entry((ContextId::PROGRAM, None)).or_default();
            (sum.ns, sum.active_ns) = (sum.ns + left_ns, sum.active_ns + left_ns);
            sum.parts += 1;
        } else {
            spent.retain(|_, sum| sum.ns > 0.0);
        }
        spent
    }
}
