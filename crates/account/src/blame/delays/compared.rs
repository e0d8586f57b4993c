//! The comparison of one pair: which acts took the late location longer, and by how much.

use std::collections::BTreeMap;

use proust_profile::{ContextId, ContextKind, Profile};

use crate::blame::doing::{Act, Amount};

/// What the late one did, and what those did that waited for it: each act once, in order.
#[derive(Debug, Default)]
pub(super) struct Sides {
    pub(super) late: Vec<(Act, Amount)>,
    pub(super) early: Vec<(Act, Amount)>,
}

/// In order, so that sums are the same however they came about.
type Amounts = BTreeMap<Act, Amount>;

/// So many standard errors are no chance.
const SIGMAS: f64 = 3.0;

/// The acts that took the late one longer, and by how much, ns; in order.
pub(super) fn parts(sides: &Sides, frames: &[ContextId]) -> Vec<(Act, f64)> {
    let (of_late, of_early) = (resolved(&sides.late), resolved(&sides.early));
    let alike = |act: Act| match act {
        Act::Does(context) => Act::Does(frames.get(context.index()).copied().unwrap_or(context)),
        // That a thread has no processor is no matter of where it is.
        Act::Queues(_) => Act::Queues(ContextId(0)),
        Act::Waits(..) | Act::Computes(_) | Act::Sampled(_) => act,
    };
    let by_function = |acts: &Amounts| {
        let mut sums = Amounts::default();
        for (&act, &amount) in acts {
            let sum = sums.entry(alike(act)).or_default();
            (sum.ns, sum.variance) = (sum.ns + amount.ns, sum.variance + amount.variance);
        }
        sums
    };
    let (late, early) = (by_function(&of_late), by_function(&of_early));
    let zero = Amount::default();
    let difference = |act: &Act| {
        let (mine, theirs) = (late.get(act).unwrap_or(&zero), early.get(act).unwrap_or(&zero));
        (mine.ns - theirs.ns, mine.variance + theirs.variance)
    };
    let mut wholes = [Whole::default(); 3];
    let acts = late.keys().chain(early.keys().filter(|act| !late.contains_key(act)));
    let mut longer: Vec<(Act, f64, bool)> = Vec::new();
    for &act in acts {
        let (ns, variance) = difference(&act);
        let whole = &mut wholes[whole_of(act)];
        whole.ns += ns;
        if ns > 0.0 {
            let is_certain = ns > SIGMAS * variance.sqrt();
            *(if is_certain { &mut whole.certain_ns } else { &mut whole.chance_ns }) += ns;
            longer.push((act, ns, is_certain));
        }
    }
    // Where no whole is longer, something is, or else it was late without doing anything longer.
    let is_any = wholes.iter().any(|whole| whole.ns > 0.0);
    let charged: BTreeMap<Act, f64> = (longer.into_iter())
        .map(|(act, ns, is_certain)| {
            let whole = &wholes[whole_of(act)];
            (act, if is_any { ns * whole.scale(is_certain) } else { ns })
        })
        .collect();
    let is_none = charged.values().all(|ns| *ns <= 0.0);
    let mut parts: Vec<(Act, f64)> = (of_late.iter())
        .map(|(&act, amount)| {
            let whole_ns = late.get(&alike(act)).map_or(0.0, |whole| whole.ns);
            let share = if whole_ns > 0.0 { amount.ns / whole_ns } else { 0.0 };
            let ns = charged.get(&alike(act)).copied().unwrap_or(0.0);
            // No act took it longer, but it arrived late: it began later, or was not observed.
            (act, if is_none { amount.ns } else { ns * share })
        })
        .filter(|(_, ns)| *ns > 0.0)
        .collect();
    parts.sort_unstable_by_key(|(act, _)| *act);
    parts
}

/// The time of computing, and of queueing for it, where the samples say that it was: those whose instants lie
/// between the synchronisations. Without any it stays where the timeline has it.
fn resolved(acts: &[(Act, Amount)]) -> Amounts {
    let (mut computed_ns, mut queued_ns, mut weights) = (0.0, 0.0, 0.0);
    for (act, amount) in acts {
        match act {
            Act::Computes(_) => computed_ns += amount.ns,
            Act::Queues(_) => queued_ns += amount.ns,
            Act::Sampled(_) => weights += amount.ns,
            Act::Does(_) | Act::Waits(..) => {}
        }
    }
    let mut resolved = Amounts::default();
    let mut add = |act: Act, ns: f64, variance: f64| {
        let sum = resolved.entry(act).or_default();
        (sum.ns, sum.variance) = (sum.ns + ns, sum.variance + variance);
    };
    for &(act, amount) in acts {
        match act {
            Act::Does(_) | Act::Waits(..) => add(act, amount.ns, amount.variance),
            Act::Sampled(context) => {
                let scale = computed_ns / weights;
                add(Act::Does(context), amount.ns * scale, amount.variance * scale * scale);
                add(Act::Queues(context), amount.ns * queued_ns / weights, 0.0);
            }
            Act::Computes(context) if weights == 0.0 => add(Act::Does(context), amount.ns, amount.variance),
            Act::Queues(_) if weights == 0.0 => add(act, amount.ns, amount.variance),
            Act::Computes(_) | Act::Queues(_) => {}
        }
    }
    resolved
}

/// Work, queueing or waiting: all acts of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Whole {
    /// By how much the late one's is longer.
    ns: f64,
    /// The sum of what is longer, as far as that is certain, and the rest of it.
    certain_ns: f64,
    chance_ns: f64,
}

impl Whole {
    /// How much is charged for each nanosecond by which an act is longer.
    fn scale(&self, is_certain: bool) -> f64 {
        let ns = self.ns.max(0.0);
        match is_certain {
            true => (ns / self.certain_ns).min(1.0),
            false => (ns - self.certain_ns).max(0.0) / self.chance_ns,
        }
    }
}

fn whole_of(act: Act) -> usize {
    match act {
        Act::Does(_) | Act::Computes(_) | Act::Sampled(_) => 0,
        Act::Queues(_) => 1,
        Act::Waits(..) => 2,
    }
}

/// The frame or call that each context is in: what is compared are functions, not lines.
pub(super) fn frames(profile: &Profile) -> Vec<ContextId> {
    let mut frames: Vec<ContextId> = Vec::with_capacity(profile.contexts.len());
    for (id, context) in profile.contexts.iter().enumerate() {
        let inside = matches!(context.kind, ContextKind::Line | ContextKind::Loop);
        let parent = context.parent.filter(|_| inside).and_then(|parent| frames.get(parent.index()).copied());
        frames.push(parent.unwrap_or(ContextId::from_index(id)));
    }
    frames
}
