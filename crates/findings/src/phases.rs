//! Processors that are empty while one thread works: serial phases, and the serial part of a program that is
//! otherwise parallel by OpenMP.
//!
//! A phase is the work of one thread alone below one function of the program. So the time is divided by
//! thread first, then by the function that [`Places::phase`] finds: two phases never become one finding, and
//! no finding is about their common part.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::openmp::idle_spinning_share;
use super::stretches::Stretch;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.width < 2.0 {
        return Vec::new();
    }
    let between = facts.regions.as_ref();
    let mut phases: BTreeMap<(LocationId, Option<FunctionId>), Phase<'_>> = BTreeMap::new();
    for stretch in facts.stretches.long.iter().filter(|stretch| !facts.lives_in_turn(stretch.location)) {
        let is_of_pool = facts.alike(stretch.location).len() >= 2;
        for (&context, &empty) in &stretch.empty {
            if !is_of_pool || between.is_some_and(|of| of.is_between(stretch.location, context)) {
                let phase = phases.entry((stretch.location, function(facts, context))).or_default();
                *phase.empty.entry(context).or_default() += empty;
                if phase.long.last().is_none_or(|&last| !std::ptr::eq(last, stretch)) {
                    phase.long.push(stretch);
                }
            }
        }
    }
    for (&(location, context), &empty) in &facts.stretches.in_short {
        if between.is_some_and(|of| of.is_between(location, context)) {
            let phase = phases.entry((location, function(facts, context))).or_default();
            *phase.empty.entry(context).or_default() += empty;
            phase.short += empty;
        }
    }
    // Threads that do the same alone, one after the other, are one finding.
    let mut same: BTreeMap<Option<FunctionId>, Vec<(LocationId, Phase<'_>)>> = BTreeMap::new();
    let mut nameless = Vec::new();
    for ((location, function), phase) in phases {
        match function {
            Some(_) => same.entry(function).or_default().push((location, phase)),
            None => nameless.push(vec![(location, phase)]),
        }
    }
    same.into_values().chain(nameless).filter_map(|phases| serial_phase(facts, &phases)).collect()
}

fn function(facts: &Facts<'_>, context: ContextId) -> Option<FunctionId> {
    let phase = facts.places.phase(context)?;
    facts.profile.contexts[phase].function
}

/// The work of a thread alone below one function.
#[derive(Default)]
struct Phase<'s> {
    long: Vec<&'s Stretch>,
    /// The part of `empty` in short stretches between parallel regions.
    short: Ns,
    empty: FxHashMap<ContextId, Ns>,
}

fn serial_phase(facts: &Facts<'_>, phases: &[(LocationId, Phase<'_>)]) -> Option<Finding> {
    let mut empty: FxHashMap<ContextId, Ns> = FxHashMap::default();
    let (mut stretches, mut longest, mut late_time) = (0, Ns::ZERO, Ns::ZERO);
    let mut short = Ns::ZERO;
    for (location, phase) in phases {
        phase.empty.iter().for_each(|(&context, &time)| *empty.entry(context).or_default() += time);
        stretches += phase.long.len();
        short += phase.short;
        let lengths = phase.long.iter().map(|one| Ns::of(one.end_ns - one.start_ns));
        longest = lengths.fold(longest, Ns::max);
        late_time += late(facts, *location, phase);
    }
    let sum: Ns = empty.values().sum();
    let lost = (sum - late_time).max(Ns::ZERO);
    let error = facts.error(empty.keys().copied()).min(lost);
    let is_between_regions = short > sum * 0.5;
    // Between regions the other members look for the next one before they sleep, and use the processors that
    // are empty otherwise; LLVM's for a fifth of a second.
    let burned = match phases.first() {
        Some((location, _))
            if phases.iter().any(|(location, phase)| is_beside_team(facts, *location, phase)) =>
        {
            lost * idle_spinning_share(facts, facts.profile.locations[*location].process)
        }
        _ => Ns::ZERO,
    };
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, burned)
        || !(is_between_regions || checks.holds(&limits::LONG_STRETCH_S, longest))
        || !checks.holds(&limits::OTHERS_WORK, others_work(facts))
        || error.is_positive() && !checks.holds(&limits::SIGMAS, lost / error)
    {
        return None;
    }
    let locations = phases.iter().map(|(location, _)| *location);
    let cause = facts.places.part(&empty, limits::PHASE_SHARE.value).unwrap_or_default();
    let cause = facts.located(cause, locations);
    let kind = if is_between_regions { Kind::OmpSerialPart } else { Kind::SerialPhase };
    let mut finding = facts.finding(kind, Account::Serial, lost, burned, cause);
    finding.error = error;
    finding.evidence = vec![Figure::time(FigureId::EmptyMeanwhile, sum)];
    if is_between_regions {
        finding.evidence.push(Figure::time(FigureId::OfItInShortStretches, short));
    } else {
        finding.evidence.extend([
            Figure::count(FigureId::StretchesAlone, stretches as f64),
            Figure::time(FigureId::Longest, longest),
        ]);
        let long = phases.iter().flat_map(|(_, phase)| phase.long.iter().copied());
        finding.handed_over = finding.cause.context.and_then(|phase| facts.handed_over(long, phase));
    }
    finding.evidence.push(Figure::count(FigureId::ProcessorsKeptBusy, facts.width));
    // Where others do the same, equal parts may have ended unevenly, as a long task's.
    let is_common = !is_between_regions && is_common(facts, phases);
    finding.sure = if !is_common {
        Sure::Certain
    } else if limits::TASK_AGAIN.holds(stretches as f64) {
        checks.holds(&limits::TASK_AGAIN, stretches as f64);
        Sure::Certain
    } else {
        Sure::Likely
    };
    finding.checks = checks.kept();
    Some(finding)
}

/// Whether other threads have spent as much in the phase's function as these did alone.
fn is_common(facts: &Facts<'_>, phases: &[(LocationId, Phase<'_>)]) -> bool {
    let contexts = phases.iter().flat_map(|(_, phase)| phase.empty.keys());
    let functions: BTreeSet<FunctionId> = contexts.filter_map(|&context| function(facts, context)).collect();
    let mut is_in = vec![false; facts.profile.contexts.len()];
    // A parent comes before what it calls.
    for (id, context) in facts.profile.contexts.iter_enumerated() {
        is_in[id.index()] = context.function.is_some_and(|function| functions.contains(&function))
            || context.parent.is_some_and(|parent| is_in[parent.index()]);
    }
    let is_of_others = |location| phases.iter().all(|(own, _)| *own != location);
    let values = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let theirs = values.filter(|value| is_in[value.context.index()] && is_of_others(value.location));
    let alone =
        phases.iter().flat_map(|(_, phase)| phase.empty.values().copied()).sum::<Ns>() / (facts.width - 1.0);
    theirs.map(|value| Ns::of(value.amount)).sum::<Ns>() >= alone
}

/// Whether some of it lies between the regions of its thread's team.
fn is_beside_team(facts: &Facts<'_>, location: LocationId, phase: &Phase<'_>) -> bool {
    let is_between =
        |&context: &ContextId| facts.regions.as_ref().is_some_and(|of| of.is_between(location, context));
    phase.empty.keys().any(is_between)
}

/// The part of a phase due to its thread's waiting for a processor, in empty slots: work of a thread in a
/// function in which others work, too, is no serial phase: the thread was late. Between the regions of its
/// team no thread is late: the other members have nothing to do there, whenever it arrives.
fn late(facts: &Facts<'_>, location: LocationId, phase: &Phase<'_>) -> Ns {
    let between = |&context: &ContextId| {
        facts.regions.as_ref().is_some_and(|regions| regions.is_between(location, context))
    };
    if phase.empty.keys().all(between) {
        return Ns::ZERO;
    }
    let others = facts.width - 1.0;
    let alone = phase.empty.values().sum::<Ns>() / others;
    let roots: BTreeSet<Option<ContextId>> =
        phase.empty.keys().map(|&context| facts.places.phase(context)).collect();
    let all: Ns = (0..facts.cpu.len())
        .map(ContextId::from_index)
        .filter(|&context| facts.cpu[context.index()].is_positive())
        .filter(|&context| roots.iter().flatten().any(|&root| facts.places.is_below(context, root)))
        .map(|context| facts.cpu[context.index()])
        .sum();
    if all > alone * 1.5 { facts.queued(location) * others } else { Ns::ZERO }
}

/// The part of the processor time that is beside other work. Threads that only begin and sleep make nothing
/// parallel, and neither do several of which each works when another one has ended.
pub(super) fn others_work(facts: &Facts<'_>) -> f64 {
    let own = || facts.profile.locations.iter().filter(|location| !location.service);
    let most = own().map(|location| location.cpu).max().unwrap_or_default();
    let cpu: Ns = own().map(|location| location.cpu).sum();
    let of_others = 1.0 - most / cpu.max(Ns::SHORTEST);
    of_others.min(facts.stretches.beside / facts.stretches.worked.max(Ns::SHORTEST))
}
