//! The page `processes`: which programs ran, with which arguments, and what their time went into.
//!
//! JSON: `{"schema":1,"programs":[…],"processes":[…],"notes":[…]}`. A program is
//! `{"program","processes","threads","wall_s","cpu_s"}`, summed over the images in scope that are called so.
//! A process is one image of it (a process that calls exec is two) and has `handle`, `process` (id), `parent`
//! (id), `parent_handle` (null where the parent was not recorded), `rank`, `program`, `executable`,
//! `arguments`, `host`, `origin`, `ending`, `start_s`, `wall_s`, `cpu_s`, `threads`, `samples`,
//! `peak_resident_bytes`, `accounts` (account → seconds) and `passive` (reason → seconds) of its threads that
//! are charged.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::ledger::{Account, Accounts, PassiveTimes};
use proust_profile::{LocationId, Metric, Process, ProcessId, Profile, Unit};
use proust_query::{Handle, Measure, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::account::Drawn;
use super::locations::{Seconds, accounts_of, passive_of};
use super::{Cut, Page, heading, no_arguments};
use crate::error::ReportError;
use crate::groups::called;
use crate::number::{Scale, exact, percents, sum};
use crate::question::{Format, Question, Sort};
use crate::schema::SCHEMA;
use crate::shell::shell_word;
use crate::style::Style;
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;
use crate::wrap::legend;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 40;
/// Programs in the table of text when nothing else is asked for.
const PROGRAMS: usize = 15;
/// Accounts that have less than this share of all threads' time are in JSON only.
const SHOWN_SHARE: f64 = 0.01;
/// Columns of accounts at most.
const SHOWN_ACCOUNTS: usize = 4;
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Processes {
    schema: u32,
    programs: Vec<ProgramRow>,
    processes: Vec<ProcessRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    #[serde(skip)]
    cpu_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProgramRow {
    program: String,
    processes: usize,
    threads: usize,
    wall_s: f64,
    cpu_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct ProcessRow {
    handle: String,
    process: u32,
    parent: u32,
    parent_handle: Option<String>,
    rank: Option<u32>,
    program: String,
    executable: String,
    arguments: Vec<String>,
    host: String,
    origin: String,
    ending: String,
    start_s: f64,
    wall_s: f64,
    cpu_s: f64,
    threads: usize,
    samples: u64,
    peak_resident_bytes: Option<u64>,
    accounts: Seconds,
    passive: Seconds,
}

/// What the threads of a process sum to.
#[derive(Default)]
struct Sums {
    threads: usize,
    cpu_ns: u128,
    samples: u64,
    accounts: Accounts,
    passive: PassiveTimes,
}

impl Processes {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<Processes, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let mut sums: BTreeMap<ProcessId, Sums> = BTreeMap::new();
        let process_of = |location: LocationId| profile.locations[location].process;
        for &location in selection.locations() {
            sums.entry(process_of(location)).or_default().threads += 1;
        }
        for value in selection.values() {
            let sum = sums.entry(process_of(value.location)).or_default();
            match value.metric {
                Metric::Cpu => sum.cpu_ns += u128::from(value.amount),
                Metric::Samples => sum.samples += value.amount,
                _ => {}
            }
        }
        let in_scope: BTreeSet<LocationId> = selection.locations().iter().copied().collect();
        for row in
            drawn.account().locations.iter().filter(|row| row.charged && in_scope.contains(&row.location))
        {
            let sum = sums.entry(process_of(row.location)).or_default();
            sum.accounts += &row.accounts;
            sum.passive += &row.passive;
        }
        let mut processes: Vec<ProcessRow> =
            sums.iter().map(|(&id, sum)| ProcessRow::new(profile, id, sum)).collect();
        match &question.sort {
            Some(Sort::Name) => processes.sort_by(|a, b| a.program.cmp(&b.program)),
            Some(sort) if sort.quantity() == Some(&Measure::Wall.into()) => {
                processes.sort_by(|a, b| b.wall_s.total_cmp(&a.wall_s));
            }
            _ => processes.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s)),
        }
        let programs = programs(&processes);
        let mut scope = format!(
            "{} in {}",
            counted(programs.len(), "program"),
            counted(processes.len(), "process image")
        );
        if !question.filter.is_empty() {
            scope = format!("{scope}, where {}", question.filter);
        }
        let cpu_s = sum(processes.iter().map(|row| row.cpu_s));
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < processes.len()) {
            let amount = sum(processes[limit..].iter().map(|row| row.cpu_s));
            cut = Some(Cut { rows: processes.len() - limit, amount });
            processes.truncate(limit);
        }
        let mut notes = Notes::of(selection.notes());
        notes.add(&drawn.notes);
        Ok(Processes { schema: SCHEMA, programs, processes, cut, notes, scope, cpu_s })
    }

    /// The accounts that are worth a column.
    fn shown_accounts(&self) -> Vec<Account> {
        let total = |account: Account| {
            sum(self.processes.iter().filter_map(|row| row.accounts.get(account.id()).copied()))
        };
        let all = sum(Account::ALL.map(total));
        let mut shown: Vec<Account> =
            Account::ALL.into_iter().filter(|&account| total(account) > all * SHOWN_SHARE).collect();
        shown.sort_by(|&a, &b| total(b).total_cmp(&total(a)));
        shown.truncate(SHOWN_ACCOUNTS);
        shown
    }

    fn table_of_programs(&self, style: &Style) -> String {
        let shown = &self.programs[..self.programs.len().min(PROGRAMS)];
        let scale = Scale::seconds(shown.iter().map(|row| row.cpu_s.max(row.wall_s)));
        let seconds: Vec<f64> = self.programs.iter().map(|row| row.cpu_s).collect();
        let total = scale.digits(self.cpu_s);
        let parts = scale.split(seconds.iter().copied(), total);
        let shares = percents(&seconds, self.cpu_s);
        let right = [scale.title("CPU"), "%".into(), scale.title("wall"), "processes".into()];
        let mut titles: Vec<(String, Align)> = right.map(|title| (title, Align::Right)).to_vec();
        titles.push(("program".into(), Align::Left));
        let mut table = Table::new(titles);
        for (n, row) in shown.iter().enumerate() {
            table.row(vec![
                scale.write(parts[n]).into(),
                shares[n].clone().into(),
                scale.show(row.wall_s).into(),
                row.processes.to_string().into(),
                row.program.clone().into(),
            ]);
        }
        let all = self.programs.iter().map(|row| row.processes).sum::<usize>().to_string();
        if self.programs.len() > shown.len() {
            let left: i64 = parts[shown.len()..].iter().sum();
            let more = counted(self.programs.len() - shown.len(), "more program");
            let empty = Cell::default();
            table.row(vec![scale.write(left).into(), empty.clone(), empty.clone(), empty, more.into()]);
        }
        table.row(vec![scale.write(total).into(), "100.0".into(), Cell::default(), all.into(), "sum".into()]);
        table.render(style)
    }

    fn table_of_processes(&self, style: &Style) -> String {
        let accounts = self.shown_accounts();
        let scale = Scale::seconds(self.processes.iter().map(|row| row.cpu_s.max(row.wall_s)));
        let mut titles: Vec<(String, Align)> = vec![
            (String::new(), Align::Left),
            (scale.title("CPU"), Align::Right),
            (scale.title("wall"), Align::Right),
        ];
        titles.extend(accounts.iter().map(|account| (account.id().to_owned(), Align::Right)));
        titles.push(("process".into(), Align::Right));
        titles.push(("of".into(), Align::Left));
        titles.push(("command".into(), Align::Left));
        let mut table = Table::new(titles);
        for row in &self.processes {
            let mut cells: Vec<Cell> =
                vec![row.handle.clone().into(), scale.show(row.cpu_s).into(), scale.show(row.wall_s).into()];
            cells.extend(accounts.iter().map(|account| {
                row.accounts.get(account.id()).map_or("-".into(), |&seconds| Cell::from(scale.show(seconds)))
            }));
            cells.push(row.process.to_string().into());
            cells.push(row.parent_handle.clone().unwrap_or_else(|| row.parent.to_string()).into());
            cells.push(called(&row.program, &row.arguments).into());
            table.row(cells);
        }
        // The largest accounts stay.
        let least: Vec<&str> = accounts.iter().rev().map(|account| account.id()).collect();
        table.render_within(&least, style)
    }
}

impl ProcessRow {
    fn new(profile: &Profile, id: ProcessId, sum: &Sums) -> ProcessRow {
        let process = &profile.processes[id];
        ProcessRow {
            handle: Handle::Process(id).to_string(),
            process: process.pid,
            parent: process.parent_pid,
            parent_handle: parent_of(profile, id).map(|parent| Handle::Process(parent).to_string()),
            rank: process.rank,
            program: process.name.clone(),
            executable: process.executable.clone(),
            arguments: process.arguments.clone(),
            host: process.host.clone(),
            origin: process.origin.clone(),
            ending: process.ending.clone(),
            start_s: process.start.as_seconds(),
            wall_s: (process.end - process.start).as_seconds(),
            cpu_s: Unit::SECONDS.shown(sum.cpu_ns),
            threads: sum.threads,
            samples: sum.samples,
            peak_resident_bytes: process.peak_resident_bytes,
            accounts: accounts_of(&sum.accounts),
            passive: passive_of(&sum.passive),
        }
    }
}

/// The image that started this one: of a process that called exec the image before it, of others the one
/// that had the parent's number when it began.
fn parent_of(profile: &Profile, id: ProcessId) -> Option<ProcessId> {
    let child = &profile.processes[id];
    let before = |other: &Process| other.host == child.host && other.start <= child.start;
    let latest = |pid: u32| {
        let candidates = profile.processes.iter_enumerated();
        let candidates =
            candidates.filter(|&(other, process)| other != id && process.pid == pid && before(process));
        candidates.max_by_key(|(_, process)| process.start).map(|(other, _)| other)
    };
    latest(child.pid).or_else(|| latest(child.parent_pid))
}

/// The programs, by CPU time.
fn programs(processes: &[ProcessRow]) -> Vec<ProgramRow> {
    let mut by_name: BTreeMap<&str, ProgramRow> = BTreeMap::new();
    for row in processes {
        let program = by_name.entry(&row.program).or_insert_with(|| ProgramRow {
            program: row.program.clone(),
            processes: 0,
            threads: 0,
            wall_s: 0.0,
            cpu_s: 0.0,
        });
        program.processes += 1;
        program.threads += row.threads;
        program.wall_s += row.wall_s;
        program.cpu_s += row.cpu_s;
    }
    let mut programs: Vec<ProgramRow> = by_name.into_values().collect();
    programs.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s));
    programs
}

impl Page for Processes {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Processes", &self.scope);
        if self.processes.is_empty() {
            return text + " no processes here\n";
        }
        if self.programs.len() > 1 {
            text.push_str(&self.table_of_programs(style));
            text.push('\n');
        }
        text.push_str(&self.table_of_processes(style));
        if let Some(cut) = &self.cut {
            let seconds = crate::duration(cut.amount);
            let more = counted(cut.rows, "more process image");
            text.push_str(&legend(&format!("{more} with {seconds} of CPU time (--limit)"), style));
        }
        text.push_str(&legend(
            "A process that calls exec has an image for each program. of: the image that started it. \
             Accounts: of its threads.",
            style,
        ));
        text + &self.notes.lines(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let accounts = Account::ALL.map(Account::id);
        let first = [
            "handle",
            "process",
            "parent",
            "parent_handle",
            "rank",
            "program",
            "arguments",
            "start_s",
            "wall_s",
            "cpu_s",
            "threads",
            "passive_s",
        ];
        let heads = first.iter().chain(&accounts);
        let mut rows = vec![heads.map(|name| (*name).to_owned()).collect::<Vec<_>>()];
        for row in &self.processes {
            let arguments: Vec<String> =
                row.arguments.get(1..).unwrap_or(&[]).iter().map(|word| shell_word(word)).collect();
            let mut fields = vec![
                row.handle.clone(),
                row.process.to_string(),
                row.parent.to_string(),
                row.parent_handle.clone().unwrap_or_default(),
                row.rank.map(|rank| rank.to_string()).unwrap_or_default(),
                row.program.clone(),
                arguments.join(" "),
                exact(row.start_s),
                exact(row.wall_s),
                exact(row.cpu_s),
                row.threads.to_string(),
                exact(sum(row.passive.values().copied())),
            ];
            fields.extend(accounts.iter().map(|id| exact(row.accounts.get(id).copied().unwrap_or(0.0))));
            rows.push(fields);
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use proust_profile::Ns;

    use super::*;

    #[test]
    fn the_parent_is_the_image_that_was_there() {
        let image =
            |pid, parent_pid, start| Process { pid, parent_pid, start: Ns::new(start), ..Process::default() };
        let processes = vec![image(1, 0, 0), image(1, 0, 10), image(2, 1, 5), image(3, 1, 20)];
        let profile = Profile { processes: processes.into(), ..Profile::default() };
        let parents: Vec<_> = profile.processes.keys().map(|id| parent_of(&profile, id)).collect();
        // The second is what the first became by exec; the third was started before that, the fourth after.
        assert_eq!(parents, [None, Some(0), Some(0), Some(1)].map(|id| id.map(ProcessId)));
    }
}
