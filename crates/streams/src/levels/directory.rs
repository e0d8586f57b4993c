//! Where the frames of a file of levels are.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use super::{FAN, LevelsError, MAGIC};
use crate::lost::{Fault, Lost};
use crate::record::{Kind, Location};
use crate::varint::{Bytes, put_u64};

/// A frame's place in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    pub offset: u64,
    pub length: u32,
}

/// The frames of a location or a group: by level, from blocks or bins upwards. The last level has one frame.
pub(super) type Tree = Vec<Vec<Place>>;

#[derive(Debug, Default)]
pub(super) struct GroupEntry {
    pub id: u32,
    /// All its locations, also those of groups in it; sorted.
    pub locations: Vec<Location>,
    pub tree: Tree,
}

#[derive(Debug)]
pub(super) struct Directory {
    pub kind: Kind,
    pub digest: u64,
    pub bin_shift: u32,
    /// Sorted by location.
    pub locations: Vec<(Location, Tree)>,
    /// Those in others come before these.
    pub groups: Vec<GroupEntry>,
    /// Blocks that could not be read when the levels were made.
    pub lost: Vec<Lost>,
}

const TRAILER_BYTES: usize = 24;
const TRAILER_MAGIC: &[u8; 8] = b"PSlevel1";

impl Directory {
    pub fn tree(&self, location: Location) -> Option<&Tree> {
        let at = self.locations.binary_search_by_key(&location, |(location, _)| *location).ok()?;
        Some(&self.locations[at].1)
    }

    /// What was lost of these locations (sorted) in a range.
    pub fn lost_within(&self, locations: &[Location], range_ns: &Range<u64>) -> impl Iterator<Item = &Lost> {
        self.lost.iter().filter(move |lost| {
            locations.binary_search(&lost.location).is_ok()
                && lost.from_ns < range_ns.end
                && lost.to_ns > range_ns.start
        })
    }

    pub fn to_bytes(&self, offset: u64) -> Vec<u8> {
        let mut bytes = vec![self.kind.0, self.bin_shift as u8];
        put_u64(&mut bytes, self.digest);
        put_u64(&mut bytes, self.locations.len() as u64);
        for (location, tree) in &self.locations {
            put_u64(&mut bytes, u64::from(location.0));
            put_tree(&mut bytes, tree);
        }
        put_u64(&mut bytes, self.groups.len() as u64);
        for group in &self.groups {
            put_u64(&mut bytes, u64::from(group.id));
            put_u64(&mut bytes, group.locations.len() as u64);
            let mut last = 0;
            for location in &group.locations {
                put_u64(&mut bytes, u64::from(location.0 - last));
                last = location.0;
            }
            put_tree(&mut bytes, &group.tree);
        }
        put_u64(&mut bytes, self.lost.len() as u64);
        for lost in &self.lost {
            for number in [lost.location.0, lost.sequence, lost.blocks] {
                put_u64(&mut bytes, u64::from(number));
            }
            put_u64(&mut bytes, lost.from_ns);
            put_u64(&mut bytes, lost.to_ns);
            put_fault(&mut bytes, &lost.fault);
        }
        let (length, crc) = (bytes.len() as u32, crc32fast::hash(&bytes));
        bytes.extend(offset.to_le_bytes());
        bytes.extend(length.to_le_bytes());
        bytes.extend(crc.to_le_bytes());
        bytes.extend(TRAILER_MAGIC);
        bytes
    }

    pub fn read(file: &File) -> Result<Directory, LevelsError> {
        let bytes = file.metadata()?.len();
        let trailer_at = bytes.checked_sub(TRAILER_BYTES as u64).ok_or(LevelsError::Damaged)?;
        let mut magic = [0; MAGIC.len()];
        file.read_exact_at(&mut magic, 0)?;
        let mut trailer = [0; TRAILER_BYTES];
        file.read_exact_at(&mut trailer, trailer_at)?;
        let place = || -> Option<(u64, usize, u32)> {
            let mut bytes = Bytes(&trailer);
            let offset = u64::from_le_bytes(bytes.take(8)?.try_into().ok()?);
            let length = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
            let crc = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
            let whole = offset.checked_add(u64::from(length))? == trailer_at;
            (whole && magic == *MAGIC && bytes.0 == TRAILER_MAGIC).then_some((offset, length as usize, crc))
        };
        let (offset, length, crc) = place().ok_or(LevelsError::Damaged)?;
        let mut directory = vec![0; length];
        file.read_exact_at(&mut directory, offset)?;
        if crc32fast::hash(&directory) != crc {
            return Err(LevelsError::Damaged);
        }
        Directory::parse(Bytes(&directory)).ok_or(LevelsError::Damaged)
    }

    fn parse(mut bytes: Bytes<'_>) -> Option<Directory> {
        let kind = Kind(bytes.u8()?);
        let bin_shift = u32::from(bytes.u8()?);
        let digest = bytes.u64()?;
        let mut locations = Vec::new();
        for _ in 0..bytes.count()? {
            locations.push((Location(bytes.u32()?), tree(&mut bytes)?));
        }
        let mut groups = Vec::new();
        for _ in 0..bytes.count()? {
            let id = bytes.u32()?;
            let (mut members, mut last) = (Vec::new(), 0u32);
            for _ in 0..bytes.count()? {
                last = last.checked_add(bytes.u32()?)?;
                members.push(Location(last));
            }
            groups.push(GroupEntry { id, locations: members, tree: tree(&mut bytes)? });
        }
        let mut lost = Vec::new();
        for _ in 0..bytes.count()? {
            lost.push(Lost {
                kind,
                location: Location(bytes.u32()?),
                sequence: bytes.u32()?,
                blocks: bytes.u32()?,
                from_ns: bytes.u64()?,
                to_ns: bytes.u64()?,
                fault: fault(&mut bytes)?,
            });
        }
        (bytes.0.is_empty() && bin_shift < 64).then_some(Directory {
            kind,
            digest,
            bin_shift,
            locations,
            groups,
            lost,
        })
    }
}

fn put_fault(bytes: &mut Vec<u8>, fault: &Fault) {
    match fault {
        Fault::Missing => bytes.push(0),
        Fault::Check => bytes.push(1),
        Fault::Differs => bytes.push(2),
        Fault::Version { found, expected } => bytes.extend([3, *found, *expected]),
        Fault::Contradiction => bytes.push(4),
        Fault::OutOfOrder => bytes.push(5),
        Fault::System(text) => {
            bytes.push(6);
            put_u64(bytes, text.len() as u64);
            bytes.extend(text.as_bytes());
        }
    }
}

fn fault(bytes: &mut Bytes<'_>) -> Option<Fault> {
    Some(match bytes.u8()? {
        0 => Fault::Missing,
        1 => Fault::Check,
        2 => Fault::Differs,
        3 => Fault::Version { found: bytes.u8()?, expected: bytes.u8()? },
        4 => Fault::Contradiction,
        5 => Fault::OutOfOrder,
        6 => {
            let length = bytes.count()?;
            Fault::System(String::from_utf8(bytes.take(length)?.to_vec()).ok()?)
        }
        _ => return None,
    })
}

fn put_tree(bytes: &mut Vec<u8>, tree: &Tree) {
    put_u64(bytes, tree.len() as u64);
    for level in tree {
        put_u64(bytes, level.len() as u64);
        for place in level {
            put_u64(bytes, place.offset);
            put_u64(bytes, u64::from(place.length));
        }
    }
}

/// A tree whose levels have as many frames as the level below needs.
fn tree(bytes: &mut Bytes<'_>) -> Option<Tree> {
    let mut tree: Tree = Vec::new();
    for _ in 0..bytes.count()? {
        let mut level = Vec::new();
        for _ in 0..bytes.count()? {
            level.push(Place { offset: bytes.u64()?, length: bytes.u32()? });
        }
        if tree.last().is_some_and(|below| below.len().div_ceil(FAN) != level.len()) {
            return None;
        }
        tree.push(level);
    }
    tree.last().is_none_or(|top| top.len() == 1).then_some(tree)
}
