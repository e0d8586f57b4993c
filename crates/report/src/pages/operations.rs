//! The common parts of the pages `io` and `waits`: operations summed up by kind, and the places that call
//! them.

mod inside;
mod page;

use std::borrow::Cow;

use proust_account::ledger::{State, Wait, Work};
use proust_profile::{ContextId, Profile, Unit};
use proust_query::{Handle, OperationKey, OperationSum, OperationSums, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::facts::seconds;
use super::{Cut, heading, place, tree};
use crate::error::ReportError;
use crate::number::{Scale, bytes, duration, exact, percents, sum};
use crate::question::{Format, Question};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};

pub(super) use inside::InsideRows;
pub(super) use page::{About, OperationsPage};

/// Call sites in text when nothing else is asked for.
const SITES: usize = 15;
/// Operations in text when nothing else is asked for.
const OPERATIONS: usize = 20;

/// Calls, and their time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, JsonSchema)]
pub(super) struct Calls {
    pub calls: u64,
    pub errors: u64,
    pub bytes: u64,
    pub seconds: f64,
    /// The part without a processor, as far as the CPU clock was read: for sums of short calls it was not.
    pub off_processor_s: f64,
    pub mean_s: f64,
    /// Null where all calls were short and are known as sums only.
    pub longest_s: Option<f64>,
}

/// An operation, with the account of its time while the thread has no processor.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct OperationRow {
    pub operation: String,
    pub target: &'static str,
    pub account: Option<&'static str>,
    pub passive: Option<&'static str>,
    /// Distinct locks, descriptors, threads.
    pub objects: usize,
    #[serde(flatten)]
    pub calls: Calls,
}

/// A place that calls an operation.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct SiteRow {
    pub operation: String,
    #[schemars(with = "u32")]
    pub context: ContextId,
    pub handle: String,
    /// The function's name; where none is known, what the path begins in.
    #[serde(skip)]
    caller: String,
    pub function: Option<String>,
    /// Handle of the function.
    pub function_handle: Option<String>,
    pub file: Option<String>,
    pub line: Option<u32>,
    pub threads: usize,
    #[serde(flatten)]
    pub calls: Calls,
}

/// Both tables, and their sum.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Tables {
    pub totals: Calls,
    pub threads: usize,
    pub operations: Vec<OperationRow>,
    pub call_sites: Vec<SiteRow>,
    /// Call sites that `--limit` left out; their `amount` is in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<Cut>,
    /// By what they are sorted, if not by time.
    #[serde(skip)]
    order: Option<String>,
    /// Operations that text shows.
    #[serde(skip)]
    shown: usize,
}

impl Calls {
    fn of(sum: &OperationSum) -> Calls {
        Calls {
            calls: sum.calls,
            errors: sum.errors,
            bytes: sum.bytes,
            seconds: seconds(sum.time_ns),
            off_processor_s: seconds(sum.off_ns),
            mean_s: if sum.calls > 0 { seconds(sum.time_ns) / sum.calls as f64 } else { 0.0 },
            longest_s: sum.longest_ns.map(seconds),
        }
    }

    pub fn longest(&self) -> String {
        self.longest_s.map_or_else(|| "short".into(), duration)
    }

    pub fn fields(&self) -> Vec<String> {
        let longest = self.longest_s.map(exact).unwrap_or_default();
        let counts = [self.calls, self.errors, self.bytes].map(|number| number.to_string());
        let times = [self.seconds, self.off_processor_s, self.mean_s].map(exact);
        counts.into_iter().chain(times).chain([longest]).collect()
    }
}

/// Headings of [`Calls::fields`].
pub(super) const FIELDS: [&str; 7] =
    ["calls", "errors", "bytes", "seconds", "off_processor_s", "mean_s", "longest_s"];

impl Tables {
    /// Those of I/O, or of all that is not I/O; operations are distinguished by `line`. `kept` are the sums
    /// of all that is selected, where they are known already.
    pub fn new<K: PartialEq>(
        selection: &Selection<'_>,
        question: &Question,
        kept: Option<&OperationSums>,
        io: bool,
        line: impl Fn(&OperationKey) -> K,
    ) -> Result<Tables, ReportError> {
        let profile = selection.profile();
        let order = question.order()?;
        let sums = kept.map_or_else(|| Cow::Owned(OperationSums::of(selection)), Cow::Borrowed);
        let rows: Vec<&OperationSum> = sums.rows.iter().filter(|row| row.is_io == io).collect();
        let mut total: Option<OperationSum> = None;
        let mut by_line: Vec<(OperationSum, Vec<OperationKey>)> = Vec::new();
        let mut by_site: Vec<(OperationSum, Vec<u32>)> = Vec::new();
        let mut site_at = rustc_hash::FxHashMap::default();
        let mut threads: Vec<u32> = Vec::new();
        for &row in &rows {
            match &mut total {
                Some(total) => total.merge(row),
                None => total = Some(*row),
            }
            let key = row.key();
            match by_line.iter_mut().find(|(_, keys)| line(&keys[0]) == line(&key)) {
                Some((sum, keys)) => {
                    sum.merge(row);
                    keys.extend((!keys.contains(&key)).then_some(key));
                }
                None => by_line.push((*row, vec![key])),
            }
            let at = *site_at.entry((row.operation, row.context)).or_insert_with(|| {
                by_site.push((
                    OperationSum {
                        calls: 0,
                        errors: 0,
                        bytes: 0,
                        time_ns: 0,
                        off_ns: 0,
                        longest_ns: None,
                        ..*row
                    },
                    Vec::new(),
                ));
                by_site.len() - 1
            });
            by_site[at].0.merge(row);
            by_site[at].1.push(row.location.0);
            threads.push(row.location.0);
        }
        let name = |sum: &OperationSum| profile.operations[sum.operation].name.clone();
        let in_order = |a: &OperationSum, b: &OperationSum| {
            let first = match order.as_deref() {
                Some("name") => name(a).cmp(&name(b)),
                Some("waits" | "io_calls") => b.calls.cmp(&a.calls),
                Some("io_errors") => b.errors.cmp(&a.errors),
                Some("read_bytes" | "written_bytes") => b.bytes.cmp(&a.bytes),
                _ => std::cmp::Ordering::Equal,
            };
            first.then(b.time_ns.cmp(&a.time_ns)).then(b.calls.cmp(&a.calls)).then(a.context.cmp(&b.context))
        };
        by_line.sort_by(|a, b| in_order(&a.0, &b.0));
        by_site.sort_by(|a, b| in_order(&a.0, &b.0));
        let limit = question.limit.or((question.format == Format::Text).then_some(SITES));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < by_site.len()) {
            let hidden = by_site.split_off(limit);
            let amount = sum(hidden.iter().map(|(sum, _)| seconds(sum.time_ns)));
            cut = Some(Cut { rows: hidden.len(), amount });
        }
        let operations = by_line.into_iter().map(|(sum, keys)| {
            let (account, passive) = counts_as(sum.state);
            OperationRow {
                operation: name(&sum),
                target: sum.target.id(),
                account,
                passive,
                objects: sums.objects(keys),
                calls: Calls::of(&sum),
            }
        });
        let call_sites = by_site.into_iter().map(|(sum, mut locations)| {
            let place = Place::of(selection, profile, sum.context);
            SiteRow {
                operation: name(&sum),
                context: sum.context,
                handle: Handle::Context(sum.context).to_string(),
                caller: place.caller,
                function: place.function,
                function_handle: place.handle,
                file: place.file,
                line: place.line,
                threads: distinct(&mut locations),
                calls: Calls::of(&sum),
            }
        });
        Ok(Tables {
            totals: total.map(|total| Calls::of(&total)).unwrap_or_default(),
            threads: distinct(&mut threads),
            operations: operations.collect(),
            call_sites: call_sites.collect(),
            cut,
            order,
            shown: question.limit.unwrap_or(OPERATIONS),
        })
    }

    /// The operations that text shows, and last the sum of all others, if there are others.
    pub fn shown(&self) -> (&[OperationRow], Option<Calls>) {
        let (shown, others) = self.operations.split_at(self.shown.min(self.operations.len()));
        // A single one takes no more room than its sum.
        if others.len() < 2 {
            return (&self.operations, None);
        }
        let mut more = Calls::default();
        for row in others.iter().map(|row| &row.calls) {
            more.calls += row.calls;
            more.errors += row.errors;
            more.bytes += row.bytes;
            more.seconds += row.seconds;
            more.off_processor_s += row.off_processor_s;
            if row.longest_s > more.longest_s {
                more.longest_s = row.longest_s;
            }
        }
        more.mean_s = if more.calls > 0 { more.seconds / more.calls as f64 } else { 0.0 };
        (shown, Some(more))
    }

    /// The note about the operations that text does not show.
    pub fn more(&self, shown: usize) -> String {
        let hidden = self.operations.len() - shown;
        // Short: the column that it stands in is.
        format!("{hidden} more (--limit {})", self.operations.len())
    }

    /// How much there is, for the heading.
    pub fn scope(&self, question: &Question) -> String {
        let totals = &self.totals;
        let threads = counted(self.threads, "thread");
        let text = format!("{} in {} by {threads}", duration(totals.seconds), counted(totals.calls, "call"));
        if question.filter.is_empty() { text } else { format!("{text}, where {}", question.filter) }
    }

    /// The places with most time.
    pub fn sites_text(&self, with_bytes: bool, style: &Style) -> String {
        let order = match self.order.as_deref() {
            None | Some("wall_s") => "longest time first".to_owned(),
            Some(order) => format!("by {order}"),
        };
        let mut text = "\n".to_owned() + &heading(style, "Call sites", &format!("who calls, {order}"));
        let mut parts: Vec<f64> = self.call_sites.iter().map(|row| row.calls.seconds).collect();
        parts.extend(self.cut.iter().map(|cut| cut.amount));
        let scale = Scale::seconds([self.totals.seconds]);
        let (times, shares) =
            (scale.show_parts(&parts, self.totals.seconds), percents(&parts, self.totals.seconds));
        let mut titles = vec![(scale.title("time"), Align::Right), ("%".into(), Align::Right)];
        titles.push(("calls".into(), Align::Right));
        titles.extend(with_bytes.then(|| ("bytes".into(), Align::Right)));
        titles.push(("longest".into(), Align::Right));
        titles.extend([("".into(), Align::Left), ("operation, and who calls it".into(), Align::Left)]);
        let width = titles.len();
        let mut table = Table::new(titles);
        for (n, row) in self.call_sites.iter().enumerate() {
            let mut cells: Vec<Cell> = vec![times[n].clone().into(), shares[n].clone().into()];
            cells.push(count(row.calls.calls).into());
            cells.extend(with_bytes.then(|| Cell::from(shown_bytes(row.calls.bytes))));
            cells.push(row.calls.longest().into());
            cells.push(Cell::painted(Paint::Faint, row.handle.clone()));
            let caller = &row.caller;
            let tail = place(row.file.as_deref(), row.line).unwrap_or_default();
            let arrow = style.pick(" ← ", " <- ");
            cells.push(Cell::from(format!("{}{arrow}{caller}", row.operation)).with_tail(tail));
            table.row(cells);
        }
        let mut last = |time: String, share: String, text: String| {
            let mut cells: Vec<Cell> = vec![time.into(), share.into()];
            cells.resize(width - 1, Cell::default());
            cells.push(Cell::painted(Paint::Faint, text));
            table.row(cells);
        };
        let n = self.call_sites.len();
        if let Some(cut) = &self.cut {
            let more = format!("{} more (--limit {})", cut.rows, n + cut.rows);
            last(times[n].clone(), shares[n].clone(), more);
        }
        last(scale.show(self.totals.seconds), "100.0".into(), "sum".into());
        table.narrow(&["longest", "bytes"], NAMES, style);
        text.push_str(&table.render(style));
        text
    }
}

/// The account of an active state, or the reason of a passive one. A delay's account cannot be said of one
/// call.
fn counts_as(state: State) -> (Option<&'static str>, Option<&'static str>) {
    match state {
        State::Working(Work::Delayed) => (Some("queued"), None),
        State::Working(work) => (Some(work.account().id()), None),
        State::Waiting(wait) | State::Polling(wait) => (Some(Wait::account(wait).id()), None),
        State::Passive(reason) => (None, Some(reason.id())),
    }
}

impl OperationRow {
    /// How its time counts, in words.
    pub fn counts_as(&self) -> String {
        match (self.account, self.passive) {
            (Some(account), _) => account.to_owned(),
            (None, Some(reason)) => format!("passive {reason}"),
            (None, None) => String::new(),
        }
    }
}

struct Place {
    caller: String,
    function: Option<String>,
    handle: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

impl Place {
    /// The function that a context is in, and the line, or else where the function begins.
    fn of(selection: &Selection<'_>, profile: &Profile, id: ContextId) -> Place {
        let owner = &profile.contexts[selection.forest().exclusive_of(id)];
        let context = &profile.contexts[id];
        let function = owner.function.map(|id| (id, &profile.functions[id]));
        let is_line = context.kind == proust_profile::ContextKind::Line;
        let declared = function.map(|(_, function)| (function.file.clone(), function.line));
        let (file, line) =
            if is_line { (context.file.clone(), context.line) } else { declared.unwrap_or_default() };
        let origin = || tree::name(profile, selection.forest().exclusive_of(id));
        Place {
            caller: function.map_or_else(origin, |(_, function)| function.name.clone()),
            function: function.map(|(_, function)| function.name.clone()),
            handle: function.map(|(id, _)| Handle::Function(id).to_string()),
            file,
            line,
        }
    }
}

fn distinct(ids: &mut Vec<u32>) -> usize {
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

/// A number of calls as people read it; nothing for none.
pub(super) fn count(number: u64) -> String {
    Scale::of(Unit::COUNT, []).show(number as f64)
}

/// Bytes as people read them; nothing for none.
pub(super) fn shown_bytes(number: u64) -> String {
    if number == 0 { "-".into() } else { bytes(number) }
}
