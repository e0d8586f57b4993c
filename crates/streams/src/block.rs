//! Blocks: up to 4 KiB of records of one kind and one location, which can be read without anything else.
//!
//! ```text
//!  0  magic "PSB"  u8 kind
//!  4  u32 CRC-32 of all other bytes of the block
//!  8  u32 location
//! 12  u32 sequence: the number of the block within its stream
//! 16  u16 length in bytes, without the padding to the next multiple of 64
//! 18  u16 records
//! 20  u8 version of the kind  u8 units  u16 0
//! 24  u64 earliest begin, ns
//! 32  u64 first end, ns
//! 40  u64 last end, ns
//! 48  units × { u16 where it begins, u8 records − 1 }
//!     dictionaries: for each dictionary column { varint entries, entries × zigzag varint of the difference }
//!     units: varint of its base, [nested: varint of last end − earliest begin], columns
//! ```
//!
//! A unit is up to 128 records: the smallest piece that can be read by itself. Its columns are packed as in
//! [`crate::pack`]: first the distances of the records' times, then their values.

mod builder;
mod unit;
mod view;

pub use builder::{BlockOptions, BlockSink, NotOrdered, StreamBuilder};
pub(crate) use view::{BlockView, Scratch};

/// A block's largest length, bytes.
pub const MAX_BLOCK_BYTES: usize = 4096;
/// Blocks begin at multiples of this, bytes.
pub(crate) const ALIGNMENT: usize = 64;
pub(crate) const HEADER_BYTES: usize = 48;
const MAGIC: [u8; 3] = *b"PSB";

/// What is known of a block without its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockEntry {
    /// Where it begins in the file, bytes.
    pub offset: u64,
    /// Its number within its stream. A jump means that blocks are missing.
    pub sequence: u32,
    /// Its length, bytes.
    pub length: u16,
    /// How many records it holds.
    pub records: u16,
    /// The earliest begin of its records, ns.
    pub min_begin_ns: u64,
    /// The end of its first record, ns.
    pub first_end_ns: u64,
    /// The end of its last record, ns.
    pub last_end_ns: u64,
}

pub(crate) fn crc_of(block: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&block[..4]);
    crc.update(&block[8..]);
    crc.finalize()
}

/// Puts the checks of everything that may be a block right: for tests that want contents that no writer
/// wrote to be read.
#[doc(hidden)]
pub fn put_checks_right(file: &mut [u8]) {
    for at in (ALIGNMENT..file.len()).step_by(ALIGNMENT) {
        let Some(length) = BlockView::claimed_length(&file[at..]) else { continue };
        if let Some(block) = file.get_mut(at..at + length) {
            let crc = crc_of(block);
            block[4..8].copy_from_slice(&crc.to_le_bytes());
        }
    }
}
