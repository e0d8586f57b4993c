//! Sections for one thread at a time that are entered in hot loops.

use proust_profile::{Detail, Ns};

use super::constructs::{Construct, Constructs, place, spinning_share};
use crate::facts::Facts;
use crate::figure::{Figure, FigureId};
use crate::finding::{Finding, Kind, Sure};
use crate::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let sections = constructs.all.iter();
    let sections = sections.filter(|one| matches!(one.kind.detail, Detail::Critical | Detail::Atomic));
    sections.filter_map(|one| hot(facts, constructs, one)).collect()
}

fn hot(facts: &Facts<'_>, constructs: &Constructs<'_>, construct: &Construct<'_>) -> Option<Finding> {
    let times = construct.executions() as f64;
    let regions = construct.regions();
    let all = constructs.all.iter().flat_map(Construct::by_thread).flat_map(|(_, rows)| rows);
    let work_ns: u64 = all.filter(|row| regions.contains(&row.region)).map(|row| row.work_ns).sum();
    let each = Ns::of(work_ns) / times.max(1.0);
    let lost = construct.wait();
    let burned = lost * spinning_share(facts, construct.process);
    let mut checks = Checks::default();
    if !checks.holds(&limits::CRITICAL_TIMES, times)
        || !checks.holds(&limits::CRITICAL_WORK_S, each)
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let contended: u64 = construct.by_thread().values().flatten().map(|row| row.contended).sum();
    let mut finding =
        facts.finding(Kind::OmpHotCritical, Account::Lock, lost, burned, place(facts, construct));
    finding.victims = facts.victims(construct.waiters());
    finding.evidence = vec![
        Figure::count(FigureId::Entries, times),
        Figure::count(FigureId::Executions, contended as f64),
        Figure::time(FigureId::WorkBetween, each),
        Figure::time(FigureId::WaitedForIt, lost),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}
