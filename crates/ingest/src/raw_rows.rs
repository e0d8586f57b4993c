//! Rows of a thread in the order of their ends, encoded as those of a profile are: a tenth of what they take
//! as rows, and all of a run are there before the first one gets its context.

use std::fmt;

use proust_profile::{ByLocation, ContextId, EventRow, LocationId, ReleaseRow, Row, RowsBuilder, Spool};
use rustc_hash::FxHashMap;

/// A row before contexts and the profile's numbers of operations exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Raw<R> {
    /// `context` holds a the number of a place in the log, `operation` the log's number.
    pub(super) row: R,
    /// The upper end of the path was not found.
    pub(super) partial: bool,
}

/// A row that has a call path.
pub(super) trait Called: Row {
    /// What it has as context.
    fn number(&self) -> u32;
    /// The same one of the first location, with another context.
    fn with(self, number: u32) -> Self;
    /// When it ended.
    fn end_ns(&self) -> u64;
    /// Whether the thread was still in it.
    fn is_open(&self) -> bool;
}

impl Called for EventRow {
    fn number(&self) -> u32 {
        self.context.0
    }

    fn with(self, number: u32) -> EventRow {
        EventRow { location: LocationId(0), context: ContextId(number), ..self }
    }

    fn end_ns(&self) -> u64 {
        self.end_ns
    }

    fn is_open(&self) -> bool {
        self.open
    }
}

impl Called for ReleaseRow {
    fn number(&self) -> u32 {
        self.context.0
    }

    fn with(self, number: u32) -> ReleaseRow {
        ReleaseRow { location: LocationId(0), context: ContextId(number), ..self }
    }

    fn end_ns(&self) -> u64 {
        self.time_ns
    }

    fn is_open(&self) -> bool {
        false
    }
}

/// The rows of a finished thread.
#[derive(Debug)]
pub(super) struct RawRows<R: Row> {
    /// Those that were in the order of their ends; as context they have a position in `callers`.
    encoded: ByLocation<R>,
    callers: Vec<Caller>,
    /// End of the last of them.
    last_end_ns: u64,
    /// The others, by end: of a sum, or still open and longer than was known. Each with how many of the
    /// encoded ones were there before it.
    others: Vec<(usize, Raw<R>)>,
}

impl<R: Row> Default for RawRows<R> {
    fn default() -> RawRows<R> {
        RawRows { encoded: ByLocation::default(), callers: Vec::new(), last_end_ns: 0, others: Vec::new() }
    }
}

/// A place, and whether the upper end of its path was not found.
type Caller = (u32, bool);

/// Makes [`RawRows`].
pub(super) struct RawRowsBuilder<R: Called> {
    /// None until there is one.
    encoded: Option<RowsBuilder<R>>,
    spool: Spool,
    count: usize,
    callers: Vec<Caller>,
    known: FxHashMap<Caller, u32>,
    last_end_ns: u64,
    others: Vec<(usize, Raw<R>)>,
}

impl<R: Called> RawRowsBuilder<R> {
    /// Begins; the rows will lie in `spool`.
    pub(super) fn new(spool: &Spool) -> RawRowsBuilder<R> {
        RawRowsBuilder {
            encoded: None,
            spool: spool.clone(),
            count: 0,
            callers: Vec::new(),
            known: FxHashMap::default(),
            last_end_ns: 0,
            others: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, raw: Raw<R>) {
        let caller = (raw.row.number(), raw.partial);
        let known = *self.known.entry(caller).or_insert_with(|| {
            self.callers.push(caller);
            self.callers.len() as u32 - 1
        });
        let row = raw.row.with(known);
        let encoded = self.encoded.get_or_insert_with(|| RowsBuilder::new(&self.spool));
        if row.is_open() || encoded.push(&row).is_err() {
            self.others.push((self.count, raw));
        } else {
            self.count += 1;
            self.last_end_ns = row.end_ns();
        }
    }

    pub(super) fn finish(mut self) -> RawRows<R> {
        self.others.sort_by_key(|(_, raw)| raw.row.end_ns());
        RawRows {
            encoded: self.encoded.map(RowsBuilder::finish).unwrap_or_default(),
            callers: self.callers,
            last_end_ns: self.last_end_ns,
            others: self.others,
        }
    }
}

impl<R: Called> fmt::Debug for RawRowsBuilder<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RawRowsBuilder").field("count", &self.count).finish_non_exhaustive()
    }
}

impl<R: Called> RawRows<R> {
    /// Those of them that are wanted; they will lie in `spool`.
    pub(super) fn filtered(&self, spool: &Spool, is_wanted: impl Fn(&R) -> bool) -> RawRows<R> {
        let mut kept = RawRowsBuilder::new(spool);
        self.iter().filter(|raw| is_wanted(&raw.row)).for_each(|raw| kept.push(raw));
        kept.finish()
    }

    /// All of them; of those that end together in the order in which they were added.
    pub(super) fn iter(&self) -> impl Iterator<Item = Raw<R>> + '_ {
        let mut encoded = self.encoded.of(LocationId(0)).enumerate().peekable();
        let mut others = self.others.iter().peekable();
        std::iter::from_fn(move || {
            let is_other = match (others.peek(), encoded.peek()) {
                (Some((before, other)), Some((at, row))) => {
                    (other.row.end_ns(), before) <= (row.end_ns(), at)
                }
                (other, _) => other.is_some(),
            };
            if is_other {
                return others.next().map(|(_, raw)| *raw);
            }
            let (_, row) = encoded.next()?;
            let &(place, partial) = self.callers.get(row.number() as usize)?;
            Some(Raw { row: row.with(place), partial })
        })
    }

    /// End of the last one; 0 if there is none.
    pub(super) fn end_ns(&self) -> u64 {
        self.others.last().map_or(0, |(_, raw)| raw.row.end_ns()).max(self.last_end_ns)
    }

    /// The last one, if the thread was still in it when its record ended.
    pub(super) fn open(&mut self) -> Option<&mut Raw<R>> {
        let behind = (self.last_end_ns, self.encoded.len());
        let (before, raw) = self.others.last_mut()?;
        (raw.row.is_open() && (raw.row.end_ns(), *before) >= behind).then_some(raw)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn event((end_ns, place, partial, summed): (u64, u32, bool, bool), number: usize) -> Raw<EventRow> {
        let row = EventRow {
            end_ns,
            context: ContextId(place),
            object: number as u64,
            calls: 1,
            summed,
            time_ns: end_ns,
            ..EventRow::default()
        };
        Raw { row, partial }
    }

    proptest! {
        #[test]
        fn they_are_sorted_by_end_and_by_nothing_else(
            all in prop::collection::vec((0u64..9, prop::num::u32::ANY, any::<bool>(), any::<bool>()), 0..60),
            is_open in any::<bool>(),
        ) {
            let mut all: Vec<Raw<EventRow>> =
                all.into_iter().enumerate().map(|(number, of)| event(of, number)).collect();
            if let Some(last) = all.last_mut() {
                last.row.open = is_open;
            }
            let mut kept = RawRowsBuilder::new(&Spool::default());
            all.iter().for_each(|&event| kept.push(event));
            let mut kept = kept.finish();
            all.sort_by_key(|event| event.row.end_ns);
            let found: Vec<Raw<EventRow>> = kept.iter().collect();
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
