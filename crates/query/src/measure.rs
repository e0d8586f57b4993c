//! What a column of numbers counts: a stored metric, or seconds that the ledger knows by context.

use proust_profile::{ContextId, Kind, LocationId, Metric, Source, Unit};

use super::doing::Doing;
use proust_account::ledger::{Account, IoAs, Ledger, PassiveReason};

/// What a column of numbers counts, by context and location.
///
/// Stored metrics are part of the profile. All others are rows of a [`Ledger`], in seconds: `active` plus
/// `passive` is the `wall` time of a location. `lost` is what a location lost itself; `empty` are empty
/// slots, which belong to no location, charged to the contexts of locations that worked or waited meanwhile;
/// `caused` is what was lost, of both, by the contexts to blame: its sum is the sum of the lost accounts, but
/// for `idle`, which has no owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// A stored metric.
    Metric(Metric),
    /// All of a location's time: active and passive.
    Wall,
    /// What locations spent on all accounts together: working, or waiting for a partner or a holder.
    Active,
    /// The part of it in the run queue: `oversubscribed` and `preempted`.
    Queued,
    /// The locations' time on an account. Of `serial` and `narrow`, which no location spends, the caused
    /// amount.
    Account(Account),
    /// Work, serial or in parallel regions, with a processor: all accounts of working but a runtime's own.
    OmpWork,
    /// Waiting in any way, and work without a processor: accounts of waiting, the run queue, passive time.
    OmpWait,
    /// All time of the first thread of each process.
    Master,
    /// Passive time, for one reason or all together.
    Passive(Option<PassiveReason>),
    /// The locations' own losses, on all lost accounts together.
    Lost,
    /// Empty slots charged to the contexts of locations that worked or waited meanwhile.
    Empty,
    /// Losses, by the contexts that caused them, of one account or all together.
    Caused(Option<Account>),
}

/// Accounts of which a context can have something. `measurement` is a stored metric under the same name. Time
/// that no location spends and that is charged to none is in the ledger only.
pub const ACCOUNTS: [Account; 14] = [
    Account::Compute,
    Account::Io,
    Account::Serial,
    Account::Narrow,
    Account::Replicated,
    Account::Barrier,
    Account::Lock,
    Account::MpiPartner,
    Account::MpiTransfer,
    Account::Runtime,
    Account::Oversubscribed,
    Account::Preempted,
    Account::Fault,
    Account::Unattributed,
];

/// Accounts that are lost at one place and caused at another.
const CAUSED: [Account; 5] =
    [Account::Serial, Account::Narrow, Account::Barrier, Account::Lock, Account::MpiPartner];

/// Accounts of working with a processor, but for a runtime's own work. `io` is one of them: which part of a
/// call had a processor is not known by account.
const WORK: [Account; 6] = [
    Account::Compute,
    Account::Io,
    Account::Replicated,
    Account::MpiTransfer,
    Account::Measurement,
    Account::Fault,
];

/// Accounts of waiting, and of work that has no processor.
const WAITING: [Account; 5] =
    [Account::Barrier, Account::Lock, Account::MpiPartner, Account::Oversubscribed, Account::Preempted];

/// Accounts of which no context ever has anything.
const NOBODYS: [Account; 3] = [Account::Asleep, Account::Idle, Account::Paused];

impl Measure {
    /// All measures, in the order in which they are listed.
    pub fn all() -> impl Iterator<Item = Measure> {
        let accounts = ACCOUNTS.into_iter().map(Measure::Account);
        let reasons = PassiveReason::ALL.into_iter().map(|reason| Measure::Passive(Some(reason)));
        let caused = CAUSED.into_iter().map(|account| Measure::Caused(Some(account)));
        (Metric::ALL.into_iter().map(Measure::Metric))
            .chain([Measure::Wall, Measure::Active, Measure::Queued])
            .chain(accounts)
            .chain([Measure::Passive(None)])
            .chain(reasons)
            .chain([Measure::OmpWork, Measure::OmpWait, Measure::Master])
            .chain([Measure::Lost, Measure::Empty, Measure::Caused(None)])
            .chain(caused)
    }

    /// Identifier on the command line and in JSON.
    pub fn id(self) -> String {
        let word = |id: &str| id.replace('-', "_");
        match self {
            Measure::Metric(metric) => metric.id().to_owned(),
            Measure::Wall => "wall_s".into(),
            Measure::Active => "active_s".into(),
            Measure::Queued => "queued_s".into(),
            Measure::Account(account) => format!("{}_s", word(account.id())),
            Measure::OmpWork => "omp_work_s".into(),
            Measure::OmpWait => "omp_wait_s".into(),
            Measure::Master => "master_s".into(),
            Measure::Passive(None) => "passive_s".into(),
            Measure::Passive(Some(reason)) => format!("passive_{}_s", word(reason.id())),
            Measure::Lost => "lost_s".into(),
            Measure::Empty => "empty_s".into(),
            Measure::Caused(None) => "caused_s".into(),
            Measure::Caused(Some(account)) => format!("caused_{}_s", word(account.id())),
        }
    }

    /// The measure of this identifier.
    pub fn from_id(id: &str) -> Option<Measure> {
        Measure::all().find(|measure| measure.id() == id)
    }

    /// The account of this identifier, if it is one of which no context has anything.
    pub fn of_nobody(id: &str) -> Option<Account> {
        NOBODYS.into_iter().find(|account| Measure::Account(*account).id() == id)
    }

    /// Unit of its amounts.
    pub fn unit(self) -> Unit {
        match self {
            Measure::Metric(metric) => metric.unit(),
            _ => Unit::SECONDS,
        }
    }

    /// What its amounts are known from.
    pub fn source(self) -> Source {
        match self {
            Measure::Metric(metric) => metric.source(),
            _ => Source::Account,
        }
    }

    /// How amounts of several places become one.
    pub fn kind(self) -> Kind {
        match self {
            Measure::Metric(metric) => metric.kind(),
            _ => Kind::Sum,
        }
    }

    /// Whether only the ledger's rows can answer.
    pub fn needs_rows(self) -> bool {
        !matches!(self, Measure::Metric(_))
    }

    /// Calls `take` for each row of a ledger that counts, with what it counts as and nanoseconds; of
    /// [`Measure::Master`] for those of all threads, since a ledger does not know which was first.
    pub(super) fn each_row(self, ledger: &Ledger, mut take: impl FnMut(ContextId, LocationId, Doing, u64)) {
        let mut rows = |rows: &[proust_account::ledger::Row], counts: &dyn Fn(Account) -> bool| {
            for row in rows.iter().filter(|row| counts(row.account)) {
                take(row.context, row.location, Doing::Active(row.account), row.ns);
            }
        };
        let queued = |account| matches!(account, Account::Oversubscribed | Account::Preempted);
        match self {
            Measure::Metric(_) => {}
            Measure::Active | Measure::Wall | Measure::Master => rows(&ledger.spent, &|_| true),
            Measure::OmpWork => rows(&ledger.spent, &|account| WORK.contains(&account)),
            Measure::OmpWait => rows(&ledger.spent, &|account| WAITING.contains(&account)),
            Measure::Queued => rows(&ledger.spent, &queued),
            Measure::Account(wanted @ (Account::Serial | Account::Narrow)) => {
                rows(&ledger.blamed, &|account| account == wanted);
            }
            Measure::Account(wanted) => rows(&ledger.spent, &|account| account == wanted),
            Measure::Lost => rows(&ledger.spent, &|account| account.lost(IoAs::Productive)),
            Measure::Empty => rows(&ledger.blamed, &|_| true),
            Measure::Caused(wanted) => {
                rows(&ledger.caused, &|account| wanted.is_none_or(|wanted| account == wanted));
            }
            Measure::Passive(_) => {}
        }
        let wanted = match self {
            Measure::Wall | Measure::Master | Measure::OmpWait | Measure::Passive(None) => None,
            Measure::Passive(reason) => reason,
            _ => return,
        };
        for row in ledger.passive.iter().filter(|row| wanted.is_none_or(|wanted| row.reason == wanted)) {
            take(row.context, row.location, Doing::Passive(row.reason), row.ns);
        }
    }
}

impl From<Metric> for Measure {
    fn from(metric: Metric) -> Measure {
        Measure::Metric(metric)
    }
}

#[cfg(test)]
mod tests {

    use super::*;
    use rustc_hash::FxHashSet;

    #[test]
    fn identifiers_are_unique_and_found_again() {
        let ids: FxHashSet<String> = Measure::all().map(Measure::id).collect();
        assert_eq!(ids.len(), Measure::all().count());
        for measure in Measure::all() {
            assert_eq!(Measure::from_id(&measure.id()), Some(measure));
        }
        assert_eq!(Measure::Account(Account::MpiPartner).id(), "mpi_partner_s");
        assert_eq!(Measure::Passive(Some(PassiveReason::NotRecorded)).id(), "passive_not_recorded_s");
    }

    /// What a thread spends is work, waiting, its runtime's, or not known: each account in one of them.
    #[test]
    fn work_and_waiting_share_no_account() {
        for account in Account::ALL {
            let by_nobody =
                NOBODYS.contains(&account) || matches!(account, Account::Serial | Account::Narrow);
            let neither = matches!(account, Account::Runtime | Account::Unattributed);
            let places = [by_nobody, neither, WORK.contains(&account), WAITING.contains(&account)];
            assert_eq!(places.iter().filter(|is| **is).count(), 1, "{account}");
        }
    }

    #[test]
    fn every_account_is_a_measure_or_nobodys() {
        for account in Account::ALL {
            let id = Measure::Account(account).id();
            let found = Measure::from_id(&id).is_some();
            assert_eq!(found, Measure::of_nobody(&id).is_none(), "{id}");
        }
    }
}
