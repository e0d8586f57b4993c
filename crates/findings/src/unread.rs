//! Processes that wait to write, since the one that reads what they write waits for another of them.
//!
//! A pipe holds little. Where one reader takes all from one writer before it turns to the next, the others
//! fill their pipes and stop, and work when the first has ended: the reader makes them work by turns.
//!
//! Which pipe a call is about is not known across processes. So the writers write in the same function, and
//! it is known how long one was blocked in it and the reader was blocked in reading at the same time: at
//! least what both waits are longer than the time in which any of the two lives.

use std::collections::BTreeMap;

use proust_profile::{ContextId, FunctionId, LocationId, Nature, Ns};
use rustc_hash::FxHashMap;

use super::calls::Calls;
use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::{Account, PassiveReason, State};

/// How long each location was blocked, by where.
type Blocked = BTreeMap<LocationId, FxHashMap<ContextId, Ns>>;

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    if facts.width < 2.0 {
        return Vec::new();
    }
    let mut writers: BTreeMap<Option<FunctionId>, Blocked> = BTreeMap::new();
    let mut readers: Blocked = BTreeMap::new();
    // Whoever writes to a socket reads from it as a rule: its waits are for answers.
    let of_pipes = |call: &&Calls| call.state == State::Passive(PassiveReason::Pipe);
    for call in facts.calls.iter().filter(of_pipes) {
        let of = match facts.nature(call.operation) {
            Some(Nature::Write) => writers.entry(facts.places.function(call.context)).or_default(),
            Some(Nature::Read) => &mut readers,
            _ => continue,
        };
        *of.entry(call.location).or_default().entry(call.context).or_default() += Ns::of(call.time_ns);
    }
    writers.into_values().filter_map(|writers| unread(facts, &writers, &readers)).collect()
}

fn unread(facts: &Facts<'_>, writers: &Blocked, readers: &Blocked) -> Option<Finding> {
    if writers.len() < 2 {
        return None;
    }
    let all = |of: &FxHashMap<ContextId, Ns>| of.values().sum::<Ns>();
    let others = readers.iter().filter(|(location, _)| !writers.contains_key(location));
    let (&reader, reads) = others.max_by(|a, b| all(a.1).cmp(&all(b.1)).then(b.0.cmp(a.0)))?;
    let of_reader = &facts.profile.locations[reader];
    let both = |location: LocationId, writes: &FxHashMap<ContextId, Ns>| {
        let of_writer = &facts.profile.locations[location];
        let lives = of_writer.end.max(of_reader.end) - of_writer.start.min(of_reader.start);
        (all(writes) + all(reads) - lives).clamp(Ns::ZERO, all(writes))
    };
    let blocked: Vec<(LocationId, ContextId, Ns)> = writers
        .iter()
        .filter_map(|(&location, writes)| {
            let most = writes.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0)))?;
            Some((location, *most.0, both(location, writes)))
        })
        .collect();
    let lost: Ns = blocked.iter().map(|(.., time)| *time).sum();
    let mut checks = Checks::default();
    if !checks.holds(&limits::UNREAD_OF_RUN, lost / facts.wall.max(Ns::SHORTEST))
        || !facts.matters(&mut checks, lost, Ns::ZERO)
    {
        return None;
    }
    let context = reads.iter().max_by(|a, b| a.1.cmp(b.1).then(b.0.cmp(a.0))).map(|(&context, _)| context)?;
    let cause = facts.located(facts.places.place(context), [reader]);
    let mut finding = facts.finding(Kind::UnreadOutput, Account::Serial, lost, Ns::ZERO, cause);
    let waited: Vec<_> = blocked.iter().filter(|(.., time)| time.is_positive()).copied().collect();
    finding.evidence = vec![
        Figure::time(FigureId::WaitedToWrite, blocked.iter().map(|one| all(&writers[&one.0])).sum()),
        Figure::time(FigureId::WaitedToRead, all(reads)),
        Figure::count(FigureId::ThreadsThatWaitedSo, waited.len() as f64),
    ];
    finding.victims = facts.victims(waited);
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}
