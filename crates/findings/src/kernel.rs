//! Processor time in system calls that are no I/O, no waits and no page faults.

use proust_profile::{ContextId, Function, FunctionId, Ns};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::Calls;
use super::facts::Facts;
use super::figure::{Figure, FigureId, Subject};
use super::finding::{Finding, Kind, Sure};
use super::overhead::Overhead;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;
use proust_account::timelines::FaultCost;

/// Functions whose time in the kernel other kinds of findings are about.
const OTHERS: [&str; 28] = [
    "read",
    "write",
    "pread",
    "pwrite",
    "readv",
    "writev",
    "send",
    "recv",
    "open",
    "openat",
    "close",
    "fsync",
    "fdatasync",
    "sync",
    "msync",
    "poll",
    "ppoll",
    "select",
    "epoll_wait",
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "sleep",
    "sendto",
    "recvfrom",
    "sendmsg",
    "recvmsg",
    "accept",
];

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let overhead = Overhead::by(facts.profile, &facts.places);
    let mut by_function: FxHashMap<Option<FunctionId>, Vec<ContextId>> = FxHashMap::default();
    let of_mpi = |call: &&Calls| facts.operation(call.operation).is_some_and(|kind| kind.is_of_mpi());
    let in_mpi: FxHashSet<_> =
        facts.calls.iter().filter(of_mpi).map(|call| facts.places.line_key(call.context)).collect();
    for context in facts.profile.contexts.keys() {
        let is_other = overhead.has(context)
            || facts.places.leaf(context).is_some_and(is_other)
            // There the library looks for its partners.
            || in_mpi.contains(&facts.places.line_key(context));
        if facts.cpu[context.index()].is_positive() && !is_other {
            by_function.entry(facts.places.function(context)).or_default().push(context);
        }
    }
    let fault_ns = FaultCost::of(facts.profile).at_most_ns();
    by_function.into_values().filter_map(|contexts| system_storm(facts, &contexts, fault_ns)).collect()
}

fn is_other(function: &Function) -> bool {
    let name = function.name.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches("libc_");
    let name = name.trim_start_matches('_');
    OTHERS.contains(&name.trim_end_matches("64"))
}

/// `fault_ns`: what a page fault costs at most.
fn system_storm(facts: &Facts<'_>, contexts: &[ContextId], fault_ns: f64) -> Option<Finding> {
    let sum = |of: &[Ns]| contexts.iter().map(|&context| of[context.index()]).sum::<Ns>();
    let number = |of: &[f64]| contexts.iter().map(|&context| of[context.index()]).sum::<f64>();
    let (cpu, samples) = (sum(&facts.cpu), number(&facts.samples));
    // The time of faults is reported by another kind, and known as an estimate only.
    let faults = number(&facts.faults);
    let lost = (sum(&facts.system) - Ns::from_seconds(faults * fault_ns / 1e9)).max(Ns::ZERO);
    let error = facts.error(contexts.iter().copied());
    let mut checks = Checks::default();
    if !checks.holds(&limits::SYSTEM_SAMPLES, samples)
        || !checks.holds(&limits::SYSTEM_SHARE, lost / cpu.max(Ns::SHORTEST))
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let system: FxHashMap<ContextId, Ns> =
        contexts.iter().map(|&context| (context, facts.system[context.index()])).collect();
    let root = facts.places.dominating(&system, 0.6)?;
    let mut finding =
        facts.finding(Kind::SystemStorm, Account::Compute, lost, lost, facts.places.place(root));
    finding.error = error;
    finding.evidence = vec![
        Figure::time(FigureId::CpuThere, cpu),
        Figure::time(FigureId::OfItInKernel, sum(&facts.system)),
        Figure::count(FigureId::FaultsThere, faults),
        Figure::count(FigureId::SamplesThere, samples),
    ];
    if let Some(called) = facts.places.leaf(root) {
        let through = system.iter().filter(|&(&context, _)| facts.places.is_below(context, root));
        let through: Ns = through.map(|(_, time)| time).sum();
        let share = through / sum(&facts.system).max(Ns::SHORTEST);
        let figure = Figure::share(FigureId::ShareThrough, share);
        finding.evidence.push(figure.about(Subject::Function(called.name.clone())));
    }
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
