//! Levels: exact sums over blocks, over groups of blocks, and over groups of locations in bins of time.
//!
//! ```text
//! file   = "PROUST levels 1 ", frame, frame, …, directory, trailer
//! frame  = u32 CRC-32 of the rest, u32 length of the rest, varint nodes, nodes × { varint length, node }
//! node   = varint begin, length, records; drawn record;
//!          varint entries × { varint key − the one before, varint ns }
//! ```
//!
//! A frame has up to 64 nodes. The nodes of a location's level 0 are its blocks, those of a group's are bins
//! of time; a node of the level above represents a frame.

mod build;
mod directory;
mod drawn;
mod node;
mod query;

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::path::Path;
use std::sync::Arc;

pub use build::{Group, LevelOptions, Members};
pub use drawn::Drawn;
pub use node::AccountSums;

use crate::file::StreamFile;
use crate::publication::Publication;
use crate::record::{Location, Summed};
use crate::source::ReadAt;
use directory::Directory;

/// Nodes of a frame at most, and so the number of nodes under one of the next level.
pub(crate) const FAN: usize = 64;
const MAGIC: &[u8; 16] = b"PROUST levels 1 ";

/// Why levels cannot be used. They are a cache: in each of these cases they can be made again.
#[derive(Debug, thiserror::Error)]
pub enum LevelsError {
    /// The system reported an error.
    #[error("cannot read levels: {0}")]
    System(#[from] io::Error),
    /// A check does not agree, or what is there contradicts itself.
    #[error("levels are damaged")]
    Damaged,
    /// They were made from another file of streams, or of another kind of records.
    #[error("levels belong to other streams")]
    Stale,
}

/// A file of levels.
#[derive(Debug)]
pub struct LevelsFile {
    file: File,
    directory: Directory,
}

impl LevelsFile {
    /// Reads where everything in it is.
    ///
    /// # Errors
    /// [`LevelsError`] when it cannot be read or is damaged.
    pub fn new(file: File) -> Result<LevelsFile, LevelsError> {
        let directory = Directory::read(&file)?;
        Ok(LevelsFile { file, directory })
    }
}

/// The levels of a file of streams.
pub struct Levels<'a, R, S = File> {
    file: &'a StreamFile<S>,
    levels: Arc<LevelsFile>,
    record: PhantomData<R>,
}

impl<'a, R: Summed, S: ReadAt> Levels<'a, R, S> {
    /// Makes the levels of all streams of a kind and writes them under this name, whole or not at all. On all
    /// threads of the current pool; the file does not depend on their number.
    pub fn build(file: &'a StreamFile<S>, path: &Path, options: &LevelOptions) -> io::Result<()> {
        let publication = Publication::begin(path)?;
        build::build::<R, S>(file, publication.file(), options)?;
        publication.publish()
    }

    /// Writes the levels of all streams of a kind into an empty file, open for reading and writing: for callers
    /// that give files their names themselves.
    pub fn write(file: &'a StreamFile<S>, to: &File, options: &LevelOptions) -> io::Result<()> {
        build::build::<R, S>(file, to, options)
    }

    /// Opens the levels of a file.
    ///
    /// # Errors
    /// [`LevelsError`] when they cannot be read, are damaged, or were made from other streams.
    pub fn open(file: &'a StreamFile<S>, path: &Path) -> Result<Levels<'a, R, S>, LevelsError> {
        Levels::new(file, Arc::new(LevelsFile::new(File::open(path)?)?))
    }

    /// As [`Levels::open`], of a file that is open already.
    ///
    /// # Errors
    /// [`LevelsError::Stale`] when they were made from other streams.
    pub fn new(file: &'a StreamFile<S>, levels: Arc<LevelsFile>) -> Result<Levels<'a, R, S>, LevelsError> {
        if levels.directory.kind != R::KIND || levels.directory.digest != file.digest() {
            return Err(LevelsError::Stale);
        }
        Ok(Levels { file, levels, record: PhantomData })
    }

    /// The groups, each by its number, with all its locations.
    pub fn groups(&self) -> impl Iterator<Item = (u32, &[Location])> + '_ {
        self.directory().groups.iter().map(|group| (group.id, group.locations.as_slice()))
    }

    /// The width of the smallest bins of groups, ns: a power of two.
    pub fn bin_ns(&self) -> u64 {
        1 << self.directory().bin_shift
    }

    fn directory(&self) -> &Directory {
        &self.levels.directory
    }
}
