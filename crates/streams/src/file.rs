//! A file of streams, read by many threads at once. Nothing in it is trusted.

use std::fs::File;
use std::io;
use std::path::Path;
use std::sync::OnceLock;

use crate::block::{ALIGNMENT, BlockEntry, BlockView, MAX_BLOCK_BYTES};
use crate::index::Index;
use crate::lost::{Lost, Note};
use crate::reader::Stream;
use crate::record::{Kind, Location, Record};
use crate::source::ReadAt;
use crate::writer::{FILE_MAGIC, TRAILER_BYTES, footer_place};

/// How much a scan reads at once, bytes.
const SCAN_BYTES: usize = 1 << 20;

/// Why a file cannot be opened.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// The system reported an error.
    #[error("cannot read: {0}")]
    System(#[from] io::Error),
    /// It neither begins nor ends as one, nor holds a single intact block.
    #[error("not a file of streams")]
    NotStreams,
}

/// An open file of streams. Memory: its index, some 56 bytes a block.
#[derive(Debug)]
pub struct StreamFile<S = File> {
    source: S,
    bytes: u64,
    index: Index,
    digest: OnceLock<u64>,
    notes: Vec<Note>,
}

impl StreamFile<File> {
    /// Opens a file by name.
    pub fn open(path: &Path) -> Result<StreamFile, FileError> {
        StreamFile::new(File::open(path)?)
    }
}

impl<S: ReadAt> StreamFile<S> {
    /// Reads the footer, or looks for blocks in the whole file if it has none that is intact.
    pub fn new(source: S) -> Result<StreamFile<S>, FileError> {
        let bytes = source.length()?;
        let mut notes = Vec::new();
        let mut header = [0; FILE_MAGIC.len()];
        let known = bytes >= header.len() as u64 && {
            source.read_exact_at(&mut header, 0)?;
            header == *FILE_MAGIC
        };
        let (index, ends_well) = match footer(&source, bytes)? {
            Footer::Intact(index) => (index, true),
            other => {
                notes.push(match other {
                    Footer::Damaged => Note::DamagedFooter,
                    _ => Note::Unfinished,
                });
                (Index::new(scan(&source, bytes, &mut notes)?, &mut notes), false)
            }
        };
        if !known && !ends_well && index.blocks.is_empty() {
            return Err(FileError::NotStreams);
        }
        if !known {
            notes.push(Note::DamagedHeader);
        }
        for (kind, location, range) in &index.streams {
            let mut expected = 0;
            let mut from_ns = 0;
            for block in &index.blocks[range.clone()] {
                if block.sequence > expected {
                    notes.push(Note::Lost(Lost::missing(*kind, *location, expected, from_ns, block)));
                }
                expected = block.sequence.saturating_add(1);
                from_ns = block.last_end_ns;
            }
        }
        Ok(StreamFile { source, bytes, index, digest: OnceLock::new(), notes })
    }

    /// What was found damaged or missing when it was opened. Damage within blocks is found when they are
    /// read.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// Its length in bytes when it was opened.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// A number that depends on all blocks' places, times and counts: what is derived from another file has
    /// another one.
    pub fn digest(&self) -> u64 {
        *self.digest.get_or_init(|| {
            u64::from(crc32fast::hash(&self.index.to_bytes())) << 32
                | (self.index.blocks.len() as u64 & 0xffff_ffff)
        })
    }

    /// Which streams there are, in order.
    pub fn streams(&self) -> impl Iterator<Item = (Kind, Location)> + '_ {
        self.index.streams.iter().map(|(kind, location, _)| (*kind, *location))
    }

    /// The locations with records of a kind, in order.
    pub fn locations<R: Record>(&self) -> Vec<Location> {
        self.streams().filter(|(kind, _)| *kind == R::KIND).map(|(_, location)| location).collect()
    }

    /// The stream of a location; an empty one if there is none.
    pub fn stream<R: Record>(&self, location: Location) -> Stream<'_, R, S> {
        Stream::new(self, location, self.index.blocks_of(R::KIND, location))
    }

    /// What it is read from.
    pub fn source(&self) -> &S {
        &self.source
    }
}

impl Lost {
    pub(crate) fn missing(
        kind: Kind,
        location: Location,
        sequence: u32,
        from_ns: u64,
        next: &BlockEntry,
    ) -> Lost {
        let (blocks, to_ns) = (next.sequence - sequence, next.first_end_ns);
        Lost { kind, location, sequence, blocks, from_ns, to_ns, fault: crate::lost::Fault::Missing }
    }
}

enum Footer {
    Intact(Index),
    Damaged,
    None,
}

fn footer(source: &impl ReadAt, bytes: u64) -> io::Result<Footer> {
    let Some(trailer_at) = bytes.checked_sub(TRAILER_BYTES as u64) else { return Ok(Footer::None) };
    let mut trailer = [0; TRAILER_BYTES];
    source.read_exact_at(&mut trailer, trailer_at)?;
    let Some((offset, length, crc)) = footer_place(&trailer) else { return Ok(Footer::None) };
    if offset.checked_add(length) != Some(trailer_at) {
        return Ok(Footer::Damaged);
    }
    let mut footer = vec![0; length as usize];
    source.read_exact_at(&mut footer, offset)?;
    if crc32fast::hash(&footer) != crc {
        return Ok(Footer::Damaged);
    }
    Ok(Index::from_bytes(&footer, offset).map_or(Footer::Damaged, Footer::Intact))
}

/// Looks for intact blocks at every place where one may begin.
fn scan(
    source: &impl ReadAt,
    bytes: u64,
    notes: &mut Vec<Note>,
) -> io::Result<Vec<(Kind, Location, BlockEntry)>> {
    let mut found = Vec::new();
    let mut buffer = Vec::new();
    let (mut begin, mut at) = (0u64, ALIGNMENT as u64);
    let mut skipped: Option<u64> = None;
    let mut note = |skipped: &mut Option<u64>, end: u64| {
        if let Some(offset) = skipped.take() {
            notes.push(Note::Skipped { offset, bytes: end - offset });
        }
    };
    while at < bytes {
        if at < begin || at + MAX_BLOCK_BYTES as u64 > begin + buffer.len() as u64 {
            begin = at;
            buffer.resize(SCAN_BYTES.min((bytes - at) as usize), 0);
            source.read_exact_at(&mut buffer, begin)?;
        }
        let here = &buffer[(at - begin) as usize..];
        let block = BlockView::claimed_length(here).and_then(|length| BlockView::new(here.get(..length)?));
        at += match block {
            Some(block) => {
                note(&mut skipped, at);
                found.push((block.kind, block.location, BlockEntry { offset: at, ..block.entry }));
                u64::from(block.entry.length).next_multiple_of(ALIGNMENT as u64)
            }
            None => {
                skipped.get_or_insert(at);
                ALIGNMENT as u64
            }
        };
    }
    note(&mut skipped, bytes);
    Ok(found)
}
