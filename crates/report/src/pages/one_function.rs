//! The page `callers FUNCTION`: one function with its callers and callees.

use proust_profile::{FunctionId, Profile, Unit};
use proust_query::{Neighbour, Neighbours, Selection, functions_called};
use schemars::JsonSchema;
use serde::Serialize;

use super::callers::sums_only;
use super::numbers::{Fitted, NumberColumn, Which, cpu_beside, given, noticed, title_of};
use super::{FunctionHead, FunctionRow, Page, csv_amounts, csv_heads, heading, scope};
use crate::choice::{Chosen, Order};
use crate::column::{Amount, ColumnHead};
use crate::columns::Columns;
use crate::derivations::Derivations;
use crate::error::ReportError;
use crate::number::{percent, sum};
use crate::question::Question;
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};
use crate::wording::Notes;

/// One function with its callers and callees.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OneFunction {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// The function; several when the name or pattern means several, whose amounts are then summed.
    functions: Vec<FunctionRow>,
    recursive: bool,
    /// `inclusive` is the function's amount when called from there, `exclusive` its own part of it.
    callers: Vec<NeighbourRow>,
    /// `inclusive` is this callee's amount below the function, `exclusive` the callee's own part.
    callees: Vec<NeighbourRow>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    order: Order,
    #[serde(skip)]
    chosen: Chosen,
}

/// As a function's row, but without a handle where there is no function.
#[derive(Debug, Serialize, JsonSchema)]
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
        let chosen = Chosen::new(selection, question);
        sums_only(&chosen)?;
        let numbers = Columns::by_function(selection, &chosen);
        let mut ids = functions_called(profile, &question.arguments[0])?;
        if ids.len() > 1 {
            ids.retain(|&id| numbers.any(id.index()));
        }
        let order = Order::new(question, &chosen, true);
        let mut callers: Vec<(Option<FunctionId>, RowAmounts)> = Vec::new();
        let mut callees = Vec::new();
        let mut recursive = false;
        for &id in &ids {
            for (column, measure) in chosen.sums() {
                let neighbours = Neighbours::of(selection, id, measure);
                recursive |= neighbours.recursive;
                add(&mut callers, &neighbours.callers, &column, measure.unit());
                add(&mut callees, &neighbours.callees, &column, measure.unit());
            }
        }
        let derivations = Derivations::of(&chosen.heads());
        let finish = |rows: Vec<(Option<FunctionId>, RowAmounts)>| {
            let complete = |mut metrics: RowAmounts| {
                for column in chosen.columns.iter().filter(|column| !chosen.is_sparse(column)) {
                    metrics.entry(column.id());
                }
                derivations.add_to(&mut metrics);
                metrics
            };
            let mut rows: Vec<NeighbourRow> = rows
                .into_iter()
                .map(|(id, metrics)| NeighbourRow::new(profile, id, complete(metrics)))
                .collect();
            rows.sort_by(|a, b| {
                order.compare(&a.metrics, &b.metrics).then_with(|| a.function.cmp(&b.function))
            });
            rows
        };
        let functions =
            ids.iter().map(|&id| FunctionRow::new(profile, id, numbers.row(id.index()))).collect();
        Ok(OneFunction {
            schema: SCHEMA,
            metrics: numbers.heads(),
            functions,
            recursive,
            callers: finish(callers),
            callees: finish(callees),
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            order,
            chosen,
        })
    }
}

fn add(rows: &mut Vec<(Option<FunctionId>, RowAmounts)>, neighbours: &[Neighbour], column: &str, unit: Unit) {
    for neighbour in neighbours {
        let position = rows.iter().position(|(id, _)| *id == neighbour.function).unwrap_or_else(|| {
            rows.push((neighbour.function, RowAmounts::new()));
            rows.len() - 1
        });
        let amount: &mut Amount = rows[position].1.entry(column);
        amount.inclusive += unit.shown(neighbour.inclusive);
        amount.exclusive += unit.shown(neighbour.exclusive);
    }
}

impl NeighbourRow {
    fn new(profile: &Profile, id: Option<FunctionId>, metrics: RowAmounts) -> NeighbourRow {
        match id {
            Some(id) => {
                let head = FunctionHead::new(profile, id);
                NeighbourRow {
                    function: head.function,
                    full_name: head.full_name,
                    handle: Some(head.handle),
                    file: head.file,
                    line: head.line,
                    module: head.module,
                    metrics,
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
        let shares = all.iter().map(|row| percent(self.order.of(row), whole)).collect();
        let others: Vec<NumberColumn> = if self.chosen.given {
            let others = given(&self.metrics, head).into_iter().skip(1);
            others.map(|head| NumberColumn::amounts(head, &title_of(head), &all, Which::Inclusive)).collect()
        } else {
            noticed(&self.chosen, &self.metrics, &all, Which::Inclusive)
        };
        let mut always = vec![inclusive, NumberColumn::percents(shares), exclusive];
        if !self.chosen.given {
            always.extend(cpu_beside(head, &self.metrics, &all, Which::Inclusive));
        }
        let fitted = if self.chosen.given {
            Fitted::all(always.into_iter().chain(others))
        } else {
            Fitted::new(always, others, NAMES, style)
        };
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let mut table = Table::new(titles.chain([("".into(), Align::Left), ("".into(), Align::Left)]));
        let mut n = 0;
        let mut line = |paint: Paint, handle: &str, name: Cell| {
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(n).into()).collect();
            cells[0] = Cell::painted(paint, fitted.columns[0].cell(n));
            cells.extend([Cell::painted(Paint::Faint, handle), name]);
            table.row(cells);
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
            let head = &row.head;
            let name = Cell::painted(Paint::Strong, format!("{}{recursive}", head.function));
            line(
                Paint::Strong,
                &head.handle,
                name.with_tail(super::place(head.file.as_deref(), head.line).unwrap_or_default()),
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
        text + &fitted.footer(&self.chosen.others, style)
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
