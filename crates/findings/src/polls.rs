//! Waiting by looking again and again: sleeping between the looks, or giving the processor away.

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Nature};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    sleep_poll(facts).into_iter().chain(spin_wait(facts)).collect()
}

/// AtPlace of one kind at a place.
#[derive(Default)]
struct AtPlace {
    calls: f64,
    time_s: f64,
    /// While no thread did anything.
    asleep_s: f64,
    context: ContextId,
    places: Vec<(LocationId, ContextId, f64)>,
}

type ByPlace = FxHashMap<(Option<FunctionId>, Option<u32>), AtPlace>;

fn calls(facts: &Facts<'_>, nature: Nature) -> ByPlace {
    let mut by_place = ByPlace::default();
    for calls in facts.calls.iter().filter(|calls| facts.nature(calls.operation) == Some(nature)) {
        let key = facts.places.line_key(calls.context);
        let sum =
            by_place.entry(key).or_insert_with(|| AtPlace { context: calls.context, ..AtPlace::default() });
        let time_s = calls.time_ns as f64 / 1e9;
        sum.calls += calls.calls as f64;
        sum.time_s += time_s;
        sum.places.push((calls.location, calls.context, time_s));
    }
    by_place
}

fn sleep_poll(facts: &Facts<'_>) -> Option<Finding> {
    let mut by_place = calls(facts, Nature::Sleep);
    for (&(_, context), &s) in &facts.stretches.asleep_s {
        if let Some(sum) = by_place.get_mut(&facts.places.line_key(context)) {
            sum.asleep_s += s;
        }
    }
    // Idle time counts for all pollers: the places are one finding.
    let mut all = AtPlace::default();
    let mut worst_s = 0.0;
    let mut checks = Checks::default();
    for sum in by_place.into_values() {
        let mut of_place = Checks::default();
        let mean_s = sum.time_s / sum.calls.max(1.0);
        if !of_place.holds(&limits::POLL_SLEEPS, sum.calls) || !of_place.holds(&limits::POLL_SLEEP_S, mean_s)
        {
            continue;
        }
        if (sum.asleep_s, all.context) > (worst_s, sum.context) {
            (worst_s, all.context, checks) = (sum.asleep_s, sum.context, of_place);
        }
        all.calls += sum.calls;
        all.time_s += sum.time_s;
        all.asleep_s += sum.asleep_s;
        all.places.extend(sum.places);
    }
    let lost_s = all.asleep_s;
    if !checks.holds(&limits::POLL_ASLEEP, lost_s / facts.wall_s.max(f64::MIN_POSITIVE))
        || !facts.matters(&mut checks, lost_s, 0.0)
    {
        return None;
    }
    let place = facts.places.place(all.context);
    let mut finding = facts.finding(Kind::SleepPoll, Account::Asleep, lost_s, 0.0, place);
    finding.victims = facts.victims(all.places);
    finding.evidence = vec![
        Figure::count("sleeps", all.calls),
        Figure::seconds("mean length of a sleep", all.time_s / all.calls.max(1.0)),
        Figure::seconds("meanwhile nobody did anything for", lost_s),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

fn spin_wait(facts: &Facts<'_>) -> Vec<Finding> {
    calls(facts, Nature::Yield).into_values().filter_map(|sum| spin_at(facts, &sum)).collect()
}

fn spin_at(facts: &Facts<'_>, sum: &AtPlace) -> Option<Finding> {
    let mut checks = Checks::default();
    if !checks.holds(&limits::YIELDS, sum.calls) {
        return None;
    }
    let function = facts.places.function(sum.context);
    // The looks themselves are the function's; only yielding the processor is certainly no work.
    let contexts: Vec<ContextId> = (0..facts.cpu.len())
        .map(ContextId::from_index)
        .filter(|&context| {
            facts.cpu[context.index()] > 0.0
                && facts.places.function(context) == function
                && facts.places.leaf(context).is_some_and(|leaf| leaf.name.contains("yield"))
        })
        .collect();
    let lost_s: f64 = contexts.iter().map(|&context| facts.cpu[context.index()]).sum();
    let samples: f64 = contexts.iter().map(|&context| facts.samples[context.index()]).sum();
    let error_s = facts.error_s(contexts.iter().copied());
    if !checks.holds(&limits::SPIN_SAMPLES, samples) || !facts.matters(&mut checks, lost_s, lost_s) {
        return None;
    }
    let place = facts.places.place(sum.context);
    let mut finding = facts.finding(Kind::SpinWait, Account::Compute, lost_s, lost_s, place);
    finding.error_s = error_s;
    let own = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let own = own.filter(|value| contexts.contains(&value.context));
    finding.victims = facts.victims(own.map(|value| (value.location, value.context, value.amount)));
    finding.evidence = vec![
        Figure::count("times that the processor was given away", sum.calls),
        Figure::seconds("processor time spent on that", lost_s),
        Figure::count("samples in it", samples),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
