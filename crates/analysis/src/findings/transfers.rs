//! I/O: calls that move a few bytes, and files that are synchronised all the time.

use std::collections::HashMap;

use proust_log::operations::{Nature, Operation};
use proust_profile::{ContextId, FunctionId, LocationId};

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use crate::ledger::Account;

/// What a call moves at least that costs hardly more than its bytes do.
const GOOD_BYTES: f64 = 65_536.0;

/// AtPlace at a place.
#[derive(Clone, Debug, Default)]
struct AtPlace {
    calls: f64,
    bytes: f64,
    time_s: f64,
    context: ContextId,
    by_context: HashMap<(LocationId, ContextId), f64>,
}

/// By place, and whether it is synchronisation.
fn calls(facts: &Facts<'_>) -> HashMap<(Option<FunctionId>, Option<u32>, bool), AtPlace> {
    let mut by_place: HashMap<_, AtPlace> = HashMap::new();
    for calls in &facts.calls {
        let is_sync = facts.operation(calls.operation).is_some_and(synchronises);
        if !is_sync && !matches!(facts.nature(calls.operation), Some(Nature::Read | Nature::Write)) {
            continue;
        }
        let (function, line) = facts.places.line_key(calls.context);
        let sum = by_place
            .entry((function, line, is_sync))
            .or_insert_with(|| AtPlace { context: calls.context, ..AtPlace::default() });
        let time_s = calls.time_ns as f64 / 1e9;
        sum.calls += calls.calls as f64;
        sum.bytes += calls.bytes as f64;
        sum.time_s += time_s;
        *sum.by_context.entry((calls.location, calls.context)).or_default() += time_s;
    }
    by_place
}

fn synchronises(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::Synchronise
            | O::SynchroniseData
            | O::SynchroniseRange
            | O::SynchroniseFileSystem
            | O::SynchroniseAll
            | O::SynchroniseMemory
    )
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut io_s: HashMap<(LocationId, ContextId), f64> = HashMap::new();
    for row in facts.ledger.spent.iter().filter(|row| row.account == Account::Io) {
        *io_s.entry((row.location, row.context)).or_default() += row.ns as f64 / 1e9;
    }
    (calls(facts).into_iter())
        .filter_map(|((_, _, is_sync), sum)| match is_sync {
            true => sync_storm(facts, &sum),
            false => tiny_io(facts, &sum, &io_s),
        })
        .collect()
}

fn tiny_io(
    facts: &Facts<'_>,
    sum: &AtPlace,
    io_s: &HashMap<(LocationId, ContextId), f64>,
) -> Option<Finding> {
    let (bytes, call_s) = (sum.bytes / sum.calls.max(1.0), sum.time_s / sum.calls.max(1.0));
    // What a pipe or socket had to wait for is nobody's fault here.
    let booked_s: f64 = sum.by_context.keys().filter_map(|key| io_s.get(key)).sum();
    let lost_s = sum.time_s.min(booked_s) * (1.0 - (bytes / GOOD_BYTES).min(1.0));
    let mut checks = Checks::default();
    if !checks.holds(&limits::TINY_CALLS, sum.calls)
        || !checks.holds(&limits::SOME_BYTES, bytes)
        || !checks.holds(&limits::TINY_BYTES, bytes)
        || !checks.holds(&limits::TINY_CALL_S, call_s)
        || !facts.matters(&mut checks, lost_s, lost_s)
    {
        return None;
    }
    let place = facts.places.place(sum.context);
    let mut finding = facts.finding(Kind::TinyIo, Account::Io, lost_s, lost_s, place);
    finding.victims = victims(facts, sum);
    finding.evidence = vec![
        Figure::count("calls", sum.calls),
        Figure::new("moved by a call", bytes, "bytes"),
        Figure::seconds("a call takes", call_s),
        Figure::seconds("all of them", sum.time_s),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}

fn sync_storm(facts: &Facts<'_>, sum: &AtPlace) -> Option<Finding> {
    // One at the end is needed to be safe.
    let lost_s = sum.time_s * (1.0 - 1.0 / sum.calls.max(1.0));
    let mut checks = Checks::default();
    if !checks.holds(&limits::SYNC_CALLS, sum.calls) || !facts.matters(&mut checks, lost_s, 0.0) {
        return None;
    }
    let mut finding =
        facts.finding(Kind::SyncStorm, Account::Io, lost_s, 0.0, facts.places.place(sum.context));
    finding.victims = victims(facts, sum);
    finding.evidence = vec![
        Figure::count("times that a file was synchronised", sum.calls),
        Figure::seconds("each of them, on average", sum.time_s / sum.calls.max(1.0)),
        Figure::seconds("all of them", sum.time_s),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}

fn victims(facts: &Facts<'_>, sum: &AtPlace) -> Vec<super::finding::Victim> {
    facts.victims(sum.by_context.iter().map(|(&(location, context), &s)| (location, context, s)))
}
