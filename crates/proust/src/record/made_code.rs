//! Names of code that recorded processes made at run time: what their runtimes wrote of it is copied into the
//! run, beside the processes' logs, when the command has ended. Later it is removed or written over by the
//! next process of that number.
//!
//! Copying here costs the program nothing. What it removes itself before its end is lost.

use std::fs::{self, OpenOptions};
use std::io::{self, Read};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use proust_log::layout::{DUMP_EXTENSION, EXTENSION, JITDUMP_PATH_EXTENSION, LOG_FOLDER, MAP_EXTENSION};

use super::RunFolder;

/// More than that is not copied of one file.
const MOST_BYTES: u64 = 1 << 30;
/// As of all files of a run: only its owner may read them.
const FILE_MODE: u32 = 0o600;
/// Times of files may be older than the clock by a tick.
const SLACK: Duration = Duration::from_secs(1);

/// Copies the maps and dumps of the run's processes on this host. What cannot be copied has no names.
pub fn keep(folder: &RunFolder) {
    let began = SystemTime::now().checked_sub(folder.start.elapsed() + SLACK);
    let began = began.unwrap_or(SystemTime::UNIX_EPOCH);
    for entry in fs::read_dir(folder.path.join(LOG_FOLDER)).into_iter().flatten().flatten() {
        let log = entry.path();
        if log.extension().is_none_or(|extension| extension != EXTENSION) {
            continue;
        }
        if let Some(map) = perf_map_of(&log) {
            let _ = copy(&map, &log.with_extension(MAP_EXTENSION), began);
        }
        if let Some(dump) = jitdump_of(&log) {
            let _ = copy(&dump, &log.with_extension(DUMP_EXTENSION), began);
        }
    }
}

/// Where runtimes write the map of a log's process, as perf defines it.
fn perf_map_of(log: &Path) -> Option<PathBuf> {
    let (pid, _) = log.file_stem()?.to_str()?.split_once('-')?;
    let pid: u32 = pid.parse().ok()?;
    Some(PathBuf::from(format!("/tmp/perf-{pid}.map")))
}

/// Where a log's process wrote its jitdump, if the collector has found one.
fn jitdump_of(log: &Path) -> Option<PathBuf> {
    let path = fs::read(log.with_extension(JITDUMP_PATH_EXTENSION)).ok()?;
    Some(PathBuf::from(std::ffi::OsStr::from_bytes(&path)))
}

/// Copies a file of this user, or of root, that was written since the run began: one from before is of
/// another process of the same number.
fn copy(from: &Path, to: &Path, began: SystemTime) -> io::Result<()> {
    // A name in a folder that everybody may write to can be a link to anything, or a pipe.
    let file = OpenOptions::new().read(true).custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK).open(from)?;
    let metadata = file.metadata()?;
    let own = rustix::process::geteuid().as_raw();
    let is_trusted = metadata.is_file() && [own, 0].contains(&metadata.uid());
    if !is_trusted || metadata.modified()? < began {
        return Err(io::ErrorKind::NotFound.into());
    }
    let part = to.with_extension("part");
    let mut to_part =
        OpenOptions::new().write(true).create(true).truncate(true).mode(FILE_MODE).open(&part)?;
    match io::copy(&mut file.take(MOST_BYTES), &mut to_part) {
        Ok(_) => fs::rename(&part, to),
        Err(error) => {
            // Half of the names on a full disk: as good as none, and in the way of others.
            let _ = fs::remove_file(&part);
            Err(error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_older_or_no_file_is_not_copied() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("perf-1.map"), folder.path().join("1-2.map"));
        fs::write(&from, "1000 20 f\n").unwrap();
        let later = SystemTime::now() + Duration::from_secs(60);
        assert!(copy(&from, &to, later).is_err() && !to.exists());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&from, &link).unwrap();
        let before = SystemTime::now() - Duration::from_secs(60);
        assert!(copy(&link, &to, before).is_err() && !to.exists());
        assert!(copy(folder.path(), &to, before).is_err() && !to.exists());
        copy(&from, &to, before).unwrap();
        assert_eq!(fs::read_to_string(&to).unwrap(), "1000 20 f\n");
    }

    #[test]
    fn a_map_is_named_by_the_process() {
        assert_eq!(perf_map_of(Path::new("/r/log/4711-99.plog")), Some("/tmp/perf-4711.map".into()));
        assert_eq!(perf_map_of(Path::new("/r/log/x-99.plog")), None);
        assert_eq!(jitdump_of(Path::new("/r/log/4711-99.plog")), None);
    }
}
