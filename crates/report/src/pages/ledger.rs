//! The page `ledger`: all accounts, of the threads and of the empty slots, owner by owner and thread by
//! thread, so that every sum is seen.
//!
//! JSON: `{"schema":1,"run":{…},"ledger":{…},"owners":[…],"locations":[…],"notes":[…]}`; `run` and `ledger`
//! as in `summary`. An owner of slots is a rank with its child processes, or all processes of a run without
//! ranks:
//! `{"process":pid,"rank":n|null,"job":n|null,"processors":n,"available":n|null,"total_s":…,
//! "locations":{account:
//! seconds},"slots":{account: seconds}, "beyond_s":…}`; its two maps sum to its `total_s`, those of all
//! owners to the ledger's; `locations` is without its threads' time beyond the processors. A location is
//! `{"handle","process",
//! "rank","thread","name","service","charged","owner","wall_s","active_s","passive_s","accounts":{account:
//! seconds}, "beyond":{account: seconds},"passive":{reason: seconds}}`; `active_s` is the sum of its
//! accounts, of which `beyond` is a part, `passive_s` of its reasons, `owner` the position of its owner,
//! null where it is not charged or where `--where` selects only some of its owner's locations.

use proust_account::ledger::{Account, Accounts, IoAs};
use proust_query::{Handle, Selection};
use proust_words::{counted, verb};
use schemars::JsonSchema;
use serde::Serialize;

use super::account::{Drawn, LedgerBlock, beyond_text};
use super::facts::{RunBlock, seconds};
use super::locations::{LocationTable, Row, Seconds, accounts_of, not_charged, passive_of};
use super::{Cut, Page, heading, no_arguments};
use crate::error::ReportError;
use crate::number::{Scale, exact, percents, sum};
use crate::question::{Format, Question};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;
use crate::wrap::legend;

/// Threads in text when nothing else is asked for.
const ROWS: usize = 40;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LedgerPage {
    schema: u32,
    run: RunBlock,
    ledger: LedgerBlock,
    owners: Vec<OwnerRow>,
    locations: Vec<LocationRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    formula: String,
    /// The part that fills slots.
    #[serde(skip)]
    of_locations: Vec<f64>,
    #[serde(skip)]
    beyond: Vec<f64>,
    #[serde(skip)]
    of_slots: Vec<f64>,
    #[serde(skip)]
    io: IoAs,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OwnerRow {
    process: u32,
    rank: Option<u32>,
    job: Option<u32>,
    processors: u32,
    available: Option<u32>,
    total_s: f64,
    locations: Seconds,
    slots: Seconds,
    beyond_s: f64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct LocationRow {
    handle: String,
    process: u32,
    rank: Option<u32>,
    thread: u32,
    name: String,
    service: bool,
    charged: bool,
    owner: Option<usize>,
    wall_s: f64,
    active_s: f64,
    passive_s: f64,
    accounts: Seconds,
    beyond: Seconds,
    passive: Seconds,
}

impl LedgerPage {
    pub fn build(
        selection: &Selection<'_>,
        question: &Question,
        drawn: &Drawn<'_>,
    ) -> Result<LedgerPage, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let ledger = drawn.account();
        let (mut locations_sum, mut slots_sum) = (Accounts::default(), Accounts::default());
        let mut by_owner = vec![Accounts::default(); ledger.slots.len()];
        for row in ledger.locations.iter().filter(|row| row.charged) {
            let filling = row.within();
            locations_sum += &filling;
            if let Some(owner) = row.slots {
                by_owner[owner] += &filling;
            }
        }
        ledger.slots.iter().for_each(|row| slots_sum += &row.accounts);
        let owners = ledger.slots.iter().zip(&by_owner).map(|(row, locations)| OwnerRow {
            process: profile.processes[row.process].pid,
            rank: row.rank,
            job: row.job,
            processors: row.processors,
            available: row.available,
            total_s: seconds(row.total_ns),
            locations: accounts_of(locations),
            slots: accounts_of(&row.accounts),
            beyond_s: seconds(row.beyond_ns),
        });
        let alive = ledger.locations.iter().filter(|row| row.wall_ns > 0);
        let mut locations: Vec<LocationRow> = alive
            .map(|row| {
                let location = &profile.locations[row.location];
                let process = &profile.processes[location.process];
                LocationRow {
                    handle: Handle::Location(row.location).to_string(),
                    process: process.pid,
                    rank: process.rank,
                    thread: location.tid,
                    name: location.name.clone(),
                    service: row.service,
                    charged: row.charged,
                    owner: row.slots,
                    wall_s: seconds(row.wall_ns),
                    active_s: seconds(row.accounts.sum_ns()),
                    passive_s: seconds(row.passive.sum_ns()),
                    accounts: accounts_of(&row.accounts),
                    beyond: accounts_of(&row.beyond),
                    passive: passive_of(&row.passive),
                }
            })
            .collect();
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        let mut cut = None;
        if let Some(limit) = limit.filter(|&limit| limit < locations.len()) {
            locations.sort_by(|a, b| b.active_s.total_cmp(&a.active_s));
            let hidden = locations.split_off(limit);
            let amount = sum(hidden.iter().filter(|row| row.charged).map(|row| row.active_s));
            cut = Some(Cut { rows: hidden.len(), amount });
        }
        let mut notes = Notes::of(selection.notes());
        notes.add(&drawn.notes);
        let all = |accounts: &Accounts| accounts.iter().map(|(_, ns)| seconds(ns)).collect();
        Ok(LedgerPage {
            schema: SCHEMA,
            run: RunBlock::new(profile, drawn.processors),
            ledger: LedgerBlock::new(drawn),
            owners: owners.collect(),
            locations,
            cut,
            notes,
            formula: drawn.formula(profile.facts.available_processors),
            of_locations: all(&locations_sum),
            beyond: all(&ledger.beyond),
            of_slots: all(&slots_sum),
            io: drawn.io,
        })
    }

    /// Accounts down, threads and slots across.
    fn accounts_text(&self, shown: &Shown, style: &Style) -> String {
        let ledger = &self.ledger;
        let scale = &shown.scale;
        let all = ledger.accounts.iter().map(|row| row.seconds).chain([ledger.residual_s]);
        let shares = percents(&all.collect::<Vec<_>>(), ledger.total_s);
        let has_beyond = shown.all_beyond > 0;
        let heads = [
            ("account".to_owned(), Align::Left),
            ("class".into(), Align::Left),
            (scale.title("threads"), Align::Right),
            (scale.title("empty slots"), Align::Right),
            (scale.title("sum"), Align::Right),
            ("%".into(), Align::Right),
        ];
        let beyond = has_beyond.then(|| (scale.title("beyond"), Align::Right));
        let mut table = Table::new(heads.into_iter().chain(beyond).chain([("".into(), Align::Left)]));
        // The column of time beyond the processors is only there where there is any.
        let beyond = |cell: Cell| has_beyond.then_some(cell);
        for (n, row) in ledger.accounts.iter().enumerate() {
            let (paint, group) = match row.account {
                account if account.productive(self.io) => (Paint::Good, "productive"),
                account if account.lost(self.io) => (Paint::Bad, "lost"),
                _ => (Paint::Plain, ""),
            };
            let (threads, slots) = (shown.threads[n], shown.slots[n]);
            let cells = vec![
                row.id.into(),
                Cell::painted(Paint::Faint, row.class),
                scale.write(threads).into(),
                scale.write(slots).into(),
                scale.write(threads + slots).into(),
                shares[n].clone().into(),
            ];
            let group = Cell::painted(paint, if row.seconds > 0.0 { group } else { "" });
            let beyond = beyond(scale.write(shown.beyond[n]).into());
            table.row(cells.into_iter().chain(beyond).chain([group]).collect());
        }
        let nothing = || Cell::from("-");
        table.row(vec![
            "residual".into(),
            "".into(),
            nothing(),
            nothing(),
            scale.write(shown.residual).into(),
            shares[ledger.accounts.len()].clone().into(),
        ]);
        let strong = |text: String| Cell::painted(Paint::Strong, text);
        let cells = vec![
            strong("sum".into()),
            "".into(),
            strong(scale.write(shown.all_threads)),
            strong(scale.write(shown.all_slots)),
            strong(scale.write(shown.total)),
            if ledger.total_s > 0.0 { "100.0" } else { "-" }.into(),
        ];
        let efficiency = strong(ledger.efficiency.map_or_else(String::new, |e| format!("efficiency {e:.3}")));
        let beyond = beyond(strong(scale.write(shown.all_beyond)));
        table.row(cells.into_iter().chain(beyond).chain([efficiency]).collect());
        let mut text = table.render_within(&["class", "%"], style) + "\n" + &self.classes_text(shown, style);
        for line in beyond_text(ledger).into_iter().chain(ledger.service.text()) {
            text.push_str(&legend(&line, style));
        }
        text
    }

    /// The total once more, by productive and lost.
    fn classes_text(&self, shown: &Shown, style: &Style) -> String {
        let is = |wanted: &[Account]| -> i64 {
            let rows = self.ledger.accounts.iter().enumerate();
            let rows = rows.filter(|(_, row)| wanted.contains(&row.account));
            rows.map(|(n, _)| shown.threads[n] + shown.slots[n]).sum()
        };
        let all = Account::ALL.into_iter();
        let productive: Vec<Account> = all.clone().filter(|account| account.productive(self.io)).collect();
        let lost: Vec<Account> = all.filter(|account| account.lost(self.io)).collect();
        let groups = [
            ("productive", is(&productive)),
            ("lost", is(&lost)),
            ("asleep", is(&[Account::Asleep])),
            ("paused", is(&[Account::Paused])),
            ("unattributed", is(&[Account::Unattributed])),
            ("residual", shown.residual),
        ];
        let terms = groups.iter().filter(|(name, digits)| *digits != 0 || *name == "productive");
        let terms: Vec<String> =
            terms.map(|(name, digits)| format!("{name} {}", shown.scale.write(*digits))).collect();
        let total = shown.scale.write(shown.total);
        let line = format!(" {} = {total} {}\n", terms.join(" + "), shown.scale.unit);
        style.paint(Paint::Faint, &line)
    }

    fn owners_text(&self, shown: &Shown, style: &Style) -> String {
        if self.owners.is_empty() || self.locations.iter().any(|row| row.charged && row.owner.is_none()) {
            return String::new();
        }
        let mut text =
            "\n".to_owned() + &heading(style, "Who has the slots", "threads + empty slots = total");
        let scale = &shown.scale;
        let mut table = Table::new([
            (scale.title("threads"), Align::Right),
            (scale.title("empty slots"), Align::Right),
            (scale.title("total"), Align::Right),
            ("processors".into(), Align::Right),
            ("".into(), Align::Left),
        ]);
        let of = |map: &Seconds| sum(map.values().copied());
        let threads = scale.split(self.owners.iter().map(|row| of(&row.locations)), shown.all_threads);
        let slots = scale.split(self.owners.iter().map(|row| of(&row.slots)), shown.all_slots);
        for (n, row) in self.owners.iter().enumerate() {
            let name = match row.rank {
                Some(rank) => format!("rank {rank} (process {})", row.process),
                None => format!("all processes, from {} on", row.process),
            };
            let numbers =
                [threads[n], slots[n], threads[n] + slots[n]].map(|digits| scale.write(digits).into());
            table.row(numbers.into_iter().chain([row.processors.to_string().into(), name.into()]).collect());
        }
        let processors: u32 = self.owners.iter().map(|row| row.processors).sum();
        let (threads, slots): (i64, i64) = (threads.iter().sum(), slots.iter().sum());
        let numbers = [threads, slots, threads + slots];
        let numbers = numbers.map(|digits| Cell::painted(Paint::Strong, scale.write(digits)));
        table.row(numbers.into_iter().chain([processors.to_string().into(), "sum".into()]).collect());
        text.push_str(&table.render(style));
        text
    }

    fn locations_text(&self, shown: &Shown, style: &Style) -> String {
        let rows = self.locations.iter().map(|row| Row {
            handle: &row.handle,
            name: &row.name,
            tail: not_charged(row.charged, row.service).to_owned(),
            ids: Vec::new(),
            charged: row.charged,
            accounts: &row.accounts,
            passive: &row.passive,
        });
        // A thread's own accounts are complete, beyond the processors or not.
        let own = shown.threads.iter().zip(&shown.beyond).map(|(within, beyond)| within + beyond);
        let totals = self.cut.is_none().then(|| own.collect());
        let table = LocationTable { rows: rows.collect(), ids: Vec::new(), scale: shown.scale, totals };
        "\n".to_owned() + &table.text("Threads", "accounts sum to active, active + passive = wall", style)
    }
}

/// The ledger's numbers in units of the last digit shown, such that they add up in every direction.
struct Shown {
    scale: Scale,
    threads: Vec<i64>,
    slots: Vec<i64>,
    beyond: Vec<i64>,
    residual: i64,
    all_threads: i64,
    all_slots: i64,
    all_beyond: i64,
    total: i64,
}

impl Shown {
    fn new(page: &LedgerPage) -> Shown {
        let scale = Scale::seconds([page.ledger.total_s]);
        let total = scale.digits(page.ledger.total_s);
        let of = |parts: &[f64]| sum(parts.iter().copied());
        let columns =
            scale.split([of(&page.of_locations), of(&page.of_slots), page.ledger.residual_s], total);
        let [all_threads, all_slots, residual] = columns[..] else { unreachable!("three parts stay three") };
        let all_beyond = scale.digits(page.ledger.beyond_s);
        Shown {
            beyond: scale.split(page.beyond.iter().copied(), all_beyond),
            all_beyond,
            threads: scale.split(page.of_locations.iter().copied(), all_threads),
            slots: scale.split(page.of_slots.iter().copied(), all_slots),
            residual,
            all_threads,
            all_slots,
            total,
            scale,
        }
    }
}

impl Page for LedgerPage {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Ledger", &self.formula);
        let shown = Shown::new(self);
        text.push_str(&self.accounts_text(&shown, style));
        text.push_str(&self.owners_text(&shown, style));
        text.push_str(&self.locations_text(&shown, style));
        let mut faint = |line: String| text.push_str(&(style.paint(Paint::Faint, &line) + "\n"));
        if let Some(cut) = &self.cut {
            faint(format!(
                " {} {} not shown, with {} of active time (--limit {}).",
                counted(cut.rows, "more thread"),
                verb(cut.rows, "is", "are"),
                crate::duration(cut.amount),
                self.locations.len() + cut.rows
            ));
        }
        text.push_str(&self.notes.lines(style));
        text
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = ["account", "class", "threads_s", "slots_s", "seconds", "beyond_s"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        for (n, row) in self.ledger.accounts.iter().enumerate() {
            let numbers = [self.of_locations[n], self.of_slots[n], row.seconds, self.beyond[n]].map(exact);
            rows.push([row.id.to_owned(), row.class.to_owned()].into_iter().chain(numbers).collect());
        }
        rows
    }
}
