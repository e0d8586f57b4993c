//! Which numbers a table shows: measures, and statistics of them over the locations.

use std::collections::BTreeMap;

use proust_analysis::query::{Amounts, BottomUp, Measure, Selection, Spread, Statistics, nearest};
use proust_profile::Metric;
use serde::Serialize;

use crate::choice::Chosen;
use crate::question::ReportError;

/// How the amounts of the locations become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// Their sum.
    Sum,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Sum by number of locations, those with zero included.
    Mean,
    /// Standard deviation.
    Stddev,
    /// max − mean.
    Imbalance,
}

impl Over {
    /// All statistics.
    pub const ALL: [Over; 6] = [Over::Sum, Over::Min, Over::Max, Over::Mean, Over::Stddev, Over::Imbalance];

    /// The word after the colon.
    pub fn id(self) -> &'static str {
        match self {
            Over::Sum => "sum",
            Over::Min => "min",
            Over::Max => "max",
            Over::Mean => "mean",
            Over::Stddev => "stddev",
            Over::Imbalance => "imbalance",
        }
    }

    fn of(self, statistics: &Statistics) -> f64 {
        match self {
            Over::Sum => statistics.sum,
            Over::Min => statistics.min,
            Over::Max => statistics.max,
            Over::Mean => statistics.mean,
            Over::Stddev => statistics.stddev,
            Over::Imbalance => statistics.imbalance(),
        }
    }

    fn location(self, statistics: &Statistics) -> Option<String> {
        let location = match self {
            Over::Min => statistics.min_location,
            Over::Max | Over::Imbalance => statistics.max_location,
            _ => None,
        };
        location.map(|id| format!("t{id}"))
    }
}

/// A measure as a table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What is counted.
    pub measure: Measure,
    /// How the locations' amounts become one number.
    pub over: Over,
}

/// A column in JSON; `id` is the key of the rows' `metrics`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ColumnHead {
    /// Key in the rows.
    pub id: String,
    /// Unit of its amounts.
    pub unit: &'static str,
    /// The measure.
    pub metric: String,
    /// Statistic over the locations.
    pub over: Over,
    /// What is counted.
    #[serde(skip)]
    pub measure: Measure,
}

/// One number of a row, twice.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Amount {
    /// With everything below.
    pub inclusive: f64,
    /// Without what is called.
    pub exclusive: f64,
    /// Standard error of the inclusive amount, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inclusive_error: Option<f64>,
    /// Standard error of the exclusive amount, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclusive_error: Option<f64>,
    /// Handle of the location that the inclusive amount belongs to (`min`, `max`, `imbalance`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// The numbers of a row by column.
pub type RowAmounts = BTreeMap<String, Amount>;

impl Column {
    /// Sums of a measure.
    pub fn sum(measure: impl Into<Measure>) -> Column {
        Column { measure: measure.into(), over: Over::Sum }
    }

    /// Reads what follows `--metrics`: `cpu_s:max|mean,lock_s`.
    pub fn parse_list(text: &str) -> Result<Vec<Column>, ReportError> {
        let mut columns = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (metric, statistics) = part.split_once(':').unwrap_or((part, "sum"));
            let measure = Column::measure(metric)?;
            for word in statistics.split('|').map(str::trim) {
                let over = Over::ALL.into_iter().find(|over| over.id() == word).ok_or_else(|| {
                    let known = Over::ALL.map(Over::id).join(", ");
                    ReportError::Usage(format!("there is no statistic `{word}`; there are {known}"))
                })?;
                let column = Column { measure, over };
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        Ok(columns)
    }

    /// The measure of this name, or a message that helps.
    pub fn measure(word: &str) -> Result<Measure, ReportError> {
        // The unit says nothing new where there is no other measure of that name.
        let named = Measure::from_id(word).or_else(|| Measure::from_id(&format!("{word}_s")));
        if let Some(measure) = named {
            return Ok(measure);
        }
        if let Some(account) = Measure::of_nobody(word) {
            return Err(ReportError::Usage(format!(
                "`{account}` is time of empty slots that no part of the program can be charged with: see the pages \
                 ledger and threads"
            )));
        }
        let known: Vec<String> = Measure::all().map(Measure::id).collect();
        let meant = nearest(word, known.iter().map(String::as_str), 1);
        let end = match meant.first() {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        Err(ReportError::Usage(format!("there is no metric `{word}`; {end}")))
    }

    /// Key in the rows of JSON, and heading in CSV.
    pub fn id(self) -> String {
        match self.over {
            Over::Sum => self.measure.id(),
            over => format!("{}:{}", self.measure.id(), over.id()),
        }
    }

    pub(crate) fn head(self) -> ColumnHead {
        ColumnHead {
            id: self.id(),
            unit: self.measure.unit(),
            metric: self.measure.id(),
            over: self.over,
            measure: self.measure,
        }
    }
}

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
