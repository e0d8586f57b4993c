//! What locations did in parts of their time: their recorded operations, exactly; what is left is divided
//! among contexts by the weights of the samples whose instants lie in these parts, `M·w/W` with the variance
//! `(M/W)²·Σ w²`. Contexts are functions on their call paths; calls of MPI are apart from what calls them.

use proust_profile::{
    ContextId, ContextKind, Events, LocationId, OperationId, PartnerWaitRow, Profile, Samples,
};
use rustc_hash::FxHashMap as Map;

/// What was done: a function, or an operation that it calls.
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

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Amount {
    pub(super) ns: f64,
    pub(super) variance: f64,
}

/// What locations did.
pub(super) struct Spending<'p> {
    events: &'p Events,
    samples: &'p Samples,
    /// The function that each context is in.
    functions: Vec<ContextId>,
}

impl<'p> Spending<'p> {
    pub(super) fn of(profile: &'p Profile) -> Spending<'p> {
        let mut functions: Vec<ContextId> = Vec::with_capacity(profile.contexts.len());
        for (id, context) in profile.contexts.iter().enumerate() {
            let inside = matches!(context.kind, ContextKind::Line | ContextKind::Loop);
            let parent = context.parent.filter(|_| inside);
            let function = parent.and_then(|parent| functions.get(parent.index()).copied());
            functions.push(function.unwrap_or(ContextId::from_index(id)));
        }
        Spending { events: &profile.events, samples: &profile.samples, functions }
    }

    fn function(&self, context: ContextId) -> ContextId {
        self.functions.get(context.index()).copied().unwrap_or(context)
    }

    /// What a location did in these parts of its time, which are in order and apart.
    pub(super) fn of_steps(&self, steps: &[Step]) -> Map<Activity, Amount> {
        let mut spent: Map<Activity, Amount> = Map::default();
        let Some(location) = steps.first().map(|step| step.location) else { return spent };
        let mut samples = self.samples.ending_after(location, steps[0].begin_ns).peekable();
        let mut weights: Map<ContextId, (f64, f64)> = Map::default();
        let (mut left_ns, mut all_weights) = (0.0, 0.0);
        for step in steps {
            let mut from_ns = step.begin_ns;
            let events = self.events.ending_after(location, step.begin_ns);
            for event in events.filter(|event| !event.summed) {
                let (begin_ns, end_ns) = (event.begin_ns.max(from_ns), event.end_ns.min(step.end_ns));
                if end_ns > begin_ns {
                    let activity = (self.function(event.context), Some(event.operation));
                    spent.entry(activity).or_default().ns += (end_ns - begin_ns) as f64;
                    left_ns += (begin_ns - from_ns) as f64;
                    from_ns = end_ns;
                }
                if event.end_ns >= step.end_ns {
                    break;
                }
            }
            left_ns += step.end_ns.saturating_sub(from_ns) as f64;
            let within = std::iter::from_fn(|| samples.next_if(|row| row.time_ns <= step.end_ns));
            let within = within.skip_while(|row| row.time_ns <= step.begin_ns);
            for row in within.filter(|row| !row.tail && !row.in_operation) {
                let weight = row.cpu_ns as f64;
                let sum = weights.entry(self.function(row.context)).or_default();
                (sum.0, sum.1) = (sum.0 + weight, sum.1 + weight * weight);
                all_weights += weight;
            }
        }
        if left_ns > 0.0 && all_weights > 0.0 {
            let scale = left_ns / all_weights;
            for (context, (weight, squares)) in weights {
                let sum = spent.entry((context, None)).or_default();
                (sum.ns, sum.variance) = (sum.ns + scale * weight, sum.variance + scale * scale * squares);
            }
        } else if left_ns > 0.0 {
            // Too short for a sample: all that is known is that it is the program's.
            spent.entry((ContextId::PROGRAM, None)).or_default().ns += left_ns;
        }
        spent
    }
}
