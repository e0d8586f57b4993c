//! The account of the time inside: what the slots of a process come to while something of it is executed.
//!
//! One sweep for everything that is executed, however often and however nested: at each border between two
//! executions the acts of the process's locations are cut, and what is booked between two borders belongs to
//! all that is executed there.

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, ProcessId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

use super::account::{Account, Accounts, IoAs};
use super::error::LedgerError;
use super::fixed::{Units, whole_ns};
use super::observer::{Begun, Booked, Observer, SlotsSoFar, WaitCharge};
use super::owners::Owners;
use super::processors::Processors;
use super::result::refuse_too_long;
use super::rows::Kind;
use super::slots::SlotSums;
use super::state::PassiveTimes;
use super::sweep::Sweep;
use super::timeline::{Run, Spans};
use super::windows::{Window, Windows};

mod finished;
mod weighted;

/// Something is executed by a location, once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// What: a number of the caller's.
    pub what: u32,
    /// By which location.
    pub location: LocationId,
    /// From when to when.
    pub window: Window,
}

/// The account of the time in which something was executed.
///
/// The slots of the owners that execute it are integrated over the time of its executions: other threads of
/// its process, and those that do nothing, count in it. Where several locations of one process execute it at
/// once, each counts for itself alone instead, and there are no slots.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Inside {
    /// Processors of the owners that execute it; 0 where locations count for themselves.
    pub processors: u32,
    /// Whether each location counts for itself alone.
    pub alone: bool,
    /// Time of its executions, where several overlap once, summed over the owners, ns.
    pub wall_ns: u64,
    /// P × T, or the active time of the locations that count for themselves, ns.
    pub total_ns: u64,
    /// The accounts; they sum to the total.
    pub accounts: Accounts,
    /// Time of locations beyond the processors, which is no part of the total, ns.
    pub beyond_ns: u64,
    /// What each location did meanwhile, by location. With what is beyond the processors.
    pub locations: BTreeMap<LocationId, (Accounts, PassiveTimes)>,
    /// The part of a location's accounts that is beyond the processors, where there is any.
    pub beyond: BTreeMap<LocationId, Accounts>,
    /// The owner of the slots that each location uses: a position in `owners`.
    pub owner_of: BTreeMap<LocationId, usize>,
    /// The part of a location's accounts that it spent inside parallel regions.
    pub in_regions: BTreeMap<LocationId, Accounts>,
    /// The owners of slots that execute it.
    pub owners: Vec<InsideOwner>,
    /// What was lost, by place. Of each account that can be lost these sum to the account, but for `idle`,
    /// which belongs to no place. Sorted.
    #[serde(skip)]
    pub lost: Vec<LostRow>,
}

/// What was lost in a place while something was executed there or elsewhere: a location's own time, or empty
/// slots charged to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LostRow {
    /// On which account.
    pub account: Account,
    /// By which location.
    pub location: LocationId,
    /// Where.
    pub context: ContextId,
    /// How long, ns.
    pub ns: u64,
}

/// What the slots of one owner came to while something was executed. Where locations count for themselves
/// there are no slots, and only the owner is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InsideOwner {
    /// The owner's process.
    pub process: ProcessId,
    /// Its processors.
    pub processors: u32,
    /// Time of its executions, where several overlap once, ns.
    pub wall_ns: u64,
    /// Of it, recording was paused, ns.
    pub paused_ns: u64,
    /// Empty slots while others worked outside of parallel regions, ns.
    pub serial_ns: u64,
    /// Empty slots while others worked inside of them, ns.
    pub narrow_ns: u64,
    /// Slots while all locations were passive, ns.
    pub asleep_ns: u64,
    /// All empty slots, by account.
    pub slots: Accounts,
    /// P × T of its executions, ns.
    pub total_ns: u64,
    /// Time of its locations beyond its processors, ns.
    pub beyond_ns: u64,
}

/// Executions of things that are accounted for in parts: what parts of one thing say can be weighted and
/// added up ([`Inside::weighted`]).
#[derive(Clone, Copy, Debug)]
pub struct InParts<'e> {
    /// Of which thing each part is.
    pub thing_of: &'e [u32],
    /// Executions of parts; those of one thing by one location do not overlap.
    pub executed: &'e [Executed],
    /// Windows in which further executions of a thing lie, nobody knows where: they may overlap with those of
    /// other locations.
    pub somewhere: &'e [Executed],
}

/// Draws up the account of the time in which each `what` of `executed` was executed, below `count`; within
/// `windows`.
///
/// Time O((n + b·m) log m) for n spans and b borders of executions among m locations of a process; memory
/// O(m + b).
///
/// # Errors
/// As [`super::Ledger::of`].
pub fn inside<S: Spans>(
    run: &Run<S>,
    processors: &Processors,
    windows: &Windows,
    count: usize,
    executed: &[Executed],
) -> Result<Vec<Inside>, LedgerError> {
    let thing_of: Vec<u32> = (0..count as u32).collect();
    let parts = InParts { thing_of: &thing_of, executed, somewhere: &[] };
    inside_in_parts(run, processors, windows, &parts)
}

/// As [`inside`], by part. Locations of a thing count for themselves in all of its parts or in none.
///
/// # Errors
/// As [`super::Ledger::of`].
pub fn inside_in_parts<S: Spans>(
    run: &Run<S>,
    processors: &Processors,
    windows: &Windows,
    parts: &InParts<'_>,
) -> Result<Vec<Inside>, LedgerError> {
    let owners = Owners::new(&run.processes)?;
    refuse_too_long(run, &owners, processors, windows)?;
    let mut sweep = Sweep::new(run, &owners, processors, windows)?;
    let processes: FxHashMap<LocationId, ProcessId> =
        run.timelines.iter().map(|timeline| (timeline.location, timeline.process)).collect();
    let mut observed = Observed::new(owners.list.len(), parts.thing_of.len(), &processes);
    for (executions, is_somewhere) in [(parts.executed, false), (parts.somewhere, true)] {
        for execution in executions {
            let Some(&process) = processes.get(&execution.location) else { continue };
            if let Some(owner) = owners.of(process)? {
                observed.add(owner, execution, is_somewhere);
            }
        }
    }
    observed.prepare(windows, parts.thing_of);
    sweep.run(run, owners.life, windows, &mut observed);
    let of_owner = |owner: usize| {
        let process = owners.list[owner].process;
        (process, processors.of(process).unwrap_or_default())
    };
    Ok(observed.finish(of_owner))
}

/// At an instant something begins, or ends, in the slots of an owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Change {
    at_ns: u64,
    what: u32,
    /// The location that counts for itself; None: the owner's slots do.
    location: Option<LocationId>,
    begins: bool,
}

/// What is executed in an owner's slots.
#[derive(Debug, Default)]
struct OfOwner {
    executed: Vec<Executed>,
    /// What is executed somewhere within windows.
    somewhere: Vec<Executed>,
    changes: Vec<Change>,
    /// The instants of the changes, each once.
    borders: Vec<u64>,
    /// How many of these, and of the changes, were passed.
    passed: (usize, usize),
    /// What is executed now, for the slots, and since when by their sums.
    open: Vec<(u32, SlotSums)>,
    /// What locations execute that count for themselves.
    open_alone: Vec<(u32, LocationId)>,
}

#[derive(Clone, Debug, Default)]
struct Sums {
    owners: BTreeMap<usize, SumsOfOwner>,
    alone: bool,
    slots: SlotSums,
    wall_ns: u64,
    /// Of the slots' total, by account.
    accounts: [Units; Account::ALL.len()],
    beyond: Units,
    locations: FxHashMap<LocationId, OfLocation>,
    lost: FxHashMap<(Account, LocationId, ContextId), Units>,
}

#[derive(Clone, Debug, Default)]
struct SumsOfOwner {
    wall_ns: u64,
    slots: SlotSums,
    /// Empty slots that are charged to locations.
    blamed: [Units; Account::ALL.len()],
}

#[derive(Clone, Debug, Default)]
struct OfLocation {
    accounts: [Units; Account::ALL.len()],
    /// Of these, inside parallel regions.
    in_regions: [Units; Account::ALL.len()],
    beyond: [Units; Account::ALL.len()],
    passive: PassiveTimes,
    owner: usize,
}

struct Observed<'p> {
    processes: &'p FxHashMap<LocationId, ProcessId>,
    owners: Vec<OfOwner>,
    sums: Vec<Sums>,
}

impl<'p> Observed<'p> {
    fn new(owners: usize, count: usize, processes: &'p FxHashMap<LocationId, ProcessId>) -> Observed<'p> {
        let sums = Sums::default();
        let owners = (0..owners).map(|_| OfOwner::default()).collect();
        Observed { processes, owners, sums: vec![sums; count] }
    }

    fn add(&mut self, owner: usize, executed: &Executed, is_somewhere: bool) {
        if let Some(sums) = self.sums.get_mut(executed.what as usize) {
            sums.owners.entry(owner).or_default();
            let owner = &mut self.owners[owner];
            if is_somewhere { &mut owner.somewhere } else { &mut owner.executed }.push(*executed);
        }
    }

    /// Finds out what counts how, and where the borders are.
    fn prepare(&mut self, windows: &Windows, thing_of: &[u32]) {
        let thing_of = |one: &Executed| thing_of[one.what as usize];
        let mut alone: FxHashSet<u32> = FxHashSet::default();
        for owner in &self.owners {
            let mut all: Vec<Executed> = owner.executed.iter().chain(&owner.somewhere).copied().collect();
            all.sort_by_key(|one| (thing_of(one), one.window.start_ns, one.location));
            let overlapping = all
                .chunk_by(|a, b| thing_of(a) == thing_of(b))
                .filter(|of_one| overlap(of_one, self.processes));
            alone.extend(overlapping.map(|of_one| thing_of(&of_one[0])));
        }
        for (index, owner) in self.owners.iter_mut().enumerate() {
            owner.executed.sort_by_key(|one| (one.what, one.window.start_ns, one.location));
            for of_one in owner.executed.chunk_by(|a, b| a.what == b.what) {
                let what = of_one[0].what;
                let alone = alone.contains(&thing_of(&of_one[0]));
                self.sums[what as usize].alone = alone;
                let all: Windows = of_one.iter().map(|one| one.window).collect();
                let wall_ns = all.intersection(windows).length_ns();
                self.sums[what as usize].wall_ns += wall_ns;
                self.sums[what as usize].owners.entry(index).or_default().wall_ns += wall_ns;
                let mut push = |window: &Window, location| {
                    let change = |at_ns, begins| Change { at_ns, what, location, begins };
                    owner.changes.push(change(window.start_ns, true));
                    owner.changes.push(change(window.end_ns, false));
                };
                if alone {
                    for one in of_one.iter().filter(|one| one.window.length_ns() > 0) {
                        push(&one.window, Some(one.location));
                    }
                } else {
                    // Without those of no length, and where executions touch without a border.
                    all.as_slice().iter().for_each(|window| push(window, None));
                }
            }
            owner.changes.sort_by_key(|change| (change.at_ns, change.begins));
            owner.borders = owner.changes.iter().map(|change| change.at_ns).collect();
            owner.borders.dedup();
        }
    }

    fn finish(self, owner_at: impl Fn(usize) -> (ProcessId, u32)) -> Vec<Inside> {
        self.sums.into_iter().map(|sums| sums.finish(&owner_at)).collect()
    }
}

/// Whether executions of one thing, sorted by begin, overlap in several locations of a process.
fn overlap(of_one: &[Executed], processes: &FxHashMap<LocationId, ProcessId>) -> bool {
    let mut ends: FxHashMap<LocationId, u64> = FxHashMap::default();
    for one in of_one {
        let process = processes.get(&one.location);
        let is_other =
            |location: &LocationId| *location != one.location && processes.get(location) == process;
        let others = ends.iter().filter(|(location, _)| is_other(location));
        if others.into_iter().any(|(_, &end_ns)| end_ns > one.window.start_ns) {
            return true;
        }
        let end_ns = ends.entry(one.location).or_default();
        *end_ns = (*end_ns).max(one.window.end_ns);
    }
    false
}

impl Observer for Observed<'_> {
    fn begins(&mut self, _: &Begun) {}

    fn waited(&mut self, _: &WaitCharge) {}

    fn borders(&self, owner: usize) -> &[u64] {
        &self.owners[owner].borders
    }

    fn passed(&mut self, owner: usize, slots: &SlotsSoFar) {
        let of_owner = &mut self.owners[owner];
        let at_ns = of_owner.borders[of_owner.passed.0];
        of_owner.passed.0 += 1;
        while let Some(&change) = of_owner.changes.get(of_owner.passed.1)
            && change.at_ns == at_ns
        {
            of_owner.passed.1 += 1;
            match (change.location, change.begins) {
                (None, true) => of_owner.open.push((change.what, slots.0)),
                (None, false) => {
                    if let Some(at) = of_owner.open.iter().rposition(|open| open.0 == change.what) {
                        let (what, since) = of_owner.open.remove(at);
                        let sums = &mut self.sums[what as usize];
                        sums.slots.add_since(&slots.0, &since);
                        sums.owners.entry(owner).or_default().slots.add_since(&slots.0, &since);
                    }
                }
                (Some(location), true) => of_owner.open_alone.push((change.what, location)),
                (Some(location), false) => {
                    let is_it = |open: &(u32, LocationId)| *open == (change.what, location);
                    if let Some(at) = of_owner.open_alone.iter().rposition(is_it) {
                        of_owner.open_alone.remove(at);
                    }
                }
            }
        }
    }

    fn booked(&mut self, booked: &Booked) {
        let of_owner = &self.owners[booked.owner];
        let alone = of_owner.open_alone.iter().filter(|open| open.1 == booked.location).map(|open| open.0);
        for what in of_owner.open.iter().map(|open| open.0).chain(alone) {
            self.sums[what as usize].add(booked);
        }
    }
}

impl SlotSums {
    fn add_since(&mut self, now: &SlotSums, since: &SlotSums) {
        self.total_ns += now.total_ns - since.total_ns;
        self.beyond_ns += now.beyond_ns - since.beyond_ns;
        self.asleep_ns += now.asleep_ns - since.asleep_ns;
        self.idle_ns += now.idle_ns - since.idle_ns;
        self.paused_ns += now.paused_ns - since.paused_ns;
    }
}

impl Sums {
    fn add(&mut self, booked: &Booked) {
        match booked.kind {
            Kind::Spent(account) => {
                let within = booked.amount - booked.beyond.min(booked.amount);
                self.accounts[account as usize] += within;
                self.beyond += booked.beyond;
                // Without slots nothing is beyond them.
                self.lose(account, booked, if self.alone { booked.amount } else { within });
                let of_location = self.locations.entry(booked.location).or_default();
                of_location.owner = booked.owner;
                of_location.accounts[account as usize] += booked.amount;
                of_location.beyond[account as usize] += booked.beyond;
                if booked.in_region {
                    of_location.in_regions[account as usize] += booked.amount;
                }
            }
            // An empty slot belongs to all locations together.
            Kind::Blamed(account) if !self.alone => {
                self.accounts[account as usize] += booked.amount;
                self.lose(account, booked, booked.amount);
                let of_owner = self.owners.entry(booked.owner).or_default();
                of_owner.blamed[account as usize] += booked.amount;
            }
            Kind::Blamed(_) => {}
            Kind::Passive(reason) => {
                let of_location = self.locations.entry(booked.location).or_default();
                of_location.owner = booked.owner;
                of_location.passive[reason] += whole_ns(booked.amount);
            }
        }
    }

    fn lose(&mut self, account: Account, booked: &Booked, amount: Units) {
        if amount > 0 && account.lost(IoAs::Lost) {
            *self.lost.entry((account, booked.location, booked.context)).or_default() += amount;
        }
    }
}
