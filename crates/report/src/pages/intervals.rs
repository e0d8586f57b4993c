//! The page `intervals`: the intervals that the program marks, as a tree, with the account of the time in each.
//!
//! JSON: `{"schema":1,"intervals":[…],"notes":[…]}`; the first entry is the whole run, at level 0. An interval
//! is `{"handle","parent":position|null,"level","name","id":n|null,"file","line","kind":"SEQ"|"PAR"|"COMB",
//! "work":"plain"|"parallel"|"replicated","degree":n|null,"executions","recorded","unmarked","iterations",
//! "execution_s","min_s","mean_s","max_s","wall_s","processors","alone","ranks","total_s","productive_s",
//! "lost_s","efficiency":…|null,"beyond_s","accounts":{account: seconds},"comparative":{account:
//! {"min_s","min_at","max_s","max_at","mean_s"}},"locations":[…]}`. `accounts` sum to `total_s`.
//!
//! `execution_s` is that of the location that takes longest; `min_s`, `mean_s` and `max_s` are of single
//! executions. `alone`: several threads of a process execute it at once, and each counts for itself; then
//! there are no slots, `processors` is 0 and `total_s` is what these threads were active. `recorded` is less
//! than `executions` where a thread marks so often that only every n-th is recorded alone: their number and
//! times are exact, the account is that of the recorded ones in proportion. `unmarked` executions were ended
//! by another mark, or by the end of their thread. A location is `{"handle","process","rank","thread","name",
//! "executions","time_s","min_s","max_s","iterations","active_s","passive_s","accounts":{account: seconds},
//! "passive":{reason: seconds}}`; a location with 0 executions is another thread of a process that executes
//! it, and what it did meanwhile. `min_at` and `max_at` are handles of locations.

use std::collections::BTreeMap;

use proust_account::ledger::{Account, Accounts, IoAs, Ledger, PassiveTimes, Windows};
use proust_profile::{LocationId, Profile};
use proust_query::intervals::{self, IntervalNode, OfLocation, Wanted};
use proust_query::{Handle, Selection};
use proust_words::counted;
use serde::Serialize;

use super::account::Drawn;
use super::facts::seconds;
use super::locations::{Seconds, accounts_of, passive_of};
use super::{Cut, Page, base_name, heading, place};
use crate::error::ReportError;
use crate::number::{Scale, duration, exact, percent, sum};
use crate::question::{Format, Question};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 60;

#[derive(Debug, Serialize)]
pub(super) struct IntervalsPage {
    schema: u32,
    intervals: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
    /// Whether it is about one interval: its text has the threads, too.
    #[serde(skip)]
    is_one: bool,
}

#[derive(Debug, Serialize)]
struct Row {
    handle: String,
    parent: Option<usize>,
    level: usize,
    name: String,
    id: Option<i64>,
    file: Option<String>,
    line: Option<u32>,
    kind: &'static str,
    work: &'static str,
    degree: Option<u32>,
    executions: u64,
    recorded: u64,
    unmarked: u64,
    iterations: u64,
    execution_s: f64,
    min_s: f64,
    mean_s: f64,
    max_s: f64,
    wall_s: f64,
    processors: u32,
    alone: bool,
    ranks: usize,
    total_s: f64,
    productive_s: f64,
    lost_s: f64,
    efficiency: Option<f64>,
    beyond_s: f64,
    accounts: Seconds,
    comparative: BTreeMap<&'static str, Comparative>,
    locations: Vec<LocationRow>,
    #[serde(skip)]
    label: String,
}

/// An account over the locations that execute an interval.
#[derive(Debug, Serialize)]
struct Comparative {
    min_s: f64,
    min_at: String,
    max_s: f64,
    max_at: String,
    mean_s: f64,
}

#[derive(Debug, Serialize)]
struct LocationRow {
    handle: String,
    process: u32,
    rank: Option<u32>,
    thread: u32,
    name: String,
    executions: u64,
    time_s: f64,
    min_s: f64,
    max_s: f64,
    iterations: u64,
    active_s: f64,
    passive_s: f64,
    accounts: Seconds,
    passive: Seconds,
}

impl IntervalsPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<IntervalsPage, ReportError> {
        let profile = selection.profile();
        let wanted = match &question.arguments[..] {
            [] => None,
            [word] => Some(Wanted::parse(word)),
            more => {
                return Err(ReportError::Usage(format!(
                    "`intervals` takes one interval such as `solve`, `solve[3]` or `solve#2`, not `{}`",
                    more.join(" ")
                )));
            }
        };
        if let (Some(wanted), Some(word)) = (&wanted, question.arguments.first())
            && !profile.intervals.iter().any(|info| wanted.is(info))
        {
            return Err(ReportError::Usage(unknown(profile, word)));
        }
        let found = intervals::intervals(
            profile,
            &intervals::Question {
                locations: selection.locations(),
                windows: question.filter.windows().unwrap_or_else(Windows::all),
                processors: question.processors,
                wanted: wanted.clone(),
                in_scope: selection.intervals().to_vec(),
            },
        )?;
        let nodes = found.iter().map(|node| Row::of(profile, node, drawn.io));
        let mut intervals: Vec<Row> = vec![Row::of_run(selection, drawn, &found)];
        intervals.extend(nodes);
        if let Some(level) = question.level {
            intervals.retain(|row| row.level <= level);
        }
        let mut notes = selection.notes().to_vec();
        notes.extend(notes_about(&intervals));
        let mut scope = counted(intervals.len().saturating_sub(1), "interval");
        if !question.filter.is_empty() {
            scope = format!("{scope}, where {}", question.filter);
        }
        let mut cut = None;
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        if let Some(limit) = limit.filter(|&limit| limit < intervals.len()) {
            let amount = intervals[limit..].iter().map(|row| row.total_s).fold(0.0, f64::max);
            cut = Some(Cut { rows: intervals.len() - limit, amount });
            intervals.truncate(limit);
        }
        Ok(IntervalsPage { schema: SCHEMA, intervals, cut, notes, scope, is_one: wanted.is_some() })
    }
}

fn unknown(profile: &Profile, word: &str) -> String {
    if profile.intervals.is_empty() {
        return format!(
            "no interval of this run matches `{word}`: the program has no marks, or none was reached; \
             the guide says how to make some (docs/pages/intervals.md)"
        );
    }
    let mut labels: Vec<String> = profile.intervals.iter().map(proust_profile::IntervalInfo::label).collect();
    labels.sort();
    labels.dedup();
    let more = if labels.len() > 8 { ", …" } else { "" };
    format!(
        "no interval of this run matches `{word}`; there are {}{more}",
        labels[..labels.len().min(8)].join(", ")
    )
}

/// What a reader must know of these, in words.
fn notes_about(intervals: &[Row]) -> Vec<String> {
    let mut notes = Vec::new();
    let some: Vec<&str> =
        intervals.iter().filter(|row| row.recorded < row.executions).map(|row| row.label.as_str()).collect();
    if let Some(first) = some.first() {
        notes.push(format!(
            "{} marked so often that only some executions were recorded alone ({first}{}): numbers and times of \
             executions are exact, the accounts are those of the recorded ones, in proportion",
            counted(some.len(), "interval"),
            if some.len() > 1 { " and others" } else { "" },
        ));
    }
    if intervals.iter().any(|row| row.alone) {
        notes.push(
            "where several threads of a process are in an interval at once each counts for itself alone: its \
             total is the time in which these threads were active, without empty slots"
                .into(),
        );
    }
    notes
}

/// Accounts, and what follows from them.
struct Sums {
    total_s: f64,
    productive_s: f64,
    lost_s: f64,
    efficiency: Option<f64>,
    accounts: Seconds,
}

impl Sums {
    fn of(accounts: &Accounts, total_ns: u64, scale: f64, io: IoAs) -> Sums {
        let ledger = Ledger { accounts: *accounts, total_ns, ..Ledger::default() };
        Sums {
            total_s: seconds(total_ns) * scale,
            productive_s: seconds(ledger.productive_ns(io)) * scale,
            lost_s: seconds(ledger.lost_ns(io)) * scale,
            efficiency: ledger.efficiency(io),
            accounts: scaled(accounts_of(accounts), scale),
        }
    }
}

fn scaled(mut amounts: Seconds, scale: f64) -> Seconds {
    amounts.values_mut().for_each(|seconds| *seconds *= scale);
    amounts
}

impl Row {
    /// The whole run.
    fn of_run(selection: &Selection<'_>, drawn: &Drawn<'_>, nodes: &[IntervalNode]) -> Row {
        let profile = selection.profile();
        let ledger = &drawn.ledger;
        let sums = Sums::of(&ledger.accounts, ledger.total_ns, 1.0, drawn.io);
        let is_parallel = !profile.regions.is_empty() || nodes.iter().any(|node| node.kind.id() != "SEQ");
        let locations: Vec<LocationRow> = ledger
            .locations
            .iter()
            .filter(|row| row.wall_ns > 0)
            .map(|row| {
                let of = OfLocation {
                    executions: 1,
                    time_ns: row.wall_ns,
                    min_ns: row.wall_ns,
                    max_ns: row.wall_ns,
                    ..OfLocation::default()
                };
                LocationRow::new(profile, row.location, &of, (&row.accounts, &row.passive), 1.0)
            })
            .collect();
        let wall_s = seconds(ledger.wall_ns);
        let name = profile.facts.command.first().map_or("program", |command| base_name(command));
        Row {
            handle: Handle::Context(proust_profile::ContextId::PROGRAM).to_string(),
            parent: None,
            level: 0,
            name: name.into(),
            id: None,
            file: None,
            line: None,
            kind: if is_parallel { "COMB" } else { "SEQ" },
            work: "plain",
            degree: None,
            executions: 1,
            recorded: 1,
            unmarked: 0,
            iterations: 0,
            execution_s: wall_s,
            min_s: wall_s,
            mean_s: wall_s,
            max_s: wall_s,
            wall_s,
            processors: ledger.processors,
            alone: false,
            ranks: profile.ranks(),
            total_s: sums.total_s,
            productive_s: sums.productive_s,
            lost_s: sums.lost_s,
            efficiency: sums.efficiency,
            beyond_s: seconds(ledger.beyond_ns),
            accounts: sums.accounts,
            comparative: comparative(&locations),
            locations,
            label: name.into(),
        }
    }

    fn of(profile: &Profile, node: &IntervalNode, io: IoAs) -> Row {
        let info = &profile.intervals[node.id as usize];
        let inside = &node.inside;
        let scale = node.scale();
        let sums = Sums::of(&inside.accounts, inside.total_ns, scale, io);
        let nothing = (Accounts::default(), PassiveTimes::default());
        let mut all: BTreeMap<LocationId, OfLocation> = node.by_location.clone();
        if !inside.alone {
            for &location in inside.locations.keys() {
                all.entry(location).or_default();
            }
        }
        let locations: Vec<LocationRow> = all
            .iter()
            .map(|(&id, of)| {
                let (accounts, passive) = inside.locations.get(&id).unwrap_or(&nothing);
                LocationRow::new(profile, id, of, (accounts, passive), scale)
            })
            .collect();
        let executions = node.all.executions;
        Row {
            handle: format!("i{}", node.id),
            // The run itself is the first entry.
            parent: Some(node.parent.map_or(0, |parent| parent + 1)),
            level: node.level,
            name: info.name.clone(),
            id: info.number,
            file: info.file.clone(),
            line: info.line,
            kind: node.kind.id(),
            work: info.work.id(),
            degree: info.degree,
            executions,
            recorded: node.all.recorded,
            unmarked: node.all.unmarked,
            iterations: node.all.iterations,
            execution_s: seconds(node.execution_ns),
            min_s: seconds(node.all.min_ns),
            mean_s: seconds(node.all.time_ns) / executions.max(1) as f64,
            max_s: seconds(node.all.max_ns),
            wall_s: seconds(inside.wall_ns) * scale,
            processors: inside.processors,
            alone: inside.alone,
            ranks: node.ranks.len(),
            total_s: sums.total_s,
            productive_s: sums.productive_s,
            lost_s: sums.lost_s,
            efficiency: sums.efficiency,
            beyond_s: seconds(inside.beyond_ns) * scale,
            accounts: sums.accounts,
            comparative: comparative(&locations),
            locations,
            label: info.label(),
        }
    }
}

impl LocationRow {
    fn new(
        profile: &Profile,
        id: LocationId,
        of: &OfLocation,
        (accounts, passive): (&Accounts, &PassiveTimes),
        scale: f64,
    ) -> LocationRow {
        let location = &profile.locations[id];
        let process = &profile.processes[location.process];
        LocationRow {
            handle: Handle::Location(id).to_string(),
            process: process.pid,
            rank: process.rank,
            thread: location.tid,
            name: location.name.clone(),
            executions: of.executions,
            time_s: seconds(of.time_ns),
            min_s: seconds(of.min_ns),
            max_s: seconds(of.max_ns),
            iterations: of.iterations,
            active_s: seconds(accounts.sum_ns()) * scale,
            passive_s: seconds(passive.sum_ns()) * scale,
            accounts: scaled(accounts_of(accounts), scale),
            passive: scaled(passive_of(passive), scale),
        }
    }
}

/// Each account over the locations that execute the interval: those without it count as 0.
fn comparative(locations: &[LocationRow]) -> BTreeMap<&'static str, Comparative> {
    let executing: Vec<&LocationRow> = locations.iter().filter(|row| row.executions > 0).collect();
    let mut all = BTreeMap::new();
    for account in Account::ALL {
        let of = |row: &&LocationRow| row.accounts.get(account.id()).copied().unwrap_or(0.0);
        let min = executing.iter().min_by(|a, b| of(a).total_cmp(&of(b)));
        let max = executing.iter().max_by(|a, b| of(a).total_cmp(&of(b)));
        if let (Some(min), Some(max)) = (min, max)
            && of(max) > 0.0
        {
            all.insert(
                account.id(),
                Comparative {
                    min_s: of(min),
                    min_at: min.handle.clone(),
                    max_s: of(max),
                    max_at: max.handle.clone(),
                    mean_s: sum(executing.iter().map(of)) / executing.len() as f64,
                },
            );
        }
    }
    all
}

/// An account has a column of its own in text where it is so much of an interval's total.
const WORTH_A_COLUMN: f64 = 0.01;

impl IntervalsPage {
    fn table(&self, style: &Style) -> String {
        let rows = &self.intervals;
        let scale = Scale::of("s", rows.iter().map(|row| row.total_s));
        let is_worth = |account: &Account| {
            let of = |row: &Row| row.accounts.get(account.id()).copied().unwrap_or(0.0);
            rows.iter().any(|row| of(row) > WORTH_A_COLUMN * row.total_s)
        };
        let accounts: Vec<Account> = Account::ALL.into_iter().filter(is_worth).collect();
        let parts: Vec<Vec<String>> = rows
            .iter()
            .map(|row| {
                // What has no column is one: the shown amounts add up to the total.
                let of = |account: &Account| row.accounts.get(account.id()).copied().unwrap_or(0.0);
                let mut parts: Vec<f64> = accounts.iter().map(of).collect();
                parts.push(row.total_s - sum(parts.iter().copied()));
                scale.show_parts(&parts, row.total_s)
            })
            .collect();
        let has_rest = parts.iter().any(|parts| parts.last().is_some_and(|rest| !is_nothing(rest)));
        let mut titles: Vec<(String, Align)> =
            ["kind", "runs"].map(|title| (title.to_owned(), Align::Right)).to_vec();
        titles.push((Scale::of("s", rows.iter().map(|row| row.execution_s)).title("time"), Align::Right));
        titles.push(("P".into(), Align::Right));
        titles.push((scale.title("total"), Align::Right));
        titles.push(("eff.".into(), Align::Right));
        let times = Scale::of("s", rows.iter().map(|row| row.execution_s));
        let fixed_width = 52;
        let mut room = style.width.saturating_sub(fixed_width + 24);
        let mut shown = Vec::new();
        for (n, account) in accounts.iter().enumerate() {
            let width = account.id().len().max(8) + 2;
            if width <= room {
                room -= width;
                shown.push(n);
            }
        }
        let is_all = shown.len() == accounts.len() && !has_rest;
        titles.extend(shown.iter().map(|&n| (accounts[n].id().to_owned(), Align::Right)));
        if !is_all {
            titles.push(("others".into(), Align::Right));
        }
        titles.push(("interval".into(), Align::Left));
        let mut table = Table::new(titles);
        for (row, parts) in rows.iter().zip(&parts) {
            let processors = if row.alone { "-".to_owned() } else { row.processors.to_string() };
            let mut cells = vec![
                Cell::painted(Paint::Faint, row.kind),
                Cell::from(row.executions.to_string()),
                Cell::from(times.show(row.execution_s)),
                Cell::from(processors),
                Cell::from(scale.show(row.total_s)),
                Cell::from(row.efficiency.map_or_else(|| "-".into(), |part| percent(part, 1.0))),
            ];
            cells.extend(shown.iter().map(|&n| Cell::from(parts[n].clone())));
            if !is_all {
                let of = |n: usize| row.accounts.get(accounts[n].id()).copied().unwrap_or(0.0);
                let rest = row.total_s - sum(shown.iter().map(|&n| of(n)));
                let split: Vec<f64> = shown.iter().map(|&n| of(n)).chain([rest]).collect();
                let last = scale.show_parts(&split, row.total_s).pop().unwrap_or_default();
                cells.push(Cell::from(last));
            }
            let indent = "  ".repeat(row.level);
            let tail = place(row.file.as_deref(), row.line).unwrap_or_default();
            cells.push(Cell::from(format!("{indent}{}", row.label)).with_tail(tail));
            table.row(cells);
        }
        table.render(style)
    }

    fn of_one(&self, row: &Row, style: &Style) -> String {
        let mut text = String::from("\n");
        let executions = format!(
            "{}: shortest {}, mean {}, longest {}{}",
            counted(row.executions, "execution"),
            duration(row.min_s),
            duration(row.mean_s),
            duration(row.max_s),
            if row.iterations > 0 {
                format!("; {}", counted(row.iterations, "iteration"))
            } else {
                String::new()
            }
        );
        text.push_str(&heading(style, &row.label, &executions));
        let titles = [
            ("", Align::Left),
            ("runs", Align::Right),
            ("time", Align::Right),
            ("active", Align::Right),
            ("passive", Align::Right),
            ("most of it", Align::Left),
            ("thread", Align::Left),
        ];
        let mut table = Table::new(titles);
        for location in &row.locations {
            let mut most: Vec<(&str, f64)> = location.accounts.iter().map(|(id, s)| (*id, *s)).collect();
            most.sort_by(|a, b| b.1.total_cmp(&a.1));
            let most: Vec<String> =
                most.iter().take(3).map(|(id, seconds)| format!("{id} {}", duration(*seconds))).collect();
            let rank = location.rank.map_or_else(String::new, |rank| format!("rank {rank}, "));
            table.row(vec![
                Cell::painted(Paint::Faint, location.handle.clone()),
                Cell::from(location.executions.to_string()),
                Cell::from(duration(location.time_s)),
                Cell::from(duration(location.active_s)),
                Cell::from(duration(location.passive_s)),
                Cell::from(most.join(", ")),
                Cell::from(format!("{rank}{}", location.name)),
            ]);
        }
        text + &table.render(style)
    }
}

fn is_nothing(shown: &str) -> bool {
    !shown.chars().any(|c| c.is_ascii_digit() && c != '0')
}

impl Page for IntervalsPage {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Marked intervals", &self.scope);
        if self.intervals.len() < 2 {
            text.push_str(
                " no marks were executed here; the guide says how to make some (docs/pages/intervals.md)\n",
            );
            return text;
        }
        text.push_str(&self.table(style));
        if let Some(cut) = &self.cut {
            let more = format!(" {} more are not shown; --limit N shows more", cut.rows);
            text.push_str(&(style.paint(Paint::Faint, &more) + "\n"));
        }
        if self.is_one
            && let Some(row) = self.intervals.get(1)
        {
            text.push_str(&self.of_one(row, style));
        }
        let legend = " total = P × time in the interval, other threads of its processes included; time: of the \
                      thread that takes longest; kind: SEQ, PAR (parallel) or COMB (contains parallel ones).";
        text.push_str(&style.paint(Paint::Faint, &crate::wrap::wrapped(legend.trim_start(), 1, style.width)));
        if !text.ends_with('\n') {
            text.push('\n');
        }
        for note in &self.notes {
            let note = crate::wrap::wrapped(&format!("Note: {note}."), 1, style.width);
            text.push_str(&style.paint(Paint::Faint, note.trim_end_matches('\n')));
            text.push('\n');
        }
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let first = [
            "handle",
            "parent",
            "level",
            "name",
            "id",
            "file",
            "line",
            "kind",
            "work",
            "executions",
            "recorded",
            "unmarked",
            "iterations",
            "execution_s",
            "min_s",
            "mean_s",
            "max_s",
            "wall_s",
            "processors",
            "ranks",
            "total_s",
            "productive_s",
            "lost_s",
            "efficiency",
            "beyond_s",
        ];
        let heads = first.into_iter().chain(Account::ALL.map(Account::id));
        let mut rows = vec![heads.map(str::to_owned).collect::<Vec<String>>()];
        let text = |number: Option<String>| number.unwrap_or_default();
        rows.extend(self.intervals.iter().map(|row| {
            let mut cells = vec![
                row.handle.clone(),
                text(row.parent.map(|parent| parent.to_string())),
                row.level.to_string(),
                row.name.clone(),
                text(row.id.map(|id| id.to_string())),
                row.file.clone().unwrap_or_default(),
                text(row.line.map(|line| line.to_string())),
                row.kind.to_owned(),
                row.work.to_owned(),
                row.executions.to_string(),
                row.recorded.to_string(),
                row.unmarked.to_string(),
                row.iterations.to_string(),
            ];
            cells.extend([row.execution_s, row.min_s, row.mean_s, row.max_s, row.wall_s].map(exact));
            cells.extend([row.processors.to_string(), row.ranks.to_string()]);
            cells.extend([row.total_s, row.productive_s, row.lost_s].map(exact));
            cells.extend([text(row.efficiency.map(exact)), exact(row.beyond_s)]);
            let of = |account: Account| row.accounts.get(account.id()).copied().unwrap_or(0.0);
            cells.extend(Account::ALL.map(|account| exact(of(account))));
            cells
        }));
        rows
    }
}
