//! Time for which threads had no processor at a barrier that all had reached: it is on the accounts of
//! processors, and no work.

use proust_account::ledger::{Account, Ledger, Row};
use proust_profile::{ContextId, LocationId};
use rustc_hash::FxHashSet;

/// Where threads waited at barriers.
pub(super) struct Barriers(FxHashSet<(LocationId, ContextId)>);

impl Barriers {
    pub fn of(ledger: &Ledger) -> Barriers {
        let rows = ledger.spent.iter().filter(|row| row.account == Account::Barrier);
        Barriers(rows.map(|row| (row.location, row.context)).collect())
    }

    /// Whether a thread had no processor there.
    pub fn queued(&self, row: &Row) -> bool {
        matches!(row.account, Account::Oversubscribed | Account::Preempted)
            && self.0.contains(&(row.location, row.context))
    }
}
