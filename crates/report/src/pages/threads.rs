//! The page `threads`: accounts and passive time of every location.

use proust_account::ledger::{Account, Accounts};
use proust_profile::{Location, LocationId, Metric, Process};
use proust_query::{Handle, Measure, Quantity, Selection};
use proust_words::counted;
use rustc_hash::FxHashMap;
use schemars::JsonSchema;
use serde::Serialize;

use super::account::Drawn;
use super::by_location::{self, ByLocation};
use super::facts::seconds;
use super::locations::{LocationTable, Row, Seconds, accounts_of, not_charged, passive_of, unexplained};
use super::{Cut, Page, csv_amounts, csv_heads, heading, no_arguments, scope};
use crate::column::ColumnHead;
use crate::error::ReportError;
use crate::number::{Scale, exact, sum};
use crate::question::{Format, Question, Sort};
use crate::row_amounts::RowAmounts;
use crate::schema::SCHEMA;
use crate::style::Style;
use crate::wording::Notes;
use crate::wrap::legend;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 40;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Threads {
    schema: u32,
    /// The columns of `--metrics` and `--define`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    metrics: Vec<ColumnHead>,
    locations: Vec<LocationRow>,
    slots: Vec<SlotRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
    /// How the ledger's total comes about, where it has slots.
    #[serde(skip)]
    formula: Option<String>,
    #[serde(skip)]
    total_s: f64,
    #[serde(skip)]
    beyond_s: f64,
    /// Of all charged threads, those that are cut included.
    #[serde(skip)]
    accounts: Vec<f64>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LocationRow {
    process: u32,
    rank: Option<u32>,
    thread: u32,
    name: String,
    handle: String,
    program: String,
    host: String,
    /// The processors that it was bound to at its end, or those of its process, as ranges of numbers such as
    /// `0-3,8`; empty where they are not known.
    processors: String,
    service: bool,
    #[serde(skip)]
    charged: bool,
    start_s: f64,
    wall_s: f64,
    cpu_s: f64,
    queued_s: f64,
    measurement_s: f64,
    samples: u64,
    /// The thread's own loss; 0 of threads that are not charged.
    lost_s: f64,
    /// The loss that it caused, whichever thread lost it.
    caused_s: f64,
    accounts: Seconds,
    /// The part of its accounts beyond the processors.
    beyond: Seconds,
    passive: Seconds,
    /// By column id, where metrics are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    metrics: Option<RowAmounts>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct SlotRow {
    process: u32,
    rank: Option<u32>,
    processors: u32,
    accounts: Seconds,
}

/// The processors that a location may use.
fn processors<'p>(location: &'p Location, process: &'p Process) -> &'p str {
    if location.processors.is_empty() { &process.processors } else { &location.processors }
}

impl Threads {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<Threads, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let ledger = drawn.account();
        // Within a range of time, amounts from samples are those of the range too.
        let (windowed, mut sums) = (drawn.is_of_part(), FxHashMap::default());
        for value in selection.values().iter().filter(|_| windowed) {
            *sums.entry((value.location, value.metric)).or_insert(0) += value.amount;
        }
        let known = |id: LocationId, metric, whole| {
            if windowed { sums.get(&(id, metric)).copied().unwrap_or(0) } else { whole }
        };
        let mut caused: FxHashMap<LocationId, u64> = FxHashMap::default();
        for row in drawn.ledger().caused.iter().filter(|row| selection.has_context(row.context)) {
            *caused.entry(row.location).or_default() += row.ns;
        }
        let asked = ByLocation::asked(selection, question)?;
        let mut locations: Vec<LocationRow> = ledger
            .locations
            .iter()
            .filter(|row| !windowed || row.wall_ns > 0)
            .map(|row| {
                let location = &profile.locations[row.location];
                let process = &profile.processes[location.process];
                LocationRow {
                    process: process.pid,
                    rank: process.rank,
                    thread: location.tid,
                    name: location.name.clone(),
                    handle: Handle::Location(row.location).to_string(),
                    program: process.name.clone(),
                    host: process.host.clone(),
                    processors: processors(location, process).to_owned(),
                    service: location.service,
                    charged: row.charged,
                    start_s: location.start.as_seconds(),
                    wall_s: seconds(row.wall_ns),
                    cpu_s: seconds(known(row.location, Metric::Cpu, location.cpu.unsigned())),
                    queued_s: if windowed {
                        seconds(row.accounts[Account::Oversubscribed] + row.accounts[Account::Preempted])
                    } else {
                        location.queued.as_seconds()
                    },
                    measurement_s: seconds(row.accounts[Account::Measurement]),
                    samples: known(row.location, Metric::Samples, location.samples),
                    lost_s: if row.charged { seconds(row.accounts.lost_ns(drawn.io)) } else { 0.0 },
                    caused_s: seconds(caused.get(&row.location).copied().unwrap_or(0)),
                    accounts: accounts_of(&row.accounts),
                    beyond: accounts_of(&row.beyond),
                    passive: passive_of(&row.passive),
                    metrics: asked.as_ref().map(|asked| asked.row(row.location)),
                }
            })
            .collect();
        match (&question.sort, &asked) {
            (Some(Sort::Name), _) => {
                locations.sort_by(|a, b| (&a.name, a.thread).cmp(&(&b.name, b.thread)));
            }
            // Threads that are not charged have no loss here.
            (Some(sort), _) if sort.quantity() == Some(&Quantity::Measure(Measure::Lost)) => {
                locations.sort_by(|a, b| b.lost_s.total_cmp(&a.lost_s).then(a.thread.cmp(&b.thread)));
            }
            (Some(_), Some(asked)) => locations.sort_by(|a, b| {
                let metrics = [a, b].map(|row| row.metrics.as_ref());
                let [Some(of_a), Some(of_b)] = metrics else { return a.thread.cmp(&b.thread) };
                asked.compare(of_a, of_b).then(a.thread.cmp(&b.thread))
            }),
            _ => {}
        }
        let is_shown = !question.columns.is_empty() || !question.metrics.derived().is_empty();
        if !is_shown {
            // They were needed for the order only.
            locations.iter_mut().for_each(|row| row.metrics = None);
        }
        let metrics = asked.filter(|_| is_shown).map(|asked| asked.heads).unwrap_or_default();
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
                process: profile.processes[row.process].pid,
                rank: row.rank,
                processors: row.processors,
                accounts: accounts_of(&row.accounts),
            })
            .collect();
        let mut notes = Notes::of(selection.notes());
        notes.add(&drawn.notes);
        let mut charged = Accounts::default();
        for row in ledger.locations.iter().filter(|row| row.charged) {
            charged += &row.accounts;
        }
        let formula = (!ledger.is_without_slots()).then(|| drawn.formula(profile.facts.available_processors));
        Ok(Threads {
            schema: SCHEMA,
            metrics,
            locations,
            slots,
            cut,
            notes,
            scope: scope(selection, question),
            formula,
            total_s: seconds(ledger.total_ns),
            beyond_s: seconds(ledger.beyond_ns),
            accounts: charged.iter().map(|(_, ns)| seconds(ns)).collect(),
        })
    }

    /// What `--metrics` and `--define` ask for.
    fn metrics(&self, style: &Style) -> String {
        let rows = self.locations.iter();
        let rows =
            rows.filter_map(|row| Some((row.handle.as_str(), row.name.as_str(), row.metrics.as_ref()?)));
        by_location::table(&self.metrics, &rows.collect::<Vec<_>>(), style)
    }

    fn table(&self, scale: Scale, totals: Option<Vec<i64>>) -> LocationTable<'_> {
        let has_ranks = self.locations.iter().any(|row| row.rank.is_some());
        let are_bound = self.locations.windows(2).any(|two| two[0].processors != two[1].processors);
        let row = |row: &'_ LocationRow| {
            let rank = || row.rank.map(|rank| rank.to_string()).unwrap_or_default();
            let mut ids: Vec<String> = has_ranks.then(rank).into_iter().collect();
            ids.extend([row.process.to_string(), row.thread.to_string()]);
            ids.extend(are_bound.then(|| row.processors.clone()));
            let tail = if !row.charged {
                not_charged(row.charged, row.service).to_owned()
            } else if row.name == row.program {
                String::new()
            } else {
                format!("of {}", row.program)
            };
            (ids, tail)
        };
        let rows = self.locations.iter().map(|location| {
            let (ids, tail) = row(location);
            Row {
                handle: &location.handle,
                name: &location.name,
                tail,
                ids,
                charged: location.charged,
                accounts: &location.accounts,
                passive: &location.passive,
            }
        });
        let ids = has_ranks.then_some("rank").into_iter().chain(["process", "thread"]);
        let ids = ids.chain(are_bound.then_some("bound to")).collect();
        LocationTable { rows: rows.collect(), ids, scale, totals }
    }
}

impl Page for Threads {
    fn text(&self, style: &Style) -> String {
        if self.locations.is_empty() {
            return heading(style, "Threads", &self.scope) + " no threads here\n";
        }
        let charged_s = sum(self.accounts.iter().copied());
        let scale = Scale::seconds(self.locations.iter().map(|row| row.wall_s));
        let totals =
            self.cut.is_none().then(|| scale.split(self.accounts.iter().copied(), scale.digits(charged_s)));
        let explanation = format!("{}; active + passive = wall", self.scope);
        let mut text = self.table(scale, totals).text("Threads", &explanation, style);
        let mut faint = |line: String| text.push_str(&legend(&line, style));
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
        if let Some(formula) = &self.formula {
            let scale = Scale::seconds([self.total_s]);
            // The first part as in the table; the other one takes the rounding.
            let threads = scale.digits(charged_s);
            let beyond = scale.digits(self.beyond_s);
            let slots = scale.write(scale.digits(self.total_s) - threads + beyond);
            let threads = scale.write(threads);
            let less = match beyond {
                0 => String::new(),
                _ => format!(" − {} beyond the processors", scale.write(beyond)),
            };
            faint(format!(" {threads} of the threads{less} + {slots} of empty slots = {formula}."));
        }
        text.push_str(&self.metrics(style));
        text.push_str(&self.notes.lines(style));
        text + &unexplained(self.locations.iter().map(|row| (row.wall_s, &row.passive)), style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let accounts = Account::ALL.map(Account::id);
        let first =
            ["handle", "process", "rank", "thread", "name", "processors", "wall_s", "cpu_s", "passive_s"];
        let heads = first.iter().chain(&accounts).chain(&["lost_s", "caused_s"]);
        let heads: Vec<&str> = heads.copied().collect();
        let mut rows = vec![csv_heads(&heads, &self.metrics)];
        for row in &self.locations {
            let mut fields = vec![row.handle.clone(), row.process.to_string()];
            fields.push(row.rank.map(|rank| rank.to_string()).unwrap_or_default());
            fields.extend([row.thread.to_string(), row.name.clone(), row.processors.clone()]);
            fields.extend([exact(row.wall_s), exact(row.cpu_s)]);
            fields.push(exact(sum(row.passive.values().copied())));
            fields.extend(accounts.iter().map(|id| exact(row.accounts.get(id).copied().unwrap_or(0.0))));
            fields.extend([exact(row.lost_s), exact(row.caused_s)]);
            fields.extend(row.metrics.iter().flat_map(|metrics| csv_amounts(&self.metrics, metrics)));
            rows.push(fields);
        }
        rows
    }
}
