//! Blame: for every lost nanosecond the place that caused it, as a pure function of timelines, operations and
//! releases.
//!
//! The ledger has the loss of each location in each place. Here each loss gets its causes, and **blame
//! conserves time**: the amounts charged for a row of the ledger sum to the row, to the nanosecond.
//!
//! - `lock`: the sections that held the object during the wait (`sections`); the time in which it was free is
//!   hand-over, the lock's own.
//! - `barrier`: the acts that took the last location to arrive longer than those that waited for it
//!   (`delays`).
//! - `mpi-partner`: likewise, of the process that was waited for (`partners`).
//! - `serial`, `narrow`: the locations that worked meanwhile, as the ledger has charged them already.
//! - everything else that is lost is its own cause, and so is a wait whose cause is not known.
//!
//! The wakers of passive threads are outside of all accounts (`wakers`).
//!
//! This module knows no page and no time range of its own: it takes the windows that the ledger was drawn up
//! for.

mod beyond;
mod cause;
mod charging;
mod computing;
mod delays;
mod doer;
mod doing;
mod evidence;
mod forks;
mod groups;
mod held;
mod kept;
mod lately;
mod locks;
mod meetings;
mod object;
mod partners;
mod queues;
mod releases;
mod sections;
mod since;
mod singles;
mod spooled_sums;
mod stays;
mod sums;
mod synchronisation;
mod synchronisations;
mod tally;
#[cfg(test)]
mod tests;
mod wakers;

use std::borrow::Cow;

use proust_profile::{Array, ContextId, LocationId, Profile};
use rustc_hash::FxHashSet;

use crate::ledger::{Account, Both, Insides, IoAs, Ledger, LedgerError};
use crate::ledger::{Processors, Row, Run, Spans, Windows};
use crate::timelines::OperationStates;
use beyond::Beyond;
use evidence::Evidence;
use meetings::Gathering;
use partners::Partners;

pub use cause::{BlameRow, Cause, CauseKind};
pub use groups::{LockId, LockKind};
pub use kept::BesideRows;
pub use locks::{Lock, LockWaits};
pub use queues::Queues;
pub use since::{Since, each_since};
pub use wakers::WakerRow;

/// What is found beside the causes.
#[derive(Default)]
struct Beside<'i> {
    with_queues: bool,
    insides: Option<&'i mut Insides>,
}

/// The causes of a run's losses in waits, and the wakers of threads.
#[derive(Clone, Debug, Default)]
pub struct Blame {
    /// The causes of all waits of the ledger: of the locations' waits, and of the slots that were empty
    /// because a location waited. Sorted.
    pub rows: Array<BlameRow>,
    /// The locks that were waited for, in the order in which they first were.
    pub locks: Vec<Lock>,
    /// The waits for them that were recorded one by one. Sorted.
    pub lock_waits: Vec<LockWaits>,
    /// Which location woke which. Sorted.
    pub wakers: Vec<WakerRow>,
}

impl Blame {
    /// Draws up the account of `run` and finds its causes. `run` must be the timelines of `profile`. Without
    /// a number of processors they are those that the whole run really used, whatever the windows.
    ///
    /// The ledger knows the blame by context, too ([`Ledger::caused`]).
    ///
    /// # Errors
    /// When the profile's processes and locations contradict each other.
    pub fn of(
        profile: &Profile,
        states: &OperationStates,
        run: &Run<impl Spans + Sync>,
        processors: Option<&Processors>,
        windows: &Windows,
    ) -> Result<(Ledger, Blame), LedgerError> {
        let drawn_up = Blame::drawn_up(profile, states, run, processors, windows, Beside::default())?;
        Ok((drawn_up.0, drawn_up.1))
    }

    /// As [`Blame::of`], with the queues at the locks; `insides` watch the same sweep.
    ///
    /// # Errors
    /// As [`Blame::of`].
    pub fn with_queues(
        profile: &Profile,
        states: &OperationStates,
        run: &Run<impl Spans + Sync>,
        processors: Option<&Processors>,
        insides: Option<&mut Insides>,
    ) -> Result<(Ledger, Blame, Queues), LedgerError> {
        let (all, beside) = (Windows::all(), Beside { with_queues: true, insides });
        let (ledger, blame, queues) = Blame::drawn_up(profile, states, run, processors, &all, beside)?;
        Ok((ledger, blame, queues.unwrap_or_default()))
    }

    fn drawn_up(
        profile: &Profile,
        states: &OperationStates,
        run: &Run<impl Spans + Sync>,
        processors: Option<&Processors>,
        windows: &Windows,
        Beside { with_queues, insides }: Beside<'_>,
    ) -> Result<(Ledger, Blame, Option<Queues>), LedgerError> {
        let measure = || match processors {
            Some(given) => Ok(Cow::Borrowed(given)),
            None => Processors::measured(run, &Windows::all()).map(Cow::Owned),
        };
        let look = || {
            let mut gathering = Gathering::new(profile);
            let evidence = Evidence::new(profile, states, |evidence, done| gathering.see(evidence, done));
            let meetings = gathering.finish(&evidence);
            (evidence, meetings)
        };
        let (evidence, meetings) = look();
        let (processors, partners) = rayon::join(measure, || Partners::new(&evidence, run));
        let processors = processors?;
        let (ledger, charged) = charging::charged(&evidence, &meetings, partners, |observer| {
            Ledger::observed(run, &processors, windows, &mut Both(observer, insides))
        });
        let (mut ledger, charging::Charged { mut tally, delays }) = (ledger?, charged);
        let locks = locks::locks(&evidence);
        let settle = || {
            delays.into_iter().for_each(|of_account| of_account.charge(profile, &mut tally));
            sums::charge(&evidence, windows, &mut tally);
            let rows = tally.settle(&ledger);
            ledger.caused = caused(&ledger, &rows);
            rows
        };
        let look = || Beyond::of(&evidence, windows, with_queues.then_some(locks.len()));
        let (rows, Beyond { lock_waits, wakers, queues }) = rayon::join(settle, look);
        Ok((ledger, Blame { rows, locks, lock_waits, wakers }, queues))
    }
}

/// The losses, by the location and context that caused them.
fn caused(ledger: &Ledger, rows: &[BlameRow]) -> Vec<Row> {
    let mut sums: rustc_hash::FxHashMap<(LocationId, Account, ContextId), u64> = Default::default();
    let charged: FxHashSet<LocationId> =
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
