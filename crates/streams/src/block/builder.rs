//! From records to blocks.

use std::io;

use rustc_hash::FxHashMap;

use super::unit::{self, Columns};
use super::{BlockEntry, HEADER_BYTES, MAGIC, MAX_BLOCK_BYTES, crc_of};
use crate::pack::UNIT;
use crate::record::{Column, Kind, Location, MAX_COLUMNS, Record, Times};
use crate::varint::{put_u64, zigzag};

/// Units of a block at most: their number is a byte.
const MOST_UNITS: usize = u8::MAX as usize;

/// Where blocks go, such as a [`FileWriter`](crate::FileWriter).
pub trait BlockSink {
    /// Takes a finished block. Its entry's offset is not known yet.
    fn block(&mut self, kind: Kind, location: Location, entry: BlockEntry, bytes: &[u8]) -> io::Result<()>;
}

/// How large blocks are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockOptions {
    /// A block is finished before it would be longer than this, bytes. Where a single record is longer, its
    /// block is, too.
    pub block_bytes: usize,
}

impl Default for BlockOptions {
    fn default() -> BlockOptions {
        BlockOptions { block_bytes: MAX_BLOCK_BYTES }
    }
}

impl BlockOptions {
    /// The size of blocks that gives locations with few records some blocks, too: a sixty-fourth of what a
    /// location has, from 256 bytes to 4 KiB.
    pub fn for_stream_bytes(bytes: u64) -> BlockOptions {
        BlockOptions { block_bytes: (bytes / 64).clamp(256, MAX_BLOCK_BYTES as u64) as usize }
    }
}

/// Why a record was not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOrdered {
    /// It ends before the one before it.
    #[error(
        "location {location}: a record that ends at {end_ns} ns follows one that ends at {previous_ns} ns"
    )]
    Earlier {
        /// Whose stream.
        location: u32,
        /// Its end, ns.
        end_ns: u64,
        /// The end of the one before, ns.
        previous_ns: u64,
    },
    /// Records of this kind do not overlap, and it begins before the one before it ends.
    #[error(
        "location {location}: a record that begins at {begin_ns} ns overlaps one that ends at \
         {previous_ns} ns"
    )]
    Overlapping {
        /// Whose stream.
        location: u32,
        /// Its begin, ns.
        begin_ns: u64,
        /// The end of the one before, ns.
        previous_ns: u64,
    },
    /// It ends before it begins.
    #[error("location {location}: a record ends at {end_ns} ns and begins at {begin_ns} ns")]
    Backwards {
        /// Whose stream.
        location: u32,
        /// Its begin, ns.
        begin_ns: u64,
        /// Its end, ns.
        end_ns: u64,
    },
}

/// Makes the blocks of one stream. It holds a block and a unit: at most 4 KiB and 128 records.
pub struct StreamBuilder<R> {
    location: Location,
    options: BlockOptions,
    sequence: u32,
    last_ns: Option<u64>,
    pending: Vec<R>,
    block: Open,
    columns: Columns,
}

/// The block that is being filled.
struct Open {
    units: Vec<u8>,
    directory: Vec<(usize, usize)>,
    dictionaries: Vec<Dictionary>,
    records: usize,
    min_begin_ns: u64,
    first_end_ns: u64,
    last_end_ns: u64,
}

#[derive(Default)]
struct Dictionary {
    place_of: FxHashMap<u64, u64>,
    values: Vec<u64>,
    bytes: Vec<u8>,
    last: u64,
    /// The value that was asked for last, and its place: most are asked for again.
    asked: Option<(u64, u64)>,
}

impl Dictionary {
    fn place(&mut self, value: u64) -> u64 {
        match self.asked {
            Some((asked, place)) if asked == value => return place,
            _ => {}
        }
        let place = *self.place_of.entry(value).or_insert_with(|| {
            put_u64(&mut self.bytes, zigzag(value.wrapping_sub(self.last)));
            self.last = value;
            self.values.push(value);
            self.values.len() as u64 - 1
        });
        self.asked = Some((value, place));
        place
    }

    /// Forgets the values behind the first ones.
    fn truncate(&mut self, count: usize, bytes: usize) {
        for value in self.values.drain(count..) {
            self.place_of.remove(&value);
        }
        self.bytes.truncate(bytes);
        self.last = self.values.last().copied().unwrap_or(0);
        self.asked = None;
    }

    fn clear(&mut self) {
        self.place_of.clear();
        self.values.clear();
        self.truncate(0, 0);
    }
}

impl Open {
    fn bytes(&self) -> usize {
        let dictionaries: usize = self
            .dictionaries
            .iter()
            .map(|one| one.bytes.len() + crate::varint::length(one.values.len() as u64))
            .sum();
        HEADER_BYTES + 3 * self.directory.len() + dictionaries + self.units.len()
    }
}

impl<R: Record> StreamBuilder<R> {
    /// The stream of a location.
    pub fn new(location: Location, options: BlockOptions) -> StreamBuilder<R> {
        let dictionaries =
            R::COLUMNS.iter().filter(|column| **column == Column::Dictionary).map(|_| Dictionary::default());
        StreamBuilder {
            location,
            options,
            sequence: 0,
            last_ns: None,
            pending: Vec::new(),
            block: Open {
                units: Vec::new(),
                directory: Vec::new(),
                dictionaries: dictionaries.collect(),
                records: 0,
                min_begin_ns: 0,
                first_end_ns: 0,
                last_end_ns: 0,
            },
            columns: Columns::default(),
        }
    }

    /// Whether a record may follow those so far.
    pub fn check(&self, record: &R) -> Result<(), NotOrdered> {
        let (location, begin_ns, end_ns) = (self.location.0, record.begin_ns(), record.end_ns());
        if end_ns < begin_ns {
            return Err(NotOrdered::Backwards { location, begin_ns, end_ns });
        }
        match self.last_ns {
            Some(previous_ns) if end_ns < previous_ns => {
                Err(NotOrdered::Earlier { location, end_ns, previous_ns })
            }
            Some(previous_ns) if R::TIMES == Times::Exclusive && begin_ns < previous_ns => {
                Err(NotOrdered::Overlapping { location, begin_ns, previous_ns })
            }
            _ => Ok(()),
        }
    }

    /// Adds a record; blocks that are full go to the sink. A record out of order is an error of kind
    /// [`io::ErrorKind::InvalidInput`] with a [`NotOrdered`] in it, and is not added.
    pub fn push(&mut self, record: R, sink: &mut impl BlockSink) -> io::Result<()> {
        self.check(&record).map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        self.last_ns = Some(record.end_ns());
        self.pending.push(record);
        if self.pending.len() == UNIT { self.close_unit(sink) } else { Ok(()) }
    }

    /// Ends the stream: the rest goes to the sink.
    pub fn finish(mut self, sink: &mut impl BlockSink) -> io::Result<()> {
        self.close_unit(sink)?;
        self.close_block(sink)
    }

    fn close_unit(&mut self, sink: &mut impl BlockSink) -> io::Result<()> {
        let pending = std::mem::take(&mut self.pending);
        let mut rest = pending.as_slice();
        while !rest.is_empty() {
            let mut count = rest.len();
            while !self.fits(&rest[..count]) {
                if self.block.records > 0 {
                    self.close_block(sink)?;
                } else {
                    count = count.div_ceil(2);
                }
            }
            rest = &rest[count..];
        }
        self.pending = pending;
        self.pending.clear();
        Ok(())
    }

    /// Adds a unit to the block, if it fits or is all that the block can hold.
    fn fits(&mut self, records: &[R]) -> bool {
        let block = &mut self.block;
        let first = &records[0];
        let (base_ns, reference_ns) = match (R::TIMES, block.records) {
            (Times::Exclusive, 0) => (first.begin_ns(), first.begin_ns()),
            (_, 0) => (first.end_ns(), first.end_ns()),
            (Times::Exclusive, _) => (block.last_end_ns, block.min_begin_ns),
            _ => (block.last_end_ns, block.first_end_ns),
        };
        let sizes: Vec<(usize, usize)> =
            block.dictionaries.iter().map(|one| (one.values.len(), one.bytes.len())).collect();
        let begin = block.units.len();
        let (dictionaries, columns) = (&mut block.dictionaries, &mut self.columns);
        let dictionary_of: [usize; MAX_COLUMNS] = std::array::from_fn(dictionary_of::<R>);
        unit::encode(&mut block.units, records, base_ns, reference_ns, columns, |column, value| {
            dictionaries[dictionary_of[column]].place(value)
        });
        block.directory.push((begin, records.len()));
        let single = block.records == 0 && records.len() == 1;
        let full = block.bytes() > self.options.block_bytes.min(MAX_BLOCK_BYTES)
            || block.directory.len() > MOST_UNITS;
        if full && !single {
            block.directory.pop();
            block.units.truncate(begin);
            for (dictionary, (count, bytes)) in block.dictionaries.iter_mut().zip(sizes) {
                dictionary.truncate(count, bytes);
            }
            return false;
        }
        let min_begin_ns = records.iter().map(Record::begin_ns).min().unwrap_or(base_ns);
        if block.records == 0 {
            (block.min_begin_ns, block.first_end_ns) = (min_begin_ns, first.end_ns());
        }
        block.min_begin_ns = block.min_begin_ns.min(min_begin_ns);
        block.last_end_ns = records[records.len() - 1].end_ns();
        block.records += records.len();
        true
    }

    fn close_block(&mut self, sink: &mut impl BlockSink) -> io::Result<()> {
        let block = &mut self.block;
        if block.records == 0 {
            return Ok(());
        }
        let length = block.bytes();
        let mut bytes = Vec::with_capacity(length);
        bytes.extend(MAGIC);
        bytes.extend([R::KIND.0, 0, 0, 0, 0]);
        bytes.extend(self.location.0.to_le_bytes());
        bytes.extend(self.sequence.to_le_bytes());
        bytes.extend((length as u16).to_le_bytes());
        bytes.extend((block.records as u16).to_le_bytes());
        bytes.extend([R::VERSION, block.directory.len() as u8, 0, 0]);
        for time_ns in [block.min_begin_ns, block.first_end_ns, block.last_end_ns] {
            bytes.extend(time_ns.to_le_bytes());
        }
        let units_at = length - block.units.len();
        for &(begin, records) in &block.directory {
            bytes.extend(((units_at + begin) as u16).to_le_bytes());
            bytes.push((records - 1) as u8);
        }
        for dictionary in &mut block.dictionaries {
            put_u64(&mut bytes, dictionary.values.len() as u64);
            bytes.extend(&dictionary.bytes);
        }
        bytes.extend(&block.units);
        debug_assert_eq!(bytes.len(), length);
        let crc = crc_of(&bytes);
        bytes[4..8].copy_from_slice(&crc.to_le_bytes());
        let entry = BlockEntry {
            offset: 0,
            sequence: self.sequence,
            length: length as u16,
            records: block.records as u16,
            min_begin_ns: block.min_begin_ns,
            first_end_ns: block.first_end_ns,
            last_end_ns: block.last_end_ns,
        };
        self.sequence += 1;
        block.units.clear();
        block.directory.clear();
        block.dictionaries.iter_mut().for_each(Dictionary::clear);
        block.records = 0;
        sink.block(R::KIND, self.location, entry, &bytes)
    }
}

/// The position of a column among those with dictionaries.
pub(super) fn dictionary_of<R: Record>(column: usize) -> usize {
    R::COLUMNS.iter().take(column).filter(|how| **how == Column::Dictionary).count()
}
