//! The page `locks`: the locks that were waited for, their holders, and which thread waited for which; and
//! the wakers of threads that wait for something else.
//!
//! JSON: `locks` by waited time, `waits` counts those that were recorded one by one; `holders` and `waiters`
//! are functions, with the part of `waited_s` that is theirs; `hand_over_s` is the part in which the lock was
//! free, `unknown_s` that of which the holder is not known; `pairs` says which thread waited for which. A
//! lock with `kind` `unknown` is the short waits whose object was not recorded. `wakers` is outside of all
//! accounts.

mod row;
mod text;
mod wakers;

use std::borrow::Cow;
use std::collections::BTreeMap;

use proust_account::accounted::blame_within;
use proust_account::blame::{Blame, LockId};
use proust_account::ledger::{Account, Windows};
use proust_profile::{ContextId, LocationId};
use proust_query::{Doing, Handle, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use row::{LockRow, Sums, distinct, lock_row};
use wakers::{Waker, wakers};

use super::{Cut, Page, heading};
use crate::error::ReportError;
use crate::number::{duration, exact, sum};
use crate::question::{Format, Question};
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::Notes;
use crate::wrap::legend;

/// Locks in text when nothing else is asked for.
const LOCKS: usize = 20;
/// Locks of which text shows holders and waiters.
const SHOWN: usize = 3;
/// Holders, waiters, pairs and wakers in text.
const LINES: usize = 6;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Locks {
    schema: u32,
    waited_s: f64,
    waits: u64,
    hand_over_s: f64,
    unknown_s: f64,
    locks: Vec<LockRow>,
    /// What `--limit` left out; its `amount` is in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    wakers: Vec<Waker>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    only: bool,
}

impl Locks {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        kept: Option<&Blame>,
    ) -> Result<Locks, ReportError> {
        let only = match &question.arguments[..] {
            [] => None,
            [one] => Some(lock_called(one)?),
            [_, more, ..] => {
                return Err(ReportError::Usage(format!(
                    "the page `locks` takes one lock, and not also `{more}`"
                )));
            }
        };
        let blame = match kept {
            Some(kept) => Cow::Borrowed(kept),
            None => {
                let windows = question.filter.windows().unwrap_or_else(Windows::all);
                Cow::Owned(blame_within(selection.profile(), question.processors, &windows)?.1)
            }
        };
        if let Some(id) = only.filter(|&id| id as usize >= blame.locks.len()) {
            return Err(no_such_lock(id, blame.locks.len()));
        }
        let in_scope = |location: LocationId, context: ContextId| {
            selection.locations().binary_search(&location).is_ok()
                && selection.has_context(context)
                && selection.has_state(location, context, Doing::Active(Account::Lock))
        };
        let mut sums: BTreeMap<Option<LockId>, Sums> = BTreeMap::new();
        let waits = blame.rows.iter().filter(|row| row.account == Account::Lock && !row.slots);
        for row in waits.filter(|row| in_scope(row.location, row.context)) {
            if only.is_none() || row.cause.lock == only {
                sums.entry(row.cause.lock).or_default().add(row);
            }
        }
        let mut locks: Vec<LockRow> =
            sums.into_iter().map(|(id, sums)| lock_row(selection, &blame, id, sums, &in_scope)).collect();
        let order = question.order()?;
        locks.sort_by(|a, b| {
            let first = match order.as_deref() {
                Some("name") => a.site.name().cmp(b.site.name()),
                Some("waits") => b.waits.cmp(&a.waits),
                // A lock causes the time that threads waited for it.
                _ => std::cmp::Ordering::Equal,
            };
            first.then_with(|| b.waited_s.total_cmp(&a.waited_s)).then_with(|| a.handle.cmp(&b.handle))
        });
        let total = |of: fn(&LockRow) -> f64| sum(locks.iter().map(of));
        let (waited_s, hand_over_s) = (total(|row| row.waited_s), total(|row| row.hand_over_s));
        let unknown_s = total(|row| row.unknown_s);
        let waits = locks.iter().map(|row| row.waits).sum();
        let mut threads: Vec<LocationId> = (blame.lock_waits.iter())
            .filter(|row| in_scope(row.location, row.context))
            .map(|row| row.location)
            .collect();
        let by = counted(distinct(&mut threads), "thread");
        let mut scope = format!("{} in {} by {by}", duration(waited_s), counted(waits, "wait"));
        if !question.filter.is_empty() {
            scope = format!("{scope}, where {}", question.filter);
        }
        let limit = question.limit.or((question.format == Format::Text).then_some(LOCKS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < locks.len()) {
            let hidden = locks.split_off(limit);
            cut = Some(Cut { rows: hidden.len(), amount: sum(hidden.iter().map(|row| row.waited_s)) });
        }
        let wakers = if only.is_none() { wakers(selection, &blame, &in_scope) } else { Vec::new() };
        Ok(Locks {
            schema: SCHEMA,
            waited_s,
            waits,
            hand_over_s,
            unknown_s,
            locks,
            cut,
            wakers,
            notes: Notes::of(selection.notes()),
            scope,
            only: only.is_some(),
        })
    }
}

fn lock_called(text: &str) -> Result<LockId, ReportError> {
    match Handle::parse(text) {
        Some(Handle::Lock(id)) => Ok(id),
        _ => Err(ReportError::Usage(format!(
            "the page `locks` takes the handle of a lock, such as k1, and `{text}` is none; `proust report \
             locks` shows them"
        ))),
    }
}

fn no_such_lock(id: LockId, locks: usize) -> ReportError {
    let handle = Handle::Lock(id).to_string();
    match locks {
        0 => ReportError::Usage(format!("there is no lock {handle}: this run waited for none")),
        _ => ReportError::UnknownHandle {
            what: "lock",
            handle,
            first: Handle::Lock(0).to_string(),
            last: Handle::Lock(locks as LockId - 1).to_string(),
        },
    }
}

impl Page for Locks {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Locks", &self.scope);
        if self.locks.is_empty() {
            text.push_str(" nobody waited for a lock here\n");
        } else {
            text.push_str(&self.table(style));
            let explanation = "hand-over: nobody held it; not known: nobody was seen to let it go; mean \
             hold: of sections that others waited for.";
            text.push_str(&legend(explanation, style));
            for lock in self.locks.iter().take(SHOWN) {
                text.push_str(&self.details(lock, style));
            }
        }
        text.push_str(&wakers::text(&self.wakers, style));
        text + &self.notes.lines(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "handle",
            "kind",
            "objects",
            "function",
            "file",
            "line",
            "waited_s",
            "waits",
            "longest_wait_s",
            "hand_over_s",
            "unknown_s",
            "holds",
            "held_s",
            "longest_hold_s",
            "holder",
            "holder_s",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for row in &self.locks {
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            let holder = row.holders.first();
            rows.push(vec![
                text(&row.handle),
                row.kind.to_owned(),
                row.objects.to_string(),
                text(&row.site.function),
                text(&row.site.file),
                row.site.line.map(|line| line.to_string()).unwrap_or_default(),
                exact(row.waited_s),
                row.waits.to_string(),
                row.longest_wait_s.map(exact).unwrap_or_default(),
                exact(row.hand_over_s),
                exact(row.unknown_s),
                row.holds.to_string(),
                exact(row.held_s),
                exact(row.longest_hold_s),
                holder.map(|holder| holder.site.name().to_owned()).unwrap_or_default(),
                holder.map(|holder| exact(holder.seconds)).unwrap_or_default(),
            ]);
        }
        rows
    }
}
