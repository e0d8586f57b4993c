//! Calls by function, place and location, summed up once for all kinds of findings.

use proust_profile::{ContextId, LocationId, OperationId};

use proust_account::ledger::State;
use proust_query::OperationSums;
use rustc_hash::FxHashMap as Map;

/// The calls of an operation by one location at one place that count as the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Calls {
    pub(super) location: LocationId,
    pub(super) context: ContextId,
    pub(super) operation: OperationId,
    /// What the time in them counts as.
    pub(super) state: State,
    pub(super) calls: u64,
    pub(super) bytes: u64,
    /// Time in them, ns.
    pub(super) time_ns: u64,
}

/// All calls of a run, by location, and in the order in which each kind first ended: whatever they were
/// called on.
pub(super) fn calls(sums: &OperationSums) -> Vec<Calls> {
    let mut calls: Vec<Calls> = Vec::new();
    let mut known: Map<(LocationId, ContextId, OperationId, State), usize> = Map::default();
    for row in &sums.rows {
        let at = *known.entry((row.location, row.context, row.operation, row.state)).or_insert_with(|| {
            calls.push(Calls {
                location: row.location,
                context: row.context,
                operation: row.operation,
                state: row.state,
                calls: 0,
                bytes: 0,
                time_ns: 0,
            });
            calls.len() - 1
        });
        let sum = &mut calls[at];
        sum.calls += row.calls;
        sum.bytes += row.bytes;
        sum.time_ns += row.time_ns;
    }
    calls
}
