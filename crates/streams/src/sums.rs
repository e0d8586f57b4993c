//! Time by key: what is asked of levels, and the same by reading every record.

use std::ops::{AddAssign, Range};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::file::StreamFile;
use crate::lost::Lost;
use crate::reader::{Reading, Stream};
use crate::record::{Key, Location, Summed};
use crate::source::ReadAt;

/// Exact time by key, of all that could be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sums {
    by_key: FxHashMap<Key, u128>,
    lost: Vec<Lost>,
}

impl Sums {
    /// Adds time.
    pub fn add(&mut self, key: Key, ns: u128) {
        if ns > 0 {
            *self.by_key.entry(key).or_default() += ns;
        }
    }

    pub(crate) fn lose(&mut self, lost: Lost) {
        self.lost.push(lost);
    }

    /// Time of a key, ns.
    pub fn ns(&self, key: Key) -> u128 {
        self.by_key.get(&key).copied().unwrap_or(0)
    }

    /// All times that are not 0, by key, ns.
    pub fn sorted(&self) -> Vec<(Key, u128)> {
        let mut sorted: Vec<_> = self.by_key.iter().map(|(key, ns)| (*key, *ns)).collect();
        sorted.sort_unstable_by_key(|(key, _)| *key);
        sorted
    }

    /// Blocks of these locations that could not be read, and whose time may lie in the range.
    pub fn lost(&self) -> &[Lost] {
        &self.lost
    }

    /// Brings what was lost into an order that does not depend on the order of reading.
    pub(crate) fn settle(mut self) -> Sums {
        let order = |lost: &Lost| (lost.kind, lost.location, lost.sequence, lost.blocks);
        self.lost.sort_by_key(order);
        self.lost.dedup_by_key(|lost| order(lost));
        self
    }
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Sums) {
        for (key, ns) in other.by_key {
            *self.by_key.entry(key).or_default() += ns;
        }
        self.lost.extend(other.lost);
    }
}

/// The time of these locations within a range, by reading all their records there. On all threads of the
/// current pool; the answer does not depend on their number.
pub fn sums_by_scan<R: Summed, S: ReadAt>(
    file: &StreamFile<S>,
    locations: &[Location],
    range_ns: Range<u64>,
) -> Sums {
    let of_chunk = |locations: &[Location]| {
        let (mut sums, mut reading) = (Sums::default(), Reading::default());
        for &location in locations {
            add_by_scan(file.stream::<R>(location), &range_ns, &mut reading, &mut sums);
        }
        sums
    };
    let add = |mut sums: Sums, other: Sums| {
        sums += other;
        sums
    };
    locations.par_chunks(16).map(of_chunk).reduce(Sums::default, add).settle()
}

/// Adds the time of one location by reading blocks.
pub(crate) fn add_by_scan<R: Summed, S: ReadAt>(
    stream: Stream<'_, R, S>,
    range_ns: &Range<u64>,
    reading: &mut Reading,
    sums: &mut Sums,
) {
    for block in blocks_within(stream, range_ns) {
        if let Some(lost) = stream.missing_before(block) {
            sums.lose(lost);
        }
        add_block(stream, block, range_ns, reading, sums);
    }
}

/// The blocks of a stream that may have time in a range, and the one behind it: blocks may be missing before
/// that.
fn blocks_within<R: Summed, S: ReadAt>(stream: Stream<'_, R, S>, range_ns: &Range<u64>) -> Range<usize> {
    let blocks = stream.blocks();
    let first = blocks.partition_point(|block| block.last_end_ns <= range_ns.start);
    let behind = blocks.partition_point(|block| block.min_begin_ns < range_ns.end);
    first..(behind + 1).min(blocks.len()).max(first)
}

/// How many blocks of a stream may have time in a range.
pub(crate) fn count_within<R: Summed, S: ReadAt>(stream: Stream<'_, R, S>, range_ns: &Range<u64>) -> usize {
    blocks_within(stream, range_ns).len()
}

/// Adds the time of one block.
pub(crate) fn add_block<R: Summed, S: ReadAt>(
    stream: Stream<'_, R, S>,
    block: usize,
    range_ns: &Range<u64>,
    reading: &mut Reading,
    sums: &mut Sums,
) {
    let entry = &stream.blocks()[block];
    if entry.last_end_ns <= range_ns.start || entry.min_begin_ns >= range_ns.end {
        return;
    }
    let read = stream.read_block(block, &mut reading.buffer).and_then(|view| {
        let range = (range_ns.start, range_ns.end);
        view.sums::<R>(range, &mut reading.scratch, |key, ns| sums.add(key, u128::from(ns)))
            .ok_or_else(|| stream.lost(block, crate::lost::Fault::Contradiction))
    });
    if let Err(lost) = read {
        sums.lose(lost);
    }
}
