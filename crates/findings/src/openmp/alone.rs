//! Tasks that one thread of a team executes while the others wait for it.
//!
//! Whoever waits in a region takes tasks that are ready. Where one thread executes nearly all of many, no
//! other one could take them: a clause has them executed at once by the thread that makes them (`if`,
//! `final`), each is awaited before the next is made, or each depends on the one before.

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
    regions.into_iter().filter_map(|region| tasks_of_one(facts, constructs, region)).collect()
}

fn tasks_of_one(facts: &Facts<'_>, constructs: &Constructs<'_>, region: RegionId) -> Option<Finding> {
    let rows = |one: &Construct<'_>| -> Vec<SegmentRow> {
        one.by_thread().into_values().flatten().filter(|row| row.region == region).copied().collect()
    };
    let tasks: Vec<SegmentRow> = constructs.of_kind(Detail::Task).flat_map(rows).collect();
    let done: u64 = tasks.iter().map(|row| row.executions).sum();
    let mut by_thread: BTreeMap<LocationId, Ns> = BTreeMap::new();
    for row in &tasks {
        *by_thread.entry(row.location).or_default() += Ns::of(row.work_ns);
    }
    let work: Ns = by_thread.values().sum();
    let (&busy, &most) = by_thread.iter().max_by(|a, b| a.1.cmp(b.1))?;
    let waits: Vec<_> = (constructs.all.iter().filter(|one| is_for_others(one.kind)).flat_map(rows))
        .filter(|row| row.location != busy)
        .map(|row| (row.location, row.context, Ns::of(row.wait_ns.saturating_sub(row.latency_ns))))
        .collect();
    // All of them together wait for one thread's work as often as they are many.
    let team = constructs.all.iter().flat_map(rows).map(|row| row.team_max).max()?;
    let others = f64::from(team.saturating_sub(1));
    let lost = waits.iter().map(|&(_, _, time)| time).sum::<Ns>().min(most * others);
    let burned = lost * spinning_share(facts, facts.profile.locations[busy].process);
    let mut checks = Checks::default();
    if others < 1.0
        || !checks.holds(&limits::ONE_TASKS, done as f64)
        || !checks.holds(&limits::ONE_TASKS_SHARE, most / work.max(Ns::SHORTEST))
        || !checks.holds(&limits::ONE_TASKS_WAITED, lost / (most * others).max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let work_of = |one: &&Construct<'_>| rows(one).iter().map(|row| row.work_ns).sum::<u64>();
    let construct = constructs.of_kind(Detail::Task).max_by_key(work_of)?;
    let mut finding =
        facts.finding(Kind::OmpTasksOfOne, Account::Barrier, lost, burned, place(facts, construct));
    finding.victims = facts.victims(waits);
    finding.evidence = vec![
        Figure::count(FigureId::TasksDone, done as f64),
        Figure::time(FigureId::WorkOfTasks, work),
        Figure::share(FigureId::OfItByOneThread, most / work.max(Ns::SHORTEST)),
        Figure::time(FigureId::WaitedInRegion, lost),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
