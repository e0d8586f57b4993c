//! Any metric of each location, beside what a page of locations has anyway.

use proust_profile::LocationId;
use proust_query::Selection;
use rustc_hash::FxHashMap;

use super::heading;
use super::numbers::{NumberColumn, Which, title_of};
use crate::choice::{Chosen, Order};
use crate::column::{Amount, ColumnHead, Over};
use crate::derivations::Derivations;
use crate::error::ReportError;
use crate::question::Question;
use crate::row_amounts::RowAmounts;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// The metrics that are asked for, by location.
pub(super) struct ByLocation {
    pub heads: Vec<ColumnHead>,
    rows: FxHashMap<LocationId, RowAmounts>,
    order: Order,
}

impl ByLocation {
    /// Those of `--metrics`, `--define` and `--sort`; None if there are none of them.
    pub fn asked(selection: &Selection<'_>, question: &Question) -> Result<Option<ByLocation>, ReportError> {
        let sort = question.sort.as_ref().and_then(|sort| sort.quantity());
        if question.columns.is_empty() && question.metrics.derived().is_empty() && sort.is_none() {
            return Ok(None);
        }
        if let Some(column) = question.columns.iter().find(|column| column.over != Over::Sum) {
            return Err(ReportError::Usage(format!(
                "a row of `{}` is one thread and has no statistics over threads such as `{}`; `flat` and \
                 `tree` have",
                question.page.id(),
                column.id()
            )));
        }
        let chosen = Chosen::new(selection, question);
        let mut heads = chosen.heads();
        if question.columns.is_empty() {
            // The page has the usual ones already.
            heads.iter_mut().for_each(|head| head.asked = head.quantity.derived().is_some());
        }
        let mut rows: FxHashMap<LocationId, RowAmounts> = FxHashMap::default();
        for (id, measure) in chosen.sums() {
            let mut sums: FxHashMap<LocationId, u128> = FxHashMap::default();
            selection.each(measure, |_, location, amount| {
                let sum = sums.entry(location).or_default();
                *sum = measure.kind().joined(*sum, amount.into());
            });
            for &location in selection.locations() {
                let sum = measure.unit().shown(sums.get(&location).copied().unwrap_or(0));
                let amount = Amount { inclusive: sum, exclusive: sum, ..Amount::default() };
                rows.entry(location).or_default().insert(id.as_str(), amount);
            }
        }
        let derivations = Derivations::of(&heads);
        rows.values_mut().for_each(|row| derivations.add_to(row));
        Ok(Some(ByLocation { order: Order::new(question, &chosen, true), heads, rows }))
    }

    /// The metrics of a location.
    pub fn row(&self, location: LocationId) -> RowAmounts {
        self.rows.get(&location).cloned().unwrap_or_default()
    }

    /// Which of two rows comes first.
    pub fn compare(&self, a: &RowAmounts, b: &RowAmounts) -> std::cmp::Ordering {
        self.order.compare(a, b)
    }
}

/// A table of metrics by location; nothing without heads.
pub(super) fn table(heads: &[ColumnHead], rows: &[(&str, &str, &RowAmounts)], style: &Style) -> String {
    let amounts: Vec<&RowAmounts> = rows.iter().map(|(_, _, amounts)| *amounts).collect();
    let columns: Vec<NumberColumn> = heads
        .iter()
        .filter(|head| head.asked)
        .map(|head| NumberColumn::amounts(head, &title_of(head), &amounts, Which::Inclusive))
        .collect();
    if columns.is_empty() {
        return String::new();
    }
    let titles = [("".into(), Align::Left)].into_iter().chain(columns.iter().map(NumberColumn::head));
    let mut table = Table::new(titles.chain([("name".into(), Align::Left)]));
    for (n, (handle, name, _)) in rows.iter().enumerate() {
        let mut cells = vec![Cell::painted(Paint::Faint, *handle)];
        cells.extend(columns.iter().map(|column| Cell::from(column.cell(n))));
        cells.push(Cell::from(*name));
        table.row(cells);
    }
    format!("\n{}{}", heading(style, "Metrics", ""), table.render(style))
}
