//! What is inside operations: calls that a library made in its own, or a signal handler while its thread
//! waited. Their time is part of the outer one's.

use proust_profile::{ContextId, OperationInfo};
use proust_query::{Handle, InsideSum, Selection, inside};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Place, count, shown_bytes};
use crate::number::duration;
use crate::pages::facts::seconds;
use crate::pages::{heading, place};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Lines in text.
const LINES: usize = 12;

/// The operations inside others that a page is about.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(transparent)]
pub(in crate::pages) struct InsideRows(Vec<InsideRow>);

/// The calls of an operation inside those of another one.
#[derive(Debug, Serialize, JsonSchema)]
struct InsideRow {
    /// The outer one.
    operation: String,
    /// The inner one.
    inside: String,
    /// The caller of the outer one.
    #[schemars(with = "u32")]
    context: ContextId,
    handle: String,
    #[serde(skip)]
    caller: String,
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
    calls: u64,
    errors: u64,
    bytes: u64,
    seconds: f64,
    longest_s: f64,
}

impl InsideRow {
    fn new(selection: &Selection<'_>, sum: &InsideSum) -> InsideRow {
        let profile = selection.profile();
        let place = Place::of(selection, profile, sum.context);
        InsideRow {
            operation: profile.operations[sum.outer].name.clone(),
            inside: profile.operations[sum.operation].name.clone(),
            context: sum.context,
            handle: Handle::Context(sum.context).to_string(),
            caller: place.caller,
            function: place.function,
            file: place.file,
            line: place.line,
            calls: sum.calls,
            errors: sum.errors,
            bytes: sum.bytes,
            seconds: seconds(sum.time_ns),
            longest_s: seconds(sum.longest_ns),
        }
    }
}

impl InsideRows {
    /// Those inside outer operations that `is_about`.
    pub fn of(selection: &Selection<'_>, is_about: impl Fn(&OperationInfo) -> bool) -> InsideRows {
        let of_page = |sum: &InsideSum| is_about(&selection.profile().operations[sum.outer]);
        let sums = inside(selection);
        InsideRows(sums.iter().filter(|sum| of_page(sum)).map(|sum| InsideRow::new(selection, sum)).collect())
    }

    /// The section; nothing where there is none.
    pub fn text(&self, style: &Style) -> String {
        let rows = &self.0;
        if rows.is_empty() {
            return String::new();
        }
        let explanation = "what these calls called themselves; the time is part of theirs";
        let mut text = "\n".to_owned() + &heading(style, "Inside", explanation);
        let right = ["time", "calls", "bytes", "longest"].map(|title| (title.to_owned(), Align::Right));
        let left = ["", "calls of", "inside"].map(|title| (title.to_owned(), Align::Left));
        let mut table = Table::new(right.into_iter().chain(left));
        let shown = &rows[..rows.len().min(LINES)];
        for row in shown {
            let tail = place(row.file.as_deref(), row.line).unwrap_or_default();
            let arrow = style.pick(" ← ", " <- ");
            table.row(vec![
                duration(row.seconds).into(),
                count(row.calls).into(),
                shown_bytes(row.bytes).into(),
                duration(row.longest_s).into(),
                Cell::painted(Paint::Faint, row.handle.clone()),
                row.inside.clone().into(),
                Cell::from(format!("{}{arrow}{}", row.operation, row.caller)).with_tail(tail),
            ]);
        }
        text.push_str(&table.render_within(&["longest", "bytes"], style));
        if rows.len() > shown.len() {
            let hidden = counted(rows.len() - shown.len(), "line");
            text.push_str(&format!(" {hidden} not shown: --format json has all.\n"));
        }
        text
    }
}
