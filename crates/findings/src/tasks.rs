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
    // Where the scheduler's code for a task shows what it costs, nobody needs to wait, and the threads that
    // look for tasks are not counted.
    let of_tasks: Ns =
        by_context.iter().filter(|&(&context, _)| overhead.is_of_task(context)).map(|(_, &time)| time).sum();
    let is_seen = limits::TASK_OVERHEAD.holds(of_tasks / cpu.max(Ns::SHORTEST));
    if is_seen {
        by_context.retain(|&context, _| overhead.is_of_task(context));
    } else if waits == 0 {
        return None;
    }
    let lost: Ns = by_context.values().sum();
    let error = facts.error(by_context.keys().copied());
    let each = cpu / waits as f64;
    let share = lost / cpu.max(Ns::SHORTEST);
    let mut checks = Checks::default();
    if !is_seen
        && (!checks.holds(&limits::TASK_WAITS, waits as f64) || !checks.holds(&limits::TASK_CPU_S, each))
    {
        return None;
    }
    if !checks.holds(&limits::TASK_OVERHEAD, share)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    // The threads of a scheduler are started by it: what they execute lies below no line of the program's.
    let has_line = |context: ContextId| facts.places.start(context).is_some();
    let is_known = by_context.keys().any(|&context| has_line(context));
    let named = by_context.iter().filter(|&(&context, _)| !is_known || has_line(context));
    let (worst_time, worst) = facts.heaviest_line(named.map(|(&context, &time)| (context, time)))?;
    let place = facts.in_process(facts.places.place(worst), process);
    let mut finding = facts.finding(Kind::SmallTasks, Account::Compute, lost, lost, place);
    finding.error = error;
    if !is_seen {
        finding.evidence = vec![
            Figure::count(FigureId::WaitsForWork, waits as f64),
            Figure::time(FigureId::CpuBetween, each),
        ];
    }
    finding.evidence.extend([
        Figure::share(FigureId::ShareOfHandingOut, share),
        Figure::time(FigureId::OfItAtLine, worst_time),
    ]);
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
