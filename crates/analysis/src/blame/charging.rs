//! Charges the waits that the sweep meets, beside it and in parallel: in shards by who waited, each with sums
//! of its own.
//!
//! There are always as many shards, so that sums are the same on every machine.

use std::mem;
use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::barriers::Barriers;
use super::delays::Delays;
use super::evidence::{Evidence, Kind};
use super::sections::{self, Holder, Near};
use super::tally::Tally;
use crate::ledger::WaitCharge;

const SHARDS: usize = 4;
/// Waits are handed over in batches of so many.
const BATCH: usize = 1 << 13;
/// So many batches of a shard may lie ready.
const AHEAD: usize = 8;

/// What all waits are charged to.
#[derive(Debug, Default)]
pub(super) struct Charged {
    pub(super) tally: Tally,
    pub(super) delays: Delays,
}

/// Runs `sweep`, which reports waits, each location's in their order, and charges them. Gives what `sweep`
/// gave, too.
pub(super) fn charged<R>(
    evidence: &Evidence<'_>,
    barriers: &Barriers,
    sweep: impl FnOnce(&mut dyn FnMut(&WaitCharge)) -> R,
) -> (R, Charged) {
    thread::scope(|scope| {
        let mut shards = Vec::with_capacity(SHARDS);
        let mut feeds: Vec<Feed> = Vec::with_capacity(SHARDS);
        for _ in 0..SHARDS {
            let (to, from) = sync_channel(AHEAD);
            feeds.push(Feed { batch: Vec::with_capacity(BATCH), to });
            shards.push(scope.spawn(move || Shard::new(evidence, barriers).take_all(&from)));
        }
        let result = sweep(&mut |charge| feeds[charge.location as usize % SHARDS].push(*charge));
        feeds.into_iter().for_each(Feed::finish);
        let mut all = Charged::default();
        for shard in shards {
            let Charged { tally, delays } = shard.join().unwrap_or_else(|panic| resume_unwind(panic));
            let moved_by = all.tally.append(tally);
            all.delays.append(delays, moved_by);
        }
        (result, all)
    })
}

/// Where the waits of a shard go.
struct Feed {
    batch: Vec<WaitCharge>,
    to: SyncSender<Vec<WaitCharge>>,
}

impl Feed {
    fn push(&mut self, charge: WaitCharge) {
        self.batch.push(charge);
        if self.batch.len() == BATCH {
            self.send(Vec::with_capacity(BATCH));
        }
    }

    fn send(&mut self, next: Vec<WaitCharge>) {
        // It takes all that there is, unless it has panicked; then whoever joins it does, too.
        let _ = self.to.send(mem::replace(&mut self.batch, next));
    }

    fn finish(mut self) {
        self.send(Vec::new());
    }
}

/// The waits of some locations.
struct Shard<'e> {
    evidence: &'e Evidence<'e>,
    barriers: &'e Barriers,
    charged: Charged,
    /// The next single wait of each location, as a position in the profile's events.
    next: Vec<usize>,
    near: Near,
    shares: Vec<(Holder, f64)>,
}

impl<'e> Shard<'e> {
    fn new(evidence: &'e Evidence<'e>, barriers: &'e Barriers) -> Shard<'e> {
        let next = evidence.ranges.iter().map(|range| range.start).collect();
        let near = Near::new(evidence);
        Shard { evidence, barriers, charged: Charged::default(), next, near, shares: Vec::new() }
    }

    fn take_all(mut self, from: &Receiver<Vec<WaitCharge>>) -> Charged {
        for batch in from {
            batch.iter().for_each(|charge| self.take(charge));
        }
        self.charged
    }

    fn take(&mut self, charge: &WaitCharge) {
        let evidence = self.evidence;
        let event = self.event(charge);
        let Charged { tally, delays } = &mut self.charged;
        let victim = tally.victim(charge.location, charge.wait.account(), charge.context);
        let ns = charge.window.length_ns();
        let Some(event) = event else {
            tally.unplaced(victim, ns, charge.slots_ns);
            return;
        };
        let slots_per_ns = if ns > 0 { charge.slots_ns / ns as f64 } else { 0.0 };
        match evidence.kind(event) {
            Kind::Lock => {
                sections::shares(evidence, &mut self.near, event, charge.window, &mut self.shares);
                for (holder, ns) in self.shares.drain(..) {
                    let cause = tally.holder(evidence, event, charge, holder);
                    tally.add(victim, cause, ns, ns * slots_per_ns);
                }
            }
            Kind::Barrier => match self.barriers.instance(event) {
                Some(instance) => {
                    delays.add(instance, charge.location, victim, charge.window, charge.slots_ns);
                }
                None => tally.unplaced(victim, ns, charge.slots_ns),
            },
            _ => tally.unplaced(victim, ns, charge.slots_ns),
        }
    }

    /// The operation that is this wait; None if it is a part of a sum, or was seen by samples only.
    fn event(&mut self, charge: &WaitCharge) -> Option<usize> {
        let location = charge.location as usize;
        let end = self.evidence.ranges.get(location)?.end;
        let next = self.next.get_mut(location)?;
        let events = &self.evidence.profile.events;
        while *next < end && (events[*next].summed || events[*next].end_ns <= charge.window.start_ns) {
            *next += 1;
        }
        let event = events.get(*next).filter(|_| *next < end)?;
        (event.begin_ns <= charge.window.start_ns && event.context == charge.context).then_some(*next)
    }
}
