//! A rank that hardly does anything but wait for messages while all others work: one that hands out work and
//! collects results.
//!
//! Its waiting is the others' work, and no fault of theirs. What is lost is a processor that the rank takes
//! from them, or that it could use itself.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::ledger::Account;
use proust_profile::{ContextId, Detail, LocationId, Ns, ProcessId};

use super::super::calls::Calls;
use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::sites::Sites;
use super::spinning_share;

/// What a rank did: its thread that lived longest.
#[derive(Clone, Copy, Debug, Default)]
struct Rank {
    waited: Ns,
    worked: Ns,
    /// Without the begin and the end of MPI.
    lasted: Ns,
}

impl Rank {
    /// Of its time, how much it waited for other ranks.
    fn waiting(&self) -> f64 {
        self.waited / self.lasted.max(Ns::SHORTEST)
    }
}

pub(super) fn find(facts: &Facts<'_>, sites: &Sites) -> Option<Finding> {
    let is_of_mpi = |call: &&Calls| facts.operation(call.operation).is_some_and(|kind| kind.is_of_mpi());
    let calls = facts.calls.iter().filter(is_of_mpi);
    // A shell around a rank has its number as well.
    let processes: BTreeSet<ProcessId> =
        calls.map(|call| facts.profile.locations[call.location].process).collect();
    let mut ranks: BTreeMap<ProcessId, Rank> = BTreeMap::new();
    for (id, location) in facts.profile.locations.iter_enumerated() {
        if processes.contains(&location.process) && !location.service {
            let rank = Rank {
                waited: facts.spent(id, &[Account::MpiPartner]),
                worked: facts.worked(id),
                lasted: location.wall() - facts.spent(id, &[Account::Runtime]),
            };
            let known = ranks.entry(location.process).or_insert(rank);
            *known = if rank.lasted > known.lasted { rank } else { *known };
        }
    }
    let (&process, idle) = ranks.iter().max_by(|a, b| a.1.waited.cmp(&b.1.waited))?;
    let others = ranks.iter().filter(|other| *other.0 != process);
    let most = others.map(|other| other.1.waiting()).fold(f64::NAN, f64::max);
    let places = sites.of_process(facts, process);
    let times: u64 = places.iter().map(|&(site, _)| sites.times(site)).sum();
    // Who only takes what others make is late for nobody, and has nothing to hand out.
    let is_send = |call: &&Calls| {
        facts.profile.locations[call.location].process == process
            && facts
                .operation(call.operation)
                .is_some_and(|kind| kind.is_of_mpi() && kind.detail == Detail::Send)
    };
    let sends: u64 = facts.calls.iter().filter(is_send).map(|call| call.calls).sum();
    let mut checks = Checks::default();
    if !checks.holds(&limits::IDLE_RANK, idle.waiting())
        || !checks.holds(&limits::IDLE_WAITED, idle.waited / facts.wall.max(Ns::SHORTEST))
        || !checks.holds(&limits::IDLE_OTHERS, most)
        || !checks.holds(&limits::MPI_LATE_TIMES, times as f64)
        || !checks.holds(&limits::IDLE_ANSWERS, sends as f64 / times.max(1) as f64)
    {
        return None;
    }
    let burned = idle.waited * spinning_share(facts);
    if !facts.matters(&mut checks, idle.waited, burned) {
        return None;
    }
    let (_, context) = facts.heaviest_line(places.iter().map(|&((_, context), time)| (context, time)))?;
    let locations = places.iter().map(|&((location, _), _)| location);
    let cause = facts.located(facts.places.place(context), locations);
    let mut finding = facts.finding(Kind::MpiIdleRank, Account::MpiPartner, idle.waited, burned, cause);
    let victims: Vec<(LocationId, ContextId, Ns)> =
        places.iter().map(|&((location, context), time)| (location, context, time)).collect();
    finding.victims = facts.victims(victims);
    finding.ranks = facts.profile.processes[process].rank.into_iter().collect();
    finding.evidence = vec![
        Figure::time(FigureId::WaitedAtPlace, idle.waited),
        Figure::count(FigureId::Waits, times as f64),
        Figure::time(FigureId::WorkOfRank, idle.worked),
        Figure::share(FigureId::WaitingOfOtherRanks, most),
    ];
    // A rank for what must not wait may be meant.
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
