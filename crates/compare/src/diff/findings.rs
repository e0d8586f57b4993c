//! Findings before and after.

use std::collections::BTreeMap;

use super::super::disturbance::Disturbance;
use super::super::names::{base_name, stable};
use super::super::run::ComparedRun;
use proust_findings::{Finding, Kind};
use proust_profile::Ns;
use proust_statistics::{Change, Matters, Observation, change};

/// A finding that a side, or both, have.
#[derive(Clone, Debug)]
pub struct FindingChange {
    /// What sort of loss it is.
    pub kind: Kind,
    /// As in the last run of A that has it, with the number of the run in A and its rank there, from 0 on.
    pub a: Option<(Finding, usize, usize)>,
    /// The same of B.
    pub b: Option<(Finding, usize, usize)>,
    /// What could be won by repairing it, s; 0 in runs that do not have it.
    pub recoverable: Change,
    /// What was lost, s; 0 in runs that do not have it.
    pub lost: Change,
}

/// What is the same finding in several runs: kind, function, its file; and which of several in the order of
/// their lines.
type Key = (Kind, String, String, usize);

/// A finding of a run, with the number of the run and its rank there.
type Found<'r> = (usize, usize, &'r Finding);

fn keyed(runs: &[ComparedRun]) -> BTreeMap<Key, Vec<Found<'_>>> {
    let mut keyed: BTreeMap<Key, Vec<Found<'_>>> = BTreeMap::new();
    for (number, run) in runs.iter().enumerate() {
        let mut order: Vec<usize> = (0..run.findings.len()).collect();
        order.sort_by_key(|&rank| (run.findings[rank].cause.line, rank));
        let mut seen: BTreeMap<Key, usize> = BTreeMap::new();
        for rank in order {
            let finding = &run.findings[rank];
            let function = finding.cause.function.as_deref().unwrap_or_default();
            let file = base_name(finding.cause.file.as_deref().unwrap_or_default());
            let key = (finding.kind, stable(function).0.to_owned(), file.to_owned(), 0);
            let nth = seen.entry(key.clone()).or_default();
            keyed.entry((key.0, key.1, key.2, *nth)).or_default().push((number, rank, finding));
            *nth += 1;
        }
    }
    keyed
}

/// The disturbances are those of the runs of A, and after them those of B.
pub(super) fn matched(
    a: &[ComparedRun],
    b: &[ComparedRun],
    disturbances: &[Disturbance],
    matters: &Matters,
) -> Vec<FindingChange> {
    let (by_a, by_b) = disturbances.split_at(a.len());
    let (mut of_a, mut of_b) = (keyed(a), keyed(b));
    let mut keys: Vec<Key> = of_a.keys().chain(of_b.keys()).cloned().collect();
    keys.sort();
    keys.dedup();
    let mut changes: Vec<FindingChange> = (keys.into_iter())
        .map(|key| {
            let (a_has, b_has) =
                (of_a.remove(&key).unwrap_or_default(), of_b.remove(&key).unwrap_or_default());
            let change = |time: fn(&Finding) -> Ns| {
                Change::of(&observed(by_a, &a_has, time), &observed(by_b, &b_has, time), matters)
            };
            FindingChange {
                kind: key.0,
                recoverable: change(|finding| finding.recoverable),
                lost: change(|finding| finding.lost),
                a: last(&a_has),
                b: last(&b_has),
            }
        })
        .collect();
    change::correct(changes.iter_mut().map(|change| &mut change.recoverable), matters);
    change::correct(changes.iter_mut().map(|change| &mut change.lost), matters);
    changes.sort_by(|x, y| {
        let size = |change: &FindingChange| change.recoverable.delta.abs().max(change.lost.delta.abs());
        size(y).total_cmp(&size(x)).then(x.kind.cmp(&y.kind))
    });
    changes
}

fn last(found: &[Found<'_>]) -> Option<(Finding, usize, usize)> {
    found.last().map(|&(run, rank, finding)| (finding.clone(), run, rank))
}

fn observed(by: &[Disturbance], found: &[Found<'_>], time: fn(&Finding) -> Ns) -> Vec<Observation> {
    let of_run = |(number, by): (usize, &Disturbance)| {
        let finding = found.iter().find(|found| found.0 == number).map(|found| found.2);
        let value = finding.map_or(Ns::ZERO, time).as_seconds();
        let error = finding.map_or(Ns::ZERO, |finding| finding.error).as_seconds();
        Observation { value, error, disturbed: by.of_waits(value) }
    };
    by.iter().enumerate().map(of_run).collect()
}
