//! A profile in the making: it takes its place by one rename, or disappears.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use super::error::TablesError;
use super::manifest::{FileCheck, MANIFEST, Manifest};
use super::{Provenance, SCHEMA};

/// Folders of profiles begin so.
const PREFIX: &str = "analysis-";
/// A folder that another host has made may be in the making there: locks do not reach so far everywhere.
const STALE: Duration = Duration::from_secs(3600);
/// Changes whenever the machine is started, and differs between machines.
const BOOT_ID: &str = "/proc/sys/kernel/random/boot_id";
/// Profiles that this process has begun: the clock may show two the same time.
static MADE: AtomicU64 = AtomicU64::new(0);

/// A profile in the making.
///
/// Its files are written into a folder of their own beside the one that readers use. [`Building::publish`]
/// then puts a manifest that names it in the place of the old one. Whoever is killed before leaves a folder
/// that no manifest names, and that the next one to make a profile removes: it is locked as long as its maker
/// lives.
#[derive(Debug)]
pub struct Building {
    dir: PathBuf,
    name: String,
    files: BTreeMap<String, FileCheck>,
    is_published: bool,
    /// Held until the profile is in its place.
    lock: Option<File>,
}

fn io_error(path: &Path, action: &'static str) -> impl FnOnce(io::Error) -> TablesError {
    move |source| TablesError::Io { path: path.into(), action, source }
}

impl Building {
    /// Begins a profile that is to be in the folder `dir`.
    ///
    /// # Errors
    /// [`TablesError::Io`] when nothing can be written there.
    pub fn begin(dir: &Path) -> Result<Building, TablesError> {
        match fs::create_dir(dir) {
            Ok(()) => {}
            // A link could lead to somebody else's files.
            Err(error)
                if error.kind() == io::ErrorKind::AlreadyExists
                    && dir.symlink_metadata().is_ok_and(|entry| entry.is_dir()) => {}
            Err(error) => return Err(io_error(dir, "made a folder")(error)),
        }
        loop {
            let instant = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
            let number = MADE.fetch_add(1, Ordering::Relaxed);
            let (id, since_ns) = (std::process::id(), instant.as_nanos());
            let name = format!("{PREFIX}{}-{id}-{since_ns}-{number}", host());
            let folder = dir.join(&name);
            fs::create_dir(&folder).map_err(io_error(&folder, "created"))?;
            let lock = match File::open(&folder) {
                Ok(lock) => lock,
                // One that removes what is left over was faster.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(io_error(&folder, "created")(error)),
            };
            // Where a file system has no locks, age decides what is left over.
            let _ = lock.lock();
            if folder.is_dir() {
                let files = BTreeMap::new();
                return Ok(Building { dir: dir.into(), name, files, is_published: false, lock: Some(lock) });
            }
        }
    }

    /// Where its file of that name is for now.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.join(&self.name).join(name)
    }

    /// Adds a file.
    ///
    /// # Errors
    /// [`TablesError::Io`] when the storage refuses.
    pub fn add(&mut self, name: &str, bytes: &[u8]) -> Result<(), TablesError> {
        let path = self.path(name);
        fs::write(&path, bytes).map_err(io_error(&path, "written"))?;
        self.files.insert(name.into(), FileCheck::of(bytes));
        Ok(())
    }

    /// Adds a file that `write` fills, which need not be in memory as a whole.
    ///
    /// # Errors
    /// [`TablesError::Io`] when the storage refuses.
    pub fn add_written(
        &mut self,
        name: &str,
        write: impl FnOnce(&mut BufWriter<&File>) -> io::Result<()>,
    ) -> Result<(), TablesError> {
        let path = self.path(name);
        let written = || {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
            let mut to = BufWriter::new(&file);
            write(&mut to)?;
            to.flush()?;
            FileCheck::of_file(&file)
        };
        let check = written().map_err(io_error(&path, "written"))?;
        self.files.insert(name.into(), check);
        Ok(())
    }

    /// Adds a file that `write` fills, open for reading and writing, and whose parts have checks of their
    /// own: its readers get it by [`super::Kept::file`]. Answers the file.
    ///
    /// # Errors
    /// [`TablesError::Io`] when the storage refuses.
    pub fn add_file(
        &mut self,
        name: &str,
        write: impl FnOnce(&File) -> io::Result<()>,
    ) -> Result<File, TablesError> {
        let path = self.path(name);
        let written = || {
            let file = OpenOptions::new().read(true).write(true).create_new(true).open(&path)?;
            write(&file)?;
            let bytes = file.metadata()?.len();
            Ok((file, bytes))
        };
        let (file, bytes) = written().map_err(io_error(&path, "written"))?;
        self.files.insert(name.into(), FileCheck::of_parts(bytes));
        Ok(file)
    }

    /// Puts it in the place of the profile that is there, if one is, and removes that.
    ///
    /// # Errors
    /// [`TablesError`] when the storage refuses; the old profile is still there then.
    pub fn publish(mut self, provenance: &Provenance) -> Result<(), TablesError> {
        let manifest = Manifest {
            schema: SCHEMA,
            folder: self.name.clone(),
            provenance: provenance.clone(),
            files: std::mem::take(&mut self.files),
        };
        let (temporary, path) = (self.path(MANIFEST), self.dir.join(MANIFEST));
        let text = serde_json::to_vec_pretty(&manifest)
            .map_err(|source| TablesError::Json { path: path.clone(), source })?;
        fs::write(&temporary, text).map_err(io_error(&temporary, "written"))?;
        fs::rename(&temporary, &path).map_err(io_error(&path, "replaced"))?;
        self.is_published = true;
        // Another may have replaced it since: whoever of the two looks last removes it.
        self.lock = None;
        remove_leftovers(&self.dir);
        Ok(())
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        if !self.is_published {
            // A failure to clean up is no failure to report: the next one to make a profile tries again.
            let _ = fs::remove_dir_all(self.dir.join(&self.name));
            // Only if it was made for this profile, and is empty.
            let _ = fs::remove_dir(&self.dir);
        }
    }
}

/// A name for this host as long as it runs.
fn host() -> String {
    let id = fs::read_to_string(BOOT_ID).unwrap_or_default();
    id.chars().filter(char::is_ascii_hexdigit).take(8).collect()
}

/// Removes the folders in `dir` that no reader will open any more: profiles that were replaced, and those
/// whose makers were killed. Readers that have opened a replaced one keep its files.
fn remove_leftovers(dir: &Path) {
    let Ok(entries) = fs::read_dir(dir) else { return };
    let here = format!("{PREFIX}{}-", host());
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with(PREFIX) && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            let age = entry.metadata().ok().and_then(|m| m.modified().ok()).and_then(|m| m.elapsed().ok());
            if name.starts_with(&here) || age.is_some_and(|age| age > STALE) {
                remove_unused(dir, &name);
            }
        } else if is_of_older_schema(&name) && entry.file_type().is_ok_and(|kind| kind.is_file()) {
            // What cannot be removed does no harm.
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Removes a folder if nobody is making it and the manifest does not name it.
fn remove_unused(dir: &Path, name: &str) {
    let path = dir.join(name);
    let Ok(folder) = File::open(&path) else { return };
    // Shared: two that look at once must not take each other for its maker.
    if matches!(folder.try_lock_shared(), Err(TryLockError::WouldBlock)) {
        return;
    }
    // Read under the lock: its maker puts it in place before it gives the lock back.
    if Manifest::read(dir).is_ok_and(|manifest| manifest.folder != name) {
        // If it cannot be removed it does no harm.
        let _ = fs::remove_dir_all(&path);
    }
}

/// Whether a file beside the manifest is of a profile of a schema that had none.
fn is_of_older_schema(name: &str) -> bool {
    let known = ["facts", "check", "ledger", "ledger_rows", "findings", "blame", "operations"];
    name.ends_with(".parquet") || name.strip_suffix(".json").is_some_and(|stem| known.contains(&stem))
}

#[cfg(test)]
mod tests {
    use super::super::{Kept, Provenance};
    use super::*;

    fn names(dir: &Path) -> Vec<String> {
        let names = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }

    fn published(dir: &Path, text: &[u8]) {
        let mut building = Building::begin(dir).unwrap();
        building.add("a.json", text).unwrap();
        building.publish(&Provenance::default()).unwrap();
    }

    #[test]
    fn what_was_opened_can_be_read_after_it_was_replaced() {
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join("profile");
        published(&dir, b"1");
        let first = Kept::open(&dir).unwrap();
        published(&dir, b"22");
        assert!(!first.folder().exists());
        assert_eq!(first.bytes("a.json").unwrap(), b"1");
        assert_eq!(Kept::open(&dir).unwrap().bytes("a.json").unwrap(), b"22");
        assert_eq!(names(&dir).len(), 2);
    }

    /// A maker that lives keeps its folder; that of one that was killed is removed by the next.
    #[test]
    fn what_the_killed_leave_is_removed_and_never_read() {
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join("profile");
        let killed = dir.join(format!("{PREFIX}{}-1-1", host()));
        fs::create_dir_all(&killed).unwrap();
        fs::write(killed.join("a.json"), "half").unwrap();
        let elsewhere = dir.join(format!("{PREFIX}other-1-1"));
        fs::create_dir(&elsewhere).unwrap();
        assert!(matches!(Kept::open(&dir), Err(TablesError::Missing { .. })));

        let living = Building::begin(&dir).unwrap();
        published(&dir, b"1");
        assert!(!killed.exists() && elsewhere.exists() && living.path("").exists());
        drop(living);
        assert_eq!(names(&dir).len(), 3);
        assert_eq!(Kept::open(&dir).unwrap().bytes("a.json").unwrap(), b"1");
    }

    #[test]
    fn of_many_that_are_made_at_once_one_stays() {
        for _ in 0..20 {
            let run = tempfile::tempdir().unwrap();
            let dir = run.path().join("profile");
            std::thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| (0..5).for_each(|_| published(&dir, b"1")));
                }
            });
            assert_eq!(names(&dir).len(), 2, "{:?}", names(&dir));
        }
    }

    #[test]
    fn one_that_is_given_up_leaves_nothing() {
        let run = tempfile::tempdir().unwrap();
        let dir = run.path().join("profile");
        let mut building = Building::begin(&dir).unwrap();
        building.add("a.json", b"1").unwrap();
        drop(building);
        assert!(!dir.exists());
    }

    #[test]
    fn a_link_in_its_place_is_not_followed() {
        let run = tempfile::tempdir().unwrap();
        let (dir, other) = (run.path().join("profile"), run.path().join("other"));
        fs::create_dir(&other).unwrap();
        std::os::unix::fs::symlink(&other, &dir).unwrap();
        assert!(matches!(Building::begin(&dir), Err(TablesError::Io { .. })));
        assert_eq!(names(&other).len(), 0);
    }
}
