//! The page `threads`: accounts and passive time of every location.

use std::collections::{BTreeMap, HashMap};

use proust_analysis::ledger::Account;
use proust_analysis::query::{Handle, Selection};
use proust_analysis::words::counted;
use proust_profile::Metric;
use serde::Serialize;

use super::account::Drawn;
use super::facts::{seconds, seconds_of};
use super::{Cut, Page, heading, no_arguments, scope};
use crate::SCHEMA;
use crate::number::{Scale, exact, sum};
use crate::question::{Format, Question, ReportError, Sort};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};

/// Rows of text when nothing else is asked for.
const ROWS: usize = 40;

#[derive(Debug, Serialize)]
pub(super) struct Threads {
    schema: u32,
    locations: Vec<LocationRow>,
    slots: Vec<SlotRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    notes: Vec<String>,
    #[serde(skip)]
    scope: String,
    /// How the threads and the empty slots make up the ledger's total.
    #[serde(skip)]
    adds_up: Option<String>,
}

#[derive(Debug, Serialize)]
struct LocationRow {
    process: u32,
    rank: Option<u32>,
    thread: u32,
    name: String,
    handle: String,
    program: String,
    host: String,
    service: bool,
    start_s: f64,
    wall_s: f64,
    cpu_s: f64,
    queued_s: f64,
    measurement_s: f64,
    samples: u64,
    accounts: BTreeMap<&'static str, f64>,
    passive: BTreeMap<&'static str, f64>,
}

#[derive(Debug, Serialize)]
struct SlotRow {
    process: u32,
    rank: Option<u32>,
    processors: u32,
    accounts: BTreeMap<&'static str, f64>,
}

impl Threads {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<Threads, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let ledger = &drawn.ledger;
        // Within a range of time, what is known by samples is that of the range too.
        let (windowed, mut sums) = (drawn.window.is_some(), HashMap::new());
        for value in selection.values().iter().filter(|_| windowed) {
            *sums.entry((value.location, value.metric)).or_insert(0.0) += value.amount;
        }
        let known = |id: u32, metric, whole| {
            if windowed { sums.get(&(id, metric)).copied().unwrap_or(0.0) } else { whole }
        };
        let mut locations: Vec<LocationRow> = ledger
            .locations
            .iter()
            .filter(|row| !windowed || row.wall_ns > 0)
            .map(|row| {
                let location = &profile.locations[row.location as usize];
                let process = &profile.processes[location.process as usize];
                let passive = row.passive.iter().filter(|(_, ns)| *ns > 0);
                LocationRow {
                    process: process.pid,
                    rank: process.rank,
                    thread: location.tid,
                    name: location.name.clone(),
                    handle: Handle::Location(row.location).to_string(),
                    program: process.name.clone(),
                    host: process.host.clone(),
                    service: location.service,
                    start_s: location.start_s,
                    wall_s: seconds(row.wall_ns),
                    cpu_s: known(row.location, Metric::Cpu, location.cpu_s),
                    queued_s: if windowed {
                        seconds(row.accounts[Account::Oversubscribed] + row.accounts[Account::Preempted])
                    } else {
                        location.queued_s
                    },
                    measurement_s: known(row.location, Metric::Measurement, location.measurement_s),
                    samples: known(row.location, Metric::Samples, location.samples as f64) as u64,
                    accounts: seconds_of(&row.accounts).into_iter().collect(),
                    passive: passive.map(|(reason, ns)| (reason.id(), seconds(ns))).collect(),
                }
            })
            .collect();
        match question.sort {
            Some(Sort::Name) => locations.sort_by(|a, b| (&a.name, a.thread).cmp(&(&b.name, b.thread))),
            Some(_) => locations.sort_by(|a, b| b.cpu_s.total_cmp(&a.cpu_s).then(a.thread.cmp(&b.thread))),
            None => {}
        }
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < locations.len()) {
            let amount = sum(locations[limit..].iter().map(|row| row.cpu_s));
            cut = Some(Cut { rows: locations.len() - limit, amount });
            locations.truncate(limit);
        }
        let slots = ledger
            .slots
            .iter()
            .map(|row| SlotRow {
                process: profile.processes[row.process as usize].pid,
                rank: row.rank,
                processors: row.processors,
                accounts: seconds_of(&row.accounts).into_iter().collect(),
            })
            .collect();
        let mut notes = selection.notes().to_vec();
        notes.extend(drawn.notes.iter().cloned());
        let charged = ledger.locations.iter().filter(|row| row.charged && row.slots.is_some());
        let charged_s = seconds(charged.map(|row| row.accounts.sum_ns()).sum());
        let adds_up = (!ledger.is_without_slots()).then(|| {
            let slots_s = seconds(ledger.slots.iter().map(|row| row.accounts.sum_ns()).sum());
            let scale = Scale::of("s", [seconds(ledger.total_ns)]);
            let parts = scale.show_parts(&[charged_s, slots_s], seconds(ledger.total_ns));
            let total = drawn.formula(profile.facts.available_processors);
            format!("{} of the threads + {} of empty slots = {total}", parts[0], parts[1])
        });
        Ok(Threads {
            schema: SCHEMA,
            locations,
            slots,
            cut,
            notes,
            scope: scope(selection, question),
            adds_up,
        })
    }
}

impl Page for Threads {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Threads", &self.scope);
        if self.locations.is_empty() {
            text.push_str(" no threads here\n");
            return text;
        }
        let ranks = self.locations.iter().any(|row| row.rank.is_some());
        let mut used: Vec<&str> = Vec::new();
        for account in Account::ALL {
            if self.locations.iter().any(|row| row.accounts.contains_key(account.id())) {
                used.push(account.id());
            }
        }
        let wall = Scale::of("s", self.locations.iter().map(|row| row.wall_s));
        let mut titles = vec![("".to_owned(), Align::Left), (wall.title("wall"), Align::Right)];
        titles.extend(used.iter().map(|id| ((*id).to_owned(), Align::Right)));
        titles.push(("passive".into(), Align::Right));
        titles.extend(ranks.then(|| ("rank".into(), Align::Right)));
        titles.extend([("process".into(), Align::Right), ("thread".into(), Align::Right)]);
        titles.push(("name".into(), Align::Left));
        let mut table = Table::new(titles);
        for row in &self.locations {
            // Accounts and passive time are shown to make up the wall time.
            let mut parts: Vec<f64> =
                used.iter().map(|id| row.accounts.get(id).copied().unwrap_or(0.0)).collect();
            parts.push(sum(row.passive.values().copied()));
            let shown = wall.show_parts(&parts, row.wall_s);
            let mut cells: Vec<Cell> = vec![Cell::painted(Paint::Faint, row.handle.clone())];
            cells.push(wall.show(row.wall_s).into());
            cells.extend(shown.into_iter().map(Cell::from));
            cells.extend(ranks.then(|| row.rank.map(|rank| rank.to_string()).unwrap_or_default().into()));
            cells.extend([row.process.to_string().into(), row.thread.to_string().into()]);
            let tail = if row.service {
                "(service: not charged)".to_owned()
            } else if row.name == row.program {
                String::new()
            } else {
                format!("of {}", row.program)
            };
            cells.push(Cell::from(row.name.clone()).with_tail(tail));
            table.row(cells);
        }
        text.push_str(&table.render(style));
        let mut faint = |line: String| text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        if let Some(cut) = &self.cut {
            let seconds = crate::duration(cut.amount);
            faint(format!(" {} with {seconds} of CPU time (--limit)", counted(cut.rows, "more thread")));
        }
        for slot in self.slots.iter().filter(|slot| !slot.accounts.is_empty()) {
            let accounts: Vec<String> = slot
                .accounts
                .iter()
                .map(|(id, seconds)| format!("{id} {}", crate::duration(*seconds)))
                .collect();
            let whose =
                slot.rank.map_or_else(|| format!("process {}", slot.process), |rank| format!("rank {rank}"));
            faint(format!(
                " empty slots of {whose} ({}): {}",
                counted(slot.processors, "processor"),
                accounts.join(", ")
            ));
        }
        faint(" Each thread's accounts and passive time sum to its wall time.".into());
        if let Some(adds_up) = &self.adds_up {
            faint(format!(" {adds_up}."));
        }
        for note in &self.notes {
            faint(format!(" Note: {note}."));
        }
        faint(" Waits are not recorded yet: blocked time counts as passive.".into());
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let accounts = Account::ALL.map(Account::id);
        let first = ["handle", "process", "rank", "thread", "name", "wall_s", "cpu_s", "passive_s"];
        let mut rows = vec![first.iter().chain(&accounts).map(|name| (*name).to_owned()).collect::<Vec<_>>()];
        for row in &self.locations {
            let mut fields = vec![row.handle.clone(), row.process.to_string()];
            fields.push(row.rank.map(|rank| rank.to_string()).unwrap_or_default());
            fields.extend([row.thread.to_string(), row.name.clone(), exact(row.wall_s), exact(row.cpu_s)]);
            fields.push(exact(sum(row.passive.values().copied())));
            fields.extend(accounts.iter().map(|id| exact(row.accounts.get(id).copied().unwrap_or(0.0))));
            rows.push(fields);
        }
        rows
    }
}
