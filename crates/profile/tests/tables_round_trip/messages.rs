//! Tables of MPI, with the numbers of other rows.

use proust_profile::{
    CommunicatorInfo, ContextId, ExchangeRow, GatheringRow, MessagePart, PartnerWaitRow, ProcessId,
    ReleaseRow, TrafficRow, TransferRow, UnmatchedReason, UnmatchedRow, WaitPattern,
};

pub fn partner_waits(rows: &[ReleaseRow], contexts: u32) -> Vec<PartnerWaitRow> {
    let wait = |row: &ReleaseRow| PartnerWaitRow {
        location: row.location,
        context: row.context,
        operation: row.operation,
        begin_ns: row.time_ns,
        until_ns: row.time_ns.max(row.object),
        pattern: WaitPattern::ALL[row.held_ns as usize % WaitPattern::ALL.len()],
        late: row.location,
        late_context: ContextId(row.weight_ns as u32 % contexts),
        misordered_ns: row.object.saturating_sub(row.time_ns) / 2,
        bytes: row.object,
    };
    rows.iter().map(wait).collect()
}

pub fn transfers(rows: &[ReleaseRow]) -> Vec<TransferRow> {
    let exchange = |row: &ReleaseRow| TransferRow {
        location: row.location,
        context: row.context,
        operation: row.operation,
        begin_ns: row.time_ns / 2,
        end_ns: row.time_ns,
        sends: row.held_ns as u32,
        receives: row.weight_ns as u32,
        sent_bytes: row.object,
        received_bytes: row.held_ns,
        collectives: row.context.0,
        collective_bytes: row.weight_ns,
    };
    rows.iter().map(exchange).collect()
}

pub fn communicators(rows: &[ReleaseRow]) -> Vec<CommunicatorInfo> {
    let communicator = |row: &ReleaseRow| CommunicatorInfo {
        id: row.object,
        size: row.context.0,
        second_size: row.location.0,
        is_world: row.held_ns.is_multiple_of(2),
        is_known: row.weight_ns.is_multiple_of(2),
        recorded: row.context.0 / 2,
        messages: row.held_ns,
        bytes: row.weight_ns,
        members: (0..row.operation.0).collect(),
    };
    rows.iter().map(communicator).collect()
}

pub fn traffic(rows: &[ReleaseRow], processes: u32) -> Vec<TrafficRow> {
    let traffic = |row: &ReleaseRow| TrafficRow {
        from: ProcessId(row.context.0 % processes.max(1)),
        to: ProcessId(row.location.0 % processes.max(1)),
        messages: row.held_ns,
        bytes: row.object,
    };
    rows.iter().map(traffic).collect()
}

/// One for each of these communicators.
pub fn gatherings(rows: &[ReleaseRow]) -> Vec<GatheringRow> {
    let gathering = |(communicator, row): (u32, &ReleaseRow)| GatheringRow {
        communicator,
        operation: row.operation,
        instances: row.held_ns,
        bytes: row.weight_ns,
    };
    (0..).zip(rows).map(gathering).collect()
}

pub fn exchanges(rows: &[ReleaseRow]) -> Vec<ExchangeRow> {
    let exchange = |row: &ReleaseRow| ExchangeRow {
        location: row.location,
        context: row.context,
        operation: row.operation,
        completes: row.object.is_multiple_of(2).then_some(row.operation),
        is_group: row.held_ns.is_multiple_of(2),
        hands_on_io: row.weight_ns.is_multiple_of(2),
        calls: row.object,
        time_ns: row.time_ns,
        partner_ns: row.held_ns,
        shares: row.object as f64 / 3.0,
        matched: row.weight_ns,
        unmatched: row.held_ns / 2,
        later_begins_ns: row.time_ns / 2,
        later_ends_ns: row.time_ns / 3,
        overlap_ns: row.time_ns / 4,
        late_sends_ns: row.time_ns / 5,
        received: row.object / 2,
        spans_ns: -(row.held_ns as f64),
    };
    rows.iter().map(exchange).collect()
}

pub fn unmatched(processes: u32) -> Vec<UnmatchedRow> {
    let both = MessagePart::ALL.iter().cycle().zip(UnmatchedReason::ALL).filter(|_| processes > 0);
    let row = |(&part, &reason)| UnmatchedRow { process: ProcessId(0), part, reason, count: 3 };
    both.map(row).collect()
}
