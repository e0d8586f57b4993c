//! The files of a run.

use std::fs::{self, File};
use std::io;
use std::mem::offset_of;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::{Mmap, MmapOptions};
use proust_log::children::children_in;
use proust_log::layout::{
    ChunkHeader, DUMP_EXTENSION, EXTENSION, Ending, FileHeader, HEADER_BYTES, LOG_FOLDER, MAP_EXTENSION,
    UNIT_BYTES,
};
use proust_profile::RunFile;
use proust_profile::notes::RunNote;
use proust_profile::run_file::{RUN_FILE, RunFileError};
use proust_profile::tables::{SourceFile, digest};

use super::{Counter, IngestError, LogBytes, Making, ingest_logs_by};

/// The logs of the run in `dir`, sorted by name; none if there is no folder of logs.
fn log_paths(dir: &Path) -> Result<Vec<PathBuf>, IngestError> {
    let folder = dir.join(LOG_FOLDER);
    let io = |source| IngestError::Io { path: folder.clone(), source };
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(source) => return Err(io(source)),
    };
    let mut paths = Vec::new();
    for entry in entries {
        let path = entry.map_err(io)?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// What a profile of the run in `dir` is made from: its logs as they are now, and `run.json`.
///
/// # Errors
/// [`IngestError`] when there is no such folder or it cannot be read. A folder without logs has no sources.
pub fn sources(dir: &Path) -> Result<Vec<SourceFile>, IngestError> {
    if !dir.is_dir() {
        return Err(IngestError::NoFolder { dir: dir.into() });
    }
    let mut paths = log_paths(dir)?;
    if paths.is_empty() {
        return Ok(Vec::new());
    }
    let beside = |path: &PathBuf| [MAP_EXTENSION, DUMP_EXTENSION].map(|beside| path.with_extension(beside));
    let beside: Vec<PathBuf> = paths.iter().flat_map(beside).collect();
    paths.extend(beside);
    paths.push(dir.join(RUN_FILE));
    let mut sources = Vec::new();
    for path in paths {
        // A file that is gone by now is no source.
        let Ok((bytes, state)) = state_of(&path) else { continue };
        sources.push(SourceFile {
            name: path.strip_prefix(dir).unwrap_or(&path).to_string_lossy().into_owned(),
            bytes,
            digest: digest(&state),
        });
    }
    Ok(sources)
}

/// Length of a file, and the part of it that changes whenever it is written to: of a log its first page and
/// the head of each chunk, which counts the bytes in use; of names of code nothing, since they are only added
/// to; of another file all of it.
fn state_of(path: &Path) -> io::Result<(u64, Vec<u8>)> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let extension = path.extension();
    if extension.is_some_and(|extension| extension == MAP_EXTENSION || extension == DUMP_EXTENSION) {
        return Ok((bytes, Vec::new()));
    }
    if extension.is_none_or(|extension| extension != EXTENSION) {
        return Ok((bytes, fs::read(path)?));
    }
    let mut state = vec![0; HEADER_BYTES.min(bytes as usize)];
    file.read_exact_at(&mut state, 0)?;
    let mut start = HEADER_BYTES as u64;
    while start < bytes {
        let head = head_of(&file, start)?;
        let of_children = ChunkHeader::begins(&head).is_some_and(|header| header.is_of_children());
        let next = start + bytes_under(&head);
        if of_children {
            // A slot that is in use already changes when its child ends.
            state.extend_from_slice(&bytes_at(&file, start..next)?);
        } else {
            state.extend_from_slice(&head);
        }
        start = next;
    }
    Ok((bytes, state))
}

/// These bytes of a file, as far as it goes.
fn bytes_at(file: &File, range: Range<u64>) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; (range.end - range.start) as usize];
    match file.read_exact_at(&mut bytes, range.start) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        _ => Ok(bytes),
    }
}

/// How many process images the log at `path` describes: its own, and forked children that have none.
///
/// # Errors
/// When the file cannot be read.
pub fn processes_in(path: &Path) -> io::Result<u64> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    let (mut processes, mut start) = (1, HEADER_BYTES as u64);
    while start < bytes {
        let head = head_of(&file, start)?;
        let next = start + bytes_under(&head);
        if ChunkHeader::begins(&head).is_some_and(|header| header.is_of_children()) {
            processes += children_in(&bytes_at(&file, start..next)?, &mut 0).len() as u64;
        }
        start = next;
    }
    Ok(processes)
}

/// The head of the chunk at `start`; zeros where the file has become shorter meanwhile.
fn head_of(file: &File, start: u64) -> io::Result<[u8; size_of::<ChunkHeader>()]> {
    let mut head = [0; size_of::<ChunkHeader>()];
    match file.read_exact_at(&mut head, start) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => Err(error),
        _ => Ok(head),
    }
}

/// Bytes of the chunk that begins with `head`, or of one unit where no chunk does.
fn bytes_under(head: &[u8]) -> u64 {
    ChunkHeader::begins(head).map_or(UNIT_BYTES as u64, |header| header.bytes.into())
}

/// How much of a log of `bytes` will stay. A process that still records gives what it has reserved and not
/// used back when it ends.
fn lasting_bytes(file: &File, bytes: u64) -> io::Result<u64> {
    let mut ending = [0; 4];
    let is_open = match file.read_exact_at(&mut ending, offset_of!(FileHeader, ending) as u64) {
        Ok(()) => Ending::from_number(u32::from_ne_bytes(ending)) == Ending::Open,
        // Too short for a log: there is nothing to be given back.
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => false,
        Err(error) => return Err(error),
    };
    if !is_open {
        return Ok(bytes);
    }
    let (mut start, mut lasting) = (HEADER_BYTES as u64, HEADER_BYTES as u64);
    while start < bytes {
        let head = head_of(file, start)?;
        start += bytes_under(&head);
        if head != [0; size_of::<ChunkHeader>()] {
            lasting = start;
        }
    }
    Ok(bytes.min(lasting))
}

/// Makes a profile of the run in `dir`, with the call paths and the memory that are wanted.
///
/// # Errors
/// [`IngestError`] when it is not the folder of a run, or nothing in it can be read.
pub fn ingest(
    dir: &Path,
    making: Making<'_>,
    counter: &Counter,
) -> Result<proust_profile::Profile, IngestError> {
    if !dir.is_dir() {
        return Err(IngestError::NoFolder { dir: dir.into() });
    }
    let paths = log_paths(dir)?;
    let (run, run_note) = match RunFile::read(dir) {
        Ok(run) => (Some(run), None),
        Err(RunFileError::Missing { .. }) if paths.is_empty() => {
            return Err(IngestError::NotARun { dir: dir.into() });
        }
        Err(error @ RunFileError::OtherSchema { .. }) => return Err(error.into()),
        // The logs hold nearly all that is in it.
        Err(error) => (None, Some(RunNote::RunFileUnread { error: error.to_string() })),
    };
    let maps: Vec<(String, Result<Option<Mmap>, String>)> = paths.iter().map(|path| map(path)).collect();
    let beside = |extension| -> Vec<Option<Mmap>> {
        paths.iter().map(|path| map_whole(&path.with_extension(extension))).collect()
    };
    let (perf_maps, jitdumps) = (beside(MAP_EXTENSION), beside(DUMP_EXTENSION));
    let logs: Vec<LogBytes<'_>> = maps
        .iter()
        .zip(perf_maps.iter().zip(&jitdumps))
        .map(|((name, map), (perf_map, jitdump))| LogBytes {
            name,
            perf_map: perf_map.as_deref().unwrap_or_default(),
            jitdump: jitdump.as_deref().unwrap_or_default(),
            bytes: match map {
                Ok(Some(map)) => Ok(map),
                Ok(None) => Ok(&[]),
                Err(reason) => Err(reason),
            },
        })
        .collect();
    let mut profile = ingest_logs_by(making, &dir.to_string_lossy(), &logs, run.as_ref(), counter)?;
    profile.quality.unfinished |= run_note.is_some();
    profile.quality.notes.extend(run_note);
    Ok(profile)
}

/// A log's name and contents; an empty file cannot be mapped.
fn map(path: &Path) -> (String, Result<Option<Mmap>, String>) {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let map = || {
        let file = File::open(path)?;
        let bytes = lasting_bytes(&file, file.metadata()?.len())?;
        if bytes == 0 {
            return Ok(None);
        }
        // SAFETY: the mapping is only read, as bytes, and every value read from it is taken once and then
        // validated. A live process may still write to it: records are verified by their checks. It may make
        // the file shorter, too, but not by the part mapped here; if another process does, this one ends with
        // SIGBUS.
        unsafe { MmapOptions::new().len(bytes as usize).map(&file) }.map(Some)
    };
    (format!("{LOG_FOLDER}/{name}"), map().map_err(|error: io::Error| error.to_string()))
}

/// A file beside a log; None if there is none, or it is empty.
fn map_whole(path: &Path) -> Option<Mmap> {
    let file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|data| data.is_file()))?;
    // SAFETY: the mapping is only read, as bytes, of which any value is accepted. It is a copy that nobody
    // writes to, or the file of a live process, which only adds to it.
    unsafe { MmapOptions::new().map(&file) }.ok().filter(|map| !map.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use zerocopy::IntoBytes;

    /// A log with one chunk of two units in use, behind it one with a damaged head, and two units that are
    /// reserved: how much of it is mapped.
    fn mapped_bytes(ending: Ending) -> usize {
        let mut bytes = vec![0; HEADER_BYTES + 5 * UNIT_BYTES];
        let header = FileHeader { ending: ending as u32, ..FileHeader::default() };
        bytes[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
        let head = ChunkHeader::new(0, 0, 2 * UNIT_BYTES as u32, 100);
        bytes[HEADER_BYTES..][..size_of::<ChunkHeader>()].copy_from_slice(head.as_bytes());
        bytes[HEADER_BYTES + 2 * UNIT_BYTES] = 1;
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, bytes).unwrap();
        map(&path).1.unwrap().unwrap().len()
    }

    #[test]
    fn what_a_process_may_give_back_is_not_read() {
        assert_eq!(mapped_bytes(Ending::Open), HEADER_BYTES + 3 * UNIT_BYTES);
        assert_eq!(mapped_bytes(Ending::Exit), HEADER_BYTES + 5 * UNIT_BYTES);
    }

    #[test]
    fn a_file_of_any_length_is_mapped_or_refused() {
        let dir = tempfile::tempdir().unwrap();
        for bytes in [0, 1, 100, HEADER_BYTES - 1, HEADER_BYTES, HEADER_BYTES + 3] {
            let path = dir.path().join("log");
            fs::write(&path, vec![0; bytes]).unwrap();
            let mapped = map(&path).1.unwrap().map_or(0, |map| map.len());
            assert_eq!(mapped, bytes.min(HEADER_BYTES));
        }
    }
}
