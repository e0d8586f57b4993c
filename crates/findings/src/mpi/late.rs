//! Ranks that others wait for: what they have more to do before they send, receive, or come to a collective.
//!
//! The account's blame has that for each wait; here it is summed up by the function of the program that the
//! late ranks were in. Whose turn it was to be late may be chance. It is not where others waited for some
//! ranks longer than these waited for others. A few waits are worth a word only where they are long, and are
//! no more than possible, unless one rank was in code that is its own ([`alone`]).

use std::collections::{BTreeMap, BTreeSet};

use proust_account::blame::CauseKind;
use proust_account::ledger::Account;
use proust_profile::{LocationId, Ns, ProcessId};

use super::super::facts::Facts;
use super::super::figure::{Figure, FigureId};
use super::super::finding::{Finding, Kind, Sure};
use super::super::thresholds::{self as limits, Checks};
use super::groups::{Groups, Late};
use super::path::{self, OnPath};
use super::sites::{KINDS, Sites};
use super::{alone, ranks, spinning_share};

pub(super) fn find(facts: &Facts<'_>, sites: &Sites, path: Option<&OnPath>) -> Vec<Finding> {
    let mut groups = Groups::new();
    let mut waited: [BTreeMap<ProcessId, Ns>; KINDS.len()] = Default::default();
    for row in facts.blame.rows.iter().filter(|row| row.account == Account::MpiPartner && !row.slots) {
        let Some(kind) = sites.kind((row.location, row.context)) else { continue };
        let cause = row.cause;
        let phase = facts.places.phase(cause.context);
        let function = phase.and_then(|phase| facts.profile.contexts[phase].function);
        let late = groups.entry((kind, function)).or_default();
        let time = Ns::of(row.ns);
        match cause.kind {
            CauseKind::Late => {
                *late.by_location.entry(cause.location).or_default() += time;
                *late.contexts.entry(cause.context).or_default() += time;
                late.victims.push((row.location, row.context, time));
                late.sites.insert((row.location, row.context));
                let process = facts.profile.locations[row.location].process;
                *waited[kind].entry(process).or_default() += time;
            }
            CauseKind::Displaced => late.displaced += time,
            _ => {}
        }
    }
    let spinning = spinning_share(facts);
    let mut found = path.map_or_else(Vec::new, |path| alone::take(facts, path, spinning, &mut groups));
    found.extend(groups.iter().filter_map(|((kind, function), late)| {
        let times = late.sites.iter().map(|&site| sites.times(site)).sum();
        let mut finding = finding(facts, *kind, late, &waited[*kind], times, spinning)?;
        if let Some(sum) = path.and_then(|path| path.get(*function)) {
            finding.evidence.extend(path::evidence(sum));
            finding.on_path = Some(path::most(sum));
        }
        Some(finding)
    }));
    found
}

fn finding(
    facts: &Facts<'_>,
    kind: usize,
    late: &Late,
    waited: &BTreeMap<ProcessId, Ns>,
    times: u64,
    spinning: f64,
) -> Option<Finding> {
    let lost = late.lost();
    let burned = lost * spinning;
    let mut checks = Checks::default();
    let is_large = limits::LARGE_SHARE.holds(lost / facts.total);
    let is_often = limits::MPI_LATE_TIMES.holds(times as f64);
    if !facts.matters(&mut checks, lost, burned)
        || is_often && !checks.holds(&limits::MPI_LATE_TIMES, times as f64)
        || !is_often && !checks.holds(&limits::LARGE_SHARE, lost / facts.total)
        || !checks.holds(&limits::MPI_LATE_EXCESS, late.excess(facts))
    {
        return None;
    }
    let cause = facts.places.part(&late.contexts, limits::PHASE_SHARE.value)?;
    let (ranks, largest) = ranks(facts, &late.by_location);
    let net = net_share(facts, &late.by_location, waited);
    let on_processor = late.on_processor();
    // How long they had none is known for each rank, but not for each of many short waits.
    let queued_time: Ns = late.by_location.keys().map(|&location| facts.queued(location)).sum();
    let queued = queued_time / lost.max(Ns::SHORTEST);
    let is_sure = limits::MPI_LATE_NET.holds(net)
        && limits::MPI_LATE_SURE.holds(on_processor)
        && limits::MPI_LATE_QUEUED.holds(queued)
        && (is_large && is_often)
        && cause.function.is_some();
    if is_sure {
        checks.holds(&limits::MPI_LATE_SURE, on_processor);
        checks.holds(&limits::MPI_LATE_QUEUED, queued);
        checks.holds(&limits::MPI_LATE_NET, net);
        checks.holds(&limits::LARGE_SHARE, lost / facts.total);
    }
    let mut finding = facts.finding(KINDS[kind], Account::MpiPartner, lost, burned, cause);
    finding.victims = facts.victims(late.victims.iter().copied());
    let early: BTreeSet<LocationId> = late.victims.iter().map(|&(location, ..)| location).collect();
    finding.evidence = vec![
        Figure::time(FigureId::WaitedForLateRanks, lost),
        Figure::count(FigureId::Waits, times as f64),
        Figure::share(FigureId::ShareOfLatestRank, largest),
        Figure::count(FigureId::ThreadsThatWaited, early.len() as f64),
        Figure::share(FigureId::ShareBeyondOwnWaits, net),
        Figure::time(FigureId::WaitedForDisplaced, late.displaced),
    ];
    finding.error = facts.error(late.contexts.keys().copied()).min(lost);
    finding.ranks = ranks;
    // There the message is sent or received, which might be done earlier, or without a wait.
    if matches!(finding.kind, Kind::MpiLateSender | Kind::MpiLateReceiver) {
        let waits = late.victims.iter().map(|&(_, context, time)| (context, time));
        finding.awaited = facts.heaviest_line(waits).map(|(_, worst)| facts.places.place(worst));
    }
    finding.sure = if is_sure { Sure::Likely } else { Sure::Possible };
    finding.checks = checks.kept();
    Some(finding)
}

/// Of what others waited for processes, the part beyond what each of these waited itself.
fn net_share(
    facts: &Facts<'_>,
    by_location: &BTreeMap<LocationId, Ns>,
    waited: &BTreeMap<ProcessId, Ns>,
) -> f64 {
    let mut caused: BTreeMap<ProcessId, Ns> = BTreeMap::new();
    for (&location, &time) in by_location {
        *caused.entry(facts.profile.locations[location].process).or_default() += time;
    }
    let all: Ns = caused.values().sum();
    let own = |process: &ProcessId| waited.get(process).copied().unwrap_or_default();
    let net: Ns = caused.iter().map(|(process, &time)| (time - own(process)).max(Ns::ZERO)).sum();
    net / all.max(Ns::SHORTEST)
}
