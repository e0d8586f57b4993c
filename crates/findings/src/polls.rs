//! Waiting by looking again and again: sleeping between the looks, giving the processor away, or asking the
//! system without a pause.

use std::collections::BTreeSet;

use proust_profile::{ContextId, FunctionId, LocationId, Metric, Nature, Ns};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    sleep_poll(facts).into_iter().chain(spin_wait(facts)).chain(asking(facts)).collect()
}

/// AtPlace of one kind at a place.
#[derive(Default)]
struct AtPlace {
    calls: f64,
    time: Ns,
    /// While no thread did anything.
    asleep: Ns,
    context: ContextId,
    places: Vec<(LocationId, ContextId, Ns)>,
}

type ByPlace = FxHashMap<(Option<FunctionId>, Option<u32>), AtPlace>;

fn calls(facts: &Facts<'_>, nature: Nature) -> ByPlace {
    let mut by_place = ByPlace::default();
    for calls in facts.calls.iter().filter(|calls| facts.nature(calls.operation) == Some(nature)) {
        let key = facts.places.line_key(calls.context);
        let sum =
            by_place.entry(key).or_insert_with(|| AtPlace { context: calls.context, ..AtPlace::default() });
        let time = Ns::of(calls.time_ns);
        sum.calls += calls.calls as f64;
        sum.time += time;
        sum.places.push((calls.location, calls.context, time));
    }
    by_place
}

fn sleep_poll(facts: &Facts<'_>) -> Option<Finding> {
    let mut by_place = calls(facts, Nature::Sleep);
    for (&(_, context), &time) in &facts.stretches.asleep {
        if let Some(sum) = by_place.get_mut(&facts.places.line_key(context)) {
            sum.asleep += time;
        }
    }
    // Idle time counts for all pollers: the places are one finding.
    let mut all = AtPlace::default();
    let mut worst = Ns::ZERO;
    let mut checks = Checks::default();
    for sum in by_place.into_values() {
        let mut of_place = Checks::default();
        let mean = sum.time / sum.calls.max(1.0);
        if !of_place.holds(&limits::POLL_SLEEPS, sum.calls) || !of_place.holds(&limits::POLL_SLEEP_S, mean) {
            continue;
        }
        if (sum.asleep, all.context) > (worst, sum.context) {
            (worst, all.context, checks) = (sum.asleep, sum.context, of_place);
        }
        all.calls += sum.calls;
        all.time += sum.time;
        all.asleep += sum.asleep;
        all.places.extend(sum.places);
    }
    let lost = all.asleep;
    let mean = all.time / all.calls.max(1.0);
    // Seldom looks are a server's that has nothing to do, unless the run stands still for them.
    let least = match limits::POLL_SHORT_S.holds(mean) {
        true => limits::POLL_ASLEEP,
        false => limits::POLL_LONG_ASLEEP,
    };
    if !checks.holds(&least, lost / facts.wall.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, Ns::ZERO)
    {
        return None;
    }
    let there = facts.places.line_key(all.context);
    let pollers = all.places.iter().filter(|poller| facts.places.line_key(poller.1) == there);
    let place = facts.located(facts.places.place(all.context), pollers.map(|poller| poller.0));
    let mut finding = facts.finding(Kind::SleepPoll, Account::Asleep, lost, Ns::ZERO, place);
    finding.victims = facts.victims(all.places);
    finding.evidence = vec![
        Figure::count(FigureId::Sleeps, all.calls),
        Figure::time(FigureId::MeanSleep, mean),
        Figure::time(FigureId::StandingStill, lost),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

fn spin_wait(facts: &Facts<'_>) -> Vec<Finding> {
    let at = |sum: AtPlace| {
        let mut checks = Checks::default();
        if !checks.holds(&limits::YIELDS, sum.calls) {
            return None;
        }
        spin_at(facts, &sum, FigureId::Yields, checks, &["yield"])
    };
    calls(facts, Nature::Yield).into_values().filter_map(at).collect()
}

/// Who asks without waiting finds something each time, or asks in vain: then there are many more questions
/// than answers.
fn asking(facts: &Facts<'_>) -> Vec<Finding> {
    let answers = |sum: &AtPlace| {
        let is_answer = |nature: Nature| nature.is_io() || nature == Nature::Accept;
        let threads: BTreeSet<LocationId> = sum.places.iter().map(|&(location, ..)| location).collect();
        let by_same = facts.calls.iter().filter(|calls| threads.contains(&calls.location));
        let answers = by_same.filter(|calls| facts.nature(calls.operation).is_some_and(is_answer));
        answers.map(|calls| calls.calls as f64).sum::<f64>()
    };
    let at = |sum: AtPlace| {
        let mut checks = Checks::default();
        let mean = sum.time / sum.calls.max(1.0);
        if !facts.places.is_written(sum.context)
            || !checks.holds(&limits::LOOKS, sum.calls)
            || !checks.holds(&limits::LOOK_S, mean)
            || !checks.holds(&limits::LOOKS_IN_VAIN, sum.calls / answers(&sum).max(1.0))
        {
            return None;
        }
        spin_at(facts, &sum, FigureId::Looks, checks, &["poll", "select", "wait4", "waitpid", "waitid"])
    };
    let natures = [Nature::Poll, Nature::Process];
    natures.into_iter().flat_map(|nature| calls(facts, nature).into_values()).filter_map(at).collect()
}

/// `names`: parts of the names of functions that do nothing else.
fn spin_at(
    facts: &Facts<'_>,
    sum: &AtPlace,
    times: FigureId,
    mut checks: Checks,
    names: &[&str],
) -> Option<Finding> {
    let is_one = |name: &str| names.iter().any(|part| name.contains(part));
    let function = facts.places.function(sum.context);
    // The looks at memory are the function's; only yielding the processor, or asking, is certainly no work.
    let contexts: Vec<ContextId> = (0..facts.cpu.len())
        .map(ContextId::from_index)
        .filter(|&context| {
            facts.cpu[context.index()].is_positive()
                && facts.places.function(context) == function
                && facts.places.leaf(context).is_some_and(|leaf| is_one(&leaf.name))
        })
        .collect();
    let lost: Ns = contexts.iter().map(|&context| facts.cpu[context.index()]).sum();
    let samples: f64 = contexts.iter().map(|&context| facts.samples[context.index()]).sum();
    let error = facts.error(contexts.iter().copied());
    if !checks.holds(&limits::SPIN_SAMPLES, samples) || !facts.matters(&mut checks, lost, lost) {
        return None;
    }
    let place = facts.places.place(sum.context);
    let mut finding = facts.finding(Kind::SpinWait, Account::Compute, lost, lost, place);
    finding.error = error;
    let own = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let own = own.filter(|value| contexts.contains(&value.context));
    finding.victims = facts.victims(own.map(|value| (value.location, value.context, Ns::of(value.amount))));
    finding.evidence = vec![
        Figure::count(times, sum.calls),
        Figure::time(FigureId::CpuSpent, lost),
        Figure::count(FigureId::SamplesInIt, samples),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
