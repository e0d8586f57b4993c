//! Barriers at which all wait for the one that has more to do, or for what one of them does each time.
//!
//! What it has more to do than the others, since all of them synchronised before, is known by its blame; a
//! location that arrives late because it had no processor has not more to do, and is charged by another kind
//! of cause.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::openmp::spinning_share;
use super::thresholds::{self as limits, Checks};
use proust_account::blame::{BlameRow, CauseKind};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let at_barriers = || facts.blame.rows.iter().filter(|row| row.account == Account::Barrier);
    let mut waited: BTreeMap<_, Ns> = BTreeMap::new();
    let mut places: FxHashMap<ContextId, _> = FxHashMap::default();
    for row in at_barriers() {
        let place = places.entry(row.context).or_insert_with(|| meeting(facts, row.context));
        match waited.get_mut(place) {
            Some(sum) => *sum += Ns::of(row.ns),
            None => _ = waited.insert(place.clone(), Ns::of(row.ns)),
        }
    }
    // Most places of a large program are not worth a word, and have most of the rows.
    waited.retain(|_, ns| facts.matters(&mut Checks::default(), *ns, *ns));
    let mut by_place: BTreeMap<_, Vec<&BlameRow>> = BTreeMap::new();
    for row in at_barriers() {
        let place = &places[&row.context];
        if waited.contains_key(place) {
            by_place.entry(place).or_default().push(row);
        }
    }
    let late = |rows: Vec<&BlameRow>| late_thread(facts, &rows).or_else(|| late_work(facts, &rows));
    by_place.into_values().filter_map(late).collect()
}

/// Where threads meet: at a line of the source. At the end of a parallel region the one that opened it waits
/// in the function around it, and the others in one that a compiler made of the region.
fn meeting(facts: &Facts<'_>, context: ContextId) -> (Option<String>, Option<FunctionId>, Option<u32>) {
    let (function, line) = facts.places.line_key(context);
    match facts.places.place(context).file.filter(|_| line.is_some()) {
        Some(file) => (Some(file), None, line),
        None => (None, function, line),
    }
}

/// What of waiting at a barrier was on a processor, of the process of those who wait.
fn burned(facts: &Facts<'_>, rows: &[&BlameRow], waited: Ns) -> Ns {
    let process = rows.first().map(|row| facts.profile.locations[row.location].process);
    process.map_or(Ns::ZERO, |process| waited * spinning_share(facts, process))
}

/// What is waited at a barrier besides.
fn beside(rows: &[&BlameRow], waited: Ns) -> Ns {
    let all: Ns = rows.iter().map(|row| Ns::of(row.ns)).sum();
    (all - waited).max(Ns::ZERO)
}

/// The visits of a barrier by those who waited there.
fn visits(facts: &Facts<'_>, rows: &[&BlameRow]) -> u64 {
    let places: BTreeSet<(LocationId, ContextId)> =
        rows.iter().map(|row| (row.location, row.context)).collect();
    let there = facts.calls.iter().filter(|sum| places.contains(&(sum.location, sum.context)));
    there.map(|sum| sum.calls).sum()
}

/// Now one thread is late, now another: what they do while the others wait.
fn late_work(facts: &Facts<'_>, rows: &[&BlameRow]) -> Option<Finding> {
    let of = |kind: CauseKind| rows.iter().filter(move |row| row.cause.kind == kind);
    let sum = |kind: CauseKind| of(kind).map(|row| Ns::of(row.ns)).sum::<Ns>();
    let (waited, displaced) = (sum(CauseKind::Late), sum(CauseKind::Displaced));
    let burned = burned(facts, rows, waited);
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, waited, burned) {
        return None;
    }
    let times = visits(facts, rows);
    if !often(facts, &mut checks, times, waited)
        || !checks.holds(&limits::LATE_WORK, waited / facts.total.max(Ns::SHORTEST))
        || !checks.holds(&limits::LATE_EXCESS, waited / (waited + displaced).max(Ns::SHORTEST))
    {
        return None;
    }
    let mut contexts: FxHashMap<ContextId, Ns> = FxHashMap::default();
    let mut late: BTreeSet<LocationId> = BTreeSet::new();
    for row in of(CauseKind::Late) {
        *contexts.entry(row.cause.context).or_default() += Ns::of(row.ns);
        late.insert(row.cause.location);
    }
    let around = rows.first().and_then(|row| facts.places.function(row.context));
    let cause = around.and_then(|function| facts.places.line_of(&contexts, function));
    let cause = match cause {
        Some(cause) => cause,
        None => facts.places.part(&contexts, limits::PHASE_SHARE.value)?,
    };
    let cause = facts.located(cause, late.iter().copied());
    let mut finding = facts.finding(Kind::LateWork, Account::Barrier, waited, burned, cause);
    finding.beside = beside(rows, waited);
    let waits = of(CauseKind::Late).map(|row| (row.location, row.context, Ns::of(row.ns)));
    finding.victims = facts.victims(waits);
    finding.evidence = vec![
        Figure::time(FigureId::WaitedAtBarrier, rows.iter().map(|row| Ns::of(row.ns)).sum()),
        Figure::time(FigureId::OfThatLate, waited),
        Figure::count(FigureId::Waits, times as f64),
        Figure::count(FigureId::ThreadsLate, late.len() as f64),
        Figure::time(FigureId::WaitedWhileDisplaced, displaced),
    ];
    let share = one_worked(facts, rows);
    if share.is_some_and(|share| checks.holds(&limits::ONE_WORKED, share)) {
        finding.sure = Sure::Likely;
    } else {
        finding.sure = Sure::Possible;
    }
    finding.checks = checks.kept();
    Some(finding)
}

/// Whether a barrier was visited often enough for who is late to be no accident; one that is visited seldom,
/// if it is waited there for a considerable part of the run each time.
fn often(facts: &Facts<'_>, checks: &mut Checks, times: u64, waited: Ns) -> bool {
    let each = waited / times.max(1) as f64 / facts.wall.max(Ns::SHORTEST);
    if limits::LATE_TIMES.holds(times as f64) || !limits::LATE_ONCE.holds(each) {
        return checks.holds(&limits::LATE_TIMES, times as f64);
    }
    checks.holds(&limits::LATE_ONCE, each)
}

/// Of a barrier of OpenMP, the waiting as a part of what it would be if one thread did all the work before it
/// each time.
fn one_worked(facts: &Facts<'_>, rows: &[&BlameRow]) -> Option<f64> {
    let key = facts.places.line_key(rows.first()?.context);
    let is_here = |context| facts.places.line_key(context) == key;
    let segments = facts.profile.segments.iter().filter(|row| is_here(row.context));
    let (mut work_ns, mut waited_ns) = (0.0, 0.0);
    for row in segments {
        work_ns += row.work_ns as f64 * (f64::from(row.team_max) - 1.0).max(0.0);
        waited_ns += row.wait_ns.saturating_sub(row.latency_ns) as f64;
    }
    (work_ns > 0.0).then(|| waited_ns / work_ns)
}

fn late_thread(facts: &Facts<'_>, rows: &[&BlameRow]) -> Option<Finding> {
    let time = |row: &BlameRow| Ns::of(row.ns);
    let mut by_late: BTreeMap<LocationId, Ns> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.cause.kind == CauseKind::Late) {
        *by_late.entry(row.cause.location).or_default() += time(row);
    }
    let all: Ns = by_late.values().sum();
    let (&late, &waited) = by_late.iter().max_by(|a, b| a.1.cmp(b.1))?;
    let for_it: Vec<&&BlameRow> =
        rows.iter().filter(|row| row.cause.kind == CauseKind::Late && row.cause.location == late).collect();
    let early: BTreeSet<LocationId> = for_it.iter().map(|row| row.location).collect();
    let displaced: Ns = (rows.iter())
        .filter(|row| row.cause.kind == CauseKind::Displaced && row.cause.location == late)
        .map(|row| time(row))
        .sum();
    let mut contexts: FxHashMap<ContextId, Ns> = FxHashMap::default();
    for row in &for_it {
        *contexts.entry(row.cause.context).or_default() += time(row);
    }
    let burned = burned(facts, rows, waited);
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, waited, burned) {
        return None;
    }
    let times = visits(facts, rows);
    if !often(facts, &mut checks, times, waited)
        || !checks.holds(&limits::LATE_SHARE, waited / all.max(Ns::SHORTEST))
        || !checks.holds(&limits::LATE_EXCESS, waited / (waited + displaced))
    {
        return None;
    }
    let cause = facts.places.part(&contexts, limits::PHASE_SHARE.value)?;
    let cause = facts.located(cause, [late]);
    let mut finding = facts.finding(Kind::LateThread, Account::Barrier, waited, burned, cause);
    finding.beside = beside(rows, waited);
    let waits = for_it.iter().map(|row| (row.location, row.context, time(row)));
    finding.victims = facts.victims(waits);
    finding.evidence = vec![
        Figure::time(FigureId::WaitedAtBarrier, rows.iter().map(|row| time(row)).sum()),
        Figure::time(FigureId::OfItForThread, waited),
        Figure::count(FigureId::Waits, times as f64),
        Figure::count(FigureId::ThreadsThatWaitedForIt, early.len() as f64),
        Figure::time(FigureId::WaitedWhileDisplaced, displaced),
        Figure::time(FigureId::ThreadQueued, facts.queued(late)),
    ];
    // A thread that asks for more gets more: a thread that the others had to wait for may have been the only
    // one that had a processor.
    let is_handed_out =
        facts.regions.as_ref().is_some_and(|of| rows.iter().any(|row| of.is_handed_out(row.context)));
    // How long it had none is known from sample to sample, but not for each of many short waits.
    let (excess, queued) = (waited / (waited + displaced), facts.queued(late) / waited.max(Ns::SHORTEST));
    let is_sure = !is_handed_out
        && limits::LATE_TIMES.holds(times as f64)
        && limits::LATE_SURE.holds(excess)
        && limits::LATE_QUEUED.holds(queued);
    if is_sure {
        checks.holds(&limits::LATE_SURE, excess);
        checks.holds(&limits::LATE_QUEUED, queued);
    }
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}
