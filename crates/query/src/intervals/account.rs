//! The account of the time in the intervals that a selection is restricted to: of all their executions
//! together.

use proust_account::ledger::{
    Accounts, Executed, Inside, Ledger, LedgerError, LocationAccounts, PassiveTimes, Processors,
    SlotAccounts, Window, Windows, inside,
};
use proust_account::timelines::timelines;
use proust_profile::{LocationId, Profile};

use crate::Selection;

/// The account of the time in the outermost intervals in scope, within `windows`: integrated over the slots
/// of the processes that execute them, as [`super::intervals`] does for each one. Without rows.
///
/// Where some of a process's threads are not in scope it is the account of those that are, without slots. Of
/// executions that are known as sums only the account is that of the others, in proportion.
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
    let (mut executed, mut recorded_ns, mut sums_ns) = (Vec::new(), 0, 0);
    for row in &profile.executions {
        if is_outermost[row.interval as usize] && has(row.location) {
            let window = Window::new(row.begin_ns, row.end_ns);
            recorded_ns += windows.within(window).length_ns();
            executed.push(Executed { what: 0, location: row.location, window });
        }
    }
    for row in &profile.execution_sums {
        let is_here =
            windows.as_slice().iter().any(|window| (window.start_ns..window.end_ns).contains(&row.begin_ns));
        if is_here && is_outermost[row.interval as usize] && has(row.location) {
            sums_ns += row.time_ns;
        }
    }
    let run = timelines(profile);
    let processors = match processors {
        Some(total) => Processors::given(&run, total)?,
        None => Processors::measured(&run, &Windows::all())?,
    };
    let found = inside(&run, &processors, windows, 1, &executed)?.into_iter().next().unwrap_or_default();
    let scale = if recorded_ns > 0 && sums_ns > 0 {
        (recorded_ns + sums_ns) as f64 / recorded_ns as f64
    } else {
        1.0
    };
    Ok(ledger_of(profile, found, scale, has))
}

fn ledger_of(profile: &Profile, found: Inside, scale: f64, has: impl Fn(LocationId) -> bool) -> Ledger {
    let with_slots = !found.alone && found.locations.keys().all(|&location| has(location));
    let scaled = |ns: u64| if scale == 1.0 { ns } else { (ns as f64 * scale).round() as u64 };
    let each = |accounts: &Accounts| {
        let mut all = Accounts::default();
        accounts.iter().for_each(|(account, ns)| all[account] = scaled(ns));
        all
    };
    let location = |(&location, (accounts, passive)): (&LocationId, &(Accounts, PassiveTimes))| {
        let (accounts, mut reasons) = (each(accounts), PassiveTimes::default());
        passive.iter().for_each(|(reason, ns)| reasons[reason] = scaled(ns));
        LocationAccounts {
            location,
            process: profile.locations[location].process,
            service: false,
            charged: true,
            slots: found.owner_of.get(&location).copied().filter(|_| with_slots),
            wall_ns: accounts.sum_ns() + reasons.sum_ns(),
            accounts,
            beyond: found.beyond.get(&location).filter(|_| with_slots).map(each).unwrap_or_default(),
            passive: reasons,
        }
    };
    let locations: Vec<LocationAccounts> =
        found.locations.iter().filter(|(location, _)| has(**location)).map(location).collect();
    let mut ledger = Ledger { wall_ns: scaled(found.wall_ns), ..Ledger::default() };
    if with_slots {
        ledger.processors = found.processors;
        ledger.accounts = each(&found.accounts);
        ledger.beyond_ns = scaled(found.beyond_ns);
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
                total_ns: scaled(owner.total_ns),
                beyond_ns: scaled(owner.beyond_ns),
                accounts: each(&owner.slots),
            })
            .collect();
    } else {
        locations.iter().for_each(|row| ledger.accounts += &row.accounts);
    }
    ledger.total_ns = if with_slots && scale == 1.0 { found.total_ns } else { ledger.accounts.sum_ns() };
    ledger.locations = locations;
    ledger
}
