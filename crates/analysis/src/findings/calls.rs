//! What was called where and by whom, summed up once for all kinds of findings.

use proust_profile::{ContextId, EventRow, LocationId, OperationId, Profile};
use rayon::prelude::*;

use crate::hash::Map;
use crate::ledger::State;
use crate::search::groups;
use crate::timelines::OperationStates;

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

/// All calls of a run, by location, and in the order in which each kind first ended.
pub(super) fn calls(profile: &Profile, states: &OperationStates) -> Vec<Calls> {
    let by_location: Vec<&[EventRow]> = groups(&profile.events, |event| event.location).collect();
    by_location.into_par_iter().flat_map_iter(|events| of_location(events, states)).collect()
}

fn of_location(events: &[EventRow], states: &OperationStates) -> Vec<Calls> {
    let mut calls: Vec<Calls> = Vec::new();
    let mut known: Map<(ContextId, OperationId, State), usize> = Map::default();
    for event in events {
        let state = states.of_event(event);
        let at = *known.entry((event.context, event.operation, state)).or_insert_with(|| {
            calls.push(Calls {
                location: event.location,
                context: event.context,
                operation: event.operation,
                state,
                calls: 0,
                bytes: 0,
                time_ns: 0,
            });
            calls.len() - 1
        });
        let sum = &mut calls[at];
        sum.calls += u64::from(event.calls);
        sum.bytes += event.bytes;
        sum.time_ns += event.time_ns;
    }
    calls
}
