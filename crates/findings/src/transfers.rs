//! I/O: calls that move a few bytes, files that are synchronised all the time, and calls that take much of
//! the run.

use std::collections::BTreeSet;

use proust_profile::{
    ContextId, Detail, FunctionId, LocationId, Nature, Ns, OperationId, OperationKind, ProcessId, Target,
};
use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::figure::{Figure, FigureId};
use super::finding::{Finding, Kind, Sure};
use super::place::Place;
use super::thresholds::{self as limits, Checks};
use proust_account::ledger::Account;

/// The least bytes of a call whose cost is mostly that of its bytes.
const GOOD_BYTES: f64 = 65_536.0;

/// Calls of an operation at a place.
#[derive(Clone, Debug, Default)]
struct AtPlace {
    calls: f64,
    bytes: f64,
    time: Ns,
    context: ContextId,
    by_context: FxHashMap<(LocationId, ContextId), Ns>,
    /// The calls that lead to another process, or to a person, by caller.
    to_others: FxHashMap<LocationId, f64>,
}

impl AtPlace {
    /// What the ledger has of these calls on the account of I/O.
    fn booked(&self, io: &FxHashMap<(LocationId, ContextId), Ns>) -> Ns {
        self.by_context.keys().filter_map(|key| io.get(key)).sum()
    }
}

type Line = (Option<FunctionId>, Option<u32>);

/// By place and operation: the average over several operations fits none of them.
fn calls(facts: &Facts<'_>) -> FxHashMap<(Line, OperationId), AtPlace> {
    let mut by_place: FxHashMap<_, AtPlace> = FxHashMap::default();
    for row in &facts.sums.rows {
        let Some(operation) = facts.operation(row.operation) else { continue };
        let moves = matches!(operation.nature, Nature::Read | Nature::Write);
        if !(synchronises(operation) || moves && moves_bytes(operation)) {
            continue;
        }
        let sum = by_place
            .entry((facts.places.line_key(row.context), row.operation))
            .or_insert_with(|| AtPlace { context: row.context, ..AtPlace::default() });
        let (calls, time) = (row.calls as f64, Ns::of(row.time_ns));
        sum.calls += calls;
        sum.bytes += row.bytes as f64;
        sum.time += time;
        *sum.by_context.entry((row.location, row.context)).or_default() += time;
        if is_to_others(row.target) {
            *sum.to_others.entry(row.location).or_default() += calls;
        }
    }
    by_place
}

/// Whether a call is made to move bytes: names of files and random numbers have sizes of their own.
fn moves_bytes(operation: OperationKind) -> bool {
    operation.detail != Detail::Piecewise
}

/// Whether a call goes through a buffer of the C library: most do not reach the system.
fn is_buffered(operation: OperationKind) -> bool {
    operation.detail == Detail::Buffered
}

fn is_to_others(target: Target) -> bool {
    matches!(target, Target::Socket | Target::Pipe | Target::Terminal)
}

/// How often each thread waits for others between its transfers: looks whether there is anything, takes in
/// and gives out. A program that answers one request after the other cannot collect the answers.
fn turns(facts: &Facts<'_>) -> FxHashMap<LocationId, (f64, f64, f64)> {
    let mut turns: FxHashMap<LocationId, (f64, f64, f64)> = FxHashMap::default();
    for row in &facts.sums.rows {
        let of = turns.entry(row.location).or_default();
        match facts.nature(row.operation) {
            Some(Nature::Poll) => of.0 += row.calls as f64,
            Some(Nature::Read) if is_to_others(row.target) => of.1 += row.calls as f64,
            Some(Nature::Write) if is_to_others(row.target) => of.2 += row.calls as f64,
            _ => {}
        }
    }
    turns
}

fn synchronises(operation: OperationKind) -> bool {
    operation.detail == Detail::Storage
}

pub(super) fn find(facts: &Facts<'_>) -> Vec<Finding> {
    let mut io: FxHashMap<(LocationId, ContextId), Ns> = FxHashMap::default();
    for row in facts.ledger.spent.iter().filter(|row| row.account == Account::Io) {
        *io.entry((row.location, row.context)).or_default() += Ns::of(row.ns);
    }
    let turns = turns(facts);
    (calls(facts).into_iter())
        .filter_map(|((_, operation), sum)| match facts.operation(operation)? {
            operation if synchronises(operation) => sync_storm(facts, &sum, &io, false),
            operation => tiny_io(facts, operation, &sum, &turns, &io).or_else(|| {
                if !sum.to_others.is_empty() {
                    return None;
                }
                let is_write = operation.nature == Nature::Write && !is_buffered(operation);
                let synchronised = is_write.then(|| sync_storm(facts, &sum, &io, true)).flatten();
                synchronised.or_else(|| much_io(facts, operation, &sum, &io))
            }),
        })
        .collect()
}

/// Of calls at a place, those that go to others and have an answer, a request or a look between them.
fn answered(operation: OperationKind, sum: &AtPlace, turns: &FxHashMap<LocationId, (f64, f64, f64)>) -> f64 {
    let of = |(location, &calls): (&LocationId, &f64)| {
        let (looks, reads, writes) = turns.get(location).copied().unwrap_or_default();
        let between = looks + if operation.nature == Nature::Read { writes } else { reads };
        calls.min(between * CALLS_A_TURN)
    };
    sum.to_others.iter().map(of).sum()
}

/// Calls for each look or answer up to which they are taken for answers themselves.
const CALLS_A_TURN: f64 = 4.0;

/// How many bytes calls through a buffer moved on average, by what the kernel counted of their processes and
/// no other recorded call moved: the one that finds the buffer full moves what all before have put there.
fn bytes_through_buffers(facts: &Facts<'_>, nature: Nature, sum: &AtPlace) -> Option<f64> {
    let profile = facts.profile;
    let processes: BTreeSet<ProcessId> =
        sum.by_context.keys().map(|&(location, _)| profile.locations[location].process).collect();
    let mut moved = 0.0;
    for &process in &processes {
        let of_samples = profile.process_samples.iter().filter(|row| row.process == process);
        let bytes = of_samples.filter_map(|row| match nature {
            Nature::Read => row.read_by_calls_bytes,
            _ => row.written_by_calls_bytes,
        });
        let (least, most) = bytes.fold((u64::MAX, 0), |(least, most), one| (least.min(one), most.max(one)));
        moved += most.checked_sub(least)? as f64;
    }
    let mut calls = 0.0;
    for row in &facts.sums.rows {
        let Some(operation) = facts.operation(row.operation).filter(|operation| operation.nature == nature)
        else {
            continue;
        };
        if processes.contains(&profile.locations[row.location].process) {
            match is_buffered(operation) {
                true => calls += row.calls as f64,
                false => moved -= row.bytes as f64,
            }
        }
    }
    (calls > 0.0).then(|| moved.max(0.0) / calls)
}

/// Whether calls through a buffer reach the system, by the processor time at their line.
fn reaches_the_system(facts: &Facts<'_>, checks: &mut Checks, sum: &AtPlace) -> bool {
    let line = facts.places.line_key(sum.context);
    let at =
        (0..facts.cpu.len()).map(ContextId::from_index).filter(|&id| facts.cpu[id.index()].is_positive());
    let at = at.filter(|&id| facts.places.line_key(id) == line);
    let (cpu, system) = at.fold((Ns::ZERO, Ns::ZERO), |(cpu, system), id| {
        (cpu + facts.cpu[id.index()], system + facts.system[id.index()])
    });
    checks.holds(&limits::IN_KERNEL, system.share_of(cpu))
}

fn tiny_io(
    facts: &Facts<'_>,
    operation: OperationKind,
    sum: &AtPlace,
    turns: &FxHashMap<LocationId, (f64, f64, f64)>,
    io: &FxHashMap<(LocationId, ContextId), Ns>,
) -> Option<Finding> {
    let (mut bytes, call) = (sum.bytes / sum.calls.max(1.0), sum.time / sum.calls.max(1.0));
    if is_buffered(operation) && limits::TINY_BYTES.holds(bytes) {
        bytes = bytes_through_buffers(facts, operation.nature, sum).map_or(bytes, |moved| moved.max(bytes));
    }
    // Who reads past the system's cache waits for the device each time.
    let is_from_device = operation.nature == Nature::Read
        && !is_buffered(operation)
        && sum.to_others.is_empty()
        && !limits::TINY_BYTES.holds(bytes)
        && limits::DEVICE_READ_S.holds(call);
    let (most_bytes, least_time) = match is_from_device {
        true => (limits::DEVICE_READ_BYTES, limits::DEVICE_READ_S),
        false => (limits::TINY_BYTES, limits::TINY_CALL_S),
    };
    // Waits of a pipe or socket are no fault here.
    let lost = sum.time.min(sum.booked(io)) * (1.0 - (bytes / GOOD_BYTES).min(1.0));
    let mut checks = Checks::default();
    if !checks.holds(&limits::TINY_CALLS, sum.calls - answered(operation, sum, turns))
        || !checks.holds(&limits::SOME_BYTES, bytes)
        || !checks.holds(&most_bytes, bytes)
        || !checks.holds(&least_time, call)
        || is_buffered(operation) && !reaches_the_system(facts, &mut checks, sum)
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let place = located(facts, sum);
    let burned = if is_from_device { Ns::ZERO } else { lost };
    let mut finding = facts.finding(Kind::TinyIo, Account::Io, lost, burned, place);
    finding.victims = victims(facts, sum);
    finding.evidence = vec![
        Figure::count(FigureId::Calls, sum.calls),
        Figure::bytes(FigureId::BytesOfCall, bytes),
        Figure::time(if is_from_device { FigureId::EachOnAverage } else { FigureId::TimeOfCall }, call),
        Figure::time(FigureId::AllOfThem, sum.time),
    ];
    // What is read may be needed in such pieces, and lie anywhere.
    finding.sure = if is_from_device { Sure::Possible } else { Sure::Certain };
    finding.checks = checks.kept();
    Some(finding)
}

/// `by_time`: of writes, which synchronise the file if it was opened so. That is not recorded: it is
/// concluded from how long one of a few bytes takes. Slow storage, as over a network, looks the same.
fn sync_storm(
    facts: &Facts<'_>,
    sum: &AtPlace,
    io: &FxHashMap<(LocationId, ContextId), Ns>,
    by_time: bool,
) -> Option<Finding> {
    // What a thread queues for a processor when a call is over is not the file's. One at the end is needed to
    // be safe.
    let lost = sum.time.min(sum.booked(io)) * (1.0 - 1.0 / sum.calls.max(1.0));
    let each = sum.time / sum.calls.max(1.0);
    let mut checks = Checks::default();
    if by_time && (sum.bytes > GOOD_BYTES * sum.calls || !checks.holds(&limits::SYNC_WRITE_S, each)) {
        return None;
    }
    if !checks.holds(&limits::SYNC_CALLS, sum.calls) || !facts.matters(&mut checks, lost, Ns::ZERO) {
        return None;
    }
    let mut finding = facts.finding(Kind::SyncStorm, Account::Io, lost, Ns::ZERO, located(facts, sum));
    finding.victims = victims(facts, sum);
    finding.evidence = vec![
        Figure::count(FigureId::Synchronisations, sum.calls),
        Figure::time(FigureId::EachOnAverage, each),
        Figure::time(FigureId::AllOfThem, sum.time),
    ];
    finding.sure = if by_time { Sure::Possible } else { Sure::Certain };
    finding.checks = checks.kept();
    Some(finding)
}

/// Files only: what goes to other processes has kinds of its own. I/O counts as productive, and may be what
/// the program is for: possible at most.
fn much_io(
    facts: &Facts<'_>,
    operation: OperationKind,
    sum: &AtPlace,
    io: &FxHashMap<(LocationId, ContextId), Ns>,
) -> Option<Finding> {
    let lost = sum.time.min(sum.booked(io));
    let mut checks = Checks::default();
    if !checks.holds(&limits::MUCH_IO, lost / facts.total.max(Ns::SHORTEST))
        || is_buffered(operation) && !reaches_the_system(facts, &mut checks, sum)
        || !facts.matters(&mut checks, lost, lost)
    {
        return None;
    }
    let mut finding = facts.finding(Kind::MuchIo, Account::Io, lost, lost, located(facts, sum));
    finding.victims = victims(facts, sum);
    let calls = sum.calls.max(1.0);
    let in_all = if operation.nature == Nature::Read { FigureId::ReadInAll } else { FigureId::WrittenInAll };
    finding.evidence = vec![
        Figure::bytes(in_all, sum.bytes),
        Figure::count(FigureId::Calls, sum.calls),
        Figure::bytes(FigureId::BytesOfCall, sum.bytes / calls),
        Figure::time(FigureId::TimeOfCall, sum.time / calls),
        Figure::time(FigureId::AllOfThem, sum.time),
    ];
    finding.sure = Sure::Possible;
    finding.checks = checks.kept();
    Some(finding)
}

fn located(facts: &Facts<'_>, sum: &AtPlace) -> Place {
    facts.located(facts.places.place(sum.context), sum.by_context.keys().map(|(location, _)| *location))
}

fn victims(facts: &Facts<'_>, sum: &AtPlace) -> Vec<super::finding::Victim> {
    facts.victims(sum.by_context.iter().map(|(&(location, context), &time)| (location, context, time)))
}
