//! Pages of several sides: each is compared with A, and the tables of these comparisons become one.
//!
//! In JSON the comparisons stand side by side, each as that of two sides would be written. CSV has their rows
//! one after the other, and first the letter of the side. Text has A once, and for each side its amount, its
//! ratio to A and the verdict.

use proust_compare::JointId;
use proust_profile::Unit;
use proust_words::counted;
use rustc_hash::FxHashMap;
use schemars::{Schema, SchemaGenerator, json_schema};
use serde::Serialize;

use super::change::{ChangeRow, ratio_text};
use super::head::{Head, unchanged_text};
use super::outline::{Place, indented, largest};
use super::{DiffQuestion, Sided};
use crate::number::Scale;
use crate::pages::heading;
use crate::question::Format;
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::{csv, json};

/// How the rows of a table are ordered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Order {
    /// As they are.
    Own,
    /// The largest difference of any side first.
    Difference,
    /// Each below its caller.
    Tree,
}

/// A table of a comparison.
pub(super) struct Section<'p> {
    pub title: String,
    pub explanation: String,
    pub unit: Unit,
    pub rows: Vec<SideRow<'p>>,
    pub order: Order,
    /// Rows of text when nothing else is asked for.
    pub limit: usize,
}

/// A row that all comparisons with the same A may have.
pub(super) struct SideRow<'p> {
    /// What makes it the same row.
    pub key: String,
    /// Of contexts: itself, and what is above it.
    pub node: Option<(JointId, Option<JointId>)>,
    pub name: String,
    pub tail: String,
    /// Whether A has it, and the other side.
    pub presence: (bool, bool),
    pub change: Option<&'p ChangeRow>,
    /// Whether it is a part of one, and not in the table's unit.
    pub is_part: bool,
}

impl<'p> Section<'p> {
    pub fn new(
        title: impl Into<String>,
        explanation: impl Into<String>,
        unit: Unit,
        rows: Vec<SideRow<'p>>,
    ) -> Section<'p> {
        let (title, explanation) = (title.into(), explanation.into());
        Section { title, explanation, unit, rows, order: Order::Own, limit: usize::MAX }
    }
}

impl<'p> SideRow<'p> {
    pub fn new(name: &str, change: Option<&'p ChangeRow>) -> SideRow<'p> {
        let (key, name) = (name.to_owned(), name.to_owned());
        SideRow { key, node: None, name, tail: String::new(), presence: (true, true), change, is_part: false }
    }
}

#[derive(Serialize)]
struct Several<'p, P> {
    schema: u32,
    comparisons: Vec<Compared<'p, P>>,
}

#[derive(Serialize)]
struct Compared<'p, P> {
    side: char,
    name: &'p str,
    #[serde(flatten)]
    page: &'p P,
}

/// What is written as JSON of several comparisons.
pub(super) fn schema<P: Sided>(generator: &mut SchemaGenerator) -> Schema {
    let page = generator.subschema_for::<P>();
    json_schema!({
        "type": "object",
        "required": ["schema", "comparisons"],
        "properties": {
            "schema": { "const": SCHEMA },
            "comparisons": { "type": "array", "items": {
                "allOf": [page],
                "required": ["side", "name"],
                "properties": { "side": { "type": "string" }, "name": { "type": "string" } }
            } }
        }
    })
}

/// Writes the same page of several comparisons.
pub(super) fn write<P: Sided>(pages: &[P], question: &DiffQuestion, style: &Style) -> String {
    match question.format {
        Format::Text => style.plain(text(pages, question, style)),
        Format::Json => {
            let compared = |page| {
                let head = P::head(page);
                Compared { side: head.letter, name: head.name(), page }
            };
            json::write(&Several { schema: SCHEMA, comparisons: pages.iter().map(compared).collect() })
        }
        Format::Csv => {
            let mut all = Vec::new();
            for page in pages {
                let side = page.head().letter.to_string();
                for (n, row) in page.rows().into_iter().enumerate() {
                    let first = if n == 0 { "side".to_owned() } else { side.clone() };
                    if n > 0 || all.is_empty() {
                        all.push([first].into_iter().chain(row).collect());
                    }
                }
            }
            csv::write(all)
        }
    }
}

fn text<P: Sided>(pages: &[P], question: &DiffQuestion, style: &Style) -> String {
    let heads: Vec<&Head> = pages.iter().map(Sided::head).collect();
    let letters: Vec<char> = heads.iter().map(|head| head.letter).collect();
    let mut text = Head::text_of(&heads, style);
    let mut by_page: Vec<Vec<Section<'_>>> = pages.iter().map(Sided::sections).collect();
    let count = by_page.iter().map(Vec::len).max().unwrap_or(0);
    for at in 0..count {
        let of_pages: Vec<Section<'_>> = by_page
            .iter_mut()
            .filter(|sections| at < sections.len())
            .map(|sections| {
                std::mem::replace(&mut sections[at], Section::new("", "", Unit::SECONDS, Vec::new()))
            })
            .collect();
        text.push_str(&table(of_pages, &letters, question.limit, style));
        text.push('\n');
    }
    text + &Head::notes_of(&heads, style)
}

/// A row with what each side has of it.
struct Joined<'p> {
    row: SideRow<'p>,
    changes: Vec<Option<&'p ChangeRow>>,
    /// Whether A has it, and each side.
    has: Vec<bool>,
}

impl Joined<'_> {
    fn before(&self) -> f64 {
        self.changes.iter().flatten().map(|change| change.a).fold(0.0, f64::max)
    }

    fn delta(&self) -> f64 {
        self.changes.iter().flatten().map(|change| change.delta.abs()).fold(0.0, f64::max)
    }

    fn amount(&self) -> f64 {
        self.changes.iter().flatten().map(|change| change.a.max(change.b)).fold(0.0, f64::max)
    }

    /// Which sides have it, where not all do.
    fn missing(&self, letters: &[char]) -> Option<String> {
        if self.has.iter().all(|has| *has) {
            return None;
        }
        let all = ['A'].into_iter().chain(letters.iter().copied());
        let having: Vec<String> =
            all.zip(&self.has).filter(|(_, has)| **has).map(|(letter, _)| letter.to_string()).collect();
        Some(format!("[only in {}]", having.join(", ")))
    }
}

/// The rows of all comparisons, in the order in which they are met first.
fn joined(sections: Vec<Section<'_>>) -> Vec<Joined<'_>> {
    let sides = sections.len();
    let mut rows: Vec<Joined<'_>> = Vec::new();
    let mut known: FxHashMap<String, usize> = FxHashMap::default();
    for (side, section) in sections.into_iter().enumerate() {
        for row in section.rows {
            let at = *known.entry(row.key.clone()).or_insert(rows.len());
            let (presence, change) = (row.presence, row.change);
            if at == rows.len() {
                rows.push(Joined { row, changes: vec![None; sides], has: vec![false; sides + 1] });
            }
            let joined = &mut rows[at];
            joined.changes[side] = change;
            joined.has[0] |= presence.0;
            joined.has[side + 1] = presence.1;
        }
    }
    rows
}

fn table(mut sections: Vec<Section<'_>>, letters: &[char], limit: Option<usize>, style: &Style) -> String {
    let Some(first) = sections.first_mut() else { return String::new() };
    let (title, explanation) = (std::mem::take(&mut first.title), std::mem::take(&mut first.explanation));
    let (unit, order) = (first.unit, first.order);
    let limit = limit.unwrap_or(first.limit);
    let text = heading(style, &title, &explanation);
    let mut rows = joined(sections);
    rows.retain(|row| row.row.node.is_some() || row.amount() > 0.0);
    if rows.is_empty() {
        return text + " none on any side\n";
    }
    let all = rows.len();
    let mut depths: Vec<usize> = Vec::new();
    match order {
        Order::Own => {}
        Order::Difference => {
            rows.sort_by(|x, y| (y.delta().total_cmp(&x.delta())).then(y.amount().total_cmp(&x.amount())));
        }
        Order::Tree => {
            let places: Vec<Place> = (rows.iter())
                .filter_map(|row| {
                    let (id, parent) = row.row.node?;
                    Some(Place { id, parent, delta: row.delta(), amount: row.amount() })
                })
                .collect();
            let mut taken: Vec<Option<Joined<'_>>> = rows.into_iter().map(Some).collect();
            let shown = largest(&places, limit);
            depths = shown.iter().map(|&(_, depth)| depth).collect();
            rows = shown.into_iter().filter_map(|(at, _)| taken[at].take()).collect();
        }
    }
    rows.truncate(limit);
    let in_unit = || rows.iter().filter(|row| !row.row.is_part);
    let scale = Scale::of(unit, in_unit().map(Joined::amount));
    let parts = Scale::seconds([1.0]);
    let mut heads = vec![(scale.title("A"), Align::Right)];
    for letter in letters {
        heads.push((scale.title(&letter.to_string()), Align::Right));
        heads.push((format!("{letter}/A"), Align::Right));
        heads.push((String::new(), Align::Left));
    }
    heads.push((String::new(), Align::Left));
    let mut table = Table::new(heads);
    for (n, row) in rows.iter().enumerate() {
        let scale = if row.row.is_part { &parts } else { &scale };
        let mut line: Vec<Cell> = vec![scale.show(row.before()).into()];
        for change in &row.changes {
            let Some(change) = change else {
                line.extend(["-".into(), "-".into(), Cell::default()]);
                continue;
            };
            let paint = if change.is_significant() { Paint::Strong } else { Paint::Faint };
            line.extend([
                Cell::painted(paint, scale.show(change.b)),
                ratio_text(change).into(),
                Cell::painted(paint, change.verdict),
            ]);
        }
        let tail =
            row.missing(letters).into_iter().chain([row.row.tail.clone()]).collect::<Vec<_>>().join(" ");
        let name = indented(depths.get(n).copied().unwrap_or(0), &row.row.name);
        line.push(Cell::from(name).with_tail(tail.trim().to_owned()));
        table.row(line);
    }
    let mut text = text + &table.render(style);
    if rows.len() < all {
        let line = format!(
            " {} of {} shown: those with the largest amounts and differences (--limit {all})\n",
            rows.len(),
            counted(all, "row")
        );
        text.push_str(&style.paint(Paint::Faint, &line));
    }
    text + &unchanged_text(rows.iter().flat_map(|row| row.changes.iter().copied().flatten()), style)
}
