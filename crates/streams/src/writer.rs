//! A file of streams, written block by block.
//!
//! ```text
//! file   = header (64 bytes), block, block, …, footer, trailer (32 bytes)
//! header = "PROUST streams 1", zeros
//! ```
//!
//! Blocks begin at multiples of 64 bytes, in the order in which they were finished. The footer is the index;
//! the trailer says where it begins, how long it is, and has checks of both.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use crate::block::{ALIGNMENT, BlockEntry, BlockSink};
use crate::index::Index;
use crate::publication::Publication;
use crate::record::{Kind, Location};
use crate::source::ReadAt;
use crate::spool::{Spool, SpoolWriter};
use crate::varint::Bytes;

pub(crate) const FILE_MAGIC: &[u8; 16] = b"PROUST streams 1";
const TRAILER_MAGIC: &[u8; 8] = b"PSindex1";
pub(crate) const TRAILER_BYTES: usize = 32;

/// Blocks one after the other into anything that can be written, such as memory.
pub struct BlockWriter<W> {
    to: W,
    offset: u64,
    blocks: Vec<(Kind, Location, BlockEntry)>,
}

impl<W: Write> BlockWriter<W> {
    /// Writes the header.
    pub fn new(mut to: W) -> io::Result<BlockWriter<W>> {
        let mut header = [0; ALIGNMENT];
        header[..FILE_MAGIC.len()].copy_from_slice(FILE_MAGIC);
        to.write_all(&header)?;
        Ok(BlockWriter { to, offset: ALIGNMENT as u64, blocks: Vec::new() })
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.offset
    }

    /// Writes footer and trailer, and answers what they were written to.
    pub fn finish(mut self) -> io::Result<W> {
        let index = Index::new(std::mem::take(&mut self.blocks), &mut Vec::new());
        let footer = index.to_bytes();
        self.to.write_all(&footer)?;
        let mut trailer = Vec::with_capacity(TRAILER_BYTES);
        trailer.extend(self.offset.to_le_bytes());
        trailer.extend((footer.len() as u64).to_le_bytes());
        trailer.extend(crc32fast::hash(&footer).to_le_bytes());
        trailer.extend(crc32fast::hash(&trailer).to_le_bytes());
        trailer.extend(TRAILER_MAGIC);
        self.to.write_all(&trailer)?;
        self.to.flush()?;
        Ok(self.to)
    }
}

impl<W: Write> BlockSink for BlockWriter<W> {
    fn block(&mut self, kind: Kind, location: Location, entry: BlockEntry, bytes: &[u8]) -> io::Result<()> {
        self.to.write_all(bytes)?;
        let padding = bytes.len().next_multiple_of(ALIGNMENT) - bytes.len();
        self.to.write_all(&[0; ALIGNMENT][..padding])?;
        self.blocks.push((kind, location, BlockEntry { offset: self.offset, ..entry }));
        self.offset += (bytes.len() + padding) as u64;
        Ok(())
    }
}

/// Blocks in a spool, on their way to a file: several streams can be made at once, and written in order.
#[derive(Debug)]
pub struct Blocks {
    entries: Vec<(Kind, Location, BlockEntry)>,
    bytes: SpoolWriter,
}

impl Blocks {
    /// None yet.
    pub fn new(spool: &Spool) -> Blocks {
        Blocks { entries: Vec::new(), bytes: spool.writer() }
    }

    /// Hands them to another sink, in order.
    ///
    /// # Errors
    /// When the sink refuses, or they cannot be read from the spool's file.
    pub fn give_to(self, sink: &mut impl BlockSink) -> io::Result<()> {
        let bytes = self.bytes.finish();
        let (mut block, mut at) = (Vec::new(), 0);
        for (kind, location, entry) in self.entries {
            block.resize(usize::from(entry.length), 0);
            bytes.read_exact_at(&mut block, at)?;
            at += u64::from(entry.length);
            sink.block(kind, location, entry, &block)?;
        }
        Ok(())
    }
}

impl BlockSink for Blocks {
    fn block(&mut self, kind: Kind, location: Location, entry: BlockEntry, bytes: &[u8]) -> io::Result<()> {
        self.entries.push((kind, location, entry));
        self.bytes.write_all(bytes)
    }
}

/// Where the trailer says that the footer is: offset, length and check.
pub(crate) fn footer_place(trailer: &[u8; TRAILER_BYTES]) -> Option<(u64, u64, u32)> {
    if !trailer.ends_with(TRAILER_MAGIC) {
        return None;
    }
    let mut bytes = Bytes(trailer);
    let offset = u64::from_le_bytes(bytes.take(8)?.try_into().ok()?);
    let length = u64::from_le_bytes(bytes.take(8)?.try_into().ok()?);
    let footer_crc = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
    let crc = u32::from_le_bytes(bytes.take(4)?.try_into().ok()?);
    (crc == crc32fast::hash(&trailer[..20])).then_some((offset, length, footer_crc))
}

/// A file of streams. It appears under its name when it is finished, whole; until then it is `NAME.part`, and
/// dropped unfinished it is removed.
pub struct FileWriter {
    blocks: BlockWriter<BufWriter<File>>,
    publication: Publication,
}

impl FileWriter {
    /// Begins a file. Fails with [`io::ErrorKind::WouldBlock`] while another process writes the same file.
    pub fn create(path: &Path) -> io::Result<FileWriter> {
        let publication = Publication::begin(path)?;
        let file = BufWriter::with_capacity(1 << 18, publication.file().try_clone()?);
        Ok(FileWriter { blocks: BlockWriter::new(file)?, publication })
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.blocks.bytes()
    }

    /// Hands everything so far to the system: from here on it can be read from `NAME.part`, even if the
    /// process is killed.
    pub fn flush(&mut self) -> io::Result<()> {
        self.blocks.to.flush()
    }

    /// Writes the footer, and gives the file its name once everything is on disk.
    pub fn finish(self) -> io::Result<()> {
        self.blocks.finish()?;
        self.publication.publish()
    }
}

impl BlockSink for FileWriter {
    fn block(&mut self, kind: Kind, location: Location, entry: BlockEntry, bytes: &[u8]) -> io::Result<()> {
        self.blocks.block(kind, location, entry, bytes)
    }
}
