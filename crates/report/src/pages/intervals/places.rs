//! Parallel regions, operations and functions as intervals: what the program does not mark.
//!
//! JSON: `places` are `{"of":"region"|"operation"|"function","handle","name","file","line","kind":"PAR"|null,
//! "executions":n|null,"execution_s","mean_s":…|null,"max_s":…|null,"time_s","error_s":…|null,"total_s",
//! "productive_s","lost_s","efficiency":…|null,"passive_s","windowed","recorded","wall_s":…|null,
//! "processors":n|null,"alone","accounts":{account: seconds},"locations":[{"handle","time_s"}]}`, of each
//! kind those with most time first.
//!
//! Of regions and operations the number of executions and the times are recorded; `max_s` is the longest call
//! that was recorded by itself. Begin and end of functions are not: `executions` is null, and times are
//! estimates from samples with their standard error `error_s`. `time_s` is the time of all threads there,
//! `execution_s` that of the thread that has most; `accounts` sum to `total_s`.
//!
//! `windowed`: begin and end of `recorded` executions are known, and the account is that of the time in them,
//! as for marked intervals: `processors` × `wall_s`, or, if several threads of a process execute it at once
//! (`alone`), what these did themselves; that of short executions, which are known as sums, is taken in
//! proportion. Otherwise the account is what threads were active there, and the empty slots charged there.

use std::collections::BTreeMap;

use proust_account::ledger::{IoAs, Ledger, LedgerError, State, Windows};
use proust_profile::{ContextId, EventRow, OperationId, RegionId};
use proust_query::intervals::{Spent, Windowed, operations_windowed, regions_windowed, spent_by};
use proust_query::openmp::RegionSums;
use proust_query::{Amounts, Handle, OperationSums, Selection};
use proust_words::counted;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::super::account::Drawn;
use super::super::facts::seconds;
use super::super::locations::{Seconds, accounts_of};
use super::super::site::Site;
use super::super::{Cut, heading, place, tree};
use super::{IntervalsPage, Sums};
use crate::number::{duration, percent};
use crate::question::{Format, IntervalsOf, Question};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, NAMES, Table};

/// Rows of each kind in text when nothing else is asked for.
const ROWS: usize = 20;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct PlaceRow {
    of: &'static str,
    handle: String,
    name: String,
    file: Option<String>,
    line: Option<u32>,
    kind: Option<&'static str>,
    executions: Option<u64>,
    execution_s: f64,
    mean_s: Option<f64>,
    max_s: Option<f64>,
    time_s: f64,
    error_s: Option<f64>,
    total_s: f64,
    productive_s: f64,
    lost_s: f64,
    efficiency: Option<f64>,
    passive_s: f64,
    windowed: bool,
    recorded: u64,
    wall_s: Option<f64>,
    processors: Option<u32>,
    alone: bool,
    accounts: Seconds,
    locations: Vec<PlaceLocation>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct PlaceLocation {
    handle: String,
    time_s: f64,
}

/// Who a row is about.
struct Head {
    of: &'static str,
    handle: String,
    name: String,
    file: Option<String>,
    line: Option<u32>,
}

impl PlaceRow {
    fn new(head: Head, spent: &Spent, io: IoAs) -> PlaceRow {
        let total_ns = spent.accounts.sum_ns();
        let ledger = Ledger { accounts: spent.accounts, total_ns, ..Ledger::default() };
        let time_ns: u64 = spent.locations.values().sum();
        let longest_ns = spent.locations.values().copied().max().unwrap_or(0);
        let Head { of, handle, name, file, line } = head;
        PlaceRow {
            of,
            handle,
            name,
            file,
            line,
            kind: None,
            executions: None,
            execution_s: seconds(longest_ns),
            mean_s: None,
            max_s: None,
            time_s: seconds(time_ns),
            error_s: None,
            total_s: seconds(total_ns),
            productive_s: seconds(ledger.productive_ns(io)),
            lost_s: seconds(ledger.lost_ns(io)),
            efficiency: ledger.efficiency(io),
            passive_s: seconds(spent.passive_ns),
            windowed: false,
            recorded: 0,
            wall_s: None,
            processors: None,
            alone: false,
            accounts: accounts_of(&spent.accounts),
            locations: spent
                .locations
                .iter()
                .map(|(&id, &ns)| PlaceLocation {
                    handle: Handle::Location(id).to_string(),
                    time_s: seconds(ns),
                })
                .collect(),
        }
    }
}

impl PlaceRow {
    /// With the account of the time in which it was executed, where that is known.
    fn with_windows(self, windowed: &Windowed, io: IoAs) -> PlaceRow {
        if windowed.recorded == 0 || windowed.scale == 0.0 {
            return self;
        }
        let inside = &windowed.inside;
        let sums = Sums::of(&inside.accounts, inside.total_ns, windowed.scale, io);
        PlaceRow {
            total_s: sums.total_s,
            productive_s: sums.productive_s,
            lost_s: sums.lost_s,
            efficiency: sums.efficiency,
            windowed: true,
            recorded: windowed.recorded,
            wall_s: Some(seconds(inside.wall_ns) * windowed.scale),
            processors: Some(inside.processors),
            alone: inside.alone,
            accounts: sums.accounts,
            ..self
        }
    }
}

/// The rows that are asked for, and those that a limit left out.
pub(super) fn of(
    selection: &Selection<'_>,
    question: &Question,
    drawn: &Drawn<'_>,
) -> Result<(Vec<PlaceRow>, Option<Cut>), LedgerError> {
    let windows = question.filter.windows().unwrap_or_else(Windows::all);
    let scope = Scope { selection, drawn, processors: question.processors, windows: &windows };
    let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
    let (mut all, mut cut) = (Vec::new(), Cut::default());
    let kinds: [(IntervalsOf, Rows<'_>); 3] = [
        (IntervalsOf::Regions, &|| regions(&scope)),
        (IntervalsOf::Operations, &|| operations(&scope)),
        (IntervalsOf::Functions, &|| Ok(functions(selection, drawn))),
    ];
    for (_, rows) in kinds.into_iter().filter(|(kind, _)| question.intervals.has(*kind)) {
        let mut rows = rows()?;
        rows.sort_by(|a, b| b.time_s.total_cmp(&a.time_s).then_with(|| a.name.cmp(&b.name)));
        if let Some(limit) = limit.filter(|&limit| limit < rows.len()) {
            cut.rows += rows.len() - limit;
            cut.amount += rows[limit..].iter().map(|row| row.time_s).sum::<f64>();
            rows.truncate(limit);
        }
        all.extend(rows);
    }
    Ok((all, Some(cut).filter(|cut| cut.rows > 0)))
}

type Rows<'r> = &'r dyn Fn() -> Result<Vec<PlaceRow>, LedgerError>;

/// What the rows are of.
struct Scope<'s, 'p> {
    selection: &'s Selection<'p>,
    drawn: &'s Drawn<'s>,
    processors: Option<u32>,
    windows: &'s Windows,
}

fn regions(scope: &Scope<'_, '_>) -> Result<Vec<PlaceRow>, LedgerError> {
    let Scope { selection, drawn, .. } = *scope;
    let profile = selection.profile();
    let sums = RegionSums::of(selection, drawn.ledger());
    let mut of_context = vec![None; profile.contexts.len()];
    for (position, sum) in sums.regions.iter().enumerate() {
        of_context[sum.context.index()] = Some(position);
    }
    let spent = spent_by(selection, drawn.ledger(), sums.regions.len(), |id| of_context[id.index()]);
    let mut groups = vec![None; profile.regions.len()];
    for (position, sum) in sums.regions.iter().enumerate() {
        groups[sum.region.index()] = Some(position);
    }
    let group_of = |region: RegionId| groups[region.index()];
    let windowed =
        regions_windowed(selection, scope.processors, scope.windows, sums.regions.len(), group_of)?;
    let row = |((sum, spent), windowed): ((&proust_query::openmp::RegionSum, &Spent), &Windowed)| {
        let context = &profile.contexts[sum.context];
        let function = context.function.map(|id| &profile.functions[id]);
        let head = Head {
            of: "region",
            handle: Handle::Context(sum.context).to_string(),
            name: tree::name(profile, sum.context),
            file: function.and_then(|function| function.file.clone()),
            line: function.and_then(|function| function.line),
        };
        let row = PlaceRow::new(head, spent, drawn.io).with_windows(windowed, drawn.io);
        PlaceRow {
            kind: Some("PAR"),
            executions: Some(sum.executions),
            mean_s: (sum.executions > 0).then(|| row.execution_s / sum.executions as f64),
            ..row
        }
    };
    Ok(sums.regions.iter().zip(&spent).zip(&windowed).map(row).collect())
}

fn functions(selection: &Selection<'_>, drawn: &Drawn<'_>) -> Vec<PlaceRow> {
    let profile = selection.profile();
    let function_of = |id: ContextId| selection.called_function(id).map(|function| function.index());
    let spent = spent_by(selection, drawn.ledger(), profile.functions.len(), function_of);
    let errors = Amounts::errors_by_function(selection).inclusive;
    let rows = profile.functions.iter_enumerated().zip(spent.iter().zip(errors));
    rows.filter(|(_, (spent, _))| !spent.locations.is_empty())
        .map(|((id, function), (spent, error_s))| {
            let head = Head {
                of: "function",
                handle: Handle::Function(id).to_string(),
                name: function.name.clone(),
                file: function.file.clone(),
                line: function.line,
            };
            PlaceRow { error_s: Some(error_s), ..PlaceRow::new(head, spent, drawn.io) }
        })
        .collect()
}

/// The calls of an operation at one place.
#[derive(Default)]
struct Calls {
    calls: u64,
    longest_ns: Option<u64>,
    context: Option<ContextId>,
    spent: Spent,
}

/// An operation at a place in the source.
type OperationAt = (String, Option<String>, Option<u32>);

fn operations(scope: &Scope<'_, '_>) -> Result<Vec<PlaceRow>, LedgerError> {
    let (selection, io) = (scope.selection, scope.drawn.io);
    let profile = selection.profile();
    let sums = OperationSums::of(selection);
    let mut sites: BTreeMap<ContextId, Site> = BTreeMap::new();
    let mut positions: BTreeMap<OperationAt, usize> = BTreeMap::new();
    let mut groups: FxHashMap<(OperationId, ContextId), usize> = FxHashMap::default();
    let mut all: Vec<Calls> = Vec::new();
    for row in &sums.rows {
        let site = sites.entry(row.context).or_insert_with(|| Site::of(selection, row.context));
        let name = profile.operations[row.operation].name.clone();
        let position = *positions.entry((name, site.file.clone(), site.line)).or_insert(all.len());
        if position == all.len() {
            all.push(Calls::default());
        }
        groups.insert((row.operation, row.context), position);
        let calls = &mut all[position];
        calls.calls += row.calls;
        calls.longest_ns = calls.longest_ns.max(row.longest_ns);
        calls.context.get_or_insert(row.context);
        *calls.spent.locations.entry(row.location).or_default() += row.time_ns;
        let account = match row.state {
            State::Working(work) => Some(work.account()),
            State::Waiting(wait) | State::Polling(wait) => Some(wait.account()),
            State::Passive(_) => None,
        };
        match account {
            Some(account) => calls.spent.accounts[account] += row.time_ns,
            None => calls.spent.passive_ns += row.time_ns,
        }
    }
    let group_of = |event: &EventRow| groups.get(&(event.operation, event.context)).copied();
    let windowed = operations_windowed(selection, scope.processors, scope.windows, all.len(), group_of)?;
    let row = |((name, file, line), position): (OperationAt, usize)| {
        let calls = &all[position];
        let handle = calls.context.map_or_else(String::new, |id| Handle::Context(id).to_string());
        let row = PlaceRow::new(Head { of: "operation", handle, name, file, line }, &calls.spent, io)
            .with_windows(&windowed[position], io);
        PlaceRow {
            executions: Some(calls.calls),
            mean_s: (calls.calls > 0).then(|| row.time_s / calls.calls as f64),
            max_s: calls.longest_ns.map(seconds),
            ..row
        }
    };
    Ok(positions.into_iter().filter(|(_, position)| all[*position].calls > 0).map(row).collect())
}

impl IntervalsPage {
    pub(super) fn places_as_text(&self, style: &Style) -> String {
        let mut text = String::new();
        for (of, title, noun) in [
            ("region", "Parallel regions", "region"),
            ("operation", "Operations by place", "place"),
            ("function", "Functions", "function"),
        ] {
            let rows: Vec<&PlaceRow> = self.places.iter().filter(|row| row.of == of).collect();
            if !rows.is_empty() {
                let explanation = match of {
                    "function" => format!("{}; times are estimates from samples", counted(rows.len(), noun)),
                    _ => format!("{}; total = P × time in it", counted(rows.len(), noun)),
                };
                text.push('\n');
                text.push_str(&heading(style, title, &explanation));
                text.push_str(&table(&rows, style));
            }
        }
        if let Some(cut) = &self.cut_places {
            let more = format!(" {} more are not shown; --limit N shows more", cut.rows);
            text.push_str(&(style.paint(Paint::Faint, &more) + "\n"));
        }
        text
    }
}

fn table(rows: &[&PlaceRow], style: &Style) -> String {
    let has_windows = rows.iter().any(|row| row.windowed);
    let (errors, total) = if has_windows { (None, Some("total")) } else { (Some("±"), None) };
    let right = ["", "runs", "time"].into_iter().chain(errors).chain(["mean", "of all threads"]);
    let right = right.chain(has_windows.then_some("P")).chain(total).chain(["eff."]);
    let mut titles: Vec<(String, Align)> = right.map(|title| (title.to_owned(), Align::Right)).collect();
    titles.extend(["most of it", "where"].map(|title| (title.to_owned(), Align::Left)));
    let mut table = Table::new(titles);
    let known = |time_s: Option<f64>| time_s.map_or_else(|| "-".into(), duration);
    for row in rows {
        let mut most: Vec<(&str, f64)> = row.accounts.iter().map(|(id, s)| (*id, *s)).collect();
        most.extend((row.passive_s > 0.0 && !row.windowed).then_some(("passive", row.passive_s)));
        most.sort_by(|a, b| b.1.total_cmp(&a.1));
        let most: Vec<String> =
            most.iter().take(2).map(|(id, seconds)| format!("{id} {}", duration(*seconds))).collect();
        let mut cells = vec![
            Cell::painted(Paint::Faint, row.handle.clone()),
            Cell::from(row.executions.map_or_else(|| "-".into(), |count| count.to_string())),
            Cell::from(duration(row.execution_s)),
        ];
        if !has_windows {
            cells.push(Cell::from(known(row.error_s)));
        }
        cells.extend([Cell::from(known(row.mean_s)), Cell::from(duration(row.time_s))]);
        if has_windows {
            let processors = row.processors.filter(|_| !row.alone);
            cells.push(Cell::from(processors.map_or_else(|| "-".into(), |count| count.to_string())));
            cells.push(Cell::from(duration(row.total_s)));
        }
        cells.extend([
            Cell::from(row.efficiency.map_or_else(|| "-".into(), |part| percent(part, 1.0))),
            Cell::from(most.join(", ")),
            Cell::from(row.name.clone()).with_tail(place(row.file.as_deref(), row.line).unwrap_or_default()),
        ]);
        table.row(cells);
    }
    table.narrow(&["of all threads", "mean"], NAMES, style);
    table.render(style)
}
