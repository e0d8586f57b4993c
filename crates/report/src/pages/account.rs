//! The ledger of the selection: of the whole run, of a part of its time, of some of its threads.

use proust_account::ledger::{Account, Accounts, IoAs, Ledger};
use proust_account::stored::StoredTimelines;
use proust_query::{Key, ScopedAccount, Selection};
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::facts::seconds;
use super::locations::{Seconds, accounts_of};
use crate::error::ReportError;
use crate::number::duration;
use crate::question::Question;
use crate::wording::PageNote;

/// A ledger, and its scope.
pub(super) struct Drawn<'l> {
    scoped: ScopedAccount<'l>,
    pub io: IoAs,
    /// P of the whole run.
    pub processors: u32,
    pub processors_given: bool,
    /// The range of time in words, where it is not all of it.
    pub window: Option<String>,
    /// The filter in words, where it selects by more than time.
    filter: Option<String>,
    /// What a reader must know of it.
    pub notes: Vec<PageNote>,
}

impl<'l> Drawn<'l> {
    /// `kept` is the ledger of the whole run, where it is known already, with the rows that the page needs;
    /// `stored` are its timelines, for
    /// pages that are not about causes.
    pub fn new(
        selection: &Selection<'_>,
        question: &Question,
        kept: Option<&'l Ledger>,
        stored: Option<&StoredTimelines>,
    ) -> Result<Drawn<'l>, ReportError> {
        let filter = &question.filter;
        let scoped = ScopedAccount::of(selection, filter, question.processors, kept, stored)?;
        let (ledger, windows) = (&*scoped.ledger, scoped.windows.as_ref());
        let processors = scoped.processors;
        let mut notes = Vec::new();
        let queued_ns: u64 = [Account::Oversubscribed, Account::Preempted]
            .into_iter()
            .map(|account| ledger.with_beyond_ns(account))
            .sum();
        if windows.is_some() && queued_ns > 0 {
            notes.push(PageNote::QueueEstimated {});
        }
        if filter.mentions(&[Key::Process, Key::Rank, Key::Thread]) && ledger.is_without_slots() {
            notes.push(PageNote::SlotsLeftOut {});
        }
        let keys: Vec<String> = [Key::Cpu, Key::Function, Key::Module, Key::File, Key::Interval]
            .into_iter()
            .filter(|&key| filter.mentions(&[key]) && !(key == Key::Interval && scoped.inside.is_some()))
            .map(|key| key.word().to_owned())
            .collect();
        if !keys.is_empty() {
            notes.push(PageNote::LedgerOfAllSamples { keys });
        }
        if filter.mentions(&[Key::State]) {
            notes.push(PageNote::LedgerOfAllStates {});
        }
        if question.processors.is_some() {
            notes.push(PageNote::ProcessorsGiven { processors });
        }
        let window = windows.map(|windows| {
            let life_ns = selection.profile().facts.wall.unsigned();
            let shown = windows.as_slice().iter().map(|window| {
                let end_ns = window.end_ns.min(life_ns);
                if window.start_ns >= life_ns {
                    return format!("{}.., after the end of the run", duration(seconds(window.start_ns)));
                }
                format!("{}..{}", duration(seconds(window.start_ns)), duration(seconds(end_ns)))
            });
            shown.collect::<Vec<_>>().join(", ")
        });
        let by_more_than_time = filter.mentions(&[
            Key::Process,
            Key::Rank,
            Key::Thread,
            Key::Cpu,
            Key::Function,
            Key::Module,
            Key::File,
            Key::Interval,
            Key::State,
        ]);
        Ok(Drawn {
            scoped,
            filter: by_more_than_time.then(|| filter.to_string()),
            io: question.io_as,
            processors,
            processors_given: question.processors.is_some(),
            window,
            notes,
        })
    }

    /// The account of the time and the threads in scope, with its rows.
    pub fn ledger(&self) -> &Ledger {
        &self.scoped.ledger
    }

    /// The account itself: of the intervals in scope, where the filter is about these.
    pub fn account(&self) -> &Ledger {
        self.scoped.account()
    }

    /// Whether it is that of a part of the time.
    pub fn is_of_part(&self) -> bool {
        self.scoped.is_of_part()
    }

    /// How the total comes about: `3.000 s = 1 processor × 3.000 s wall; 4 available`.
    pub fn formula(&self, available: u32) -> String {
        let ledger = self.account();
        let total = duration(seconds(ledger.total_ns));
        let mut text = if self.scoped.inside.is_some() && ledger.slots.len() != 1 {
            format!("{total} of {} in these intervals", counted(ledger.locations.len(), "thread"))
        } else if ledger.is_without_slots() {
            format!("{total} of {}", counted(ledger.locations.len(), "thread"))
        } else {
            let (processors, wall) =
                (counted(ledger.processors, "processor"), duration(seconds(ledger.wall_ns)));
            let beyond_s = seconds(ledger.beyond_ns);
            let beyond = if beyond_s > 0.0005 {
                format!("; {} beyond the processors", duration(beyond_s))
            } else {
                String::new()
            };
            // Their launcher, whose time the page's head has, lives longer.
            let of_ranks =
                if ledger.slots.iter().any(|slot| slot.rank.is_some()) { " of the ranks" } else { "" };
            format!("{total} = {processors} × {wall} wall{of_ranks}{beyond}; {available} available")
        };
        if let Some(window) = &self.window {
            text.push_str(&format!("; in {window}"));
        }
        if let Some(filter) = &self.filter {
            text.push_str(&format!("; where {filter}"));
        }
        text
    }
}

/// The amounts beyond the processors, in words, largest first; None where it rounds to nothing.
pub(super) fn beyond_text(block: &LedgerBlock) -> Option<String> {
    if block.beyond_s <= 0.0005 {
        return None;
    }
    let parts = parts_text(&block.beyond);
    let threads = if block.active > block.processors {
        format!("up to {} were active at once", counted(block.active, "thread"))
    } else {
        "more threads were active for a moment".to_owned()
    };
    Some(format!("Beyond the processors, outside of the total: {parts} ({threads})."))
}

/// The service threads of runtimes, and their time outside of the total.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ServiceBlock {
    pub threads: usize,
    /// Sum of the accounts.
    pub active_s: f64,
    pub accounts: Seconds,
}

impl ServiceBlock {
    fn new(ledger: &Ledger) -> ServiceBlock {
        let mut accounts = Accounts::default();
        let services = ledger.locations.iter().filter(|row| row.service);
        let threads = services.inspect(|row| accounts += &row.accounts).count();
        ServiceBlock { threads, active_s: seconds(accounts.sum_ns()), accounts: accounts_of(&accounts) }
    }

    /// In words; None where there are no such threads.
    pub fn text(&self) -> Option<String> {
        let threads = (self.threads > 0).then(|| counted(self.threads, "service thread"))?;
        let spent = match parts_text(&self.accounts) {
            parts if parts.is_empty() => "nothing worth showing".to_owned(),
            parts => parts,
        };
        Some(format!("{threads} of runtimes, outside of the total: {spent}."))
    }
}

/// Seconds by account, largest first, without those that round to nothing.
fn parts_text(seconds: &Seconds) -> String {
    let mut parts: Vec<(&str, f64)> = seconds.iter().map(|(id, seconds)| (*id, *seconds)).collect();
    parts.retain(|(_, seconds)| *seconds > 0.0005);
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> =
        parts.iter().map(|(id, seconds)| format!("{id} {}", duration(*seconds))).collect();
    parts.join(", ")
}

/// The block `ledger`.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct LedgerBlock {
    pub total_s: f64,
    pub productive_s: f64,
    pub lost_s: f64,
    pub unattributed_s: f64,
    pub efficiency: Option<f64>,
    pub residual_s: f64,
    /// Beyond the processors, outside of the total.
    pub beyond_s: f64,
    /// The same by account.
    pub beyond: Seconds,
    /// Service threads of runtimes, outside of the total.
    pub service: ServiceBlock,
    /// Locations active at once for at least 1 % of the time, whether there were processors for them or not.
    pub active: u32,
    /// Length of the time that the ledger is integrated over; 0 where it has no slots.
    pub wall_s: f64,
    /// Processors of the part of the run that the ledger is about.
    pub processors: u32,
    /// Whether they were given, not measured.
    pub processors_given: bool,
    /// `productive` or `lost`.
    pub io_as: &'static str,
    pub accounts: Vec<AccountRow>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct AccountRow {
    pub id: &'static str,
    pub class: &'static str,
    pub seconds: f64,
    #[serde(skip)]
    pub account: Account,
}

impl LedgerBlock {
    pub fn new(drawn: &Drawn<'_>) -> LedgerBlock {
        let ledger = drawn.account();
        LedgerBlock {
            total_s: seconds(ledger.total_ns),
            productive_s: seconds(ledger.productive_ns(drawn.io)),
            lost_s: seconds(ledger.lost_ns(drawn.io)),
            unattributed_s: seconds(ledger.accounts[Account::Unattributed]),
            efficiency: ledger.efficiency(drawn.io),
            residual_s: ledger.residual_ns() as f64 / 1e9,
            beyond_s: seconds(ledger.beyond_ns),
            beyond: accounts_of(&ledger.beyond),
            service: ServiceBlock::new(ledger),
            active: ledger.active,
            wall_s: seconds(ledger.wall_ns),
            processors: ledger.processors,
            processors_given: drawn.processors_given,
            io_as: if drawn.io == IoAs::Lost { "lost" } else { "productive" },
            accounts: ledger
                .accounts
                .iter()
                .map(|(account, ns)| AccountRow {
                    id: account.id(),
                    class: account.class().id(),
                    seconds: seconds(ns),
                    account,
                })
                .collect(),
        }
    }
}
