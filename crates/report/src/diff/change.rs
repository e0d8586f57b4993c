//! A change as JSON, as columns of text, and as fields of CSV.

use std::collections::BTreeMap;

use proust_compare::diff::RowChange;
use proust_profile::Unit;
use proust_statistics::{Change, Estimate};
use schemars::JsonSchema;
use serde::Serialize;

use crate::number::{Scale, exact, fixed};
use crate::style::Paint;
use crate::table::{Align, Cell};

/// From here on a ratio says only that there was nearly nothing before.
const LARGE: f64 = 100.0;

/// A change in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct ChangeRow {
    /// Mean of A; with B and `delta` null where a derived metric has no value in one of the runs.
    #[schemars(with = "Option<f64>")]
    pub a: f64,
    /// Mean of B.
    #[schemars(with = "Option<f64>")]
    pub b: f64,
    /// B − A.
    #[schemars(with = "Option<f64>")]
    pub delta: f64,
    /// B / A; null where A is nothing.
    pub ratio: Option<f64>,
    /// Standard error of the difference.
    pub error: f64,
    /// 95 % confidence interval of A's mean.
    pub a_interval: [f64; 2],
    /// That of B.
    pub b_interval: [f64; 2],
    /// The 95 % interval of the difference that the verdict rests on; of single runs its bounds.
    pub interval: [f64; 2],
    /// The basis of the verdict: `medians`, `means` or `bounds`.
    pub method: &'static str,
    /// `more`, `less`, `same` or `undecided`.
    pub verdict: &'static str,
    /// Why.
    pub why: &'static str,
    /// Whether a change is certain although many places are compared.
    pub certain: bool,
    /// Further runs of each side that would probably decide it; null where it is decided, or 30 are too few.
    pub more_runs: Option<u32>,
    #[serde(skip)]
    pub change: Change,
}

impl From<Change> for ChangeRow {
    fn from(change: Change) -> ChangeRow {
        let interval = |of: &Estimate| [of.low, of.high];
        ChangeRow {
            a: change.a.mean,
            b: change.b.mean,
            delta: change.delta,
            ratio: change.ratio,
            error: change.error,
            a_interval: interval(&change.a),
            b_interval: interval(&change.b),
            interval: change.interval().into(),
            method: change.method.id(),
            verdict: change.verdict.id(),
            why: change.why.id(),
            certain: change.is_certain,
            more_runs: change.more_runs,
            change,
        }
    }
}

/// A row's changes in one measure.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Both {
    pub inclusive: ChangeRow,
    pub exclusive: ChangeRow,
}

impl From<RowChange> for Both {
    fn from(change: RowChange) -> Both {
        Both { inclusive: change.inclusive.into(), exclusive: change.exclusive.into() }
    }
}

impl Both {
    /// Whether either side has anything.
    pub fn is_any(&self) -> bool {
        [&self.inclusive, &self.exclusive].into_iter().any(|row| row.is_any())
    }
}

/// Changes by the identifier of the measure.
pub(super) type Changes = BTreeMap<String, Both>;

impl ChangeRow {
    /// Whether either side has a value that is not zero.
    pub fn is_any(&self) -> bool {
        [self.a, self.b].into_iter().any(|value| value != 0.0 && !value.is_nan())
    }

    /// The size of the difference, and of the larger side: what is shown first.
    pub fn size(&self) -> (f64, f64) {
        if self.delta.is_nan() { (0.0, 0.0) } else { (self.delta.abs(), self.a.max(self.b)) }
    }

    pub fn is_significant(&self) -> bool {
        self.change.verdict.is_change()
    }

    /// Fields of CSV.
    pub fn fields(&self) -> Vec<String> {
        let ratio = self.ratio.map(exact).unwrap_or_default();
        let known = |number: f64| if number.is_nan() { String::new() } else { exact(number) };
        let numbers = [known(self.a), known(self.b), known(self.delta), ratio];
        numbers.into_iter().chain([self.verdict.to_owned(), self.why.to_owned()]).collect()
    }

    /// Their headings, after the name of what changed.
    pub fn heads(of: &str) -> Vec<String> {
        ["A", "B", "delta", "ratio", "verdict", "why"].iter().map(|head| format!("{of} {head}")).collect()
    }
}

/// A difference with its sign; `-` for none.
pub(super) fn signed(scale: &Scale, delta: f64) -> String {
    if delta == 0.0 || delta.is_nan() {
        return "-".into();
    }
    let shown = scale.show(delta.abs());
    if shown.bytes().all(|byte| matches!(byte, b'0' | b'.')) {
        return shown;
    }
    format!("{}{shown}", if delta > 0.0 { '+' } else { '−' })
}

/// The columns of a change: A, B, the difference, the ratio, and the verdict.
pub(super) fn titles(scale: &Scale) -> [(String, Align); 5] {
    [
        (scale.title("A"), Align::Right),
        (scale.title("B"), Align::Right),
        (scale.title("B−A"), Align::Right),
        ("B/A".into(), Align::Right),
        ("".into(), Align::Left),
    ]
}

/// B / A as text.
pub(super) fn ratio_text(row: &ChangeRow) -> String {
    match row.ratio {
        None => "-".into(),
        Some(ratio) if ratio >= LARGE => format!("> {LARGE}"),
        Some(ratio) => fixed(ratio, 2),
    }
}

/// The cells of a change.
pub(super) fn cells(row: &ChangeRow, scale: &Scale) -> [Cell; 5] {
    let paint = if row.is_significant() { Paint::Strong } else { Paint::Faint };
    [
        scale.show(row.a).into(),
        scale.show(row.b).into(),
        Cell::painted(paint, signed(scale, row.delta)),
        ratio_text(row).into(),
        Cell::painted(paint, row.verdict),
    ]
}

/// The scale of rows.
pub(super) fn scale<'c>(unit: Unit, rows: impl IntoIterator<Item = &'c ChangeRow>) -> Scale {
    Scale::of(unit, rows.into_iter().flat_map(|row| [row.a, row.b]))
}
