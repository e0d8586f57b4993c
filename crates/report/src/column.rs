//! Which numbers a table shows: metrics, and statistics of them over the locations.

use std::collections::BTreeMap;

use proust_analysis::query::{Amounts, BottomUp, Selection, Spread, Statistics, nearest};
use proust_profile::Metric;
use serde::Serialize;

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

/// A metric as a table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What is counted.
    pub metric: Metric,
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
    /// The metric.
    pub metric: &'static str,
    /// Statistic over the locations.
    pub over: Over,
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
    /// Sums of a metric.
    pub fn sum(metric: Metric) -> Column {
        Column { metric, over: Over::Sum }
    }

    /// Reads what follows `--metrics`: `cpu_s:max|mean,samples`.
    pub fn parse_list(text: &str) -> Result<Vec<Column>, ReportError> {
        let mut columns = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (metric, statistics) = part.split_once(':').unwrap_or((part, "sum"));
            let metric = Column::metric(metric)?;
            for word in statistics.split('|').map(str::trim) {
                let over = Over::ALL.into_iter().find(|over| over.id() == word).ok_or_else(|| {
                    let known = Over::ALL.map(Over::id).join(", ");
                    ReportError::Usage(format!("there is no statistic `{word}`; there are {known}"))
                })?;
                let column = Column { metric, over };
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        Ok(columns)
    }

    /// The metric of this name, or a message that helps.
    pub fn metric(word: &str) -> Result<Metric, ReportError> {
        Metric::from_id(word).ok_or_else(|| {
            let known = Metric::ALL.map(Metric::id);
            let meant = nearest(word, known, 1);
            let end = match meant.first() {
                Some(meant) => format!("did you mean `{meant}`?"),
                None => format!("there are {}", known.join(", ")),
            };
            ReportError::Usage(format!("there is no metric `{word}`; {end}"))
        })
    }

    /// Key in the rows of JSON, and heading in CSV.
    pub fn id(self) -> String {
        match self.over {
            Over::Sum => self.metric.id().to_owned(),
            over => format!("{}:{}", self.metric.id(), over.id()),
        }
    }

    pub(crate) fn head(self) -> ColumnHead {
        ColumnHead { id: self.id(), unit: self.metric.unit(), metric: self.metric.id(), over: self.over }
    }
}

/// The columns of a page and their numbers by row.
pub(crate) struct Columns {
    columns: Vec<(Column, Vec<Amount>)>,
}

impl Columns {
    pub fn by_context(selection: &Selection<'_>, columns: &[Column]) -> Columns {
        Columns::new(columns, |column| match column {
            Column { metric: Metric::Cpu, over: Over::Sum } => with_errors(
                Amounts::by_context(selection, Metric::Cpu),
                Amounts::errors_by_context(selection),
            ),
            Column { metric, over: Over::Sum } => plain(Amounts::by_context(selection, metric)),
            Column { metric, over } => spread(Spread::by_context(selection, metric), over),
        })
    }

    pub fn by_function(selection: &Selection<'_>, columns: &[Column]) -> Columns {
        Columns::new(columns, |column| match column {
            Column { metric: Metric::Cpu, over: Over::Sum } => with_errors(
                Amounts::by_function(selection, Metric::Cpu),
                Amounts::errors_by_function(selection),
            ),
            Column { metric, over: Over::Sum } => plain(Amounts::by_function(selection, metric)),
            Column { metric, over } => spread(Spread::by_function(selection, metric), over),
        })
    }

    /// Only sums: the statistics of a chain of callers are not computed.
    pub fn by_node(selection: &Selection<'_>, tree: &BottomUp, columns: &[Column]) -> Columns {
        Columns::new(columns, |column| plain(tree.amounts(selection, column.metric)))
    }

    fn new(columns: &[Column], amounts: impl Fn(Column) -> Vec<Amount>) -> Columns {
        Columns { columns: columns.iter().map(|&column| (column, amounts(column))).collect() }
    }

    pub fn row(&self, row: usize) -> RowAmounts {
        self.columns.iter().map(|(column, amounts)| (column.id(), amounts[row].clone())).collect()
    }

    /// Whether any column has an amount in this row.
    pub fn any(&self, row: usize) -> bool {
        self.columns.iter().any(|(_, amounts)| amounts[row].inclusive != 0.0 || amounts[row].exclusive != 0.0)
    }

    pub fn heads(&self) -> Vec<ColumnHead> {
        self.columns.iter().map(|(column, _)| column.head()).collect()
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
