//! The page `flat`: functions, and with `--by` lines or modules.

mod groups;
mod table;

use proust_query::{Measure, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{
    Cut, FunctionRow, Page, csv_amounts, csv_heads, function_rows, heading, no_arguments, scope,
    sort_functions,
};
use crate::choice::{Chosen, Order};
use crate::column::{Amount, ColumnHead};
use crate::columns::Columns;
use crate::derivations::Derivations;
use crate::error::ReportError;
use crate::groups::RowsOf;
use crate::number::sum;
use crate::question::{Format, Question};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::Notes;
pub(super) use groups::FlatGroups;
use table::FlatTable;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 20;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Flat {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// Sums over everything in scope, in the rows' columns.
    totals: RowAmounts,
    functions: Vec<FunctionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    chosen: Chosen,
    #[serde(skip)]
    order: Order,
}

impl Flat {
    pub fn build(selection: Selection<'_>, question: &Question) -> Result<Flat, ReportError> {
        no_arguments(question)?;
        let selection = match question.rows_of {
            RowsOf::Compiled => &selection.of_compiled_functions(),
            _ => &selection,
        };
        let chosen = Chosen::new(selection, question);
        let numbers = Columns::by_function(selection, &chosen);
        let order = Order::new(question, &chosen, false);
        let mut functions = function_rows(selection.profile(), &numbers);
        sort_functions(&mut functions, &order);
        // Functions that only call others are no rows of a text that is about their own amounts.
        if question.format == Format::Text && question.columns.is_empty() && question.sort.is_none() {
            functions.retain(|row| row.metrics.has_own());
        }
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let cut = cut(&mut functions, limit, &order);
        let totals = sums(&chosen, |measure| selection.shown_total(measure));
        Ok(Flat {
            schema: SCHEMA,
            metrics: numbers.heads(),
            totals,
            functions,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            chosen,
            order,
        })
    }

    fn table(&self) -> FlatTable<'_> {
        let n = self.functions.len();
        let cut = |cut: &Cut| format!("{} (--limit {})", counted(cut.rows, "more function"), n + cut.rows);
        let row = |row: &'_ FunctionRow| (row.head.handle.clone(), row.head.cell());
        FlatTable {
            heads: &self.metrics,
            totals: &self.totals,
            chosen: &self.chosen,
            order: &self.order,
            names: self.functions.iter().map(row).collect(),
            amounts: self.functions.iter().map(|row| &row.metrics).collect(),
            what: "function",
            others: self.cut.as_ref().map(cut),
        }
    }
}

/// A row with one amount of each measure, which is all of it.
pub(super) fn sums(chosen: &Chosen, of: impl Fn(Measure) -> f64) -> RowAmounts {
    let mut sums = RowAmounts::new();
    for (column, measure) in chosen.sums() {
        let sum = of(measure);
        sums.insert(column, Amount { inclusive: sum, exclusive: sum, ..Amount::default() });
    }
    Derivations::of(&chosen.heads()).add_to(&mut sums);
    sums
}

/// Keeps the first rows, and returns the amounts of the others.
pub(super) fn cut(rows: &mut Vec<FunctionRow>, limit: Option<usize>, order: &Order) -> Option<Cut> {
    let limit = limit.filter(|&limit| limit < rows.len())?;
    let own = Order { inclusive: false, ..order.clone() };
    let amount = sum(rows[limit..].iter().map(|row| own.of(&row.metrics)));
    let cut = Cut { rows: rows.len() - limit, amount };
    rows.truncate(limit);
    Some(cut)
}

impl Page for Flat {
    fn text(&self, style: &Style) -> String {
        let by_active = self
            .metrics
            .iter()
            .any(|head| head.id == self.order.column && head.quantity == Measure::Active.into());
        let by = if by_active { "; active time without what is called" } else { "" };
        let mut text = heading(style, "Functions", &format!("{}{by}", self.scope));
        if self.functions.is_empty() {
            text.push_str(" nothing here\n");
            return text;
        }
        text + &self.table().text(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["handle", "function", "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for row in &self.functions {
            let mut fields = row.head.fields();
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
