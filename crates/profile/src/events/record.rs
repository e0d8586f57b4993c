//! What of an operation is stored.

use proust_streams::records::Event;

use super::{EventRow, Target};
use crate::by_location::{Ids, Row};
use crate::{ContextId, LocationId, OperationId};

/// Flags of a record.
const SUMMED: u8 = 1;
const LEFT: u8 = 2;
const OPEN: u8 = 4;

impl Row for EventRow {
    type Record = Event;
    const NAME: &'static str = "event";

    #[inline]
    fn location(&self) -> LocationId {
        self.location
    }

    #[inline]
    fn record(&self) -> Event {
        let flag = |is: bool, flag| if is { flag } else { 0 };
        Event {
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            time_ns: self.time_ns,
            depth: 0,
            context: self.context.0,
            operation: self.operation.0,
            target: self.target as u8,
            calls: self.calls,
            errors: self.errors,
            bytes: self.bytes,
            cpu_clock_ns: self.cpu_clock_ns,
            object: self.object,
            object2: self.object2,
            flags: flag(self.summed, SUMMED) | flag(self.left, LEFT) | flag(self.open, OPEN),
        }
    }

    #[inline]
    fn load(location: LocationId, event: &Event) -> Option<EventRow> {
        let has = |flag| event.flags & flag != 0;
        Some(EventRow {
            location,
            context: ContextId(event.context),
            operation: OperationId(event.operation),
            target: Target::from_number(u32::from(event.target))?,
            begin_ns: event.begin_ns,
            end_ns: event.end_ns,
            time_ns: event.time_ns,
            calls: event.calls,
            errors: event.errors,
            bytes: event.bytes,
            cpu_clock_ns: event.cpu_clock_ns,
            object: event.object,
            object2: event.object2,
            summed: has(SUMMED),
            left: has(LEFT),
            open: has(OPEN),
        })
    }

    #[inline]
    fn refer(&self, ids: &mut Ids) {
        ids.context(self.context);
        ids.operation(self.operation);
    }

    /// Whether its time is what lies between its begin and its end; of a sum, at most that.
    #[inline]
    fn agrees(&self) -> bool {
        let length_ns = self.end_ns - self.begin_ns;
        if self.summed { self.time_ns <= length_ns } else { self.time_ns == length_ns }
    }
}
