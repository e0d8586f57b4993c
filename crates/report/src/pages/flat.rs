//! The page `flat`: functions.

use proust_analysis::query::Selection;
use proust_analysis::words::counted;
use proust_profile::Metric;
use serde::Serialize;

use super::{
    Cut, FunctionRow, NumberColumn, Order, Page, Which, columns, csv_amounts, csv_heads, function_rows,
    heading, no_arguments, scope, sort_functions, title_of,
};
use crate::SCHEMA;
use crate::column::{ColumnHead, Columns, Over, RowAmounts};
use crate::number::{Scale, percents, sum};
use crate::question::{Format, Question, ReportError};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 20;

#[derive(Debug, Serialize)]
pub(super) struct Flat {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// Sums over everything in scope, in the rows' columns.
    totals: RowAmounts,
    functions: Vec<FunctionRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    chosen: bool,
}

impl Flat {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Flat, ReportError> {
        no_arguments(question)?;
        let chosen = columns(selection, question);
        let numbers = Columns::by_function(selection, &chosen);
        let order = Order::new(question, &chosen, false);
        let mut functions = function_rows(selection.profile(), &numbers);
        sort_functions(&mut functions, &order);
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let cut = cut(&mut functions, limit, &order);
        let mut totals = RowAmounts::new();
        for column in chosen.iter().filter(|column| column.over == Over::Sum) {
            let total = selection.total(column.metric);
            let amount = crate::column::Amount { inclusive: total, exclusive: total, ..Default::default() };
            totals.insert(column.id(), amount);
        }
        Ok(Flat {
            schema: SCHEMA,
            metrics: numbers.heads(),
            totals,
            functions,
            cut,
            notes: selection.notes().to_vec(),
            scope: scope(selection, question),
            chosen: !question.columns.is_empty(),
        })
    }

    /// CPU time as it is shown when no metrics are chosen.
    fn usual(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.functions.iter().map(|row| &row.metrics).collect();
        let head = |metric: Metric| self.metrics.iter().find(|head| head.id == metric.id());
        let cpu = head(Metric::Cpu).expect("CPU time is always among the usual columns");
        let total = self.totals.get(&cpu.id).map_or(0.0, |total| total.exclusive);
        let mut own: Vec<f64> =
            rows.iter().map(|row| row.get(&cpu.id).map_or(0.0, |a| a.exclusive)).collect();
        let hidden = total - sum(own.iter().copied());
        own.push(if self.cut.is_some() { hidden } else { 0.0 });
        let scale = Scale::of(cpu.unit, own.iter().copied().chain([total]));
        let shown = scale.show_parts(&own, total);
        let shares = percents(&own, total);

        let mut extra = vec![NumberColumn::amounts(cpu, "incl", &rows, Which::Inclusive)];
        for metric in [Metric::User, Metric::System] {
            // A column in which nothing stands says nothing to people.
            let used =
                head(metric).filter(|head| self.totals.get(&head.id).is_some_and(|t| t.exclusive != 0.0));
            extra.extend(used.map(|head| {
                NumberColumn::amounts(head, &format!("{} self", title_of(head)), &rows, Which::Exclusive)
            }));
        }
        let errors = NumberColumn::errors(cpu, &rows, Which::Exclusive);
        let mut titles = vec![(scale.title("self"), Align::Right), errors.head(), ("%".into(), Align::Right)];
        titles.extend(extra.iter().map(NumberColumn::head));
        titles.extend([("".into(), Align::Left), ("function".into(), Align::Left)]);
        let width = titles.len();
        let mut table = Table::new(titles);
        for (n, row) in self.functions.iter().enumerate() {
            let mut cells: Vec<Cell> = vec![shown[n].clone().into(), errors.numbers[n].clone().into()];
            cells.push(shares[n].clone().into());
            cells.extend(extra.iter().map(|column| Cell::from(column.numbers[n].clone())));
            cells.extend([Cell::painted(Paint::Faint, row.handle.clone()), row.cell()]);
            table.row(cells);
        }
        let mut last = |own: &str, share: &str, text: String| {
            let mut cells: Vec<Cell> = vec![own.into(), "".into(), share.into()];
            cells.resize(width - 1, Cell::default());
            cells.push(Cell::painted(Paint::Faint, text));
            table.row(cells);
        };
        let n = self.functions.len();
        if let Some(cut) = &self.cut {
            let text = format!("{} (--limit {})", counted(cut.rows, "more function"), n + cut.rows);
            last(&shown[n], &shares[n], text);
        }
        last(&scale.show(total), if total > 0.0 { "100.0" } else { "-" }, "sum".into());
        table.render(style)
    }

    /// The columns of `--metrics`.
    fn with_chosen(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.functions.iter().map(|row| &row.metrics).collect();
        let mut numbers = Vec::new();
        for head in &self.metrics {
            let name = title_of(head);
            numbers.push(NumberColumn::amounts(head, &format!("{name} self"), &rows, Which::Exclusive));
            numbers.push(NumberColumn::amounts(head, "incl", &rows, Which::Inclusive));
            if rows.iter().any(|row| row.get(&head.id).is_some_and(|amount| amount.location.is_some())) {
                numbers.push(NumberColumn::locations(head, &rows));
            }
        }
        let titles = numbers.iter().map(NumberColumn::head);
        let titles = titles.chain([("".into(), Align::Left), ("function".into(), Align::Left)]);
        let mut table = Table::new(titles);
        for (n, row) in self.functions.iter().enumerate() {
            let mut cells: Vec<Cell> =
                numbers.iter().map(|column| column.numbers[n].clone().into()).collect();
            cells.extend([Cell::painted(Paint::Faint, row.handle.clone()), row.cell()]);
            table.row(cells);
        }
        let mut text = table.render(style);
        if let Some(cut) = &self.cut {
            let line = format!(
                " {} (--limit {})",
                counted(cut.rows, "more function"),
                self.functions.len() + cut.rows
            );
            text.push_str(&style.paint(Paint::Faint, &line));
            text.push('\n');
        }
        text
    }
}

/// Keeps the first rows, and says what the others had.
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
        let mut text = heading(style, "Functions", &self.scope);
        if self.functions.is_empty() {
            text.push_str(" no samples here\n");
            return text;
        }
        text.push_str(&if self.chosen { self.with_chosen(style) } else { self.usual(style) });
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["handle", "function", "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for row in &self.functions {
            let mut fields = row.fields();
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
