//! Processor time in clearing memory.
//!
//! Memory is cleared by the C library's functions, whose callers are known; what the kernel does meanwhile
//! for memory that is touched for the first time is not counted here. That less of it would do is a guess: a
//! finding of this kind is possible at most.

use proust_profile::{ContextId, LocationId, Metric, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// Functions that clear memory, without what comes before and behind their names: the C library has one for
/// each sort of processor.
const CLEAR: [&str; 3] = ["memset", "bzero", "explicit_bzero"];

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_line: FxHashMap<_, Vec<ContextId>> = FxHashMap::default();
    for context in facts.profile.contexts.keys() {
        if facts.cpu[context.index()].is_positive() && clears(facts, context) {
            by_line.entry(facts.places.line_key(context)).or_default().push(context);
        }
    }
    by_line.into_values().filter_map(|contexts| clearing(facts, &contexts)).collect()
}

/// Whether it is in a function of the C library that fills memory, which the program calls itself.
fn clears(facts: &Facts<'_>, context: ContextId) -> bool {
    let is_clear = |name: &str| {
        let name = name.trim_start_matches('_');
        CLEAR
            .iter()
            .any(|clear| name.strip_prefix(clear).is_some_and(|rest| !rest.starts_with(char::is_alphabetic)))
    };
    facts.places.leaf(context).is_some_and(|function| is_clear(&function.name))
        && facts.places.start(context).is_some()
}

fn clearing(facts: &Facts<'_>, contexts: &[ContextId]) -> Option<Finding> {
    let user =
        |context: ContextId| (facts.cpu[context.index()] - facts.system[context.index()]).max(Ns::ZERO);
    let lost: Ns = contexts.iter().map(|&context| user(context)).sum();
    let share = lost / facts.all_cpu.max(Ns::SHORTEST);
    let error = facts.error(contexts.iter().copied());
    let mut checks = Checks::default();
    if !checks.holds(&limits::CLEARING, share)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let worst = contexts.iter().copied().max_by(|&a, &b| user(a).cmp(&user(b)).then(b.cmp(&a)))?;
    let by = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let by = by.filter(|value| contexts.contains(&value.context)).map(|value| value.location);
    let by: std::collections::BTreeSet<LocationId> = by.collect();
    let cause = facts.located(facts.places.place(worst), by.iter().copied());
    let mut finding = facts.finding(Kind::MemoryClearing, Account::Compute, lost, lost, cause);
    finding.error = error;
    finding.evidence = vec![
        Figure::share(FigureId::ShareOfCpu, share),
        Figure::time(FigureId::CpuOfClearing, lost),
        Figure::count(FigureId::ThreadsThatDidIt, by.len() as f64),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
