//! Where a call was made: the context of its event.

use proust_profile::{ContextId, EventRow, LocationId, OperationId};

/// The call site of the operation that ended then; None if it is not among the events.
pub(super) fn site(
    events: &[EventRow],
    location: LocationId,
    operation: OperationId,
    end_ns: u64,
) -> Option<ContextId> {
    let first = events.partition_point(|event| (event.location, event.end_ns) < (location, end_ns));
    let ended_then = |event: &&EventRow| (event.location, event.end_ns) == (location, end_ns);
    let mut events = events[first..].iter().take_while(ended_then);
    events.find(|event| event.operation == operation && !event.summed).map(|event| event.context)
}
