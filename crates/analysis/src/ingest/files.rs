//! The files of a run.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use memmap2::Mmap;
use proust_log::layout::{CHUNK_BYTES, ChunkHeader, EXTENSION, HEADER_BYTES, LOG_FOLDER};
use proust_profile::RunFile;
use proust_profile::run_file::{RUN_FILE, RunFileError};
use proust_profile::tables::{SourceFile, digest};

use super::{CallPaths, Counter, IngestError, LogBytes, Symbols, ingest_logs_showing};

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
    paths.push(dir.join(RUN_FILE));
    let mut sources = Vec::new();
    for path in paths {
        // What is gone by now is no source.
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
/// the head of each chunk, which counts the bytes in use; of another file all of it.
fn state_of(path: &Path) -> io::Result<(u64, Vec<u8>)> {
    let file = File::open(path)?;
    let bytes = file.metadata()?.len();
    if path.extension().is_none_or(|extension| extension != EXTENSION) {
        return Ok((bytes, fs::read(path)?));
    }
    let mut state = vec![0; HEADER_BYTES.min(bytes as usize)];
    file.read_exact_at(&mut state, 0)?;
    for chunk in (HEADER_BYTES as u64..bytes).step_by(CHUNK_BYTES) {
        let mut head = [0; size_of::<ChunkHeader>()];
        let there = head.len().min((bytes - chunk) as usize);
        file.read_exact_at(&mut head[..there], chunk)?;
        state.extend_from_slice(&head);
    }
    Ok((bytes, state))
}

/// Makes a profile of the run in `dir`, with the call paths that are wanted.
///
/// # Errors
/// [`IngestError`] when it is not the folder of a run, or nothing in it can be read.
pub fn ingest(
    dir: &Path,
    shown: CallPaths,
    symbols: &dyn Symbols,
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
        Err(error) => (None, Some(format!("{error}: the command's outcome is not known"))),
    };
    let maps: Vec<(String, Result<Option<Mmap>, String>)> = paths.iter().map(|path| map(path)).collect();
    let logs: Vec<LogBytes<'_>> = maps
        .iter()
        .map(|(name, map)| LogBytes {
            name,
            bytes: match map {
                Ok(Some(map)) => Ok(map),
                Ok(None) => Ok(&[]),
                Err(reason) => Err(reason),
            },
        })
        .collect();
    let mut profile =
        ingest_logs_showing(shown, &dir.to_string_lossy(), &logs, run.as_ref(), symbols, counter)?;
    profile.quality.notes.extend(run_note);
    Ok(profile)
}

/// A log's name and contents; an empty file cannot be mapped.
fn map(path: &Path) -> (String, Result<Option<Mmap>, String>) {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let map = || {
        let file = File::open(path)?;
        if file.metadata()?.len() == 0 {
            return Ok(None);
        }
        // SAFETY: the mapping is only read, as bytes, and every value read from it is taken once and then
        // validated. A live process may still write to it: records are verified by their checks. Whoever
        // truncates a log at this very moment ends this process with SIGBUS; nothing of Proust does.
        unsafe { Mmap::map(&file) }.map(Some)
    };
    (format!("{LOG_FOLDER}/{name}"), map().map_err(|error: io::Error| error.to_string()))
}
