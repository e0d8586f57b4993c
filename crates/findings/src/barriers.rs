//! Barriers at which all wait for the one that has more to do.
//!
//! What it has more to do than the others, since all of them synchronised before, is known by its blame; a
//! location that arrives late because it had no processor has not more to do, and is charged by another kind
//! of cause.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, LocationId, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::blame::{BlameRow, CauseKind};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_place: BTreeMap<_, Vec<&BlameRow>> = BTreeMap::new();
    for row in facts.blame.rows.iter().filter(|row| row.account == Account::Barrier) {
        by_place.entry(facts.places.line_key(row.context)).or_default().push(row);
    }
    by_place.into_values().filter_map(|rows| late_thread(facts, &rows)).collect()
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
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, waited, Ns::ZERO) {
        return None;
    }
    let places: BTreeSet<(LocationId, ContextId)> =
        rows.iter().map(|row| (row.location, row.context)).collect();
    let times: u64 = (facts.calls.iter())
        .filter(|sum| places.contains(&(sum.location, sum.context)))
        .map(|sum| sum.calls)
        .sum();
    if !checks.holds(&limits::LATE_TIMES, times as f64)
        || !checks.holds(&limits::LATE_SHARE, waited / all.max(Ns::SHORTEST))
        || !checks.holds(&limits::LATE_EXCESS, waited / (waited + displaced))
    {
        return None;
    }
    let cause = facts.places.part(&contexts, limits::PHASE_SHARE.value)?;
    let cause = facts.located(cause, [late]);
    let mut finding = facts.finding(Kind::LateThread, Account::Barrier, waited, Ns::ZERO, cause);
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
    // Someone is last at every barrier, and often it is the one that opens the regions.
    let share = waited / facts.total.max(Ns::SHORTEST);
    let is_sure = !is_handed_out
        && limits::LARGE_SHARE.holds(share)
        && limits::LATE_SURE.holds(excess)
        && limits::LATE_QUEUED.holds(queued);
    if is_sure {
        checks.holds(&limits::LARGE_SHARE, share);
        checks.holds(&limits::LATE_SURE, excess);
        checks.holds(&limits::LATE_QUEUED, queued);
    }
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}
