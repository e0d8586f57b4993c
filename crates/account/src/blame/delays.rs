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

mod compared;
mod pairs;

use proust_profile::{ContextId, LocationId, Profile, Spool};
use rustc_hash::FxHashMap as Map;

use super::cause::{Cause, CauseKind};
use super::doing::{Act, Doing};
use super::tally::{Charged, Tally};
use crate::ledger::Account;
use compared::{Sides, frames, parts};
use pairs::{Of, PairSums};

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
    /// What is compared, and what was lost for it.
    pairs: PairSums,
    /// From when the last one arrived: the synchronisation's own time.
    opening: Map<Victim, Loss>,
    unknown: Map<Victim, Loss>,
    /// Waits that are only known by sums.
    unplaced: Map<Victim, Loss>,
    /// The most synchronisations that were open at once.
    pub(super) most_open: usize,
}

fn add(sums: &mut Map<Victim, Loss>, victim: Victim, loss: Loss) {
    if loss.0 > 0.0 {
        let sum = sums.entry(victim).or_default();
        (sum.0, sum.1) = (sum.0 + loss.0, sum.1 + loss.1);
    }
}

impl Delays {
    pub(super) fn new(account: Account, spool: &Spool) -> Delays {
        Delays {
            account,
            pairs: PairSums::new(spool),
            opening: Map::default(),
            unknown: Map::default(),
            unplaced: Map::default(),
            most_open: 0,
        }
    }

    /// So many waited for another one. What that one did is None where it was not seen.
    pub(super) fn compare(&mut self, pair: Pair, (late, waiters): (Option<&Doing>, usize), early: &Doing) {
        let mut add = |doing: &Doing, times: f64, of: fn(Act) -> Of| {
            for &(act, amount) in doing.acts() {
                self.pairs.add(pair, of(act), (amount.ns * times, amount.variance * times * times));
            }
        };
        if let Some(late) = late {
            add(late, waiters as f64, Of::Late);
        }
        add(early, 1.0, Of::Early);
    }

    pub(super) fn late(&mut self, pair: Pair, victim: Victim, loss: Loss) {
        if loss.0 > 0.0 {
            self.pairs.add(pair, Of::Waits(victim), loss);
        }
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
        self.pairs.in_memory() + self.opening.len() + self.unknown.len() + self.unplaced.len()
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
        self.pairs.each(|pair, sides, waits| {
            let parts = parts(sides, &frames);
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
            for &(victim, (ns, slots_ns)) in waits {
                for &(to, share) in &charged {
                    tally.charge(victim, account, to, (ns * share, slots_ns * share));
                }
                if charged.is_empty() {
                    let unknown = tally.unknown(victim);
                    tally.charge(victim, account, unknown, (ns, slots_ns));
                }
            }
        });
    }
}

/// In an order that does not depend on their arrival.
fn in_order<K: Ord + Copy, V>(map: Map<K, V>) -> Vec<(K, V)> {
    let mut all: Vec<(K, V)> = map.into_iter().collect();
    all.sort_unstable_by_key(|(key, _)| *key);
    all
}
