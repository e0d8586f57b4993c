//! The columns of a table with their numbers by row.

use std::hash::Hash;
use std::sync::Arc;

use proust_profile::Metric;
use proust_query::{Amounts, BottomUp, Measure, OnPath, Selection, Spread, Statistics};

use crate::choice::Chosen;
use crate::column::{Amount, Column, ColumnHead, Over};
use crate::derivations::Derivations;
use crate::row_amounts::RowAmounts;

/// A column and its numbers by row.
struct Filled {
    /// Its id, shared by all rows.
    id: Arc<str>,
    numbers: Numbers,
    /// Rows without an amount do not name it.
    sparse: bool,
}

/// The numbers of a column by row.
struct Numbers {
    amounts: Amounts<f64>,
    /// Standard errors, where they are known.
    errors: Option<Amounts<f64>>,
    /// The handles of the locations that the numbers belong to, where they do.
    locations: Vec<Option<String>>,
}

/// The columns of a page and their numbers by row.
pub(crate) struct Columns {
    heads: Vec<ColumnHead>,
    /// All but those of derived metrics.
    filled: Vec<Filled>,
    derivations: Derivations,
}

const CPU: Measure = Measure::Metric(Metric::Cpu);

impl Columns {
    pub fn by_context(selection: &Selection<'_>, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column.summed() {
            Some(CPU) => Numbers {
                errors: Some(Amounts::errors_by_context(selection)),
                ..Numbers::sums(&Amounts::by_context(selection, CPU), CPU)
            },
            Some(measure) => Numbers::sums(&Amounts::by_context(selection, measure), measure),
            None => Numbers::of(&Spread::by_context(selection, column.quantity.clone()), column.over),
        })
    }

    pub fn by_function(selection: &Selection<'_>, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| match column.summed() {
            Some(CPU) => Numbers {
                errors: Some(Amounts::errors_by_function(selection)),
                ..Numbers::sums(&Amounts::by_function(selection, CPU), CPU)
            },
            Some(measure) => Numbers::sums(&Amounts::by_function(selection, measure), measure),
            None => Numbers::of(&Spread::by_function(selection, column.quantity.clone()), column.over),
        })
    }

    /// Only sums: the statistics of a chain of callers are not computed.
    pub fn by_node(selection: &Selection<'_>, tree: &BottomUp, columns: &Chosen) -> Columns {
        Columns::new(columns, |column| {
            let measure = column.summed().expect("a page of sums has no others");
            Numbers::sums(&tree.amounts(selection, measure), measure)
        })
    }

    /// Those of what is on paths.
    pub fn on_path<K: Copy + Eq + Hash>(
        selection: &Selection<'_>,
        of: &OnPath<K>,
        columns: &Chosen,
    ) -> Columns {
        Columns::new(columns, |column| match column.summed() {
            Some(CPU) => Numbers {
                errors: Some(of.errors(selection)),
                ..Numbers::sums(&of.amounts(selection, CPU), CPU)
            },
            Some(measure) => Numbers::sums(&of.amounts(selection, measure), measure),
            None => Numbers::of(&Spread::on_path(selection, of, column.quantity.clone()), column.over),
        })
    }

    fn new(columns: &Chosen, numbers: impl Fn(&Column) -> Numbers) -> Columns {
        let filled = |column: &Column| Filled {
            id: column.id().into(),
            numbers: numbers(column),
            sparse: columns.is_sparse(column),
        };
        let heads = columns.heads();
        let has_numbers = |column: &&Column| column.quantity.derived().is_none() || column.over != Over::Sum;
        Columns {
            filled: columns.columns.iter().filter(has_numbers).map(filled).collect(),
            derivations: Derivations::of(&heads),
            heads,
        }
    }

    pub fn row(&self, row: usize) -> RowAmounts {
        let named = || self.filled.iter().filter(|column| !column.sparse || column.numbers.any(row));
        let mut amounts = Vec::with_capacity(named().count());
        amounts.extend(named().map(|column| (column.id.clone(), column.numbers.amount(row))));
        let mut amounts = amounts.into();
        self.derivations.add_to(&mut amounts);
        amounts
    }

    /// Whether any column has an amount in this row.
    pub fn any(&self, row: usize) -> bool {
        self.filled.iter().any(|column| column.numbers.any(row))
    }

    pub fn heads(&self) -> Vec<ColumnHead> {
        self.heads.clone()
    }
}

impl Numbers {
    fn sums(sums: &Amounts, measure: Measure) -> Numbers {
        Numbers { amounts: sums.shown(measure.unit()), errors: None, locations: Vec::new() }
    }

    fn of(spread: &Spread, over: Over) -> Numbers {
        let numbers = |statistics: &[Statistics]| statistics.iter().map(|one| over.of(one)).collect();
        let amounts =
            Amounts { inclusive: numbers(&spread.inclusive), exclusive: numbers(&spread.exclusive) };
        let locations = spread.inclusive.iter().map(|statistics| over.location(statistics)).collect();
        Numbers { amounts, errors: None, locations }
    }

    fn any(&self, row: usize) -> bool {
        let is_any = |amount: f64| amount != 0.0 && !amount.is_nan();
        is_any(self.amounts.inclusive[row]) || is_any(self.amounts.exclusive[row])
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
