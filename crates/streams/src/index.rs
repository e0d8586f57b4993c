//! The footer of a file: which blocks there are, where, and of which time.

use crate::block::{ALIGNMENT, BlockEntry};
use crate::lost::{Fault, Lost, Note};
use crate::record::{Kind, Location};
use crate::varint::{Bytes, put_u64, unzigzag, zigzag};

/// The blocks of all streams of a file, by kind, location and sequence.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Index {
    /// Sorted; each with a range of `blocks`.
    pub streams: Vec<(Kind, Location, std::ops::Range<usize>)>,
    pub blocks: Vec<BlockEntry>,
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
        index
    }

    /// The blocks of a stream.
    pub fn blocks_of(&self, kind: Kind, location: Location) -> &[BlockEntry] {
        match self.streams.binary_search_by_key(&(kind, location), |(kind, location, _)| (*kind, *location)) {
            Ok(at) => &self.blocks[self.streams[at].2.clone()],
            Err(_) => &[],
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
        bytes.0.is_empty().then_some(index)
    }
}
