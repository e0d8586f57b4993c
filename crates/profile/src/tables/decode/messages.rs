//! The tables of messages.

use super::super::error::TablesError;
use super::super::reader::Table;
use crate::{CommunicatorInfo, GatheringRow, MessagePart, TrafficRow, UnmatchedReason, UnmatchedRow};

pub(super) fn communicators(table: &Table, group: usize) -> Result<Vec<CommunicatorInfo>, TablesError> {
    zip_rows!(table, group;
    id: u64s, size: u32s, second_size: u32s, is_world: bools, is_known: bools, recorded: u32s,
    messages: u64s, bytes: u64s, members: texts;
    CommunicatorInfo {
        id,
        size,
        second_size,
        is_world,
        is_known,
        recorded,
        messages,
        bytes,
        members: super::list(table, &members)?,
    })
}

pub(super) fn traffic(table: &Table, group: usize) -> Result<Vec<TrafficRow>, TablesError> {
    zip_rows!(table, group; from: ids, to: ids, messages: u64s, bytes: u64s;
        TrafficRow { from, to, messages, bytes })
}

pub(super) fn gatherings(table: &Table, group: usize) -> Result<Vec<GatheringRow>, TablesError> {
    zip_rows!(table, group; communicator: u32s, operation: ids, instances: u64s, bytes: u64s;
        GatheringRow { communicator, operation, instances, bytes })
}

pub(super) fn unmatched(table: &Table, group: usize) -> Result<Vec<UnmatchedRow>, TablesError> {
    zip_rows!(table, group; process: ids, part: texts, reason: texts, count: u64s;
    UnmatchedRow {
        process,
        part: MessagePart::from_id(&part)
            .ok_or_else(|| table.damaged(format!("unknown part of a message `{part}`")))?,
        reason: UnmatchedReason::from_id(&reason)
            .ok_or_else(|| table.damaged(format!("unknown reason `{reason}`")))?,
        count,
    })
}
