//! Threads that are made for a moment's work.

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, Metric, Nature, Ns, ProcessId};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// How the functions are called that make threads.
const MAKERS: [&str; 4] = ["pthread_create", "thrd_create", "clone", "__clone"];

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    // Not by their start function: most are too short for a sample that says so.
    let mut by_process: BTreeMap<ProcessId, Vec<LocationId>> = BTreeMap::new();
    for (id, location) in facts.profile.locations.iter().enumerate() {
        // The program does not make a runtime's own threads, and cannot make fewer.
        if location.service {
            continue;
        }
        by_process.entry(location.process).or_default().push(LocationId::from_index(id));
    }
    by_process.into_iter().filter_map(|(process, locations)| churn(facts, process, &locations)).collect()
}

fn churn(facts: &Facts<'_>, process: ProcessId, locations: &[LocationId]) -> Option<Finding> {
    let profile = facts.profile;
    let is_short = |id: &&LocationId| limits::CHURN_CPU_S.holds(profile.locations[**id].cpu);
    let short: Vec<LocationId> = locations.iter().filter(is_short).copied().collect();
    let of = &profile.processes[process];
    let mean = |of: fn(&proust_profile::Location) -> Ns| {
        short.iter().map(|&id| of(&profile.locations[id])).sum::<Ns>() / short.len().max(1) as f64
    };
    let mut checks = Checks::default();
    if !checks.holds(&limits::CHURN_THREADS, short.len() as f64)
        || !checks.holds(&limits::CHURN_RATE, short.len() as f64 / (of.end - of.start).as_seconds().max(1e-3))
        || !checks.holds(&limits::CHURN_CPU_S, mean(|one| one.cpu))
    {
        return None;
    }
    // Making them, and what the kernel does in them: their beginning and their end.
    let mut making: FxHashMap<ContextId, Ns> = FxHashMap::default();
    let (mut making_time, mut system) = (Ns::ZERO, Ns::ZERO);
    let is_mine = |location: LocationId| profile.locations[location].process == process;
    for value in profile.values.iter().filter(|value| is_mine(value.location)) {
        let time = Ns::of(value.amount);
        let is_short = short.binary_search(&value.location).is_ok();
        match value.metric {
            Metric::Cpu if !is_short && makes_threads(facts, value.context) => {
                *making.entry(value.context).or_default() += time;
                making_time += time;
            }
            Metric::System if is_short => system += time,
            _ => {}
        }
    }
    let lost = making_time + system;
    if !facts.matters(&mut checks, lost, lost) {
        return None;
    }
    let joins = || {
        let calls = facts.calls.iter().filter(|sum| is_mine(sum.location));
        calls.filter(|sum| facts.nature(sum.operation) == Some(Nature::Join)).map(|sum| sum.context)
    };
    let most = making.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(&context, _)| context);
    let place = match most.or_else(|| joins().next()) {
        Some(context) => facts.places.place(context),
        None => facts.places.declared(short.iter().find_map(|&id| facts.starts[id.index()])?),
    };
    let place = facts.in_process(place, process);
    let mut finding = facts.finding(Kind::ThreadChurn, Account::Compute, lost, lost, place);
    finding.error = facts.error(making.keys().copied());
    finding.evidence = vec![
        Figure::count(FigureId::ShortThreads, short.len() as f64),
        Figure::time(FigureId::MeanThreadCpu, mean(|one| one.cpu)),
        Figure::time(FigureId::MeanLife, mean(|one| one.wall())),
        Figure::time(FigureId::CpuOfMaking, making_time),
        Figure::time(FigureId::KernelCpuInThem, system),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

/// Whether a function that makes threads is below the program's own.
fn makes_threads(facts: &Facts<'_>, context: ContextId) -> bool {
    facts.places.calls_below_own(context, |name| MAKERS.iter().any(|maker| name.starts_with(maker)))
}
