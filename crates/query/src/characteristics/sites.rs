//! Operations by interval and location: how often, and for how long.

use std::collections::{BTreeMap, HashMap};

use proust_account::ledger::Account;
use proust_characteristics::operation::Operation;
use proust_profile::event_metrics::Operations;
use proust_profile::{
    ContextId, ContextKind, Detail, IntervalId, LocationId, Nature, OperationId, OperationKind, Profile,
    RegionId, SegmentRow,
};

/// Of so many of the measured executions of a site the last arrival must be known, for the others' potential
/// waits to be.
const ENOUGH: f64 = 0.9;

/// What a location did in the operations of one row.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Site {
    /// Each operation divided by those that take part.
    pub count: f64,
    /// Time in them, ns.
    pub time_ns: u64,
    /// Until the last one arrived, ns; None = not known.
    pub synchronization_ns: Option<u64>,
}

/// The operations that one location executed in one interval.
pub type OfOne = BTreeMap<(Account, Operation), Site>;

/// All operations of a run, by interval, those inside of it included (None: the run), and by location.
#[derive(Clone, Debug, Default)]
pub struct Sites {
    by: HashMap<(Option<IntervalId>, LocationId), OfOne>,
    /// Rows without potential waits, since of some operations the last arrival is not known.
    unknown: HashMap<(Option<IntervalId>, Operation), ()>,
}

/// The row of an operation, and the account of the time in it; None if it is none of the table's.
fn row_of(kind: OperationKind) -> Option<(Account, Operation)> {
    if kind.is_of_mpi() {
        // How many ranks take part in a call is not known here.
        return None;
    }
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
        for row in &profile.segments {
            let Some(kind) = operations.get(row.operation) else { continue };
            let Some((account, operation)) = row_of(kind) else { continue };
            let site = Site {
                count: row.executions as f64 / teams.of_site(row),
                time_ns: row.wait_ns,
                synchronization_ns: synchronization_ns(row, operation),
            };
            let interval = interval_of.get(row.context.index()).copied().flatten();
            sites.add(profile, (interval, row.location), (account, operation), site);
        }
        for row in &profile.events {
            let kind = operations.get(row.operation).filter(|kind| !kind.is_of_openmp());
            let Some((account, operation)) = kind.and_then(row_of) else { continue };
            let site = Site { count: f64::from(row.calls), time_ns: row.time_ns, synchronization_ns: None };
            let interval = interval_of.get(row.context.index()).copied().flatten();
            sites.add(profile, (interval, row.location), (account, operation), site);
        }
        sites
    }

    /// Adds to an interval and all around it.
    fn add(
        &mut self,
        profile: &Profile,
        (interval, location): (Option<IntervalId>, LocationId),
        row: (Account, Operation),
        site: Site,
    ) {
        let mut at = interval;
        loop {
            if site.synchronization_ns.is_none() {
                self.unknown.insert((at, row.1), ());
            }
            let sum = self.by.entry((at, location)).or_default().entry(row).or_default();
            sum.count += site.count;
            sum.time_ns += site.time_ns;
            let both = sum.synchronization_ns.unwrap_or(0) + site.synchronization_ns.unwrap_or(0);
            sum.synchronization_ns = Some(both);
            match at {
                Some(id) => at = profile.intervals.get(id as usize).and_then(|info| info.parent),
                None => break,
            }
        }
    }

    /// What a location did in an interval (None: in the run), by row.
    pub fn of_one(&self, interval: Option<IntervalId>, location: LocationId) -> Option<&OfOne> {
        self.by.get(&(interval, location))
    }

    /// Whether the potential waits of a row are known in an interval.
    pub fn is_known(&self, interval: Option<IntervalId>, operation: Operation) -> bool {
        !self.unknown.contains_key(&(interval, operation))
    }
}

/// How many threads take part in the operations of a site: each knows it only of the teams that it was told.
struct Teams(HashMap<(RegionId, OperationId, ContextId), (u32, u32)>);

impl Teams {
    fn of(profile: &Profile) -> Teams {
        let mut teams: HashMap<_, (u32, u32)> = HashMap::new();
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

/// The innermost interval around each context.
fn innermost(profile: &Profile) -> Vec<Option<IntervalId>> {
    let own: HashMap<_, _> =
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
