//! The page `tree` of a comparison: contexts of both sides, from the top down.

use proust_compare::{Diff, JointId, Label};
use proust_profile::ContextKind;
use proust_query::Handle;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::change::{Both, ChangeRow, Changes, cells, scale, titles};
use super::flat::{MetricHead, missing};
use super::head::{Head, unchanged_text};
use super::outline::{Place, indented, largest};
use super::several::{Order, Section, SideRow};
use super::{DiffQuestion, Page, Sided, quantities};
use crate::error::ReportError;
use crate::pages::{heading, place};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 40;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tree {
    schema: u32,
    #[serde(flatten)]
    head: Head,
    metrics: Vec<MetricHead>,
    contexts: Vec<ContextRow>,
    #[serde(skip)]
    limit: usize,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
struct ContextRow {
    id: JointId,
    parent: Option<JointId>,
    kind: &'static str,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    /// Handle in the last run of A; null where A has no such place.
    a: Option<String>,
    /// Handle in the last run of B.
    b: Option<String>,
    metrics: Changes,
}

/// What a place is called.
pub(super) fn name(label: &Label<'_>, program: &str) -> String {
    match label.kind {
        ContextKind::Program => program.to_owned(),
        ContextKind::Partial => "[incomplete paths]".into(),
        ContextKind::Line => {
            place(label.file, label.line).map_or("[no line]".into(), |place| format!("line {place}"))
        }
        kind if label.name.is_empty() => kind.id().into(),
        _ => label.name.to_owned(),
    }
}

impl Tree {
    pub fn build(diff: &Diff<'_>, question: &DiffQuestion) -> Result<Tree, ReportError> {
        question.no_arguments()?;
        let quantities = quantities(diff, question);
        let joint = diff.joint();
        let command = diff.b()[0].facts.command.first().map_or("program", String::as_str);
        let program = crate::pages::base_name(command).to_owned();
        let mut contexts: Vec<ContextRow> = (0..joint.len() as JointId)
            .map(|node| {
                let label = joint.label(node);
                let [a, b] = diff.contexts_of(node).map(|id| id.map(|id| Handle::Context(id).to_string()));
                ContextRow {
                    id: node,
                    parent: joint.parent(node),
                    kind: label.kind.id(),
                    name: name(&label, &program),
                    file: label.file.map(str::to_owned),
                    line: label.line,
                    a,
                    b,
                    metrics: Changes::new(),
                }
            })
            .collect();
        for quantity in &quantities {
            for (row, change) in contexts.iter_mut().zip(diff.contexts(quantity.clone())) {
                let both = Both::from(change);
                if both.is_any() {
                    row.metrics.insert(quantity.id(), both);
                }
            }
        }
        contexts.retain(|row| row.parent.is_none() || !row.metrics.is_empty());
        Ok(Tree {
            schema: SCHEMA,
            head: Head::new(diff, question),
            metrics: MetricHead::all(&quantities),
            contexts,
            limit: question.limit.unwrap_or(ROWS),
        })
    }

    /// Positions of the rows that text shows, each after its parent, with its depth, and of how many. Lines
    /// are part of their functions.
    fn shown(&self) -> (Vec<(usize, usize)>, usize) {
        let lead = &self.metrics[0].id;
        let calls: Vec<usize> = (0..self.contexts.len()).filter(|&at| self.contexts[at].is_call()).collect();
        let weight = |at: usize| {
            let change = self.contexts[at].metrics.get(lead).map(|both| &both.inclusive);
            change.map_or((0.0, 0.0), ChangeRow::size)
        };
        let places: Vec<Place> = calls
            .iter()
            .map(|&at| {
                let (delta, amount) = weight(at);
                Place { id: self.contexts[at].id, parent: self.contexts[at].parent, delta, amount }
            })
            .collect();
        let shown = largest(&places, self.limit).into_iter().map(|(n, depth)| (calls[n], depth)).collect();
        (shown, calls.len())
    }
}

impl ContextRow {
    /// Whether it is no line of a function.
    fn is_call(&self) -> bool {
        !matches!(self.kind, "line" | "loop")
    }

    /// Its name, and where it is.
    fn tail(&self) -> Option<String> {
        let place =
            place(self.file.as_deref(), self.line).filter(|_| matches!(self.kind, "frame" | "inline"));
        place.map(|place| format!("called at {place}"))
    }
}

impl Sided for Tree {
    fn head(&self) -> &Head {
        &self.head
    }

    fn sections(&self) -> Vec<Section<'_>> {
        let lead = &self.metrics[0];
        let rows = self.contexts.iter().filter(|row| row.is_call()).map(|row| SideRow {
            key: row.id.to_string(),
            node: Some((row.id, row.parent)),
            tail: row.tail().unwrap_or_default(),
            presence: (row.a.is_some(), row.b.is_some()),
            ..SideRow::new(&row.name, row.metrics.get(&lead.id).map(|both| &both.inclusive))
        });
        let explanation = format!("{} with all that is called", lead.name());
        let rows = rows.collect();
        vec![Section {
            order: Order::Tree,
            limit: ROWS,
            ..Section::new("Contexts", explanation, lead.unit, rows)
        }]
    }
}

impl Page for Tree {
    fn text(&self, style: &Style) -> String {
        let lead = &self.metrics[0];
        let explanation = format!("{} with all that is called", lead.name());
        let mut text = self.head.text(style) + &heading(style, "Contexts", &explanation);
        let (order, all) = self.shown();
        let nothing = ChangeRow::from(proust_statistics::Change::default());
        let change =
            |at: usize| self.contexts[at].metrics.get(&lead.id).map_or(&nothing, |both| &both.inclusive);
        let scale = scale(lead.unit, order.iter().map(|&(at, _)| change(at)));
        let mut table = Table::new(titles(&scale).into_iter().chain([("context".into(), Align::Left)]));
        for &(at, depth) in &order {
            let row = &self.contexts[at];
            let mut tail = Vec::new();
            tail.extend(missing(row.a.is_some(), row.b.is_some()).map(|word| format!("[{word}]")));
            tail.extend(row.tail());
            let mut line = cells(change(at), &scale).to_vec();
            line.push(Cell::from(indented(depth, &row.name)).with_tail(tail.join(" ")));
            table.row(line);
        }
        text.push_str(&table.render(style));
        if order.len() < all {
            let line = format!(
                " {} of {} shown: those with the largest amounts and differences (--limit {all})",
                order.len(),
                counted(all, "context")
            );
            text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        }
        text.push_str(&unchanged_text(order.iter().map(|&(at, _)| change(at)), style));
        text + &self.head.notes(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = ["id", "parent", "kind", "name", "file", "line", "a", "b"];
        let mut heads: Vec<String> = first.iter().map(|&head| head.to_owned()).collect();
        for head in &self.metrics {
            heads.extend(ChangeRow::heads(&format!("{} inclusive", head.id)));
            heads.extend(ChangeRow::heads(&format!("{} exclusive", head.id)));
        }
        let nothing = ChangeRow::from(proust_statistics::Change::default());
        let row = |row: &ContextRow| {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let number = |number: Option<u32>| number.map(|number| number.to_string()).unwrap_or_default();
            let mut fields =
                vec![row.id.to_string(), number(row.parent), row.kind.to_owned(), row.name.clone()];
            fields.extend([text(&row.file), number(row.line), text(&row.a), text(&row.b)]);
            for head in &self.metrics {
                let both = row.metrics.get(&head.id);
                fields.extend(both.map_or(&nothing, |both| &both.inclusive).fields());
                fields.extend(both.map_or(&nothing, |both| &both.exclusive).fields());
            }
            fields
        };
        [heads].into_iter().chain(self.contexts.iter().map(row)).collect()
    }
}
