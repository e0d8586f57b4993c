//! The account of the time in the intervals that a selection is restricted to: of all their executions
//! together.

use proust_account::ledger::{
    Accounts, Inside, Ledger, LedgerError, LocationAccounts, PassiveTimes, Processors, SlotAccounts, Windows,
};
use proust_account::stored::StoredTimelines;
use proust_profile::{IntervalId, LocationId, Profile};

use super::parts::{Counted, Parts};
use crate::Selection;

/// The account of the time in the outermost intervals in scope, within `windows`: integrated over the slots
/// of the processes that execute them, as [`super::intervals`] does for each one. Without rows.
///
/// Where some of a process's threads are not in scope it is the account of those that are, without slots.
///
/// # Errors
/// When the profile's processes and locations contradict each other.
pub fn account_of(
    selection: &Selection<'_>,
    processors: Option<u32>,
    windows: &Windows,
) -> Result<Ledger, LedgerError> {
    let profile = selection.profile();
    let in_scope = selection.intervals();
    let is_outermost: Vec<bool> = (profile.intervals.iter().zip(in_scope))
        .map(|(info, is)| *is && !info.parent.is_some_and(|parent| in_scope[parent as usize]))
        .collect();
    let has = |location: LocationId| selection.locations().binary_search(&location).is_ok();
    let parts = Parts::of(
        1,
        &Counted {
            profile,
            windows,
            thing_of: |interval: IntervalId| is_outermost[interval as usize].then_some(0),
            has,
        },
    );
    let stored = StoredTimelines::of(profile);
    let run = stored.whole_run(profile);
    let processors = match processors {
        Some(total) => Processors::given(&run, total)?,
        None => Processors::measured(&run, &Windows::all())?,
    };
    let found = parts.inside(&run, &processors, windows)?.into_iter().next().unwrap_or_default();
    Ok(ledger_of(profile, found, has))
}

fn ledger_of(profile: &Profile, found: Inside, has: impl Fn(LocationId) -> bool) -> Ledger {
    let with_slots = !found.alone && found.locations.keys().all(|&location| has(location));
    let location =
        |(&location, (accounts, passive)): (&LocationId, &(Accounts, PassiveTimes))| LocationAccounts {
            location,
            process: profile.locations[location].process,
            service: false,
            charged: true,
            slots: found.owner_of.get(&location).copied().filter(|_| with_slots),
            wall_ns: accounts.sum_ns() + passive.sum_ns(),
            accounts: *accounts,
            beyond: found.beyond.get(&location).filter(|_| with_slots).copied().unwrap_or_default(),
            passive: *passive,
        };
    let locations: Vec<LocationAccounts> =
        found.locations.iter().filter(|(location, _)| has(**location)).map(location).collect();
    let mut ledger = Ledger { wall_ns: found.wall_ns, ..Ledger::default() };
    if with_slots {
        ledger.processors = found.processors;
        ledger.accounts = found.accounts;
        ledger.beyond_ns = found.beyond_ns;
        for row in &locations {
            ledger.beyond += &row.beyond;
        }
        ledger.slots = (found.owners.iter())
            .map(|owner| SlotAccounts {
                process: owner.process,
                rank: profile.processes[owner.process].rank,
                job: None,
                available: None,
                processors: owner.processors,
                active: 0,
                total_ns: owner.total_ns,
                beyond_ns: owner.beyond_ns,
                accounts: owner.slots,
            })
            .collect();
    } else {
        locations.iter().for_each(|row| ledger.accounts += &row.accounts);
    }
    ledger.total_ns = if with_slots { found.total_ns } else { ledger.accounts.sum_ns() };
    ledger.locations = locations;
    ledger
}
