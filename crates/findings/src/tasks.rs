//! Tasks so small that handing them out costs more than they do.

use proust_profile::{ContextId, LocationId, Metric, Ns, ProcessId};
use rustc_hash::FxHashMap;

use super::facts::{FOR_WORK, Facts};
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
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
    let cpu: Ns = profile.locations.iter().filter(|one| one.process == process).map(|one| one.cpu).sum();
    let mut by_context: FxHashMap<ContextId, Ns> = FxHashMap::default();
    for value in profile
        .values
        .iter()
        .filter(|value| value.metric == Metric::Cpu && is_mine(LocationId(value.location.0)))
    {
        if overhead.has(value.context) {
            *by_context.entry(value.context).or_default() += Ns::of(value.amount);
        }
    }
    let lost: Ns = by_context.values().sum();
    let error = facts.error(by_context.keys().copied());
    let each = cpu / waits as f64;
    let share = lost / cpu.max(Ns::SHORTEST);
    let mut checks = Checks::default();
    if !checks.holds(&limits::TASK_WAITS, waits as f64)
        || !checks.holds(&limits::TASK_CPU_S, each)
        || !checks.holds(&limits::TASK_OVERHEAD, share)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let mut by_line: FxHashMap<_, (Ns, ContextId)> = FxHashMap::default();
    for (&context, &time) in &by_context {
        let sum = by_line.entry(facts.places.line_key(context)).or_insert((Ns::ZERO, context));
        (sum.0, sum.1) = (sum.0 + time, sum.1.min(context));
    }
    let (worst_time, worst) = by_line.into_values().max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))?;
    let place = facts.in_process(facts.places.place(worst), process);
    let mut finding = facts.finding(Kind::SmallTasks, Account::Compute, lost, lost, place);
    finding.error = error;
    finding.evidence = vec![
        Figure::count(FigureId::WaitsForWork, waits as f64),
        Figure::time(FigureId::CpuBetween, each),
        Figure::share(FigureId::ShareOfHandingOut, share),
        Figure::time(FigureId::OfItAtLine, worst_time),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
