//! Memory that several threads change atomically: a counter, the count of a shared pointer, an index of work.
//!
//! On the account it is work, since no function of the system is called. That the time passes at atomic
//! instructions is known by samples. Whether several threads change the same memory is not: a finding of
//! this kind is possible at most.

use std::collections::BTreeMap;

use proust_profile::{FunctionId, LocationId, Metric, Ns, Value};
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
        // Atomic instructions of libraries are those of their locks and allocators.
        if let Some(function) = busy::function_of_program(facts, value.context) {
            by_function.entry(function).or_default().push(value);
        }
    }
    by_function.into_values().filter_map(|values| hot_atomic(facts, &values)).collect()
}

fn hot_atomic(facts: &Facts<'_>, values: &[&Value]) -> Option<Finding> {
    let time = |value: &Value| Ns::of(value.amount);
    let lost: Ns = values.iter().map(|value| time(value)).sum();
    let share = lost.share_of(facts.all_cpu);
    let error =
        facts.error(values.iter().map(|value| value.context).collect::<std::collections::BTreeSet<_>>());
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
    let mut by_line: FxHashMap<_, (Ns, proust_profile::ContextId)> = FxHashMap::default();
    for value in values {
        let line = by_line.entry(facts.places.line_key(value.context)).or_insert((Ns::ZERO, value.context));
        *line = (line.0 + time(value), line.1.min(value.context));
    }
    let (_, worst) = by_line.into_values().max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1)))?;
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
