//! The page `callers FUNCTION`: one function with its callers and callees.

use proust_analysis::query::{Neighbour, Neighbours, Selection, functions_called};
use proust_profile::{FunctionId, Profile};
use serde::Serialize;

use super::callers::sums_only;
use super::{
    FunctionRow, NumberColumn, Order, Page, Which, columns, csv_amounts, csv_heads, heading, scope, title_of,
};
use crate::SCHEMA;
use crate::column::{Amount, Column, ColumnHead, Columns, RowAmounts};
use crate::number::{percent, sum};
use crate::question::{Question, ReportError};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// One function with its callers and callees.
#[derive(Debug, Serialize)]
pub(super) struct OneFunction {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// The function; several when the name or pattern means several, whose amounts are then summed.
    functions: Vec<FunctionRow>,
    recursive: bool,
    /// `inclusive` is the function's amount when called from there, `exclusive` its own part of it.
    callers: Vec<NeighbourRow>,
    /// `inclusive` is what was spent below the function in this callee, `exclusive` the callee's own part.
    callees: Vec<NeighbourRow>,
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    order: Order,
}

/// As a function's row, but without a handle where there is no function.
#[derive(Debug, Serialize)]
struct NeighbourRow {
    function: String,
    full_name: String,
    handle: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    module: Option<String>,
    metrics: RowAmounts,
}

/// Shown where a function has no caller.
const NO_CALLER: &str = "[start of a thread]";

impl OneFunction {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<OneFunction, ReportError> {
        if let Some(more) = question.arguments.get(1) {
            return Err(ReportError::Usage(format!(
                "`callers` takes one function, but `{more}` was given as well; quote a name that holds spaces"
            )));
        }
        let profile = selection.profile();
        let chosen = columns(selection, question);
        sums_only(&chosen)?;
        let numbers = Columns::by_function(selection, &chosen);
        let mut ids = functions_called(profile, &question.arguments[0])?;
        if ids.len() > 1 {
            ids.retain(|&id| numbers.any(id as usize));
        }
        let order = Order::new(question, &chosen, true);
        let mut callers: Vec<(Option<FunctionId>, RowAmounts)> = Vec::new();
        let mut callees = Vec::new();
        let mut recursive = false;
        for &id in &ids {
            for column in &chosen {
                let neighbours = Neighbours::of(selection, id, column.metric);
                recursive |= neighbours.recursive;
                add(&mut callers, &neighbours.callers, *column);
                add(&mut callees, &neighbours.callees, *column);
            }
        }
        let finish = |rows: Vec<(Option<FunctionId>, RowAmounts)>| {
            let complete = |mut metrics: RowAmounts| {
                for column in &chosen {
                    metrics.entry(column.id()).or_default();
                }
                metrics
            };
            let mut rows: Vec<NeighbourRow> = rows
                .into_iter()
                .map(|(id, metrics)| NeighbourRow::new(profile, id, complete(metrics)))
                .collect();
            rows.sort_by(|a, b| {
                order
                    .of(&b.metrics)
                    .total_cmp(&order.of(&a.metrics))
                    .then_with(|| a.function.cmp(&b.function))
            });
            rows
        };
        let functions =
            ids.iter().map(|&id| FunctionRow::new(profile, id, numbers.row(id as usize))).collect();
        Ok(OneFunction {
            schema: SCHEMA,
            metrics: numbers.heads(),
            functions,
            recursive,
            callers: finish(callers),
            callees: finish(callees),
            notes: selection.notes().to_vec(),
            scope: scope(selection, question),
            order,
        })
    }
}

fn add(rows: &mut Vec<(Option<FunctionId>, RowAmounts)>, neighbours: &[Neighbour], column: Column) {
    for neighbour in neighbours {
        let position = rows.iter().position(|(id, _)| *id == neighbour.function).unwrap_or_else(|| {
            rows.push((neighbour.function, RowAmounts::new()));
            rows.len() - 1
        });
        let amount: &mut Amount = rows[position].1.entry(column.id()).or_default();
        amount.inclusive += neighbour.inclusive;
        amount.exclusive += neighbour.exclusive;
    }
}

impl NeighbourRow {
    fn new(profile: &Profile, id: Option<FunctionId>, metrics: RowAmounts) -> NeighbourRow {
        match id {
            Some(id) => {
                let row = FunctionRow::new(profile, id, metrics);
                NeighbourRow {
                    function: row.function,
                    full_name: row.full_name,
                    handle: Some(row.handle),
                    file: row.file,
                    line: row.line,
                    module: row.module,
                    metrics: row.metrics,
                }
            }
            None => NeighbourRow {
                function: NO_CALLER.into(),
                full_name: NO_CALLER.into(),
                handle: None,
                file: None,
                line: None,
                module: None,
                metrics,
            },
        }
    }
}

impl Page for OneFunction {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Callers and callees", &self.scope);
        let head = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let all: Vec<&RowAmounts> = self
            .callers
            .iter()
            .map(|row| &row.metrics)
            .chain(self.functions.iter().map(|row| &row.metrics))
            .chain(self.callees.iter().map(|row| &row.metrics))
            .collect();
        let inclusive = NumberColumn::amounts(head, &title_of(head), &all, Which::Inclusive);
        let exclusive = NumberColumn::amounts(head, "self", &all, Which::Exclusive);
        let whole = sum(self.functions.iter().map(|row| self.order.of(&row.metrics)));
        let titles = vec![
            inclusive.head(),
            ("%".into(), Align::Right),
            exclusive.head(),
            ("".into(), Align::Left),
            ("".into(), Align::Left),
        ];
        let mut table = Table::new(titles);
        let mut n = 0;
        let mut line = |paint: Paint, handle: &str, name: Cell| {
            table.row(vec![
                Cell::painted(paint, inclusive.numbers[n].clone()),
                percent(self.order.of(all[n]), whole).into(),
                exclusive.numbers[n].clone().into(),
                Cell::painted(Paint::Faint, handle),
                name,
            ]);
            n += 1;
        };
        for row in &self.callers {
            let name = Cell::from(format!("{}{}", style.pick("↓ ", "from "), row.function));
            line(
                Paint::Plain,
                row.handle.as_deref().unwrap_or(""),
                name.with_tail(super::place(row.file.as_deref(), row.line).unwrap_or_default()),
            );
        }
        for row in &self.functions {
            let recursive = if self.recursive { " (recursive: counted once)" } else { "" };
            let name = Cell::painted(Paint::Strong, format!("{}{recursive}", row.function));
            line(
                Paint::Strong,
                &row.handle,
                name.with_tail(super::place(row.file.as_deref(), row.line).unwrap_or_default()),
            );
        }
        for row in &self.callees {
            let name = Cell::from(format!("  {}{}", style.pick("↳ ", "to "), row.function));
            line(
                Paint::Plain,
                row.handle.as_deref().unwrap_or(""),
                name.with_tail(super::place(row.file.as_deref(), row.line).unwrap_or_default()),
            );
        }
        text.push_str(&table.render(style));
        let sums = " The callers sum to the function; its own part and its callees do too.\n";
        text.push_str(&style.paint(Paint::Faint, sums));
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["relation", "handle", "function", "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for (relation, row) in self
            .callers
            .iter()
            .map(|row| ("caller", row))
            .chain(self.callees.iter().map(|row| ("callee", row)))
        {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let line = row.line.map(|line| line.to_string()).unwrap_or_default();
            let mut fields =
                vec![relation.into(), text(&row.handle), row.function.clone(), text(&row.file), line];
            fields.push(text(&row.module));
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
