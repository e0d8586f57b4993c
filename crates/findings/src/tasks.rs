//! Tasks so small that handing them out costs more than they do.

use proust_profile::{ContextId, LocationId, Metric, ProcessId};
use rustc_hash::FxHashMap;

use super::facts::{FOR_WORK, Facts};
use super::finding::{Figure, Finding, Kind, Sure};
use super::overhead::Overhead;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::{Account, State};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let overhead = Overhead::by(facts.profile, &facts.places);
    facts.profile.processes.keys().filter_map(|process| small_tasks(facts, &overhead, process)).collect()
}

fn small_tasks(facts: &Facts<'_>, overhead: &Overhead, process: ProcessId) -> Option<Finding> {
    let profile = facts.profile;
    let is_mine = |location: LocationId| profile.locations[location].process == process;
    let for_work = |state| matches!(state, State::Passive(reason) if FOR_WORK.contains(&reason));
    let mine = facts.calls.iter().filter(|sum| is_mine(LocationId(sum.location.0)));
    let waits: u64 = mine.filter(|sum| for_work(sum.state)).map(|sum| sum.calls).sum();
    if waits == 0 {
        return None;
    }
    let cpu_s: f64 =
        profile.locations.iter().filter(|one| one.process == process).map(|one| one.cpu.as_seconds()).sum();
    let mut by_context: FxHashMap<ContextId, f64> = FxHashMap::default();
    for value in profile
        .values
        .iter()
        .filter(|value| value.metric == Metric::Cpu && is_mine(LocationId(value.location.0)))
    {
        if overhead.has(value.context) {
            *by_context.entry(value.context).or_default() += value.amount;
        }
    }
    let lost_s: f64 = by_context.values().sum();
    let error_s = facts.error_s(by_context.keys().copied());
    let each_s = cpu_s / waits as f64;
    let share = lost_s / cpu_s.max(f64::MIN_POSITIVE);
    let mut checks = Checks::default();
    if !checks.holds(&limits::TASK_WAITS, waits as f64)
        || !checks.holds(&limits::TASK_CPU_S, each_s)
        || !checks.holds(&limits::TASK_OVERHEAD, share)
        || !checks.holds(&limits::SIGMAS, lost_s / error_s.max(f64::MIN_POSITIVE))
        || !facts.matters(&mut checks, lost_s, lost_s)
    {
        return None;
    }
    let mut by_line: FxHashMap<_, (f64, ContextId)> = FxHashMap::default();
    for (&context, &s) in &by_context {
        let sum = by_line.entry(facts.places.line_key(context)).or_insert((0.0, context));
        (sum.0, sum.1) = (sum.0 + s, sum.1.min(context));
    }
    let (worst_s, worst) = by_line.into_values().max_by(|a, b| a.0.total_cmp(&b.0).then(b.1.cmp(&a.1)))?;
    let place = facts.in_process(facts.places.place(worst), process);
    let mut finding = facts.finding(Kind::SmallTasks, Account::Compute, lost_s, lost_s, place);
    finding.error_s = error_s;
    finding.evidence = vec![
        Figure::count("times that threads waited for work", waits as f64),
        Figure::seconds("processor time between two of them", each_s),
        Figure::share("of the processor time, spent on waking, waiting and handing over", share),
        Figure::seconds("of it at this line", worst_s),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
