//! The ledger itself: total, accounts, and their owners.

use super::account::{Account, Accounts, IoAs};
use super::error::LedgerError;
use super::fixed::{Units, apportion};
use super::observer::WaitCharge;
use super::observer::{Observer, OnWait};
use super::owners::Owners;
use super::processors::Processors;
use super::rows::{PassiveRow, Row, settle};
use super::state::PassiveTimes;
use super::sweep::{LocationSums, Sweep};
use super::timeline::{Run, Spans, Timeline};
use super::windows::{Window, Windows};
use proust_profile::{LocationId, ProcessId};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

/// The account of a run, or of a part of it. See the module's documentation for the definitions.
///
/// Kept on disk without its rows, which grow with the contexts and are kept apart ([`super::parts_of_rows`]).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// Processors of the run, P.
    pub processors: u32,
    /// Wall time, T: from the first rank's (or process's) start to the last one's end, within the windows,
    /// ns.
    pub wall_ns: u64,
    /// P × T, ns.
    pub total_ns: u64,
    /// The largest number of locations that were active at once for at least 1 % of the time, of all owners
    /// together. It may be more than the processors, of which there are no more than those available.
    pub active: u32,
    /// The accounts of the total: of all charged locations as far as they fill slots, and of the empty slots.
    pub accounts: Accounts,
    /// Beyond the processors: the time of charged locations for which there was no slot, since more of them
    /// were active than there are slots. Outside of the total.
    pub beyond: Accounts,
    /// Σ of `beyond`: ∫ max(A − P, 0) dt, ns.
    pub beyond_ns: u64,
    /// All locations, by identifier.
    pub locations: Vec<LocationAccounts>,
    /// The empty slots of each rank, by rank; without ranks, one entry for the root process.
    pub slots: Vec<SlotAccounts>,
    /// The time of locations, by location, account and context. Sums to the locations' accounts.
    #[serde(skip)]
    pub spent: Vec<Row>,
    /// Empty slots charged to locations that worked (`serial`, `narrow`) or waited, by location, account and
    /// context. Sums to the slots' accounts but `asleep`, `idle` and `paused`.
    #[serde(skip)]
    pub blamed: Vec<Row>,
    /// When locations were passive, by location, reason and context. Sums to the locations' passive times, so
    /// that with `spent` every nanosecond of every location is in a context.
    #[serde(skip)]
    pub passive: Vec<PassiveRow>,
    /// Empty slots and lost time by the locations that caused them: the loss on all accounts but `idle`,
    /// which belongs to no context. Sorted; empty unless the blame was found ([`crate::blame`]).
    #[serde(skip)]
    pub caused: Vec<Row>,
    /// Recorded time that was dropped because a location cannot do two things at a time, ns. Zero in sound
    /// data.
    pub overlap_ns: u64,
}

/// One location's time by account.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LocationAccounts {
    /// Which location.
    pub location: LocationId,
    /// Its process.
    pub process: ProcessId,
    /// Whether it is internal to a runtime.
    pub service: bool,
    /// Whether its accounts are part of the ledger's: not so for service locations and for processes outside
    /// all ranks.
    pub charged: bool,
    /// Whose slots it uses, if it is charged: a position in [`Ledger::slots`].
    pub slots: Option<usize>,
    /// How long it was alive within the windows: Σ accounts + Σ passive, ns.
    pub wall_ns: u64,
    /// Its active time.
    pub accounts: Accounts,
    /// The part of it that is beyond the processors, and not part of the ledger's accounts.
    pub beyond: Accounts,
    /// Its passive time, by reason.
    pub passive: PassiveTimes,
}

/// What the empty slots of a rank, or of a run without ranks, stand for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SlotAccounts {
    /// The process they are shown under.
    pub process: ProcessId,
    /// Its rank, where there are ranks.
    pub rank: Option<u32>,
    /// The job that it is a rank of, by number; None where it is not known.
    pub job: Option<u32>,
    /// Processors available to it; None where that is not known.
    pub available: Option<u32>,
    /// Its processors.
    pub processors: u32,
    /// The largest number of its locations that were active at once for at least 1 % of the time.
    pub active: u32,
    /// P × T of this rank: its locations' accounts, without the part beyond the processors, and these, ns.
    pub total_ns: u64,
    /// The part of its locations' accounts beyond its processors, ns.
    pub beyond_ns: u64,
    /// The empty slots.
    pub accounts: Accounts,
}

impl LocationAccounts {
    /// The part of its active time that fills slots: its accounts without the part beyond the processors.
    pub fn within(&self) -> Accounts {
        let mut within = self.accounts;
        self.beyond.iter().for_each(|(account, ns)| within[account] -= ns);
        within
    }
}

impl Ledger {
    /// Draws up the account of `run` within `windows`, with these processors.
    ///
    /// Time O(n log m) for n spans of m locations; memory O(m + rows), independent of n if the spans are read
    /// from a stream ([`Spans`]).
    pub fn of<S: Spans>(
        run: &Run<S>,
        processors: &Processors,
        windows: &Windows,
    ) -> Result<Ledger, LedgerError> {
        Ledger::with_waits(run, processors, windows, |_| ())
    }

    /// As [`Ledger::of`], reporting each wait of a charged location as it ends.
    pub fn with_waits<S: Spans>(
        run: &Run<S>,
        processors: &Processors,
        windows: &Windows,
        on_wait: impl FnMut(&WaitCharge),
    ) -> Result<Ledger, LedgerError> {
        Ledger::observed(run, processors, windows, &mut OnWait(on_wait))
    }

    /// As [`Ledger::of`], with an observer of the locations' acts.
    pub fn observed<S: Spans>(
        run: &Run<S>,
        processors: &Processors,
        windows: &Windows,
        observer: &mut impl Observer,
    ) -> Result<Ledger, LedgerError> {
        let owners = Owners::new(&run.processes)?;
        refuse_too_long(run, &owners, processors, windows)?;
        let mut sweep = Sweep::new(run, &owners, processors, windows)?;
        sweep.run(run, owners.life, windows, observer);
        sweep.locations.sort_by_key(|location| location.location);

        let mut ledger = Ledger {
            processors: owners.list.iter().filter_map(|owner| processors.of(owner.process)).sum(),
            wall_ns: windows.within(owners.life).length_ns(),
            total_ns: sweep.slots.iter().map(|slots| slots.now().sums.total_ns).sum(),
            active: owners.list.iter().filter_map(|owner| processors.active(owner.process)).sum(),
            accounts: Accounts::default(),
            beyond: Accounts::default(),
            beyond_ns: sweep.slots.iter().map(|slots| slots.now().sums.beyond_ns).sum(),
            locations: Vec::with_capacity(sweep.locations.len()),
            slots: Vec::with_capacity(owners.list.len()),
            spent: Vec::new(),
            blamed: Vec::new(),
            passive: Vec::new(),
            caused: Vec::new(),
            overlap_ns: sweep.locations.iter().map(|location| location.overlap_ns).sum(),
        };
        for location in &sweep.locations {
            ledger.enter_location(location);
        }
        for (index, (owner, slots)) in owners.list.iter().zip(&sweep.slots).enumerate() {
            let charged = sweep.locations.iter().filter(|location| location.owner == Some(index));
            let rows = settle(charged.flat_map(|sums| {
                let blamed = sums.amounts.blamed();
                blamed.map(|(account, context, amount)| (sums.location, account, context, amount))
            }));
            ledger.put_beyond(index, slots.now().sums.beyond_ns, &sweep.locations);
            let mut accounts = sum_of(&rows);
            accounts[Account::Asleep] += slots.now().sums.asleep_ns;
            accounts[Account::Idle] += slots.now().sums.idle_ns;
            accounts[Account::Paused] += slots.now().sums.paused_ns;
            ledger.accounts += &accounts;
            ledger.blamed.extend(rows);
            ledger.slots.push(SlotAccounts {
                process: owner.process,
                rank: owner.rank.map(|rank| rank.rank),
                job: owner.rank.and_then(|rank| rank.job),
                available: processors.available(owner.process),
                processors: processors.of(owner.process).unwrap_or_default(),
                active: processors.active(owner.process).unwrap_or_default(),
                total_ns: slots.now().sums.total_ns,
                beyond_ns: slots.now().sums.beyond_ns,
                accounts,
            });
        }
        for (account, ns) in ledger.beyond.iter() {
            ledger.accounts[account] -= ns;
        }
        ledger.blamed.sort_unstable();
        Ok(ledger)
    }

    /// The processors that it was drawn up with.
    pub fn drawn_up_with(&self) -> Processors {
        Processors::of_owners(
            self.slots.iter().map(|one| (one.process, one.processors, one.available, one.active)),
        )
    }

    fn enter_location(&mut self, sums: &LocationSums) {
        let spent = sums.amounts.spent();
        let rows = settle(spent.map(|(account, context, amount)| (sums.location, account, context, amount)));
        let accounts = sum_of(&rows);
        let charged = sums.owner.is_some();
        if charged {
            self.accounts += &accounts;
        }
        self.spent.extend(rows);
        self.passive.extend(sums.amounts.passive_rows(sums.location));
        self.locations.push(LocationAccounts {
            location: sums.location,
            process: sums.process,
            service: sums.service,
            charged,
            slots: sums.owner,
            wall_ns: sums.wall_ns,
            accounts,
            beyond: Accounts::default(),
            passive: sums.passive,
        });
    }

    /// Divides among an owner's locations the part of their accounts beyond the processors, `beyond_ns` in
    /// all.
    fn put_beyond(&mut self, owner: usize, beyond_ns: u64, sums: &[LocationSums]) {
        let of_owner =
            |(n, one): (usize, &'_ LocationSums)| (one.owner == Some(owner)).then_some((n, one.beyond));
        let locations: Vec<_> = sums.iter().enumerate().filter_map(of_owner).collect();
        let amounts_of = |account: Account| {
            let amount = move |(n, beyond): &(usize, [Units; Account::ALL.len()])| {
                (*n, account, beyond[account as usize])
            };
            locations.iter().map(amount).filter(|(.., amount)| *amount > 0)
        };
        let rows: Vec<_> = Account::ALL.into_iter().flat_map(amounts_of).collect();
        let bounded =
            |&(n, account, amount): &(usize, Account, Units)| (amount, self.locations[n].accounts[account]);
        let given = apportion(&rows.iter().map(bounded).collect::<Vec<_>>(), beyond_ns);
        for ((n, account, _), ns) in rows.into_iter().zip(given) {
            self.locations[n].beyond[account] += ns;
            self.beyond[account] += ns;
        }
    }

    /// The part of the account that is these locations'.
    ///
    /// Where all charged locations of an owner of slots are among them, its slots are too, and the part
    /// closes as the whole does. Of other owners only what the locations spent themselves is there: an empty
    /// slot belongs to all of them together. `processors` and `wall_ns` are 0 where no slots are left.
    pub fn part(&self, in_scope: impl Fn(LocationId) -> bool) -> Ledger {
        let mut whole = vec![true; self.slots.len()];
        for location in self.locations.iter().filter(|location| !in_scope(location.location)) {
            if let Some(slots) = location.slots {
                whole[slots] = false;
            }
        }
        let mut part = Ledger { active: self.active, overlap_ns: self.overlap_ns, ..Ledger::default() };
        let mut kept = Vec::with_capacity(self.slots.len());
        for (slots, whole) in self.slots.iter().zip(&whole) {
            kept.push(whole.then_some(part.slots.len()));
            if *whole {
                part.processors += slots.processors;
                part.wall_ns = self.wall_ns;
                part.total_ns += slots.total_ns;
                part.beyond_ns += slots.beyond_ns;
                part.accounts += &slots.accounts;
                part.slots.push(slots.clone());
            }
        }
        for location in self.locations.iter().filter(|location| in_scope(location.location)) {
            let slots = location.slots.and_then(|slots| kept[slots]);
            let mut location = LocationAccounts { slots, ..location.clone() };
            if slots.is_none() {
                // Without slots nothing is beyond them.
                location.beyond = Accounts::default();
                part.total_ns += if location.charged { location.accounts.sum_ns() } else { 0 };
            }
            if location.charged {
                part.accounts += &location.accounts;
                part.beyond += &location.beyond;
            }
            part.locations.push(location);
        }
        for (account, ns) in part.beyond.iter() {
            part.accounts[account] -= ns;
        }
        let rows = |rows: &[Row]| rows.iter().filter(|row| in_scope(row.location)).copied().collect();
        (part.spent, part.blamed, part.caused) = (rows(&self.spent), rows(&self.blamed), rows(&self.caused));
        part.passive = self.passive.iter().filter(|row| in_scope(row.location)).copied().collect();
        part
    }

    /// Whether there is a location whose slots are not part of this account; see [`Ledger::part`].
    pub fn is_without_slots(&self) -> bool {
        self.slots.is_empty() || self.locations.iter().any(|row| row.charged && row.slots.is_none())
    }

    /// Whether it was kept without its rows.
    pub fn is_without_rows(&self) -> bool {
        let nothing = self.spent.is_empty() && self.passive.is_empty();
        nothing && self.locations.iter().any(|location| location.wall_ns > 0)
    }

    /// The productive time, ns.
    pub fn productive_ns(&self, io: IoAs) -> u64 {
        self.accounts.productive_ns(io)
    }

    /// What was lost: all but the productive, `asleep`, `paused` and `unattributed`, ns.
    pub fn lost_ns(&self, io: IoAs) -> u64 {
        self.accounts.lost_ns(io)
    }

    /// productive / (total − asleep − paused); `None` if the run only slept.
    pub fn efficiency(&self, io: IoAs) -> Option<f64> {
        let awake_ns = self
            .total_ns
            .saturating_sub(self.accounts[Account::Asleep])
            .saturating_sub(self.accounts[Account::Paused]);
        (awake_ns > 0).then(|| self.productive_ns(io) as f64 / awake_ns as f64)
    }

    /// total − Σ accounts, ns. Zero in sound data, negative if spans claim more time than they have.
    pub fn residual_ns(&self) -> i128 {
        i128::from(self.total_ns) - i128::from(self.accounts.sum_ns())
    }

    /// The time of charged locations and empty slots on an account, beyond the processors or not, ns.
    pub fn with_beyond_ns(&self, account: Account) -> u64 {
        self.accounts[account] + self.beyond[account]
    }

    /// The most that could be won on `available` processors: what they had to give, C × T, less the processor
    /// time that was used, ns. Threads beyond the processors lose time that no change could give back.
    pub fn recoverable_ns(&self, available: u32, cpu_ns: u64) -> u64 {
        let given_ns = u128::from(available) * u128::from(self.wall_ns);
        u64::try_from(given_ns.saturating_sub(u128::from(cpu_ns))).unwrap_or(u64::MAX)
    }
}

/// No sum of the account is more than all slots and all threads together.
pub(super) fn refuse_too_long<S: Spans>(
    run: &Run<S>,
    owners: &Owners,
    processors: &Processors,
    windows: &Windows,
) -> Result<(), LedgerError> {
    const YEAR_NS: u128 = 31_557_600_000_000_000;
    let slots: u128 =
        (owners.list.iter()).map(|owner| u128::from(processors.of(owner.process).unwrap_or_default())).sum();
    let slots_ns = slots * u128::from(windows.within(owners.life).length_ns());
    let lives: FxHashMap<ProcessId, u64> = (run.processes.iter())
        .map(|process| {
            (process.id, windows.within(Window::new(process.start_ns, process.end_ns)).length_ns())
        })
        .collect();
    let life_ns = |timeline: &Timeline<S>| lives.get(&timeline.process).copied().unwrap_or_default();
    let threads_ns: u128 = run.timelines.iter().map(|timeline| u128::from(life_ns(timeline))).sum();
    let most_ns = slots_ns + threads_ns;
    if most_ns <= u128::from(u64::MAX) {
        return Ok(());
    }
    Err(LedgerError::TooLong { years: u64::try_from(most_ns / YEAR_NS).unwrap_or(u64::MAX) })
}

fn sum_of(rows: &[Row]) -> Accounts {
    let mut accounts = Accounts::default();
    for row in rows {
        accounts[row.account] += row.ns;
    }
    accounts
}
