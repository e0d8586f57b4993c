//! Which numbers a table shows: measures and what is derived of them, and statistics over the locations.

use proust_profile::{Source, Unit};
use proust_query::{Measure, Metrics, Quantity, Statistics};
use schemars::JsonSchema;
use serde::Serialize;

use crate::error::ReportError;

/// How the amounts of the locations become one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
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

    pub(crate) fn of(self, statistics: &Statistics) -> f64 {
        match self {
            Over::Sum => statistics.sum,
            Over::Min => statistics.min,
            Over::Max => statistics.max,
            Over::Mean => statistics.mean,
            Over::Stddev => statistics.stddev,
            Over::Imbalance => statistics.imbalance(),
        }
    }

    pub(crate) fn location(self, statistics: &Statistics) -> Option<String> {
        let location = match self {
            Over::Min => statistics.min_location,
            Over::Max | Over::Imbalance => statistics.max_location,
            _ => None,
        };
        location.map(|id| format!("t{id}"))
    }
}

/// A quantity as a table shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// What is counted.
    pub quantity: Quantity,
    /// How the locations' amounts become one number.
    pub over: Over,
}

/// A column in JSON; `id` is the key of the rows' `metrics`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct ColumnHead {
    /// Key in the rows.
    pub id: String,
    /// Unit of its amounts.
    #[schemars(with = "String")]
    pub unit: Unit,
    /// The metric.
    pub metric: String,
    /// Statistic over the locations.
    pub over: Over,
    /// What its amounts are known from: `samples`, `operations`, `messages`, `account`, `processes`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<&'static str>,
    /// How amounts of several places become one: `sum`, `max`, `last`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<&'static str>,
    /// Whether its amounts have an error of sampling, at least in part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampled: Option<bool>,
    /// Of a derived metric: how it is computed of others. It is no sum.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
    /// What is counted.
    #[serde(skip)]
    pub quantity: Quantity,
    /// Whether it was asked for; otherwise it is there because others are computed of it.
    #[serde(skip)]
    pub asked: bool,
}

/// One number of a row, twice. JSON leaves out what is zero but for the first of them: that is half of all
/// that most rows would have. NaN, in JSON null, is a derived metric that has no value, since a divisor is
/// zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub struct Amount {
    /// With everything below.
    pub inclusive: f64,
    /// Without calls below.
    #[serde(skip_serializing_if = "is_zero")]
    pub exclusive: f64,
    /// Standard error of the inclusive amount, where it is known.
    #[serde(skip_serializing_if = "is_nothing")]
    pub inclusive_error: Option<f64>,
    /// Standard error of the exclusive amount, where it is known.
    #[serde(skip_serializing_if = "is_nothing")]
    pub exclusive_error: Option<f64>,
    /// Handle of the location that the inclusive amount belongs to (`min`, `max`, `imbalance`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// The keys of columns of measures, as a regular expression.
pub(crate) fn measure_keys() -> String {
    let ids: Vec<String> = Measure::all().map(Measure::id).collect();
    keys(&format!("({})", ids.join("|")))
}

/// The keys that columns of derived metrics can have.
pub(crate) fn derived_keys() -> String {
    keys("[A-Za-z][A-Za-z0-9_]*")
}

fn keys(ids: &str) -> String {
    let statistics: Vec<&str> = Over::ALL.iter().map(|over| over.id()).filter(|id| *id != "sum").collect();
    format!("^{ids}(:({}))?$", statistics.join("|"))
}

fn is_zero(amount: &f64) -> bool {
    *amount == 0.0
}

fn is_nothing(error: &Option<f64>) -> bool {
    error.is_none_or(|error| error == 0.0)
}

/// Why a word is no metric.
fn no_metric(word: &str, metrics: &Metrics) -> ReportError {
    if let Some(account) = Measure::of_nobody(word) {
        return ReportError::Usage(format!(
            "`{account}` is time of empty slots that no part of the program can be charged with: see the \
             pages ledger and threads"
        ));
    }
    let end = match metrics.nearest(word) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None => format!("there are {}", metrics.ids().join(", ")),
    };
    ReportError::Usage(format!("there is no metric `{word}`; {end}"))
}

impl Column {
    /// Sums of a measure, or what is derived of sums.
    pub fn sum(quantity: impl Into<Quantity>) -> Column {
        Column { quantity: quantity.into(), over: Over::Sum }
    }

    /// Reads the value of `--metrics`: `cpu_s:max|mean,lock_s`.
    pub fn parse_list(text: &str, metrics: &Metrics) -> Result<Vec<Column>, ReportError> {
        let mut columns = Vec::new();
        for part in text.split(',').map(str::trim).filter(|part| !part.is_empty()) {
            let (metric, statistics) = part.split_once(':').unwrap_or((part, "sum"));
            let quantity = Column::quantity(metric, metrics)?;
            for word in statistics.split('|').map(str::trim) {
                let over = Over::ALL.into_iter().find(|over| over.id() == word).ok_or_else(|| {
                    let known = Over::ALL.map(Over::id).join(", ");
                    ReportError::Usage(format!("there is no statistic `{word}`; there are {known}"))
                })?;
                let column = Column { quantity: quantity.clone(), over };
                if !columns.contains(&column) {
                    columns.push(column);
                }
            }
        }
        Ok(columns)
    }

    /// The metric of this name, or a message that helps.
    pub fn quantity(word: &str, metrics: &Metrics) -> Result<Quantity, ReportError> {
        metrics.find(word).ok_or_else(|| no_metric(word, metrics))
    }

    /// The measure of this name, or a message that helps.
    pub fn measure(word: &str) -> Result<Measure, ReportError> {
        let metrics = Metrics::default();
        let measure = metrics.find(word).and_then(|quantity| quantity.measure());
        measure.ok_or_else(|| no_metric(word, &metrics))
    }

    /// Key in the rows of JSON, and heading in CSV.
    pub fn id(&self) -> String {
        match self.over {
            Over::Sum => self.quantity.id(),
            over => format!("{}:{}", self.quantity.id(), over.id()),
        }
    }

    /// What is added up, if it is a sum of a measure.
    pub(crate) fn summed(&self) -> Option<Measure> {
        self.quantity.measure().filter(|_| self.over == Over::Sum)
    }

    pub(crate) fn head(&self, asked: bool) -> ColumnHead {
        let source = self.quantity.measure().map(Measure::source);
        ColumnHead {
            id: self.id(),
            unit: self.quantity.unit(),
            metric: self.quantity.id(),
            over: self.over,
            source: source.map(Source::id),
            kind: self.quantity.measure().map(|measure| measure.kind().id()),
            sampled: source.map(Source::is_sampled),
            expression: self.quantity.derived().map(|derived| derived.expression().to_owned()),
            quantity: self.quantity.clone(),
            asked,
        }
    }
}
