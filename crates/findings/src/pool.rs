//! Threads that are started for the same: one that continues alone when the others have nothing left to do,
//! and too little work for all of them.

use std::collections::{BTreeMap, BTreeSet};

use proust_profile::{ContextId, LocationId, Ns, ProcessId};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::phases::others_work;
use super::stretches::Stretch;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::{Account, PassiveReason, State};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.width < 2.0 {
        return Vec::new();
    }
    // Threads alike that live one after the other, a few for each step, have a long task in each.
    let mut by_kind: BTreeMap<LocationId, BTreeMap<LocationId, Alone>> = BTreeMap::new();
    for stretch in &facts.stretches.long {
        if let [first, _, ..] = *facts.alike(stretch.location)
            && !is_between_regions(facts, stretch)
        {
            by_kind.entry(first).or_default().entry(stretch.location).or_default().add(stretch);
        }
    }
    for (&(location, context), &empty) in &facts.stretches.in_short {
        if let [first, _, ..] = *facts.alike(location)
            && !facts.regions.as_ref().is_some_and(|of| of.is_between(location, context))
            && has_one_long_task(facts, location)
        {
            by_kind.entry(first).or_default().entry(location).or_default().add_short(context, empty, facts);
        }
    }
    let mut found: Vec<Finding> = by_kind.values().filter_map(|alike| long_task(facts, alike)).collect();
    found.extend(idle_pool(facts));
    found
}

/// Whether it is work of a thread outside of the regions that it opens: a phase, which no other member of its
/// teams could have had.
fn is_between_regions(facts: &Facts<'_>, stretch: &Stretch) -> bool {
    let Some(regions) = &facts.regions else { return false };
    let between = stretch.empty.iter().filter(|&(&at, _)| regions.is_between(stretch.location, at));
    between.map(|(_, time)| time).sum::<Ns>() > stretch.sum() * 0.5
}

/// Whether a thread works for all its life, as far as it has a processor, and longer than those beside it.
/// One of a pool does not: it may have every task there is because there are too few, and none is long.
fn has_one_long_task(facts: &Facts<'_>, location: LocationId) -> bool {
    let (of, worked) = (&facts.profile.locations[location], facts.worked(location));
    let life = of.end - of.start - facts.queued(location);
    worked > limits::CHURN_CPU_S.value
        && limits::TASK_LIFE.holds(worked / life.max(Ns::SHORTEST))
        && usual(facts, location).is_some_and(|usual| limits::TASK_EXCESS.holds((worked - usual) / worked))
}

/// How long those work on average that were started for the same and live beside this one, if any do. Where
/// tasks are handed out, one that has no processor leaves them to the others: it counts with what it could
/// have done meanwhile.
fn usual(facts: &Facts<'_>, location: LocationId) -> Option<Ns> {
    let beside = facts.doing_the_same_beside(location);
    let all: Ns = beside.iter().map(|&other| facts.worked(other) + facts.queued(other)).sum();
    (!beside.is_empty()).then(|| all / beside.len() as f64)
}

/// When a thread worked alone.
#[derive(Default)]
struct Alone {
    /// Empty slots meanwhile, by where it worked.
    empty: FxHashMap<ContextId, Ns>,
    length: Ns,
    /// Of the long stretches.
    longest: Ns,
}

impl Alone {
    fn add(&mut self, stretch: &Stretch) {
        let passed = Ns::of(stretch.end_ns - stretch.start_ns);
        self.length += passed;
        self.longest = self.longest.max(passed);
        stretch.empty.iter().for_each(|(&context, &empty)| *self.empty.entry(context).or_default() += empty);
    }

    /// The time in short stretches, in which all processors but its own were empty at most.
    fn add_short(&mut self, context: ContextId, empty: Ns, facts: &Facts<'_>) {
        self.length += empty / (facts.width - 1.0);
        *self.empty.entry(context).or_default() += empty;
    }
}

/// Of threads alike, when each worked alone.
fn long_task(facts: &Facts<'_>, by_location: &BTreeMap<LocationId, Alone>) -> Option<Finding> {
    let (mut lost, mut alone, mut mine, mut theirs) = (Ns::ZERO, Ns::ZERO, Ns::ZERO, Ns::ZERO);
    let (mut length, mut longest) = (Ns::ZERO, Ns::ZERO);
    let mut empty: FxHashMap<ContextId, Ns> = FxHashMap::default();
    let mut late: Vec<LocationId> = Vec::new();
    for (&location, one) in by_location {
        let (worked, Some(usual)) = (facts.worked(location), usual(facts, location)) else { continue };
        // A thread that was kept from working is late without having more to do.
        let excess = (worked - usual).max(Ns::ZERO);
        let sum: Ns = one.empty.values().sum();
        alone += sum;
        lost += sum.min(excess * (facts.width - 1.0));
        (mine, theirs) = (mine + worked, theirs + usual);
        (length, longest) = (length + one.length, longest.max(one.longest));
        one.empty.iter().for_each(|(&context, &time)| *empty.entry(context).or_default() += time);
        late.push(location);
    }
    let mut checks = Checks::default();
    let excess = (mine - theirs) / mine.max(Ns::SHORTEST);
    if !facts.matters(&mut checks, lost, Ns::ZERO)
        || !checks.holds(&limits::TASK_EXCESS, excess)
        || !checks.holds(&limits::TASK_ALONE, length / facts.wall.max(Ns::SHORTEST))
    {
        return None;
    }
    let cause = facts.places.part(&empty, limits::PHASE_SHARE.value)?;
    let cause = facts.located(cause, late.iter().copied());
    let mut finding = facts.finding(Kind::LongTask, Account::Serial, lost, Ns::ZERO, cause);
    let threads = late.len().max(1) as f64;
    finding.evidence = vec![
        Figure::time(FigureId::EmptyWhileAlone, alone),
        Figure::time(FigureId::WorkOfThread, mine / threads),
        Figure::time(FigureId::WorkOfOthersBeside, theirs / threads),
        Figure::count(FigureId::ThreadsThatWentOn, threads),
        Figure::count(FigureId::ThreadsAlike, facts.alike(late[0]).len() as f64),
    ];
    if longest.is_positive() {
        finding.evidence.insert(1, Figure::time(FigureId::LongestStretch, longest));
    }
    // Threads that take tasks do not end together: one of them has the last one. Others do not either, if the
    // processor of one is slower for a while, by half where another one shares its core; but not each time.
    let of_pool = late
        .iter()
        .any(|&id| facts.doing_the_same_beside(id).iter().any(|&other| waits_for_tasks(facts, other)));
    finding.awaited = facts.awaited(&late);
    finding.sure = if limits::POOL_EXCESS.holds(excess) {
        checks.holds(&limits::POOL_EXCESS, excess);
        Sure::Certain
    } else if of_pool {
        Sure::Possible
    } else if limits::TASK_AGAIN.holds(threads) {
        checks.holds(&limits::TASK_AGAIN, threads);
        Sure::Certain
    } else {
        Sure::Likely
    };
    finding.checks = checks.kept();
    Some(finding)
}

fn waits_for_tasks(facts: &Facts<'_>, location: LocationId) -> bool {
    facts.waited(location, &FOR_TASKS).is_positive()
}

/// Why a thread of a pool is passive that could work if there were work. A thread that waits for another
/// process, or for a descriptor, waits for an answer, and no thread could give it work instead.
const FOR_TASKS: [PassiveReason; 6] = [
    PassiveReason::Condition,
    PassiveReason::Semaphore,
    PassiveReason::Park,
    PassiveReason::Pool,
    PassiveReason::Queue,
    PassiveReason::Futex,
];

fn is_for_tasks(state: State) -> bool {
    matches!(state, State::Passive(reason) if FOR_TASKS.contains(&reason))
}

/// The threads that wait for tasks again and again: a thread that waits once, for the whole run, is parked.
fn waiters(facts: &Facts<'_>) -> BTreeSet<LocationId> {
    let mut times: FxHashMap<LocationId, u64> = FxHashMap::default();
    for calls in facts.calls.iter().filter(|calls| is_for_tasks(calls.state)) {
        *times.entry(calls.location).or_default() += calls.calls;
    }
    times
        .into_iter()
        .filter(|&(_, times)| limits::WAITS_AGAIN.holds(times as f64))
        .map(|(id, _)| id)
        .collect()
}

fn idle_pool(facts: &Facts<'_>) -> Option<Finding> {
    let process_of = |location: LocationId| facts.profile.locations[location].process;
    let waiters = waiters(facts);
    let pools: BTreeSet<ProcessId> = waiters.iter().map(|&id| process_of(id)).collect();
    // Time between parallel regions is reported as serial; and more work would be of no use to a member that
    // begins late with its part of a region, since it was woken late.
    let is_of_regions = |location, context| {
        facts.regions.as_ref().is_some_and(|regions| {
            regions.is_between(location, context) || regions.is_divided(location, context)
        })
    };
    let short = facts.stretches.in_short.iter().filter(|&(&(location, context), _)| {
        pools.contains(&process_of(location)) && !is_of_regions(location, context)
    });
    let mut by_context: FxHashMap<ContextId, Ns> = FxHashMap::default();
    let mut at_work: FxHashMap<ContextId, BTreeSet<LocationId>> = FxHashMap::default();
    for (&(location, context), &time) in short {
        *by_context.entry(context).or_default() += time;
        at_work.entry(context).or_default().insert(location);
    }
    let lost: Ns = by_context.values().sum();
    let waiting: Ns = waiters.iter().map(|&id| facts.waited(id, &FOR_TASKS)).sum();
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, Ns::ZERO)
        || !checks.holds(&limits::IDLE_SHARE, lost / facts.total.max(Ns::SHORTEST))
        || !checks.holds(&limits::SHORT_STRETCHES, facts.stretches.short as f64)
        || !checks.holds(&limits::OTHERS_WORK, others_work(facts))
        || !checks.holds(&limits::WAITING_FOR_WORK, waiting / lost.max(Ns::SHORTEST))
    {
        return None;
    }
    let mut by_function: FxHashMap<_, FxHashMap<ContextId, Ns>> = FxHashMap::default();
    let of_program = by_context.iter().filter(|&(&context, _)| facts.places.start(context).is_some());
    for (&context, &time) in of_program {
        by_function.entry(facts.places.function(context)).or_default().insert(context, time);
    }
    let sum = |of: &FxHashMap<ContextId, Ns>| of.values().sum::<Ns>();
    let (_, worst) = by_function.iter().max_by(|a, b| sum(a.1).cmp(&sum(b.1)).then(b.0.cmp(a.0)))?;
    let cause = facts.places.part(worst, limits::PHASE_SHARE.value)?;
    let workers: BTreeSet<LocationId> =
        worst.keys().filter_map(|context| at_work.get(context)).flatten().copied().collect();
    let cause = facts.located(cause, workers.iter().copied());
    let mut finding = facts.finding(Kind::IdlePool, Account::Serial, lost, Ns::ZERO, cause);
    let waits = facts.ledger.passive.iter().filter(|row| FOR_TASKS.contains(&row.reason));
    let waits = waits.filter(|row| waiters.contains(&row.location));
    finding.victims = facts.victims(waits.map(|row| (row.location, row.context, Ns::of(row.ns))));
    finding.evidence = vec![
        Figure::time(FigureId::EmptyInShortStretches, lost),
        Figure::count(FigureId::Stretches, facts.stretches.short as f64),
        Figure::share(FigureId::ShareWhileWorking, sum(worst) / lost.max(Ns::SHORTEST)),
        Figure::time(FigureId::WaitedForWork, waiting),
    ];
    finding.awaited = facts.awaited(&Vec::from_iter(workers));
    finding.sure = Sure::Likely;
    finding.checks = checks.kept();
    Some(finding)
}
