//! Watches a sweep for what is executed.

use proust_profile::{LocationId, ProcessId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::super::act::Act;
use super::super::error::LedgerError;
use super::super::fixed::Units;
use super::super::observer::{Begun, Booked, Border, Observer, SlotsSoFar, WaitCharge};
use super::super::owners::Owners;
use super::super::processors::Processors;
use super::super::slots::SlotSums;
use super::super::sweep::by_owner;
use super::super::timeline::{Run, Spans};
use super::super::windows::Windows;
use super::sums::{Sums, Table};
use super::{Executed, InParts, Inside};

/// Tables that are kept at once, beside some for each location.
const TABLES: usize = 1 << 12;
const TABLES_OF_ONE: usize = 4;

/// The account inside of executions, while it is being drawn up: an observer of the sweep of a ledger.
#[derive(Debug)]
pub struct Insides {
    owners: Vec<OfOwner>,
    /// By position among the run's timelines.
    sources: Vec<Acting>,
    borders: Vec<Border>,
    /// In the order of the borders.
    changes: Vec<Change>,
    /// How many borders and changes were passed.
    passed: (usize, usize),
    sets: Sets,
    tables: Vec<(Holder, Table)>,
    /// So many tables are kept at once.
    pub(in crate::ledger) most_tables: usize,
    /// By what is executed.
    sums: Vec<Sums>,
}

/// At a border something begins, or ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Change {
    border: Border,
    begins: bool,
    what: u32,
}

/// What is executed in an owner's slots, and since when by their sums.
#[derive(Debug)]
struct OfOwner {
    process: ProcessId,
    /// The positions of the locations that use its slots.
    sources: Vec<usize>,
    open: Vec<(u32, SlotSums)>,
}

/// A location.
#[derive(Debug)]
struct Acting {
    location: LocationId,
    /// None if it is not charged.
    owner: Option<usize>,
    /// What it executes that counts for each location by itself.
    alone: Vec<u32>,
    /// What of its present act was added already, and of that the part beyond the processors.
    given: [(Units, Units); Act::MOST],
    /// Where its amounts are added at present.
    table: Option<usize>,
    /// By set.
    tables: FxHashMap<SetId, usize>,
}

/// The location, by its position, and the set that a table is of.
type Holder = (usize, SetId);
/// Position in [`Sets::all`].
type SetId = usize;

/// Sets of what is executed at once, each in order.
#[derive(Debug, Default)]
struct Sets {
    all: Vec<Vec<u32>>,
    known: FxHashMap<Vec<u32>, SetId>,
}

impl Sets {
    fn id(&mut self, set: &[u32]) -> SetId {
        if let Some(&known) = self.known.get(set) {
            return known;
        }
        self.known.insert(set.to_vec(), self.all.len());
        self.all.push(set.to_vec());
        self.all.len() - 1
    }
}

/// Executions in the slots of an owner.
#[derive(Default)]
struct Executions {
    executed: Vec<Executed>,
    /// What is executed somewhere within windows.
    somewhere: Vec<Executed>,
}

impl Insides {
    /// Of executions in a run, within windows.
    ///
    /// # Errors
    /// As [`Ledger::of`](crate::ledger::Ledger::of).
    pub fn new<S: Spans>(
        run: &Run<S>,
        windows: &Windows,
        parts: &InParts<'_>,
    ) -> Result<Insides, LedgerError> {
        let owners = Owners::new(&run.processes)?;
        let mut sources = Vec::with_capacity(run.timelines.len());
        let mut places: FxHashMap<LocationId, (ProcessId, usize)> = FxHashMap::default();
        for (source, timeline) in run.timelines.iter().enumerate() {
            places.insert(timeline.location, (timeline.process, source));
            sources.push(Acting {
                location: timeline.location,
                owner: owners.of(timeline.process)?.filter(|_| !timeline.service),
                alone: Vec::new(),
                given: Default::default(),
                table: None,
                tables: FxHashMap::default(),
            });
        }
        let has_places = |&thing: &u32| parts.without_places != Some(thing);
        let of_part = |thing| Sums { has_places: has_places(thing), ..Sums::default() };
        let mut sums: Vec<Sums> = parts.thing_of.iter().map(of_part).collect();
        let mut of_owners: Vec<Executions> = owners.list.iter().map(|_| Executions::default()).collect();
        for (executions, is_somewhere) in [(parts.executed, false), (parts.somewhere, true)] {
            for execution in executions {
                let Some(&(process, _)) = places.get(&execution.location) else { continue };
                let (Some(owner), Some(sums)) = (owners.of(process)?, sums.get_mut(execution.what as usize))
                else {
                    continue;
                };
                sums.owners.entry(owner).or_default();
                let Executions { executed, somewhere } = &mut of_owners[owner];
                if is_somewhere { somewhere } else { executed }.push(*execution);
            }
        }
        let most_tables = TABLES + TABLES_OF_ONE * sources.len();
        let positions = by_owner(owners.list.len(), sources.iter().map(|acting| acting.owner));
        let owners = owners.list.iter().zip(positions);
        let mut insides = Insides {
            owners: owners
                .map(|(owner, sources)| OfOwner { process: owner.process, sources, open: Vec::new() })
                .collect(),
            sources,
            borders: Vec::new(),
            changes: Vec::new(),
            passed: (0, 0),
            sets: Sets::default(),
            tables: Vec::new(),
            most_tables,
            sums,
        };
        insides.find_borders(of_owners, &places, windows, parts.thing_of);
        Ok(insides)
    }

    /// Finds out what counts how, and where the borders are.
    fn find_borders(
        &mut self,
        mut owners: Vec<Executions>,
        places: &FxHashMap<LocationId, (ProcessId, usize)>,
        windows: &Windows,
        thing_of: &[u32],
    ) {
        let thing_of = |one: &Executed| thing_of[one.what as usize];
        let mut alone: FxHashSet<u32> = FxHashSet::default();
        for owner in &owners {
            let mut all: Vec<Executed> = owner.executed.iter().chain(&owner.somewhere).copied().collect();
            all.sort_by_key(|one| (thing_of(one), one.window.start_ns, one.location));
            let overlapping =
                all.chunk_by(|a, b| thing_of(a) == thing_of(b)).filter(|of_one| overlap(of_one, places));
            alone.extend(overlapping.map(|of_one| thing_of(&of_one[0])));
        }
        for (owner, Executions { executed, .. }) in owners.iter_mut().enumerate() {
            executed.sort_by_key(|one| (one.what, one.window.start_ns, one.location));
            for of_one in executed.chunk_by(|a, b| a.what == b.what) {
                let what = of_one[0].what;
                let all: Windows = of_one.iter().map(|one| one.window).collect();
                let wall_ns = all.intersection(windows).length_ns();
                let sums = &mut self.sums[what as usize];
                sums.alone = alone.contains(&thing_of(&of_one[0]));
                sums.wall_ns += wall_ns;
                sums.owners.entry(owner).or_default().wall_ns += wall_ns;
                let mut push = |at_ns, source, begins| {
                    self.changes.push(Change { border: Border { at_ns, owner, source }, begins, what });
                };
                if sums.alone {
                    for one in of_one.iter().filter(|one| one.window.length_ns() > 0) {
                        let source = places.get(&one.location).map(|(_, source)| *source);
                        push(one.window.start_ns, source, true);
                        push(one.window.end_ns, source, false);
                    }
                } else {
                    // Without those of no length, and where executions touch without a border.
                    for window in all.as_slice() {
                        push(window.start_ns, None, true);
                        push(window.end_ns, None, false);
                    }
                }
            }
        }
        self.changes.sort_unstable();
        self.borders = self.changes.iter().map(|change| change.border).collect();
        self.borders.dedup();
    }

    /// The accounts, by what was executed, after the sweep of a ledger with these processors.
    pub fn finish(mut self, processors: &Processors) -> Vec<Inside> {
        let owner_at = |owner: usize| {
            let process = self.owners[owner].process;
            (process, processors.of(process).unwrap_or_default())
        };
        let mut tables_of: Vec<Vec<usize>> = vec![Vec::new(); self.sums.len()];
        for (at, ((_, set), table)) in self.tables.iter_mut().enumerate() {
            table.enter_pending();
            self.sets.all[*set].iter().for_each(|&what| tables_of[what as usize].push(at));
        }
        let finished = |(mut sums, tables): (Sums, Vec<usize>)| {
            for at in tables {
                let ((source, _), table) = &self.tables[at];
                sums.take(holder(&self.sources, *source), table);
            }
            sums.finish(&owner_at)
        };
        self.sums.into_iter().zip(tables_of).map(finished).collect()
    }

    /// From now on the amounts of a location belong to what is executed now.
    fn reopen(&mut self, source: usize) {
        let acting = &mut self.sources[source];
        let Some(owner) = acting.owner else { return };
        let mut set: Vec<u32> = self.owners[owner].open.iter().map(|open| open.0).collect();
        set.extend(&acting.alone);
        set.sort_unstable();
        acting.table = (!set.is_empty()).then(|| {
            let has_places = set.iter().any(|&what| self.sums[what as usize].has_places);
            let set = self.sets.id(&set);
            *acting.tables.entry(set).or_insert_with(|| {
                self.tables.push(((source, set), Table::new(has_places)));
                self.tables.len() - 1
            })
        });
    }

    /// Adds what is in the tables to the sums of what was executed, and begins new ones.
    fn settle(&mut self) {
        for ((source, set), mut table) in std::mem::take(&mut self.tables) {
            table.enter_pending();
            for &what in &self.sets.all[set] {
                self.sums[what as usize].take(holder(&self.sources, source), &table);
            }
        }
        self.sets = Sets::default();
        for source in 0..self.sources.len() {
            self.sources[source].tables.clear();
            self.reopen(source);
        }
    }
}

/// A location with the owner whose slots it uses; only those that have one have tables.
fn holder(sources: &[Acting], source: usize) -> (LocationId, usize) {
    (sources[source].location, sources[source].owner.unwrap_or_default())
}

/// Whether executions of one thing, sorted by begin, overlap in several locations of a process.
fn overlap(of_one: &[Executed], places: &FxHashMap<LocationId, (ProcessId, usize)>) -> bool {
    let process_of = |location: &LocationId| places.get(location).map(|(process, _)| *process);
    let mut ends: FxHashMap<LocationId, u64> = FxHashMap::default();
    for one in of_one {
        let process = process_of(&one.location);
        let is_other = |location: &LocationId| *location != one.location && process_of(location) == process;
        let others = ends.iter().filter(|(location, _)| is_other(location));
        if others.into_iter().any(|(_, &end_ns)| end_ns > one.window.start_ns) {
            return true;
        }
        let end_ns = ends.entry(one.location).or_default();
        *end_ns = (*end_ns).max(one.window.end_ns);
    }
    false
}

impl Observer for Insides {
    fn begins(&mut self, _: &Begun) {}

    fn waited(&mut self, _: &WaitCharge) {}

    fn border(&self, nth: usize) -> Option<Border> {
        self.borders.get(nth).copied()
    }

    fn booked(&mut self, booked: &Booked) {
        let acting = &mut self.sources[booked.source];
        let given = &mut acting.given[booked.nth];
        // An amount that is rounded may be less than its beginning was, by some units.
        let amount = booked.amount.saturating_sub(given.0);
        let beyond = booked.beyond.saturating_sub(given.1);
        *given = match booked.is_over {
            true => (0, 0),
            false => (given.0 + amount, given.1 + beyond),
        };
        if let Some(table) = acting.table {
            self.tables[table].1.add(booked, amount, beyond);
        }
    }

    fn passes(&mut self, slots: &SlotsSoFar) {
        let border = self.borders[self.passed.0];
        self.passed.0 += 1;
        let open = &mut self.owners[border.owner].open;
        while let Some(change) = self.changes.get(self.passed.1).filter(|change| change.border == border) {
            self.passed.1 += 1;
            let what = change.what;
            match (border.source, change.begins) {
                (None, true) => open.push((what, slots.0)),
                (None, false) => {
                    if let Some(at) = open.iter().rposition(|open| open.0 == what) {
                        let (_, since) = open.remove(at);
                        let sums = &mut self.sums[what as usize];
                        sums.slots.add_since(&slots.0, &since);
                        sums.owners.entry(border.owner).or_default().slots.add_since(&slots.0, &since);
                    }
                }
                (Some(source), true) => self.sources[source].alone.push(what),
                (Some(source), false) => {
                    let alone = &mut self.sources[source].alone;
                    if let Some(at) = alone.iter().rposition(|&open| open == what) {
                        alone.remove(at);
                    }
                }
            }
        }
        match border.source {
            Some(source) => self.reopen(source),
            None => {
                for at in 0..self.owners[border.owner].sources.len() {
                    self.reopen(self.owners[border.owner].sources[at]);
                }
            }
        }
        if self.tables.len() > self.most_tables {
            self.settle();
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
