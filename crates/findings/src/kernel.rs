//! Processor time in system calls that are no I/O, no waits and no page faults.

use proust_profile::{ContextId, Function, FunctionId};
use rustc_hash::{FxHashMap, FxHashSet};

use super::calls::Calls;
use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
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
        if facts.cpu[context.index()] > 0.0 && !is_other {
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
    let sum = |of: &[f64]| contexts.iter().map(|&context| of[context.index()]).sum::<f64>();
    let (cpu_s, samples) = (sum(&facts.cpu), sum(&facts.samples));
    // The time of faults is reported by another kind, and known as an estimate only.
    let faults = sum(&facts.faults);
    let lost_s = (sum(&facts.system) - faults * fault_ns / 1e9).max(0.0);
    let error_s = facts.error_s(contexts.iter().copied());
    let mut checks = Checks::default();
    if !checks.holds(&limits::SYSTEM_SAMPLES, samples)
        || !checks.holds(&limits::SYSTEM_SHARE, lost_s / cpu_s.max(f64::MIN_POSITIVE))
        || !checks.holds(&limits::SIGMAS, lost_s / error_s.max(f64::MIN_POSITIVE))
        || !facts.matters(&mut checks, lost_s, lost_s)
    {
        return None;
    }
    let system_s: FxHashMap<ContextId, f64> =
        contexts.iter().map(|&context| (context, facts.system[context.index()])).collect();
    let root = facts.places.dominating(&system_s, 0.6)?;
    let mut finding =
        facts.finding(Kind::SystemStorm, Account::Compute, lost_s, lost_s, facts.places.place(root));
    finding.error_s = error_s;
    finding.evidence = vec![
        Figure::seconds("processor time there", cpu_s),
        Figure::seconds("of it in the kernel", sum(&facts.system)),
        Figure::count("page faults there", faults),
        Figure::count("samples there", samples),
    ];
    if let Some(called) = facts.places.leaf(root) {
        let through_s = system_s.iter().filter(|&(&context, _)| facts.places.is_below(context, root));
        let through_s: f64 = through_s.map(|(_, s)| s).sum();
        let what = format!("of the time in the kernel through {}", called.name);
        finding.evidence.push(Figure::share(what, through_s / sum(&facts.system).max(f64::MIN_POSITIVE)));
    }
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
