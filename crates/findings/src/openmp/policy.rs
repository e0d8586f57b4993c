//! How threads wait for each other: on their processor, or asleep.

use proust_profile::{LocationId, ProcessId};

use super::constructs::{Construct, Constructs, is_for_others, place, spinning_share};
use crate::facts::{Facts, QUEUED};
use crate::finding::{Figure, Finding, Kind, Sure};
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
    let waited_s: f64 = waits.iter().map(|one| one.wait_s()).sum();
    let burned_s = waited_s * spinning_share(facts, process);
    let queued_s = facts.ledger.with_beyond_ns(Account::Oversubscribed) as f64 / 1e9;
    let lost_s = burned_s.min(queued_s);
    let total_s = facts.total_s.max(f64::MIN_POSITIVE);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total_s)
        || !checks.holds(&limits::SPINNING_SHARE, spinning_share(facts, process))
        || !checks.holds(&limits::SPINNING_USED, burned_s / facts.cpu_s.max(f64::MIN_POSITIVE))
        || !checks.holds(&limits::CROWD_SHARE, queued_s / total_s)
        || !facts.matters(&mut checks, lost_s, burned_s)
    {
        return None;
    }
    let most = waits.iter().max_by(|a, b| a.wait_s().total_cmp(&b.wait_s()))?;
    let mut finding =
        facts.finding(Kind::OmpSpinningWaits, Account::Barrier, lost_s, burned_s, place(facts, most));
    finding.victims = facts.victims(waits.iter().flat_map(|one| one.waiters()));
    finding.evidence = vec![
        Figure::seconds("waited for each other", waited_s),
        Figure::seconds("of it on a processor", burned_s),
        Figure::seconds("meanwhile and otherwise runnable, without a processor", queued_s),
        Figure::count("processors available", facts.available),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

/// Threads that wait for a moment go to sleep, and it takes long to wake them.
fn sleeping(facts: &Facts<'_>, constructs: &Constructs<'_>, process: ProcessId) -> Option<Finding> {
    let waits = waits(constructs, process);
    let waited_s: f64 = waits.iter().map(|one| one.wait_s()).sum();
    let latency_s: f64 = waits.iter().map(|one| one.latency_s()).sum();
    let times: f64 = waits.iter().map(|one| one.executions() as f64).sum();
    let of_process = facts.profile.locations.iter().enumerate().filter(|(_, one)| one.process == process);
    let (mut queued_s, mut wall_s) = (0.0, 0.0);
    for (id, one) in of_process {
        queued_s += (one.queued.as_seconds() - facts.spent_s(LocationId::from_index(id), &QUEUED)).max(0.0);
        wall_s += one.wall().as_seconds();
    }
    // Not by the processor time of the waits: to sleep and to be woken takes the kernel some, too.
    let slept = times_slept(facts, process);
    // A woken thread may have to wait for a processor: that is not the policy's fault.
    let lost_s = (latency_s - queued_s).max(0.0);
    let mut checks = Checks::default();
    if !checks.holds(&limits::SLEEPING_TIMES, times)
        || !checks.holds(&limits::SLEEPING_EACH_S, lost_s / times.max(1.0))
        || !checks.holds(&limits::SLEEPING_SWITCHES, slept / times.max(1.0))
        || !checks.holds(&limits::SLEEPING_SHARE, lost_s / wall_s.max(f64::MIN_POSITIVE))
        || !facts.matters(&mut checks, lost_s, 0.0)
    {
        return None;
    }
    let most = waits.iter().max_by(|a, b| a.latency_s().total_cmp(&b.latency_s()))?;
    let mut finding =
        facts.finding(Kind::OmpSleepingWaits, Account::Barrier, lost_s, 0.0, place(facts, most));
    finding.victims = facts.victims(waits.iter().flat_map(|one| one.waiters()));
    finding.evidence = vec![
        Figure::count("times that threads waited for each other", times),
        Figure::seconds("until a thread went on when all had come, on average", latency_s / times.max(1.0)),
        Figure::seconds("in all", latency_s),
        Figure::seconds("waited for each other", waited_s),
        Figure::count("times that threads went to sleep", slept),
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
