//! The blame of a whole run as it is kept beside its profile: for pages that then need no operations.

use proust_profile::{ContextId, LocationId, Profile};
use serde::{Deserialize, Serialize, Serializer};

use super::Blame;
use super::cause::{BlameRow, Cause, CauseKind};
use super::groups::LockId;
use super::locks::{Lock, LockWaits};
use super::wakers::WakerRow;
use crate::ledger::Account;

/// A row without names: there are many.
type Row = (
    Account,
    LocationId,
    ContextId,
    bool,
    u64,
    (CauseKind, LocationId, ContextId, Option<ContextId>, Option<ContextId>, Option<LockId>),
);

/// What a [`KeptBlame`] is read from. There may be millions of rows: they are written one by one.
#[derive(Serialize)]
struct Kept<'b> {
    rows: Rows<'b>,
    locks: &'b [Lock],
    lock_waits: &'b [LockWaits],
    wakers: &'b [WakerRow],
}

struct Rows<'b>(&'b [BlameRow]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.0.iter().map(|row| -> Row {
            let Cause { kind, location, context, section, site, lock } = row.cause;
            let cause = (kind, location, context, section, site, lock);
            (row.account, row.location, row.context, row.slots, row.ns, cause)
        }))
    }
}

/// The blame of a run.
#[derive(Debug, Default, Deserialize)]
pub struct KeptBlame {
    rows: Vec<Row>,
    locks: Vec<Lock>,
    lock_waits: Vec<LockWaits>,
    wakers: Vec<WakerRow>,
}

impl KeptBlame {
    /// As it is kept: written, it is read as a [`KeptBlame`].
    pub fn of(blame: &Blame) -> impl Serialize {
        Kept {
            rows: Rows(&blame.rows),
            locks: &blame.locks,
            lock_waits: &blame.lock_waits,
            wakers: &blame.wakers,
        }
    }

    /// As it was, if it can be that of a profile.
    pub fn of_profile(self, profile: &Profile) -> Option<Blame> {
        let row = |(account, location, context, slots, ns, cause): Row| {
            let (kind, late, place, section, site, lock) = cause;
            let cause = Cause { kind, location: late, context: place, section, site, lock };
            BlameRow { account, location, context, slots, cause, ns }
        };
        let blame = Blame {
            rows: self.rows.into_iter().map(row).collect(),
            locks: self.locks,
            lock_waits: self.lock_waits,
            wakers: self.wakers,
        };
        let is_place = |&(location, context): &(LocationId, ContextId)| {
            location.index() < profile.locations.len() && context.index() < profile.contexts.len()
        };
        let is_lock = |lock: LockId| (lock as usize) < blame.locks.len();
        let fits = blame.rows.iter().all(|row| {
            is_place(&(row.location, row.context))
                && is_place(&(row.cause.location, row.cause.site.unwrap_or(row.cause.context)))
                && is_place(&(row.cause.location, row.cause.context))
                && is_place(&(row.cause.location, row.cause.section.unwrap_or(row.cause.context)))
                && row.cause.lock.is_none_or(is_lock)
        }) && (blame.locks.iter()).all(|lock| {
            is_place(&(LocationId(0), lock.site)) && lock.process.index() < profile.processes.len()
        }) && blame
            .lock_waits
            .iter()
            .all(|row| is_place(&(row.location, row.context)) && is_lock(row.lock))
            && (blame.wakers.iter())
                .all(|row| is_place(&(row.location, row.context)) && row.waker.as_ref().is_none_or(is_place));
        fits.then_some(blame)
    }
}
