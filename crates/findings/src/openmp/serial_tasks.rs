//! Tasks that are executed one after the other while the team waits.
//!
//! Whoever waits in a region takes tasks that are ready. Where all others wait as long as one of them works,
//! and most of that work is tasks, no other thread could take them: a clause has them executed at once by the
//! thread that makes them (`if`, `final`), each is awaited before the next is made, or each depends on the
//! one before. A thread in the run queue cannot take a task either: what threads queued is no part of their
//! waits and of their work here, each in proportion. Where they queued for more than a little, the others may
//! have waited for a thread without a processor: the finding is no more than possible then.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{Detail, LocationId, Ns, RegionId, SegmentRow};

use super::constructs::{Construct, Constructs, is_for_others, place, spinning_share};
use crate::facts::Facts;
use crate::figure::{Figure, FigureId};
use crate::finding::{Finding, Kind, Sure};
use crate::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let regions: BTreeSet<RegionId> = constructs.of_kind(Detail::Task).flat_map(Construct::regions).collect();
    regions.into_iter().filter_map(|region| serial_tasks(facts, constructs, region)).collect()
}

/// What a thread of the team did in the region.
#[derive(Default)]
struct Thread {
    worked: Ns,
    waited: Ns,
}

/// Of what a thread did, the part in the run queue, as if that were spread evenly over its life.
fn queued_share(facts: &Facts<'_>, id: LocationId) -> f64 {
    let location = &facts.profile.locations[id];
    (location.queued / (location.end - location.start).max(Ns::SHORTEST)).clamp(0.0, 1.0)
}

fn serial_tasks(facts: &Facts<'_>, constructs: &Constructs<'_>, region: RegionId) -> Option<Finding> {
    let rows = |one: &Construct<'_>| -> Vec<SegmentRow> {
        one.by_thread().into_values().flatten().filter(|row| row.region == region).copied().collect()
    };
    let work = |rows: &[SegmentRow]| Ns::of(rows.iter().map(|row| row.work_ns).sum());
    let all: Vec<SegmentRow> = constructs.all.iter().flat_map(rows).collect();
    let tasks: Vec<SegmentRow> = constructs.of_kind(Detail::Task).flat_map(rows).collect();
    // Tasks are done at the barrier, too, when all have arrived there.
    let waits: Vec<_> = (constructs.all.iter().filter(|one| is_for_others(one.kind)).flat_map(rows))
        .map(|row| (row.location, row.context, Ns::of(row.wait_ns)))
        .collect();
    let others = f64::from(all.iter().map(|row| row.team_max).max()?.saturating_sub(1));
    let mut threads: BTreeMap<LocationId, Thread> = BTreeMap::new();
    for row in &all {
        threads.entry(row.location).or_default().worked += Ns::of(row.work_ns);
    }
    for &(location, _, time) in &waits {
        threads.entry(location).or_default().waited += time;
    }
    let with_processor = |of: fn(&Thread) -> Ns| -> Ns {
        threads.iter().map(|(&id, thread)| of(thread) * (1.0 - queued_share(facts, id))).sum()
    };
    let of_all: Ns = threads.values().map(|thread| thread.waited + thread.worked).sum();
    let (waited, worked) = (with_processor(|thread| thread.waited), with_processor(|thread| thread.worked));
    let lost = waited.min(work(&tasks) * others);
    let construct = constructs.of_kind(Detail::Task).max_by_key(|one| work(&rows(one)))?;
    let burned = lost * spinning_share(facts, construct.process);
    let done: u64 = tasks.iter().map(|row| row.executions).sum();
    let each = work(&tasks) / done.max(1) as f64;
    let mut checks = Checks::default();
    if others < 1.0
        || !checks.holds(&limits::SERIAL_TASKS, done as f64)
        || !checks.holds(&limits::SERIAL_TASK_S, each)
        || !checks.holds(&limits::SERIAL_TASKS_SHARE, work(&tasks) / work(&all).max(Ns::SHORTEST))
        || !checks.holds(&limits::SERIAL_TASKS_WAITED, waited / (worked * others).max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let mut finding =
        facts.finding(Kind::OmpSerialTasks, Account::Barrier, lost, burned, place(facts, construct));
    finding.victims = facts.victims(waits);
    finding.evidence = vec![
        Figure::count(FigureId::TasksDone, done as f64),
        Figure::time(FigureId::WorkOfTasks, work(&tasks)),
        Figure::time(FigureId::WaitedInRegion, waited),
    ];
    let queued = of_all - waited - worked;
    let queued = queued / of_all.max(Ns::SHORTEST);
    let is_sure = limits::SERIAL_TASKS_QUEUED.holds(queued);
    if is_sure {
        checks.holds(&limits::SERIAL_TASKS_QUEUED, queued);
    }
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}
