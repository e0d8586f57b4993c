//! Processor time in system calls that are no I/O, no waits and no page faults.

use std::collections::BTreeMap;

use proust_profile::{ContextId, Function, FunctionId, Nature, Ns};
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
    let long_looks = long_looks(facts);
    for context in facts.profile.contexts.keys() {
        let is_other = overhead.has(context)
            || facts.places.leaf(context).is_some_and(is_other) && !long_looks.contains(&context)
            // There the library looks for its partners.
            || in_mpi.contains(&facts.places.line_key(context));
        if facts.cpu[context.index()].is_positive() && !is_other {
            by_function.entry(facts.places.function(context)).or_default().push(context);
        }
    }
    let fault_ns = FaultCost::of(facts.profile).at_most_ns();
    let storm = |contexts: Vec<ContextId>| {
        let faults: f64 = contexts.iter().map(|id| facts.faults[id.index()]).sum();
        let system: Ns = contexts.iter().map(|id| facts.system[id.index()]).sum();
        let system = system - Ns::from_seconds(faults * fault_ns / 1e9);
        system_storm(facts, &contexts, system.max(Ns::ZERO)).or_else(|| {
            let calls = of_one_call(facts, &contexts);
            system_storm(facts, &calls, calls.iter().map(|id| facts.cpu[id.index()]).sum())
        })
    };
    by_function.into_values().filter_map(storm).collect()
}

/// Contexts in calls that look at so many descriptors that each takes long on a processor.
fn long_looks(facts: &Facts<'_>) -> FxHashSet<ContextId> {
    let mut looks: FxHashMap<_, (u64, Vec<ContextId>)> = FxHashMap::default();
    for call in facts.calls.iter().filter(|call| facts.nature(call.operation) == Some(Nature::Poll)) {
        looks.entry(facts.places.line_key(call.context)).or_default().0 += call.calls;
    }
    let is_look = |function: &Function| LOOKS.contains(&bare(function));
    for context in facts.profile.contexts.keys().filter(|id| facts.cpu[id.index()].is_positive()) {
        if facts.places.leaf(context).is_some_and(is_look)
            && let Some((_, contexts)) = looks.get_mut(&facts.places.line_key(context))
        {
            contexts.push(context);
        }
    }
    let is_long = |(calls, contexts): &(u64, Vec<ContextId>)| {
        let cpu: Ns = contexts.iter().map(|id| facts.cpu[id.index()]).sum();
        cpu / (*calls).max(1) as f64 > limits::LOOK_S.value
    };
    looks.into_values().filter(is_long).flat_map(|(_, contexts)| contexts).collect()
}

/// Functions that look at each of the descriptors that they are given.
const LOOKS: [&str; 4] = ["poll", "ppoll", "select", "pselect"];

/// Functions of the C library that do nothing but call the system. The kernel charges its ticks to whom it
/// finds, so that of calls of a microsecond the time in the kernel is not known; but all of it is theirs.
const SYSTEM_CALLS: [&str; 51] = [
    "stat",
    "lstat",
    "fstat",
    "fstatat",
    "statx",
    "xstat",
    "lxstat",
    "fxstat",
    "fxstatat",
    "access",
    "faccessat",
    "eaccess",
    "euidaccess",
    "readlink",
    "readlinkat",
    "getdents",
    "getcwd",
    "mmap",
    "munmap",
    "mprotect",
    "madvise",
    "mremap",
    "brk",
    "sbrk",
    "lseek",
    "fcntl",
    "ioctl",
    "dup",
    "dup2",
    "pipe",
    "pipe2",
    "unlink",
    "rename",
    "mkdir",
    "rmdir",
    "utimensat",
    "ftruncate",
    "truncate",
    "getrusage",
    "getrandom",
    "getentropy",
    "sched_getaffinity",
    "sched_setaffinity",
    "sched_getcpu",
    "getpriority",
    "setpriority",
    "prctl",
    "kill",
    "tgkill",
    "timer_settime",
    "setitimer",
];

/// Functions that read a clock, with a system call or without: that of a process or a thread is the kernel's.
const CLOCKS: [&str; 6] =
    ["clock", "clock_gettime", "gettimeofday", "times", "vdso_clock_gettime", "vdso_gettimeofday"];

fn reads_clock(facts: &Facts<'_>, context: ContextId) -> bool {
    facts.places.leaf(context).is_some_and(|leaf| CLOCKS.contains(&bare(leaf)))
}

/// Of these contexts those in the system call that has most processor time; all readings of clocks count as
/// one.
fn of_one_call(facts: &Facts<'_>, contexts: &[ContextId]) -> Vec<ContextId> {
    let mut by_call: BTreeMap<&str, Vec<ContextId>> = BTreeMap::new();
    for &context in contexts {
        if reads_clock(facts, context) {
            by_call.entry(CLOCKS[0]).or_default().push(context);
        } else if let Some(leaf) = facts.places.leaf(context)
            && SYSTEM_CALLS.contains(&bare(leaf))
        {
            by_call.entry(bare(leaf)).or_default().push(context);
        }
    }
    let cpu = |of: &Vec<ContextId>| of.iter().map(|id| facts.cpu[id.index()]).sum::<Ns>();
    by_call.into_values().max_by(|a, b| cpu(a).cmp(&cpu(b))).unwrap_or_default()
}

fn is_other(function: &Function) -> bool {
    OTHERS.contains(&bare(function))
}

/// Its name as it is documented.
fn bare(function: &Function) -> &str {
    let name = function.name.trim_start_matches('_').trim_start_matches("GI_").trim_start_matches("libc_");
    name.trim_start_matches('_').trim_end_matches("64")
}

/// `lost`: of the time in these contexts, that in system calls. The time of faults is reported by another
/// kind, and known as an estimate only.
fn system_storm(facts: &Facts<'_>, contexts: &[ContextId], lost: Ns) -> Option<Finding> {
    let sum = |of: &[Ns]| contexts.iter().map(|&context| of[context.index()]).sum::<Ns>();
    let number = |of: &[f64]| contexts.iter().map(|&context| of[context.index()]).sum::<f64>();
    let (cpu, samples) = (sum(&facts.cpu), number(&facts.samples));
    let faults = number(&facts.faults);
    let error = facts.error(contexts.iter().copied());
    let mut checks = Checks::default();
    if !checks.holds(&limits::SYSTEM_SAMPLES, samples)
        || !checks.holds(&limits::SYSTEM_SHARE, lost / cpu.max(Ns::SHORTEST))
        || !checks.holds(&limits::SIGMAS, lost / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let by = |of: &[Ns]| contexts.iter().map(|&id| (id, of[id.index()])).collect::<FxHashMap<_, _>>();
    let is_counted = sum(&facts.system) >= lost;
    let system = if is_counted { by(&facts.system) } else { by(&facts.cpu) };
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
        let all: Ns = system.values().sum();
        let share = through / all.max(Ns::SHORTEST);
        let figure = Figure::share(FigureId::ShareThrough, share);
        finding.evidence.push(figure.about(Subject::Function(called.name.clone())));
    }
    let is_clock = !is_counted && contexts.iter().all(|&context| reads_clock(facts, context));
    finding.sure = if is_clock { Sure::Possible } else { Sure::Likely };
    finding.checks = checks.kept();
    Some(finding)
}
