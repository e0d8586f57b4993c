//! The page `lines`: source lines, whatever they are inlined into.
//!
//! JSON: `{"schema":1,"metrics":[…],"totals":{…},"lines":[…],"cut":{…},"notes":[…]}`. A line is
//! `{"file","line","function","handle","metrics"}`; `function` and `handle` are those of the function in
//! which it was met first. Inclusive and exclusive amounts are the same.

use proust_query::{Handle, Quantity, Selection, lines};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{Fitted, NumberColumn, given, head_of, title_of};
use super::{Cut, Page, csv_amounts, csv_heads, heading, no_arguments, place, scope};
use crate::choice::{Chosen, Order};
use crate::column::{Amount, ColumnHead, Over};
use crate::derivations::Derivations;
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
        if let Some(column) = chosen.columns.iter().find(|column| column.over != Over::Sum) {
            return Err(ReportError::Usage(format!(
                "`lines` shows sums only, not `{}`; `flat` and `tree` show statistics over threads",
                column.id()
            )));
        }
        let order = Order::new(question, &chosen, false);
        let mut rows: Vec<LineRow> = Vec::new();
        let mut known: FxHashMap<(String, u32), usize> = FxHashMap::default();
        let mut totals = RowAmounts::new();
        for (column, measure) in chosen.sums() {
            let both = |amount: f64| Amount { inclusive: amount, exclusive: amount, ..Amount::default() };
            totals.insert(column.as_str(), both(selection.total(measure)));
            for found in lines(selection, measure) {
                let at = *known.entry((found.file.clone(), found.line)).or_insert_with(|| {
                    let function = found.function.map(|id| selection.profile().functions[id].name.clone());
                    rows.push(LineRow {
                        file: found.file,
                        line: found.line,
                        function,
                        handle: found.function.map(|id| Handle::Function(id).to_string()),
                        metrics: RowAmounts::new(),
                    });
                    rows.len() - 1
                });
                rows[at].metrics.insert(column.as_str(), both(found.amount));
            }
        }
        let derivations = Derivations::of(&chosen.heads());
        let all = rows.iter_mut().map(|row| &mut row.metrics).chain([&mut totals]);
        all.for_each(|metrics| derivations.add_to(metrics));
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
            metrics: chosen.heads(),
            totals,
            lines: rows,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            chosen,
            order,
        })
    }

    fn table(&self, style: &Style) -> String {
        let rows: Vec<&RowAmounts> = self.lines.iter().map(|row| &row.metrics).collect();
        let total = |head: &ColumnHead| self.totals.get(&head.id).map_or(0.0, |total| total.exclusive);
        let own = |quantity: &Quantity| {
            let head = head_of(&self.metrics, quantity)?;
            Some(NumberColumn::adding_up(head, &title_of(head), &rows, total(head), true))
        };
        let lead = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let mut shares: Vec<f64> =
            rows.iter().map(|row| row.get(&lead.id).map_or(0.0, |amount| amount.exclusive)).collect();
        shares.push(total(lead) - sum(shares.iter().copied()));
        let mut shares = percents(&shares, total(lead));
        shares.push(if total(lead) > 0.0 { "100.0" } else { "-" }.into());
        let mut always: Vec<NumberColumn> = own(&lead.quantity).into_iter().collect();
        always.push(NumberColumn::percents(shares));
        let of = |quantities: Vec<&Quantity>| -> Vec<NumberColumn> {
            quantities.into_iter().filter(|&quantity| *quantity != lead.quantity).filter_map(own).collect()
        };
        let fitted = match self.chosen.given {
            true => {
                always.extend(of(given(&self.metrics, lead).iter().map(|head| &head.quantity).collect()));
                Fitted::new(always, Vec::new(), NAMES, style)
            }
            false => {
                let cpu = Quantity::from(proust_profile::Metric::Cpu);
                always.extend(of(vec![&cpu]));
                let noticed = self.chosen.noticed.iter().filter(|&quantity| *quantity != cpu);
                Fitted::new(always, of(noticed.collect()), NAMES, style)
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
