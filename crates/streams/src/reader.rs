//! The stream of one location: forwards, backwards, and what overlaps a range of time.

mod cursor;
mod nesting;

use std::fs::File;
use std::marker::PhantomData;
use std::ops::Range;

pub use cursor::Records;
pub use nesting::Nesting;

use crate::block::{BlockEntry, BlockView, Scratch};
use crate::file::StreamFile;
use crate::index::{BlocksOf, expected_sequence};
use crate::lost::{Fault, Lost};
use crate::record::{Location, Record};
use crate::source::ReadAt;

/// The records of one kind that one location wrote.
pub struct Stream<'a, R, S = File> {
    file: &'a StreamFile<S>,
    location: Location,
    index: BlocksOf<'a>,
    record: PhantomData<R>,
}

impl<R, S> Clone for Stream<'_, R, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<R, S> Copy for Stream<'_, R, S> {}

impl<'a, R: Record, S: ReadAt> Stream<'a, R, S> {
    pub(crate) fn new(file: &'a StreamFile<S>, location: Location, index: BlocksOf<'a>) -> Self {
        Stream { file, location, index, record: PhantomData }
    }

    /// Whose it is.
    pub fn location(&self) -> Location {
        self.location
    }

    /// Its blocks, in order.
    pub fn blocks(&self) -> &'a [BlockEntry] {
        self.index.blocks
    }

    /// How many records its blocks hold.
    pub fn count(&self) -> u64 {
        self.blocks().iter().map(|block| u64::from(block.records)).sum()
    }

    /// All records, by end.
    pub fn forward(self) -> Records<'a, R, S> {
        Records::new(self, 0..u64::MAX, true, false)
    }

    /// All records, from the last to the first: an operation before those that it encloses. [`Nesting`] keeps
    /// those that enclose the current one.
    pub fn backward(self) -> Records<'a, R, S> {
        Records::new(self, 0..u64::MAX, false, false)
    }

    /// The records that have a time in common with a range: those that begin before its end, and end after
    /// its begin or begin within it. By end.
    pub fn overlapping(self, range_ns: Range<u64>) -> Records<'a, R, S> {
        Records::new(self, range_ns, true, true)
    }

    /// The same, from the last to the first.
    pub fn overlapping_backward(self, range_ns: Range<u64>) -> Records<'a, R, S> {
        Records::new(self, range_ns, false, true)
    }

    /// What is lost if this block is not read.
    pub(crate) fn lost(&self, block: usize, fault: Fault) -> Lost {
        let entry = &self.blocks()[block];
        Lost {
            kind: R::KIND,
            location: self.location,
            sequence: entry.sequence,
            blocks: 1,
            from_ns: entry.first_end_ns,
            to_ns: entry.last_end_ns,
            fault,
        }
    }

    /// The blocks that are missing before a block, if any are.
    pub(crate) fn missing_before(&self, block: usize) -> Option<Lost> {
        let entry = &self.blocks()[block];
        let before = block.checked_sub(1).map(|before| &self.blocks()[before]);
        let (expected, from_ns) = (expected_sequence(before), before.map_or(0, |before| before.last_end_ns));
        (entry.sequence > expected).then(|| Lost::missing(R::KIND, self.location, expected, from_ns, entry))
    }

    /// Reads a block, and verifies it.
    pub(crate) fn read_block<'b>(
        &self,
        block: usize,
        buffer: &'b mut Vec<u8>,
    ) -> Result<BlockView<'b>, Lost> {
        let entry = &self.blocks()[block];
        buffer.resize(usize::from(entry.length), 0);
        let read = self.file.source().read_exact_at(buffer, entry.offset);
        read.map_err(|error| self.lost(block, Fault::System(error.to_string())))?;
        let view = self.verified(block, buffer)?;
        Ok(view)
    }

    /// The block in a buffer that it was read into.
    fn verified<'b>(&self, block: usize, buffer: &'b [u8]) -> Result<BlockView<'b>, Lost> {
        let entry = &self.blocks()[block];
        let view = BlockView::new(buffer).ok_or_else(|| self.lost(block, Fault::Check))?;
        let same = (view.kind, view.location) == (R::KIND, self.location)
            && BlockEntry { offset: entry.offset, ..view.entry } == *entry;
        if !same {
            return Err(self.lost(block, Fault::Differs));
        }
        if view.version() != R::VERSION {
            return Err(self.lost(block, Fault::Version { found: view.version(), expected: R::VERSION }));
        }
        Ok(view)
    }

    /// Appends all records of a block.
    pub fn read_records(
        &self,
        block: usize,
        reading: &mut Reading,
        records: &mut Vec<R>,
    ) -> Result<(), Lost> {
        self.read_units(block, reading, records, |_, _| true)
    }

    /// Appends the records of those units of a block that are wanted: all their records begin (or end, where
    /// records may contain others) at the first time or later, and end at the second or earlier.
    pub(crate) fn read_units(
        &self,
        block: usize,
        reading: &mut Reading,
        records: &mut Vec<R>,
        wanted: impl Fn(u64, u64) -> bool,
    ) -> Result<(), Lost> {
        let view = self.read_block(block, &mut reading.buffer)?;
        let before = records.len();
        view.read_wanted(&mut reading.scratch, records, wanted).ok_or_else(|| {
            records.truncate(before);
            self.lost(block, Fault::Contradiction)
        })
    }
}

/// What a reader keeps between blocks: the bytes of one, and the columns of a unit.
#[derive(Default)]
pub struct Reading {
    pub(crate) buffer: Vec<u8>,
    pub(crate) scratch: Scratch,
}
