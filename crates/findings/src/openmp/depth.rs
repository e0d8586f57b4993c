//! Constructs that are executed so often that each time there is hardly anything to do: work-sharing deep in
//! a nest of loops, and tasks.

use std::collections::BTreeSet;

use proust_profile::{Detail, RegionId, SegmentRow};

use super::constructs::{Construct, Constructs, is_for_others, place, spinning_share};
use crate::facts::Facts;
use crate::figure::{Figure, FigureId};
use crate::finding::{Finding, Kind, Sure};
use crate::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// How functions of runtimes begin that divide the iterations of a loop by count. Their time counts as work
/// before the construct's end, and is none of the program's. Loops handed out on demand have a finding of
/// their own.
const DIVIDING: [&str; 3] = ["__kmpc_for_static_init", "GOMP_loop_static_start", "GOMP_sections_start"];

/// Processor time of dividing the construct's work among the team, s: its part, by executions, of what the
/// runtime took for all constructs of the same regions.
fn dividing_s(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> f64 {
    let regions = construct.regions();
    let is_in_them =
        |one: &&Construct<'_>| one.is_for_all() && one.regions().iter().any(|r| regions.contains(r));
    let all: u64 = constructs.all.iter().filter(is_in_them).map(Construct::executions).sum();
    constructs.in_runtime_s(facts, &regions, &DIVIDING) * construct.executions() as f64 / all.max(1) as f64
}

/// A visit of a construct costs its threads at most so many barriers.
const BARRIERS_A_VISIT: f64 = 5.0;

pub(super) fn find(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let for_all = constructs.all.iter().filter(|one| one.is_for_all());
    let mut found: Vec<Finding> = for_all.filter_map(|one| deep(facts, constructs, one)).collect();
    let tasks = constructs.of_kind(Detail::Task);
    let regions: BTreeSet<RegionId> = tasks.flat_map(Construct::regions).collect();
    found.extend(regions.into_iter().filter_map(|region| small_tasks(facts, constructs, region)));
    found
}

/// Work and waiting of the construct in all its executions, s. Of a region it is what was done and waited in
/// all of it.
fn amounts(constructs: &Constructs<'_>, construct: &Construct<'_>) -> (f64, f64) {
    if construct.kind.detail != Detail::RegionEnd {
        return (construct.work_s(), construct.wait_s());
    }
    let regions = construct.regions();
    let inside = constructs.all.iter().flat_map(|one| {
        one.by_thread().into_values().flatten().map(move |row| (one.kind.detail, row)).collect::<Vec<_>>()
    });
    inside.filter(|(_, row)| regions.contains(&row.region)).fold((0.0, 0.0), |(work, wait), (detail, row)| {
        let waits = matches!(detail, Detail::RegionEnd | Detail::Fork);
        (work + row.work_ns as f64 / 1e9, wait + if waits { row.wait_ns as f64 / 1e9 } else { 0.0 })
    })
}

fn deep(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> Option<Finding> {
    if construct.team() < 2 {
        return None;
    }
    let (visits, executions) = (construct.visits() as f64, construct.executions() as f64);
    let barrier_s = constructs.barrier_s(construct.process)?;
    let (work_s, wait_s) = amounts(constructs, construct);
    let dividing_s = dividing_s(facts, constructs, construct).min(work_s);
    let each_s = (work_s - dividing_s) / executions.max(1.0);
    // The rest of a thread's wait at a visit is for a thread that arrives late, or has no processor.
    let waited_s = wait_s.min(executions * BARRIERS_A_VISIT * barrier_s);
    let lost_s = waited_s + dividing_s;
    let burned_s = waited_s * spinning_share(facts, construct.process) + dividing_s;
    let mut checks = Checks::default();
    if !checks.holds(&limits::DEEP_VISITS, visits)
        || !checks.holds(&limits::DEEP_WORK, each_s / barrier_s.max(1e-9))
        || !checks
            .holds(&limits::DEEP_SHARE, (wait_s + dividing_s) / (work_s + wait_s).max(f64::MIN_POSITIVE))
        || !facts.matters(&mut checks, lost_s, burned_s)
    {
        return None;
    }
    let cause = place(facts, construct);
    let mut finding = facts.finding(Kind::OmpDeepConstruct, Account::Barrier, lost_s, burned_s, cause);
    finding.victims = facts.victims(construct.waiters());
    finding.evidence = vec![
        Figure::new(FigureId::ConstructVisits, visits),
        Figure::new(FigureId::ConstructWork, each_s),
        Figure::new(FigureId::ConstructWait, wait_s / executions.max(1.0)),
        Figure::new(FigureId::ConstructDividing, dividing_s / executions.max(1.0)),
        Figure::new(FigureId::BarrierLatency, barrier_s),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}

/// How functions of runtimes begin that make tasks and hand them out.
const TASKING: [&str; 3] = ["GOMP_task", "__kmpc_omp_task", "__kmpc_taskloop"];

fn small_tasks(facts: &Facts<'_>, constructs: &Constructs<'_>, region: RegionId) -> Option<Finding> {
    let rows = |one: &Construct<'_>| -> Vec<SegmentRow> {
        one.by_thread().into_values().flatten().filter(|row| row.region == region).copied().collect()
    };
    let (mut executions, mut work_s) = (0.0, 0.0);
    for row in constructs.of_kind(Detail::Task).flat_map(rows) {
        executions += row.executions as f64;
        work_s += row.work_ns as f64 / 1e9;
    }
    // A thread that executed it at the region's end does not know where it was made.
    let root = facts.profile.regions[region as usize].context;
    let tasks = constructs.of_kind(Detail::Task).filter(|one| one.regions().contains(&region));
    let construct = tasks.max_by_key(|one| (one.context != root, one.executions()))?;
    let each_s = work_s / executions.max(1.0);
    let mut checks = Checks::default();
    if !checks.holds(&limits::TASKS_DONE, executions) || !checks.holds(&limits::TASK_WORK_S, each_s) {
        return None;
    }
    let waits = constructs.all.iter().filter(|one| is_for_others(one.kind)).flat_map(rows);
    let waits: Vec<_> = waits.map(|row| (row.location, row.context, row.wait_ns as f64 / 1e9)).collect();
    let waited_s: f64 = waits.iter().map(|(_, _, s)| s).sum();
    let making_s = constructs.in_runtime_s(facts, &[region], &TASKING);
    let lost_s = waited_s + making_s;
    let burned_s = making_s + waited_s * spinning_share(facts, construct.process);
    if !checks.holds(&limits::TASK_COST, lost_s / (lost_s + work_s).max(f64::MIN_POSITIVE))
        || !facts.matters(&mut checks, lost_s, burned_s)
    {
        return None;
    }
    let mut finding =
        facts.finding(Kind::OmpSmallTasks, Account::Barrier, lost_s, burned_s, place(facts, construct));
    finding.victims = facts.victims(waits);
    finding.evidence = vec![
        Figure::new(FigureId::TasksDone, executions),
        Figure::new(FigureId::TaskWork, each_s),
        Figure::new(FigureId::TasksWork, work_s),
        Figure::new(FigureId::MakingCpu, making_s),
        Figure::new(FigureId::TasksWaited, waited_s),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
