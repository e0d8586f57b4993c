//! The rows of a ledger as a table beside the profile, apart from the rest, since few pages need them.

use super::account::Account;
use super::result::Ledger;
use super::rows::{PassiveRow, Row};
use super::state::PassiveReason;
use proust_profile::tables::{NumberTable, Numbers, PART_ROWS, Part, TablesError};
use proust_profile::{ContextId, LocationId};

/// Which rows of a ledger, by the number that the table has for them.
const SPENT: u32 = 0;
const BLAMED: u32 = 1;
const CAUSED: u32 = 2;
const PASSIVE: u32 = 3;

/// A row as it is kept: an amount of a location in a context, on an account or for a reason.
#[derive(Clone, Copy)]
struct Kept {
    rows: u32,
    account: u32,
    context: ContextId,
    location: LocationId,
    ns: u64,
}

/// The rows of a ledger as parts of a table.
pub fn parts_of_rows(ledger: &Ledger) -> impl Iterator<Item = Part> {
    let of = |rows, row: &Row| Kept {
        rows,
        account: row.account as u32,
        context: row.context,
        location: row.location,
        ns: row.ns,
    };
    let spent = ledger.spent.iter().map(move |row| of(SPENT, row));
    let blamed = ledger.blamed.iter().map(move |row| of(BLAMED, row));
    let caused = ledger.caused.iter().map(move |row| of(CAUSED, row));
    let passive = ledger.passive.iter().map(|row| Kept {
        rows: PASSIVE,
        account: row.reason as u32,
        context: row.context,
        location: row.location,
        ns: row.ns,
    });
    let mut rows = spent.chain(blamed).chain(caused).chain(passive).peekable();
    let mut is_first = true;
    std::iter::from_fn(move || {
        // A table without rows has columns, too.
        if rows.peek().is_none() && !std::mem::take(&mut is_first) {
            return None;
        }
        is_first = false;
        let part: Vec<Kept> = rows.by_ref().take(PART_ROWS).collect();
        let small = |of: fn(&Kept) -> u32| Numbers::Small(part.iter().map(of).collect());
        Some(vec![
            ("rows", small(|row| row.rows)),
            ("account", small(|row| row.account)),
            ("context", small(|row| row.context.0)),
            ("location", small(|row| row.location.0)),
            ("ns", Numbers::Large(part.iter().map(|row| row.ns).collect())),
        ])
    })
}

impl Ledger {
    /// Takes the rows that [`parts_of_rows`] has written, if they are of a profile with so many locations and
    /// contexts. None = they are not.
    ///
    /// # Errors
    /// [`TablesError`] when the table cannot be read.
    pub fn take_rows(
        &mut self,
        table: &NumberTable,
        locations: usize,
        contexts: usize,
    ) -> Result<Option<()>, TablesError> {
        let [rows, accounts] = [table.small("rows")?, table.small("account")?];
        let places = table.small("context")?.into_iter().zip(table.small("location")?);
        let amounts = places.zip(table.large("ns")?);
        let rows = rows.into_iter().zip(accounts).zip(amounts);
        let kept = rows.map(|((rows, account), ((context, location), ns))| Kept {
            rows,
            account,
            context: ContextId(context),
            location: LocationId(location),
            ns,
        });
        Ok(self.take_kept(kept, locations, contexts))
    }

    fn take_kept(
        &mut self,
        rows: impl Iterator<Item = Kept>,
        locations: usize,
        contexts: usize,
    ) -> Option<()> {
        let (mut spent, mut blamed, mut caused, mut passive) = (vec![], vec![], vec![], vec![]);
        for Kept { rows, account, context, location, ns } in rows {
            if location.index() >= locations || context.index() >= contexts {
                return None;
            }
            let to = match rows {
                SPENT => &mut spent,
                BLAMED => &mut blamed,
                CAUSED => &mut caused,
                PASSIVE => {
                    let reason = *PassiveReason::ALL.get(account as usize)?;
                    passive.push(PassiveRow { location, reason, context, ns });
                    continue;
                }
                _ => return None,
            };
            to.push(Row { location, account: *Account::ALL.get(account as usize)?, context, ns });
        }
        (self.spent, self.blamed, self.caused, self.passive) = (spent, blamed, caused, passive);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Their numbers are positions.
    #[test]
    fn accounts_and_reasons_have_the_numbers_of_their_lists() {
        assert!(Account::ALL.iter().enumerate().all(|(number, account)| *account as usize == number));
        assert!(PassiveReason::ALL.iter().enumerate().all(|(number, reason)| *reason as usize == number));
    }
}
