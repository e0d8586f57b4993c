//! Processes of Python that hand data to each other: arguments and results are pickled, sent through a pipe
//! and unpickled. Where that takes much of the processor time, too much is sent, or too often.
//!
//! It is the time in the modules of Python's library that do this and in what they call, but not in functions
//! of the program that those call. The threads and processes of a pool are started by the library; so what is
//! named is where the program uses it most. Ranks pickle as well, where a program of mpi4py calls its methods
//! for any objects (those in lower case); the calls of MPI itself are not counted.

use std::collections::BTreeSet;

use proust_account::ledger::Account;
use proust_profile::{ContextId, ContextKind, Function, LocationId, Metric, Ns, Profile};

use super::asked;
use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};

/// The modules that send and receive.
const MODULES: [&str; 8] = [
    "multiprocessing/connection.py",
    "multiprocessing/heap.py",
    "multiprocessing/managers.py",
    "multiprocessing/pool.py",
    "multiprocessing/queues.py",
    "multiprocessing/reduction.py",
    "concurrent/futures/process.py",
    "pickle.py",
];
/// The packages by which a program uses them.
const PACKAGES: [&str; 2] = ["multiprocessing", "concurrent"];

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    exchange(facts).into_iter().collect()
}

fn exchange(facts: &Facts<'_>) -> Option<Finding> {
    let contexts: Vec<ContextId> = sending(facts);
    let lost: Ns = contexts.iter().map(|&context| facts.cpu[context.index()]).sum();
    let share = lost / facts.all_cpu.max(Ns::SHORTEST);
    let error = facts.error(contexts.iter().copied());
    let mut checks = Checks::default();
    if !checks.holds(&limits::EXCHANGE, share)
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let used = asked::call_of(facts, &PACKAGES);
    let at = || facts.heaviest_line(contexts.iter().map(|&at| (at, facts.cpu[at.index()])));
    let context = used.or_else(|| at().map(|(_, context)| context))?;
    let by = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let by = by.filter(|value| contexts.binary_search(&value.context).is_ok()).map(|value| value.location);
    let by: BTreeSet<LocationId> = by.collect();
    let cause = facts.located(facts.places.place(context), by.iter().copied());
    let mut finding = facts.finding(Kind::ProcessExchange, Account::Compute, lost, lost, cause);
    finding.error = error;
    finding.evidence = vec![
        Figure::share(FigureId::ShareOfCpu, share),
        Figure::time(FigureId::CpuOfExchange, lost),
        Figure::count(FigureId::ThreadsThatDidIt, by.len() as f64),
    ];
    // How much of it has to be sent is not known.
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

/// The contexts with processor time whose innermost function of Python's sends or receives; ascending.
fn sending(facts: &Facts<'_>) -> Vec<ContextId> {
    let profile = facts.profile;
    let mut sends = vec![false; profile.contexts.len()];
    for (id, context) in profile.contexts.iter_enumerated() {
        let function = context.function.filter(|_| context.kind == ContextKind::Frame);
        let function = function.map(|function| &profile.functions[function]);
        let interpreted =
            function.filter(|one| one.file.as_deref().is_some_and(|file| file.ends_with(".py")));
        sends[id.index()] = match (interpreted, function) {
            (Some(function), _) => {
                asked::library_of(function).is_some_and(|module| MODULES.contains(&module))
            }
            (None, Some(function)) if is_of_mpi4py(profile, function) => true,
            (None, Some(function)) if is_call_of_mpi(function) => false,
            _ => context.parent.is_some_and(|parent| sends[parent.index()]),
        };
    }
    let used = |id: &ContextId| sends[id.index()] && facts.cpu[id.index()].is_positive();
    profile.contexts.keys().filter(used).collect()
}

/// Whether it is of mpi4py, which is one module in C.
fn is_of_mpi4py(profile: &Profile, function: &Function) -> bool {
    let module = function.module.map(|module| &profile.modules[module]);
    module.is_some_and(|module| module.path.contains("/mpi4py/") && module.name().starts_with("MPI."))
}

fn is_call_of_mpi(function: &Function) -> bool {
    ["MPI_", "PMPI_"].iter().any(|part| function.name.starts_with(part))
}
