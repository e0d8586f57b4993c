//! Threads that work by turns: each waits until another one has worked, and that one for it. However many
//! there are, hardly more than one processor is used.
//!
//! A thread that is started for each turn, and awaited before the next one begins, has its turn by its life.
//!
//! One thread that waits for another all the time has too little work, or a slow source of it (`pool`); here
//! both wait, so that neither is the slow one. What the run lost by it stands in the ledger only if several
//! worked at some time: processors that it never used are not in its total.

use std::collections::BTreeMap;

use proust_profile::{LocationId, Ns};

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::handovers::{Handed, Wait};
use super::one_at_a_time;
use super::thresholds::{self as limits, Checks};
use super::wait_places::{by_place, place_of};
use proust_account::ledger::Account;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.reach < 2.0 {
        return Vec::new();
    }
    let by_pair = pairs(facts);
    let in_turn = |waiter: LocationId, worker: LocationId| {
        if facts.lives_in_turn(worker) {
            return true;
        }
        let of = |pair: (LocationId, LocationId)| by_pair.get(&pair).copied().unwrap_or_default();
        let (one, other) = (of((waiter, worker)), of((worker, waiter)));
        let least = if one.waited < other.waited { one.waited } else { other.waited };
        limits::EACH_TURNS.holds(one.times.min(other.times) as f64)
            && limits::TURN_SHARE.holds(least / (one.waited + other.waited).max(Ns::SHORTEST))
    };
    // Threads of one process, or processes of one program.
    let mut groups: BTreeMap<&str, (Vec<Wait>, Vec<Wait>)> = BTreeMap::new();
    for (&(location, context, worker), &handed) in &facts.stretches.handovers.alone {
        let process = facts.profile.locations[location].process;
        let program = facts.profile.processes[process].executable.as_str();
        let (turns, all) = groups.entry(program).or_default();
        if in_turn(location, worker) {
            turns.push((location, context, handed));
        }
        all.push((location, context, handed));
    }
    let of_program = |(program, (turns, all)): (&str, (Vec<Wait>, Vec<Wait>))| {
        by_turns(facts, turns).or_else(|| one_at_a_time::of_program(facts, program, all))
    };
    groups.into_iter().filter_map(of_program).collect()
}

/// What one location waited for another.
fn pairs(facts: &Facts<'_>) -> BTreeMap<(LocationId, LocationId), Handed> {
    let mut pairs: BTreeMap<_, Handed> = BTreeMap::new();
    for (&(location, _, worker), &handed) in &facts.stretches.handovers.alone {
        let sum = pairs.entry((location, worker)).or_default();
        sum.times += handed.times;
        sum.waited += handed.waited;
    }
    pairs
}

/// Two that work by turns wait for each other as long as the other works: sums up to this ratio are alike.
const ALIKE: f64 = 1.5;

fn by_turns(facts: &Facts<'_>, mut waits: Vec<Wait>) -> Option<Finding> {
    waits.sort_unstable_by_key(|&(location, context, _)| (location, context));
    let alone: Ns = waits.iter().map(|(.., handed)| handed.waited).sum();
    let turns: u64 = waits.iter().map(|(.., handed)| handed.times).sum();
    let lost = alone * (facts.reach - 1.0);
    let mut checks = Checks::default();
    let share = alone / facts.wall.max(Ns::SHORTEST);
    if !facts.matters(&mut checks, lost, Ns::ZERO)
        || !checks.holds(&limits::TURNS, turns as f64)
        || !checks.holds(&limits::TURNS_OF_RUN, share)
    {
        return None;
    }
    let by_place = by_place(facts, &waits);
    // A client and its server wait alike; the one that was there first is the client, and could ask earlier.
    let most = by_place.values().map(|(sum, _)| *sum).max()?;
    let born = |there: &[&Wait]| there.iter().map(|wait| facts.profile.locations[wait.0].start).min();
    let (_, there) = (by_place.into_values())
        .filter(|(sum, _)| *sum * ALIKE >= most)
        .min_by(|a, b| born(&a.1).cmp(&born(&b.1)).then(b.0.cmp(&a.0)))?;
    let cause = place_of(facts, &there)?;
    let mut finding = facts.finding(Kind::WorkByTurns, Account::Serial, lost, Ns::ZERO, cause);
    finding.victims =
        facts.victims(waits.iter().map(|&(location, context, handed)| (location, context, handed.waited)));
    let mut threads: Vec<LocationId> = waits.iter().map(|wait| wait.0).collect();
    threads.dedup();
    finding.evidence = vec![
        Figure::time(FigureId::WorkedByTurns, alone),
        Figure::count(FigureId::Turns, turns as f64),
        Figure::count(FigureId::ThreadsThatWaitedSo, threads.len() as f64),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
    ];
    // That the turns could be taken at once is an assumption.
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
