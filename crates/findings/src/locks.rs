//! Locks: the work done while they are held, how often, and how many threads queue.
//!
//! Each lock gets the one kind that is most useful for a change: the work of its holders is considered before
//! the time they hold it, and that before the number of waiters.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Nature, Ns, ProcessId};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::libraries;
use super::openmp::spinning_share;
use super::overhead::Overhead;
use super::place::Place;
use super::sections::{Holders, Sections, holders};
use super::thresholds::{self as limits, Checks};
use proust_account::blame::{BlameRow, CauseKind, LockId, LockKind};
use proust_account::ledger::{Account, State, Wait};
use rustc_hash::FxHashMap as Map;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_lock: BTreeMap<LockId, Vec<&BlameRow>> = BTreeMap::new();
    for row in facts.blame.rows.iter().filter(|row| row.account == Account::Lock) {
        if let Some(lock) = row.cause.lock {
            by_lock.entry(lock).or_default().push(row);
        }
    }
    if by_lock.is_empty() {
        return Vec::new();
    }
    // An interpreter's lock is a few objects: one finding for each process.
    let mut of_interpreters: BTreeMap<ProcessId, Vec<(LockId, Vec<&BlameRow>)>> = BTreeMap::new();
    let is_of_interpreter = |(&id, rows): (&LockId, &Vec<&BlameRow>)| match facts.lock(id) {
        Some(lock) if lock.kind == LockKind::Condition => true,
        // A script's own lock is a semaphore.
        Some(lock) if lock.kind == LockKind::Other => false,
        _ => rows.iter().all(|row| is_in_interpreter(facts, row.context)),
    };
    for id in by_lock.iter().filter(|one| is_of_interpreter(*one)).map(|(&id, _)| id).collect::<Vec<_>>() {
        if let (Some(rows), Some(lock)) = (by_lock.remove(&id), facts.lock(id)) {
            of_interpreters.entry(lock.process).or_default().push((id, rows));
        }
    }
    let mut found: Vec<Finding> =
        of_interpreters.into_values().filter_map(|locks| interpreter_lock(facts, locks)).collect();
    let (holders, waits) = (holders(facts), Waits::of(facts));
    let handling = Handling::of(facts);
    let one = |(id, rows)| OneLock::new(facts, &holders, &waits, &handling, id, rows).finding();
    found.par_extend(by_lock.into_par_iter().filter_map(one));
    found
}

/// Whether an interpreter's own code waits there: for its lock, or for the mutex that guards what it knows of
/// that.
fn is_in_interpreter(facts: &Facts<'_>, context: ContextId) -> bool {
    let module = facts.places.leaf(context).and_then(|function| function.module);
    module.is_some_and(|module| facts.profile.modules[module].is_python())
}

/// A condition variable that a runtime makes a lock of is an interpreter's: the function that waits for it
/// does not help the program's author.
fn interpreter_lock(facts: &Facts<'_>, locks: Vec<(LockId, Vec<&BlameRow>)>) -> Option<Finding> {
    let rows: Vec<&BlameRow> = locks.iter().flat_map(|(_, rows)| rows.iter().copied()).collect();
    let lost: Ns = rows.iter().map(|row| Ns::of(row.ns)).sum();
    // What guards it is acquired several times for each time that the lock itself is handed over.
    let known: Vec<_> = locks.iter().filter_map(|(id, _)| facts.lock(*id)).collect();
    let holds = |kind: fn(LockKind) -> bool| {
        known.iter().filter(|lock| kind(lock.kind)).map(|lock| lock.holds).sum::<u64>()
    };
    let times = match holds(|kind| kind == LockKind::Condition) {
        0 => holds(|_| true),
        times => times,
    };
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, Ns::ZERO) || !checks.holds(&limits::LOCK_HOLDS, times as f64) {
        return None;
    }
    let mut by_holder: FxHashMap<ContextId, Ns> = FxHashMap::default();
    for row in rows.iter().filter(|row| row.cause.kind == CauseKind::Holder) {
        *by_holder.entry(row.cause.section.unwrap_or(row.cause.context)).or_default() += Ns::of(row.ns);
    }
    let place = most(&by_holder).map_or_else(Place::default, |context| facts.places.place(context));
    let place = or_asked(facts, or_executed(facts, place, &rows), &rows, &by_holder);
    let cause = facts.located(place, rows.iter().map(|row| row.cause.location));
    let mut finding = facts.finding(Kind::InterpreterLock, Account::Lock, lost, Ns::ZERO, cause);
    let threads: BTreeSet<LocationId> = rows.iter().map(|row| row.location).collect();
    finding.victims = facts.victims(rows.iter().map(|row| (row.location, row.context, Ns::of(row.ns))));
    finding.evidence = vec![
        Figure::time(FigureId::WaitedForInterpreter, waited(&rows)),
        Figure::count(FigureId::ThreadsThatWaited, threads.len() as f64),
        Figure::count(FigureId::HandOvers, times as f64),
    ];
    finding.library = language(facts, &rows);
    // Threads that leave the interpreter for most of their work wait for it when they come back.
    let is_usual = !limits::UNUSUAL_SHARE.holds(lost / facts.total.max(Ns::SHORTEST));
    finding.sure =
        if is_usual || are_displaced(facts, &rows, &mut checks) { Sure::Possible } else { Sure::Certain };
    finding.checks = checks.kept();
    finding.lock =
        locks.iter().max_by_key(|(_, rows)| rows.iter().map(|row| row.ns).sum::<u64>()).map(|l| l.0);
    Some(finding)
}

/// The language whose runtime has the lock, where it is compiled and not interpreted.
fn language(facts: &Facts<'_>, rows: &[&BlameRow]) -> Option<String> {
    let is_of_ocaml = |row: &&BlameRow| {
        facts.places.calls_below_own(row.context, |name| OF_OCAML.iter().any(|part| name.starts_with(part)))
    };
    rows.iter().any(is_of_ocaml).then(|| "OCaml".to_owned())
}

/// How functions of OCaml's runtime begin that wait for its lock.
const OF_OCAML: [&str; 3] = ["st_masterlock", "st_thread_yield", "caml_thread"];

/// A place; or where it has no function, that in which those who had the lock spend most of their processor
/// time: an interpreter acquires and releases locks in functions of its own.
fn or_executed(facts: &Facts<'_>, place: Place, rows: &[&BlameRow]) -> Place {
    if place.function.is_some() {
        return place;
    }
    let holders = rows.iter().filter(|row| row.cause.kind == CauseKind::Holder);
    let holders: BTreeSet<LocationId> = holders.map(|row| row.cause.location).collect();
    let values = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let mut by_function: BTreeMap<FunctionId, FxHashMap<ContextId, Ns>> = BTreeMap::new();
    for value in values.filter(|value| holders.contains(&value.location)) {
        let own = facts.places.own(value.context);
        if let (Some(_), Some(function)) = (facts.places.start(own), facts.places.function(own)) {
            let contexts = by_function.entry(function).or_default();
            *contexts.entry(value.context).or_default() += Ns::of(value.amount);
        }
    }
    let all = |contexts: &FxHashMap<ContextId, Ns>| contexts.values().sum::<Ns>();
    let heaviest = by_function.into_values().max_by(|a, b| all(a).cmp(&all(b)));
    let heaviest = heaviest.and_then(|contexts| most(&contexts));
    heaviest.map_or(place, |context| facts.places.place(context))
}

/// A place; or if it is in a library's code, where the program waits for the lock itself, unless it hardly
/// does: the library's threads do what the program asks them for. Otherwise what their acts have in common.
fn or_asked(
    facts: &Facts<'_>,
    place: Place,
    rows: &[&BlameRow],
    by_holder: &FxHashMap<ContextId, Ns>,
) -> Place {
    if place.context.is_some_and(|context| facts.places.is_written(context)) {
        return place;
    }
    let mut waits: FxHashMap<ContextId, Ns> = FxHashMap::default();
    for row in rows.iter().filter(|row| facts.places.is_written(row.context)) {
        *waits.entry(row.context).or_default() += Ns::of(row.ns);
    }
    let (written, all): (Ns, Ns) = (waits.values().sum(), rows.iter().map(|row| Ns::of(row.ns)).sum());
    let asked = match limits::WAITS_WRITTEN.holds(written / all.max(Ns::SHORTEST)) {
        true => facts.places.part(&waits, limits::PHASE_SHARE.value),
        false => facts.places.part(by_holder, limits::PHASE_SHARE.value),
    };
    asked.filter(|asked| asked.function.is_some()).unwrap_or(place)
}

/// Whether other programs had the processors for most of the time that the holders could have executed: how
/// long they hold the lock, and whether others then wait, depends on those.
fn are_displaced(facts: &Facts<'_>, rows: &[&BlameRow], checks: &mut Checks) -> bool {
    let holders = rows.iter().filter(|row| row.cause.kind == CauseKind::Holder);
    let holders: BTreeSet<LocationId> = holders.map(|row| row.cause.location).collect();
    let sum = |of: &dyn Fn(LocationId) -> Ns| holders.iter().map(|&id| of(id)).sum::<Ns>();
    let displaced = sum(&|id| facts.spent(id, &[Account::Preempted]));
    let share = displaced / (displaced + sum(&|id| facts.worked(id))).max(Ns::SHORTEST);
    let are_seldom = limits::HOLDERS_DISPLACED.holds(share);
    if are_seldom {
        checks.holds(&limits::HOLDERS_DISPLACED, share);
    }
    !are_seldom
}

/// The waits of threads, without the slots that were empty meanwhile.
fn waited(rows: &[&BlameRow]) -> Ns {
    rows.iter().filter(|row| !row.slots).map(|row| Ns::of(row.ns)).sum()
}

/// Processor time in functions that acquire and release locks, by where the program calls them.
struct Handling(FxHashMap<(Option<FunctionId>, Option<u32>), Vec<ContextId>>);

impl Handling {
    fn of(facts: &Facts<'_>) -> Handling {
        let overhead = Overhead::by(facts.profile, &facts.places);
        let mut at: FxHashMap<_, Vec<ContextId>> = FxHashMap::default();
        for context in (0..facts.cpu.len()).map(ContextId::from_index) {
            if facts.cpu[context.index()].is_positive() && overhead.has(context) {
                at.entry(facts.places.line_key(context)).or_default().push(context);
            }
        }
        Handling(at)
    }

    /// Of the lines where a lock is waited for and released.
    fn contexts(&self, facts: &Facts<'_>, rows: &[&BlameRow]) -> Vec<ContextId> {
        let mut lines: Vec<_> = (rows.iter())
            .flat_map(|row| [Some(row.context), row.cause.site, row.cause.section])
            .flatten()
            .map(|context| facts.places.line_key(context))
            .collect();
        lines.sort_unstable();
        lines.dedup();
        lines.iter().filter_map(|line| self.0.get(line)).flatten().copied().collect()
    }
}

/// By waiting location and place: how long by trying again and again, and how long blocked, ns.
struct Waits(Map<(LocationId, ContextId), (u64, u64)>);

impl Waits {
    fn of(facts: &Facts<'_>) -> Waits {
        let mut waits: Map<_, (u64, u64)> = Map::default();
        for calls in facts.calls.iter().filter(|calls| is_lock(calls.state)) {
            let (spinning_ns, blocked_ns) = waits.entry((calls.location, calls.context)).or_default();
            match facts.nature(calls.operation) {
                Some(Nature::Spin) => *spinning_ns += calls.time_ns,
                _ => *blocked_ns += calls.time_ns,
            }
        }
        Waits(waits)
    }

    /// How long these waits were by trying again and again.
    fn spinning(&self, rows: &[&BlameRow]) -> Ns {
        let of = |row: &BlameRow| match self.0.get(&(row.location, row.context)) {
            Some(&(spinning_ns, blocked_ns)) if spinning_ns > 0 => {
                Ns::of(row.ns) * (spinning_ns as f64 / (spinning_ns + blocked_ns) as f64)
            }
            _ => Ns::ZERO,
        };
        rows.iter().filter(|row| !row.slots).map(|row| of(row)).sum()
    }
}

/// A lock, and its cost.
struct OneLock<'f> {
    facts: &'f Facts<'f>,
    id: LockId,
    rows: Vec<&'f BlameRow>,
    lost: Ns,
    hand_over: Ns,
    /// The time waited for each holder.
    by_holder: FxHashMap<(LocationId, ContextId, Option<ContextId>), Ns>,
    /// The acts of all holders meanwhile, weighted by the time waited for each.
    sections: Sections,
    spinning: Ns,
    /// What of the waiting kept a processor: in a runtime that looks again and again, all of it.
    burned: Ns,
    /// Processor time of acquiring and releasing it, and its standard error.
    handling: (Ns, Ns),
}

impl<'f> OneLock<'f> {
    fn new(
        facts: &'f Facts<'f>,
        holders: &Holders,
        waits: &Waits,
        handling: &Handling,
        id: LockId,
        rows: Vec<&'f BlameRow>,
    ) -> OneLock<'f> {
        let time = |row: &BlameRow| Ns::of(row.ns);
        let mut by_holder: FxHashMap<(LocationId, ContextId, Option<ContextId>), Ns> = FxHashMap::default();
        for row in rows.iter().filter(|row| row.cause.kind == CauseKind::Holder) {
            let section = row.cause.section.unwrap_or(row.cause.context);
            let key = (row.cause.location, section, row.cause.site);
            *by_holder.entry(key).or_default() += time(row);
        }
        let mut sections = Sections::default();
        let mut known: Vec<_> = by_holder.keys().map(|&(location, context, _)| (location, context)).collect();
        known.sort_unstable();
        known.dedup();
        for of in known.iter().filter_map(|holder| holders.get(holder)) {
            sections.count += of.count;
            sections.held += of.held;
            for (mine, theirs) in [(&mut sections.io, &of.io), (&mut sections.passive, &of.passive)] {
                theirs.iter().for_each(|(&context, &time)| *mine.entry(context).or_default() += time);
            }
        }
        let handled = handling.contexts(facts, &rows);
        let handling_time = handled.iter().map(|&context| facts.cpu[context.index()]).sum();
        let hand_over = rows.iter().filter(|row| row.cause.kind == CauseKind::HandOver);
        let lost: Ns = rows.iter().map(|row| time(row)).sum();
        let spinning = waits.spinning(&rows);
        let process = rows.first().map(|row| facts.profile.locations[row.location].process);
        let kept = process.map_or(0.0, |process| spinning_share(facts, process));
        let kept = if limits::LOCK_SPINNING.holds(kept) { lost * kept } else { Ns::ZERO };
        OneLock {
            lost,
            hand_over: hand_over.map(|row| time(row)).sum(),
            spinning,
            burned: spinning.max(kept),
            handling: (handling_time, facts.error(handled)),
            facts,
            id,
            rows,
            by_holder,
            sections,
        }
    }

    fn finding(&self) -> Option<Finding> {
        let facts = self.facts;
        let mut checks = Checks::default();
        let (mean, sections) = self.mean_section();
        let is_hot =
            limits::HOT_HOLD_S.holds(mean) && limits::HOT_HOLDS.holds(self.sections.count.max(sections));
        // A short section that is entered all the time costs its entries, too, whichever thread waits.
        let (handling_time, error) = if is_hot { self.handling } else { (Ns::ZERO, Ns::ZERO) };
        let (lost, burned) = (self.lost + handling_time, self.burned + handling_time);
        if !facts.matters(&mut checks, lost, burned)
            || !checks.holds(&limits::LOCK_HOLDS, self.sections.count)
        {
            return None;
        }
        let held = self.sections.held.max(Ns::SHORTEST);
        let io: Ns = self.sections.io.values().sum();
        let passive: Ns = self.sections.passive.values().sum();
        let (waiters, share) = self.waiters();
        let all = self.lost.max(Ns::SHORTEST);
        // Failed comparisons of one kind are no reason for the next.
        let mut try_kind = |holds: &dyn Fn(&mut Checks) -> bool| {
            let mut tried = checks.clone();
            let found = holds(&mut tried);
            if found {
                checks = tried;
            }
            found
        };
        let kind = if try_kind(&|c| c.holds(&limits::LOCK_IN_IO, io / held)) {
            Kind::LockAcrossIo
        } else if try_kind(&|c| c.holds(&limits::LOCK_IN_SLEEP, passive / held)) {
            Kind::LockAcrossSleep
        } else if try_kind(&|c| c.holds(&limits::LOCK_SPINNING, self.spinning / all)) {
            Kind::LockSpin
        } else if try_kind(&|c| {
            c.holds(&limits::HOT_HOLD_S, mean)
                && c.holds(&limits::HOT_HOLDS, self.sections.count.max(sections))
        }) {
            Kind::HotSection
        } else if try_kind(&|c| {
            c.holds(&limits::CONVOY_WAITERS, waiters) && c.holds(&limits::CONVOY_SHARE, share)
        }) {
            Kind::Convoy
        } else {
            Kind::LongSection
        };
        let worst = match kind {
            Kind::LockAcrossIo => most(&self.sections.io),
            Kind::LockAcrossSleep => most(&self.sections.passive),
            _ => None,
        };
        let cause = worst.or_else(|| self.worst_holder())?;
        let library = self.library();
        let kind = if library.is_some() { Kind::LibraryLock } else { kind };
        let (lost, burned) = match kind {
            Kind::HotSection => (lost, burned),
            _ => (self.lost, self.burned),
        };
        let holders = self.by_holder.keys().map(|(location, ..)| *location);
        let place = or_executed(facts, facts.places.place(cause), &self.rows);
        let cause = facts.located(place, holders);
        let mut finding = facts.finding(kind, Account::Lock, lost, burned, cause);
        finding.library = library;
        if kind == Kind::HotSection {
            finding.error = error;
        }
        let waits = self.rows.iter().map(|row| (row.location, row.context, Ns::of(row.ns)));
        finding.victims = facts.victims(waits);
        finding.evidence = vec![
            Figure::time(FigureId::WaitedForLock, waited(&self.rows)),
            Figure::count(FigureId::SectionsWithWaiters, sections),
            Figure::time(FigureId::MeanSection, mean),
            Figure::count(FigureId::WaitersAtOnce, waiters),
            Figure::share(FigureId::ShareOfRunWaited, share),
            Figure::time(FigureId::OfWaitingHandOver, self.hand_over),
        ];
        match kind {
            Kind::LockAcrossIo => finding.evidence.push(Figure::share(FigureId::ShareHeldInIo, io / held)),
            Kind::LockAcrossSleep => {
                finding.evidence.push(Figure::share(FigureId::ShareHeldAsleep, passive / held));
            }
            Kind::LockSpin => finding.evidence.push(Figure::time(FigureId::OfWaitingTrying, burned)),
            Kind::HotSection => finding.evidence.push(Figure::time(FigureId::CpuOfLocking, handling_time)),
            _ => {}
        }
        finding.sure = match kind {
            Kind::LockAcrossSleep if self.is_gate() => Sure::Possible,
            // Who waits for a device or sleeps meanwhile needs no processor.
            _ if !matches!(kind, Kind::LockAcrossIo | Kind::LockAcrossSleep)
                && are_displaced(facts, &self.rows, &mut checks) =>
            {
                Sure::Possible
            }
            _ if self.hand_over > self.lost * 0.5 || handling_time > self.lost => Sure::Likely,
            _ => Sure::Certain,
        };
        finding.checks = checks.kept();
        finding.lock = Some(self.id);
        Some(finding)
    }

    /// How long a section of this lock is on average, and how many ended while others waited: the same as
    /// on the page `locks`.
    fn mean_section(&self) -> (Ns, f64) {
        match self.facts.lock(self.id) {
            Some(lock) if lock.holds > 0 => (Ns::of(lock.held_ns) / lock.holds as f64, lock.holds as f64),
            _ => (self.sections.held / self.sections.count.max(1.0), self.sections.count.round()),
        }
    }

    /// The library whose own lock it is, by where most is waited.
    fn library(&self) -> Option<String> {
        let worst = self.rows.iter().max_by_key(|row| row.ns)?;
        libraries::with_a_lock(self.facts, worst.context).map(str::to_owned)
    }

    /// Whether the waiting threads never hold it while others wait: they wait there for a signal to continue,
    /// or are parked.
    fn is_gate(&self) -> bool {
        let holders: BTreeSet<LocationId> = self.by_holder.keys().map(|(location, ..)| *location).collect();
        self.rows.iter().all(|row| !holders.contains(&row.location))
    }

    /// Where holders got it, or, where that is not known, let it go, for which most was waited.
    fn worst_holder(&self) -> Option<ContextId> {
        let mut by_context: FxHashMap<ContextId, Ns> = FxHashMap::default();
        for (&(_, context, site), &time) in &self.by_holder {
            // In a library the call path of the section leads to the program, and the bare site does not.
            let site = site.filter(|&site| self.facts.places.start(site).is_some());
            *by_context.entry(site.unwrap_or(context)).or_default() += time;
        }
        let by_line = |context: ContextId| self.facts.places.line_key(context);
        let mut by_place: FxHashMap<_, (Ns, ContextId)> = FxHashMap::default();
        for (&context, &time) in &by_context {
            let sum = by_place.entry(by_line(context)).or_insert((Ns::ZERO, context));
            (sum.0, sum.1) = (sum.0 + time, sum.1.min(context));
        }
        by_place.into_values().max_by(|a, b| a.0.cmp(&b.0).then(b.1.cmp(&a.1))).map(|(_, context)| context)
    }

    /// How many waited at once, on average while any did, and for which part of the run any did.
    fn waiters(&self) -> (f64, f64) {
        let queue = self.facts.queues.of_lock(self.id);
        let share = Ns::of(queue.any_ns) / self.facts.wall.max(Ns::SHORTEST);
        (if queue.any_ns > 0 { queue.waited_ns as f64 / queue.any_ns as f64 } else { 1.0 }, share)
    }
}

fn is_lock(state: State) -> bool {
    matches!(state, State::Waiting(Wait::Lock) | State::Polling(Wait::Lock))
}

/// The context with the most.
fn most(times: &FxHashMap<ContextId, Ns>) -> Option<ContextId> {
    let most = times.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)));
    most.map(|(&context, _)| context)
}
