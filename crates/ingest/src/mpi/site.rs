//! Where calls were made: the contexts of their events.

use proust_profile::{ContextId, EventRow, LocationId, OperationId, seek};
use rustc_hash::FxHashMap as Map;

/// Where a call was made, and its operation as the profile numbers it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Site {
    pub(super) context: ContextId,
    pub(super) operation: OperationId,
}

/// The sites of calls that are asked for location by location, each one's in the order in which they ended or
/// nearly so.
pub(super) struct Sites<'e> {
    /// In the order of location and end.
    events: &'e [EventRow],
    /// Where the last one of each location was found.
    last: Map<LocationId, usize>,
}

impl<'e> Sites<'e> {
    pub(super) fn of(events: &'e [EventRow]) -> Sites<'e> {
        Sites { events, last: Map::default() }
    }

    /// The site of the call that ended then; None if it is not among the events.
    pub(super) fn find(&mut self, location: LocationId, operation: OperationId, end_ns: u64) -> Option<Site> {
        let events = self.events;
        let last = self.last.entry(location);
        let last = last.or_insert_with(|| events.partition_point(|event| event.location < location));
        *last = seek(events, *last, |event| (event.location, event.end_ns) < (location, end_ns));
        let ended_then = |event: &&EventRow| (event.location, event.end_ns) == (location, end_ns);
        let mut ended = events[*last..].iter().take_while(ended_then);
        let event = ended.find(|event| event.operation == operation && !event.summed)?;
        Some(Site { context: event.context, operation })
    }
}
