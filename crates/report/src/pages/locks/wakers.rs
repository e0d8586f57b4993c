//! The wakers of threads that wait for something else than locks.

use std::collections::BTreeMap;

use proust_account::blame::Blame;
use proust_profile::{ContextId, LocationId};
use proust_query::{Handle, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::super::heading;
use super::super::operations::count;
use super::super::site::Site;
use super::LINES;
use crate::number::Scale;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct Waker {
    pub(super) waiter: Site,
    pub(super) waiter_handle: String,
    /// Null where no wake was seen.
    pub(super) waker: Option<Site>,
    pub(super) waker_handle: Option<String>,
    pub(super) waits: u64,
    pub(super) seconds: f64,
}

/// All of them in scope, most first.
pub(super) fn wakers(
    selection: &Selection<'_>,
    blame: &Blame,
    in_scope: &dyn Fn(LocationId, ContextId) -> bool,
) -> Vec<Waker> {
    let mut sums: BTreeMap<(ContextId, Option<ContextId>), (u64, u64)> = BTreeMap::new();
    for row in blame.wakers.iter().filter(|row| in_scope(row.location, row.context)) {
        let sum = sums.entry((row.context, row.waker.map(|(_, context)| context))).or_default();
        (sum.0, sum.1) = (sum.0 + row.waits, sum.1 + row.ns);
    }
    let mut wakers: Vec<Waker> = (sums.into_iter())
        .map(|((waiter, waker), (waits, ns))| Waker {
            waiter: Site::of(selection, waiter),
            waiter_handle: Handle::Context(waiter).to_string(),
            waker: waker.map(|waker| Site::of(selection, waker)),
            waker_handle: waker.map(|waker| Handle::Context(waker).to_string()),
            waits,
            seconds: seconds(ns),
        })
        .collect();
    wakers.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    wakers
}

/// The table of them; nothing if there are none.
pub(super) fn text(wakers: &[Waker], style: &Style) -> String {
    if wakers.is_empty() {
        return String::new();
    }
    let scale = Scale::seconds(wakers.iter().map(|row| row.seconds));
    let mut table = Table::new([
        (scale.title("time"), Align::Right),
        ("waits".to_owned(), Align::Right),
        (String::new(), Align::Left),
        ("who waits".to_owned(), Align::Left),
        (String::new(), Align::Left),
        ("who wakes".to_owned(), Align::Left),
    ]);
    for row in wakers.iter().take(LINES) {
        let waker = row.waker.as_ref().map_or_else(|| Cell::painted(Paint::Faint, "not known"), Site::cell);
        table.row(vec![
            scale.show(row.seconds).into(),
            count(row.waits).into(),
            Cell::painted(Paint::Faint, row.waiter_handle.clone()),
            row.waiter.cell(),
            Cell::painted(Paint::Faint, row.waker_handle.clone().unwrap_or_default()),
            waker,
        ]);
    }
    let text =
        "\n".to_owned() + &heading(style, "Wakers", "who ends waits for conditions, semaphores and futexes");
    let more = wakers.len().saturating_sub(LINES);
    let rest = match more {
        0 => String::new(),
        _ => style.paint(Paint::Faint, &format!(" {} (--format json)", counted(more, "more pair"))) + "\n",
    };
    text + &table.render(style) + &rest
}
