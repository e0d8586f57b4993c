//! More threads that want to run than processors.

use proust_profile::{FunctionId, Metric};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure, Victim};
use super::place::Place;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    oversubscription(facts).into_iter().collect()
}

fn oversubscription(facts: &Facts<'_>) -> Option<Finding> {
    let lost_s = facts.ledger.with_beyond_ns(Account::Oversubscribed) as f64 / 1e9;
    let crowd = f64::from(facts.ledger.active) / facts.available.max(1.0);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total_s)
        || !checks.holds(&limits::CROWD_SHARE, lost_s / facts.total_s.max(f64::MIN_POSITIVE))
        || !checks.holds(&limits::CROWD_THREADS, crowd)
    {
        return None;
    }
    // The threads that were in the run queue most, by their start function.
    let mut by_start: FxHashMap<Option<FunctionId>, (f64, usize)> = FxHashMap::default();
    for row in facts.ledger.locations.iter().filter(|row| row.charged) {
        let queued_s = row.accounts[Account::Oversubscribed] as f64 / 1e9;
        if queued_s > 0.0 {
            let sum = by_start.entry(facts.starts[row.location.index()]).or_default();
            (sum.0, sum.1) = (sum.0 + queued_s, sum.1 + 1);
        }
    }
    let (&start, &(queued_s, threads)) =
        by_start.iter().max_by(|a, b| a.1.0.total_cmp(&b.1.0).then(b.0.cmp(a.0)))?;
    let of_start = facts.ledger.locations.iter().map(|row| row.location);
    let of_start = of_start.filter(|&id| facts.starts[id.index()] == start && facts.queued_s(id) > 0.0);
    let place = start.map_or_else(Place::default, |start| facts.places.declared(start));
    let place = facts.located(place, of_start);
    let switches: f64 = (facts.profile.values.iter())
        .filter(|value| value.metric == Metric::InvoluntarySwitches)
        .map(|value| value.amount)
        .sum();
    let mut finding =
        facts.finding(Kind::Oversubscription, Account::Oversubscribed, lost_s, 0.0, place.clone());
    finding.victims = vec![Victim { place, threads, seconds: queued_s }];
    finding.evidence = vec![
        Figure::count("threads active at once", f64::from(facts.ledger.active)),
        Figure::count("processors available", facts.available),
        Figure::seconds("runnable, without a processor", lost_s),
        Figure::count("times that a thread lost its processor to another", switches),
    ];
    // The same work takes as long on the same processors, whichever thread does it.
    finding.recoverable_s = 0.0;
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}
