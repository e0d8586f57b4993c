//! Processors that are empty while one thread works: serial phases, and the serial part of a program that is
//! otherwise parallel by OpenMP.
//!
//! A phase is the work of one thread alone below one function of the program. So the time is divided by
//! thread first, then by the function that [`Places::phase`] finds: two phases never become one finding, and
//! no finding is about their common part.

use std::collections::BTreeMap;

use proust_profile::{ContextId, FunctionId, LocationId};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
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
    for stretch in &facts.stretches.long {
        let is_of_pool = facts.alike(stretch.location).len() >= 2;
        for (&context, &empty_s) in &stretch.empty_s {
            if !is_of_pool || between.is_some_and(|of| of.is_between(stretch.location, context)) {
                let phase = phases.entry((stretch.location, function(facts, context))).or_default();
                *phase.empty_s.entry(context).or_default() += empty_s;
                if phase.long.last().is_none_or(|&last| !std::ptr::eq(last, stretch)) {
                    phase.long.push(stretch);
                }
            }
        }
    }
    for (&(location, context), &empty_s) in &facts.stretches.short_s {
        if between.is_some_and(|of| of.is_between(location, context)) {
            let phase = phases.entry((location, function(facts, context))).or_default();
            *phase.empty_s.entry(context).or_default() += empty_s;
            phase.short_s += empty_s;
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
    /// The part of `empty_s` in short stretches.
    short_s: f64,
    empty_s: FxHashMap<ContextId, f64>,
}

fn serial_phase(facts: &Facts<'_>, phases: &[(LocationId, Phase<'_>)]) -> Option<Finding> {
    let mut empty_s: FxHashMap<ContextId, f64> = FxHashMap::default();
    let (mut stretches, mut longest_s, mut short_s, mut late_s) = (0, 0.0_f64, 0.0, 0.0);
    for (location, phase) in phases {
        phase.empty_s.iter().for_each(|(&context, s)| *empty_s.entry(context).or_default() += s);
        stretches += phase.long.len();
        short_s += phase.short_s;
        let lengths = phase.long.iter().map(|one| (one.end_ns - one.start_ns) as f64 / 1e9);
        longest_s = lengths.fold(longest_s, f64::max);
        late_s += late(facts, *location, phase);
    }
    let sum_s: f64 = empty_s.values().sum();
    let lost_s = (sum_s - late_s).max(0.0);
    let error_s = facts.error_s(empty_s.keys().copied()).min(lost_s);
    let is_between_regions = short_s > 0.5 * sum_s;
    // Between regions the other members look for the next one before they sleep, and use the processors that
    // are empty otherwise.
    let burned_s = match phases.first() {
        Some((location, _)) if is_between_regions => {
            lost_s * idle_spinning_share(facts, facts.profile.locations[*location].process)
        }
        _ => 0.0,
    };
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost_s, burned_s)
        || !(is_between_regions || checks.holds(&limits::LONG_STRETCH_S, longest_s))
        || !checks.holds(&limits::OTHERS_WORK, others_work(facts))
        || error_s > 0.0 && !checks.holds(&limits::SIGMAS, lost_s / error_s)
    {
        return None;
    }
    let locations = phases.iter().map(|(location, _)| *location);
    let cause = facts.places.part(&empty_s, limits::PHASE_SHARE.value).unwrap_or_default();
    let cause = facts.located(cause, locations);
    let kind = if is_between_regions { Kind::OmpSerialPart } else { Kind::SerialPhase };
    let mut finding = facts.finding(kind, Account::Serial, lost_s, burned_s, cause);
    finding.error_s = error_s;
    finding.evidence = vec![Figure::seconds("processors empty meanwhile", sum_s)];
    if is_between_regions {
        finding.evidence.push(Figure::seconds("of it in stretches too short to be a phase", short_s));
    } else {
        finding.evidence.extend([
            Figure::count("stretches in which this thread worked alone", stretches as f64),
            Figure::seconds("the longest", longest_s),
        ]);
    }
    finding.evidence.push(Figure::count("processors that the run could keep busy", facts.width));
    // Every program begins and ends, and reads its input in between.
    finding.sure = match limits::LARGE_SHARE.holds(lost_s / facts.total_s.max(f64::MIN_POSITIVE)) {
        true => Sure::Certain,
        false => Sure::Possible,
    };
    finding.checks = checks.kept();
    Some(finding)
}

/// The part of a phase due to its thread's waiting for a processor, s of empty slots: work of a thread in a
/// function in which others work, too, is no serial phase: the thread was late. Between the regions of its
/// team no thread is late: the other members have nothing to do there, whenever it arrives.
fn late(facts: &Facts<'_>, location: LocationId, phase: &Phase<'_>) -> f64 {
    let between = |&context: &ContextId| {
        facts.regions.as_ref().is_some_and(|regions| regions.is_between(location, context))
    };
    if phase.empty_s.keys().all(between) {
        return 0.0;
    }
    let others = facts.width - 1.0;
    let alone_s = phase.empty_s.values().sum::<f64>() / others;
    let roots: std::collections::BTreeSet<Option<ContextId>> =
        phase.empty_s.keys().map(|&context| facts.places.phase(context)).collect();
    let all_s: f64 = (0..facts.cpu.len())
        .map(ContextId::from_index)
        .filter(|&context| facts.cpu[context.index()] > 0.0)
        .filter(|&context| roots.iter().flatten().any(|&root| facts.places.is_below(context, root)))
        .map(|context| facts.cpu[context.index()])
        .sum();
    if all_s > 1.5 * alone_s { facts.queued_s(location) * others } else { 0.0 }
}

/// The processor time of others than the busiest thread: threads that only begin and sleep make nothing
/// parallel.
pub(super) fn others_work(facts: &Facts<'_>) -> f64 {
    let own = || facts.profile.locations.iter().filter(|location| !location.service);
    let most_s = own().map(|location| location.cpu.as_seconds()).fold(0.0, f64::max);
    let cpu_s: f64 = own().map(|location| location.cpu.as_seconds()).sum();
    1.0 - most_s / cpu_s.max(f64::MIN_POSITIVE)
}
