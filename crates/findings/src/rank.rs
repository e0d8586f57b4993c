//! Which findings are shown, and in which order.

use proust_profile::Ns;

use super::asked;
use super::facts::Facts;
use super::finding::{Finding, Kind, Sure, Victim};
use super::openmp::NEAR;
use super::place::Place;
use super::processes;
use super::range;
use super::thresholds::{CROWDED_SHARE, Check, Checks, LARGE_SHARE, LEAST_SHARE, Threshold, UNEVEN_SHARE};
use super::unexplained;

/// The most that are shown.
pub const MOST: usize = 10;

/// Largest recoverable amount first; waits without a known cause and what is about an interval as a whole
/// last; of the same cause and account only the largest; nothing that hardly matters.
///
/// More threads than processors lose time that no change gives back: that is worth a note even so. Where a
/// kind explains a loss in more detail than a general one, only that is reported.
pub(super) fn ranked(facts: &Facts<'_>, mut found: Vec<Finding>) -> Vec<Finding> {
    asked::name(facts, &mut found);
    found = processes::merged(facts, found);
    let special: Vec<Finding> = found.iter().filter(|one| !general(one.kind).is_empty()).cloned().collect();
    found.retain(|finding| !special.iter().any(|special| says_more(facts, special, finding)));
    found.retain(|finding| {
        matches!(finding.kind, Kind::Oversubscription | Kind::OmpNestedTeams)
            || facts.total.is_positive() && finding.recoverable / facts.total >= LEAST_SHARE.value
    });
    // Now that each loss is there once.
    let mut unexplained = Vec::from_iter(unexplained::find(facts, &found));
    asked::name(facts, &mut unexplained);
    found.extend(unexplained);
    for finding in &mut found {
        (finding.low, finding.high) = range::range(facts, finding);
        weigh(facts, finding);
    }
    // Of more threads than processors some are late wherever all meet.
    let is_crowded = found.iter().any(|one| one.kind == Kind::Oversubscription);
    let is_chance = |kind| is_crowded && matches!(kind, Kind::LateThread | Kind::LateWork);
    // What was sampled counts as far as it is beyond chance.
    let beyond = |one: &Finding| one.recoverable - one.error * range::SIGMAS;
    found.sort_by(|a, b| {
        let is_last = |kind| kind == Kind::UnexplainedWait || is_chance(kind);
        let last = |one: &Finding| (one.kind.is_of_interval(), is_last(one.kind));
        last(a)
            .cmp(&last(b))
            .then_with(|| beyond(b).cmp(&beyond(a)))
            .then_with(|| b.lost.cmp(&a.lost))
            .then_with(|| (a.kind, a.cause.line).cmp(&(b.kind, b.cause.line)))
    });
    before_phases(facts, &mut found);
    found.truncate(MOST);
    for finding in &mut found {
        finding.processes = processes::of(facts, finding);
    }
    found
}

/// Work that is mostly one avoidable cost is better avoided than divided: what costs so much of a phase
/// comes before it.
fn before_phases(facts: &Facts<'_>, found: &mut [Finding]) {
    for at in 0..found.len() {
        let phase = &found[at];
        if phase.kind != Kind::SerialPhase {
            continue;
        }
        let alone = phase.lost / (facts.width - 1.0).max(1.0);
        let is_in = |one: &Finding| {
            let within = |victim: &Victim| {
                let context = victim.place.context.zip(phase.cause.function.as_deref());
                context.is_some_and(|(context, name)| facts.places.is_below_named(context, name))
            };
            costs(one.kind) && one.sure != Sure::Possible && one.victims.iter().all(within)
        };
        let cost = (at + 1..found.len()).find(|&cost| {
            is_in(&found[cost]) && !found[cost].victims.is_empty() && found[cost].lost >= alone * MOSTLY
        });
        if let Some(cost) = cost {
            found[at..=cost].rotate_right(1);
        }
    }
}

/// Of a phase, the part that one cost takes, to be what is to be changed.
const MOSTLY: f64 = 0.5;

/// Processor time that a program need not spend.
fn costs(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::TinyIo
            | Kind::FileChurn
            | Kind::SystemStorm
            | Kind::ProcessChurn
            | Kind::ExceptionChurn
            | Kind::FaultChurn
            | Kind::AllocationChurn
            | Kind::MemoryClearing
            | Kind::MemoryCopying
            | Kind::TextScanning
            | Kind::RepeatedPreparation
    )
}

/// Every program loses a little to each sort of thing: what is small is no fault for sure, however exactly it
/// was measured. Neither is what a library does for the program, nor what has no name: most programs without
/// symbols are finished ones, which their users run, and the loss may be the price of what they do.
fn weigh(facts: &Facts<'_>, finding: &mut Finding) {
    let is_of_library = std::mem::take(&mut finding.unnamed);
    if finding.sure == Sure::Possible {
        return;
    }
    let total = facts.total.max(Ns::SHORTEST);
    let (limit, share): (&Threshold<f64>, f64) = match finding.kind {
        // Nothing is won by fewer threads but what switching between them costs; and one that reads or writes
        // beside a pool that fills the processors queues, too.
        Kind::Oversubscription => (&CROWDED_SHARE, finding.lost / total),
        Kind::OmpNestedTeams => (&LARGE_SHARE, finding.lost / total),
        // No work can be divided into parts that are all there from the beginning and end together.
        Kind::SerialPhase | Kind::LongTask | Kind::IdlePool | Kind::LateThread | Kind::LateWork => {
            (&UNEVEN_SHARE, finding.recoverable / total)
        }
        _ => (&LARGE_SHARE, finding.recoverable / total),
    };
    let mut checks = Checks::default();
    if !checks.holds(limit, share) {
        (finding.sure, finding.small) = (Sure::Possible, true);
    } else if is_of_library || facts.places.is_unnamed(&finding.cause) {
        (finding.sure, finding.unnamed) = (Sure::Possible, true);
    } else if !finding.checks.iter().any(|check: &Check| check.threshold == limit.id) {
        finding.checks.extend(checks.kept());
    }
}

/// By so much a loss is larger than another one that it may be a part of.
const MUCH_MORE: f64 = 1.5;

/// Kinds that say less of the same loss.
fn general(kind: Kind) -> &'static [Kind] {
    match kind {
        Kind::OmpDeepConstruct => &[Kind::LateThread, Kind::LateWork],
        Kind::OmpUnevenLoop => &[Kind::LateThread, Kind::LateWork],
        Kind::OmpLargeChunks => &[Kind::LateThread, Kind::LateWork],
        Kind::LateWork => &[Kind::OmpUnevenLoop],
        Kind::WorkByTurns => &[Kind::IdlePool],
        Kind::LibraryLock => &[Kind::WorkByTurns],
        Kind::OmpHotCritical => &[Kind::HotSection, Kind::Convoy, Kind::LongSection, Kind::LockSpin],
        Kind::OmpNestedTeams => &[Kind::Oversubscription],
        Kind::OmpTeamOfOne => &[Kind::SerialPhase, Kind::LongTask, Kind::OmpSerialPart],
        Kind::OmpSmallTasks | Kind::OmpSerialTasks => &[Kind::LateThread, Kind::LateWork],
        Kind::RoundTrips => &[Kind::SleepPoll],
        Kind::UnreadOutput => &[Kind::SerialPhase, Kind::LongTask, Kind::IdlePool],
        // Their own instructions are what their time is measured by.
        Kind::HotSection | Kind::Convoy | Kind::LockSpin => &[Kind::HotAtomic],
        Kind::FaultChurn => &[Kind::AllocationChurn],
        Kind::MpiIdleRank => &[Kind::MpiLateSender],
        Kind::MpiSerialChain => &[Kind::MpiLateSender, Kind::MpiLateReceiver, Kind::MpiImbalance],
        _ => &[],
    }
}

/// Whether `special` is about the same loss as `other`, and says more of it.
fn says_more(facts: &Facts<'_>, special: &Finding, other: &Finding) -> bool {
    // The thread that opened a region waits for its end in the function around it.
    let is_near = |a: &Place, b: &Place| {
        a.file == b.file && a.line.zip(b.line).is_some_and(|(a, b)| a.abs_diff(b) <= NEAR)
    };
    // A function that only has a region may be a part of its caller, at another line.
    let is_call = |region: &Place, at: &Place| {
        region.context.zip(at.context).is_some_and(|(region, at)| facts.places.begins_only(at, region))
    };
    let same =
        |a: &Place, b: &Place| a.function == b.function && a.line == b.line || is_near(a, b) || is_call(a, b);
    general(special.kind).contains(&other.kind)
        && match special.kind {
            Kind::OmpNestedTeams => true,
            // The writers are those that seemed to have a phase of their own.
            Kind::UnreadOutput => {
                let mut writers = special.victims.iter().filter_map(|victim| victim.place.context);
                let phase = other.cause.function.as_deref();
                phase.is_some_and(|phase| writers.any(|writer| facts.places.is_below_named(writer, phase)))
            }
            // The others are late for it only.
            Kind::MpiIdleRank => {
                let waits =
                    |one: &Place| special.victims.iter().any(|victim| victim.place.context == one.context);
                other.victims.iter().all(|victim| waits(&victim.place))
            }
            // A slow service may sleep; a client that sleeps itself waits for that.
            Kind::RoundTrips => {
                !other.cause.processes.iter().any(|one| special.cause.processes.contains(one))
            }
            _ if matches!(other.kind, Kind::HotAtomic | Kind::AllocationChurn) => {
                let places = special.victims.iter().map(|victim| &victim.place).chain([&special.cause]);
                places.into_iter().any(|place| place.function == other.cause.function)
            }
            Kind::OmpTeamOfOne => {
                let inside = other.cause.context.zip(special.cause.context);
                // A phase that is much more than the loop is not about the loop.
                other.lost <= special.lost * MUCH_MORE
                    && inside.is_some_and(|(inner, outer)| facts.places.is_in_function_of(inner, outer))
            }
            // Neither explains a loss that is much more than itself.
            Kind::OmpUnevenLoop if other.kind == Kind::LateWork && other.lost > special.lost * MUCH_MORE => {
                false
            }
            Kind::LateWork if special.lost <= other.lost * MUCH_MORE => false,
            Kind::WorkByTurns if other.lost > special.lost * MUCH_MORE => false,
            _ => special.victims.iter().any(|mine| other.victims.iter().any(|v| same(&mine.place, &v.place))),
        }
}
