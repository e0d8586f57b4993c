//! The operations of a run as they are kept in memory and on disk: encoded, a tenth of what rows take.

use std::fmt;
use std::sync::{Arc, OnceLock};

use proust_streams::records::Event;
use proust_streams::{BlockOptions, BlockWriter, Location, NotOrdered, Records, StreamBuilder, StreamFile};

use super::{EventRow, Target};
use crate::{ContextId, LocationId, OperationId};

/// Flags of a record.
const SUMMED: u8 = 1;
const LEFT: u8 = 2;
const OPEN: u8 = 4;

/// The operations of a run, each location's in the order of their ends.
///
/// They are streams ([`proust_streams`]) in memory, and decoded whenever they are read: rows are answered by
/// value, and nothing holds all of them.
#[derive(Clone, Default)]
pub struct Events {
    /// None = there are none.
    streams: Option<Arc<StreamFile<Vec<u8>>>>,
    known: Known,
}

/// What is known of all rows without reading them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Known {
    count: usize,
    /// One more than the largest ids.
    locations: u32,
    contexts: u32,
    operations: u32,
    /// The first row whose time is not what lies between its begin and its end; of a sum, more.
    contradicts: Option<(usize, EventRow)>,
}

impl Known {
    fn add(&mut self, row: &EventRow) {
        self.locations = self.locations.max(row.location.0.saturating_add(1));
        self.contexts = self.contexts.max(row.context.0.saturating_add(1));
        self.operations = self.operations.max(row.operation.0.saturating_add(1));
        let length_ns = row.end_ns - row.begin_ns;
        let fits = if row.summed { row.time_ns <= length_ns } else { row.time_ns == length_ns };
        if !fits && self.contradicts.is_none() {
            self.contradicts = Some((self.count, *row));
        }
        self.count += 1;
    }
}

impl Events {
    /// Those in a file that [`Events::bytes`] was written to, whose bytes are as they were written.
    ///
    /// # Errors
    /// What does not fit, where they are not.
    pub(crate) fn read(bytes: Vec<u8>) -> Result<Events, String> {
        let streams = StreamFile::new(bytes).map_err(|error| error.to_string())?;
        if !streams.notes().is_empty() {
            return Err("its header or its index is damaged".to_owned());
        }
        let mut known = Known::default();
        for location in streams.locations::<Event>() {
            let mut previous_ns = 0;
            for event in streams.stream::<Event>(location).forward() {
                let event = event.map_err(|lost| {
                    format!("block {} of thread {} cannot be read", lost.sequence, lost.location.0)
                })?;
                let row = row(location, &event).filter(|row| row.end_ns >= previous_ns);
                let Some(row) = row else {
                    let number = known.count;
                    return Err(format!("event {number} has a target that there is not, or is out of order"));
                };
                known.add(&row);
                previous_ns = row.end_ns;
            }
        }
        Ok(Events { streams: Some(Arc::new(streams)), known })
    }

    /// What [`Events::read`] reads.
    pub(crate) fn bytes(&self) -> &[u8] {
        static NONE: OnceLock<Vec<u8>> = OnceLock::new();
        match &self.streams {
            Some(streams) => streams.source(),
            None => NONE.get_or_init(|| {
                BlockWriter::new(Vec::new()).and_then(BlockWriter::finish).unwrap_or_default()
            }),
        }
    }

    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.known.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.known.count == 0
    }

    /// Whether all ids of rows are below these: numbers of locations, contexts and operations.
    pub(crate) fn refer_to(&self, locations: usize, contexts: usize, operations: usize) -> bool {
        let fits = |ids: u32, count: usize| ids as usize <= count;
        fits(self.known.locations, locations)
            && fits(self.known.contexts, contexts)
            && fits(self.known.operations, operations)
    }

    /// The first row, and its number, whose time is not what lies between its begin and its end; of a sum,
    /// more.
    pub(crate) fn contradiction(&self) -> Option<(usize, EventRow)> {
        self.known.contradicts
    }

    /// The locations that have any, in order.
    pub fn locations(&self) -> Vec<LocationId> {
        let locations = self.streams.as_deref().map(StreamFile::locations::<Event>);
        locations.unwrap_or_default().into_iter().map(|location| LocationId(location.0)).collect()
    }

    /// Those of a location.
    pub fn of(&self, location: LocationId) -> impl Iterator<Item = EventRow> + '_ {
        let streams = self.streams.as_deref();
        rows(location, streams.map(|streams| streams.stream(Location(location.0)).forward()))
    }

    /// Those of a location that end after an instant.
    pub fn ending_after(&self, location: LocationId, after_ns: u64) -> impl Iterator<Item = EventRow> + '_ {
        let streams = self.streams.as_deref();
        let range_ns = after_ns..u64::MAX;
        let near = streams.map(|streams| streams.stream(Location(location.0)).overlapping(range_ns));
        rows(location, near).filter(move |row| row.end_ns > after_ns)
    }

    /// Those of a location, the last one first.
    pub fn of_backward(&self, location: LocationId) -> impl Iterator<Item = EventRow> + '_ {
        let streams = self.streams.as_deref();
        rows(location, streams.map(|streams| streams.stream(Location(location.0)).backward()))
    }

    /// All of them, location by location.
    pub fn iter(&self) -> impl Iterator<Item = EventRow> + '_ {
        self.locations().into_iter().flat_map(|location| self.of(location))
    }

    /// Makes others of them: all are decoded, and encoded again.
    pub fn edit(&mut self, edit: impl FnOnce(&mut Vec<EventRow>)) {
        let mut rows: Vec<EventRow> = self.iter().collect();
        edit(&mut rows);
        *self = rows.into_iter().collect();
    }
}

/// What records say, of which none can be unreadable: they were checked when they were read, or made here.
fn rows<'s>(
    location: LocationId,
    records: Option<Records<'s, Event, Vec<u8>>>,
) -> impl Iterator<Item = EventRow> + 's {
    let mut records = records;
    std::iter::from_fn(move || {
        let records = records.as_mut()?;
        loop {
            match records.decoded() {
                Some(event) => {
                    if let Some(row) = row(Location(location.0), event) {
                        return Some(row);
                    }
                }
                None => {
                    let _is_lost = records.advance()?.is_err();
                }
            }
        }
    })
}

#[inline]
fn row(location: Location, event: &Event) -> Option<EventRow> {
    let has = |flag| event.flags & flag != 0;
    Some(EventRow {
        location: LocationId(location.0),
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

fn record(row: &EventRow) -> Event {
    let flag = |is: bool, flag| if is { flag } else { 0 };
    Event {
        begin_ns: row.begin_ns,
        end_ns: row.end_ns,
        time_ns: row.time_ns,
        depth: 0,
        context: row.context.0,
        operation: row.operation.0,
        target: row.target as u8,
        calls: row.calls,
        errors: row.errors,
        bytes: row.bytes,
        cpu_clock_ns: row.cpu_clock_ns,
        object: row.object,
        object2: row.object2,
        flags: flag(row.summed, SUMMED) | flag(row.left, LEFT) | flag(row.open, OPEN),
    }
}

/// Makes [`Events`], location by location.
pub struct EventsBuilder {
    blocks: BlockWriter<Vec<u8>>,
    stream: Option<(LocationId, StreamBuilder<Event>)>,
    known: Known,
}

impl Default for EventsBuilder {
    fn default() -> EventsBuilder {
        EventsBuilder {
            blocks: BlockWriter::new(Vec::new()).expect(MEMORY),
            stream: None,
            known: Known::default(),
        }
    }
}

const MEMORY: &str = "memory takes everything";

impl EventsBuilder {
    /// Adds a row: those of a location one after the other, in the order of their ends.
    ///
    /// # Errors
    /// When it is out of order, or ends before it begins; it is left out then.
    pub fn push(&mut self, row: &EventRow) -> Result<(), NotOrdered> {
        if self.stream.as_ref().is_none_or(|(location, _)| *location != row.location) {
            self.finish_stream();
            let stream = StreamBuilder::new(Location(row.location.0), BlockOptions::default());
            self.stream = Some((row.location, stream));
        }
        let Some((_, stream)) = &mut self.stream else { return Ok(()) };
        let record = record(row);
        stream.check(&record)?;
        stream.push(record, &mut self.blocks).expect(MEMORY);
        self.known.add(row);
        Ok(())
    }

    fn finish_stream(&mut self) {
        if let Some((_, stream)) = self.stream.take() {
            stream.finish(&mut self.blocks).expect(MEMORY);
        }
    }

    /// All that were added.
    pub fn finish(mut self) -> Events {
        self.finish_stream();
        let bytes = self.blocks.finish().expect(MEMORY);
        let streams = StreamFile::new(bytes).expect("what was written can be read");
        Events { streams: Some(Arc::new(streams)), known: self.known }
    }
}

/// Of rows in any order.
///
/// # Panics
/// When one ends before it begins.
impl FromIterator<EventRow> for Events {
    fn from_iter<T: IntoIterator<Item = EventRow>>(rows: T) -> Events {
        let mut rows: Vec<EventRow> = rows.into_iter().collect();
        rows.sort_by_key(|row| (row.location, row.end_ns));
        let mut builder = EventsBuilder::default();
        rows.iter().for_each(|row| builder.push(row).expect("rows in order"));
        builder.finish()
    }
}

impl From<Vec<EventRow>> for Events {
    fn from(rows: Vec<EventRow>) -> Events {
        rows.into_iter().collect()
    }
}

impl PartialEq for Events {
    fn eq(&self, other: &Events) -> bool {
        self.known == other.known && self.iter().eq(other.iter())
    }
}

impl fmt::Debug for Events {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event() -> impl Strategy<Value = EventRow> {
        let times = (0u64..1000, 0u64..300, 0u64..300);
        let what = (0u32..4, 0u32..9, 0u32..5, 0u32..7, any::<u64>(), any::<u64>());
        let amounts = (any::<u32>(), any::<u32>(), any::<u64>(), any::<Option<u64>>());
        let flags = (any::<bool>(), any::<bool>(), any::<bool>());
        (times, what, amounts, flags).prop_map(|(times, what, amounts, flags)| {
            let (begin_ns, length_ns, less_ns) = times;
            EventRow {
                location: LocationId(what.0),
                context: ContextId(what.1),
                operation: OperationId(what.2),
                target: Target::from_number(what.3).unwrap(),
                begin_ns,
                end_ns: begin_ns + length_ns,
                time_ns: if flags.0 { length_ns.saturating_sub(less_ns) } else { length_ns },
                calls: amounts.0,
                errors: amounts.1,
                bytes: amounts.2,
                cpu_clock_ns: amounts.3.map(|clock_ns| clock_ns >> 1),
                object: what.4,
                object2: what.5,
                summed: flags.0,
                left: flags.1,
                open: flags.2,
            }
        })
    }

    proptest! {
        #[test]
        fn rows_come_back(
            mut rows in prop::collection::vec(event(), 0..400),
            asked in (0u32..5, 0u64..1400),
        ) {
            let events = Events::from(rows.clone());
            rows.sort_by_key(|row| (row.location, row.end_ns));
            prop_assert_eq!(events.len(), rows.len());
            prop_assert!(events.iter().eq(rows.iter().copied()));
            let (location, after_ns) = (LocationId(asked.0), asked.1);
            let of = || rows.iter().copied().filter(move |row| row.location == location);
            prop_assert!(events.of(location).eq(of()));
            prop_assert!(events.of_backward(location).eq(of().rev()));
            let after = of().filter(|row| row.end_ns > after_ns);
            prop_assert!(events.ending_after(location, after_ns).eq(after));
            let read = Events::read(events.bytes().to_vec());
            prop_assert_eq!(read.as_ref(), Ok(&events));
        }

        #[test]
        fn bytes_that_were_changed_are_refused(
            rows in prop::collection::vec(event(), 1..200),
            place in any::<prop::sample::Index>(),
            bit in 0u32..8,
        ) {
            let events = Events::from(rows);
            let mut bytes = events.bytes().to_vec();
            let at = place.index(bytes.len());
            bytes[at] ^= 1 << bit;
            // What lies between blocks has no meaning.
            if let Ok(read) = Events::read(bytes) {
                prop_assert_eq!(read, events);
            }
        }
    }

    #[test]
    fn rows_out_of_order_are_left_out() {
        let row = |begin_ns, end_ns| EventRow { begin_ns, end_ns, ..EventRow::default() };
        let mut builder = EventsBuilder::default();
        assert_eq!(builder.push(&row(5, 9)), Ok(()));
        assert!(matches!(builder.push(&row(5, 8)), Err(NotOrdered::Earlier { .. })));
        assert!(matches!(builder.push(&row(20, 11)), Err(NotOrdered::Backwards { .. })));
        assert_eq!(builder.push(&row(6, 9)), Ok(()));
        assert_eq!(builder.finish(), Events::from(vec![row(5, 9), row(6, 9)]));
    }

    #[test]
    fn of_none_there_is_a_file_too() {
        assert_eq!(Events::read(Events::default().bytes().to_vec()), Ok(Events::default()));
    }
}
