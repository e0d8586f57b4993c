//! Processors that are empty while somebody works: serial phases, a long task at the end of a pool, too few
//! tasks.
//!
//! Which of them it is, is told by how long the stretches are and by who works in them.

use std::collections::HashMap;
use std::hash::BuildHasher;

use proust_profile::{ContextId, LocationId};

use super::facts::Facts;
use super::finding::{Figure, Finding, Kind, Sure};
use super::stretches::Stretch;
use super::thresholds::{self as limits, Checks};
use crate::ledger::Account;

/// Serial phases that are told apart.
const PHASES: usize = 3;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.width < 2.0 {
        return Vec::new();
    }
    let (mut alone, mut of_a_pool): (Vec<&Stretch>, HashMap<LocationId, Vec<&Stretch>>) = Default::default();
    for stretch in &facts.stretches.long {
        if facts.alike(stretch.location).len() < 2 {
            alone.push(stretch);
        } else {
            of_a_pool.entry(stretch.location).or_default().push(stretch);
        }
    }
    let mut found = serial_phases(facts, &alone);
    found.extend(long_task(facts, &of_a_pool));
    found.extend(idle_pool(facts));
    found
}

fn serial_phases(facts: &Facts<'_>, stretches: &[&Stretch]) -> Vec<Finding> {
    let mut left_s: HashMap<ContextId, f64> = HashMap::new();
    for stretch in stretches {
        for (&context, &empty_s) in &stretch.empty_s {
            *left_s.entry(context).or_default() += empty_s;
        }
    }
    let mut found = Vec::new();
    for _ in 0..PHASES {
        let Some(root) = facts.places.dominating(&left_s, limits::PHASE_SHARE.value) else { break };
        // All of the function, whatever line or library it is in.
        let root = facts.places.own(root);
        let of: HashMap<ContextId, f64> = (left_s.iter())
            .filter(|&(&context, _)| facts.places.is_below(context, root))
            .map(|(&context, &empty_s)| (context, empty_s))
            .collect();
        left_s.retain(|context, _| !of.contains_key(context));
        found.extend(serial_phase(facts, stretches, root, &of));
    }
    found
}

fn serial_phase(
    facts: &Facts<'_>,
    stretches: &[&Stretch],
    root: ContextId,
    empty_s: &HashMap<ContextId, f64, impl BuildHasher>,
) -> Option<Finding> {
    let mut checks = Checks::default();
    let with = |stretch: &&&Stretch| stretch.empty_s.keys().any(|context| empty_s.contains_key(context));
    let phases: Vec<&Stretch> = stretches.iter().filter(with).copied().collect();
    let longest_s = phases.iter().map(|one| (one.end_ns - one.start_ns) as f64 / 1e9).fold(0.0, f64::max);
    let sum_s: f64 = empty_s.values().sum();
    // What a thread does in the same function while others work is no serial phase: it was late with it,
    // perhaps for want of a processor.
    let location = phases.first()?.location;
    let alone_s = sum_s / (facts.width - 1.0);
    let all_s: f64 = (0..facts.cpu.len() as ContextId)
        .filter(|&context| facts.places.is_below(context, root))
        .map(|context| facts.cpu[context as usize])
        .sum();
    let late_s = if all_s > 1.5 * alone_s { facts.queued_s(location) * (facts.width - 1.0) } else { 0.0 };
    let lost_s = (sum_s - late_s).max(0.0);
    let error_s = facts.error_s(empty_s.keys().copied()).min(lost_s);
    if !facts.matters(&mut checks, lost_s, 0.0)
        || !checks.holds(&limits::LONG_STRETCH_S, longest_s)
        || !checks.holds(&limits::OTHERS_WORK, others_work(facts))
    {
        return None;
    }
    let cause = facts.places.part(empty_s, limits::PHASE_SHARE.value)?;
    let mut finding = facts.finding(Kind::SerialPhase, Account::Serial, lost_s, 0.0, cause);
    finding.error_s = error_s;
    finding.evidence = vec![
        Figure::seconds("processors empty meanwhile", sum_s),
        Figure::count("stretches in which this thread worked alone", phases.len() as f64),
        Figure::seconds("the longest", longest_s),
        Figure::count("processors that the run could keep busy", facts.width),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}

/// Of the processor time, what others than the busiest thread used: threads that only begin and sleep make
/// nothing parallel.
fn others_work(facts: &Facts<'_>) -> f64 {
    let own = || facts.profile.locations.iter().filter(|location| !location.service);
    let most_s = own().map(|location| location.cpu_s).fold(0.0, f64::max);
    let cpu_s: f64 = own().map(|location| location.cpu_s).sum();
    1.0 - most_s / cpu_s.max(f64::MIN_POSITIVE)
}

fn long_task(facts: &Facts<'_>, by_location: &HashMap<LocationId, Vec<&Stretch>>) -> Option<Finding> {
    let sum_s = |stretches: &[&Stretch]| stretches.iter().map(|one| one.sum_s()).sum::<f64>();
    let (&location, stretches) =
        by_location.iter().max_by(|a, b| sum_s(a.1).total_cmp(&sum_s(b.1)).then(b.0.cmp(a.0)))?;
    let alike: Vec<LocationId> =
        facts.alike(location).iter().copied().filter(|&other| other != location).collect();
    let mine_s = facts.worked_s(location);
    let theirs_s = alike.iter().map(|&other| facts.worked_s(other)).sum::<f64>() / alike.len().max(1) as f64;
    // Who was kept from working is late without having more to do.
    let excess_s = (mine_s - theirs_s).max(0.0);
    let lost_s = sum_s(stretches).min(excess_s * (facts.width - 1.0));
    let longest_s = stretches.iter().map(|one| (one.end_ns - one.start_ns) as f64 / 1e9).fold(0.0, f64::max);
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost_s, 0.0)
        || !checks.holds(&limits::TASK_EXCESS, excess_s / mine_s.max(f64::MIN_POSITIVE))
        || !checks.holds(&limits::TASK_ALONE, longest_s / facts.wall_s.max(f64::MIN_POSITIVE))
    {
        return None;
    }
    let mut empty_s: HashMap<ContextId, f64> = HashMap::new();
    for stretch in stretches {
        stretch.empty_s.iter().for_each(|(&context, s)| *empty_s.entry(context).or_default() += s);
    }
    let cause = facts.places.part(&empty_s, limits::PHASE_SHARE.value)?;
    let mut finding = facts.finding(Kind::LongTask, Account::Serial, lost_s, 0.0, cause);
    finding.evidence = vec![
        Figure::seconds("processors empty while this thread worked alone", sum_s(stretches)),
        Figure::seconds("the longest such stretch", longest_s),
        Figure::seconds("work of this thread", mine_s),
        Figure::seconds("work of the others like it, on average", theirs_s),
        Figure::count("threads like it", alike.len() as f64 + 1.0),
    ];
    finding.sure = Sure::Certain;
    finding.checks = checks.kept();
    Some(finding)
}

fn idle_pool(facts: &Facts<'_>) -> Option<Finding> {
    let short_s = &facts.stretches.short_s;
    let lost_s: f64 = short_s.values().sum();
    let mut checks = Checks::default();
    let waiting_s: f64 = facts.ledger.locations.iter().map(|row| facts.waited_for_work_s(row.location)).sum();
    if !facts.matters(&mut checks, lost_s, 0.0)
        || !checks.holds(&limits::SHORT_STRETCHES, facts.stretches.short as f64)
        || !checks.holds(&limits::OTHERS_WORK, others_work(facts))
        || !checks.holds(&limits::WAITING_FOR_WORK, waiting_s / lost_s.max(f64::MIN_POSITIVE))
    {
        return None;
    }
    let mut by_context: HashMap<ContextId, f64> = HashMap::new();
    for (&(_, context), &s) in short_s {
        *by_context.entry(context).or_default() += s;
    }
    let mut by_function: HashMap<_, HashMap<ContextId, f64>> = HashMap::new();
    let of_program = by_context.iter().filter(|&(&context, _)| facts.places.start(context).is_some());
    for (&context, &s) in of_program {
        by_function.entry(facts.places.function(context)).or_default().insert(context, s);
    }
    let sum = |of: &HashMap<ContextId, f64>| of.values().sum::<f64>();
    let (_, worst) = by_function.iter().max_by(|a, b| sum(a.1).total_cmp(&sum(b.1)).then(b.0.cmp(a.0)))?;
    let cause = facts.places.part(worst, limits::PHASE_SHARE.value)?;
    let mut finding = facts.finding(Kind::IdlePool, Account::Serial, lost_s, 0.0, cause);
    let waits = facts.ledger.passive.iter().filter(|row| super::facts::FOR_WORK.contains(&row.reason));
    finding.victims = facts.victims(waits.map(|row| (row.location, row.context, row.ns as f64 / 1e9)));
    finding.evidence = vec![
        Figure::seconds("processors empty in short stretches", lost_s),
        Figure::count("such stretches", facts.stretches.short as f64),
        Figure::share("of them while this function worked", sum(worst) / lost_s.max(f64::MIN_POSITIVE)),
        Figure::seconds("threads waited for work, in all", waiting_s),
    ];
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
