//! The columns of a table with their numbers by row.

use proust_profile::Metric;
use proust_query::{Amounts, BottomUp, Groups, Measure, Selection, Spread, Statistics};

use crate::choice::Chosen;
use crate::column::{Amount, Column, ColumnHead, Over, RowAmounts};

/// A column and its numbers by row.
struct Filled {
    head: ColumnHead,
    amounts: Vec<Amount>,
    /// Rows without an amount do not name it.
    sparse: bool,
}

/// The columns of a page and their numbers by row.
pub(crate) struct Columns(Vec<Filled>);

const CPU: Column = Column { measure: Measure::Metric(Metric::Cpu), over: Over::Sum };

impl Columns {
    pub fn by_context(selection: &Selection<'_>, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column {
            CPU => with_errors(
                Amounts::by_context(selection, Metric::Cpu),
                Amounts::errors_by_context(selection),
            ),
            Column { measure, over: Over::Sum } => plain(Amounts::by_context(selection, measure)),
            Column { measure, over } => spread(Spread::by_context(selection, measure), over),
        })
    }

    pub fn by_function(selection: &Selection<'_>, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column {
            CPU => with_errors(
                Amounts::by_function(selection, Metric::Cpu),
                Amounts::errors_by_function(selection),
            ),
            Column { measure, over: Over::Sum } => plain(Amounts::by_function(selection, measure)),
            Column { measure, over } => spread(Spread::by_function(selection, measure), over),
        })
    }

    /// By the rows of a grouping. Where rows are threads there are no statistics over these.
    pub fn by_group(selection: &Selection<'_>, groups: &Groups, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column {
            CPU => with_errors(groups.amounts(selection, Metric::Cpu), groups.errors(selection)),
            Column { measure, over: Over::Sum } => plain(groups.amounts(selection, measure)),
            Column { measure, over } => match groups.spread(selection, measure) {
                Some(of_rows) => spread(of_rows, over),
                None => plain(groups.amounts(selection, measure)),
            },
        })
    }

    /// Only sums: the statistics of a chain of callers are not computed.
    pub fn by_node(selection: &Selection<'_>, tree: &BottomUp, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| plain(tree.amounts(selection, column.measure)))
    }

    fn new(columns: &Chosen, amounts: impl Fn(Column) -> Vec<Amount>) -> Columns {
        let filled = |&column: &Column| Filled {
            head: column.head(),
            amounts: amounts(column),
            sparse: columns.is_sparse(column),
        };
        Columns(columns.columns.iter().map(filled).collect())
    }

    pub fn row(&self, row: usize) -> RowAmounts {
        let named = self.0.iter().filter(|column| !column.sparse || column.amounts[row].is_any());
        named.map(|column| (column.head.id.clone(), column.amounts[row].clone())).collect()
    }

    /// Whether any column has an amount in this row.
    pub fn any(&self, row: usize) -> bool {
        self.0.iter().any(|column| column.amounts[row].is_any())
    }

    pub fn heads(&self) -> Vec<ColumnHead> {
        self.0.iter().map(|column| column.head.clone()).collect()
    }
}

impl Amount {
    fn is_any(&self) -> bool {
        self.inclusive != 0.0 || self.exclusive != 0.0
    }
}

fn plain(amounts: Amounts) -> Vec<Amount> {
    let pairs = amounts.inclusive.into_iter().zip(amounts.exclusive);
    pairs.map(|(inclusive, exclusive)| Amount { inclusive, exclusive, ..Amount::default() }).collect()
}

fn with_errors(amounts: Amounts, errors: Amounts) -> Vec<Amount> {
    let errors = errors.inclusive.into_iter().zip(errors.exclusive);
    let with = |(amount, (inclusive, exclusive)): (Amount, (f64, f64))| Amount {
        inclusive_error: Some(inclusive),
        exclusive_error: Some(exclusive),
        ..amount
    };
    plain(amounts).into_iter().zip(errors).map(with).collect()
}

fn spread(spread: Spread, over: Over) -> Vec<Amount> {
    let pairs = spread.inclusive.iter().zip(&spread.exclusive);
    let amount = |(inclusive, exclusive): (&Statistics, &Statistics)| Amount {
        inclusive: over.of(inclusive),
        exclusive: over.of(exclusive),
        location: over.location(inclusive),
        ..Amount::default()
    };
    pairs.map(amount).collect()
}
