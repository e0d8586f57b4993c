//! Threads that work, and sleep for a time again and again while processors are empty.
//!
//! Why they do is not known: they may look whether there is something to do, wait until a rate is kept, or
//! back off from a lock. A thread that hardly does anything else is a clock, and no loss. What was lost while
//! no thread did anything is another kind's (`polls`).

use std::collections::BTreeMap;

use proust_profile::{ContextId, LocationId, Nature, Ns};

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// The sleeps of one place.
#[derive(Default)]
struct Slept {
    sleeps: u64,
    time: Ns,
    places: Vec<(LocationId, ContextId, Ns)>,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut still = facts.stretches.asleep.clone();
    let works = |location: LocationId| {
        let of = &facts.profile.locations[location];
        let life = of.end - of.start - facts.queued(location);
        limits::SLEEPER_WORK.holds(facts.worked(location) / life.max(Ns::SHORTEST))
    };
    let mut by_place: BTreeMap<_, Slept> = BTreeMap::new();
    for call in facts.calls.iter().filter(|call| facts.nature(call.operation) == Some(Nature::Sleep)) {
        if !works(call.location) {
            continue;
        }
        let at = (call.location, call.context);
        let beside = (Ns::of(call.time_ns) - still.remove(&at).unwrap_or_default()).max(Ns::ZERO);
        let sum = by_place.entry(facts.places.line_key(call.context)).or_default();
        sum.sleeps += call.calls;
        sum.time += beside;
        sum.places.push((call.location, call.context, beside));
    }
    let empty_ns = facts.ledger.accounts[Account::Serial] + facts.ledger.accounts[Account::Narrow];
    let most = by_place.into_values().max_by(|a, b| a.time.cmp(&b.time));
    most.and_then(|slept| asleep(facts, &slept, Ns::of(empty_ns))).into_iter().collect()
}

fn asleep(facts: &Facts<'_>, slept: &Slept, empty: Ns) -> Option<Finding> {
    let lost = slept.time.min(empty);
    let mut checks = Checks::default();
    if !checks.holds(&limits::SLEEPS_BESIDE, slept.sleeps as f64)
        || !checks.holds(&limits::SLEEP_SHARE, lost / facts.total.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, Ns::ZERO)
    {
        return None;
    }
    let context = slept.places.iter().max_by_key(|&&(_, context, time)| (time, context))?.1;
    let cause = facts.located(facts.places.place(context), slept.places.iter().map(|place| place.0));
    let mut finding = facts.finding(Kind::SleepingWorker, Account::Serial, lost, Ns::ZERO, cause);
    finding.evidence = vec![
        Figure::count(FigureId::Sleeps, slept.sleeps as f64),
        Figure::time(FigureId::SleptBesideWork, slept.time),
        Figure::time(FigureId::EmptyMeanwhile, empty),
    ];
    finding.victims = facts.victims(slept.places.iter().copied());
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
