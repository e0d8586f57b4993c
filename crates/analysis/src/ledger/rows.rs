//! Seconds by location, context and account.

use super::account::Account;
use super::fixed::{Units, round_running};
use proust_profile::{ContextId, LocationId};
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// Processor time of one location in one context on one account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Row {
    /// Which location.
    pub location: LocationId,
    /// The account.
    pub account: Account,
    /// Where in the program.
    pub context: ContextId,
    /// Processor time, ns.
    pub ns: u64,
}

/// Whether an amount is a location's own time or an empty slot charged to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Spent,
    Blamed,
}

/// One location's amounts by context, side and account, being summed up.
///
/// A table with a row for each context and a column for each (side, account) that has occurred: a location uses
/// few of them. The sweep goes from location to location with every edge, and the tables of all do not fit into a
/// processor's caches; so amounts are first put down in order, and a batch of them is entered into the table at once.
#[derive(Debug, Default)]
pub(super) struct Amounts {
    pending: Vec<(ContextId, Side, Account, Units)>,
    rows: HashMap<ContextId, u32, BuildHasherDefault<KeyHasher>>,
    columns: Vec<(Side, Account)>,
    /// Column of (side, account), plus one.
    column_of: [[u8; Account::ALL.len()]; 2],
    cells: Vec<Units>,
}

impl Amounts {
    const BATCH: usize = 256;

    pub fn add(&mut self, context: ContextId, side: Side, account: Account, amount: Units) {
        if amount > 0 {
            self.pending.push((context, side, account, amount));
            if self.pending.len() >= Self::BATCH {
                self.enter_pending();
            }
        }
    }

    /// Enters what is still pending; to be called before [`Amounts::side`].
    pub fn enter_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        let mut at = None;
        for (context, side, account, amount) in pending.drain(..) {
            let row = match at {
                Some((known, row)) if known == context => row,
                _ => self.row(context),
            };
            at = Some((context, row));
            let column = match self.column_of[side as usize][account as usize] {
                0 => self.new_column(side, account),
                known => usize::from(known) - 1,
            };
            self.cells[row * self.columns.len() + column] += amount;
        }
        self.pending = pending;
    }

    fn row(&mut self, context: ContextId) -> usize {
        let next = self.rows.len() as u32;
        let row = *self.rows.entry(context).or_insert(next);
        if row == next {
            self.cells.resize(self.cells.len() + self.columns.len(), 0);
        }
        row as usize
    }

    fn new_column(&mut self, side: Side, account: Account) -> usize {
        let (column, width) = (self.columns.len(), self.columns.len() + 1);
        let mut cells = vec![0; self.rows.len() * width];
        if column > 0 {
            for (new, old) in cells.chunks_exact_mut(width).zip(self.cells.chunks_exact(column)) {
                new[..column].copy_from_slice(old);
            }
        }
        self.cells = cells;
        self.columns.push((side, account));
        self.column_of[side as usize][account as usize] = width as u8;
        column
    }

    /// All entered amounts of one side, in no particular order.
    pub fn side(&self, side: Side) -> impl Iterator<Item = (Account, ContextId, Units)> + '_ {
        let width = self.columns.len();
        self.rows.iter().flat_map(move |(context, row)| {
            let cells = &self.cells[*row as usize * width..][..width];
            let here = self
                .columns
                .iter()
                .zip(cells)
                .filter(move |(column, amount)| column.0 == side && **amount > 0);
            here.map(|(column, amount)| (column.1, *context, *amount))
        })
    }
}

/// Rounds amounts to rows of whole nanoseconds, sorted by account, location and context, in such a way that their
/// sum is the rounded sum. The order makes the rounding independent of the order in which the amounts came.
pub(super) fn settle(amounts: impl Iterator<Item = (LocationId, Account, ContextId, Units)>) -> Vec<Row> {
    let mut amounts: Vec<_> = amounts.collect();
    amounts.sort_unstable_by_key(|&(location, account, context, _)| (account, location, context));
    let rounded = round_running(amounts.iter().map(|&(.., amount)| amount));
    let rows = amounts.iter().zip(rounded);
    rows.map(|(&(location, account, context, _), ns)| Row { location, account, context, ns })
        .filter(|row| row.ns > 0)
        .collect()
}

/// Hashes one integer. The default hasher would take a good part of the sweep's time, and its protection against
/// chosen keys is not needed for context numbers.
#[derive(Default)]
pub(super) struct KeyHasher(u64);

impl Hasher for KeyHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, key: u32) {
        self.write_u64(u64::from(key));
    }

    fn write_u64(&mut self, key: u64) {
        // 2⁶⁴ divided by the golden ratio spreads keys over the high bits; the table indexes by the low ones.
        let spread = (self.0.rotate_left(5) ^ key).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = spread ^ (spread >> 32);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_and_columns_appear_in_any_order() {
        let mut amounts = Amounts::default();
        let mut add = |context, side, account, amount| {
            amounts.add(context, side, account, amount);
            if account == Account::Lock {
                amounts.enter_pending();
            }
        };
        add(7, Side::Spent, Account::Compute, 1);
        add(9, Side::Blamed, Account::Lock, 2);
        add(7, Side::Spent, Account::Lock, 3);
        add(8, Side::Spent, Account::Io, 0);
        add(9, Side::Spent, Account::Compute, 4);
        add(7, Side::Spent, Account::Compute, 5);
        amounts.enter_pending();
        let sorted = |side| {
            let mut all: Vec<_> = amounts.side(side).collect();
            all.sort();
            all
        };
        let spent = [(Account::Compute, 7, 6), (Account::Compute, 9, 4), (Account::Lock, 7, 3)];
        assert_eq!(sorted(Side::Spent), spent);
        assert_eq!(sorted(Side::Blamed), [(Account::Lock, 9, 2)]);
    }
}
