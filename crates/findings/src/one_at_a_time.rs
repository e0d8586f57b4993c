//! Programs whose threads or processes hardly ever work at once, though there are processors for several: all
//! the work is done while a limit lets one in, each is started when the one before it has ended, or a pool
//! has one worker.
//!
//! If no two ever did, the ledger's total of such a run is one processor's time, and nothing of it is lost:
//! what it could have won is the processors that it never used. Two that did for a moment make all of it
//! serial.

use std::collections::BTreeMap;

use proust_profile::{LocationId, Ns};

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::handovers::{Handed, Wait};
use super::thresholds::{self as limits, Checks};
use super::wait_places::{by_place, place_of};
use proust_account::ledger::{Account, PassiveReason};

/// Of one program, all its waits that ended when another one of it had worked alone.
pub(super) fn of_program(facts: &Facts<'_>, program: &str, mut waits: Vec<Wait>) -> Option<Finding> {
    waits.sort_unstable_by_key(|&(location, context, _)| (location, context));
    let alone: Ns = waits.iter().map(|(.., handed)| handed.waited).sum();
    let lost = alone * (facts.reach - 1.0);
    let of_run = alone / facts.wall.max(Ns::SHORTEST);
    let is_of_it = |location: LocationId| {
        let process = facts.profile.locations[location].process;
        facts.profile.processes[process].executable == program
    };
    let works: BTreeMap<LocationId, Ns> = (facts.profile.locations.iter_enumerated())
        .filter(|&(id, location)| !location.service && is_of_it(id))
        .map(|(id, location)| (id, location.cpu))
        .collect();
    let all: Ns = works.values().copied().sum();
    let most = works.values().copied().max().unwrap_or_default();
    let others = 1.0 - most / all.max(Ns::SHORTEST);
    let times = waits.iter().map(|wait| wait.2.times).max().unwrap_or(0);
    let beside = facts.stretches.beside / facts.stretches.worked.max(Ns::SHORTEST);
    let mut checks = Checks::default();
    if !checks.holds(&limits::ONE_BESIDE, beside)
        || !facts.matters(&mut checks, lost, Ns::ZERO)
        || !checks.holds(&limits::ONE_OF_RUN, of_run)
    {
        return None;
    }
    // Where one has all the work it is a pool of one only if tasks are handed to it again and again: many a
    // program has a thread for all of its work, and one that waits for its end.
    if !checks.holds(&limits::ONE_OTHERS, others) && !checks.holds(&limits::ONE_AGAIN, times as f64) {
        return None;
    }
    // Who only waits for the workers' ends is kept from nothing.
    let works_much = |location: LocationId| {
        works.get(&location).is_some_and(|&work| limits::ONE_WORKER.holds(work / all.max(Ns::SHORTEST)))
    };
    let is_worker = |wait: &Wait| works_much(wait.0);
    let of_workers: Ns = waits.iter().filter(|wait| is_worker(wait)).map(|wait| wait.2.waited).sum();
    if of_workers >= alone * OF_WORKERS {
        waits.retain(is_worker);
    } else {
        // What a worker asks for again and again, as SQLite does for a locked database, it sleeps for.
        let asleep = asleep(facts, works_much);
        if asleep.iter().map(|wait| wait.2.waited).sum::<Ns>() >= alone * OF_WORKERS {
            waits = asleep;
        }
    }
    let (_, (_, there)) =
        (by_place(facts, &waits).into_iter()).max_by(|a, b| a.1.0.cmp(&b.1.0).then(b.0.cmp(&a.0)))?;
    let cause = place_of(facts, &there)?;
    let mut finding = facts.finding(Kind::OneAtATime, Account::Serial, lost, Ns::ZERO, cause);
    finding.victims =
        facts.victims(waits.iter().map(|&(location, context, handed)| (location, context, handed.waited)));
    let workers = works.values().filter(|&&work| limits::ONE_WORKER.holds(work / all.max(Ns::SHORTEST)));
    finding.evidence = vec![
        Figure::time(FigureId::WorkedWhileAnotherWaited, alone),
        Figure::count(FigureId::ThreadsThatWorked, workers.count() as f64),
        Figure::share(FigureId::WorkOfTheOthers, others),
        Figure::count(FigureId::ProcessorsAvailable, facts.available),
    ];
    // That the work of one does not depend on that of another is an assumption.
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

/// The sleeps of workers.
fn asleep(facts: &Facts<'_>, works_much: impl Fn(LocationId) -> bool) -> Vec<Wait> {
    let rows = facts.ledger.passive.iter();
    let rows = rows.filter(|row| row.reason == PassiveReason::Sleep && works_much(row.location));
    rows.map(|row| (row.location, row.context, Handed { times: 0, waited: Ns::of(row.ns) })).collect()
}

/// Where workers wait so much of the time for each other, their waits are the place.
const OF_WORKERS: f64 = 0.25;
