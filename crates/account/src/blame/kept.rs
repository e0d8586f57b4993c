//! The blame of a whole run as it is kept beside its profile: for pages that then need no operations. Its
//! rows are a table; there may be millions.

use proust_profile::tables::{NumberTable, Numbers, PART_ROWS, Part, TablesError};
use proust_profile::{Array, ContextId, LocationId, Profile};
use serde::{Deserialize, Serialize};

use super::Blame;
use super::cause::{BlameRow, Cause, CauseKind};
use super::groups::LockId;
use super::locks::{Lock, LockWaits};
use super::wakers::WakerRow;
use crate::ledger::Account;

/// All of a blame but its rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct BesideRows {
    locks: Vec<Lock>,
    lock_waits: Vec<LockWaits>,
    wakers: Vec<WakerRow>,
}

impl BesideRows {
    /// That of a blame.
    pub fn of(blame: &Blame) -> BesideRows {
        BesideRows {
            locks: blame.locks.clone(),
            lock_waits: blame.lock_waits.clone(),
            wakers: blame.wakers.clone(),
        }
    }

    /// The blame with the rows that [`Blame::parts_of_rows`] has written, if it can be that of a profile.
    ///
    /// # Errors
    /// [`TablesError`] when the table cannot be read.
    pub fn with_rows(self, table: &NumberTable, profile: &Profile) -> Result<Option<Blame>, TablesError> {
        Ok(rows_of(table)?.and_then(|rows| self.with(rows, profile)))
    }

    /// The same with these rows.
    pub fn with(self, rows: Array<BlameRow>, profile: &Profile) -> Option<Blame> {
        let BesideRows { locks, lock_waits, wakers } = self;
        let blame = Blame { rows, locks, lock_waits, wakers };
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

impl Blame {
    /// The rows as parts of a table.
    pub fn parts_of_rows(&self) -> impl Iterator<Item = Part> {
        // A table without rows has columns, too.
        let none: &[BlameRow] = &[];
        let parts = self.rows.chunks(PART_ROWS).chain(self.rows.is_empty().then_some(none));
        parts.map(|part| {
            let small = |of: &dyn Fn(&BlameRow) -> u32| Numbers::Small(part.iter().map(of).collect());
            let optional =
                |of: &dyn Fn(&BlameRow) -> Option<u32>| Numbers::Optional(part.iter().map(of).collect());
            vec![
                ("account", small(&|row| row.account as u32)),
                ("location", small(&|row| row.location.0)),
                ("context", small(&|row| row.context.0)),
                ("slots", small(&|row| row.slots.into())),
                ("cause", small(&|row| row.cause.kind as u32)),
                ("cause_location", small(&|row| row.cause.location.0)),
                ("cause_context", small(&|row| row.cause.context.0)),
                ("section", optional(&|row| row.cause.section.map(u32::from))),
                ("site", optional(&|row| row.cause.site.map(u32::from))),
                ("lock", optional(&|row| row.cause.lock)),
                ("ns", Numbers::Large(part.iter().map(|row| row.ns).collect())),
            ]
        })
    }
}

/// The rows of a table. None = there is a number in it that means nothing.
fn rows_of(table: &NumberTable) -> Result<Option<Array<BlameRow>>, TablesError> {
    let small = |name| table.small(name).map(Vec::into_iter);
    let optional = |name| table.optional(name).map(Vec::into_iter);
    let place = small("location")?.zip(small("context")?);
    let what = small("account")?.zip(small("slots")?).zip(table.large("ns")?);
    let cause = small("cause")?.zip(small("cause_location")?.zip(small("cause_context")?));
    let of_lock = optional("section")?.zip(optional("site")?).zip(optional("lock")?);
    let rows = place.zip(what).zip(cause).zip(of_lock);
    let mut all = Array::default();
    for ((((location, context), ((account, slots), ns)), (kind, late)), ((section, site), lock)) in rows {
        let (kind, account) = (CauseKind::ALL.get(kind as usize), Account::ALL.get(account as usize));
        let (Some(&kind), Some(&account)) = (kind, account) else { return Ok(None) };
        let cause = Cause {
            kind,
            location: LocationId(late.0),
            context: ContextId(late.1),
            section: section.map(ContextId),
            site: site.map(ContextId),
            lock,
        };
        all.push(BlameRow {
            account,
            location: LocationId(location),
            context: ContextId(context),
            slots: slots > 0,
            cause,
            ns,
        });
    }
    Ok(Some(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Their numbers are positions.
    #[test]
    fn kinds_of_causes_have_the_numbers_of_their_list() {
        assert!(CauseKind::ALL.iter().enumerate().all(|(number, kind)| *kind as usize == number));
    }
}
