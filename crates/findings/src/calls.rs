//! Calls by function, place and location, summed up once for all kinds of findings.

use proust_profile::event_metrics::Operations;
use proust_profile::{ContextId, LocationId, OperationId, Profile};

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

/// Whether threads wait for or wake each other in a context or below it.
pub(super) fn synchronises(profile: &Profile, calls: &[Calls]) -> Vec<bool> {
    let operations = Operations::of(profile);
    let mut synchronises = vec![false; profile.contexts.len()];
    for call in calls {
        let is_io = operations.nature(call.operation).is_some_and(|nature| nature.is_io());
        synchronises[call.context.index()] |= !is_io;
    }
    for release in profile.releases.iter() {
        synchronises[release.context.index()] = true;
    }
    for id in (0..profile.contexts.len()).rev() {
        if let Some(parent) = profile.contexts[ContextId::from_index(id)].parent.filter(|_| synchronises[id])
        {
            synchronises[parent.index()] = true;
        }
    }
    synchronises
}
