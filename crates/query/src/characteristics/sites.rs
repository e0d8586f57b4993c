//! Operations by interval and location: how often, and for how long.

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_characteristics::dvm::Column;
use proust_characteristics::operation::Operation;
use proust_profile::event_metrics::Operations;
use proust_profile::{
    ContextId, ContextKind, Detail, EventRow, ExchangeRow, IntervalId, LocationId, Nature, OperationId,
    OperationKind, Profile, RegionId, SegmentRow,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::cell::Cell;
use super::mpi_rows::{Group, group_of, row_of as row_of_mpi};

/// Of so many of the measured executions of a site the last arrival must be known, for the others' potential
/// waits to be.
const ENOUGH: f64 = 0.9;

/// Of so many of the measured executions of a site the last one to leave must be known, for the spread of the
/// ends to be: at the last barrier of a region it may not be, and regions may have few.
const ENOUGH_ENDS: f64 = 0.5;

/// What a location did in the operations of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// Each operation divided by those that take part.
    pub count: f64,
    /// Time in them, ns.
    pub time_ns: u64,
    /// Of the columns beside the time.
    cells: Cells,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Cells {
    synchronization: Cell,
    variation: Cell,
    overlap: Cell,
}

impl Cells {
    fn all(&self) -> [(Column, Cell); 3] {
        [
            (Column::Synchronization, self.synchronization),
            (Column::Variation, self.variation),
            (Column::Overlap, self.overlap),
        ]
    }

    fn and(self, more: Cells) -> Cells {
        Cells {
            synchronization: self.synchronization.and(more.synchronization),
            variation: self.variation.and(more.variation),
            overlap: self.overlap.and(more.overlap),
        }
    }
}

impl Site {
    /// An amount of it, ns; None = not known, or not about it.
    pub fn of(&self, column: Column) -> Option<u64> {
        let Cells { synchronization, variation, overlap } = self.cells;
        match column {
            Column::Communication => Some(self.time_ns),
            Column::Synchronization => synchronization.ns(),
            Column::Variation => variation.ns(),
            Column::Overlap => overlap.ns(),
        }
    }

    fn and(self, more: Site) -> Site {
        Site {
            count: self.count + more.count,
            time_ns: self.time_ns + more.time_ns,
            cells: self.cells.and(more.cells),
        }
    }
}

/// The operations that one location executed in one interval.
pub type OfOne = BTreeMap<(Account, Operation), Site>;

/// What one location did in MPI in one interval, as the analyzer of MPI traces has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct InMpi {
    /// How many calls.
    pub calls: u64,
    /// In all of them, ns.
    pub all_ns: u64,
    /// In those that send, receive, or complete messages.
    pub send_receive_ns: u64,
    /// In collectives other than all-to-all.
    pub collective_ns: u64,
    /// In all-to-all.
    pub all_to_all_ns: u64,
    /// In calls that only start something.
    pub start_ns: u64,
    /// Receives that began before their sends, and early begins of collectives.
    pub potential_ns: u64,
    /// Spread of the ends of collectives.
    pub variation_ns: u64,
    /// Σ over messages received of (end of the receive − begin of the send).
    pub spans_ns: f64,
    /// Calls that have partners, and those of which they are known.
    pub partnered: u64,
    /// See `partnered`.
    pub matched: u64,
}

/// All operations of a run, by interval, those inside of it included (None: the run), and by location.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    by: FxHashMap<(Option<IntervalId>, LocationId), OfOne>,
    mpi: FxHashMap<(Option<IntervalId>, LocationId), InMpi>,
    /// Iterations of loops that runtimes report, by innermost interval.
    iterations: FxHashMap<(Option<IntervalId>, LocationId), u64>,
    /// Cells that are not known, since of some operations the partners' times are not.
    unknown: FxHashSet<(Option<IntervalId>, Operation, Column)>,
}

/// The row of an operation of threads, and the account of the time in it; None if it is none of the table's.
fn row_of(kind: OperationKind) -> Option<(Account, Operation)> {
    let row = match (kind.nature, kind.detail) {
        (_, Detail::RegionEnd) => (Account::Barrier, Operation::RegionEnd),
        (Nature::Barrier, Detail::CopyPrivate) => (Account::Barrier, Operation::Single),
        (Nature::Barrier, Detail::TaskWait | Detail::TaskGroup) => (Account::Barrier, Operation::TaskWait),
        (Nature::Barrier, Detail::Doacross) => (Account::Barrier, Operation::Ordered),
        (Nature::Barrier, _) | (_, Detail::BarrierOfOne) => (Account::Barrier, Operation::TeamBarrier),
        (Nature::Lock | Nature::Spin, Detail::Critical | Detail::Atomic) => {
            (Account::Lock, Operation::Critical)
        }
        (Nature::Lock | Nature::Spin, Detail::Ordered) => (Account::Lock, Operation::Ordered),
        (Nature::Lock | Nature::Spin, _) => (Account::Lock, Operation::Lock),
        (Nature::Runtime, _) => (Account::Runtime, Operation::Runtime),
        (nature, _) if nature.is_io() => (Account::Io, Operation::Io),
        _ => return None,
    };
    Some(row)
}

impl Sites {
    /// Of a profile with its operations.
    pub fn of(profile: &Profile) -> Sites {
        let mut sites = Sites::default();
        let interval_of = innermost(profile);
        let operations = Operations::of(profile);
        let teams = Teams::of(profile);
        let innermost_of = |context: ContextId| interval_of.get(context.index()).copied().flatten();
        for row in &profile.segments {
            let Some(kind) = operations.get(row.operation) else { continue };
            let place = (innermost_of(row.context), row.location);
            if row.iterations > 0 {
                *sites.iterations.entry(place).or_default() += row.iterations;
            }
            let Some((account, operation)) = row_of(kind).filter(|_| !kind.is_of_mpi()) else { continue };
            let site = Site {
                count: row.executions as f64 / teams.of_site(row),
                time_ns: row.wait_ns,
                cells: Cells {
                    synchronization: synchronization_ns(row, operation).into(),
                    variation: variation(row, operation),
                    overlap: Cell::Silent,
                },
            };
            sites.add(profile, place, (account, operation), site);
        }
        // There are many more operations than places: those around a place get the sum.
        let mut by_place: FxHashMap<_, Site> = FxHashMap::default();
        for row in profile.events.iter() {
            let row = &row;
            let Some(kind) = operations.get(row.operation).filter(|kind| !kind.is_of_openmp()) else {
                continue;
            };
            let place = (innermost_of(row.context), row.location);
            if kind.is_of_mpi() {
                if is_apart(profile, row) {
                    sites.add_apart(profile, place, row, kind.nature);
                }
            } else if let Some(found) = row_of(kind) {
                let is_io = found.1 == Operation::Io;
                let beside = if is_io { Cell::Silent } else { Cell::Unknown };
                let cells = Cells { synchronization: beside, variation: beside, overlap: Cell::Silent };
                let site = Site { count: f64::from(row.calls), time_ns: row.time_ns, cells };
                let sum = by_place.entry((place, found)).or_default();
                *sum = sum.and(site);
            }
        }
        for ((place, found), sum) in by_place {
            sites.add(profile, place, found, sum);
        }
        for row in &profile.exchanges {
            let Some(kind) = operations.get(row.operation) else { continue };
            let place = (innermost_of(row.context), row.location);
            sites.add_exchange(profile, place, row, kind.nature);
        }
        sites
    }

    /// Calls of MPI of which no more is known than their time.
    fn add_apart(
        &mut self,
        profile: &Profile,
        place: (Option<IntervalId>, LocationId),
        row: &EventRow,
        nature: Nature,
    ) {
        let function = (profile.operations[row.operation].name.as_str(), nature);
        let operation = row_of_mpi(function, None, false, false);
        let site = Site { count: f64::from(row.calls), time_ns: row.time_ns, cells: Cells::default() };
        self.add(profile, place, (account_of(nature), operation), site);
        let in_mpi = InMpi { calls: row.calls.into(), all_ns: row.time_ns, ..InMpi::default() };
        self.add_in_mpi(profile, place, with_group(in_mpi, group_of(function, None), row.time_ns));
    }

    /// Calls of MPI with their partners.
    fn add_exchange(
        &mut self,
        profile: &Profile,
        place: (Option<IntervalId>, LocationId),
        row: &ExchangeRow,
        nature: Nature,
    ) {
        let function = (profile.operations[row.operation].name.as_str(), nature);
        let completes = row.completes.map(|operation| profile.operations[operation].name.as_str());
        let operation = row_of_mpi(function, completes, row.is_group, row.hands_on_io);
        let partnered = row.matched + row.unmatched;
        let is_known = row.matched as f64 >= ENOUGH * partnered as f64;
        let cell = |ns: u64| match (partnered, is_known) {
            (0, _) => Cell::Silent,
            (_, true) => Cell::Ns(ns),
            (_, false) => Cell::Unknown,
        };
        let is_wait = matches!(operation, Operation::WaitReduction | Operation::WaitShadow);
        // A wait for what another row began is counted there.
        let count = if completes.is_some() && !is_wait { 0.0 } else { row.shares };
        let site = Site {
            count,
            time_ns: row.time_ns.saturating_sub(row.partner_ns),
            cells: Cells {
                synchronization: cell(row.later_begins_ns),
                variation: cell(row.later_ends_ns),
                overlap: if is_wait { Cell::Silent } else { cell(row.overlap_ns) },
            },
        };
        self.add(profile, place, (account_of(nature), operation), site);
        let waited = Site { time_ns: row.partner_ns, ..Site::default() };
        self.add(profile, place, (Account::MpiPartner, operation), waited);
        // Overlap is that of the row which began.
        let began = match operation {
            Operation::WaitReduction => Some(Operation::StartReduction),
            Operation::WaitShadow => Some(Operation::StartShadow),
            _ => None,
        };
        if let Some(began) = began {
            let cells = Cells { overlap: cell(row.overlap_ns), ..Cells::default() };
            self.add(profile, place, (account_of(nature), began), Site { cells, ..Site::default() });
        }
        let group = group_of(function, completes);
        let is_collective = nature == Nature::Collective
            || matches!(group, Group::CollectiveAll | Group::AllToAll) && completes.is_some();
        let in_mpi = InMpi {
            calls: row.calls,
            all_ns: row.time_ns,
            potential_ns: row.late_sends_ns + if is_collective { row.later_begins_ns } else { 0 },
            variation_ns: if is_collective { row.later_ends_ns } else { 0 },
            spans_ns: row.spans_ns,
            partnered,
            matched: row.matched,
            ..InMpi::default()
        };
        self.add_in_mpi(profile, place, with_group(in_mpi, group, row.time_ns));
    }

    /// Adds to an interval and all around it.
    fn add(
        &mut self,
        profile: &Profile,
        (interval, location): (Option<IntervalId>, LocationId),
        row: (Account, Operation),
        site: Site,
    ) {
        for at in around(profile, interval) {
            for (column, cell) in site.cells.all() {
                if cell == Cell::Unknown {
                    self.unknown.insert((at, row.1, column));
                }
            }
            let sum = self.by.entry((at, location)).or_default().entry(row).or_default();
            *sum = sum.and(site);
        }
    }

    fn add_in_mpi(
        &mut self,
        profile: &Profile,
        (interval, location): (Option<IntervalId>, LocationId),
        more: InMpi,
    ) {
        for at in around(profile, interval) {
            let sum = self.mpi.entry((at, location)).or_default();
            *sum = InMpi {
                calls: sum.calls + more.calls,
                all_ns: sum.all_ns + more.all_ns,
                send_receive_ns: sum.send_receive_ns + more.send_receive_ns,
                collective_ns: sum.collective_ns + more.collective_ns,
                all_to_all_ns: sum.all_to_all_ns + more.all_to_all_ns,
                start_ns: sum.start_ns + more.start_ns,
                potential_ns: sum.potential_ns + more.potential_ns,
                variation_ns: sum.variation_ns + more.variation_ns,
                spans_ns: sum.spans_ns + more.spans_ns,
                partnered: sum.partnered + more.partnered,
                matched: sum.matched + more.matched,
            };
        }
    }

    /// What a location did in an interval (None: in the run), by row.
    pub fn of_one(&self, interval: Option<IntervalId>, location: LocationId) -> Option<&OfOne> {
        self.by.get(&(interval, location))
    }

    /// What a location did in MPI in an interval (None: in the run).
    pub fn in_mpi(&self, interval: Option<IntervalId>, location: LocationId) -> InMpi {
        self.mpi.get(&(interval, location)).copied().unwrap_or_default()
    }

    /// Iterations of loops by location that are in this interval (None: in the run) and in none inside of it,
    /// as far as runtimes report them.
    pub fn iterations(&self, interval: Option<IntervalId>) -> BTreeMap<LocationId, u64> {
        let here = self.iterations.iter().filter(|((at, _), _)| *at == interval);
        here.map(|(&(_, location), &iterations)| (location, iterations)).collect()
    }

    /// Whether a column of a row is known in an interval.
    pub fn is_known(&self, interval: Option<IntervalId>, operation: Operation, column: Column) -> bool {
        !self.unknown.contains(&(interval, operation, column))
    }
}

impl InMpi {
    /// Whether the partners of enough of its calls are known.
    pub fn is_known(&self) -> bool {
        self.matched as f64 >= ENOUGH * self.partnered as f64
    }
}

fn with_group(in_mpi: InMpi, group: Group, time_ns: u64) -> InMpi {
    match group {
        Group::SendRecv => InMpi { send_receive_ns: time_ns, ..in_mpi },
        Group::CollectiveAll => InMpi { collective_ns: time_ns, ..in_mpi },
        Group::AllToAll => InMpi { all_to_all_ns: time_ns, ..in_mpi },
        Group::Start => InMpi { start_ns: time_ns, ..in_mpi },
        Group::None => in_mpi,
    }
}

/// Whether a call of MPI is none of those whose partners the profile has: a sum, one that never returned, or
/// one of a profile that has no partners.
fn is_apart(profile: &Profile, row: &EventRow) -> bool {
    row.summed || row.open || profile.exchanges.is_empty()
}

/// The account of the time in a call of MPI, without what is before its partners arrive.
fn account_of(nature: Nature) -> Account {
    match nature {
        Nature::Runtime => Account::Runtime,
        nature if nature.is_io() => Account::Io,
        _ => Account::MpiTransfer,
    }
}

/// An interval, those around it, and the run.
fn around(profile: &Profile, interval: Option<IntervalId>) -> impl Iterator<Item = Option<IntervalId>> {
    let parent = |&id: &IntervalId| profile.intervals.get(id as usize).and_then(|info| info.parent);
    std::iter::successors(interval, parent).map(Some).chain([None])
}

/// How many threads take part in the operations of a site: each knows it only of the teams that it was told.
struct Teams(FxHashMap<(RegionId, OperationId, ContextId), (u32, u32)>);

impl Teams {
    fn of(profile: &Profile) -> Teams {
        let mut teams: FxHashMap<_, (u32, u32)> = FxHashMap::default();
        for row in &profile.segments {
            let (largest, threads) = teams.entry((row.region, row.operation, row.context)).or_default();
            *largest = (*largest).max(row.team_max);
            *threads += 1;
        }
        Teams(teams)
    }

    fn of_site(&self, row: &SegmentRow) -> f64 {
        let found = self.0.get(&(row.region, row.operation, row.context));
        let (largest, threads) = found.copied().unwrap_or_default();
        // Teams of a region may differ; those that a thread knows are the best guess for the others.
        let own =
            (row.team_min > 0).then(|| f64::from(row.team_min.midpoint(row.team_max.max(row.team_min))));
        own.unwrap_or_else(|| f64::from(if largest > 0 { largest } else { threads.max(1) }))
    }
}

/// The potential waits at a site: of barriers, until the last thread arrived.
fn synchronization_ns(row: &SegmentRow, operation: Operation) -> Option<u64> {
    if !matches!(operation, Operation::TeamBarrier | Operation::RegionEnd) {
        return None;
    }
    if row.team_max == 1 {
        return Some(0);
    }
    let measured = row.executions.saturating_sub(row.unmeasured) as f64;
    (row.known as f64 >= ENOUGH * measured).then(|| row.wait_ns.saturating_sub(row.latency_ns))
}

/// The spread of the ends at a site: of barriers, until the last thread left. All threads end a region at
/// once, when its opener continues.
fn variation(row: &SegmentRow, operation: Operation) -> Cell {
    match operation {
        Operation::RegionEnd => return Cell::Silent,
        Operation::TeamBarrier => {}
        _ => return Cell::Unknown,
    }
    if row.team_max == 1 || row.executions == 0 {
        return Cell::Ns(0);
    }
    let measured = row.executions.saturating_sub(row.unmeasured).max(1) as f64;
    let known = row.spreads as f64;
    match known > 0.0 && known >= ENOUGH_ENDS * measured.min(row.known.max(1) as f64) {
        true => Cell::Ns((row.spread_ns as f64 * row.executions as f64 / known) as u64),
        false => Cell::Unknown,
    }
}

/// The innermost interval around each context.
fn innermost(profile: &Profile) -> Vec<Option<IntervalId>> {
    let own: FxHashMap<_, _> =
        profile.interval_contexts.iter().map(|place| (place.context, place.interval)).collect();
    let mut all: Vec<Option<IntervalId>> = Vec::with_capacity(profile.contexts.len());
    for (id, context) in profile.contexts.iter_enumerated() {
        let interval = match context.kind {
            ContextKind::Interval => own.get(&id).copied(),
            _ => None,
        };
        let around = || context.parent.and_then(|parent| all.get(parent.index()).copied().flatten());
        all.push(interval.or_else(around));
    }
    all
}
