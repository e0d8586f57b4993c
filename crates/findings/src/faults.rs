//! Page faults: memory that is touched for the first time, or again and again.
//!
//! When and by whom is measured exactly; the cost of a fault is fitted to the run, and booked by the ledger.
//! Each process is looked at by itself, since none can change what another one touches, and only faults below
//! the program's own code count: the memory that a process touches while it is loaded is no choice of its
//! author.
//!
//! Whether it was the same memory again follows from two counts: faults that brought more pages than the
//! process ever had resident at once cannot all have brought new ones.

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, Metric, Ns, ProcessId};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::place::Place;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;
use proust_account::timelines::FaultCost;

/// Parts of the names of functions that give memory back to the system, the C library's own among them.
const GIVING_BACK: [&str; 5] = ["munmap", "madvise", "systrim", "heap_trim", "malloc_trim"];

/// Parts of the run by which faults are distinguished in time.
const PARTS: usize = 12;
/// The smallest page: a fault brings at least one.
const PAGE_BYTES: f64 = 4096.0;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_process: BTreeMap<ProcessId, Touched> = BTreeMap::new();
    for value in facts.profile.values.iter().filter(|value| value.metric == Metric::MinorFaults) {
        if facts.places.start(value.context).is_some() {
            let process = facts.profile.locations[value.location].process;
            by_process.entry(process).or_default().add(value.location, value.context, value.amount as f64);
        }
    }
    let gives = giving_back(facts);
    for value in facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu) {
        let process = facts.profile.locations[value.location].process;
        if gives[value.context.index()]
            && let Some(touched) = by_process.get_mut(&process)
        {
            *touched.given.entry(value.context).or_default() += Ns::of(value.amount);
        }
    }
    for row in facts.ledger.spent.iter().filter(|row| row.account == Account::Fault) {
        let process = facts.profile.locations[row.location].process;
        if facts.places.start(row.context).is_some()
            && let Some(touched) = by_process.get_mut(&process)
        {
            touched.lost += Ns::of(row.ns);
            touched.rows.push((row.location, row.context, Ns::of(row.ns)));
        }
    }
    // Processes of one program that do the same are one finding.
    type Key = (Kind, Option<String>, Option<u32>);
    let mut same: BTreeMap<Key, Vec<Candidate>> = BTreeMap::new();
    for (process, touched) in by_process {
        if let Some(candidate) = candidate(facts, process, touched) {
            let key = (candidate.kind, candidate.cause.function.clone(), candidate.cause.line);
            same.entry(key).or_default().push(candidate);
        }
    }
    same.into_values().filter_map(|candidates| page_faults(facts, candidates)).collect()
}

/// The page faults of a process below its program's own code.
#[derive(Default)]
struct Touched {
    all: f64,
    by_context: FxHashMap<ContextId, f64>,
    by_location: FxHashMap<LocationId, f64>,
    /// The amount on the account, and where.
    lost: Ns,
    rows: Vec<(LocationId, ContextId, Ns)>,
    /// Processor time of giving memory back, by the program's own code.
    given: FxHashMap<ContextId, Ns>,
}

impl Touched {
    fn add(&mut self, location: LocationId, context: ContextId, faults: f64) {
        self.all += faults;
        *self.by_context.entry(context).or_default() += faults;
        *self.by_location.entry(location).or_default() += faults;
    }
}

/// The findings possible for a process.
struct Candidate {
    kind: Kind,
    cause: Place,
    faults: f64,
    lost: Ns,
    in_kernel: Ns,
    by_one: f64,
    at_once: f64,
    used_after: f64,
    /// Bytes that the faults brought at least, and those that were resident at once, if that is known.
    bytes: (f64, Option<f64>),
    /// How long it takes to give memory back, if that is the cause.
    given: Option<Ns>,
    /// Where it is touched.
    rows: Vec<(LocationId, ContextId, Ns)>,
    checks: Checks,
}

/// In which contexts memory is given back, below the program's own code.
fn giving_back(facts: &Facts<'_>) -> Vec<bool> {
    let gives = |id: ContextId| {
        facts.places.start(id).is_some()
            && facts.places.calls_below_own(id, |name| GIVING_BACK.iter().any(|part| name.contains(part)))
    };
    (0..facts.profile.contexts.len()).map(|id| gives(ContextId::from_index(id))).collect()
}

fn candidate(facts: &Facts<'_>, process: ProcessId, touched: Touched) -> Option<Candidate> {
    let mut checks = Checks::default();
    if !checks.holds(&limits::FAULTS, touched.all) {
        return None;
    }
    let (&toucher, &most) =
        touched.by_location.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)))?;
    let cause = facts.places.cause(&touched.by_context, 0.5)?;
    let when = When::of(facts, process);
    let by_one = most / touched.all;
    let used_after = when.used_after(facts, process, toucher);
    let brought_bytes = touched.all * PAGE_BYTES;
    let peak_bytes = facts.profile.processes[process].peak_resident_bytes.map(|bytes| bytes as f64);
    let times = peak_bytes.map(|peak_bytes| brought_bytes / peak_bytes.max(PAGE_BYTES));
    let mut as_churn = checks.clone();
    let mut as_first = checks.clone();
    let mut lost = touched.lost;
    let is_churn = times.is_some_and(|times| as_churn.holds(&limits::TOUCHED_AGAIN, times));
    let is_first_touch = facts.width >= 2.0
        && as_first.holds(&limits::FAULTS_BY_ONE, by_one)
        && as_first.holds(&limits::FAULTS_AT_ONCE, when.at_once)
        && as_first.holds(&limits::USED_AFTER, used_after);
    let kind = if is_churn {
        checks = as_churn;
        Kind::FaultChurn
    } else if is_first_touch {
        checks = as_first;
        // Touched in parallel, it takes each of them a part of that time.
        lost = lost * (1.0 - 1.0 / facts.width);
        Kind::FirstTouch
    } else if checks.holds(&limits::FAULTS_AT_ONCE, when.at_once) {
        Kind::FaultStartup
    } else if times.is_none() {
        // Whether it is the same memory cannot be known.
        checks = as_churn;
        Kind::FaultChurn
    } else {
        return None;
    };
    // It lies in memory again and again because of who gives it back.
    let given: Ns = touched.given.values().sum();
    let share = given / touched.lost.max(Ns::SHORTEST);
    let is_giver = kind == Kind::FaultChurn && limits::GIVEN_BACK.holds(share);
    let is_written = |place: &Place| place.context.is_some_and(|context| facts.places.is_written(context));
    let giver = if is_giver { facts.places.cause(&touched.given, 0.5) } else { None };
    // A library that gives it back does so for its caller.
    let giver = giver.filter(|giver| is_written(giver) || !is_written(&cause));
    if giver.is_some() {
        checks.holds(&limits::GIVEN_BACK, share);
    }
    Some(Candidate {
        kind,
        given: giver.is_some().then_some(given),
        rows: touched.rows,
        cause: giver.unwrap_or(cause),
        faults: touched.all,
        lost,
        in_kernel: touched.by_context.keys().map(|&context| facts.system[context.index()]).sum(),
        by_one,
        at_once: when.at_once,
        used_after,
        bytes: (brought_bytes, peak_bytes),
        checks,
    })
}

fn page_faults(facts: &Facts<'_>, candidates: Vec<Candidate>) -> Option<Finding> {
    let lost: Ns = candidates.iter().map(|one| one.lost).sum();
    let faults: f64 = candidates.iter().map(|one| one.faults).sum();
    let processes = candidates.len();
    let rows: Vec<_> = candidates.iter().flat_map(|one| one.rows.iter().copied()).collect();
    let worst = candidates.into_iter().max_by(|a, b| a.lost.cmp(&b.lost))?;
    let mut checks = worst.checks;
    if !facts.matters(&mut checks, lost, lost) {
        return None;
    }
    let cost = FaultCost::of(facts.profile);
    let mut finding = facts.finding(worst.kind, Account::Fault, lost, lost, worst.cause);
    finding.evidence = vec![
        Figure::count(FigureId::Faults, faults),
        Figure::time(FigureId::KernelWhereHappened, worst.in_kernel),
        Figure::time(FigureId::TimeOfFault, Ns::from_seconds(cost.ns / 1e9)),
        Figure::time(FigureId::ErrorOfFault, Ns::from_seconds(cost.error_ns.unwrap_or(0.0) / 1e9)),
        Figure::share(FigureId::ShareByOneThread, worst.by_one),
        Figure::share(FigureId::ShareInHalf, worst.at_once),
        Figure::share(FigureId::ShareOfOthersAfterwards, worst.used_after),
        Figure::bytes(FigureId::FaultedMemory, worst.bytes.0),
    ];
    if let Some(peak_bytes) = worst.bytes.1 {
        finding.evidence.push(Figure::bytes(FigureId::PeakResident, peak_bytes));
    }
    if let Some(given) = worst.given {
        finding.evidence.push(Figure::time(FigureId::CpuOfGivingBack, given));
        finding.victims = facts.victims(rows);
    }
    if processes > 1 {
        finding.evidence.push(Figure::count(FigureId::ProcessesThatDoSo, processes as f64));
    }
    // What a program needs it has to touch, and arrays of each step are touched again.
    let is_known = match worst.kind {
        Kind::FaultStartup => true,
        kind => kind == Kind::FaultChurn && worst.bytes.1.is_some(),
    };
    let is_unusual = limits::UNUSUAL_SHARE.holds(lost / facts.total.max(Ns::SHORTEST));
    finding.sure = if is_known && is_unusual { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// When the faults were, by the processor time that had been used: other programs do not change that.
struct When {
    /// Of all faults, the most that lie within a half of the run.
    at_once: f64,
    /// When most of them were over, ns.
    over_ns: u64,
}

impl When {
    fn of(facts: &Facts<'_>, process: ProcessId) -> When {
        let is_own = |context| facts.places.start(context).is_some();
        let mut rows: Vec<(u64, u64, u32)> = (facts.samples_of(process))
            .map(|row| (row.time_ns, row.cpu_ns, if is_own(row.context) { row.minor_faults } else { 0 }))
            .collect();
        rows.sort_unstable();
        let all_ns = rows.iter().map(|(_, cpu_ns, _)| cpu_ns).sum::<u64>().max(1);
        let (mut parts, mut ends_ns) = ([0.0; PARTS], [0; PARTS]);
        let mut used_ns = 0;
        for (time_ns, cpu_ns, faults) in rows {
            // They lie somewhere between the sample before and this one: in its middle on average.
            let middle = (used_ns + cpu_ns / 2) as f64 / all_ns as f64;
            used_ns += cpu_ns;
            let part = ((middle * PARTS as f64) as usize).min(PARTS - 1);
            parts[part] += f64::from(faults);
            ends_ns[part] = time_ns;
        }
        let all = parts.iter().sum::<f64>().max(f64::MIN_POSITIVE);
        let half = PARTS / 2;
        let windows = parts.windows(half).map(|window| window.iter().sum::<f64>());
        let (at, most) =
            windows.enumerate().fold((0, 0.0), |best, (at, sum)| if sum > best.1 { (at, sum) } else { best });
        // Within it, until the last part that has much of them.
        let last = (at..at + half).rev().find(|&part| parts[part] >= 0.1 * most).unwrap_or(at);
        When { at_once: most / all, over_ns: ends_ns[last] }
    }

    /// The part of the process's processor time that others than the one that touched the memory used
    /// afterwards.
    fn used_after(&self, facts: &Facts<'_>, process: ProcessId, toucher: LocationId) -> f64 {
        let all_ns: u64 = facts.samples_of(process).map(|row| row.cpu_ns).sum();
        let after = facts.samples_of(process);
        let after = after.filter(|row| row.location != toucher && row.time_ns > self.over_ns);
        after.map(|row| row.cpu_ns).sum::<u64>() as f64 / all_ns.max(1) as f64
    }
}
