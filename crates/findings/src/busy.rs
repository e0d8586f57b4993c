//! Loops that do nothing but wait for another thread to write memory.
//!
//! On the account they are work, since no function of the system is called. The code of the loop shows that
//! it waits; whether the wait could be shorter, and whether others need the processor, it does not show: a
//! finding of this kind is possible at most.

use std::collections::BTreeSet;

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Ns, Value};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_function: FxHashMap<FunctionId, Vec<&Value>> = FxHashMap::default();
    for value in facts.profile.values.iter().filter(|value| value.metric == Metric::BusyWait) {
        if let Some(function) = function_of_program(facts, value.context) {
            by_function.entry(function).or_default().push(value);
        }
    }
    by_function.into_values().filter_map(|values| busy_wait(facts, &values)).collect()
}

/// The program's function, if it is code of its own module that executes: what a runtime does in its barriers
/// and locks is on accounts of its own.
pub(super) fn function_of_program(facts: &Facts<'_>, context: ContextId) -> Option<FunctionId> {
    let function = facts.places.function(context)?;
    let own = facts.profile.functions[function].module;
    (facts.places.start(context).is_some() && facts.places.leaf(context)?.module == own).then_some(function)
}

fn busy_wait(facts: &Facts<'_>, values: &[&Value]) -> Option<Finding> {
    let time = |value: &Value| Ns::of(value.amount);
    let lost: Ns = values.iter().map(|value| time(value)).sum();
    let share = lost.share_of(facts.all_cpu);
    let contexts: BTreeSet<ContextId> = values.iter().map(|value| value.context).collect();
    let error = facts.error(contexts);
    let mut checks = Checks::default();
    if !checks.holds(&limits::BUSY_WAIT, share)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let (_, worst) = facts.heaviest_line(values.iter().map(|value| (value.context, time(value))))?;
    let threads: BTreeSet<LocationId> = values.iter().map(|value| value.location).collect();
    let cause = facts.located(facts.places.place(worst), threads.iter().copied());
    let mut finding = facts.finding(Kind::BusyWait, Account::Compute, lost, lost, cause);
    finding.error = error;
    finding.victims = facts.victims(values.iter().map(|value| (value.location, value.context, time(value))));
    finding.evidence = vec![
        Figure::share(FigureId::ShareOfCpu, share),
        Figure::time(FigureId::CpuOfWaitingLoops, lost),
        Figure::count(FigureId::ThreadsThatWaitedSo, threads.len() as f64),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
