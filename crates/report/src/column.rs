//! Which numbers a table shows: measures, and statistics of them over the locations.

use proust_query::{Measure, Statistics};
use proust_words::nearest::nearest;
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

/// A measure as a table shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// What is counted.
    pub measure: Measure,
    /// How the locations' amounts become one number.
    pub over: Over,
}

/// A column in JSON; `id` is the key of the rows' `metrics`.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
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

/// One number of a row, twice. JSON leaves out what is zero but for the first of them: that is half of all
/// that most rows would have.
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

/// The keys of columns, as a regular expression.
pub(crate) fn keys() -> String {
    let ids: Vec<String> = Measure::all().map(Measure::id).collect();
    let statistics: Vec<&str> = Over::ALL.iter().map(|over| over.id()).filter(|id| *id != "sum").collect();
    format!("^({})(:({}))?$", ids.join("|"), statistics.join("|"))
}

fn is_zero(amount: &f64) -> bool {
    *amount == 0.0
}

fn is_nothing(error: &Option<f64>) -> bool {
    error.is_none_or(|error| error == 0.0)
}

impl Column {
    /// Sums of a measure.
    pub fn sum(measure: impl Into<Measure>) -> Column {
        Column { measure: measure.into(), over: Over::Sum }
    }

    /// Reads the value of `--metrics`: `cpu_s:max|mean,lock_s`.
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
                "`{account}` is time of empty slots that no part of the program can be charged with: see \
                 the pages ledger and threads"
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
