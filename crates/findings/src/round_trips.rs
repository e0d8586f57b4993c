//! Requests that are sent one by one: each when the answer to the one before is there, and nothing works
//! meanwhile.
//!
//! A location that sends as often as it waits for bytes from elsewhere waits for answers. How long nothing
//! worked during such a wait is known exactly; a slow service, a device or another host has that time. If it
//! could answer several at once, they should be on their way at once. Where a location of the same process
//! sleeps meanwhile, that is what it waits for.
//!
//! A client and its server wait alike. A server accepts connections; otherwise the process that was there
//! first is the client. An event loop waits in one place for all: there it is where the requests are sent
//! that is named.

use std::collections::{BTreeMap, BTreeSet};

use proust_account::ledger::Account;
use proust_profile::{ContextId, LocationId, Nature, Ns, ProcessId, Target};
use rustc_hash::FxHashMap as Map;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::handovers::Wait;
use super::thresholds::{self as limits, Checks};

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    one_by_one(facts).into_iter().collect()
}

fn one_by_one(facts: &Facts<'_>) -> Option<Finding> {
    let sends = sends(facts);
    let mut waits: Vec<(Wait, bool)> = (facts.stretches.answers.waits.iter())
        .filter(|&(&(location, ..), handed)| {
            let (sent, to_pipes) = sends.get(&location).map_or((0, 0), Sent::times);
            let asks_again = sent > to_pipes || handed.times >= ASKED_BY_PIPE;
            asks_again
                && sent as f64 >= handed.times as f64 * SENT_EACH
                && !facts.profile.locations[location].service
        })
        .map(|(&(location, context, of_several), &handed)| ((location, context, handed), of_several))
        .collect();
    waits.sort_unstable_by_key(|&((location, context, _), of_several)| (location, context, of_several));
    let servers = servers(facts);
    let process = |wait: &Wait| facts.profile.locations[wait.0].process;
    let is_server = |(wait, _): &(Wait, bool)| servers.contains(&process(wait));
    if !waits.iter().all(is_server) {
        waits.retain(|wait| !is_server(wait));
    }
    let mut by_place: BTreeMap<_, (ContextId, Vec<Wait>)> = BTreeMap::new();
    for (wait, of_several) in waits {
        let sent = of_several.then(|| most_sent(facts, &sends.get(&wait.0)?.by_place)).flatten();
        let context = sent.unwrap_or(wait.1);
        let known = by_place.entry(facts.places.line_key(context)).or_insert((context, Vec::new()));
        known.0 = known.0.min(context);
        known.1.push(wait);
    }
    let waited = |of: &[Wait]| of.iter().map(|wait| wait.2.waited).sum::<Ns>();
    let most = by_place.values().map(|(_, of)| waited(of)).max()?;
    let born = |of: &[Wait]| of.iter().map(|wait| facts.profile.processes[process(wait)].start).min();
    let (context, of) = (by_place.into_values())
        .filter(|(_, of)| waited(of) * ALIKE >= most)
        .min_by(|a, b| born(&a.1).cmp(&born(&b.1)).then_with(|| waited(&b.1).cmp(&waited(&a.1))))?;
    // Of threads that wait at the same time each has all of it.
    let rested = waited(&of).min(facts.stretches.answers.rested);
    let lost = rested * facts.width.max(1.0);
    let times: u64 = of.iter().map(|wait| wait.2.times).sum();
    let threads: BTreeSet<LocationId> = of.iter().map(|wait| wait.0).collect();
    let mut checks = Checks::default();
    if !facts.matters(&mut checks, lost, Ns::ZERO)
        || !checks.holds(&limits::ANSWERS, times as f64)
        || !checks.holds(&limits::ANSWER_S, waited(&of) / times.max(1) as f64)
        || !checks.holds(&limits::ANSWERS_OF_RUN, rested / facts.wall.max(Ns::SHORTEST))
    {
        return None;
    }
    let cause = facts.located(facts.places.place(context), threads.iter().copied());
    let mut finding = facts.finding(Kind::RoundTrips, Account::Asleep, lost, Ns::ZERO, cause);
    finding.victims = facts.victims(of.iter().map(|wait| (wait.0, wait.1, wait.2.waited)));
    finding.evidence = vec![
        Figure::time(FigureId::StandingStill, rested),
        Figure::count(FigureId::Answers, times as f64),
        Figure::time(FigureId::MeanAnswer, waited(&of) / times.max(1) as f64),
        Figure::count(FigureId::ThreadsThatWaitedSo, threads.len() as f64),
    ];
    // That no request needs the answer to the one before is an assumption.
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

/// Who waits for answers sends at least so many times for each: some are there before they are waited for,
/// and some come in several parts.
const SENT_EACH: f64 = 0.25;

/// The two sides of a connection wait alike: sums up to this ratio are.
const ALIKE: f64 = 1.5;

/// What a process sends by pipes only and seldom are no requests: a shell writes what it was started for, and
/// waits for what the commands print that it starts.
const ASKED_BY_PIPE: u64 = 5;

/// How often a location sent to others.
#[derive(Default)]
struct Sent {
    by_place: Map<ContextId, u64>,
    to_pipes: u64,
}

impl Sent {
    /// In all, and to pipes.
    fn times(&self) -> (u64, u64) {
        (self.by_place.values().sum(), self.to_pipes)
    }
}

fn sends(facts: &Facts<'_>) -> Map<LocationId, Sent> {
    let mut sends: Map<LocationId, Sent> = Map::default();
    let to_others = |target| matches!(target, Target::Socket | Target::Pipe | Target::Event);
    for row in facts.sums.rows.iter().filter(|row| to_others(row.target)) {
        if facts.nature(row.operation) == Some(Nature::Write) {
            let sent = sends.entry(row.location).or_default();
            *sent.by_place.entry(row.context).or_default() += row.calls;
            sent.to_pipes += if row.target == Target::Pipe { row.calls } else { 0 };
        }
    }
    sends
}

/// The processes that accept connections.
fn servers(facts: &Facts<'_>) -> BTreeSet<ProcessId> {
    let accepts = facts.sums.rows.iter().filter(|row| facts.nature(row.operation) == Some(Nature::Accept));
    accepts.map(|row| facts.profile.locations[row.location].process).collect()
}

/// The line of the program at which one sends most often.
fn most_sent(facts: &Facts<'_>, sent: &Map<ContextId, u64>) -> Option<ContextId> {
    let written = sent.iter().filter(|(at, _)| facts.places.is_written(**at));
    facts.heaviest_line(written.map(|(&at, &times)| (at, times as f64))).map(|(_, at)| at)
}
