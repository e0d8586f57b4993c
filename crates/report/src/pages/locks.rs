//! The page `locks`: the locks that were waited for, who held them and who waited for whom; and who wakes the threads
//! that wait for something else.
//!
//! JSON: `locks` by waited time, `waits` counts those that were told alone; `holders` and `waiters` are functions, with
//! the part of `waited_s` that is theirs; `hand_over_s` is the part in which nobody held the lock, `unknown_s` that of
//! which the holder is not known; `pairs` says which thread waited for which. A lock with `kind` `unknown` stands for short
//! waits of which it is not told for what. `wakers` is outside of all accounts.

use std::collections::BTreeMap;

use proust_analysis::blame::{Blame, BlameRow, CauseKind, LockId};
use proust_analysis::ledger::{Account, Windows};
use proust_analysis::query::{Handle, Selection};
use proust_analysis::timelines::blame_within;
use proust_analysis::words::counted;
use proust_profile::{ContextId, ContextKind, LocationId};
use serde::Serialize;

use super::facts::seconds;
use super::operations::count;
use super::{Cut, Page, heading, place};
use crate::SCHEMA;
use crate::number::{Scale, duration, exact, percents, sum};
use crate::question::{Format, Question, ReportError};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Locks in text when nothing else is asked for.
const LOCKS: usize = 20;
/// Locks of which text shows holders and waiters.
const SHOWN: usize = 3;
/// Holders, waiters, pairs and wakers in text.
const LINES: usize = 6;

#[derive(Debug, Serialize)]
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
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    only: bool,
}

#[derive(Clone, Debug, Default, Serialize)]
struct LockRow {
    handle: Option<String>,
    kind: &'static str,
    /// How many locks these are, of one kind and first waited for at one place.
    objects: u64,
    /// Address of the first of them.
    object: Option<String>,
    process: Option<u32>,
    /// Where it was first waited for.
    #[serde(flatten)]
    site: Site,
    waited_s: f64,
    waits: u64,
    longest_wait_s: Option<f64>,
    hand_over_s: f64,
    unknown_s: f64,
    /// Sections that ended while others waited: how many, how long.
    holds: u64,
    held_s: f64,
    longest_hold_s: f64,
    holders: Vec<Holder>,
    waiters: Vec<Waiter>,
    pairs: Vec<Pair>,
}

/// A place in the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
struct Site {
    function: Option<String>,
    file: Option<String>,
    line: Option<u32>,
}

#[derive(Clone, Debug, Serialize)]
struct Holder {
    #[serde(flatten)]
    site: Site,
    /// Of the call path that let it go.
    handle: String,
    /// Where it was acquired, as far as that is known.
    acquired: Option<Site>,
    threads: usize,
    seconds: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Waiter {
    #[serde(flatten)]
    site: Site,
    handle: String,
    threads: usize,
    waits: u64,
    seconds: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Pair {
    waiter: Thread,
    holder: Thread,
    seconds: f64,
}

#[derive(Clone, Debug, Serialize)]
struct Thread {
    handle: String,
    thread: u32,
    name: String,
}

#[derive(Clone, Debug, Serialize)]
struct Waker {
    waiter: Site,
    waiter_handle: String,
    /// Null where nobody was seen to wake.
    waker: Option<Site>,
    waker_handle: Option<String>,
    waits: u64,
    seconds: f64,
}

/// Sums of one lock.
#[derive(Default)]
struct Sums {
    all_ns: u64,
    hand_over_ns: u64,
    unknown_ns: u64,
    holders: BTreeMap<(ContextId, Option<ContextId>), (u64, Vec<LocationId>)>,
    waiters: BTreeMap<ContextId, (u64, Vec<LocationId>)>,
    pairs: BTreeMap<(LocationId, LocationId), u64>,
}

impl Sums {
    fn add(&mut self, row: &BlameRow) {
        self.all_ns += row.ns;
        match row.cause.kind {
            CauseKind::HandOver => self.hand_over_ns += row.ns,
            CauseKind::Holder => {
                let holder = self.holders.entry((row.cause.context, row.cause.site)).or_default();
                holder.0 += row.ns;
                holder.1.push(row.cause.location);
                *self.pairs.entry((row.location, row.cause.location)).or_default() += row.ns;
            }
            CauseKind::Late | CauseKind::Unknown => self.unknown_ns += row.ns,
        }
        let waiter = self.waiters.entry(row.context).or_default();
        waiter.0 += row.ns;
        waiter.1.push(row.location);
    }
}

impl Locks {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Locks, ReportError> {
        let only = match &question.arguments[..] {
            [] => None,
            [one] => Some(lock_called(one)?),
            [_, more, ..] => {
                return Err(ReportError::Usage(format!(
                    "the page `locks` takes one lock, and not also `{more}`"
                )));
            }
        };
        let windows = question.filter.windows().unwrap_or_else(Windows::all);
        let (_, blame) = blame_within(selection.profile(), question.processors, &windows)?;
        if let Some(id) = only.filter(|&id| id as usize >= blame.locks.len()) {
            return Err(no_such_lock(id, blame.locks.len()));
        }
        let in_scope = |location: LocationId, context: ContextId| {
            selection.locations().binary_search(&location).is_ok() && selection.has_context(context)
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
        locks.sort_by(|a, b| b.waited_s.total_cmp(&a.waited_s).then_with(|| a.handle.cmp(&b.handle)));
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
            notes: selection.notes().to_vec(),
            scope,
            only: only.is_some(),
        })
    }
}

fn lock_called(text: &str) -> Result<LockId, ReportError> {
    match Handle::parse(text) {
        Some(Handle::Lock(id)) => Ok(id),
        _ => Err(ReportError::Usage(format!(
            "the page `locks` takes the handle of a lock, such as k1, and `{text}` is none; `proust report locks` \
             shows them"
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

fn lock_row(
    selection: &Selection<'_>,
    blame: &Blame,
    id: Option<LockId>,
    sums: Sums,
    in_scope: &dyn Fn(LocationId, ContextId) -> bool,
) -> LockRow {
    let profile = selection.profile();
    let waits = || {
        let own = blame.lock_waits.iter().filter(|row| Some(row.lock) == id);
        own.filter(|row| in_scope(row.location, row.context))
    };
    let mut row = LockRow {
        kind: "unknown",
        waited_s: seconds(sums.all_ns),
        waits: waits().map(|row| row.waits).sum(),
        longest_wait_s: waits().map(|row| row.longest_ns).max().map(seconds),
        hand_over_s: seconds(sums.hand_over_ns),
        unknown_s: seconds(sums.unknown_ns),
        ..LockRow::default()
    };
    if let Some(lock) = id.and_then(|id| blame.locks.get(id as usize)) {
        row.handle = id.map(|id| Handle::Lock(id).to_string());
        row.kind = lock.kind.id();
        row.objects = lock.objects;
        row.object = Some(format!("{:#x}", lock.object));
        row.process = Some(profile.processes[lock.process as usize].pid);
        row.site = Site::of(selection, lock.site);
        row.holds = lock.holds;
        (row.held_s, row.longest_hold_s) = (seconds(lock.held_ns), seconds(lock.longest_hold_ns));
    }
    let thread = |id: LocationId| {
        let location = &profile.locations[id as usize];
        let handle = Handle::Location(id).to_string();
        Thread { handle, thread: location.tid, name: location.name.clone() }
    };
    row.holders = (sums.holders.into_iter())
        .map(|((context, acquired), (ns, mut locations))| Holder {
            site: Site::of(selection, context),
            handle: Handle::Context(context).to_string(),
            acquired: acquired.map(|site| Site::of(selection, site)),
            threads: distinct(&mut locations),
            seconds: seconds(ns),
        })
        .collect();
    row.waiters = (sums.waiters.into_iter())
        .map(|(context, (ns, mut locations))| Waiter {
            site: Site::of(selection, context),
            handle: Handle::Context(context).to_string(),
            threads: distinct(&mut locations),
            waits: waits().filter(|row| row.context == context).map(|row| row.waits).sum(),
            seconds: seconds(ns),
        })
        .collect();
    row.pairs = (sums.pairs.into_iter())
        .map(|((waiter, holder), ns)| Pair {
            waiter: thread(waiter),
            holder: thread(holder),
            seconds: seconds(ns),
        })
        .collect();
    row.holders.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    row.waiters.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    row.pairs.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    row
}

fn wakers(
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

impl Site {
    /// The innermost function of a call path that is not a library's part of locking: that is what the reader wrote.
    fn of(selection: &Selection<'_>, id: ContextId) -> Site {
        let (profile, forest) = (selection.profile(), selection.forest());
        let own = forest.exclusive_of(id);
        let (mut call, mut line) = (own, Some(id));
        while let Some(above) = forest.call_above(call) {
            let function = profile.contexts[call as usize].function.map(|id| &profile.functions[id as usize]);
            let name = function.map_or("", |function| match function.full_name.is_empty() {
                true => &function.name,
                false => &function.full_name,
            });
            if !is_of_a_library(name) {
                break;
            }
            // A call's own place is where it is called from.
            (line, call) = (Some(call), above);
        }
        if is_of_no_function(selection, call) {
            (call, line) = (own, Some(id));
        }
        let function = profile.contexts[call as usize].function.map(|id| &profile.functions[id as usize]);
        let at = line.map(|id| &profile.contexts[id as usize]);
        let (file, line) = match at {
            Some(at) if at.line.is_some() && (at.kind == ContextKind::Line || line != Some(own)) => {
                (at.file.clone(), at.line)
            }
            _ => function.map(|function| (function.file.clone(), function.line)).unwrap_or_default(),
        };
        Site { function: function.map(|function| function.name.clone()), file, line }
    }

    fn name(&self) -> &str {
        self.function.as_deref().unwrap_or("[unknown]")
    }

    fn cell(&self) -> Cell {
        Cell::from(self.name().to_owned())
            .with_tail(place(self.file.as_deref(), self.line).unwrap_or_default())
    }

    fn text(&self) -> String {
        match place(self.file.as_deref(), self.line) {
            Some(place) => format!("{} ({place})", self.name()),
            None => self.name().to_owned(),
        }
    }
}

fn is_of_no_function(selection: &Selection<'_>, context: ContextId) -> bool {
    selection.profile().contexts[context as usize].function.is_none()
}

/// Functions of the standard libraries through which locks are used.
fn is_of_a_library(name: &str) -> bool {
    let name = name.trim_start_matches(['<', '&']);
    ["std::", "core::", "alloc::", "lock_api::", "parking_lot", "__gthread", "crossbeam"]
        .iter()
        .any(|library| name.starts_with(library))
        || name.starts_with("drop_in_place")
        || name.starts_with("drop_glue")
}

fn distinct(ids: &mut Vec<u32>) -> usize {
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

impl Page for Locks {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Locks", &self.scope);
        if self.locks.is_empty() {
            text.push_str(" nobody waited for a lock here\n");
        } else {
            text.push_str(&self.table(style));
            let explanation = " hand-over: nobody held it; not known: nobody was seen to let it go; mean hold: of \
                               sections that others waited for.";
            text.push_str(&(style.paint(Paint::Faint, explanation) + "\n"));
            for lock in self.locks.iter().take(SHOWN) {
                text.push_str(&self.details(lock, style));
            }
        }
        text.push_str(&self.wakers(style));
        for note in &self.notes {
            text.push_str(&(style.paint(Paint::Faint, &format!(" Note: {note}.")) + "\n"));
        }
        text
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

impl Locks {
    fn table(&self, style: &Style) -> String {
        let scale = Scale::of("s", [self.waited_s]);
        let mut parts: Vec<f64> = self.locks.iter().map(|row| row.waited_s).collect();
        parts.extend(self.cut.iter().map(|cut| cut.amount));
        let waited = scale.show_parts(&parts, self.waited_s);
        let mut titles = vec![(String::new(), Align::Left), (scale.title("waited"), Align::Right)];
        let more = ["waits", "hand-over", "not known", "mean hold", "locks"];
        titles.extend(more.map(|title| (title.to_owned(), Align::Right)));
        titles.extend(["kind", "first waited for in"].map(|title| (title.to_owned(), Align::Left)));
        let mut table = Table::new(titles);
        let some = |seconds: f64| if seconds > 0.0 { scale.show(seconds) } else { "-".to_owned() };
        for (row, waited) in self.locks.iter().zip(&waited) {
            let mean = if row.holds > 0 { duration(row.held_s / row.holds as f64) } else { "-".to_owned() };
            let mut cells = vec![Cell::painted(Paint::Faint, row.handle.clone().unwrap_or_default())];
            let short = || if row.handle.is_none() { "short".to_owned() } else { count(row.waits) };
            cells.extend(
                [waited.clone(), short(), some(row.hand_over_s), some(row.unknown_s), mean].map(Cell::from),
            );
            cells.push(count(row.objects).into());
            cells.push(row.kind.into());
            cells.push(row.site.cell());
            table.row(cells);
        }
        if let Some(cut) = &self.cut {
            let mut cells = vec![Cell::default(), waited[self.locks.len()].clone().into()];
            cells.resize(7, Cell::default());
            let text =
                format!("{} (--limit {})", counted(cut.rows, "more lock"), self.locks.len() + cut.rows);
            cells.extend([Cell::default(), Cell::painted(Paint::Faint, text)]);
            table.row(cells);
        }
        let strong = |text: String| Cell::painted(Paint::Strong, text);
        let mut cells = vec![Cell::default(), strong(scale.show(self.waited_s)), strong(count(self.waits))];
        cells.extend([some(self.hand_over_s), some(self.unknown_s)].map(strong));
        cells.extend([Cell::default(), Cell::default(), Cell::default(), "sum".into()]);
        table.row(cells);
        table.render(style)
    }

    /// Who held a lock, who waited, and who for whom.
    fn details(&self, lock: &LockRow, style: &Style) -> String {
        let lines = if self.only { usize::MAX } else { LINES };
        let title = match &lock.handle {
            Some(handle) => format!("{handle}: {} of {}", lock.kind, lock.site.name()),
            None => "Short waits".to_owned(),
        };
        let mut table = Table::new([
            ("s", Align::Right),
            ("%", Align::Right),
            ("", Align::Left),
            ("", Align::Left),
            ("", Align::Left),
        ]);
        let scale = Scale::of("s", [lock.waited_s]);
        let mut push = |what: &'static str, seconds: f64, handle: &str, cell: Cell| {
            let share = percents(&[seconds], lock.waited_s).concat();
            table.row(vec![
                scale.show(seconds).into(),
                share.into(),
                what.into(),
                Cell::painted(Paint::Faint, handle),
                cell,
            ]);
        };
        for holder in lock.holders.iter().take(lines) {
            let acquired =
                holder.acquired.as_ref().filter(|acquired| acquired.function != holder.site.function);
            let cell = match acquired {
                Some(acquired) => {
                    Cell::from(holder.site.text()).with_tail(format!("acquired in {}", acquired.text()))
                }
                None => holder.site.cell(),
            };
            push("held by", holder.seconds, &holder.handle, cell);
        }
        if lock.hand_over_s > 0.0 {
            push("hand-over", lock.hand_over_s, "", Cell::default());
        }
        if lock.unknown_s > 0.0 {
            push("holder not known", lock.unknown_s, "", Cell::default());
        }
        for waiter in lock.waiters.iter().take(lines) {
            push("waited in", waiter.seconds, &waiter.handle, waiter.site.cell());
        }
        for pair in lock.pairs.iter().take(lines) {
            let arrow = style.pick(" ← ", " <- ");
            let names = format!("{}{arrow}{} {}", pair.waiter.name, pair.holder.handle, pair.holder.name);
            push("who for whom", pair.seconds, &pair.waiter.handle, names.into());
        }
        "\n".to_owned() + &heading(style, &title, "") + &table.render(style)
    }

    fn wakers(&self, style: &Style) -> String {
        if self.wakers.is_empty() {
            return String::new();
        }
        let scale = Scale::of("s", self.wakers.iter().map(|row| row.seconds));
        let mut table = Table::new([
            (scale.title("time"), Align::Right),
            ("waits".to_owned(), Align::Right),
            (String::new(), Align::Left),
            ("who waits".to_owned(), Align::Left),
            (String::new(), Align::Left),
            ("who wakes".to_owned(), Align::Left),
        ]);
        for row in self.wakers.iter().take(LINES) {
            let waker =
                row.waker.as_ref().map_or_else(|| Cell::painted(Paint::Faint, "not known"), Site::cell);
            table.row(vec![
                scale.show(row.seconds).into(),
                count(row.waits).into(),
                Cell::painted(Paint::Faint, row.waiter_handle.clone()),
                row.waiter.cell(),
                Cell::painted(Paint::Faint, row.waker_handle.clone().unwrap_or_default()),
                waker,
            ]);
        }
        let text = "\n".to_owned()
            + &heading(style, "Wakers", "who ends waits for conditions, semaphores and futexes");
        let more = self.wakers.len().saturating_sub(LINES);
        let rest = match more {
            0 => String::new(),
            _ => {
                style.paint(Paint::Faint, &format!(" {} (--format json)", counted(more, "more pair"))) + "\n"
            }
        };
        text + &table.render(style) + &rest
    }
}
