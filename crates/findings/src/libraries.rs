//! Libraries for which a cause of slowness, and its remedy, are known.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Ns, Profile};
use rustc_hash::FxHashMap;

use super::author::WITH_A_LOCK;
use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::{Account, PassiveReason};

/// Ends of the paths of the reference implementations of BLAS and LAPACK, as distributions install them.
const REFERENCE: [&str; 2] = ["/blas/libblas.so", "/lapack/liblapack.so"];

/// The most processor time that a fast implementation needs, as a part of the reference one's.
const FAST: f64 = 0.3;

/// The library with a lock of its own that a context is in, or is called from, below the program's code.
pub(super) fn with_a_lock<'p>(facts: &Facts<'p>, context: ContextId) -> Option<&'p str> {
    let profile = facts.profile;
    let own = facts.places.own(context);
    let mut at = Some(context);
    while let Some(id) = at.filter(|&id| id >= own) {
        let name = file_name(profile, id);
        if name.is_some_and(|name| WITH_A_LOCK.iter().any(|library| name.starts_with(library))) {
            return name;
        }
        at = profile.contexts[id].parent;
    }
    None
}

fn module(profile: &Profile, context: ContextId) -> Option<&str> {
    let function = profile.contexts[context].function?;
    let module = profile.functions[function].module?;
    Some(&profile.modules[module].path)
}

fn file_name(profile: &Profile, context: ContextId) -> Option<&str> {
    module(profile, context).map(|path| path.rsplit('/').next().unwrap_or(path))
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    slow_library(facts).into_iter().chain(c_library_locks(facts)).collect()
}

/// Functions in which threads wait for the C library's own locks, and wake those who wait: of `rand`, of the
/// time zone, of an arena of `malloc`.
const PRIVATE_LOCKS: [&str; 2] = ["__lll_lock_wait_private", "__lll_lock_wake_private"];

/// Waits for locks inside of the C library, which no hook sees: by samples in them, and threads that were
/// passive there for no recorded reason.
fn c_library_locks(facts: &Facts<'_>) -> Vec<Finding> {
    let profile = facts.profile;
    let is_lock = |context: ContextId| {
        facts.places.calls_below_own(context, |name| PRIVATE_LOCKS.iter().any(|lock| name.starts_with(lock)))
    };
    let mut by_line: BTreeMap<_, (FxHashMap<ContextId, Ns>, BTreeSet<LocationId>)> = BTreeMap::new();
    for value in profile.values.iter().filter(|value| value.metric == Metric::Cpu) {
        if is_lock(value.context) {
            let (locking, by) = by_line.entry(facts.places.line_key(value.context)).or_default();
            *locking.entry(value.context).or_default() += Ns::of(value.amount);
            by.insert(value.location);
        }
    }
    by_line
        .into_iter()
        .filter_map(|(line, (locking, by))| c_library_lock(facts, line, &locking, &by))
        .collect()
}

fn c_library_lock(
    facts: &Facts<'_>,
    line: (Option<FunctionId>, Option<u32>),
    locking: &FxHashMap<ContextId, Ns>,
    by: &BTreeSet<LocationId>,
) -> Option<Finding> {
    let burned: Ns = locking.values().sum();
    let waits = || {
        let rows = facts.ledger.passive.iter().filter(|row| row.reason == PassiveReason::Unknown);
        rows.filter(|row| by.contains(&row.location) && facts.places.line_key(row.context) == line)
    };
    let waited: Ns = waits().map(|row| Ns::of(row.ns)).sum();
    let lost = burned + waited;
    let error = facts.error(locking.keys().copied());
    let mut checks = Checks::default();
    if by.len() < 2
        || !checks.holds(&limits::SIGMAS, burned / error.max(Ns::SHORTEST))
        || !checks.holds(&limits::INNER_LOCK, burned / facts.all_cpu.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, burned)
    {
        return None;
    }
    let context = locking.keys().copied().min()?;
    let cause = facts.located(facts.places.place(context), by.iter().copied());
    let mut finding = facts.finding(Kind::LibraryLock, Account::Compute, lost, burned, cause);
    finding.error = error;
    finding.library = file_name(facts.profile, context).map(str::to_owned);
    finding.victims = facts.victims(waits().map(|row| (row.location, row.context, Ns::of(row.ns))));
    finding.evidence = vec![
        Figure::time(FigureId::CpuOfLocking, burned),
        Figure::time(FigureId::WaitedForLock, waited),
        Figure::count(FigureId::ThreadsThatCalled, by.len() as f64),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}

fn slow_library(facts: &Facts<'_>) -> Option<Finding> {
    let profile = facts.profile;
    let is_reference = |context: ContextId| {
        let path = module(profile, context)?;
        REFERENCE.iter().find(|end| path.contains(*end)).map(|_| path)
    };
    let mut inside: FxHashMap<ContextId, Ns> = FxHashMap::default();
    let mut by: BTreeSet<LocationId> = BTreeSet::new();
    let mut library = None;
    for value in profile.values.iter().filter(|value| value.metric == Metric::Cpu) {
        if let Some(path) = is_reference(value.context) {
            *inside.entry(value.context).or_default() += Ns::of(value.amount);
            by.insert(value.location);
            library = Some(path);
        }
    }
    let used: Ns = inside.values().sum();
    let lost = used * (1.0 - FAST);
    let error = facts.error(inside.keys().copied());
    let mut checks = Checks::default();
    if !checks.holds(&limits::SLOW_LIBRARY, used / facts.all_cpu.max(Ns::SHORTEST))
        || !checks.holds(&limits::SIGMAS, used / error.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let cause = facts.places.cause(&inside, 0.5).unwrap_or_default();
    let cause = facts.located(cause, by.iter().copied());
    let mut finding = facts.finding(Kind::SlowLibrary, Account::Compute, lost, lost, cause);
    finding.error = error;
    finding.library = library.map(|path| path.rsplit('/').next().unwrap_or(path).to_owned());
    finding.evidence = vec![
        Figure::time(FigureId::CpuInLibrary, used),
        Figure::count(FigureId::ThreadsThatCalled, by.len() as f64),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
