//! Serial phases of ranks: one rank does in long parts of the critical path what no other rank does, and the
//! others wait for it. Chance, or a lack of processors, makes a rank late in what the others do as well; it
//! gives none a function of its own. So once is enough.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::ledger::Account;
use proust_profile::{FunctionId, LocationId, Ns};
use proust_query::mpi::critical_path::PathSum;

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::groups::{Groups, Late};
use super::path::{OnPath, most, ns};
use super::ranks;

/// Takes the causes of waits that are serial phases out of those of late ranks.
pub(super) fn take(facts: &Facts<'_>, path: &OnPath, spinning: f64, groups: &mut Groups) -> Vec<Finding> {
    let functions: BTreeSet<Option<FunctionId>> = groups.keys().map(|&(_, function)| function).collect();
    let mut found = Vec::new();
    for function in functions {
        let Some(sum) = path.get(function) else { continue };
        let of_function = |(key, _): &(&(usize, Option<FunctionId>), &Late)| key.1 == function;
        let mut late = Late::default();
        groups.iter().filter(of_function).for_each(|(_, one)| late.add(one));
        if let Some(finding) = finding(facts, path, sum, &late, spinning) {
            found.push(finding);
            groups.retain(|key, _| key.1 != function);
        }
    }
    found
}

/// Whether a rank does this alone in parts that are long enough to be a phase.
pub(super) fn is_phase(checks: &mut Checks, sum: &PathSum) -> bool {
    checks.holds(&limits::LONG_STRETCH_S, ns(sum.on_path_ns / f64::from(sum.parts.max(1))))
        && checks.holds(&limits::MPI_ALONE_OTHERS, sum.others_ns / sum.on_path_ns.max(1.0))
}

/// What speaks for a phase beside what was lost.
pub(super) fn evidence(sum: &PathSum) -> [Figure; 3] {
    [
        Figure::time(FigureId::OnCriticalPath, ns(sum.on_path_ns)),
        Figure::count(FigureId::PartsOfPath, f64::from(sum.parts)),
        Figure::time(FigureId::MeanOfOtherRanks, ns(sum.others_ns)),
    ]
}

fn finding(facts: &Facts<'_>, path: &OnPath, sum: &PathSum, late: &Late, spinning: f64) -> Option<Finding> {
    let lost = late.lost();
    let burned = lost * spinning;
    let (rank, _) = sum.most;
    let by_rank = late.by_location.get(&rank).copied().unwrap_or_default();
    let others = ns(sum.on_path_ns) * (path.ranks - 1) as f64;
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, burned)
        || !is_phase(&mut checks, sum)
        || !checks.holds(&limits::MPI_ALONE_BY_ONE, by_rank / lost.max(Ns::SHORTEST))
        || !checks.holds(&limits::MPI_ALONE_WAITED, (lost + late.displaced) / others.max(Ns::SHORTEST))
        || !checks.holds(&limits::MPI_LATE_EXCESS, late.excess(facts))
    {
        return None;
    }
    let cause = facts.places.part(&late.contexts, limits::PHASE_SHARE.value)?;
    let cause = facts.located(cause, [rank]);
    let mut finding = facts.finding(Kind::MpiSerialPhase, Account::MpiPartner, lost, burned, cause);
    finding.victims = facts.victims(late.victims.iter().copied());
    let waited: BTreeSet<LocationId> = late.victims.iter().map(|&(location, ..)| location).collect();
    finding.evidence = vec![Figure::time(FigureId::WaitedForLateRanks, lost)];
    finding.evidence.extend(evidence(sum));
    finding.evidence.extend([
        Figure::count(FigureId::ThreadsThatWaited, waited.len() as f64),
        Figure::time(FigureId::WaitedForDisplaced, late.displaced),
    ]);
    finding.error = facts.error(late.contexts.keys().copied()).min(lost);
    finding.on_path = Some(most(sum));
    finding.ranks = ranks(facts, &BTreeMap::from([(rank, by_rank)])).0;
    let on_processor = late.on_processor();
    let is_sure = limits::MPI_LATE_SURE.holds(on_processor) && is_sure(facts, sum, lost, &mut checks);
    if is_sure {
        checks.holds(&limits::MPI_LATE_SURE, on_processor);
    }
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// Whether the loss is too large, and the rank was too seldom without a processor in these parts of the path,
/// for chance; kept among the checks if so.
pub(super) fn is_sure(facts: &Facts<'_>, sum: &PathSum, lost: Ns, checks: &mut Checks) -> bool {
    let queued = 1.0 - sum.active_ns / sum.on_path_ns.max(1.0);
    let sigmas = sum.on_path_ns / sum.error_ns.max(1.0);
    let part = lost / facts.total.max(Ns::SHORTEST);
    let holds = limits::MPI_LATE_QUEUED.holds(queued)
        && limits::SIGMAS.holds(sigmas)
        && limits::LARGE_SHARE.holds(part);
    if holds {
        checks.holds(&limits::MPI_LATE_QUEUED, queued);
        checks.holds(&limits::SIGMAS, sigmas);
        checks.holds(&limits::LARGE_SHARE, part);
    }
    holds
}
