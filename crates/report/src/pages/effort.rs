//! The page `effort`: work, idleness and overhead by context, as parts of the effort, and a reading of them.
//!
//! JSON: `contexts` from the top down, of functions and inlined calls only; `idleness` and `overhead` are
//! parts of the context's own effort, `reading` is the advice that follows from the `thresholds`.

use proust_findings::thresholds::{EFFORT_IDLENESS, EFFORT_OVERHEAD};
use proust_findings::{Effort, Reading, effort};
use proust_profile::{ContextId, ContextKind};
use proust_query::{Handle, Selection};
use proust_words::{counted, verb};
use schemars::JsonSchema;
use serde::Serialize;

use super::{Cut, Page, heading, place, tree};
use crate::error::ReportError;
use crate::number::{Scale, duration, exact, percent};
use crate::question::{Format, Question};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;
use crate::wrap::{legend, wrapped};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 30;
/// Share of the whole effort below which a context is not shown in text.
const SMALLEST: f64 = 0.01;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct EffortPage {
    schema: u32,
    effort_s: f64,
    work_s: f64,
    idleness_s: f64,
    overhead_s: f64,
    idleness: f64,
    overhead: f64,
    reading: &'static str,
    thresholds: Thresholds,
    contexts: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    says: Reading,
}

/// From which part of an effort on each is high.
#[derive(Debug, Serialize, JsonSchema)]
struct Thresholds {
    idleness: f64,
    overhead: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    #[schemars(with = "u32")]
    id: ContextId,
    /// The nearest context above that is shown.
    #[schemars(with = "Option<u32>")]
    parent: Option<ContextId>,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    effort_s: f64,
    work_s: f64,
    idleness_s: f64,
    overhead_s: f64,
    idleness: f64,
    overhead: f64,
    reading: &'static str,
    #[serde(skip)]
    depth: usize,
    #[serde(skip)]
    says: Reading,
}

impl EffortPage {
    pub fn build(selection: Selection<'_>, question: &Question) -> Result<EffortPage, ReportError> {
        let profile = selection.profile();
        let root = tree::root(profile, question.page.id(), &question.arguments)?;
        let selection = if root == ContextId(0) { selection } else { selection.under(root) };
        let efforts = effort(&selection);
        let whole = efforts.get(root.index()).copied().unwrap_or_default();
        let forest = selection.forest();
        let mut ids = if profile.contexts.is_empty() { Vec::new() } else { forest.subtree(root) };
        let is_call =
            |id: ContextId| matches!(profile.contexts[id].kind, ContextKind::Frame | ContextKind::Inline);
        let text = question.format == Format::Text;
        let smallest = if text && question.limit.is_none() { SMALLEST } else { 0.0 };
        ids.retain(|&id| {
            let of = efforts[id.index()].sum();
            is_call(id) && of.is_positive() && of >= whole.sum() * smallest
        });
        let by = question.order()?;
        let amount = |id: ContextId| match by.as_deref() {
            Some("caused_s") => efforts[id.index()].idleness,
            _ => efforts[id.index()].sum(),
        };
        // A context above another one is at least as large, and has the smaller number.
        ids.sort_by(|&a, &b| amount(b).cmp(&amount(a)).then(a.cmp(&b)));
        let mut cut = None;
        let limit = question.limit.or(text.then_some(ROWS));
        if let Some(limit) = limit.filter(|&limit| limit < ids.len()) {
            let hidden = ids.split_off(limit);
            // They lie inside each other: the hidden effort is not their sum.
            let amount = hidden.iter().map(|&id| efforts[id.index()].sum()).max().unwrap_or_default();
            cut = Some(Cut { rows: hidden.len(), amount: amount.as_seconds() });
        }
        let mut order = vec![usize::MAX; profile.contexts.len()];
        for (position, &id) in ids.iter().enumerate() {
            order[id.index()] = position;
        }
        let mut contexts = Vec::with_capacity(ids.len());
        let mut stack: Vec<(ContextId, Option<ContextId>, usize)> =
            if profile.contexts.is_empty() { Vec::new() } else { vec![(root, None, 0)] };
        while let Some((id, parent, depth)) = stack.pop() {
            let shown = order[id.index()] != usize::MAX;
            if shown {
                contexts.push(Row::new(profile, id, parent, depth, &efforts[id.index()]));
            }
            let (parent, depth) = if shown { (Some(id), depth + 1) } else { (parent, depth) };
            let mut children = forest.children(id).to_vec();
            // Lines lie between calls: a child that is not shown may have one below it that is.
            children.retain(|&child| efforts[child.index()].sum().is_positive());
            if by.as_deref() == Some("name") {
                children.sort_by_cached_key(|&child| std::cmp::Reverse((tree::name(profile, child), child)));
            } else {
                children.sort_by_key(|&child| std::cmp::Reverse((order[child.index()], child)));
            }
            stack.extend(children.into_iter().map(|child| (child, parent, depth)));
        }
        let says = whole.reading();
        let mut scope = format!("{} of effort", duration(whole.sum().as_seconds()));
        if !question.filter.is_empty() {
            scope = format!("{scope}, where {}", question.filter);
        }
        Ok(EffortPage {
            schema: SCHEMA,
            effort_s: whole.sum().as_seconds(),
            work_s: whole.work.as_seconds(),
            idleness_s: whole.idleness.as_seconds(),
            overhead_s: whole.overhead.as_seconds(),
            idleness: whole.idleness(),
            overhead: whole.overhead(),
            reading: says.id(),
            thresholds: Thresholds { idleness: EFFORT_IDLENESS.value, overhead: EFFORT_OVERHEAD.value },
            contexts,
            cut,
            notes: Notes::of(selection.notes()),
            scope,
            says,
        })
    }
}

impl Row {
    fn new(
        profile: &proust_profile::Profile,
        id: ContextId,
        parent: Option<ContextId>,
        depth: usize,
        effort: &Effort,
    ) -> Row {
        let context = &profile.contexts[id];
        Row {
            id,
            parent,
            name: tree::name(profile, id),
            file: context.file.clone(),
            line: context.line,
            effort_s: effort.sum().as_seconds(),
            work_s: effort.work.as_seconds(),
            idleness_s: effort.idleness.as_seconds(),
            overhead_s: effort.overhead.as_seconds(),
            idleness: effort.idleness(),
            overhead: effort.overhead(),
            reading: effort.reading().id(),
            depth,
            says: effort.reading(),
        }
    }
}

fn advice(reading: Reading) -> &'static str {
    match reading {
        Reading::Parallel => "effectively parallel",
        Reading::Coarsen => "coarsen: larger portions of work",
        Reading::Refine => "refine: more and smaller portions of work",
        Reading::Change => "change the strategy",
        Reading::Nothing => "nothing was done",
    }
}

impl Page for EffortPage {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Effort", &self.scope);
        if self.effort_s <= 0.0 {
            return text + " nothing here\n";
        }
        let percent_of = |part: f64| format!("{} %", percent(part, 1.0));
        let parts = format!(
            "work {}, idleness {} ({}), overhead {} ({}): {}",
            duration(self.work_s),
            duration(self.idleness_s),
            percent_of(self.idleness),
            duration(self.overhead_s),
            percent_of(self.overhead),
            advice(self.says)
        );
        text.push_str(&(wrapped(&parts, 1, style.width) + "\n"));
        let scale = Scale::seconds([self.effort_s]);
        let right = |title: &str| (title.to_owned(), Align::Right);
        let left = |title: &str| (title.to_owned(), Align::Left);
        let mut table = Table::new([
            (scale.title("effort"), Align::Right),
            right("%"),
            right("idle %"),
            right("overhead %"),
            left(""),
            left(""),
            left("context"),
        ]);
        for row in &self.contexts {
            let paint = if row.says == Reading::Parallel { Paint::Faint } else { Paint::Bad };
            let name = format!("{}{}", "  ".repeat(row.depth.min(20)), row.name);
            let tail = place(row.file.as_deref(), row.line).map(|place| format!("called at {place}"));
            table.row(vec![
                scale.show(row.effort_s).into(),
                percent(row.effort_s, self.effort_s).into(),
                percent(row.idleness, 1.0).into(),
                percent(row.overhead, 1.0).into(),
                Cell::painted(paint, row.reading),
                Cell::painted(Paint::Faint, Handle::Context(row.id).to_string()),
                Cell::from(name).with_tail(tail.unwrap_or_default()),
            ]);
        }
        text.push_str(&table.render_within(&["%"], style));
        if let Some(cut) = &self.cut {
            let (rows, are) = (counted(cut.rows, "more row"), verb(cut.rows, "is", "are"));
            text.push_str(&legend(&format!("{rows} {are} not shown: --limit N shows more."), style));
        }
        let explained = format!(
            "Idleness is what others lost because of this; overhead is handing out work and waking each \
             other. High is idleness from {} on and overhead from {} on. Overhead high: coarsen; idleness \
             high: refine; both: change the strategy; none: effectively parallel.",
            percent_of(self.thresholds.idleness),
            percent_of(self.thresholds.overhead)
        );
        text + &legend(&explained, style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "id",
            "parent",
            "name",
            "file",
            "line",
            "effort_s",
            "work_s",
            "idleness_s",
            "overhead_s",
            "reading",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for row in &self.contexts {
            let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
            let mut fields = vec![row.id.to_string(), number(row.parent.map(u32::from)), row.name.clone()];
            fields.extend([row.file.clone().unwrap_or_default(), number(row.line)]);
            fields.extend([row.effort_s, row.work_s, row.idleness_s, row.overhead_s].map(exact));
            fields.push(row.reading.to_owned());
            rows.push(fields);
        }
        rows
    }
}
