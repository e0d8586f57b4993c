//! Memory that several threads change atomically: a counter, the count of a shared pointer, an index of work.
//!
//! On the account it is work, since no function of the system is called. That the time passes at atomic
//! instructions is known by samples. Whether several threads change the same memory is not: a finding of
//! this kind is possible at most.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Ns, Value};
use rustc_hash::FxHashMap;

use super::busy;
use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_function: FxHashMap<FunctionId, Vec<&Value>> = FxHashMap::default();
    for value in facts.profile.values.iter().filter(|value| value.metric == Metric::Atomic) {
        if let Some(function) = function(facts, value.context) {
            by_function.entry(function).or_default().push(value);
        }
    }
    by_function.into_values().filter_map(|values| hot_atomic(facts, &values)).collect()
}

/// The program's function that executes it, or that calls a lock which does: a lock for reading that hardly
/// makes anybody wait counts its readers in one place. Other atomic instructions of libraries are those of
/// their own locks and allocators.
fn function(facts: &Facts<'_>, context: ContextId) -> Option<FunctionId> {
    let is_of_lock = |name: &str| LOCKS.contains(&name.trim_start_matches('_'));
    let calls_lock = facts.places.calls_below_own(context, is_of_lock);
    match calls_lock {
        true => facts.places.function(context).filter(|_| facts.places.start(context).is_some()),
        false => busy::function_of_program(facts, context),
    }
}

/// Functions of locks that several may have at once, and of those that one has.
const LOCKS: [&str; 10] = [
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "pthread_rwlock_tryrdlock",
    "pthread_rwlock_trywrlock",
    "pthread_rwlock_unlock",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_unlock",
    "pthread_spin_lock",
    "pthread_spin_trylock",
];

fn hot_atomic(facts: &Facts<'_>, values: &[&Value]) -> Option<Finding> {
    let time = |value: &Value| Ns::of(value.amount);
    let lost: Ns = values.iter().map(|value| time(value)).sum();
    let share = lost.share_of(facts.all_cpu);
    let contexts: BTreeSet<ContextId> = values.iter().map(|value| value.context).collect();
    let error = facts.error(contexts);
    let mut by_thread: BTreeMap<LocationId, Ns> = BTreeMap::new();
    for value in values {
        *by_thread.entry(value.location).or_default() += time(value);
    }
    let most = by_thread.values().copied().max().unwrap_or_default();
    let others = 1.0 - most.share_of(lost);
    let mut checks = Checks::default();
    if !checks.holds(&limits::HOT_ATOMIC, share)
        || !checks.holds(&limits::ATOMIC_OTHERS, others)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let (_, worst) = facts.heaviest_line(values.iter().map(|value| (value.context, time(value))))?;
    let cause = facts.located(facts.places.place(worst), by_thread.keys().copied());
    let mut finding = facts.finding(Kind::HotAtomic, Account::Compute, lost, lost, cause);
    finding.error = error;
    finding.victims = facts.victims(values.iter().map(|value| (value.location, value.context, time(value))));
    finding.evidence = vec![
        Figure::share(FigureId::ShareOfCpu, share),
        Figure::time(FigureId::CpuOfAtomics, lost),
        Figure::count(FigureId::ThreadsThatDidIt, by_thread.len() as f64),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
