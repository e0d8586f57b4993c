//! Timelines worked out by hand, and laws that hold for random ones. Times are milliseconds.

use proust_profile::context::LOST_RECORDS;
use proust_profile::{Context, ContextId, ContextKind, Function, FunctionId, Ns, OperationId, Target};

use super::*;
use crate::ledger::{Account, PassiveReason, Wait, Work};
use proust_ingest::operation_info;
use proust_log::operations::Operation;

mod classes;
mod laws;
mod operations;
mod partners;
mod samples;

pub(super) const MS: u64 = 1_000_000;
pub(super) const COMPUTE: State = State::Working(Work::Compute);
pub(super) const IO: State = State::Working(Work::Io);
pub(super) const LOCK: State = State::Waiting(Wait::Lock);
pub(super) const UNKNOWN: State = State::Passive(PassiveReason::Unknown);

/// Operations by name have their position here as their number.
const OPERATIONS: [Operation; 12] = [
    Operation::MutexLock,
    Operation::Sleep,
    Operation::Read,
    Operation::Write,
    Operation::MutexTryLock,
    Operation::Barrier,
    Operation::Yield,
    Operation::ConditionWait,
    Operation::Connect,
    Operation::Close,
    Operation::MPI_Recv,
    Operation::OmpBarrier,
];

/// A row of a thread that blocked once.
pub(super) fn row(time_ms: u64, cpu_ms: u64) -> SampleRow {
    SampleRow { time_ns: time_ms * MS, cpu_ns: cpu_ms * MS, voluntary_switches: 1, ..SampleRow::default() }
}

/// A row that stands for samples that were lost, and how often the thread switched with them.
pub(super) fn uncounted(time_ms: u64, cpu_ms: u64) -> SampleRow {
    SampleRow { tail: true, voluntary_switches: 0, ..row(time_ms, cpu_ms) }
}

pub(super) fn event(operation: Operation, begin_ms: u64, end_ms: u64) -> EventRow {
    let position = OPERATIONS.iter().position(|&known| known == operation).unwrap();
    EventRow {
        context: ContextId(1),
        operation: OperationId::from_index(position),
        begin_ns: begin_ms * MS,
        end_ns: end_ms * MS,
        time_ns: (end_ms - begin_ms) * MS,
        calls: 1,
        ..EventRow::default()
    }
}

/// Short operations of `time_ms` in all.
pub(super) fn sum(operation: Operation, until_ms: u64, time_ms: u64) -> EventRow {
    EventRow { time_ns: time_ms * MS, calls: 10, summed: true, ..event(operation, 0, until_ms) }
}

pub(super) fn location(end_ms: u64, queued_ms: u64) -> Location {
    Location { end: Ns::of(end_ms * MS), queued: Ns::of(queued_ms * MS), ..Location::default() }
}

/// A profile whose contexts are the program, three frames, and time of which the records are lost (4).
pub(super) fn profile(locations: Vec<Location>, samples: Vec<SampleRow>, events: Vec<EventRow>) -> Profile {
    let context = |parent, kind, function| Context { parent, kind, function, file: None, line: None };
    let end = locations.iter().map(|location| location.end).max().unwrap_or_default();
    Profile {
        processes: vec![proust_profile::Process { end, ..Default::default() }].into(),
        locations: locations.into(),
        functions: vec![Function { name: LOST_RECORDS.into(), ..Function::default() }].into(),
        contexts: vec![
            context(None, ContextKind::Program, None),
            context(Some(ContextId(0)), ContextKind::Frame, None),
            context(Some(ContextId(0)), ContextKind::Frame, None),
            context(Some(ContextId(0)), ContextKind::Frame, None),
            context(Some(ContextId(0)), ContextKind::Frame, Some(FunctionId(0))),
        ]
        .into(),
        samples: samples.into(),
        operations: OPERATIONS.iter().map(|operation| operation_info(operation.name())).collect(),
        events: events.into(),
        ..Profile::default()
    }
}

pub(super) fn spans_within(location: &Location, rows: &[SampleRow], events: &[EventRow]) -> Vec<Span> {
    spans_with_waits(location, rows, events, &[])
}

pub(super) fn spans_with_waits(
    location: &Location,
    rows: &[SampleRow],
    events: &[EventRow],
    waits: &[PartnerWaitRow],
) -> Vec<Span> {
    spans_of_profile(&profile(vec![], vec![], vec![]), location, rows, events, waits)
}

/// `profile`: what is known beside these rows.
pub(super) fn spans_of_profile(
    profile: &Profile,
    location: &Location,
    rows: &[SampleRow],
    events: &[EventRow],
    waits: &[PartnerWaitRow],
) -> Vec<Span> {
    let states = States::of(profile);
    let spans = Recorded {
        location,
        rows: rows.to_vec(),
        events: || events.iter().copied(),
        waits,
        spool: Spool::default(),
        latencies: &Latencies::of(profile),
        stops: &[],
        pauses: &[],
        fault: FaultCost::of(&Profile::default()),
    }
    .with_spans(&states, 0, |spans| spans.collect::<Vec<Span>>());
    assert_tiled(location, &spans);
    spans
}

/// Spans follow each other from the location's begin to its end, and no part is longer than its span.
pub(super) fn assert_tiled(location: &Location, spans: &[Span]) {
    let mut at_ns = location.start.unsigned();
    for span in spans {
        assert_eq!(span.start_ns, at_ns);
        assert!(span.end_ns > span.start_ns && span.parts.sum_ns() <= span.length_ns(), "{span:?}");
        at_ns = span.end_ns;
    }
    assert_eq!(at_ns, location.end.unsigned());
}

/// Lengths and states.
pub(super) fn lengths(spans: &[Span]) -> Vec<(u64, State)> {
    spans.iter().map(|span| (span.length_ns() / MS, span.state)).collect()
}
