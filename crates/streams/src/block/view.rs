//! From blocks to records.

use super::unit::{self, Columns};
use super::{BlockEntry, HEADER_BYTES, MAGIC, MAX_BLOCK_BYTES, crc_of};
use crate::pack::UNIT;
use crate::record::{Column, Key, Kind, Location, Record, Summed, Times};
use crate::varint::{Bytes, unzigzag};

/// The header of a block whose check was verified.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockView<'a> {
    bytes: &'a [u8],
    pub kind: Kind,
    pub location: Location,
    /// Its offset is 0.
    pub entry: BlockEntry,
    version: u8,
    units: usize,
}

/// What reading blocks needs beside the block: kept between blocks, so that nothing is allocated for each.
#[derive(Default)]
pub(crate) struct Scratch {
    columns: Columns,
    /// By column; empty for those without one.
    dictionaries: Vec<Vec<u64>>,
    slots: Vec<u64>,
}

/// One unit of a block.
#[derive(Clone, Copy, Debug)]
struct Unit<'a> {
    bytes: Bytes<'a>,
    count: usize,
    base_ns: u64,
}

fn field<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

impl<'a> BlockView<'a> {
    /// The length in bytes that the block at the front of `bytes` claims to have.
    pub fn claimed_length(bytes: &[u8]) -> Option<usize> {
        let length = usize::from(u16::from_le_bytes(field(bytes, 16)?));
        let plausible = bytes.starts_with(&MAGIC) && (HEADER_BYTES..=MAX_BLOCK_BYTES).contains(&length);
        plausible.then_some(length)
    }

    /// The block that `bytes` are, if their check agrees.
    pub fn new(bytes: &'a [u8]) -> Option<BlockView<'a>> {
        if BlockView::claimed_length(bytes)? != bytes.len() {
            return None;
        }
        if crc_of(bytes) != u32::from_le_bytes(field(bytes, 4)?) {
            return None;
        }
        BlockView::parse(bytes)
    }

    /// The block in a buffer whose check was verified before.
    pub fn parse(bytes: &'a [u8]) -> Option<BlockView<'a>> {
        let u64_at = |at| Some(u64::from_le_bytes(field(bytes, at)?));
        let entry = BlockEntry {
            offset: 0,
            sequence: u32::from_le_bytes(field(bytes, 12)?),
            length: bytes.len() as u16,
            records: u16::from_le_bytes(field(bytes, 18)?),
            min_begin_ns: u64_at(24)?,
            first_end_ns: u64_at(32)?,
            last_end_ns: u64_at(40)?,
        };
        let ordered = entry.min_begin_ns <= entry.first_end_ns && entry.first_end_ns <= entry.last_end_ns;
        (ordered && entry.records > 0).then_some(BlockView {
            bytes,
            kind: Kind(bytes[3]),
            location: Location(u32::from_le_bytes(field(bytes, 8)?)),
            entry,
            version: bytes[20],
            units: usize::from(bytes[21]),
        })
    }

    pub fn version(&self) -> u8 {
        self.version
    }

    pub fn units(&self) -> usize {
        self.units
    }

    /// Reads the dictionaries, which come before the units.
    pub fn read_dictionaries<R: Record>(&self, scratch: &mut Scratch) -> Option<()> {
        let mut bytes = Bytes(self.bytes.get(HEADER_BYTES + 3 * self.units..)?);
        scratch.dictionaries.resize_with(R::COLUMNS.len(), Vec::new);
        for (dictionary, how) in scratch.dictionaries.iter_mut().zip(R::COLUMNS) {
            dictionary.clear();
            if *how == Column::Dictionary {
                let count = bytes.count()?;
                let mut last = 0u64;
                for _ in 0..count {
                    last = last.wrapping_add(unzigzag(bytes.u64()?));
                    dictionary.push(last);
                }
            }
        }
        Some(())
    }

    fn unit<R: Record>(&self, unit: usize) -> Option<Unit<'a>> {
        let directory = HEADER_BYTES + 3 * unit;
        let begin = usize::from(u16::from_le_bytes(field(self.bytes, directory)?));
        let count = usize::from(*self.bytes.get(directory + 2)?) + 1;
        if count > UNIT {
            return None;
        }
        let mut bytes = Bytes(self.bytes.get(begin..)?);
        let reference_ns = match R::TIMES {
            Times::Exclusive => self.entry.min_begin_ns,
            Times::Instants | Times::Nested => self.entry.first_end_ns,
        };
        let base_ns = reference_ns.checked_add(bytes.u64()?)?;
        // A unit is answered before those behind it are read, so each by itself stays within the block.
        (base_ns <= self.entry.last_end_ns).then_some(Unit { bytes, count, base_ns })
    }

    /// When the records of a unit end, ns: from the first of them at the earliest to the last.
    pub fn unit_ends_ns<R: Record>(&self, unit: usize) -> Option<(u64, u64)> {
        let last_ns = match unit + 1 < self.units {
            true => self.unit::<R>(unit + 1)?.base_ns,
            false => self.entry.last_end_ns,
        };
        Some((self.unit::<R>(unit)?.base_ns, last_ns))
    }

    /// The earliest begin of a unit's records, ns; at least, no record begins before it.
    pub fn unit_begin_ns<R: Record>(&self, unit: usize) -> Option<u64> {
        let mut found = self.unit::<R>(unit)?;
        match R::TIMES {
            Times::Instants | Times::Exclusive => Some(found.base_ns),
            Times::Nested => {
                let distance = found.bytes.u64()?;
                self.unit_ends_ns::<R>(unit)?.1.checked_sub(distance)
            }
        }
    }

    /// Appends the records of a unit. The dictionaries were read before.
    pub fn read_unit<R: Record>(
        &self,
        unit: usize,
        scratch: &mut Scratch,
        records: &mut Vec<R>,
    ) -> Option<()> {
        let mut found = self.unit::<R>(unit)?;
        if R::TIMES == Times::Nested {
            found.bytes.u64()?;
        }
        unit::read_columns::<R>(&mut found.bytes, found.count, &mut scratch.columns)?;
        let before = records.len();
        let last_ns =
            unit::records(&mut scratch.columns, found.count, found.base_ns, &scratch.dictionaries, records)?;
        let begins = unit > 0 || records.get(before)?.end_ns() == self.entry.first_end_ns;
        (begins && last_ns == self.unit_ends_ns::<R>(unit)?.1).then_some(())
    }

    /// Appends the records of wanted units. `wanted` gets a unit's base and last end.
    pub fn read_wanted<R: Record>(
        &self,
        scratch: &mut Scratch,
        records: &mut Vec<R>,
        wanted: impl Fn(u64, u64) -> bool,
    ) -> Option<()> {
        self.read_dictionaries::<R>(scratch)?;
        let before = records.len();
        let mut all = true;
        for unit in 0..self.units {
            let (base_ns, last_ns) = self.unit_ends_ns::<R>(unit)?;
            if wanted(base_ns, last_ns) {
                self.read_unit(unit, scratch, records)?;
            } else {
                all = false;
            }
        }
        (!all || records.len() - before == usize::from(self.entry.records)).then_some(())
    }

    /// Adds the time between two instants by key, without making records where whole units lie between them.
    /// Nothing is added if the block contradicts itself.
    pub fn sums<R: Summed>(
        &self,
        (from_ns, to_ns): (u64, u64),
        scratch: &mut Scratch,
        mut add: impl FnMut(Key, u64),
    ) -> Option<()> {
        self.read_dictionaries::<R>(scratch)?;
        let keys = &scratch.dictionaries[R::KEY_COLUMN];
        if keys.iter().any(|&key| Key::from_number(key).is_none()) {
            return None;
        }
        scratch.slots.clear();
        scratch.slots.resize(keys.len(), 0);
        let mut apart: Vec<(Key, u64)> = Vec::new();
        let mut cut: Vec<R> = Vec::new();
        for unit in 0..self.units {
            let (base_ns, last_ns) = self.unit_ends_ns::<R>(unit)?;
            if last_ns <= from_ns || base_ns >= to_ns {
                continue;
            }
            let mut found = self.unit::<R>(unit)?;
            unit::read_columns::<R>(&mut found.bytes, found.count, &mut scratch.columns)?;
            let columns = &mut scratch.columns;
            let whole = from_ns <= base_ns && last_ns <= to_ns;
            if whole && R::PARTS.iter().all(|&(column, _)| columns.zero[column]) {
                let mut end_ns = base_ns;
                let lengths = &columns.lengths[..found.count];
                for (at, &length) in lengths.iter().enumerate() {
                    end_ns = end_ns.checked_add(columns.distances[at])?.checked_add(length)?;
                    let slot = usize::try_from(columns.values[R::KEY_COLUMN][at]).ok()?;
                    let sum = scratch.slots.get_mut(slot)?;
                    *sum = sum.checked_add(length)?;
                }
                if end_ns != last_ns {
                    return None;
                }
            } else {
                cut.clear();
                let end_ns = unit::records(columns, found.count, base_ns, &scratch.dictionaries, &mut cut)?;
                if end_ns != last_ns {
                    return None;
                }
                for record in &cut {
                    record.charge(from_ns, to_ns, |key, ns| apart.push((key, ns)));
                }
            }
        }
        for (&key, &ns) in keys.iter().zip(&scratch.slots) {
            if let (Some(key), true) = (Key::from_number(key), ns > 0) {
                add(key, ns);
            }
        }
        apart.into_iter().for_each(|(key, ns)| add(key, ns));
        Some(())
    }
}
