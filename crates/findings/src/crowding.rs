//! More threads that want to run than processors.

use proust_profile::{FunctionId, Metric, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure, Victim};
use super::place::Place;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    oversubscription(facts).into_iter().collect()
}

fn oversubscription(facts: &Facts<'_>) -> Option<Finding> {
    let lost = Ns::of(facts.ledger.with_beyond_ns(Account::Oversubscribed));
    let crowd = f64::from(facts.ledger.active) / facts.available.max(1.0);
    let mut checks = Checks::default();
    if !checks.holds(&limits::LEAST_TOTAL_S, facts.total)
        || !checks.holds(&limits::CROWD_SHARE, lost / facts.total.max(Ns::SHORTEST))
        || !checks.holds(&limits::CROWD_THREADS, crowd)
    {
        return None;
    }
    // The threads that were in the run queue most, by their start function.
    let mut by_start: FxHashMap<Option<FunctionId>, (Ns, usize)> = FxHashMap::default();
    for row in facts.ledger.locations.iter().filter(|row| row.charged) {
        let queued = Ns::of(row.accounts[Account::Oversubscribed]);
        if queued.is_positive() {
            let sum = by_start.entry(facts.starts[row.location.index()]).or_default();
            (sum.0, sum.1) = (sum.0 + queued, sum.1 + 1);
        }
    }
    let (&start, &(queued, threads)) = by_start.iter().max_by(|a, b| a.1.0.cmp(&b.1.0).then(b.0.cmp(a.0)))?;
    let of_start = facts.ledger.locations.iter().map(|row| row.location);
    let of_start = of_start.filter(|&id| facts.starts[id.index()] == start && facts.queued(id).is_positive());
    let place = start.map_or_else(Place::default, |start| facts.places.declared(start));
    let place = facts.located(place, of_start);
    let switches: u64 = (facts.profile.values.iter())
        .filter(|value| value.metric == Metric::InvoluntarySwitches)
        .map(|value| value.amount)
        .sum();
    let mut finding =
        facts.finding(Kind::Oversubscription, Account::Oversubscribed, lost, Ns::ZERO, place.clone());
    finding.victims = vec![Victim { place, threads, lost: queued }];
    finding.evidence = vec![
        Figure::count(FigureId::ThreadsActive, f64::from(facts.ledger.active)),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
        Figure::time(FigureId::Runnable, lost),
        Figure::count(FigureId::Preemptions, switches as f64),
    ];
    // The same work takes as long on the same processors, whichever thread does it.
    finding.recoverable = Ns::ZERO;
    // Where others have the processors for longer, threads that would be done at once queue, too.
    let by_others = Ns::of(facts.ledger.with_beyond_ns(Account::Preempted));
    finding.sure = if lost >= by_others { Sure::Certain } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}
