//! Where calls were made: the contexts of their events.

use std::iter::Peekable;

use proust_profile::{ContextId, EventRow, Events, LocationId, OperationId};
use rustc_hash::FxHashMap as Map;

/// Where a call was made, and its operation as the profile numbers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Site {
    pub(super) context: ContextId,
    pub(super) operation: OperationId,
}

/// The sites of calls, which are asked for in the order in which they ended.
pub(super) struct Sites<'e> {
    events: &'e Events,
    of: Map<LocationId, OfLocation<'e>>,
}

/// The operations of a location, read until the last instant that was asked for.
struct OfLocation<'e> {
    rest: Peekable<Box<dyn Iterator<Item = EventRow> + 'e>>,
    /// Those that ended at that instant.
    ended: Vec<EventRow>,
    at_ns: u64,
}

impl<'e> OfLocation<'e> {
    fn new(events: &'e Events, location: LocationId, at_ns: u64) -> OfLocation<'e> {
        let rest: Box<dyn Iterator<Item = EventRow>> = match at_ns.checked_sub(1) {
            Some(before_ns) => Box::new(events.ending_after(location, before_ns)),
            None => Box::new(events.of(location)),
        };
        let mut of = OfLocation { rest: rest.peekable(), ended: Vec::new(), at_ns };
        of.read();
        of
    }

    fn read(&mut self) {
        self.ended.clear();
        while self.rest.next_if(|event| event.end_ns < self.at_ns).is_some() {}
        while let Some(event) = self.rest.next_if(|event| event.end_ns == self.at_ns) {
            self.ended.push(event);
        }
    }
}

impl<'e> Sites<'e> {
    pub(super) fn of(events: &'e Events) -> Sites<'e> {
        Sites { events, of: Map::default() }
    }

    /// The site of the call that ended then; None if it is not among the events.
    pub(super) fn find(&mut self, location: LocationId, operation: OperationId, end_ns: u64) -> Option<Site> {
        let opened = || OfLocation::new(self.events, location, end_ns);
        let of = self.of.entry(location).or_insert_with(opened);
        if end_ns < of.at_ns {
            *of = OfLocation::new(self.events, location, end_ns);
        } else if end_ns > of.at_ns {
            of.at_ns = end_ns;
            of.read();
        }
        let event = of.ended.iter().find(|event| event.operation == operation && !event.summed)?;
        Some(Site { context: event.context, operation })
    }
}
