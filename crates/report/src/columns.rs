//! The columns of a table with their numbers by row.

use std::sync::Arc;

use proust_profile::Metric;
use proust_query::{Amounts, BottomUp, Measure, Selection, Spread, Statistics};

use crate::choice::Chosen;
use crate::column::{Amount, Column, ColumnHead, Over};
use crate::row_amounts::RowAmounts;

/// A column and its numbers by row.
struct Filled {
    head: ColumnHead,
    /// Its id, shared by all rows.
    id: Arc<str>,
    numbers: Numbers,
    /// Rows without an amount do not name it.
    sparse: bool,
}

/// The numbers of a column by row.
struct Numbers {
    amounts: Amounts,
    /// Standard errors, where they are known.
    errors: Option<Amounts>,
    /// The handles of the locations that the numbers belong to, where they do.
    locations: Vec<Option<String>>,
}

/// The columns of a page and their numbers by row.
pub(crate) struct Columns(Vec<Filled>);

const CPU: Column = Column { measure: Measure::Metric(Metric::Cpu), over: Over::Sum };

impl Columns {
    pub fn by_context(selection: &Selection<'_>, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column {
            CPU => Numbers {
                errors: Some(Amounts::errors_by_context(selection)),
                ..Numbers::sums(Amounts::by_context(selection, Metric::Cpu))
            },
            Column { measure, over: Over::Sum } => Numbers::sums(Amounts::by_context(selection, measure)),
            Column { measure, over } => Numbers::of(&Spread::by_context(selection, measure), over),
        })
    }

    pub fn by_function(selection: &Selection<'_>, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column {
            CPU => Numbers {
                errors: Some(Amounts::errors_by_function(selection)),
                ..Numbers::sums(Amounts::by_function(selection, Metric::Cpu))
            },
            Column { measure, over: Over::Sum } => Numbers::sums(Amounts::by_function(selection, measure)),
            Column { measure, over } => Numbers::of(&Spread::by_function(selection, measure), over),
        })
    }

    /// Only sums: the statistics of a chain of callers are not computed.
    pub fn by_node(selection: &Selection<'_>, tree: &BottomUp, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| Numbers::sums(tree.amounts(selection, column.measure)))
    }

    fn new(columns: &Chosen, numbers: impl Fn(Column) -> Numbers) -> Columns {
        let filled = |&column: &Column| Filled {
            head: column.head(),
            id: column.id().into(),
            numbers: numbers(column),
            sparse: columns.is_sparse(column),
        };
        Columns(columns.columns.iter().map(filled).collect())
    }

    pub fn row(&self, row: usize) -> RowAmounts {
        let named = || self.0.iter().filter(|column| !column.sparse || column.numbers.any(row));
        let mut amounts = Vec::with_capacity(named().count());
        amounts.extend(named().map(|column| (column.id.clone(), column.numbers.amount(row))));
        amounts.into()
    }

    /// Whether any column has an amount in this row.
    pub fn any(&self, row: usize) -> bool {
        self.0.iter().any(|column| column.numbers.any(row))
    }

    pub fn heads(&self) -> Vec<ColumnHead> {
        self.0.iter().map(|column| column.head.clone()).collect()
    }
}

impl Numbers {
    fn sums(amounts: Amounts) -> Numbers {
        Numbers { amounts, errors: None, locations: Vec::new() }
    }

    fn of(spread: &Spread, over: Over) -> Numbers {
        let numbers = |statistics: &[Statistics]| statistics.iter().map(|one| over.of(one)).collect();
        let amounts =
            Amounts { inclusive: numbers(&spread.inclusive), exclusive: numbers(&spread.exclusive) };
        let locations = spread.inclusive.iter().map(|statistics| over.location(statistics)).collect();
        Numbers { amounts, errors: None, locations }
    }

    fn any(&self, row: usize) -> bool {
        self.amounts.inclusive[row] != 0.0 || self.amounts.exclusive[row] != 0.0
    }

    fn amount(&self, row: usize) -> Amount {
        let errors = self.errors.as_ref();
        Amount {
            inclusive: self.amounts.inclusive[row],
            exclusive: self.amounts.exclusive[row],
            inclusive_error: errors.map(|errors| errors.inclusive[row]),
            exclusive_error: errors.map(|errors| errors.exclusive[row]),
            location: self.locations.get(row).cloned().flatten(),
        }
    }
}
