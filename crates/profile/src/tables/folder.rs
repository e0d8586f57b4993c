//! The profile's folder: replaced as a whole, and checked file by file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use super::digest::digest;
use super::error::TablesError;
use super::reader::Table;

pub(super) const FACTS: &str = "facts.json";
const CHECK: &str = "check.json";
/// Temporary folders begin so; those older than [`STALE`] were left behind by a process that was killed.
const TEMPORARY: &str = ".profile-";
const STALE: Duration = Duration::from_secs(3600);

#[derive(Debug, Serialize, Deserialize)]
struct FileCheck {
    bytes: u64,
    /// Hexadecimal, because JSON numbers hold only 53 bits everywhere.
    digest: String,
}

impl FileCheck {
    fn of(bytes: &[u8]) -> FileCheck {
        FileCheck { bytes: bytes.len() as u64, digest: format!("{:016x}", digest(bytes)) }
    }
}

/// Contents of `check.json`.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CheckFile {
    files: BTreeMap<String, FileCheck>,
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> TablesError {
    move |source| TablesError::Io { path: path.into(), action, source }
}

impl CheckFile {
    pub(super) fn read(dir: &Path) -> Result<CheckFile, TablesError> {
        let path = dir.join(CHECK);
        match fs::read(&path) {
            Ok(text) => serde_json::from_slice(&text).map_err(|source| TablesError::Json { path, source }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(TablesError::Missing { path: dir.into() })
            }
            Err(error) => Err(io_error(&path, "read")(error)),
        }
    }

    /// The bytes of a file that is as it was written.
    pub(super) fn verified(&self, dir: &Path, name: &str) -> Result<Vec<u8>, TablesError> {
        let path = dir.join(name);
        let expected = self.files.get(name).ok_or_else(|| TablesError::Damaged {
            path: dir.join(CHECK),
            what: format!("it does not mention {name}"),
        })?;
        let bytes = fs::read(&path).map_err(io_error(&path, "read"))?;
        if bytes.len() as u64 != expected.bytes {
            let what = format!("{} bytes instead of {}", bytes.len(), expected.bytes);
            return Err(TablesError::Damaged { path, what });
        }
        if FileCheck::of(&bytes).digest != expected.digest {
            return Err(TablesError::Damaged { path, what: "its contents have changed".into() });
        }
        Ok(bytes)
    }

    pub(super) fn table(&self, dir: &Path, name: &'static str) -> Result<Table, TablesError> {
        Table::open(dir.join(name), self.verified(dir, name)?)
    }
}

/// A folder in the making; it takes its place at the end or disappears.
#[derive(Debug)]
pub(super) struct Replacement {
    target: PathBuf,
    temporary: PathBuf,
    check: RefCell<CheckFile>,
}

impl Replacement {
    pub(super) fn begin(target: &Path) -> Result<Replacement, TablesError> {
        let parent = target.parent().unwrap_or(Path::new("."));
        remove_stale(parent);
        let instant = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        // Two hosts may share the folder and the process id, hence the time.
        let name = format!("{TEMPORARY}{}-{}", std::process::id(), instant.as_nanos());
        let temporary = parent.join(name);
        fs::create_dir(&temporary).map_err(io_error(&temporary, "created"))?;
        Ok(Replacement { target: target.into(), temporary, check: RefCell::default() })
    }

    pub(super) fn add(&self, name: &str, bytes: &[u8]) -> Result<(), TablesError> {
        let path = self.temporary.join(name);
        fs::write(&path, bytes).map_err(io_error(&path, "written"))?;
        self.check.borrow_mut().files.insert(name.into(), FileCheck::of(bytes));
        Ok(())
    }

    pub(super) fn finish(self) -> Result<(), TablesError> {
        let path = self.temporary.join(CHECK);
        let text = serde_json::to_vec_pretty(&*self.check.borrow())
            .map_err(|source| TablesError::Json { path: path.clone(), source })?;
        fs::write(&path, text).map_err(io_error(&path, "written"))?;
        // A folder cannot be renamed over one with files in it: the old one is moved aside first. A process
        // that reads in between sees no profile and makes one itself.
        let old = self.temporary.with_extension("old");
        let moved = match fs::rename(&self.target, &old) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(io_error(&self.target, "replaced")(error));
            }
            moved => moved.is_ok(),
        };
        let renamed = fs::rename(&self.temporary, &self.target).map_err(io_error(&self.target, "replaced"));
        if moved {
            // The profile is in place; a leftover is removed by a later run.
            let _ = fs::remove_dir_all(&old);
        }
        renamed
    }
}

impl Drop for Replacement {
    fn drop(&mut self) {
        // After a rename there is nothing left to remove, and a failure to clean up is no failure to report.
        let _ = fs::remove_dir_all(&self.temporary);
    }
}

fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    for entry in entries.flatten() {
        let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(TEMPORARY));
        let age = entry.metadata().ok().and_then(|m| m.modified().ok()).and_then(|m| m.elapsed().ok());
        if ours && age.is_some_and(|age| age > STALE) {
            // Whichever process owns it, it is not needed; if it cannot be removed it does no harm.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
