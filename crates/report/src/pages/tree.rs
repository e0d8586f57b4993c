//! The page `tree`: contexts from the top down.

mod outline;

use proust_profile::{ContextId, ContextKind, Profile, Unit};
use proust_query::{Amounts, Handle, Selection, hot_path};
use proust_words::{counted, verb};
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use outline::{Choice, Line};

use super::numbers::{Fitted, NumberColumn, Which, cpu_beside, given, noticed, title_of};
use super::{Cut, Page, base_name, csv_amounts, csv_heads, heading, place, scope};
use crate::choice::{Chosen, Order};
use crate::column::ColumnHead;
use crate::columns::Columns;
use crate::error::ReportError;
use crate::number::{Scale, percent};
use crate::question::{Format, Question};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;
use crate::wrap::legend;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 40;
/// Share of the total below which a context is not shown in text.
const SMALLEST: f64 = 0.005;
/// Share of the total below which a source line is not shown in text.
const SMALLEST_LINE: f64 = 0.02;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tree {
    schema: u32,
    metrics: Vec<ColumnHead>,
    contexts: Vec<ContextRow>,
    /// Contexts by id, from the top down to where the time spreads.
    #[schemars(with = "Vec<u32>")]
    hot_path: Vec<ContextId>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    order: Order,
    #[serde(skip)]
    limit: Option<usize>,
    #[serde(skip)]
    usual_rows: usize,
    #[serde(skip)]
    chosen: Chosen,
}

/// Names have at least this much room, before columns have.
const NAMES: usize = 44;

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ContextRow {
    #[schemars(with = "u32")]
    id: ContextId,
    #[schemars(with = "Option<u32>")]
    parent: Option<ContextId>,
    kind: &'static str,
    name: String,
    full_name: String,
    /// Frames and inlined calls: the place of the call. Lines: the line.
    file: Option<String>,
    line: Option<u32>,
    module: Option<String>,
    /// Handle of the function of frames and inlined calls.
    function: Option<String>,
    metrics: RowAmounts,
}

impl Tree {
    pub fn build(mut selection: Selection<'_>, question: &Question) -> Result<Tree, ReportError> {
        let profile = selection.profile();
        let root = root(profile, question.page.id(), &question.arguments)?;
        if root != ContextId(0) {
            selection = selection.under(root);
        }
        let chosen = Chosen::new(&selection, question);
        let numbers = Columns::by_context(&selection, &chosen);
        let order = Order::new(question, &chosen, true);
        let used = selection.used_contexts();
        let forest = selection.forest();
        let mut ids: Vec<ContextId> =
            if profile.contexts.is_empty() { Vec::new() } else { forest.subtree(root) };
        ids.retain(|&id| used[id.index()] || id == root);
        let mut rows: FxHashMap<ContextId, RowAmounts> =
            ids.iter().map(|&id| (id, numbers.row(id.index()))).collect();
        let mut cut = None;
        // In text rows are counted as they are read, not as they are kept.
        let limit = question.limit.filter(|&limit| question.format != Format::Text && limit < ids.len());
        if let Some(limit) = limit {
            // A parent has at least the amount of its children and is before them: the kept rows are a tree.
            let inclusive = Order { inclusive: true, ..order.clone() };
            let mut largest: Vec<(f64, ContextId)> =
                ids.iter().map(|id| (inclusive.share(&rows[id], &rows[&root]), *id)).collect();
            largest.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
            let kept: rustc_hash::FxHashSet<ContextId> = largest[..limit].iter().map(|&(_, id)| id).collect();
            let amount = largest[limit..]
                .iter()
                .filter(|&&(_, id)| profile.contexts[id].parent.is_none_or(|parent| kept.contains(&parent)))
                .map(|(_, id)| inclusive.of(&rows[id]))
                .sum();
            cut = Some(Cut { rows: ids.len() - limit, amount });
            ids.retain(|id| kept.contains(id));
        }
        // Siblings in the order asked for, children after their parent.
        let mut children: FxHashMap<ContextId, Vec<ContextId>> = FxHashMap::default();
        for &id in ids.iter().filter(|&&id| id != root) {
            children.entry(profile.contexts[id].parent.unwrap_or(root)).or_default().push(id);
        }
        for siblings in children.values_mut() {
            siblings.sort_by(|&a, &b| {
                if order.by_name {
                    return (name(profile, a), a).cmp(&(name(profile, b), b));
                }
                order.compare(&rows[&a], &rows[&b]).then(a.cmp(&b))
            });
        }
        let mut contexts = Vec::with_capacity(ids.len());
        let mut stack = if ids.is_empty() { Vec::new() } else { vec![root] };
        while let Some(id) = stack.pop() {
            let amounts = rows.remove(&id).expect("each context is met once");
            contexts.push(ContextRow::new(profile, id, id == root, amounts));
            stack.extend(children.get(&id).into_iter().flatten().rev());
        }
        let inclusive = Amounts::by_context(&selection, chosen.lead()).inclusive;
        let hot_path = if contexts.is_empty() || inclusive[root.index()] == 0 {
            Vec::new()
        } else {
            hot_path(forest, &inclusive, root, 0.5)
        };
        Ok(Tree {
            schema: SCHEMA,
            metrics: numbers.heads(),
            contexts,
            hot_path,
            cut,
            notes: Notes::of(selection.notes()),
            scope: scope(&selection, question),
            limit: question.limit,
            usual_rows: question.rows.unwrap_or(ROWS),
            chosen,
            order,
        })
    }
}

pub(super) fn root(profile: &Profile, page: &str, arguments: &[String]) -> Result<ContextId, ReportError> {
    let [argument, more @ ..] = arguments else { return Ok(ContextId(0)) };
    match Handle::parse(argument) {
        Some(Handle::Context(id)) if more.is_empty() => {
            if id.index() < profile.contexts.len() {
                return Ok(id);
            }
            Err(ReportError::UnknownHandle {
                what: "context",
                handle: argument.clone(),
                first: "c0".into(),
                last: format!("c{}", profile.contexts.len().saturating_sub(1)),
            })
        }
        _ => Err(ReportError::Usage(format!(
            "`{page}` takes one context such as c12, not `{}`; for a function use `--where function=NAME` \
             or the page `callers NAME`",
            arguments.join(" ")
        ))),
    }
}

/// A context's name as it is shown.
pub(crate) fn name(profile: &Profile, id: ContextId) -> String {
    let context = &profile.contexts[id];
    let function = context.function.map(|function| profile.functions[function].name.clone());
    match context.kind {
        ContextKind::Program => {
            profile.facts.command.first().map_or("program".into(), |c| base_name(c).to_owned())
        }
        ContextKind::Partial => "[incomplete paths]".into(),
        ContextKind::Line => place(context.file.as_deref(), context.line)
            .map_or("[no line]".into(), |place| format!("line {place}")),
        kind => function.unwrap_or_else(|| kind.id().into()),
    }
}

impl ContextRow {
    fn new(profile: &Profile, id: ContextId, is_root: bool, metrics: RowAmounts) -> ContextRow {
        let context = &profile.contexts[id];
        let function = context.function.map(|function| &profile.functions[function]);
        let name = name(profile, id);
        let calls = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
        let full_name = function.map(|f| f.full_name.clone()).filter(|name| calls && !name.is_empty());
        ContextRow {
            id,
            parent: context.parent.filter(|_| !is_root),
            kind: context.kind.id(),
            full_name: full_name.unwrap_or_else(|| name.clone()),
            name,
            file: context.file.clone(),
            line: context.line,
            module: function.and_then(|f| f.module).map(|id| profile.modules[id].path.clone()),
            function: context.function.filter(|_| calls).map(|id| Handle::Function(id).to_string()),
            metrics,
        }
    }

    fn is_call(&self) -> bool {
        self.function.is_some()
    }
}

impl Tree {
    /// The ordering measure, CPU time, and the measures that were chosen or matter beside it.
    fn columns(&self, rows: &[&RowAmounts], total: f64, style: &Style) -> Fitted {
        let head = self.metrics.iter().find(|head| head.id == self.order.column).unwrap_or(&self.metrics[0]);
        let shares = rows.iter().map(|row| percent(self.order.of(row), total)).collect();
        let amounts = NumberColumn::amounts(head, &title_of(head), rows, Which::Inclusive);
        let errors = amounts.errors(rows, Which::Inclusive);
        let always = vec![
            amounts,
            errors,
            NumberColumn::percents(shares),
            NumberColumn::amounts(head, "self", rows, Which::Exclusive),
        ];
        if self.chosen.given {
            let others = given(&self.metrics, head).into_iter().skip(1);
            let others =
                others.map(|head| NumberColumn::amounts(head, &title_of(head), rows, Which::Inclusive));
            return Fitted::all(always.into_iter().chain(others));
        }
        let mut others: Vec<NumberColumn> =
            cpu_beside(head, &self.metrics, rows, Which::Inclusive).into_iter().collect();
        others.extend(noticed(&self.chosen, &self.metrics, rows, Which::Inclusive));
        Fitted::new(always, others, NAMES, style)
    }
}

/// A part of an amount in the unit of the whole.
fn in_scale(unit: Unit, part: f64, whole: f64) -> String {
    let scale = Scale::of(unit, [whole]);
    format!("{} {}", scale.show(part), scale.unit).trim_end().to_owned()
}

impl Page for Tree {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Contexts from the top down", &self.scope);
        let Some(top) = self.contexts.first() else {
            text.push_str(" nothing here\n");
            return text;
        };
        let total = self.order.of(&top.metrics);
        let all = outline::outline(&self.contexts, &self.metrics, &self.order);
        let smallest = |share: f64| if self.limit.is_some() { 0.0 } else { share };
        let choice = Choice {
            rows: self.limit.unwrap_or(self.usual_rows),
            smallest: smallest(SMALLEST),
            smallest_line: smallest(SMALLEST_LINE),
            hot_path: &self.hot_path,
        };
        let shown = outline::choose(&all, &self.contexts, &self.order, &choice);
        let hidden = outline::hidden(&all, &shown, &self.contexts, &self.order);
        let lines: Vec<&Line> =
            all.iter().zip(&shown).filter(|(_, shown)| **shown).map(|(line, _)| line).collect();
        let rows: Vec<&RowAmounts> = lines.iter().map(|line| &line.amounts).collect();
        let fitted = self.columns(&rows, total, style);
        let titles = fitted.columns.iter().map(NumberColumn::head);
        let mut table = Table::new(titles.chain([("".into(), Align::Left), ("context".into(), Align::Left)]));
        let prefixes = outline::branches(&lines, style);
        for (n, line) in lines.iter().enumerate() {
            let row = &self.contexts[line.shown];
            let hot = self.hot_path.contains(&row.id);
            let paint = if hot { Paint::Strong } else { Paint::Plain };
            let mut cells: Vec<Cell> = fitted.columns.iter().map(|column| column.cell(n).into()).collect();
            cells.push(Cell::painted(Paint::Faint, format!("c{}", row.id)));
            let name = format!("{}{}", prefixes[n], line.name(&self.contexts, style));
            cells.push(Cell::painted(paint, name).with_tail(line.tail(&self.contexts)));
            table.row(cells);
        }
        text.push_str(&table.render(style));
        let mut faint = |line: String| text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        if hidden.rows > 0 {
            let (rows, are) = (counted(hidden.rows, "more row"), verb(hidden.rows, "is", "are"));
            faint(format!(" {rows} {are} not shown: --limit {} shows all.", all.len()));
            if let Some(most) = outline::most_hidden(&all, &shown, &self.contexts, &self.order)
                && hidden.amount > 0.0
            {
                faint(format!(
                    " The calls among them hold {} ({} %), most below c{id}: see tree c{id}.",
                    in_scale(self.order.unit, hidden.amount, total),
                    percent(hidden.amount, total),
                    id = self.contexts[all[most].shown].id
                ));
            }
        }
        if lines.iter().any(|line| line.folded > 0) {
            let folded = "Recursion is folded: the rows below a recursive function stand for all its depths \
                          together.";
            text.push_str(&legend(folded, style));
        }
        text + &fitted.footer(&self.chosen.others, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["id", "parent", "kind", "name", "file", "line", "module"];
        let mut rows = vec![csv_heads(&first, &self.metrics)];
        for row in &self.contexts {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
            let mut fields = vec![
                row.id.to_string(),
                number(row.parent.map(u32::from)),
                row.kind.into(),
                row.name.clone(),
            ];
            fields.extend([text(&row.file), number(row.line), text(&row.module)]);
            fields.extend(csv_amounts(&self.metrics, &row.metrics));
            rows.push(fields);
        }
        rows
    }
}
