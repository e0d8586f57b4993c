//! The page `flat`: functions.

use proust_profile::Metric;
use proust_query::{Measure, Quantity, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{Fitted, NumberColumn, Which, head_of, title_of};
use super::{
    Cut, FunctionRow, Page, csv_amounts, csv_heads, function_rows, heading, no_arguments, scope,
    sort_functions,
};
use crate::choice::{Chosen, Order};
use crate::column::ColumnHead;
use crate::columns::Columns;
use crate::derivations::Derivations;
use crate::error::ReportError;
use crate::number::{percents, sum};
use crate::question::{Format, Question};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};
use crate::wording::Notes;

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
        let selection = match question.compiled {
            true => &selection.of_compiled_functions(),
            false => &selection,
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
        let mut totals = RowAmounts::new();
        for (column, measure) in chosen.sums() {
            let total = selection.total(measure);
            let amount = crate::column::Amount { inclusive: total, exclusive: total, ..Default::default() };
            totals.insert(column, amount);
        }
        Derivations::of(&numbers.heads()).add_to(&mut totals);
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

    /// The ordering measure, CPU time, and the measures that matter beside it, when no metrics are chosen.
    fn usual(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.functions.iter().map(|row| &row.metrics).collect();
        let total = |head: &ColumnHead| self.totals.get(&head.id).map_or(0.0, |total| total.exclusive);
        let own = |quantity: &Quantity, name: &str| {
            let head = head_of(&self.metrics, quantity)?;
            Some(NumberColumn::adding_up(head, name, &rows, total(head), self.cut.is_some()))
        };
        let cpu = Quantity::from(Metric::Cpu);
        let lead = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let by_cpu = lead.quantity == cpu;
        let mut shares: Vec<f64> =
            rows.iter().map(|row| row.get(&lead.id).map_or(0.0, |amount| amount.exclusive)).collect();
        let hidden = total(lead) - sum(shares.iter().copied());
        shares.extend(self.cut.is_some().then_some(hidden));
        let mut shares = percents(&shares, total(lead));
        shares.push(if total(lead) > 0.0 { "100.0" } else { "-" }.into());
        let name = if by_cpu { "self".into() } else { title_of(lead) };
        let mut always: Vec<NumberColumn> = own(&lead.quantity, &name).into_iter().collect();
        let incl = NumberColumn::amounts(lead, "incl", &rows, Which::Inclusive);
        let errors = |of: Option<&NumberColumn>| Some(of?.errors(&rows, Which::Exclusive));
        if by_cpu {
            let errors = errors(always.first());
            always.extend(errors);
            always.extend([NumberColumn::percents(shares), incl.clone()]);
        } else {
            always.push(NumberColumn::percents(shares));
            let cpu = own(&cpu, "CPU");
            let errors = errors(cpu.as_ref());
            always.extend(cpu.into_iter().chain(errors));
        }
        let mut others: Vec<NumberColumn> = self
            .chosen
            .noticed
            .iter()
            .filter(|quantity| **quantity != lead.quantity)
            .filter_map(|quantity| {
                let head = head_of(&self.metrics, quantity)?;
                own(quantity, &title_of(head))
            })
            .collect();
        // It is the same measure: `--metrics` could not show more.
        others.extend((!by_cpu).then_some(NumberColumn { id: String::new(), ..incl }));
        // An empty column is of no use in text.
        for metric in [Metric::User, Metric::System] {
            let quantity = metric.into();
            let used = head_of(&self.metrics, &quantity).filter(|head| total(head) != 0.0);
            others.extend(used.and_then(|head| own(&quantity, &format!("{} self", title_of(head)))));
        }
        let fitted = Fitted::new(always, others, NAMES, style);
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let mut table =
            Table::new(titles.chain([("".into(), Align::Left), ("function".into(), Align::Left)]));
        let n = self.functions.len();
        let mut line = |row: usize, handle: &str, name: Cell| {
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(row).into()).collect();
            cells.extend([Cell::painted(Paint::Faint, handle), name]);
            table.row(cells);
        };
        for (row, function) in self.functions.iter().enumerate() {
            line(row, &function.head.handle, function.head.cell());
        }
        if let Some(cut) = &self.cut {
            let text = format!("{} (--limit {})", counted(cut.rows, "more function"), n + cut.rows);
            line(n, "", Cell::painted(Paint::Faint, text));
        }
        line(n + usize::from(self.cut.is_some()), "", Cell::painted(Paint::Faint, "sum"));
        table.render(style) + &fitted.footer(&self.chosen.others, style)
    }

    /// The columns of `--metrics`.
    fn with_chosen(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.functions.iter().map(|row| &row.metrics).collect();
        let mut numbers = Vec::new();
        let lead = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let shown = self.metrics.iter().filter(|head| head.asked || head.id == lead.id);
        for head in shown {
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
            cells.extend([Cell::painted(Paint::Faint, row.head.handle.clone()), row.head.cell()]);
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
        text.push_str(&if self.chosen.given { self.with_chosen(style) } else { self.usual(style) });
        text
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
