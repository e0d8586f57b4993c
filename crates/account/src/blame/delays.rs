//! The delay analysis: the acts that took the last location to arrive at a synchronisation longer than those
//! that waited for it.
//!
//! For a wait of `e` that ended when `l` arrived, both having synchronised before at one instant, the acts of
//! each since then sum to the time that passed until it arrived. With `m(c)` the time in act `c`,
//!
//! ```text
//! w = Σ m_l(c) − Σ m_e(c) = Σ d(c),   d(c) = m_l(c) − m_e(c)
//! ```
//!
//! An act is a function that a location works in or is passive in for its own reasons, a wait for others, or
//! having no processor. First these three are compared as wholes: `l` is late since it worked longer, waited
//! longer, or had no processor for longer, as far as that sum over its `d` is positive. So work is no cause
//! of a late arrival where the other one worked as long at something else. Then each whole is divided among
//! its acts with `d(c) > 0`, in proportion (Meira 1997; Böhme et al., ACM TOPC 3(2), 2016: the short-term
//! cost of a delay, there without the wholes), all of it scaled to `w`. Amounts charged to a wait of `l` are
//! passed on to the causes of that wait.
//!
//! `w` is known from exact times, `m` of computing from samples. So `m` is summed up over all times that a
//! pair of sites (where both synchronised before, where one waited) had the same location arrive last, and
//! compared by function. How long computing took is known; it is divided by the weights `v` of the samples
//! whose instants lie between the two synchronisations, `m(c) = M·Σ_c v/Σ v`, with the variance `(M/Σ v)²·Σ_c
//! v²`: samples are taken at random instants. An act counts as certain where `d > 3 σ`, `σ²` the sum of both
//! sides' variances. Certain acts are charged first; others, in proportion, only with the part that those
//! cannot explain.

use proust_profile::{ContextId, ContextKind, LocationId, Profile};

use super::cause::{Cause, CauseKind};
use super::doing::{Act, Amount, Doing};
use super::tally::{Charged, Tally};
use crate::ledger::Account;
use rustc_hash::FxHashMap as Map;

/// What is compared with each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Pair {
    /// Where the members synchronised before; None = they began.
    pub(super) begin: Option<ContextId>,
    /// Where was waited.
    pub(super) end: ContextId,
    /// The location that arrived last.
    pub(super) late: LocationId,
}

/// The causes that a wait at a synchronisation is charged to.
#[derive(Clone, Debug)]
pub(super) enum Causes {
    /// Until the last ones arrived at that time, to them; then the synchronisation opened.
    Late(u64, Vec<Pair>),
    /// It arrived last itself.
    Opening,
    Unknown,
}

/// The location that waited, and where.
pub(super) type Victim = (LocationId, ContextId);
/// Of a location's own time, and of empty slots charged to it, ns.
pub(super) type Loss = (f64, f64);

/// All waits at synchronisations that are on one account.
#[derive(Debug)]
pub(super) struct Delays {
    account: Account,
    pairs: Map<Pair, Delay>,
    /// From when the last one arrived: the synchronisation's own time.
    opening: Map<Victim, Loss>,
    unknown: Map<Victim, Loss>,
    /// Waits that are only known by sums.
    unplaced: Map<Victim, Loss>,
    /// The most synchronisations that were open at once.
    pub(super) most_open: usize,
}

#[derive(Debug, Default)]
struct Delay {
    /// What was lost for it.
    waits: Map<Victim, Loss>,
    late: Map<Act, Amount>,
    early: Map<Act, Amount>,
}

fn add(sums: &mut Map<Victim, Loss>, victim: Victim, loss: Loss) {
    if loss.0 > 0.0 {
        let sum = sums.entry(victim).or_default();
        (sum.0, sum.1) = (sum.0 + loss.0, sum.1 + loss.1);
    }
}

impl Delays {
    pub(super) fn new(account: Account) -> Delays {
        Delays {
            account,
            pairs: Map::default(),
            opening: Map::default(),
            unknown: Map::default(),
            unplaced: Map::default(),
            most_open: 0,
        }
    }

    /// So many waited for another one. What that one did is None where it was not seen.
    pub(super) fn compare(&mut self, pair: Pair, (late, waiters): (Option<&Doing>, usize), early: &Doing) {
        let delay = self.pairs.entry(pair).or_default();
        for (doing, times, sums) in
            [(late, waiters as f64, &mut delay.late), (Some(early), 1.0, &mut delay.early)]
        {
            for &(act, amount) in doing.map_or(&[][..], Doing::acts) {
                sums.entry(act).or_default().add(amount, times);
            }
        }
    }

    pub(super) fn late(&mut self, pair: Pair, victim: Victim, loss: Loss) {
        add(&mut self.pairs.entry(pair).or_default().waits, victim, loss);
    }

    pub(super) fn opening(&mut self, victim: Victim, loss: Loss) {
        add(&mut self.opening, victim, loss);
    }

    pub(super) fn unknown(&mut self, victim: Victim, loss: Loss) {
        add(&mut self.unknown, victim, loss);
    }

    pub(super) fn unplaced(&mut self, victim: Victim, loss: Loss) {
        add(&mut self.unplaced, victim, loss);
    }

    /// How many sums there are: what it keeps in memory.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        let of = |delay: &Delay| delay.waits.len() + delay.late.len() + delay.early.len();
        let others = self.opening.len() + self.unknown.len() + self.unplaced.len();
        self.pairs.values().map(of).sum::<usize>() + others
    }

    /// Charges all of it.
    pub(super) fn charge(self, profile: &Profile, tally: &mut Tally) {
        let account = self.account;
        for (victim, loss) in in_order(self.opening) {
            let cause = tally.cause(Cause::of(CauseKind::HandOver, victim));
            tally.charge(victim, account, cause, loss);
        }
        for (victim, loss) in in_order(self.unknown) {
            let cause = tally.unknown(victim);
            tally.charge(victim, account, cause, loss);
        }
        for (victim, loss) in in_order(self.unplaced) {
            let id = tally.victim(victim.0, account, victim.1);
            tally.unplaced(id, loss);
        }
        let frames = frames(profile);
        for (pair, delay) in in_order(self.pairs) {
            let parts = parts(&delay, &frames);
            let all: f64 = parts.iter().map(|(_, ns)| ns).sum();
            let charged: Vec<(Charged, f64)> = (parts.into_iter())
                .map(|(act, ns)| {
                    let late = |kind, context| Cause::of(kind, (pair.late, context));
                    let to = match act {
                        Act::Does(context) | Act::Computes(context) | Act::Sampled(context) => {
                            tally.cause(late(CauseKind::Late, context))
                        }
                        Act::Queues(context) => tally.cause(late(CauseKind::Displaced, context)),
                        Act::Waits(account, context) => {
                            Charged::AsWaits(tally.victim(pair.late, account, context))
                        }
                    };
                    (to, ns / all)
                })
                .collect();
            for (victim, (ns, slots_ns)) in in_order(delay.waits) {
                for &(to, share) in &charged {
                    tally.charge(victim, account, to, (ns * share, slots_ns * share));
                }
                if charged.is_empty() {
                    let unknown = tally.unknown(victim);
                    tally.charge(victim, account, unknown, (ns, slots_ns));
                }
            }
        }
    }
}

/// In an order that does not depend on their arrival.
fn in_order<K: Ord + Copy, V>(map: Map<K, V>) -> Vec<(K, V)> {
    let mut all: Vec<(K, V)> = map.into_iter().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all
}

/// So many standard errors are no chance.
const SIGMAS: f64 = 3.0;

/// The acts that took the late one longer, and by how much, ns; in order.
fn parts(delay: &Delay, frames: &[ContextId]) -> Vec<(Act, f64)> {
    let (of_late, of_early) = (resolved(&delay.late), resolved(&delay.early));
    let alike = |act: Act| match act {
        Act::Does(context) => Act::Does(frames.get(context.index()).copied().unwrap_or(context)),
        // That a thread has no processor is no matter of where it is.
        Act::Queues(_) => Act::Queues(ContextId(0)),
        Act::Waits(..) | Act::Computes(_) | Act::Sampled(_) => act,
    };
    let by_function = |acts: &Map<Act, Amount>| {
        let mut sums: Map<Act, Amount> = Map::default();
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
    let charged: Map<Act, f64> = (longer.into_iter())
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
fn resolved(acts: &Map<Act, Amount>) -> Map<Act, Amount> {
    let (mut computed_ns, mut queued_ns, mut weights) = (0.0, 0.0, 0.0);
    for (act, amount) in acts {
        match act {
            Act::Computes(_) => computed_ns += amount.ns,
            Act::Queues(_) => queued_ns += amount.ns,
            Act::Sampled(_) => weights += amount.ns,
            Act::Does(_) | Act::Waits(..) => {}
        }
    }
    let mut resolved: Map<Act, Amount> = Map::default();
    let mut add = |act: Act, ns: f64, variance: f64| {
        let sum = resolved.entry(act).or_default();
        (sum.ns, sum.variance) = (sum.ns + ns, sum.variance + variance);
    };
    for (&act, amount) in acts {
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
fn frames(profile: &Profile) -> Vec<ContextId> {
    let mut frames: Vec<ContextId> = Vec::with_capacity(profile.contexts.len());
    for (id, context) in profile.contexts.iter().enumerate() {
        let inside = matches!(context.kind, ContextKind::Line | ContextKind::Loop);
        let parent = context.parent.filter(|_| inside).and_then(|parent| frames.get(parent.index()).copied());
        frames.push(parent.unwrap_or(ContextId::from_index(id)));
    }
    frames
}
