//! The footer of a file: which blocks there are, where, and of which time.

use std::ops::Range;

use crate::block::{ALIGNMENT, BlockEntry};
use crate::lost::{Fault, Lost, Note};
use crate::record::{Kind, Location};
use crate::varint::{Bytes, put_u64, unzigzag, zigzag};

/// The blocks of all streams of a file, by kind, location and sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Sorted; each with a range of `blocks`.
    pub streams: Vec<(Kind, Location, Range<usize>)>,
    pub blocks: Vec<BlockEntry>,
    /// By block the earliest begin of it and of all later ones of its stream, ns; 0 where one of these is
    /// missing, whose records may begin at any time. It does not fall within a stream.
    begins_from_ns: Vec<u64>,
}

/// The blocks of a stream.
#[derive(Clone, Copy, Default)]
pub(crate) struct BlocksOf<'i> {
    pub blocks: &'i [BlockEntry],
    begins_from_ns: &'i [u64],
}

impl BlocksOf<'_> {
    /// Those that may have records that begin before `range_ns` ends and do not end before it begins.
    pub fn overlapping(&self, range_ns: &Range<u64>) -> Range<usize> {
        let first = self.blocks.partition_point(|block| block.last_end_ns < range_ns.start);
        let end = self.begins_from_ns.partition_point(|&begin_ns| begin_ns < range_ns.end);
        first..end.max(first)
    }
}

/// The number that a block has if none is missing before it.
pub(crate) fn expected_sequence(before: Option<&BlockEntry>) -> u32 {
    before.map_or(0, |before| before.sequence.saturating_add(1))
}

impl Index {
    /// Sorts blocks. Of those with the same number the first in the file is kept; those whose records lie
    /// before the end of an earlier block are left out.
    pub fn new(mut found: Vec<(Kind, Location, BlockEntry)>, notes: &mut Vec<Note>) -> Index {
        found.sort_by_key(|(kind, location, entry)| (*kind, *location, entry.sequence, entry.offset));
        let mut index = Index::default();
        for (kind, location, entry) in found {
            let continued = index
                .streams
                .last_mut()
                .filter(|(last_kind, last_location, _)| (*last_kind, *last_location) == (kind, location));
            if let Some((_, _, range)) = continued {
                let before = &index.blocks[range.end - 1];
                if before.sequence == entry.sequence || entry.first_end_ns < before.last_end_ns {
                    notes.push(Note::Lost(Lost {
                        kind,
                        location,
                        sequence: entry.sequence,
                        blocks: 1,
                        from_ns: entry.first_end_ns,
                        to_ns: entry.last_end_ns,
                        fault: Fault::OutOfOrder,
                    }));
                    continue;
                }
                range.end += 1;
            } else {
                index.streams.push((kind, location, index.blocks.len()..index.blocks.len() + 1));
            }
            index.blocks.push(entry);
        }
        index.find_begins();
        index
    }

    fn find_begins(&mut self) {
        self.begins_from_ns = vec![0; self.blocks.len()];
        for (_, _, range) in &self.streams {
            let blocks = &self.blocks[range.clone()];
            let mut begins_from_ns = u64::MAX;
            for (at, block) in blocks.iter().enumerate().rev() {
                begins_from_ns = begins_from_ns.min(block.min_begin_ns);
                if block.sequence > expected_sequence(at.checked_sub(1).map(|before| &blocks[before])) {
                    begins_from_ns = 0;
                }
                self.begins_from_ns[range.start + at] = begins_from_ns;
            }
        }
    }

    /// The blocks of a stream.
    pub fn blocks_of(&self, kind: Kind, location: Location) -> BlocksOf<'_> {
        match self.streams.binary_search_by_key(&(kind, location), |(kind, location, _)| (*kind, *location)) {
            Ok(at) => {
                let range = self.streams[at].2.clone();
                BlocksOf { blocks: &self.blocks[range.clone()], begins_from_ns: &self.begins_from_ns[range] }
            }
            Err(_) => BlocksOf::default(),
        }
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        put_u64(&mut bytes, self.streams.len() as u64);
        let mut before = 0u64;
        for (kind, location, range) in &self.streams {
            bytes.push(kind.0);
            put_u64(&mut bytes, u64::from(location.0));
            put_u64(&mut bytes, range.len() as u64);
            let (mut sequence, mut last_end_ns) = (0, 0);
            for block in &self.blocks[range.clone()] {
                put_u64(&mut bytes, u64::from(block.sequence - sequence));
                let place = block.offset / ALIGNMENT as u64;
                put_u64(&mut bytes, zigzag(place.wrapping_sub(before)));
                put_u64(&mut bytes, u64::from(block.length));
                put_u64(&mut bytes, u64::from(block.records));
                put_u64(&mut bytes, block.first_end_ns - last_end_ns);
                put_u64(&mut bytes, block.first_end_ns - block.min_begin_ns);
                put_u64(&mut bytes, block.last_end_ns - block.first_end_ns);
                (before, sequence, last_end_ns) = (place, block.sequence, block.last_end_ns);
            }
        }
        bytes
    }

    /// The index that these bytes are; `None` if they contradict themselves or the file's length.
    pub fn from_bytes(bytes: &[u8], file_bytes: u64) -> Option<Index> {
        let mut bytes = Bytes(bytes);
        let mut index = Index::default();
        let mut place = 0u64;
        for _ in 0..bytes.count()? {
            let kind = Kind(bytes.u8()?);
            let location = Location(bytes.u32()?);
            let begin = index.blocks.len();
            let (mut sequence, mut last_end_ns) = (0u32, 0u64);
            for _ in 0..bytes.count()? {
                sequence = sequence.checked_add(bytes.u32()?)?;
                place = place.wrapping_add(unzigzag(bytes.u64()?));
                let offset = place.checked_mul(ALIGNMENT as u64)?;
                let length = u16::try_from(bytes.u64()?).ok()?;
                let records = u16::try_from(bytes.u64()?).ok()?;
                let first_end_ns = last_end_ns.checked_add(bytes.u64()?)?;
                let min_begin_ns = first_end_ns.checked_sub(bytes.u64()?)?;
                last_end_ns = first_end_ns.checked_add(bytes.u64()?)?;
                if offset.checked_add(u64::from(length))? > file_bytes {
                    return None;
                }
                index.blocks.push(BlockEntry {
                    offset,
                    sequence,
                    length,
                    records,
                    min_begin_ns,
                    first_end_ns,
                    last_end_ns,
                });
            }
            if index.streams.last().is_some_and(|(last, whose, _)| (*last, *whose) >= (kind, location)) {
                return None;
            }
            index.streams.push((kind, location, begin..index.blocks.len()));
        }
        index.find_begins();
        bytes.0.is_empty().then_some(index)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn blocks_that_are_left_out_have_nothing_of_a_range(
            drawn in prop::collection::vec((0u32..3, 0u64..20, 0u64..20, 0u64..60), 0..40),
            from_ns in 0u64..500,
            length_ns in 0u64..200,
        ) {
            let (mut sequence, mut last_end_ns) = (0, 0);
            let mut found = Vec::new();
            for (missing, gap_ns, length_ns, back_ns) in drawn {
                // Two of three times none is missing.
                sequence += missing / 2;
                let first_end_ns = last_end_ns + gap_ns;
                last_end_ns = first_end_ns + length_ns;
                let min_begin_ns = first_end_ns.saturating_sub(back_ns);
                let (offset, length, records) = (u64::from(sequence) * 64, 64, 1);
                let entry =
                    BlockEntry { offset, sequence, length, records, min_begin_ns, first_end_ns, last_end_ns };
                found.push((Kind(1), Location(0), entry));
                sequence += 1;
            }
            let index = Index::new(found, &mut Vec::new());
            prop_assert_eq!(Index::from_bytes(&index.to_bytes(), 1 << 20), Some(index.clone()));
            let of = index.blocks_of(Kind(1), Location(0));
            let range_ns = from_ns..from_ns + length_ns;
            let within = of.overlapping(&range_ns);
            let mut wanted = Vec::new();
            for (at, block) in of.blocks.iter().enumerate() {
                let before = at.checked_sub(1).map(|before| &of.blocks[before]);
                let follows_a_gap = block.sequence > expected_sequence(before);
                let begins = block.min_begin_ns < range_ns.end || follows_a_gap;
                if begins && block.last_end_ns >= range_ns.start {
                    wanted.push(at);
                }
            }
            prop_assert!(wanted.iter().all(|at| within.contains(at)));
            prop_assert_eq!(within.is_empty(), wanted.is_empty());
            prop_assert!(wanted.last().is_none_or(|last| within.end == last + 1));
        }
    }
}
