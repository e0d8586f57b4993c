//! Time in calls of MPI.

use proust_account::ledger::Account;
use proust_profile::{ContextId, LocationId, Ns};
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::figure::Figure;
use super::super::finding::{Finding, Kind, Sure, Victim};
use super::super::thresholds::Checks;

/// Time in calls by location and place.
pub(super) type Spent = FxHashMap<(LocationId, ContextId), Ns>;

/// The places of it, most first.
pub(super) fn victims(facts: &Facts<'_>, spent: &Spent) -> Vec<Victim> {
    facts.victims(spent.iter().map(|(&(location, context), &time)| (location, context, time)))
}

/// A finding of all this time, at the line that has most of it. Whether the program could do with less is not
/// known: it is possible.
pub(super) fn possible(
    facts: &Facts<'_>,
    kind: Kind,
    spent: &Spent,
    evidence: Vec<Figure>,
    checks: Checks,
) -> Option<Finding> {
    let lost: Ns = spent.values().sum();
    let (_, context) = facts.heaviest_line(spent.iter().map(|(key, &time)| (key.1, time)))?;
    let cause = facts.located(facts.places.place(context), spent.keys().map(|key| key.0));
    let mut finding = facts.finding(kind, Account::MpiTransfer, lost, lost, cause);
    finding.victims = victims(facts, spent);
    finding.evidence = evidence;
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
