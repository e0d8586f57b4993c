//! The page `callers`: functions with their callers; or one function with its callers and callees.

use proust_analysis::query::{BottomUp, Neighbour, Neighbours, Selection, functions_called};
use proust_analysis::words::{counted, verb};
use proust_profile::{FunctionId, Profile};
use serde::Serialize;

use super::{
    Cut, FunctionRow, NumberColumn, Order, Page, Which, columns, csv_amounts, csv_heads, heading, scope,
    title_of,
};
use crate::SCHEMA;
use crate::column::{Amount, Column, ColumnHead, Columns, Over, RowAmounts};
use crate::number::{Scale, percent, sum};
use crate::question::{Format, Question, ReportError};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Functions in text when nothing else is asked for.
const ROWS: usize = 10;
/// Longest chain of callers; direct recursion is one link.
const DEPTH: usize = 64;
/// Levels of callers in text; `callers FUNCTION` goes on from there.
const LEVELS: usize = 4;
/// Share of the total below which a caller is not shown in text.
const SMALLEST: f64 = 0.005;

/// Functions, and under each its callers.
#[derive(Debug, Serialize)]
pub(super) struct Callers {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// Roots have no parent; a node's amounts are the part of its root's that came by it.
    callers: Vec<CallerRow>,
    depth_limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    order: Order,
    #[serde(skip)]
    total: f64,
}

#[derive(Debug, Serialize)]
struct CallerRow {
    id: usize,
    parent: Option<usize>,
    recursive: bool,
    #[serde(flatten)]
    row: FunctionRow,
}

/// The statistics of a chain of callers are not computed.
fn sums_only(columns: &[Column]) -> Result<(), ReportError> {
    match columns.iter().find(|column| column.over != Over::Sum) {
        None => Ok(()),
        Some(column) => Err(ReportError::Usage(format!(
            "`callers` shows sums only, not `{}`; `flat` and `tree` show statistics over threads",
            column.id()
        ))),
    }
}

impl Callers {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Callers, ReportError> {
        let chosen = columns(selection, question);
        sums_only(&chosen)?;
        let tree = BottomUp::new(selection, DEPTH);
        let numbers = Columns::by_node(selection, &tree, &chosen);
        let order = Order::new(question, &chosen, false);
        let rows: Vec<FunctionRow> = tree
            .nodes
            .iter()
            .enumerate()
            .map(|(id, node)| FunctionRow::new(selection.profile(), node.function, numbers.row(id)))
            .collect();
        let (mut children, mut roots) = tree.children();
        let sort = |ids: &mut Vec<usize>| {
            ids.retain(|&id| numbers.any(id));
            ids.sort_by(|&a, &b| {
                let by_name = || (&rows[a].function, a).cmp(&(&rows[b].function, b));
                if order.by_name {
                    return by_name();
                }
                order.of(&rows[b].metrics).total_cmp(&order.of(&rows[a].metrics)).then_with(by_name)
            });
        };
        sort(&mut roots);
        children.iter_mut().for_each(sort);
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < roots.len()) {
            let own = Order { inclusive: false, ..order.clone() };
            let amount = sum(roots[limit..].iter().map(|&id| own.of(&rows[id].metrics)));
            cut = Some(Cut { rows: roots.len() - limit, amount });
            roots.truncate(limit);
        }
        // In the order in which they are read: each function, then its callers.
        let mut in_order = Vec::new();
        let mut stack: Vec<usize> = roots.into_iter().rev().collect();
        while let Some(id) = stack.pop() {
            in_order.push(id);
            stack.extend(children[id].iter().rev());
        }
        let mut rows: Vec<Option<FunctionRow>> = rows.into_iter().map(Some).collect();
        let callers = in_order
            .into_iter()
            .filter_map(|id| {
                let node = tree.nodes[id];
                Some(CallerRow { id, parent: node.parent, recursive: node.recursive, row: rows[id].take()? })
            })
            .collect();
        let metric = chosen.iter().find(|column| column.id() == order.column).map(|column| column.metric);
        Ok(Callers {
            schema: SCHEMA,
            metrics: numbers.heads(),
            callers,
            depth_limit: DEPTH,
            cut,
            notes: selection.notes().to_vec(),
            scope: scope(selection, question),
            total: metric.map_or(0.0, |metric| selection.total(metric)),
            order,
        })
    }
}

impl Page for Callers {
    fn text(&self, style: &Style) -> String {
        let which = if self.order.inclusive { "inclusive" } else { "exclusive" };
        let mut text = heading(
            style,
            "Functions and their callers",
            &format!("{which} {}, {}", self.order.column, self.scope),
        );
        if self.callers.is_empty() {
            text.push_str(" no samples here\n");
            return text;
        }
        let positions: std::collections::HashMap<usize, usize> =
            self.callers.iter().enumerate().map(|(position, row)| (row.id, position)).collect();
        let mut depth = vec![0usize; self.callers.len()];
        let mut shown = vec![false; self.callers.len()];
        for (n, row) in self.callers.iter().enumerate() {
            let parent = row.parent.and_then(|parent| positions.get(&parent).copied());
            depth[n] = parent.map_or(0, |parent| depth[parent] + 1);
            let amount = self.order.of(&row.row.metrics);
            shown[n] = match parent {
                None => amount != 0.0,
                Some(parent) => shown[parent] && depth[n] <= LEVELS && amount >= SMALLEST * self.total,
            };
        }
        let visible: Vec<usize> = (0..self.callers.len()).filter(|&n| shown[n]).collect();
        let amounts = visible.iter().map(|&n| self.order.of(&self.callers[n].row.metrics));
        let scale = Scale::of(self.order.unit, amounts.chain([self.total]));
        let mut table = Table::new([
            (scale.title(if self.order.inclusive { "incl" } else { "self" }), Align::Right),
            ("%".into(), Align::Right),
            ("".into(), Align::Left),
            ("function, and below it its callers".into(), Align::Left),
        ]);
        for &n in &visible {
            let row = &self.callers[n];
            let amount = self.order.of(&row.row.metrics);
            let mark = if depth[n] == 0 {
                "".to_owned()
            } else {
                "  ".repeat(depth[n] - 1) + style.pick("← ", "<- ")
            };
            let recursive = if row.recursive { " (recursive)" } else { "" };
            let mut cell = row.row.clone();
            cell.function = format!("{mark}{}{recursive}", row.row.function);
            let paint = if depth[n] == 0 { Paint::Strong } else { Paint::Plain };
            table.row(vec![
                Cell::painted(paint, scale.show(amount)),
                percent(amount, self.total).into(),
                Cell::painted(Paint::Faint, row.row.handle.clone()),
                cell.cell(),
            ]);
        }
        text.push_str(&table.render(style));
        if let Some(cut) = &self.cut {
            let line = format!(
                " {} with {} {} (--limit)\n",
                counted(cut.rows, "more function"),
                scale.show(cut.amount),
                scale.unit
            );
            text.push_str(&style.paint(Paint::Faint, &line));
        }
        let hidden = self.callers.len() - visible.len();
        if hidden > 0 {
            let line = format!(
                " {} {} not shown: below 0.5 % of the total, or more than {LEVELS} levels up\n",
                counted(hidden, "row"),
                verb(hidden, "is", "are")
            );
            text.push_str(&style.paint(Paint::Faint, &line));
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["id", "parent", "recursive", "handle", "function", "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for row in &self.callers {
            let parent = row.parent.map(|parent| parent.to_string()).unwrap_or_default();
            let mut fields = vec![row.id.to_string(), parent, row.recursive.to_string()];
            fields.extend(row.row.fields());
            fields.extend(csv_amounts(&self.metrics, &row.row.metrics));
            rows.push(fields);
        }
        rows
    }
}

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
