//! What the regions of a run are made of: the sites of all threads, by place in the source.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proust_profile::{
    ContextId, ContextKind, Detail, FunctionId, LocationId, Nature, Ns, OperationId, OperationKind,
    ProcessId, RegionId, SegmentRow,
};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::place::Place;
use proust_account::ledger::{Account, PassiveReason};

/// Sites at one place in the source, in all regions that lead there.
#[derive(Debug)]
pub(super) struct Construct<'p> {
    pub(super) process: ProcessId,
    pub(super) kind: OperationKind,
    /// One of its call paths.
    pub(super) context: ContextId,
    rows: Vec<&'p SegmentRow>,
}

impl Construct<'_> {
    /// How often threads visited it.
    pub(super) fn executions(&self) -> u64 {
        self.rows.iter().map(|row| row.executions).sum()
    }

    /// Iterations that threads got there.
    pub(super) fn iterations(&self) -> u64 {
        self.rows.iter().map(|row| row.iterations).sum()
    }

    /// Visits of the thread with the most of them.
    pub(super) fn visits(&self) -> u64 {
        let mut visits: FxHashMap<LocationId, u64> = FxHashMap::default();
        for row in &self.rows {
            *visits.entry(row.location).or_default() += row.executions;
        }
        visits.into_values().max().unwrap_or(0)
    }

    /// Threads of the largest team.
    pub(super) fn team(&self) -> u32 {
        self.rows.iter().map(|row| row.team_max).max().unwrap_or(0)
    }

    /// Work before it: on a processor or not.
    pub(super) fn work(&self) -> Ns {
        Ns::of(self.rows.iter().map(|row| row.work_ns).sum())
    }

    /// Time in it.
    pub(super) fn wait(&self) -> Ns {
        Ns::of(self.rows.iter().map(|row| row.wait_ns).sum())
    }

    /// The part of it after the last thread arrived.
    pub(super) fn latency(&self) -> Ns {
        Ns::of(self.rows.iter().map(|row| row.latency_ns).sum())
    }

    /// The regions that it is in.
    pub(super) fn regions(&self) -> Vec<RegionId> {
        let mut regions: Vec<RegionId> = self.rows.iter().map(|row| row.region).collect();
        regions.sort_unstable();
        regions.dedup();
        regions
    }

    /// The threads that waited there, where, and how long.
    pub(super) fn waiters(&self) -> impl Iterator<Item = (LocationId, ContextId, Ns)> {
        self.rows.iter().map(|row| (row.location, row.context, Ns::of(row.wait_ns)))
    }

    /// The rows of each thread.
    pub(super) fn by_thread(&self) -> BTreeMap<LocationId, Vec<&SegmentRow>> {
        let mut threads: BTreeMap<LocationId, Vec<&SegmentRow>> = BTreeMap::new();
        for row in &self.rows {
            threads.entry(row.location).or_default().push(row);
        }
        threads
    }

    /// Whether all of a team wait for each other there.
    pub(super) fn is_for_all(&self) -> bool {
        matches!(self.kind.detail, Detail::TeamBarrier | Detail::RegionEnd)
    }
}

/// The processor time that a thread used and lacked in a region, ns.
#[derive(Clone, Copy, Debug, Default)]
struct Processor {
    /// On one.
    used_ns: u64,
    /// Runnable, without one.
    lacked_ns: u64,
}

/// How long barriers took, and how many they were: of one alone whole nanoseconds would be too coarse.
#[derive(Clone, Copy, Debug)]
pub(super) struct BarrierCost {
    latency: Ns,
    times: u64,
}

impl BarrierCost {
    /// So many of them.
    pub(super) fn of(&self, times: f64) -> Ns {
        self.latency * (times / self.times.max(1) as f64)
    }

    /// The order of what one of them takes.
    fn order(&self, other: &BarrierCost) -> Ordering {
        let each = |cost: &BarrierCost| cost.latency.as_seconds() / cost.times.max(1) as f64;
        each(self).total_cmp(&each(other))
    }
}

/// The constructs of a run.
#[derive(Debug)]
pub(super) struct Constructs<'p> {
    pub(super) all: Vec<Construct<'p>>,
    /// The region's context that each context lies in or below, if any.
    region_of: Vec<Option<ContextId>>,
    processor: FxHashMap<(LocationId, ContextId), Processor>,
}

/// A barrier that was executed so often shows the cost of one.
const ENOUGH: u64 = 100;
/// The most that a barrier is assumed to cost. Where it takes longer its threads sleep, or have no
/// processor.
const DEAREST: BarrierCost = BarrierCost { latency: Ns::new(3000), times: 1 };

impl<'p> Constructs<'p> {
    pub(super) fn of(facts: &Facts<'p>) -> Constructs<'p> {
        let profile = facts.profile;
        type Key = (ProcessId, OperationId, (Option<FunctionId>, Option<u32>));
        let mut by_place: BTreeMap<Key, Construct<'p>> = BTreeMap::new();
        for row in &profile.segments {
            let Some(kind) = facts.operations.get(row.operation) else { continue };
            let process = profile.locations[row.location].process;
            let key = (process, row.operation, facts.places.line_key(row.context));
            let construct = by_place.entry(key).or_insert_with(|| Construct {
                process,
                kind,
                context: row.context,
                rows: Vec::new(),
            });
            construct.rows.push(row);
        }
        let mut region_of: Vec<Option<ContextId>> = vec![None; profile.contexts.len()];
        for region in &profile.regions {
            region_of[region.context.index()] = Some(region.context);
        }
        for id in 0..region_of.len() {
            let above = profile.contexts[ContextId::from_index(id)]
                .parent
                .and_then(|parent| region_of[parent.index()]);
            region_of[id] = region_of[id].or(above);
        }
        let mut processor: FxHashMap<_, Processor> = FxHashMap::default();
        for row in &facts.ledger.spent {
            let Some(region) = region_of[row.context.index()] else { continue };
            let sums = processor.entry((row.location, region)).or_default();
            match row.account {
                Account::Compute | Account::Fault | Account::Io | Account::Replicated => {
                    sums.used_ns += row.ns
                }
                Account::Oversubscribed | Account::Preempted => sums.lacked_ns += row.ns,
                _ => {}
            }
        }
        Constructs { all: by_place.into_values().collect(), region_of, processor }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The constructs of this kind.
    pub(super) fn of_kind(&self, detail: Detail) -> impl Iterator<Item = &Construct<'p>> {
        self.all.iter().filter(move |one| one.kind.detail == detail)
    }

    /// Whether a context lies in a region.
    pub(super) fn is_in_region(&self, context: ContextId) -> bool {
        self.region_of[context.index()].is_some()
    }

    /// Whether a context lies in this region, and in none inside of it.
    pub(super) fn is_in(&self, context: ContextId, facts: &Facts<'_>, region: RegionId) -> bool {
        self.region_of[context.index()] == Some(facts.profile.regions[region].context)
    }

    /// The work of a thread before a construct, without the time that it had no processor: of that, each
    /// site of a region gets the share that it has of the work.
    pub(super) fn processor_time(&self, facts: &Facts<'_>, location: LocationId, rows: &[&SegmentRow]) -> Ns {
        let of = |row: &&SegmentRow| {
            let region = facts.profile.regions[row.region].context;
            let known = self.processor.get(&(location, region)).copied().unwrap_or_default();
            let all_ns = known.used_ns + known.lacked_ns;
            let share = if all_ns == 0 { 1.0 } else { known.used_ns as f64 / all_ns as f64 };
            Ns::of(row.work_ns) * share
        };
        rows.iter().map(of).sum()
    }

    /// The standard error of the processor time sampled in these regions.
    pub(super) fn error(&self, facts: &Facts<'_>, regions: &[RegionId]) -> Ns {
        let contexts = (0..self.region_of.len()).map(ContextId::from_index);
        facts.error(contexts.filter(|&id| regions.iter().any(|&region| self.is_in(id, facts, region))))
    }

    /// The least cost of a barrier of this process: the shortest mean time from the last arrival to the
    /// release.
    pub(super) fn barrier(&self, process: ProcessId) -> Option<BarrierCost> {
        let rows = self.all.iter().filter(|one| one.process == process && one.is_for_all());
        let rows = rows.flat_map(|one| &one.rows).filter(|row| row.executions >= ENOUGH && row.team_max > 1);
        let costs = rows.map(|row| BarrierCost { latency: Ns::of(row.latency_ns), times: row.executions });
        let least = costs.min_by(BarrierCost::order)?;
        Some(if DEAREST.order(&least).is_lt() { DEAREST } else { least })
    }

    /// Processor time in functions of the runtime whose names begin so, in these regions.
    pub(super) fn in_runtime(&self, facts: &Facts<'_>, regions: &[RegionId], beginnings: &[&str]) -> Ns {
        let profile = facts.profile;
        let mut is_inside = vec![false; profile.contexts.len()];
        let mut sum = Ns::ZERO;
        for (id, context) in profile.contexts.iter().enumerate() {
            let is_call = matches!(context.kind, ContextKind::Frame | ContextKind::Inline);
            let name = context.function.filter(|_| is_call).map(|f| profile.functions[f].name.as_str());
            let named =
                name.is_some_and(|name| beginnings.iter().any(|beginning| name.starts_with(beginning)));
            is_inside[id] = named || context.parent.is_some_and(|parent| is_inside[parent.index()]);
            if is_inside[id]
                && regions.iter().any(|&region| self.is_in(ContextId::from_index(id), facts, region))
            {
                sum += facts.cpu[id];
            }
        }
        sum
    }
}

/// Of the time that a process's threads waited for each other, the part on a processor: they looked whether
/// it was over.
pub(in super::super) fn spinning_share(facts: &Facts<'_>, process: ProcessId) -> f64 {
    facts.burned_share(Some(process), |id| facts.spent(id, &WAITS))
}

/// The same of the time that they waited for each other or for the next region.
pub(in super::super) fn idle_spinning_share(facts: &Facts<'_>, process: ProcessId) -> f64 {
    facts.burned_share(Some(process), |id| facts.spent(id, &WAITS) + facts.waited(id, &[PassiveReason::Pool]))
}

const WAITS: [Account; 2] = [Account::Barrier, Account::Lock];

/// Whether an operation is a wait for all of a team, or for its tasks.
pub(super) fn is_for_others(operation: OperationKind) -> bool {
    operation.nature == Nature::Barrier
}

/// Where a construct is.
pub(super) fn place(facts: &Facts<'_>, construct: &Construct<'_>) -> Place {
    facts.in_process(facts.places.place(construct.context), construct.process)
}
