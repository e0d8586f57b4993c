//! Whose a loss is: the processes of each finding; and one finding for processes that lose alike, so that a
//! build of hundreds of compilers is told once.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{LocationId, Metric, ProcessId};

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind};

/// The processes that a finding is about: those that its kind knows, or those that executed its cause.
pub(super) fn of(facts: &Facts<'_>, finding: &Finding) -> Vec<ProcessId> {
    let profile = facts.profile;
    if profile.processes.len() == 1 {
        return vec![ProcessId(0)];
    }
    if !finding.cause.processes.is_empty() {
        return finding.cause.processes.clone();
    }
    let process_of = |location: LocationId| profile.locations[location].process;
    let mut processes: BTreeSet<ProcessId> = BTreeSet::new();
    match finding.cause.context {
        Some(root) => {
            // A context has a larger number than its parent.
            let mut is_below = vec![false; profile.contexts.len()];
            for (id, context) in profile.contexts.iter_enumerated().skip(root.index()) {
                is_below[id.index()] =
                    id == root || context.parent.is_some_and(|parent| is_below[parent.index()]);
            }
            let spent = profile.values.iter().filter(|value| value.metric == Metric::Cpu);
            let spent = spent.map(|value| (value.context, value.location));
            let called = facts.calls.iter().map(|call| (call.context, call.location));
            processes.extend(
                spent
                    .chain(called)
                    .filter(|(context, _)| is_below[context.index()])
                    .map(|(_, location)| process_of(location)),
            );
        }
        None => {
            processes.extend(finding.victims.iter().flat_map(|victim| &victim.place.processes));
        }
    }
    processes.into_iter().collect()
}

/// Whether a kind looks at all processes of a run together.
fn is_of_all(kind: Kind) -> bool {
    let is_of_run = matches!(
        kind,
        Kind::Oversubscription
            | Kind::MpiLateSender
            | Kind::MpiLateReceiver
            | Kind::MpiImbalance
            | Kind::MpiSerialPhase
            | Kind::MpiSerialChain
            | Kind::MpiSmallMessages
            | Kind::MpiGroupableCollectives
            | Kind::MpiRepeatedSetup
            | Kind::MpiIdleRank
            | Kind::MpiSmallAccesses
            | Kind::MpiMuchData
            | Kind::MpiPolls
            | Kind::MpiWrongOrder
    );
    is_of_run || kind.is_of_interval()
}

/// The findings, those of one kind and one place in several processes of a program as one.
pub(super) fn merged(facts: &Facts<'_>, found: Vec<Finding>) -> Vec<Finding> {
    if facts.profile.processes.len() < 2 {
        return found;
    }
    type Key = (Kind, Option<String>, Option<String>, Option<u32>, Option<String>, Vec<String>);
    let mut alike: BTreeMap<Key, Vec<Finding>> = BTreeMap::new();
    let mut apart = Vec::new();
    for mut finding in found {
        if is_of_all(finding.kind) {
            apart.push(finding);
            continue;
        }
        finding.cause.processes = of(facts, &finding);
        let name = |&id: &ProcessId| facts.profile.processes[id].name.clone();
        let programs: BTreeSet<String> = finding.cause.processes.iter().map(name).collect();
        let cause = &finding.cause;
        let whose = cause.thread.clone().filter(|_| cause.function.is_none());
        let programs = programs.into_iter().collect();
        let key = (finding.kind, cause.function.clone(), cause.file.clone(), cause.line, whose, programs);
        alike.entry(key).or_default().push(finding);
    }
    for same in alike.into_values() {
        // Two losses in one process are two, whatever the process.
        let mut seen = BTreeSet::new();
        let is_apart = same.iter().flat_map(|one| &one.cause.processes).all(|&id| seen.insert(id));
        match is_apart {
            true => apart.extend(one(facts, same)),
            false => apart.extend(same),
        }
    }
    apart
}

/// Findings of several processes as one: that of the process that loses most, with the sums.
fn one(facts: &Facts<'_>, mut same: Vec<Finding>) -> Option<Finding> {
    same.sort_by_key(|finding| Reverse(finding.lost));
    let count = same.len();
    let mut same = same.into_iter();
    let mut sum = same.next()?;
    if count == 1 {
        return Some(sum);
    }
    let most = sum.lost;
    for other in same {
        sum.lost += other.lost;
        sum.burned += other.burned;
        sum.beside += other.beside;
        sum.error = sum.error.hypot(other.error);
        sum.sure = sum.sure.max(other.sure);
        sum.cause.processes.extend(other.cause.processes);
        for victim in other.victims {
            let known = sum.victims.iter_mut().find(|known| {
                known.place.function == victim.place.function && known.place.line == victim.place.line
            });
            match known {
                Some(known) => {
                    known.threads += victim.threads;
                    known.lost += victim.lost;
                    known.place.processes.extend(victim.place.processes);
                }
                None => sum.victims.push(victim),
            }
        }
    }
    sum.cause.processes.sort_unstable();
    sum.victims.sort_by_key(|victim| Reverse(victim.lost));
    sum.victims.truncate(super::facts::VICTIMS);
    sum.recoverable = facts.recoverable(sum.lost, sum.burned);
    sum.evidence.splice(
        0..0,
        [Figure::count(FigureId::ProcessesThatLose, count as f64), Figure::time(FigureId::LostInWorst, most)],
    );
    Some(sum)
}
