//! Seconds by location, context and account, or reason of being passive.

use proust_profile::{ContextId, LocationId};

use super::account::Account;
use super::fixed::{Units, round_running, whole_ns};
use super::state::PassiveReason;
use rustc_hash::FxHashMap as Map;

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

/// Passive time of one location in one context, by reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PassiveRow {
    /// Which location.
    pub location: LocationId,
    /// Why it was passive.
    pub reason: PassiveReason,
    /// Where in the program.
    pub context: ContextId,
    /// How long, ns.
    pub ns: u64,
}

/// The kind of an amount: a location's own active time, an empty slot charged to it, or its passive time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Spent(Account),
    Blamed(Account),
    Passive(PassiveReason),
    /// The part of what is spent that is beyond the processors, and that inside parallel regions. Only the
    /// account inside of executions needs them by what is executed.
    Beyond(Account),
    InRegion(Account),
}

impl Kind {
    pub const ALL: usize = 4 * Account::ALL.len() + PassiveReason::ALL.len();

    pub fn index(self) -> usize {
        match self {
            Kind::Spent(account) => account as usize,
            Kind::Blamed(account) => Account::ALL.len() + account as usize,
            Kind::Beyond(account) => 2 * Account::ALL.len() + account as usize,
            Kind::InRegion(account) => 3 * Account::ALL.len() + account as usize,
            Kind::Passive(reason) => 4 * Account::ALL.len() + reason as usize,
        }
    }
}

/// The context of amounts that are summed up without one.
pub(super) const NOWHERE: ContextId = ContextId(u32::MAX);

/// One location's amounts by context and kind, being summed up.
///
/// A table with a row for each context and a column for each kind that has occurred: a location uses few of
/// them. The sweep goes from location to location with every edge, and the tables of all do not fit into a
/// processor's caches; so amounts are first put down in order, and a batch of them is entered into the table
/// at once.
#[derive(Debug)]
pub(super) struct Amounts {
    pending: Vec<(ContextId, Kind, Units)>,
    rows: Map<ContextId, u32>,
    columns: Vec<Kind>,
    /// Column of a kind, plus one.
    column_of: [u8; Kind::ALL],
    cells: Vec<Units>,
}

impl Default for Amounts {
    fn default() -> Amounts {
        Amounts {
            pending: Vec::new(),
            rows: Map::default(),
            columns: Vec::new(),
            column_of: [0; Kind::ALL],
            cells: Vec::new(),
        }
    }
}

impl Amounts {
    const BATCH: usize = 256;

    pub fn add(&mut self, context: ContextId, kind: Kind, amount: Units) {
        if amount > 0 {
            self.pending.push((context, kind, amount));
            if self.pending.len() >= Self::BATCH {
                self.enter_pending();
            }
        }
    }

    /// Enters what is still pending; to be called before the amounts are read.
    pub fn enter_pending(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        let (mut at, mut nowhere) = (None, None);
        for (context, kind, amount) in pending.drain(..) {
            let last = if context == NOWHERE { &mut nowhere } else { &mut at };
            let row = match *last {
                Some((known, row)) if known == context => row,
                _ => self.row(context),
            };
            *last = Some((context, row));
            let column = match self.column_of[kind.index()] {
                0 => self.new_column(kind),
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

    fn new_column(&mut self, kind: Kind) -> usize {
        let (column, width) = (self.columns.len(), self.columns.len() + 1);
        let mut cells = vec![0; self.rows.len() * width];
        if column > 0 {
            for (new, old) in cells.chunks_exact_mut(width).zip(self.cells.chunks_exact(column)) {
                new[..column].copy_from_slice(old);
            }
        }
        self.cells = cells;
        self.columns.push(kind);
        self.column_of[kind.index()] = width as u8;
        column
    }

    /// The location's time, by account and context, in no particular order.
    pub fn spent(&self) -> impl Iterator<Item = (Account, ContextId, Units)> + '_ {
        self.of(|kind| if let Kind::Spent(account) = kind { Some(account) } else { None })
    }

    /// Empty slots charged to the location, by account and context, in no particular order.
    pub fn blamed(&self) -> impl Iterator<Item = (Account, ContextId, Units)> + '_ {
        self.of(|kind| if let Kind::Blamed(account) = kind { Some(account) } else { None })
    }

    /// All amounts, in no particular order.
    pub fn all(&self) -> impl Iterator<Item = (Kind, ContextId, Units)> + '_ {
        self.of(Some)
    }

    /// An amount of a kind in a context.
    pub fn get(&self, context: ContextId, kind: Kind) -> Units {
        match (self.column_of[kind.index()], self.rows.get(&context)) {
            (column @ 1.., Some(&row)) => {
                self.cells[row as usize * self.columns.len() + usize::from(column) - 1]
            }
            _ => 0,
        }
    }

    /// When the location was passive, by reason and context, sorted.
    pub fn passive_rows(&self, location: LocationId) -> Vec<PassiveRow> {
        let passive = self.of(|kind| if let Kind::Passive(reason) = kind { Some(reason) } else { None });
        // Passive time is never shared out: it is whole nanoseconds.
        let row = |(reason, context, amount)| PassiveRow { location, reason, context, ns: whole_ns(amount) };
        let mut rows: Vec<PassiveRow> = passive.map(row).collect();
        rows.sort_unstable();
        rows
    }

    fn of<K: Copy>(&self, wanted: impl Fn(Kind) -> Option<K>) -> impl Iterator<Item = (K, ContextId, Units)> {
        let width = self.columns.len();
        let columns: Vec<(usize, K)> = (self.columns.iter().enumerate())
            .filter_map(|(column, &kind)| Some((column, wanted(kind)?)))
            .collect();
        let of_column = move |(column, key)| {
            let cell = move |row: u32| self.cells[row as usize * width + column];
            self.rows.iter().map(move |(context, row)| (key, *context, cell(*row)))
        };
        columns.into_iter().flat_map(of_column).filter(|(.., amount)| *amount > 0)
    }
}

/// Rounds amounts to rows of whole nanoseconds, sorted by account, location and context, in such a way that
/// their sum is the rounded sum. The order makes the rounding independent of the order of the amounts.
pub(super) fn settle(amounts: impl Iterator<Item = (LocationId, Account, ContextId, Units)>) -> Vec<Row> {
    let mut amounts: Vec<_> = amounts.collect();
    amounts.sort_unstable_by_key(|&(location, account, context, _)| (account, location, context));
    let rounded = round_running(amounts.iter().map(|&(.., amount)| amount));
    let rows = amounts.iter().zip(rounded);
    rows.map(|(&(location, account, context, _), ns)| Row { location, account, context, ns })
        .filter(|row| row.ns > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::fixed::units;

    #[test]
    fn rows_and_columns_appear_in_any_order() {
        use Kind::{Blamed, Passive, Spent};
        let mut amounts = Amounts::default();
        let mut add = |context, kind, amount| {
            amounts.add(context, kind, amount);
            if kind == Spent(Account::Lock) {
                amounts.enter_pending();
            }
        };
        add(ContextId(7), Spent(Account::Compute), 1);
        add(ContextId(9), Blamed(Account::Lock), 2);
        add(ContextId(7), Passive(PassiveReason::Join), units(5));
        add(ContextId(7), Spent(Account::Lock), 3);
        add(ContextId(8), Spent(Account::Io), 0);
        add(ContextId(9), Spent(Account::Compute), 4);
        add(ContextId(7), Spent(Account::Compute), 5);
        add(ContextId(7), Passive(PassiveReason::Join), units(6));
        amounts.enter_pending();
        let sorted = |amounts: &mut dyn Iterator<Item = (Account, ContextId, Units)>| {
            let mut all: Vec<_> = amounts.collect();
            all.sort();
            all
        };
        let spent = [(Account::Compute, 7, 6), (Account::Compute, 9, 4), (Account::Lock, 7, 3)]
            .map(|(account, context, amount)| (account, ContextId(context), amount));
        assert_eq!(sorted(&mut amounts.spent()), spent);
        assert_eq!(sorted(&mut amounts.blamed()), [(Account::Lock, ContextId(9), 2)]);
        let join = PassiveRow {
            location: LocationId(1),
            reason: PassiveReason::Join,
            context: ContextId(7),
            ns: 11,
        };
        assert_eq!(amounts.passive_rows(LocationId(1)), [join]);
    }
}
