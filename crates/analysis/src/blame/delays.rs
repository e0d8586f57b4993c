//! The delay analysis: what who came late to a barrier did longer than who waited for it.
//!
//! Amounts are those of the waits; what was done only divides them. It is compared for each pair of late and
//! waiting thread over all times that a barrier opened, so that samples tell enough, by function: `d = late's
//! − waiting one's time`, where that is more than chance. What the late one waited itself for others goes on
//! to what caused that.

use proust_profile::{ContextId, LocationId};

use super::barriers::{Barriers, Doing, Instance};
use super::cause::{Cause, CauseKind};
use super::evidence::ObjectId;
use super::tally::{Charged, Tally, VictimId};
use crate::hash::Map;
use crate::ledger::Window;

/// Waits of one location for another one that came late.
type Waits = Map<VictimId, (f64, f64)>;

#[derive(Debug, Default)]
pub(super) struct Delays {
    waits: Map<(ObjectId, LocationId, LocationId), Waits>,
    /// From when the last one came: the barrier's own time.
    opening: Map<VictimId, (f64, f64)>,
}

impl Delays {
    /// A wait, or a part of it, and the empty slots charged to it.
    pub(super) fn add(
        &mut self,
        instance: &Instance,
        location: LocationId,
        victim: VictimId,
        window: Window,
        slots_ns: f64,
    ) {
        let length_ns = window.length_ns() as f64;
        let is_late = instance.late.contains(&location);
        let waited_ns = match is_late {
            true => 0.0,
            false => window.end_ns.min(instance.arrival_ns).saturating_sub(window.start_ns) as f64,
        };
        let slots_per_ns = if length_ns > 0.0 { slots_ns / length_ns } else { 0.0 };
        let give = |sum: &mut (f64, f64), ns: f64| {
            (sum.0, sum.1) = (sum.0 + ns, sum.1 + ns * slots_per_ns);
        };
        if length_ns > waited_ns {
            give(self.opening.entry(victim).or_default(), length_ns - waited_ns);
        }
        if waited_ns > 0.0 {
            for &late in &instance.late {
                let waits = self.waits.entry((instance.object, late, location)).or_default();
                give(waits.entry(victim).or_default(), waited_ns / instance.late.len() as f64);
            }
        }
    }

    /// Takes over the waits of other locations, whose victims' numbers have grown by `moved_by`.
    pub(super) fn append(&mut self, other: Delays, moved_by: VictimId) {
        let moved = |sums: Waits| -> Waits {
            sums.into_iter().map(|(victim, sum)| (victim + moved_by, sum)).collect()
        };
        self.waits.extend(other.waits.into_iter().map(|(key, waits)| (key, moved(waits))));
        self.opening.extend(moved(other.opening));
    }

    /// Charges all of it.
    pub(super) fn charge(self, barriers: &Barriers, tally: &mut Tally) {
        for (victim, (ns, slots_ns)) in self.opening {
            let (location, context) = tally.place(victim);
            let cause = Cause { kind: CauseKind::HandOver, location, context, site: None, lock: None };
            let cause = tally.cause(cause);
            tally.add(victim, cause, ns, slots_ns);
        }
        let mut pairs: Vec<_> = self.waits.into_iter().collect();
        pairs.sort_unstable_by_key(|(key, _)| *key);
        let nothing = Doing::default();
        for ((object, late, early), waits) in pairs {
            let doing = barriers.late.get(&(object, late)).unwrap_or(&nothing);
            let other = barriers.early.get(&(object, late, early)).unwrap_or(&nothing);
            let parts = delay(doing, other, &barriers.frames);
            let all: f64 = parts.iter().map(|(_, ns)| ns).sum();
            let charged: Vec<(Charged, f64)> = (parts.into_iter())
                .map(|(part, ns)| {
                    let to = match part {
                        Part::Context(context) => {
                            let kind = CauseKind::Late;
                            tally.cause(Cause { kind, location: late, context, site: None, lock: None })
                        }
                        Part::Waits(account, context) => {
                            Charged::AsWaits(tally.victim(late, account, context))
                        }
                    };
                    (to, ns / all)
                })
                .collect();
            let mut waits: Vec<_> = waits.into_iter().collect();
            waits.sort_unstable_by_key(|(victim, _)| *victim);
            for (victim, (ns, slots_ns)) in waits {
                for &(to, share) in &charged {
                    tally.add(victim, to, ns * share, slots_ns * share);
                }
                if charged.is_empty() {
                    let (location, context) = tally.place(victim);
                    let unknown = tally.unknown(location, context);
                    tally.add(victim, unknown, ns, slots_ns);
                }
            }
        }
    }
}

/// What a late location did longer than another one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Part {
    Context(ContextId),
    Waits(crate::ledger::Account, ContextId),
}

/// What `late` did longer than `early` in as many times, and by how much, ns.
pub(super) fn delay(late: &Doing, early: &Doing, frames: &[ContextId]) -> Vec<(Part, f64)> {
    let frame = |context: ContextId| frames.get(context as usize).copied().unwrap_or(context);
    let by_frame = |doing: &Doing| {
        let mut sums: Map<ContextId, f64> = Map::default();
        for (&context, &ns) in &doing.contexts {
            *sums.entry(frame(context)).or_default() += ns as f64;
        }
        sums
    };
    // Of the times that the late one was late, this one may have waited only in some.
    let scale = if late.times > 0 && early.times > 0 { early.times as f64 / late.times as f64 } else { 1.0 };
    let (of_late, of_early) = (by_frame(late), by_frame(early));
    let total: f64 = late.contexts.values().chain(early.contexts.values()).map(|&ns| ns as f64).sum();
    let grain = total / (late.pieces + early.pieces).max(1) as f64;
    let longer = |frame: ContextId, certain: bool| {
        let mine = of_late.get(&frame).copied().unwrap_or(0.0) * scale;
        let theirs = of_early.get(&frame).copied().unwrap_or(0.0);
        let least = if certain { (grain * (mine + theirs)).sqrt() } else { 0.0 };
        Some(mine - theirs).filter(|&more| more > least).unwrap_or(0.0)
    };
    let mut waits: Vec<(Part, f64)> = Vec::new();
    for (&(account, context), &ns) in &late.waits {
        let theirs = early.waits.get(&(account, context)).copied().unwrap_or(0) as f64;
        waits.push((Part::Waits(account, context), (ns as f64 * scale - theirs).max(0.0)));
    }
    let parts = |excess: &dyn Fn(ContextId) -> f64| {
        let contexts = late.contexts.iter().map(|(&context, &ns)| {
            let frame = frame(context);
            let whole = of_late.get(&frame).copied().unwrap_or(0.0);
            let share = if whole > 0.0 { ns as f64 / whole } else { 0.0 };
            (Part::Context(context), excess(frame) * share)
        });
        let mut parts: Vec<(Part, f64)> =
            contexts.chain(waits.iter().copied()).filter(|(_, ns)| *ns > 0.0).collect();
        parts.sort_by_key(|(part, _)| match *part {
            Part::Context(context) => (0, context),
            Part::Waits(account, context) => (1 + account as u32, context),
        });
        parts
    };
    let certain = parts(&|frame| longer(frame, true));
    if !certain.is_empty() {
        return certain;
    }
    let any = parts(&|frame| longer(frame, false));
    if !any.is_empty() {
        return any;
    }
    // It did nothing longer, and came late all the same: it began later, or was not observed.
    parts(&|frame| of_late.get(&frame).copied().unwrap_or(0.0))
}
