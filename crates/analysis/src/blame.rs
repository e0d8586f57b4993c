//! Blame: for every lost nanosecond the place that caused it, as a pure function of timelines, operations and releases.
//!
//! The ledger says who lost how much where. Here each loss gets its causes, and **blame conserves**: what is charged for
//! a row of the ledger is what the row says, to the nanosecond.
//!
//! - `lock`: the sections that held the object during the wait (`sections`); the time in which nobody held it is
//!   hand-over, the lock's own.
//! - `barrier`: what the last to come did longer than who waited for it (`barriers`).
//! - `serial`, `narrow`: those who worked meanwhile, as the ledger has charged them already.
//! - everything else that is lost is its own cause, and so is a wait whose cause is not known.
//!
//! Outside of all accounts stands who woke the threads that were passive (`wakers`).
//!
//! This module knows no page and no time range of its own: it takes the windows that the ledger was drawn up for.

mod barriers;
mod cause;
mod delays;
mod evidence;
mod hash;
mod locks;
mod releases;
mod sections;
mod sums;
mod tally;
#[cfg(test)]
mod tests;
mod wakers;

use std::collections::HashSet;

use proust_profile::{ContextId, LocationId, Profile};

use crate::ledger::{Account, IoAs, Ledger, LedgerError, Processors, Row, Run, WaitCharge, Windows};
use crate::timelines::OperationStates;
use barriers::Barriers;
use evidence::Evidence;
use tally::Tally;

pub use cause::{BlameRow, Cause, CauseKind};
pub use locks::{Lock, LockId, LockKind, LockWaits};
pub use wakers::WakerRow;

/// The causes of what a run lost waiting, and who woke whom.
#[derive(Clone, Debug, Default)]
pub struct Blame {
    /// The causes of all waits of the ledger: of what locations waited, and of the slots that were empty because somebody
    /// waited. Sorted.
    pub rows: Vec<BlameRow>,
    /// The locks that were waited for, in the order in which they first were.
    pub locks: Vec<Lock>,
    /// The waits for them that were told alone. Sorted.
    pub lock_waits: Vec<LockWaits>,
    /// Who woke whom. Sorted.
    pub wakers: Vec<WakerRow>,
}

impl Blame {
    /// Draws up the account of `run` and finds its causes. `run` must be the timelines of `profile`.
    ///
    /// The ledger knows the blame by context, too ([`Ledger::caused`]).
    ///
    /// # Errors
    /// When the profile's processes and locations contradict each other.
    pub fn of(
        profile: &Profile,
        states: &OperationStates,
        run: &Run,
        processors: &Processors,
        windows: &Windows,
    ) -> Result<(Ledger, Blame), LedgerError> {
        let evidence = Evidence::new(profile, states);
        let barriers = Barriers::new(&evidence, run, windows);
        let mut tally = Tally::default();
        let mut charging = Charging::new(&evidence, &barriers, &mut tally);
        let mut ledger = Ledger::with_waits(run, processors, windows, |charge| charging.take(charge))?;
        let delays = charging.delays;
        delays.charge(&barriers, &mut tally);
        sums::charge(&evidence, windows, &mut tally);
        let rows = tally.settle(&ledger);
        ledger.caused = caused(&ledger, &rows);
        let blame = Blame {
            rows,
            locks: locks::locks(&evidence),
            lock_waits: locks::waits(&evidence, windows),
            wakers: wakers::wakers(&evidence, windows),
        };
        Ok((ledger, blame))
    }
}

/// Goes through the waits in the order in which the sweep meets them.
struct Charging<'e, 't> {
    evidence: &'e Evidence<'e>,
    barriers: &'e Barriers,
    tally: &'t mut Tally,
    delays: delays::Delays,
    /// The next single wait of each location, as a position in the profile's events.
    next: Vec<usize>,
    shares: Vec<(sections::Holder, f64)>,
}

impl<'e, 't> Charging<'e, 't> {
    fn new(evidence: &'e Evidence<'e>, barriers: &'e Barriers, tally: &'t mut Tally) -> Charging<'e, 't> {
        let next = evidence.ranges.iter().map(|range| range.start).collect();
        Charging { evidence, barriers, tally, delays: delays::Delays::default(), next, shares: Vec::new() }
    }

    fn take(&mut self, charge: &WaitCharge) {
        let evidence = self.evidence;
        let victim = self.tally.victim(charge.location, charge.wait.account(), charge.context);
        let ns = charge.window.length_ns();
        let Some(event) = self.event(charge) else {
            self.tally.unplaced(victim, ns, charge.slots_ns);
            return;
        };
        let slots_per_ns = if ns > 0 { charge.slots_ns / ns as f64 } else { 0.0 };
        match evidence.kind(event) {
            evidence::Kind::Lock => {
                sections::shares(evidence, event, charge.window, &mut self.shares);
                for (holder, ns) in self.shares.drain(..) {
                    let cause = self.tally.holder(evidence, event, charge, holder);
                    self.tally.add(victim, cause, ns, ns * slots_per_ns);
                }
            }
            evidence::Kind::Barrier => match self.barriers.instance(event) {
                Some(instance) => {
                    self.delays.add(instance, charge.location, victim, charge.window, charge.slots_ns);
                }
                None => self.tally.unplaced(victim, ns, charge.slots_ns),
            },
            _ => self.tally.unplaced(victim, ns, charge.slots_ns),
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

/// What was lost, by those who caused it.
fn caused(ledger: &Ledger, rows: &[BlameRow]) -> Vec<Row> {
    let mut sums: hash::Map<(LocationId, Account, ContextId), u64> = Default::default();
    let charged: HashSet<LocationId> =
        ledger.locations.iter().filter(|one| one.charged).map(|one| one.location).collect();
    let is_lost = |account: Account| account.lost(IoAs::Productive);
    let own = ledger.spent.iter().filter(|row| charged.contains(&row.location)).chain(&ledger.blamed);
    for row in own.filter(|row| is_lost(row.account) && !cause::is_wait(row.account)) {
        *sums.entry((row.location, row.account, row.context)).or_default() += row.ns;
    }
    for row in rows {
        *sums.entry((row.cause.location, row.account, row.cause.context)).or_default() += row.ns;
    }
    let row = |((location, account, context), ns)| Row { location, account, context, ns };
    let mut caused: Vec<Row> = sums.into_iter().map(row).collect();
    caused.sort_unstable();
    caused
}
