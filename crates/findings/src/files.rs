//! Files that are opened and closed again and again.
//!
//! Which file is opened is not known: a program that reads ten thousand files has to open them. A finding of
//! this kind is possible at most.

use proust_profile::{ContextId, FunctionId, LocationId, Nature, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// Operations that open a file or a directory.
const OPENERS: [&str; 6] = ["open", "openat", "creat", "fopen", "freopen", "opendir"];
/// Operations that close one.
const CLOSERS: [&str; 3] = ["close", "fclose", "closedir"];

/// What one function opens and closes.
#[derive(Default)]
struct Handled {
    opens: u64,
    time: Ns,
    by_context: FxHashMap<(LocationId, ContextId), Ns>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut by_function: FxHashMap<Option<FunctionId>, Handled> = FxHashMap::default();
    for call in &facts.calls {
        let is_managed = facts.nature(call.operation) == Some(Nature::Manage);
        let name = facts.profile.operations[call.operation].name.as_str();
        let is_opener = OPENERS.contains(&name);
        if is_managed && (is_opener || CLOSERS.contains(&name)) {
            let sum = by_function.entry(facts.places.function(call.context)).or_default();
            sum.opens += if is_opener { call.calls } else { 0 };
            sum.time += Ns::of(call.time_ns);
            *sum.by_context.entry((call.location, call.context)).or_default() += Ns::of(call.time_ns);
        }
    }
    by_function.into_values().filter_map(|handled| churn(facts, &handled)).collect()
}

fn churn(facts: &Facts<'_>, handled: &Handled) -> Option<Finding> {
    let booked = facts.ledger.spent.iter().filter(|row| {
        row.account == Account::Io && handled.by_context.contains_key(&(row.location, row.context))
    });
    // What a thread queues for a processor meanwhile is not the file's.
    let lost = handled.time.min(booked.map(|row| Ns::of(row.ns)).sum());
    let mut checks = Checks::default();
    if !checks.holds(&limits::FILE_OPENS, handled.opens as f64) || !facts.matters(&mut checks, lost, lost) {
        return None;
    }
    let most = handled.by_context.iter().max_by_key(|&(&(_, context), &time)| (time, context))?;
    let locations = handled.by_context.keys().map(|(location, _)| *location);
    let cause = facts.located(facts.places.place(most.0.1), locations);
    let mut finding = facts.finding(Kind::FileChurn, Account::Io, lost, lost, cause);
    let places = handled.by_context.iter();
    finding.victims = facts.victims(places.map(|(&(location, context), &time)| (location, context, time)));
    finding.evidence = vec![
        Figure::count(FigureId::FilesOpened, handled.opens as f64),
        Figure::time(FigureId::OpeningAndClosing, handled.time / handled.opens.max(1) as f64),
        Figure::time(FigureId::InAll, handled.time),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
