//! Threads that are bound to fewer processors than they need, while others are empty.
//!
//! A thread's processors are those that it had at its end. Which call bound it is not known, so that the
//! cause is what the threads were started for.

use std::collections::BTreeMap;

use proust_profile::bindings::Bindings;
use proust_profile::{FunctionId, LocationId, Ns};

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure, Victim};
use super::place::Place;
use super::thresholds::Checks;
use proust_account::ledger::Account;

/// Threads with one set of processors.
struct Bound {
    threads: Vec<LocationId>,
    /// Of the set, in thousandths.
    processors_milli: u64,
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    bound_together(facts).into_iter().collect()
}

/// The sets with more threads than processors, which are a part of those of their process.
fn crowded(facts: &Facts<'_>) -> Vec<Bound> {
    let profile = facts.profile;
    let mut bindings = Bindings::of(&profile.processes.raw);
    let mut by_set: BTreeMap<usize, Bound> = BTreeMap::new();
    for row in facts.ledger.locations.iter().filter(|row| row.charged) {
        let location = &profile.locations[row.location];
        let process = location.process.index();
        let of_process = bindings.of_processes[process].map(|set| bindings.sets[set].capacity_milli());
        let bound = Some(&location.processors).filter(|processors| !processors.is_empty());
        let Some(set) = bound.and_then(|processors| bindings.of_location(process, processors)) else {
            continue;
        };
        let processors_milli = bindings.sets[set].capacity_milli();
        if of_process.is_some_and(|of_process| processors_milli < of_process) {
            let bound = by_set.entry(set).or_insert(Bound { threads: Vec::new(), processors_milli });
            bound.threads.push(row.location);
        }
    }
    let needs_more = |bound: &Bound| bound.threads.len() as u64 * 1000 > bound.processors_milli;
    by_set.into_values().filter(needs_more).collect()
}

fn bound_together(facts: &Facts<'_>) -> Option<Finding> {
    let sets = crowded(facts);
    let queued = |location: LocationId| facts.spent(location, &[Account::Oversubscribed]);
    let threads = || sets.iter().flat_map(|bound| bound.threads.iter().copied());
    let lost: Ns = threads().map(queued).sum();
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, Ns::ZERO) {
        return None;
    }
    let mut by_start: BTreeMap<Option<FunctionId>, (Ns, usize)> = BTreeMap::new();
    for id in threads().filter(|&id| queued(id).is_positive()) {
        let sum = by_start.entry(facts.starts[id.index()]).or_default();
        (sum.0, sum.1) = (sum.0 + queued(id), sum.1 + 1);
    }
    let (&start, &(of_start, count)) = by_start.iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then(b.0.cmp(a.0)))?;
    let place = start.map_or_else(Place::default, |start| facts.places.declared(start));
    let place = facts.located(place, threads().filter(|&id| facts.starts[id.index()] == start));
    let mut finding =
        facts.finding(Kind::BoundTogether, Account::Oversubscribed, lost, Ns::ZERO, place.clone());
    finding.victims = vec![Victim { place, threads: count, lost: of_start }];
    let processors: u64 = sets.iter().map(|bound| bound.processors_milli).sum();
    finding.evidence = vec![
        Figure::count(FigureId::ThreadsBound, threads().count() as f64),
        Figure::count(FigureId::ProcessorsBoundTo, processors as f64 / 1000.0),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
        Figure::time(FigureId::Runnable, lost),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}
