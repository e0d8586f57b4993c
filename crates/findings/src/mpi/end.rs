//! Waits in the end of MPI (`MPI_Finalize`) for the last rank to come there: what that one does meanwhile is
//! all that the critical path consists of. They are on the account of the runtime, whose blame ends there.

use std::collections::BTreeMap;

use proust_account::ledger::Account;
use proust_profile::{ContextId, Ns, SampleRow};
use proust_query::mpi::critical_path::PathSum;
use rustc_hash::FxHashMap;

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::alone;
use super::path::{OnPath, most, ns};
use super::ranks;

pub(super) fn find(facts: &Facts<'_>, path: &OnPath) -> Vec<Finding> {
    let waited: Ns = path.end_waits.iter().map(|wait| Ns::of(wait.until_ns - wait.begin_ns)).sum();
    if waited < facts.total * limits::LEAST_SHARE.value {
        return Vec::new();
    }
    let burned = burned(facts, path).share_of(waited);
    let functions = path.functions().into_iter();
    functions.filter_map(|(_, sum)| finding(facts, path, sum, waited, burned)).collect()
}

/// Processor time of ranks that waited there.
fn burned(facts: &Facts<'_>, path: &OnPath) -> Ns {
    let of_wait = path.end_waits.iter().flat_map(|wait| {
        let rows = facts.profile.samples.ending_after(wait.location, wait.begin_ns);
        rows.take_while(|row: &SampleRow| row.time_ns <= wait.until_ns).map(|row| Ns::of(row.cpu_ns))
    });
    of_wait.sum()
}

fn finding(facts: &Facts<'_>, path: &OnPath, sum: &PathSum, waited: Ns, burned: f64) -> Option<Finding> {
    let lost = ns(sum.at_end_ns).min(waited);
    let (rank, _) = sum.most;
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, lost * burned) {
        return None;
    }
    let mut phase = Checks::default();
    let is_phase = alone::is_phase(&mut phase, sum);
    match is_phase {
        true => checks.add(phase),
        // Once is little for ranks that all do the same.
        false if !checks.holds(&limits::LARGE_SHARE, lost / facts.total) => return None,
        false => {}
    }
    // Where it is on a processor; or as it is called, where it only sleeps or writes.
    let amounts = path.contexts(sum).map(|context| (context, facts.cpu[context.index()]));
    let amounts: FxHashMap<ContextId, Ns> = amounts.filter(|(_, cpu)| cpu.is_positive()).collect();
    let part = facts.places.part(&amounts, limits::PHASE_SHARE.value);
    let cause = part.unwrap_or_else(|| facts.places.place(sum.activity.0));
    let cause = facts.located(cause, [rank]);
    let kind = if is_phase { Kind::MpiSerialPhase } else { Kind::MpiImbalance };
    let mut finding = facts.finding(kind, Account::Runtime, lost, lost * burned, cause);
    let part = lost.share_of(waited);
    let victims = path.end_waits.iter().map(|wait| {
        let time = Ns::of(wait.until_ns - wait.begin_ns) * part;
        (wait.location, wait.context, time)
    });
    finding.victims = facts.victims(victims);
    finding.evidence = vec![Figure::time(FigureId::WaitedForLateRanks, lost)];
    finding.evidence.extend(alone::evidence(sum));
    finding.evidence.push(Figure::count(FigureId::ThreadsThatWaited, path.end_waits.len() as f64));
    finding.error = ns(sum.error_ns).min(lost);
    finding.on_path = Some(most(sum));
    finding.ranks = ranks(facts, &BTreeMap::from([(rank, lost)])).0;
    let is_sure = is_phase && alone::is_sure(facts, sum, lost, &mut checks);
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}
