//! The page `callers`: functions, and under each its callers.

use std::sync::Arc;

use proust_profile::FunctionId;
use proust_query::{BottomUp, Selection};
use proust_words::{counted, verb};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::numbers::{Fitted, NumberColumn, Which, cpu_beside, given, noticed, title_of};
use super::{Cut, FunctionHead, FunctionRow, Page, amount_of, csv_amounts, csv_heads, heading, scope};
use crate::choice::{Chosen, Order};
use crate::column::{Amount, ColumnHead, Over};
use crate::columns::Columns;
use crate::error::ReportError;
use crate::number::{percent, sum};
use crate::question::{Format, Question};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};
use crate::wording::Notes;

/// Functions in text when nothing else is asked for.
const ROWS: usize = 10;
/// Longest chain of callers; direct recursion is one link.
const DEPTH: usize = 64;
/// Levels of callers in text; `callers FUNCTION` shows more.
const LEVELS: usize = 4;
/// Share of the total below which a caller is not shown in text.
const SMALLEST: f64 = 0.005;

/// Functions, and under each its callers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Callers {
    schema: u32,
    metrics: Vec<ColumnHead>,
    /// Roots have no parent; a node's amounts are its root's, as far as it was called along this path.
    callers: Vec<CallerRow>,
    depth_limit: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    order: Order,
    #[serde(skip)]
    chosen: Chosen,
    #[serde(skip)]
    totals: RowAmounts,
}

#[derive(Debug, Serialize, JsonSchema)]
struct CallerRow {
    id: usize,
    parent: Option<usize>,
    recursive: bool,
    #[serde(flatten)]
    row: FunctionRow,
}

/// The statistics of a chain of callers are not computed.
pub(super) fn sums_only(chosen: &Chosen) -> Result<(), ReportError> {
    match chosen.columns.iter().find(|column| column.over != Over::Sum) {
        None => Ok(()),
        Some(column) => Err(ReportError::Usage(format!(
            "`callers` shows sums only, not `{}`; `flat` and `tree` show statistics over threads",
            column.id()
        ))),
    }
}

impl Callers {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Callers, ReportError> {
        let chosen = Chosen::new(selection, question);
        sums_only(&chosen)?;
        let order = Order::new(question, &chosen, false);
        let mut heads: FxHashMap<FunctionId, Arc<FunctionHead>> = FxHashMap::default();
        let mut head = |id: FunctionId| {
            let head = heads.entry(id);
            head.or_insert_with(|| Arc::new(FunctionHead::new(selection.profile(), id))).clone()
        };
        // Chains of callers are made of those functions only that are shown.
        let functions = BottomUp::new(selection, 1);
        let numbers = Columns::by_node(selection, &functions, &chosen);
        let mut rows = vec![None; functions.nodes.len()];
        let mut roots: Vec<usize> = (0..functions.nodes.len()).collect();
        sort(&mut roots, &functions, &numbers, &order, &mut rows, &mut head);
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < roots.len()) {
            let own = Order { inclusive: false, ..order.clone() };
            let left = roots[limit..].iter().filter_map(|&id| rows[id].as_ref());
            let amount = sum(left.map(|row| own.of(&row.metrics)));
            cut = Some(Cut { rows: roots.len() - limit, amount });
            roots.truncate(limit);
        }
        let place: FxHashMap<FunctionId, usize> =
            roots.iter().enumerate().map(|(place, &id)| (functions.nodes[id].function, place)).collect();
        let tree = BottomUp::of(selection, DEPTH, |function| place.contains_key(&function));
        let numbers = Columns::by_node(selection, &tree, &chosen);
        // Rows are large and there are many nodes: only those are made that are sorted.
        let mut rows = vec![None; tree.nodes.len()];
        let (mut children, mut roots) = tree.children();
        roots.sort_by_key(|&id| place[&tree.nodes[id].function]);
        for &id in &roots {
            let head = head(tree.nodes[id].function);
            rows[id] = Some(FunctionRow { head, metrics: numbers.row(id) });
        }
        // In the order in which they are read: each function, then its callers.
        let mut callers = Vec::new();
        let mut stack: Vec<usize> = roots.into_iter().rev().collect();
        while let Some(id) = stack.pop() {
            let mut below = std::mem::take(&mut children[id]);
            sort(&mut below, &tree, &numbers, &order, &mut rows, &mut head);
            stack.extend(below.iter().rev());
            let node = tree.nodes[id];
            let row = rows[id].take().expect("a row that was made");
            callers.push(CallerRow { id, parent: node.parent, recursive: node.recursive, row });
        }
        let mut totals = RowAmounts::new();
        for (id, measure) in chosen.sums() {
            let total = selection.shown_total(measure);
            totals.insert(id, Amount { inclusive: total, exclusive: total, ..Amount::default() });
        }
        Ok(Callers {
            schema: SCHEMA,
            metrics: numbers.heads(),
            callers,
            depth_limit: DEPTH,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(selection, question),
            totals,
            chosen,
            order,
        })
    }
}

/// Makes the rows of those nodes that have any number, and orders these.
fn sort(
    ids: &mut Vec<usize>,
    tree: &BottomUp,
    numbers: &Columns,
    order: &Order,
    rows: &mut [Option<FunctionRow>],
    head: &mut impl FnMut(FunctionId) -> Arc<FunctionHead>,
) {
    ids.retain(|&id| numbers.any(id));
    for &id in &*ids {
        rows[id] = Some(FunctionRow { head: head(tree.nodes[id].function), metrics: numbers.row(id) });
    }
    let row = |id: usize| rows[id].as_ref().expect("a row that was made");
    ids.sort_by(|&a, &b| {
        let by_name = || (&row(a).head.function, a).cmp(&(&row(b).head.function, b));
        if order.by_name {
            return by_name();
        }
        order.compare(&row(a).metrics, &row(b).metrics).then_with(by_name)
    });
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
            text.push_str(" nothing here\n");
            return text;
        }
        let positions: FxHashMap<usize, usize> =
            self.callers.iter().enumerate().map(|(position, row)| (row.id, position)).collect();
        let mut depth = vec![0usize; self.callers.len()];
        let mut shown = vec![false; self.callers.len()];
        for (n, row) in self.callers.iter().enumerate() {
            let parent = row.parent.and_then(|parent| positions.get(&parent).copied());
            depth[n] = parent.map_or(0, |parent| depth[parent] + 1);
            let share = self.order.share(&row.row.metrics, &self.totals);
            shown[n] = match parent {
                None => share > 0.0,
                Some(parent) => shown[parent] && depth[n] <= LEVELS && share >= SMALLEST,
            };
        }
        let visible: Vec<usize> = (0..self.callers.len()).filter(|&n| shown[n]).collect();
        let rows: Vec<&RowAmounts> = visible.iter().map(|&n| &self.callers[n].row.metrics).collect();
        let which = Which::of(self.order.inclusive);
        let lead = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let name = if self.order.inclusive { "incl" } else { "self" };
        let total = self.order.of(&self.totals);
        let shares = rows.iter().map(|row| percent(self.order.of(row), total)).collect();
        let mut always =
            vec![NumberColumn::amounts(lead, name, &rows, which), NumberColumn::percents(shares)];
        if !self.chosen.given {
            always.extend(cpu_beside(lead, &self.metrics, &rows, which));
        }
        let others: Vec<NumberColumn> = if self.chosen.given {
            let others = given(&self.metrics, lead).into_iter().skip(1);
            others.map(|head| NumberColumn::amounts(head, &title_of(head), &rows, which)).collect()
        } else {
            noticed(&self.chosen, &self.metrics, &rows, which)
        };
        let fitted = if self.chosen.given {
            Fitted::all(always.into_iter().chain(others))
        } else {
            Fitted::new(always, others, NAMES, style)
        };
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let names = [("".into(), Align::Left), ("function, and below it its callers".into(), Align::Left)];
        let mut table = Table::new(titles.chain(names));
        for (line, &n) in visible.iter().enumerate() {
            let row = &self.callers[n];
            let mark = if depth[n] == 0 {
                "".to_owned()
            } else {
                "  ".repeat(depth[n] - 1) + style.pick("← ", "<- ")
            };
            let recursive = if row.recursive { " (recursive)" } else { "" };
            let head = &row.row.head;
            let name = head.cell_named(format!("{mark}{}{recursive}", head.function));
            let paint = if depth[n] == 0 { Paint::Strong } else { Paint::Plain };
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(line).into()).collect();
            cells[0] = Cell::painted(paint, fitted.columns[0].cell(line));
            cells.extend([Cell::painted(Paint::Faint, head.handle.clone()), name]);
            table.row(cells);
        }
        text.push_str(&table.render(style));
        if let Some(cut) = &self.cut {
            let line = format!(
                " {} with {} (--limit)\n",
                counted(cut.rows, "more function"),
                amount_of(lead.unit, cut.amount)
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
        text + &fitted.footer(&self.chosen.others, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["id", "parent", "recursive", "handle", "function", "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for row in &self.callers {
            let parent = row.parent.map(|parent| parent.to_string()).unwrap_or_default();
            let mut fields = vec![row.id.to_string(), parent, row.recursive.to_string()];
            fields.extend(row.row.head.fields());
            fields.extend(csv_amounts(&self.metrics, &row.row.metrics));
            rows.push(fields);
        }
        rows
    }
}
