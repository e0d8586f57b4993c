//! The page `lines`: source lines, whatever they are inlined into.
//!
//! JSON: `{"schema":1,"metrics":[…],"totals":{…},"lines":[…],"cut":{…},"notes":[…]}`. A line is
//! `{"file","line","function","handle","metrics"}`; `function` and `handle` are those of the function in
//! which it was met first. Inclusive and exclusive amounts are the same: `flat --by line` has what is called
//! there as well.

use proust_query::{Handle, OnPath, Quantity, Selection};
use schemars::JsonSchema;
use serde::Serialize;

use super::flat::sums;
use super::numbers::{Fitted, NumberColumn, Which, given, head_of, title_of};
use super::{Cut, Page, csv_amounts, csv_heads, heading, no_arguments, place, scope};
use crate::choice::{Chosen, Order};
use crate::column::{ColumnHead, Over};
use crate::columns::Columns;
use crate::error::ReportError;
use crate::number::{percents, sum};
use crate::question::{Format, Question};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 20;
/// Names have at least this much room, before columns have.
const NAMES: usize = 44;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Lines {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// Sums over everything in scope, code without lines included.
    totals: RowAmounts,
    lines: Vec<LineRow>,
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

#[derive(Debug, Serialize, JsonSchema)]
struct LineRow {
    file: String,
    line: u32,
    function: Option<String>,
    handle: Option<String>,
    metrics: RowAmounts,
}

impl Lines {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Lines, ReportError> {
        no_arguments(question)?;
        let chosen = Chosen::new(selection, question);
        let order = Order::new(question, &chosen, false);
        let profile = selection.profile();
        let of = OnPath::lines(profile, selection.forest());
        let (numbers, functions) = (Columns::on_path(selection, &of, &chosen), of.functions(profile));
        let row = |(n, &(file, line)): (usize, &(&str, u32))| LineRow {
            file: file.to_owned(),
            line,
            function: functions[n].map(|id| profile.functions[id].name.clone()),
            handle: functions[n].map(|id| Handle::Function(id).to_string()),
            metrics: numbers.row(n).own(),
        };
        let mut rows: Vec<LineRow> = of.keys.iter().enumerate().map(row).collect();
        rows.retain(|row| row.metrics.has_own());
        let totals = sums(&chosen, |measure| selection.shown_total(measure));
        rows.sort_by(|a, b| {
            let by_place = || (&a.file, a.line).cmp(&(&b.file, b.line));
            if order.by_name {
                return by_place();
            }
            order.compare(&a.metrics, &b.metrics).then_with(by_place)
        });
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let cut = limit.filter(|&limit| limit < rows.len()).map(|limit| {
            let amount = sum(rows[limit..].iter().map(|row| order.of(&row.metrics)));
            let cut = Cut { rows: rows.len() - limit, amount };
            rows.truncate(limit);
            cut
        });
        Ok(Lines {
            schema: SCHEMA,
            metrics: numbers.heads(),
            totals,
            lines: rows,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            chosen,
            order,
        })
    }

    /// The part that each line, and what is in none that is shown, has of all of it.
    fn shares(&self, lead: &ColumnHead, total: f64) -> NumberColumn {
        let own = |row: &LineRow| row.metrics.get(&lead.id).map_or(0.0, |amount| amount.exclusive);
        let mut shares: Vec<f64> = self.lines.iter().map(own).collect();
        shares.push(total - sum(shares.iter().copied()));
        let mut shares = percents(&shares, total);
        shares.push(if total > 0.0 { "100.0" } else { "-" }.into());
        NumberColumn::percents(shares)
    }

    fn table(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.lines.iter().map(|row| &row.metrics).collect();
        let total = |head: &ColumnHead| self.totals.get(&head.id).map_or(0.0, |total| total.exclusive);
        let own = |head: &ColumnHead| match head.over {
            Over::Sum => vec![NumberColumn::adding_up(head, &title_of(head), &rows, total(head), true)],
            _ => vec![
                NumberColumn::amounts(head, &title_of(head), &rows, Which::Exclusive),
                NumberColumn::locations(head, &rows),
            ],
        };
        let lead = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let mut always = own(lead);
        if lead.over == Over::Sum {
            always.push(self.shares(lead, total(lead)));
        }
        let fitted = match self.chosen.given {
            true => {
                always.extend(given(&self.metrics, lead).into_iter().skip(1).flat_map(own));
                Fitted::new(always, Vec::new(), NAMES, style)
            }
            false => {
                let cpu = Quantity::from(proust_profile::Metric::Cpu);
                let beside = head_of(&self.metrics, &cpu).filter(|head| head.id != lead.id);
                always.extend(beside.into_iter().flat_map(own));
                let errors = |column: &NumberColumn| column.errors(&rows, Which::Exclusive);
                if let Some(at) = always.iter().position(|column| column.id == cpu.id()) {
                    always.insert(at + 1, errors(&always[at]));
                }
                let noticed = self.chosen.noticed.iter();
                let others = noticed.filter(|&quantity| *quantity != cpu && *quantity != lead.quantity);
                let others = others.filter_map(|quantity| head_of(&self.metrics, quantity)).flat_map(own);
                Fitted::new(always, others.collect(), NAMES, style)
            }
        };
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let mut table = Table::new(titles.chain([("line".into(), Align::Left)]));
        let mut line = |row: usize, name: Cell| {
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(row).into()).collect();
            cells.push(name);
            table.row(cells);
        };
        for (n, row) in self.lines.iter().enumerate() {
            let at = place(Some(&row.file), Some(row.line)).unwrap_or_default();
            let within = row.function.as_ref().map(|function| format!("in {function}")).unwrap_or_default();
            line(n, Cell::from(at).with_tail(within));
        }
        let n = self.lines.len();
        let others = match &self.cut {
            None => "code without lines".to_owned(),
            // Short: the column is as wide as the lines' names.
            Some(cut) => format!("{} more (--limit {}), code without lines", cut.rows, n + cut.rows),
        };
        line(n, Cell::painted(Paint::Faint, others));
        line(n + 1, Cell::painted(Paint::Faint, "sum"));
        table.render(style) + &fitted.footer(&self.chosen.others, style)
    }
}

impl Page for Lines {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Lines", &format!("{}; without what is called", self.scope));
        if self.lines.is_empty() {
            text.push_str(" no line is known here: compile with -g\n");
            return text;
        }
        text.push_str(&self.table(style));
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let mut rows = vec![csv_heads(&["file", "line", "function", "handle"], &self.metrics)];
        for row in &self.lines {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let mut fields =
                vec![row.file.clone(), row.line.to_string(), text(&row.function), text(&row.handle)];
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
