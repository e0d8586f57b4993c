//! Event loops that stand still: what a callback or coroutine computes, or waits for, keeps all others that
//! the loop serves from going on, and it keeps one processor busy while others are empty.
//!
//! A loop looks for what is ready once a turn, so how often it looks is how many turns it made. A loop of
//! which a turn is long on average has work in it that belongs into another thread or process. Python's
//! asyncio calls a callback slow from 100 ms on (`loop.slow_callback_duration`).

use std::collections::BTreeMap;

use proust_account::ledger::{Account, PassiveReason};
use proust_profile::{ContextId, LocationId, Metric, Nature, Ns};
use rustc_hash::FxHashMap as Map;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    standing_still(facts).into_iter().collect()
}

/// What a loop's callbacks took.
#[derive(Default)]
struct Loop {
    turns: u64,
    worked: Map<ContextId, Ns>,
    waited: Map<ContextId, Ns>,
}

impl Loop {
    fn busy(&self) -> Ns {
        self.worked.values().chain(self.waited.values()).sum()
    }
}

fn standing_still(facts: &Facts<'_>) -> Option<Finding> {
    let (location, of) = loops(facts).into_iter().max_by_key(|(_, of)| of.busy())?;
    let mut checks = Checks::default();
    if !checks.holds(&limits::LOOP_TURNS, of.turns as f64)
        || !checks.holds(&limits::LOOP_TURN_S, of.busy() / of.turns.max(1) as f64)
    {
        return None;
    }
    let mut amounts = of.worked.clone();
    of.waited.iter().for_each(|(&context, &waited)| *amounts.entry(context).or_default() += waited);
    let (_, heaviest) = facts.heaviest_line(amounts.iter().map(|(&context, &amount)| (context, amount)))?;
    let there = |times: &Map<ContextId, Ns>| -> Ns {
        let there = times.iter().filter(|(at, _)| facts.places.is_in_function_of(**at, heaviest));
        there.map(|(_, &time)| time).sum()
    };
    let (worked, waited) = (there(&of.worked), there(&of.waited));
    let lost = worked * (facts.reach - 1.0) + waited * facts.reach;
    if !facts.matters(&mut checks, lost, Ns::ZERO)
        || !checks.holds(&limits::LOOP_OF_RUN, (worked + waited) / facts.wall.max(Ns::SHORTEST))
    {
        return None;
    }
    let account = if worked > waited { Account::Serial } else { Account::Asleep };
    let cause = facts.located(facts.places.place(heaviest), [location]);
    let mut finding = facts.finding(Kind::BlockedLoop, account, lost, Ns::ZERO, cause);
    finding.error = facts.error(of.worked.keys().copied()).min(lost);
    finding.victims = facts.victims(amounts.iter().map(|(&context, &time)| (location, context, time)));
    finding.evidence = vec![
        Figure::count(FigureId::LoopTurns, of.turns as f64),
        Figure::time(FigureId::MeanTurn, of.busy() / of.turns.max(1) as f64),
        Figure::time(FigureId::CpuOfCallbacks, worked),
        Figure::time(FigureId::WaitsOfCallbacks, waited),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
    ];
    // Whether anything waits for the loop, and whether others could do its work, is not known.
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

/// The loops, by the location that each runs in, with what of the program they call.
fn loops(facts: &Facts<'_>) -> BTreeMap<LocationId, Loop> {
    let mut loops: BTreeMap<LocationId, Loop> = BTreeMap::new();
    let looks = facts.calls.iter().filter(|calls| facts.nature(calls.operation) == Some(Nature::Poll));
    for calls in looks.filter(|calls| facts.is_in_loop(calls.context)) {
        loops.entry(calls.location).or_default().turns += calls.calls;
    }
    let cpu = facts.profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    for value in cpu.filter(|value| facts.is_called_by_loop(value.context)) {
        if let Some(of) = loops.get_mut(&value.location) {
            *of.worked.entry(value.context).or_default() += Ns::of(value.amount);
        }
    }
    let waits = facts.ledger.passive.iter().filter(|row| row.reason != PassiveReason::Poll);
    for row in waits.filter(|row| facts.is_called_by_loop(row.context)) {
        if let Some(of) = loops.get_mut(&row.location) {
            *of.waited.entry(row.context).or_default() += Ns::of(row.ns);
        }
    }
    loops
}

/// Where a wait of a location is to be named. A loop waits in one place for all that it has begun: then it is
/// the line of the program, called by the loop, at which the location released or woke others most often.
pub(super) fn place_of_wait(facts: &Facts<'_>, location: LocationId, context: ContextId) -> ContextId {
    if !facts.is_in_loop(context) || facts.is_called_by_loop(context) {
        return context;
    }
    let releases = facts.profile.releases.ending_after(location, 0);
    let called = releases.map(|release| release.context).filter(|&at| facts.is_called_by_loop(at));
    facts.heaviest_line(called.map(|at| (at, 1.0))).map_or(context, |(_, at)| at)
}
