//! Rows by location, as they are kept in memory and on disk: encoded, a tenth of what they take otherwise.

#[cfg(test)]
mod tests;

use std::fmt;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;

use proust_streams::{
    BlockOptions, BlockWriter, Location, NotOrdered, Record, Records, Spool, SpoolWriter, Spooled, Stream,
    StreamBuilder, StreamFile,
};

use crate::{ContextId, LocationId, OperationId, Profile, RegionId};

/// A row of a location, and the record that it is stored as. A location's rows are in the order of their
/// records: by end.
pub trait Row: Copy + PartialEq + fmt::Debug + Send + Sync + 'static {
    /// What it is stored as, but for its location.
    type Record: Record;
    /// One of them, in the words of errors.
    const NAME: &'static str;

    /// Whose it is.
    fn location(&self) -> LocationId;
    /// What is stored.
    fn record(&self) -> Self::Record;
    /// The row that is stored so. None = there is no such row.
    fn load(location: LocationId, record: &Self::Record) -> Option<Self>;
    /// Notes the ids that it refers to, beside its location.
    fn refer(&self, ids: &mut Ids);
    /// Whether its numbers agree with each other.
    fn agrees(&self) -> bool {
        true
    }
}

/// The largest ids that rows refer to: of each kind, one more than that.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ids {
    locations: u32,
    contexts: u32,
    operations: u32,
    regions: u32,
}

impl Ids {
    fn note(most: &mut u32, id: u32) {
        *most = (*most).max(id.saturating_add(1));
    }

    /// Notes a context.
    pub fn context(&mut self, id: ContextId) {
        Ids::note(&mut self.contexts, id.0);
    }

    /// Notes an operation.
    pub fn operation(&mut self, id: OperationId) {
        Ids::note(&mut self.operations, id.0);
    }

    /// Notes a region.
    pub fn region(&mut self, id: RegionId) {
        Ids::note(&mut self.regions, id.0);
    }

    /// Whether a profile has all of them.
    pub(crate) fn are_of(&self, profile: &Profile) -> bool {
        let fits = |ids: u32, count: usize| ids as usize <= count;
        fits(self.locations, profile.locations.len())
            && fits(self.contexts, profile.contexts.len())
            && fits(self.operations, profile.operations.len())
            && fits(self.regions, profile.regions.len())
    }
}

/// The rows of one kind of a run, each location's in order.
///
/// They are streams ([`proust_streams`]), in memory or where a [`Spool`] has them, and decoded whenever they
/// are read: rows are answered by value, and nothing holds all of them.
#[derive(Clone)]
pub struct ByLocation<R> {
    /// None = there are none.
    streams: Option<Arc<StreamFile<Spooled>>>,
    known: Known<R>,
}

/// What is known of all rows without reading them.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Known<R> {
    count: usize,
    ids: Ids,
    /// The first row whose numbers contradict each other.
    contradicts: Option<(usize, R)>,
}

impl<R> Default for Known<R> {
    fn default() -> Known<R> {
        Known { count: 0, ids: Ids::default(), contradicts: None }
    }
}

impl<R: Row> Known<R> {
    #[inline]
    fn add(&mut self, row: &R) {
        Ids::note(&mut self.ids.locations, row.location().0);
        row.refer(&mut self.ids);
        if !row.agrees() && self.contradicts.is_none() {
            self.contradicts = Some((self.count, *row));
        }
        self.count += 1;
    }
}

impl<R> Default for ByLocation<R> {
    fn default() -> ByLocation<R> {
        ByLocation { streams: None, known: Known::default() }
    }
}

impl<R: Row> ByLocation<R> {
    /// Those in what [`ByLocation::write_to`] has written, whose bytes are as they were written.
    ///
    /// # Errors
    /// What does not fit, where they are not.
    pub(crate) fn read(bytes: Spooled) -> Result<ByLocation<R>, String> {
        let streams = StreamFile::new(bytes).map_err(|error| error.to_string())?;
        if !streams.notes().is_empty() {
            return Err("its header or its index is damaged".to_owned());
        }
        let mut known = Known::default();
        for location in streams.locations::<R::Record>() {
            let mut previous_ns = 0;
            for record in streams.stream::<R::Record>(location).forward() {
                let record = record.map_err(|lost| {
                    format!("block {} of thread {} cannot be read", lost.sequence, lost.location.0)
                })?;
                let row = R::load(LocationId(location.0), &record).filter(|_| record.end_ns() >= previous_ns);
                let Some(row) = row else {
                    let (name, number) = (R::NAME, known.count);
                    return Err(format!("{name} {number} is none that there can be, or is out of order"));
                };
                known.add(&row);
                previous_ns = record.end_ns();
            }
        }
        Ok(ByLocation { streams: Some(Arc::new(streams)), known })
    }

    /// Writes what [`ByLocation::read`] reads.
    pub(crate) fn write_to(&self, to: impl Write) -> io::Result<()> {
        match &self.streams {
            Some(streams) => streams.source().write_to(to),
            None => BlockWriter::new(to).and_then(BlockWriter::finish).map(|_| ()),
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

    /// The ids that they refer to.
    pub(crate) fn ids(&self) -> &Ids {
        &self.known.ids
    }

    /// The first row, and its number, whose numbers contradict each other.
    pub(crate) fn contradiction(&self) -> Option<(usize, R)> {
        self.known.contradicts
    }

    /// The spool that they are in.
    pub fn spool(&self) -> Spool {
        self.streams.as_deref().map(|streams| streams.source().spool()).unwrap_or_default()
    }

    /// Whether some of them could not be read until now: what follows from the others is wrong.
    pub fn is_damaged(&self) -> bool {
        self.streams.as_deref().is_some_and(|streams| streams.source().is_damaged())
    }

    /// The locations that have any, in order.
    pub fn locations(&self) -> Vec<LocationId> {
        let locations = self.streams.as_deref().map(StreamFile::locations::<R::Record>);
        locations.unwrap_or_default().into_iter().map(|location| LocationId(location.0)).collect()
    }

    fn stream(&self, location: LocationId) -> Option<Stream<'_, R::Record, Spooled>> {
        let stream = self.streams.as_deref()?.stream(Location(location.0));
        Some(stream).filter(|stream| !stream.blocks().is_empty())
    }

    fn rows_of<'r>(
        &'r self,
        location: LocationId,
        records: Option<Records<'r, R::Record, Spooled>>,
    ) -> RowsOf<'r, R> {
        let source = self.streams.as_deref().map(StreamFile::source);
        RowsOf { location, records, source, after_ns: None, left: 0 }
    }

    /// Those of a location.
    pub fn of(&self, location: LocationId) -> RowsOf<'_, R> {
        let stream = self.stream(location);
        let left = stream.map_or(0, |stream| stream.count());
        RowsOf { left, ..self.rows_of(location, stream.map(Stream::forward)) }
    }

    /// How many a location has.
    pub fn count_of(&self, location: LocationId) -> usize {
        self.stream(location).map_or(0, |stream| stream.count()) as usize
    }

    /// Those of a location, the last one first.
    pub fn of_backward(&self, location: LocationId) -> RowsOf<'_, R> {
        let stream = self.stream(location);
        let left = stream.map_or(0, |stream| stream.count());
        RowsOf { left, ..self.rows_of(location, stream.map(Stream::backward)) }
    }

    /// Those of a location that end after an instant.
    pub fn ending_after(&self, location: LocationId, after_ns: u64) -> RowsOf<'_, R> {
        let near = self.stream(location).map(|stream| stream.overlapping(after_ns..u64::MAX));
        RowsOf { after_ns: Some(after_ns), ..self.rows_of(location, near) }
    }

    /// Those of a location that have a time in common with a range, and those without length inside of it.
    /// Far fewer are read than [`ByLocation::ending_after`] has.
    pub fn overlapping(&self, location: LocationId, range_ns: Range<u64>) -> RowsOf<'_, R> {
        let near = self.stream(location).map(|stream| stream.overlapping(range_ns));
        self.rows_of(location, near)
    }

    /// A range of a location's time that contains another one, and whose rows cost little more to read: as
    /// far as they are encoded together. None where these are more than `most` blocks.
    pub fn read_together(
        &self,
        location: LocationId,
        range_ns: Range<u64>,
        most: usize,
    ) -> Option<Range<u64>> {
        let blocks = self.stream(location).map_or(&[][..], |stream| stream.blocks());
        let first = blocks.partition_point(|block| block.last_end_ns <= range_ns.start);
        let last = blocks.partition_point(|block| block.last_end_ns < range_ns.end);
        let from_ns = first.checked_sub(1).map_or(0, |before| blocks[before].last_end_ns + 1);
        let until_ns = blocks.get(last).map_or(0, |block| block.last_end_ns);
        (last.saturating_sub(first) < most).then(|| from_ns.min(range_ns.start)..until_ns.max(range_ns.end))
    }

    /// Those of a location that begin at an instant or before, the last one first.
    pub fn begun_backward(&self, location: LocationId, at_ns: u64) -> RowsOf<'_, R> {
        let range_ns = 0..at_ns.saturating_add(1);
        let near = self.stream(location).map(|stream| stream.overlapping_backward(range_ns));
        self.rows_of(location, near)
    }

    /// All of them, location by location.
    pub fn iter(&self) -> impl Iterator<Item = R> + '_ {
        self.locations().into_iter().flat_map(|location| self.of(location))
    }

    /// Instants between which about so many rows of all locations end, in order; none where there are not
    /// more than that. Nothing is decoded for it.
    pub fn slices(&self, rows: usize) -> Vec<u64> {
        let Some(streams) = self.streams.as_deref().filter(|_| self.len() > rows) else { return Vec::new() };
        let blocks_of = |location| {
            let blocks = streams.stream::<R::Record>(location).blocks();
            blocks.iter().map(|block| (block.last_end_ns, usize::from(block.records))).collect::<Vec<_>>()
        };
        let mut blocks: Vec<(u64, usize)> =
            streams.locations::<R::Record>().into_iter().flat_map(blocks_of).collect();
        blocks.sort_unstable();
        let (mut borders, mut count) = (Vec::new(), 0);
        for (end_ns, records) in blocks {
            count += records;
            if count >= rows && borders.last() != Some(&end_ns) {
                borders.push(end_ns);
                count = 0;
            }
        }
        borders
    }

    /// Makes others of them: all are decoded, and encoded again.
    pub fn edit<T>(&mut self, edit: impl FnOnce(&mut Vec<R>) -> T) -> T {
        let mut rows: Vec<R> = self.iter().collect();
        let answer = edit(&mut rows);
        *self = rows.into_iter().collect();
        answer
    }
}

/// Rows of a location, decoded as they are asked for. They were checked when they were read, or made here; if
/// some cannot be read from a file all the same, or are not what was written, they are left out, and that is
/// noted ([`ByLocation::is_damaged`], [`Spool::is_damaged`]).
pub struct RowsOf<'r, R: Row> {
    location: LocationId,
    records: Option<Records<'r, R::Record, Spooled>>,
    source: Option<&'r Spooled>,
    /// Only those that end after this are wanted.
    after_ns: Option<u64>,
    /// So many are left, as far as that is known.
    left: u64,
}

impl<R: Row> Iterator for RowsOf<'_, R> {
    type Item = R;

    #[inline]
    fn next(&mut self) -> Option<R> {
        let records = self.records.as_mut()?;
        loop {
            match records.decoded() {
                Some(record) => {
                    if self.after_ns.is_some_and(|after_ns| record.end_ns() <= after_ns) {
                        continue;
                    }
                    if let Some(row) = R::load(self.location, record) {
                        self.left = self.left.saturating_sub(1);
                        return Some(row);
                    }
                }
                None => {
                    if records.advance()?.is_err()
                        && let Some(source) = self.source
                    {
                        source.note_damage();
                    }
                }
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, None)
    }
}

/// Makes [`ByLocation`], location by location.
pub struct RowsBuilder<R: Row> {
    blocks: BlockWriter<SpoolWriter>,
    stream: Option<(LocationId, StreamBuilder<R::Record>)>,
    known: Known<R>,
}

impl<R: Row> Default for RowsBuilder<R> {
    fn default() -> RowsBuilder<R> {
        RowsBuilder::new(&Spool::default())
    }
}

const SPOOLED: &str = "a spool takes everything";

impl<R: Row> RowsBuilder<R> {
    /// Begins; the rows will lie in `spool`.
    pub fn new(spool: &Spool) -> RowsBuilder<R> {
        let blocks = BlockWriter::new(spool.writer()).expect(SPOOLED);
        RowsBuilder { blocks, stream: None, known: Known::default() }
    }

    /// Adds a row: those of a location one after the other, in the order of their ends.
    ///
    /// # Errors
    /// When it is out of order, or ends before it begins; it is left out then.
    pub fn push(&mut self, row: &R) -> Result<(), NotOrdered> {
        if self.stream.as_ref().is_none_or(|(location, _)| *location != row.location()) {
            self.finish_stream();
            let stream = StreamBuilder::new(Location(row.location().0), BlockOptions::default());
            self.stream = Some((row.location(), stream));
        }
        let Some((_, stream)) = &mut self.stream else { return Ok(()) };
        let record = row.record();
        stream.check(&record)?;
        stream.push(record, &mut self.blocks).expect(SPOOLED);
        self.known.add(row);
        Ok(())
    }

    fn finish_stream(&mut self) {
        if let Some((_, stream)) = self.stream.take() {
            stream.finish(&mut self.blocks).expect(SPOOLED);
        }
    }

    /// All that were added.
    pub fn finish(mut self) -> ByLocation<R> {
        self.finish_stream();
        let bytes = self.blocks.finish().expect(SPOOLED).finish();
        // What cannot be read any more is damage of the spool, which says so.
        let streams = StreamFile::new(bytes).ok().map(Arc::new);
        ByLocation { streams, known: self.known }
    }
}

/// Of rows in any order.
///
/// # Panics
/// When one ends before it begins.
impl<R: Row> FromIterator<R> for ByLocation<R> {
    fn from_iter<T: IntoIterator<Item = R>>(rows: T) -> ByLocation<R> {
        let mut rows: Vec<R> = rows.into_iter().collect();
        rows.sort_by_key(|row| (row.location(), row.record().end_ns()));
        let mut builder = RowsBuilder::default();
        rows.iter().for_each(|row| builder.push(row).expect("rows in order"));
        builder.finish()
    }
}

impl<R: Row> From<Vec<R>> for ByLocation<R> {
    fn from(rows: Vec<R>) -> ByLocation<R> {
        rows.into_iter().collect()
    }
}

impl<R: Row> PartialEq for ByLocation<R> {
    fn eq(&self, other: &ByLocation<R>) -> bool {
        self.known == other.known && self.iter().eq(other.iter())
    }
}

impl<R: Row> fmt::Debug for ByLocation<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}
