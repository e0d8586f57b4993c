//! Constructs that are executed so often that each time there is hardly anything to do: work-sharing deep in
//! a nest of loops, and tasks.

use std::collections::BTreeSet;

use proust_profile::{Detail, Ns, RegionId, SegmentRow};

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

/// Processor time of dividing the construct's work among the team: its part, by executions, of what the
/// runtime took for all constructs of the same regions.
fn dividing(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> Ns {
    let regions = construct.regions();
    let is_in_them =
        |one: &&Construct<'_>| one.is_for_all() && one.regions().iter().any(|r| regions.contains(r));
    let all: u64 = constructs.all.iter().filter(is_in_them).map(Construct::executions).sum();
    let part = construct.executions() as f64 / all.max(1) as f64;
    constructs.in_runtime(facts, &regions, &DIVIDING) * part
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

/// Work and waiting of the construct in all its executions. Of a region it is what was done and waited in
/// all of it.
fn amounts(constructs: &Constructs<'_>, construct: &Construct<'_>) -> (Ns, Ns) {
    if construct.kind.detail != Detail::RegionEnd {
        return (construct.work(), construct.wait());
    }
    let regions = construct.regions();
    let inside = constructs.all.iter().flat_map(|one| {
        one.by_thread().into_values().flatten().map(move |row| (one.kind.detail, row)).collect::<Vec<_>>()
    });
    inside.filter(|(_, row)| regions.contains(&row.region)).fold(
        (Ns::ZERO, Ns::ZERO),
        |(work, wait), (detail, row)| {
            let waits = matches!(detail, Detail::RegionEnd | Detail::Fork);
            (work + Ns::of(row.work_ns), wait + if waits { Ns::of(row.wait_ns) } else { Ns::ZERO })
        },
    )
}

fn deep(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> Option<Finding> {
    if construct.team() < 2 {
        return None;
    }
    let (visits, executions) = (construct.visits() as f64, construct.executions() as f64);
    let barrier = constructs.barrier(construct.process)?;
    let (work, wait) = amounts(constructs, construct);
    let dividing = dividing(facts, constructs, construct).min(work);
    let each = (work - dividing) / executions.max(1.0);
    // The rest of a thread's wait at a visit is for a thread that arrives late, or has no processor.
    let waited = wait.min(barrier.of(executions * BARRIERS_A_VISIT));
    let lost = waited + dividing;
    let burned = waited * spinning_share(facts, construct.process) + dividing;
    let mut checks = Checks::default();
    if !checks.holds(&limits::DEEP_VISITS, visits)
        || !checks.holds(&limits::DEEP_WORK, (work - dividing) / barrier.of(executions).max(Ns::SHORTEST))
        || !checks.holds(&limits::DEEP_SHARE, (wait + dividing) / (work + wait).max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let cause = place(facts, construct);
    let mut finding = facts.finding(Kind::OmpDeepConstruct, Account::Barrier, lost, burned, cause);
    finding.victims = facts.victims(construct.waiters());
    finding.evidence = vec![
        Figure::count(FigureId::Arrivals, visits),
        Figure::time(FigureId::WorkOfThreadEachTime, each),
        Figure::time(FigureId::WaitingEachTime, wait / executions.max(1.0)),
        Figure::time(FigureId::DividingEachTime, dividing / executions.max(1.0)),
        Figure::time(FigureId::BarrierCost, barrier.of(1.0)),
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
    let (mut executions, mut work) = (0.0, Ns::ZERO);
    for row in constructs.of_kind(Detail::Task).flat_map(rows) {
        executions += row.executions as f64;
        work += Ns::of(row.work_ns);
    }
    // A thread that executed it at the region's end does not know where it was made.
    let root = facts.profile.regions[region].context;
    let tasks = constructs.of_kind(Detail::Task).filter(|one| one.regions().contains(&region));
    let construct = tasks.max_by_key(|one| (one.context != root, one.executions()))?;
    let each = work / executions.max(1.0);
    let mut checks = Checks::default();
    if !checks.holds(&limits::TASKS_DONE, executions) || !checks.holds(&limits::TASK_WORK_S, each) {
        return None;
    }
    let waits = constructs.all.iter().filter(|one| is_for_others(one.kind)).flat_map(rows);
    let waits: Vec<_> = waits.map(|row| (row.location, row.context, Ns::of(row.wait_ns))).collect();
    let waited: Ns = waits.iter().map(|(_, _, time)| time).sum();
    let making = constructs.in_runtime(facts, &[region], &TASKING);
    let lost = waited + making;
    let burned = making + waited * spinning_share(facts, construct.process);
    if !checks.holds(&limits::TASK_COST, lost / (lost + work).max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let mut finding =
        facts.finding(Kind::OmpSmallTasks, Account::Barrier, lost, burned, place(facts, construct));
    finding.victims = facts.victims(waits);
    finding.evidence = vec![
        Figure::count(FigureId::TasksDone, executions),
        Figure::time(FigureId::WorkOfTask, each),
        Figure::time(FigureId::WorkOfTasks, work),
        Figure::time(FigureId::CpuOfMaking, making),
        Figure::time(FigureId::WaitedInRegion, waited),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
