//! Bytes that are written once and read at any place: as many of them as a budget allows lie in memory, the
//! others in a file without a name.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::source::ReadAt;

/// Bytes are written in pieces of this length, the last one of each writer being shorter.
const PIECE_BYTES: usize = 1 << 16;

/// So many bytes that may be in memory, shared by all who have a clone.
#[derive(Clone, Debug)]
pub struct Budget(Arc<AtomicU64>);

impl Budget {
    /// One of so many bytes.
    pub fn new(bytes: u64) -> Budget {
        Budget(Arc::new(AtomicU64::new(bytes)))
    }

    /// Bytes that are left.
    pub fn left_bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    /// Takes so many bytes until the answer is dropped. None = they are not left.
    pub fn take(&self, bytes: u64) -> Option<Taken> {
        let less = |left: u64| left.checked_sub(bytes);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).ok()?;
        Some(Taken { budget: self.clone(), bytes })
    }
}

/// A part of a [`Budget`] that is in use.
#[derive(Debug)]
pub struct Taken {
    budget: Budget,
    bytes: u64,
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.budget.0.fetch_add(self.bytes, Ordering::Relaxed);
    }
}

/// Where bytes of many writers go: into memory while its budget lasts, and into one file after that. The file
/// is made when it is needed. It has no name, so that nothing is left of it, however the process ends.
#[derive(Clone, Debug)]
pub struct Spool(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    budget: Budget,
    /// Where the file is made.
    folder: PathBuf,
    file: OnceLock<Option<File>>,
    /// Bytes of the file that were given away.
    end: AtomicU64,
    /// Where pieces of the file are that are not used any more.
    free: Mutex<Vec<u64>>,
    /// Memory of whole pieces that are not used any more. Given back to an allocator that keeps memory by
    /// thread, it would not be there for the thread that writes next.
    buffers: Mutex<Vec<Vec<u8>>>,
    /// Something that was written into the file could not be read.
    is_damaged: AtomicBool,
}

impl Default for Spool {
    /// One with all memory that there is.
    fn default() -> Spool {
        Spool::new(Path::new(""), Budget::new(u64::MAX))
    }
}

impl Spool {
    /// One whose file, if it needs any, is in `folder`. If that cannot be made, or refuses to take more,
    /// everything is in memory, as much as that is.
    pub fn new(folder: &Path, budget: Budget) -> Spool {
        Spool(Arc::new(Shared {
            budget,
            folder: folder.to_path_buf(),
            file: OnceLock::new(),
            end: AtomicU64::new(0),
            free: Mutex::default(),
            buffers: Mutex::default(),
            is_damaged: AtomicBool::new(false),
        }))
    }

    /// The memory that it uses.
    pub fn budget(&self) -> &Budget {
        &self.0.budget
    }

    /// Where its file is made.
    pub(crate) fn folder(&self) -> &Path {
        &self.0.folder
    }

    /// Begins to write.
    pub fn writer(&self) -> SpoolWriter {
        SpoolWriter { spool: self.clone(), open: Vec::new(), pieces: Vec::new() }
    }

    /// Bytes in the file, used or not.
    pub fn file_bytes(&self) -> u64 {
        self.0.end.load(Ordering::Relaxed)
    }

    /// Whether anything could not be read again until now: what follows from it is wrong.
    pub fn is_damaged(&self) -> bool {
        self.0.is_damaged.load(Ordering::Relaxed)
    }

    fn keep(&self, bytes: Vec<u8>) -> Piece {
        let shared = self.0.clone();
        if let Some(taken) = self.0.budget.take(bytes.len() as u64) {
            return Piece::Memory { bytes, _taken: Some(taken), shared };
        }
        match self.0.written(&bytes) {
            Some(offset) => {
                self.0.give_back_buffer(bytes);
                Piece::File { offset, shared }
            }
            None => Piece::Memory { bytes, _taken: None, shared },
        }
    }
}

impl Shared {
    fn file(&self) -> Option<&File> {
        self.file.get_or_init(|| tempfile::tempfile_in(&self.folder).ok()).as_ref()
    }

    /// Writes a piece into the file, and answers where it is.
    fn written(&self, bytes: &[u8]) -> Option<u64> {
        let file = self.file()?;
        let unused = self.free.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let offset = unused.unwrap_or_else(|| self.end.fetch_add(PIECE_BYTES as u64, Ordering::Relaxed));
        let is_written = file.write_all_at(bytes, offset).is_ok();
        if !is_written {
            self.give_back(offset);
        }
        is_written.then_some(offset)
    }

    /// An empty buffer for a piece.
    fn buffer(&self) -> Vec<u8> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give_back_buffer(&self, mut buffer: Vec<u8>) {
        if buffer.capacity() == PIECE_BYTES {
            buffer.clear();
            self.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }

    fn give_back(&self, offset: u64) {
        self.free.lock().unwrap_or_else(PoisonError::into_inner).push(offset);
    }
}

/// Bytes on their way into a [`Spool`]. Writing never fails: what the file does not take stays in memory.
#[derive(Debug)]
pub struct SpoolWriter {
    spool: Spool,
    open: Vec<u8>,
    /// All of [`PIECE_BYTES`].
    pieces: Vec<Piece>,
}

impl SpoolWriter {
    /// All that was written.
    pub fn finish(mut self) -> Spooled {
        let bytes = (self.pieces.len() * PIECE_BYTES + self.open.len()) as u64;
        if !self.open.is_empty() {
            self.pieces.push(self.spool.keep(self.open.as_slice().into()));
        }
        self.spool.0.give_back_buffer(self.open);
        Spooled(Bytes::Pieces { pieces: self.pieces, bytes })
    }
}

impl Write for SpoolWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.open.capacity() == 0 {
            self.open = self.spool.0.buffer();
        }
        let (length, fits) = (self.open.len(), bytes.len().min(PIECE_BYTES - self.open.len()));
        if length + fits > self.open.capacity() {
            // It doubles, as vectors do, but to a whole piece at most, and then it is exactly one.
            let capacity = (2 * self.open.capacity()).clamp(length + fits, PIECE_BYTES);
            self.open.reserve_exact(capacity - length);
        }
        self.open.extend_from_slice(&bytes[..fits]);
        if self.open.len() == PIECE_BYTES {
            let full = std::mem::take(&mut self.open);
            self.pieces.push(self.spool.keep(full));
        }
        Ok(fits)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
enum Piece {
    Memory { bytes: Vec<u8>, _taken: Option<Taken>, shared: Arc<Shared> },
    File { offset: u64, shared: Arc<Shared> },
}

impl Drop for Piece {
    fn drop(&mut self) {
        match self {
            Piece::Memory { bytes, shared, .. } => shared.give_back_buffer(std::mem::take(bytes)),
            Piece::File { offset, shared } => shared.give_back(*offset),
        }
    }
}

/// Bytes that were written into a [`Spool`], or are in memory or in a file of their own.
#[derive(Debug)]
pub struct Spooled(Bytes);

#[derive(Debug)]
enum Bytes {
    Pieces { pieces: Vec<Piece>, bytes: u64 },
    Memory(Vec<u8>),
    File { file: File, is_damaged: AtomicBool },
}

impl From<Vec<u8>> for Spooled {
    fn from(bytes: Vec<u8>) -> Spooled {
        Spooled(Bytes::Memory(bytes))
    }
}

impl From<File> for Spooled {
    fn from(file: File) -> Spooled {
        Spooled(Bytes::File { file, is_damaged: AtomicBool::new(false) })
    }
}

impl ReadAt for Spooled {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        let pieces = match &self.0 {
            Bytes::Memory(bytes) => return bytes.read_exact_at(buffer, offset),
            Bytes::File { file, is_damaged } => {
                let read = ReadAt::read_exact_at(file, buffer, offset);
                is_damaged.fetch_or(read.is_err(), Ordering::Relaxed);
                return read;
            }
            // In the file another piece follows the last one.
            Bytes::Pieces { bytes, .. } if offset.saturating_add(buffer.len() as u64) > *bytes => {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            Bytes::Pieces { pieces, .. } => pieces,
        };
        let (mut at, mut left) = (usize::try_from(offset).unwrap_or(usize::MAX), buffer);
        while !left.is_empty() {
            let from = at % PIECE_BYTES;
            let (some, behind) = left.split_at_mut((PIECE_BYTES - from).min(left.len()));
            match pieces.get(at / PIECE_BYTES).ok_or(io::ErrorKind::UnexpectedEof)? {
                Piece::Memory { bytes, .. } => {
                    let here = bytes.get(from..from + some.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
                    some.copy_from_slice(here);
                }
                Piece::File { offset, shared } => {
                    let read = shared.file().ok_or(io::Error::from(io::ErrorKind::NotFound));
                    let read = read.and_then(|file| FileExt::read_exact_at(file, some, offset + from as u64));
                    if let Err(error) = read {
                        shared.is_damaged.store(true, Ordering::Relaxed);
                        return Err(error);
                    }
                }
            }
            at += some.len();
            left = behind;
        }
        Ok(())
    }

    fn length(&self) -> io::Result<u64> {
        match &self.0 {
            Bytes::Pieces { bytes, .. } => Ok(*bytes),
            Bytes::Memory(bytes) => bytes.length(),
            Bytes::File { file, .. } => file.length(),
        }
    }
}

impl Spooled {
    /// The spool that they are in; for bytes that are in none, one with all memory that there is.
    pub fn spool(&self) -> Spool {
        match &self.0 {
            Bytes::Pieces { pieces, .. } => match pieces.first() {
                Some(Piece::Memory { shared, .. } | Piece::File { shared, .. }) => Spool(shared.clone()),
                None => Spool::default(),
            },
            Bytes::Memory(_) | Bytes::File { .. } => Spool::default(),
        }
    }

    /// Notes that what was read of them is not what was written.
    pub fn note_damage(&self) {
        match &self.0 {
            Bytes::Pieces { .. } => self.spool().0.is_damaged.store(true, Ordering::Relaxed),
            // They are checked before anything is read of them.
            Bytes::Memory(_) => {}
            Bytes::File { is_damaged, .. } => is_damaged.store(true, Ordering::Relaxed),
        }
    }

    /// Whether anything could not be read until now: what follows from it is wrong.
    pub fn is_damaged(&self) -> bool {
        match &self.0 {
            Bytes::Pieces { .. } => self.spool().is_damaged(),
            Bytes::Memory(_) => false,
            Bytes::File { is_damaged, .. } => is_damaged.load(Ordering::Relaxed),
        }
    }

    /// Writes all of them.
    ///
    /// # Errors
    /// When they cannot be read, or `to` refuses.
    pub fn write_to(&self, mut to: impl Write) -> io::Result<()> {
        let bytes = self.length()?;
        let mut buffer = vec![0; PIECE_BYTES];
        let mut at = 0;
        while at < bytes {
            let some = &mut buffer[..(bytes - at).min(PIECE_BYTES as u64) as usize];
            self.read_exact_at(some, at)?;
            to.write_all(some)?;
            at += some.len() as u64;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `bytes` that repeat at no length that pieces have.
    fn text(bytes: usize, seed: usize) -> Vec<u8> {
        (0..bytes).map(|at| ((at + seed) * 31 % 251) as u8).collect()
    }

    fn spooled(spool: &Spool, parts: &[Vec<u8>]) -> Spooled {
        let mut writer = spool.writer();
        parts.iter().for_each(|part| writer.write_all(part).unwrap());
        writer.finish()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn what_was_written_is_read_whatever_the_budget(
            lengths in prop::collection::vec(0_usize..100_000, 0..6),
            budget_bytes in 0_u64..400_000,
            ranges in prop::collection::vec(any::<[prop::sample::Index; 2]>(), 1..20),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path(), Budget::new(budget_bytes));
            let parts: Vec<Vec<u8>> = lengths.iter().map(|&length| text(length, length)).collect();
            let whole = parts.concat();
            // Another one's bytes lie between these.
            let mut other = spool.writer();
            other.write_all(&text(PIECE_BYTES + 9, 5)).unwrap();
            let found = spooled(&spool, &parts);
            let other = other.finish();
            prop_assert_eq!(found.length().unwrap(), whole.len() as u64);
            for [one, another] in ranges {
                let (from, to) = (one.index(whole.len() + 1), another.index(whole.len() + 1));
                let range = from.min(to)..from.max(to);
                let mut some = vec![0; range.len()];
                found.read_exact_at(&mut some, range.start as u64).unwrap();
                prop_assert_eq!(&some, &whole[range]);
            }
            let mut behind = [0; 2];
            prop_assert!(found.read_exact_at(&mut behind, (whole.len() as u64).saturating_sub(1)).is_err());
            let (mut copy, mut of_other) = (Vec::new(), Vec::new());
            found.write_to(&mut copy).unwrap();
            other.write_to(&mut of_other).unwrap();
            prop_assert_eq!(copy, whole);
            prop_assert_eq!(of_other, text(PIECE_BYTES + 9, 5));
            prop_assert!(spool.budget().left_bytes() <= budget_bytes && !spool.is_damaged());
            drop((found, other));
            prop_assert_eq!(spool.budget().left_bytes(), budget_bytes);
        }
    }

    #[test]
    fn the_file_is_as_long_as_what_is_used_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path(), Budget::new(0));
        for round in 0..10 {
            let found = spooled(&spool, &[text(3 * PIECE_BYTES + 1, round)]);
            assert_eq!(found.length().unwrap(), 3 * PIECE_BYTES as u64 + 1);
        }
        assert_eq!(spool.file_bytes(), 4 * PIECE_BYTES as u64);
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "it has no name");
        let found = spooled(&spool, &[text(9, 1)]);
        assert!(Arc::ptr_eq(&found.spool().0, &spool.0));
        assert!(!Arc::ptr_eq(&Spooled::from(text(9, 1)).spool().0, &spool.0));
    }

    #[test]
    fn memory_of_whole_pieces_is_used_again() {
        let spool = Spool::default();
        let parts: Vec<Vec<u8>> = (0..40).map(|part| text(4096 + part, part)).collect();
        drop(spooled(&spool, &parts));
        let unused = spool.0.buffers.lock().unwrap().len();
        assert!(unused >= 2, "{unused} of the three pieces");
        let again = spooled(&spool, &parts);
        assert_eq!(spool.0.buffers.lock().unwrap().len(), unused - 2, "two of them are whole");
        let mut copy = Vec::new();
        again.write_to(&mut copy).unwrap();
        assert_eq!(copy, parts.concat());
    }

    #[test]
    fn without_a_folder_everything_is_in_memory() {
        let spool = Spool::new(Path::new("/nowhere/at/all"), Budget::new(10));
        let found = spooled(&spool, &[text(2 * PIECE_BYTES, 1)]);
        let mut copy = Vec::new();
        found.write_to(&mut copy).unwrap();
        assert_eq!(copy, text(2 * PIECE_BYTES, 1));
    }

    /// `/dev/full` takes nothing: a device that is full.
    #[test]
    fn what_a_full_device_does_not_take_stays_in_memory() {
        let spool = Spool::new(Path::new(""), Budget::new(0));
        let full = File::options().read(true).write(true).open("/dev/full").unwrap();
        spool.0.file.set(Some(full)).unwrap();
        let found = spooled(&spool, &[text(PIECE_BYTES + 7, 3)]);
        let mut copy = Vec::new();
        found.write_to(&mut copy).unwrap();
        assert_eq!((copy, spool.is_damaged()), (text(PIECE_BYTES + 7, 3), false));
    }

    #[test]
    fn a_file_that_lost_its_end_is_damage() {
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path(), Budget::new(0));
        let found = spooled(&spool, &[text(PIECE_BYTES, 3)]);
        spool.0.file().unwrap().set_len(100).unwrap();
        let mut all = vec![0; PIECE_BYTES];
        assert!(found.read_exact_at(&mut all, 0).is_err() && spool.is_damaged());
        assert!(found.read_exact_at(&mut all[..100], 0).is_ok() && found.is_damaged());

        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&all[..100]).unwrap();
        let kept = Spooled::from(file.try_clone().unwrap());
        assert!(kept.read_exact_at(&mut all[..100], 0).is_ok() && !kept.is_damaged());
        file.set_len(50).unwrap();
        assert!(kept.read_exact_at(&mut all[..100], 0).is_err() && kept.is_damaged());
    }
}
