//! Calls of MPI with their partners' times.

use super::super::error::TablesError;
use super::super::reader::Table;
use crate::ExchangeRow;

pub(super) fn exchanges(table: &Table, group: usize) -> Result<Vec<ExchangeRow>, TablesError> {
    zip_rows!(table, group;
    location: ids, context: ids, operation: ids, completes: optional_ids, is_group: bools, hands_on_io: bools,
    calls: u64s, time_ns: u64s, partner_ns: u64s, shares: f64s, matched: u64s, unmatched: u64s,
    later_begins_ns: u64s, later_ends_ns: u64s, overlap_ns: u64s, late_sends_ns: u64s, received: u64s,
    spans_ns: f64s;
    ExchangeRow {
        location,
        context,
        operation,
        completes,
        is_group,
        hands_on_io,
        calls,
        time_ns,
        partner_ns,
        shares,
        matched,
        unmatched,
        later_begins_ns,
        later_ends_ns,
        overlap_ns,
        late_sends_ns,
        received,
        spans_ns,
    })
}
