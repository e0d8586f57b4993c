//! The rows of a ledger as they are kept beside the profile, apart from the rest, since few pages need them.

use super::account::Account;
use super::result::Ledger;
use super::rows::{PassiveRow, Row};
use super::state::PassiveReason;
use proust_profile::{ContextId, LocationId};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The rows of a ledger, column by column, by identifier of the account or reason.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct KeptRows {
    spent: BTreeMap<String, Columns>,
    blamed: BTreeMap<String, Columns>,
    passive: BTreeMap<String, Columns>,
    caused: BTreeMap<String, Columns>,
}

/// Rows of one account or reason. The columns are equally long.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Columns {
    location: Vec<LocationId>,
    context: Vec<ContextId>,
    ns: Vec<u64>,
}

impl Columns {
    fn push(&mut self, location: LocationId, context: ContextId, ns: u64) {
        self.location.push(location);
        self.context.push(context);
        self.ns.push(ns);
    }

    /// The rows, if all of them are of a profile with so many locations and contexts.
    fn rows(&self, locations: usize, contexts: usize) -> Option<Vec<(LocationId, ContextId, u64)>> {
        let n = self.ns.len();
        let fits = (self.location.len() == n && self.context.len() == n)
            && self.location.iter().all(|&id| id.index() < locations)
            && self.context.iter().all(|&id| id.index() < contexts);
        let rows = self.location.iter().zip(&self.context).zip(&self.ns);
        fits.then(|| rows.map(|((&location, &context), &ns)| (location, context, ns)).collect())
    }
}

impl KeptRows {
    /// Those of a ledger.
    pub fn of(ledger: &Ledger) -> KeptRows {
        let mut kept = KeptRows::default();
        for (rows, columns) in [
            (&ledger.spent, &mut kept.spent),
            (&ledger.blamed, &mut kept.blamed),
            (&ledger.caused, &mut kept.caused),
        ] {
            for row in rows {
                let columns = columns.entry(row.account.id().to_owned()).or_default();
                columns.push(row.location, row.context, row.ns);
            }
        }
        for row in &ledger.passive {
            let columns = kept.passive.entry(row.reason.id().to_owned()).or_default();
            columns.push(row.location, row.context, row.ns);
        }
        kept
    }

    /// Gives a ledger its rows back, if they are of a profile with so many locations and contexts.
    pub fn give_to(&self, ledger: &mut Ledger, locations: usize, contexts: usize) -> Option<()> {
        let accounts = |kept: &BTreeMap<String, Columns>| {
            let mut all = Vec::new();
            for (id, columns) in kept {
                let account = Account::from_id(id)?;
                let rows = columns.rows(locations, contexts)?.into_iter();
                all.extend(rows.map(|(location, context, ns)| Row { location, account, context, ns }));
            }
            all.sort_unstable();
            Some(all)
        };
        let (spent, blamed, caused) =
            (accounts(&self.spent)?, accounts(&self.blamed)?, accounts(&self.caused)?);
        let mut passive = Vec::new();
        for (id, columns) in &self.passive {
            let reason = PassiveReason::from_id(id)?;
            let rows = columns.rows(locations, contexts)?.into_iter();
            passive.extend(rows.map(|(location, context, ns)| PassiveRow { location, reason, context, ns }));
        }
        passive.sort_unstable();
        (ledger.spent, ledger.blamed, ledger.passive, ledger.caused) = (spent, blamed, passive, caused);
        Some(())
    }
}
