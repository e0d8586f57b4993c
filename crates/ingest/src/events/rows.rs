//! The operations of a thread in the order of their ends, encoded as those of a profile are: a tenth of what
//! they take as rows, and all of a run are there before the first one gets its context.

use std::fmt;

use proust_profile::{ContextId, EventRow, EventsBuilder, LocationId, Spool};
use rustc_hash::FxHashMap;

use super::RawEvent;
use crate::thread::Place;

/// The operations of a finished thread.
#[derive(Debug, Default)]
pub(crate) struct RawEvents {
    /// Those that were in the order of their ends; as context they have a position in `callers`.
    encoded: proust_profile::Events,
    callers: Vec<Caller>,
    /// End of the last of them.
    last_end_ns: u64,
    /// The others, by end: of a sum, or still open and longer than was known. Each with how many of the
    /// encoded ones were there before it.
    others: Vec<(usize, RawEvent)>,
}

/// A place, and whether the upper end of its path was not found.
type Caller = (Place, bool);

/// Makes [`RawEvents`].
pub(crate) struct RawEventsBuilder {
    /// None until there is one.
    encoded: Option<EventsBuilder>,
    spool: Spool,
    count: usize,
    callers: Vec<Caller>,
    known: FxHashMap<Caller, u32>,
    last_end_ns: u64,
    others: Vec<(usize, RawEvent)>,
}

impl RawEventsBuilder {
    /// Begins; the operations will lie in `spool`.
    pub(crate) fn new(spool: &Spool) -> RawEventsBuilder {
        RawEventsBuilder {
            encoded: None,
            spool: spool.clone(),
            count: 0,
            callers: Vec::new(),
            known: FxHashMap::default(),
            last_end_ns: 0,
            others: Vec::new(),
        }
    }

    pub(crate) fn push(&mut self, event: RawEvent) {
        let caller = (event.row.context.0, event.partial);
        let known = *self.known.entry(caller).or_insert_with(|| {
            self.callers.push(caller);
            self.callers.len() as u32 - 1
        });
        let row = EventRow { location: LocationId(0), context: ContextId(known), ..event.row };
        let encoded = self.encoded.get_or_insert_with(|| EventsBuilder::new(&self.spool));
        if event.row.open || encoded.push(&row).is_err() {
            self.others.push((self.count, event));
        } else {
            self.count += 1;
            self.last_end_ns = row.end_ns;
        }
    }

    pub(crate) fn finish(mut self) -> RawEvents {
        self.others.sort_by_key(|(_, event)| event.row.end_ns);
        RawEvents {
            encoded: self.encoded.map(EventsBuilder::finish).unwrap_or_default(),
            callers: self.callers,
            last_end_ns: self.last_end_ns,
            others: self.others,
        }
    }
}

impl fmt::Debug for RawEventsBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawEventsBuilder").field("count", &self.count).finish_non_exhaustive()
    }
}

impl RawEvents {
    /// All of them; of those that end together in the order in which they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = RawEvent> + '_ {
        let mut encoded = self.encoded.of(LocationId(0)).enumerate().peekable();
        let mut others = self.others.iter().peekable();
        std::iter::from_fn(move || {
            let is_other = match (others.peek(), encoded.peek()) {
                (Some((before, other)), Some((at, row))) => (other.row.end_ns, before) <= (row.end_ns, at),
                (other, _) => other.is_some(),
            };
            if is_other {
                return others.next().map(|(_, event)| *event);
            }
            let (_, row) = encoded.next()?;
            let &(place, partial) = self.callers.get(row.context.index())?;
            Some(RawEvent { row: EventRow { context: ContextId(place), ..row }, partial })
        })
    }

    /// End of the last one; 0 if there is none.
    pub(crate) fn end_ns(&self) -> u64 {
        self.others.last().map_or(0, |(_, event)| event.row.end_ns).max(self.last_end_ns)
    }

    /// The last one, if the thread was still in it when its record ended.
    pub(crate) fn open(&mut self) -> Option<&mut RawEvent> {
        let behind = (self.last_end_ns, self.encoded.len());
        let (before, event) = self.others.last_mut()?;
        (event.row.open && (event.row.end_ns, *before) >= behind).then_some(event)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event((end_ns, place, partial, summed): (u64, u32, bool, bool), number: usize) -> RawEvent {
        let row = EventRow {
            end_ns,
            context: ContextId(place),
            object: number as u64,
            calls: 1,
            summed,
            time_ns: end_ns,
            ..EventRow::default()
        };
        RawEvent { row, partial }
    }

    proptest! {
        #[test]
        fn they_are_sorted_by_end_and_by_nothing_else(
            all in prop::collection::vec((0u64..9, prop::num::u32::ANY, any::<bool>(), any::<bool>()), 0..60),
            is_open in any::<bool>(),
        ) {
            let mut all: Vec<RawEvent> =
                all.into_iter().enumerate().map(|(number, of)| event(of, number)).collect();
            if let Some(last) = all.last_mut() {
                last.row.open = is_open;
            }
            let mut kept = RawEventsBuilder::new(&Spool::default());
            all.iter().for_each(|&event| kept.push(event));
            let mut kept = kept.finish();
            all.sort_by_key(|event| event.row.end_ns);
            let found: Vec<RawEvent> = kept.iter().collect();
            prop_assert_eq!(
                found.iter().map(|one| (one.row, one.partial)).collect::<Vec<_>>(),
                all.iter().map(|one| (one.row, one.partial)).collect::<Vec<_>>()
            );
            prop_assert_eq!(kept.end_ns(), all.last().map_or(0, |last| last.row.end_ns));
            let open = all.last().filter(|last| last.row.open).map(|last| last.row);
            prop_assert_eq!(kept.open().map(|event| event.row), open);
        }
    }
}
