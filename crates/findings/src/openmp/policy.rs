//! How threads wait for each other: on their processor, or asleep.

use proust_profile::{LocationId, Ns, ProcessId};

use super::constructs::{Construct, Constructs, is_for_others, place, spinning_share};
use crate::facts::{Facts, QUEUED};
use crate::figure::{Figure, FigureId};
use crate::finding::{Finding, Kind, Sure};
use crate::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>, constructs: &Constructs<'_>) -> Vec<Finding> {
    let processes = facts.profile.processes.keys();
    processes
        .flat_map(|process| [spinning(facts, constructs, process), sleeping(facts, constructs, process)])
        .flatten()
        .collect()
}

/// The constructs of a process at which threads wait for each other.
fn waits<'c, 'p>(constructs: &'c Constructs<'p>, process: ProcessId) -> Vec<&'c Construct<'p>> {
    constructs.all.iter().filter(|one| one.process == process && is_for_others(one.kind)).collect()
}

/// Waiting threads keep processors that others of this run queue for.
fn spinning(facts: &Facts<'_>, constructs: &Constructs<'_>, process: ProcessId) -> Option<Finding> {
    let waits = waits(constructs, process);
    let waited: Ns = waits.iter().map(|one| one.wait()).sum();
    let burned = waited * spinning_share(facts, process);
    let queued = Ns::of(facts.ledger.with_beyond_ns(Account::Oversubscribed));
    let lost = burned.min(queued);
    let total = facts.total.max(Ns::SHORTEST);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total)
        || !checks.holds(&limits::SPINNING_SHARE, spinning_share(facts, process))
        || !checks.holds(&limits::SPINNING_USED, burned / facts.all_cpu.max(Ns::SHORTEST))
        || !checks.holds(&limits::CROWD_SHARE, queued / total)
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let most = waits.iter().max_by(|a, b| a.wait().cmp(&b.wait()))?;
    let mut finding =
        facts.finding(Kind::OmpSpinningWaits, Account::Barrier, lost, burned, place(facts, most));
    finding.victims = facts.victims(waits.iter().flat_map(|one| one.waiters()));
    finding.evidence = vec![
        Figure::time(FigureId::WaitedForEachOther, waited),
        Figure::time(FigureId::OfItOnProcessor, burned),
        Figure::time(FigureId::RunnableMeanwhile, queued),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

/// Threads that wait for a moment go to sleep, and it takes long to wake them.
fn sleeping(facts: &Facts<'_>, constructs: &Constructs<'_>, process: ProcessId) -> Option<Finding> {
    let waits = waits(constructs, process);
    let waited: Ns = waits.iter().map(|one| one.wait()).sum();
    let latency: Ns = waits.iter().map(|one| one.latency()).sum();
    let times: f64 = waits.iter().map(|one| one.executions() as f64).sum();
    let of_process = facts.profile.locations.iter().enumerate().filter(|(_, one)| one.process == process);
    let (mut queued, mut wall) = (Ns::ZERO, Ns::ZERO);
    for (id, one) in of_process {
        queued += (one.queued - facts.spent(LocationId::from_index(id), &QUEUED)).max(Ns::ZERO);
        wall += one.wall();
    }
    // Not by the processor time of the waits: to sleep and to be woken takes the kernel some, too.
    let slept = times_slept(facts, process);
    // A woken thread may have to wait for a processor: that is not the policy's fault.
    let lost = (latency - queued).max(Ns::ZERO);
    let mut checks = Checks::default();
    if !checks.holds(&limits::SLEEPING_TIMES, times)
        || !checks.holds(&limits::SLEEPING_EACH_S, lost / times.max(1.0))
        || !checks.holds(&limits::SLEEPING_SWITCHES, slept / times.max(1.0))
        || !checks.holds(&limits::SLEEPING_SHARE, lost / wall.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, Ns::ZERO)
    {
        return None;
    }
    let most = waits.iter().max_by(|a, b| a.latency().cmp(&b.latency()))?;
    let mut finding =
        facts.finding(Kind::OmpSleepingWaits, Account::Barrier, lost, Ns::ZERO, place(facts, most));
    finding.victims = facts.victims(waits.iter().flat_map(|one| one.waiters()));
    finding.evidence = vec![
        Figure::count(FigureId::Meetings, times),
        Figure::time(FigureId::UntilWentOn, latency / times.max(1.0)),
        Figure::time(FigureId::InAll, latency),
        Figure::time(FigureId::WaitedForEachOther, waited),
        Figure::count(FigureId::SleepsBegun, slept),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

/// How often threads of a process gave their processor away because they had to wait.
fn times_slept(facts: &Facts<'_>, process: ProcessId) -> f64 {
    let of_process = |location: LocationId| facts.profile.locations[location].process == process;
    let rows = facts.profile.samples.iter().filter(|row| of_process(LocationId(row.location.0)));
    rows.map(|row| f64::from(row.voluntary_switches)).sum()
}
