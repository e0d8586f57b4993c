//! A temporary folder that does not outlive its process for long: it is removed at the end, or by the next
//! start if the process was killed.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

use crate::publication::has_name;

const PREFIX: &str = "spill-";
const LOCK: &str = ".lock";

/// A folder `spill-N` beside a file `spill-N.lock`, which its process holds locked.
#[derive(Debug)]
pub struct SpillFolder {
    path: PathBuf,
    lock_path: PathBuf,
    _lock: File,
}

impl SpillFolder {
    /// Makes a folder, and removes those of processes that are no more.
    pub fn new(parent: &Path) -> io::Result<SpillFolder> {
        std::fs::create_dir_all(parent)?;
        SpillFolder::remove_left_over(parent)?;
        for number in 0u32.. {
            let path = parent.join(format!("{PREFIX}{number}"));
            let lock_path = parent.join(format!("{PREFIX}{number}{LOCK}"));
            let lock = match OpenOptions::new().write(true).create_new(true).open(&lock_path) {
                Ok(lock) => lock,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            };
            // Another process may take the file for one that is left over, until it is locked.
            match lock.try_lock() {
                Ok(()) if has_name(&lock, &lock_path)? => {}
                Ok(()) | Err(TryLockError::WouldBlock) => continue,
                Err(TryLockError::Error(error)) => return Err(error),
            }
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(SpillFolder { path, lock_path, _lock: lock }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // Without a lock file it belongs to nobody.
                    std::fs::remove_dir_all(&path)?;
                    std::fs::create_dir(&path)?;
                    return Ok(SpillFolder { path, lock_path, _lock: lock });
                }
                Err(error) => {
                    let _ = std::fs::remove_file(&lock_path);
                    return Err(error);
                }
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes the folders whose processes are no more. Answers how many.
    pub fn remove_left_over(parent: &Path) -> io::Result<usize> {
        let mut removed = 0;
        for entry in std::fs::read_dir(parent)? {
            let lock_path = entry?.path();
            let Some(name) = lock_path.file_name().and_then(|name| name.to_str()) else { continue };
            let Some(folder) = name.strip_suffix(LOCK).filter(|name| name.starts_with(PREFIX)) else {
                continue;
            };
            let path = parent.join(folder);
            let Ok(lock) = File::open(&lock_path) else { continue };
            if lock.try_lock().is_err() || !has_name(&lock, &lock_path)? {
                continue;
            }
            match std::fs::remove_dir_all(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => removed += 1,
            }
            std::fs::remove_file(&lock_path)?;
        }
        Ok(removed)
    }
}

impl Drop for SpillFolder {
    fn drop(&mut self) {
        // What cannot be removed now is removed by the next start.
        let _ = std::fs::remove_dir_all(&self.path);
        let _ = std::fs::remove_file(&self.lock_path);
    }
}

#[cfg(test)]
mod tests {
    use super::SpillFolder;

    #[test]
    fn folders_are_removed_at_the_end_or_at_the_next_start() {
        let parent = tempfile::tempdir().unwrap();
        let count = || std::fs::read_dir(parent.path()).unwrap().count();
        let one = SpillFolder::new(parent.path()).unwrap();
        let other = SpillFolder::new(parent.path()).unwrap();
        assert_ne!(one.path(), other.path());
        std::fs::write(other.path().join("run"), "x").unwrap();
        drop(other);
        assert_eq!(count(), 2);

        // What a killed process leaves.
        let left = parent.path().join("spill-7");
        std::fs::create_dir(&left).unwrap();
        std::fs::write(left.join("run"), "x").unwrap();
        std::fs::write(parent.path().join("spill-7.lock"), "").unwrap();
        assert_eq!(SpillFolder::remove_left_over(parent.path()).unwrap(), 1);
        assert!(!left.exists() && one.path().exists());
        drop(one);
        assert_eq!(count(), 0);
    }

    #[test]
    fn many_at_once_have_folders_of_their_own() {
        let parent = tempfile::tempdir().unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4 {
                let parent = parent.path();
                scope.spawn(move || {
                    for turn in 0..50 {
                        let folder = SpillFolder::new(parent).unwrap();
                        let file = folder.path().join("mine");
                        std::fs::write(&file, format!("{thread} {turn}")).unwrap();
                        std::thread::yield_now();
                        assert_eq!(std::fs::read_to_string(&file).unwrap(), format!("{thread} {turn}"));
                    }
                });
            }
        });
        assert_eq!(std::fs::read_dir(parent.path()).unwrap().count(), 0);
    }
}
