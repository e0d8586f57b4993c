//! Finding runs in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use proust_log::layout::LOG_FOLDER;
use proust_profile::run_file::RUN_FILE;
use proust_profile::sweep_file::SWEEP_FILE;
use proust_profile::tables::PROFILE_FOLDER;
use proust_profile::{RunFile, SweepFile};

use crate::failure::WrongUsage;

/// A run that was found.
pub struct FoundRun {
    /// Its folder.
    pub dir: PathBuf,
    /// The notes of `record` about it.
    pub file: RunFile,
}

impl FoundRun {
    /// The name of its folder.
    pub fn name(&self) -> String {
        self.dir.file_name().unwrap_or(self.dir.as_os_str()).to_string_lossy().into_owned()
    }
}

/// A folder that was a run or a sweep, and why it is none that can be read.
#[derive(Debug)]
pub struct Unreadable {
    /// Its folder.
    pub dir: PathBuf,
    /// Its error, in words.
    pub why: String,
}

/// The runs and sweeps directly in a folder that cannot be read, by name: what is left out of a list.
///
/// # Errors
/// When the folder cannot be read.
pub fn unreadable_in(folder: &Path) -> Result<Vec<Unreadable>> {
    let mut found: Vec<Unreadable> = folders_in(folder)?
        .into_iter()
        .filter_map(|dir| {
            let is_there = |name: &str| dir.join(name).symlink_metadata().is_ok();
            let why = if is_there(RUN_FILE) || is_there(LOG_FOLDER) || is_there(PROFILE_FOLDER) {
                RunFile::read(&dir).err()?.to_string()
            } else if is_there(SWEEP_FILE) {
                SweepFile::read(&dir).err()?.to_string()
            } else {
                return None;
            };
            Some(Unreadable { dir, why })
        })
        .collect();
    found.sort_by(|a, b| a.dir.cmp(&b.dir));
    Ok(found)
}

/// The entries of a folder, as they can be typed.
fn folders_in(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let path = |entry: fs::DirEntry| match folder == Path::new(".") {
        true => PathBuf::from(entry.file_name()),
        false => entry.path(),
    };
    Ok(entries.flatten().map(path).collect())
}

/// The runs directly in a folder, newest first. One whose notes cannot be read is left out.
///
/// # Errors
/// When the folder cannot be read.
pub fn runs_in(folder: &Path) -> Result<Vec<FoundRun>> {
    let mut runs: Vec<FoundRun> = folders_in(folder)?
        .into_iter()
        .filter_map(|dir| {
            let file = RunFile::read(&dir).ok()?;
            Some(FoundRun { dir, file })
        })
        .collect();
    runs.sort_by(|a, b| b.file.start_unix_s.total_cmp(&a.file.start_unix_s).then_with(|| a.dir.cmp(&b.dir)));
    Ok(runs)
}

/// The sweeps directly in a folder, newest first, with their folders. One whose notes cannot be read is left
/// out.
///
/// # Errors
/// When the folder cannot be read.
pub fn sweeps_in(folder: &Path) -> Result<Vec<(PathBuf, SweepFile)>> {
    let mut sweeps: Vec<(PathBuf, SweepFile)> = folders_in(folder)?
        .into_iter()
        .filter_map(|dir| SweepFile::read(&dir).ok().map(|file| (dir, file)))
        .collect();
    sweeps.sort_by(|a, b| b.1.start_unix_s.total_cmp(&a.1.start_unix_s).then_with(|| a.0.cmp(&b.0)));
    Ok(sweeps)
}

/// The folder that was named, or else the newest run in the current folder, which is then printed.
///
/// # Errors
/// When none was named and there is none.
pub fn named_or_newest(dir: Option<&Path>) -> Result<PathBuf> {
    if let Some(dir) = dir {
        if dir.exists() && !dir.is_dir() {
            bail!("{} is no folder of a run; `proust ls` lists the runs here", dir.display());
        }
        return Ok(dir.to_owned());
    }
    let here = Path::new(".");
    if here.join(RUN_FILE).exists() {
        message!("the current folder is a run");
        return Ok(here.to_owned());
    }
    let newest = runs_in(here)?.into_iter().next().ok_or_else(|| {
        anyhow!("there is no run in the current folder; name one, or record one with `proust record -- CMD`")
    })?;
    message!("the newest run here is {}", newest.dir.display());
    Ok(newest.dir)
}

/// The folder, if it holds a run.
///
/// # Errors
/// When it does not, or holds a sweep.
pub fn folder_of_run(path: &Path) -> Result<PathBuf> {
    if !path.exists() {
        bail!("there is no folder {}: name the folder of a run (`proust ls` lists them)", path.display());
    }
    if SweepFile::is_in(path) {
        bail!(WrongUsage(format!(
            "{} is a sweep: it stands for a whole side, not for one of several repetitions",
            path.display()
        )));
    }
    if path.join(RUN_FILE).exists() || path.join(PROFILE_FOLDER).exists() {
        return Ok(path.to_owned());
    }
    bail!(
        "{} holds no run: it has no {RUN_FILE}; name a folder that `proust record` or `proust sweep` wrote",
        path.display()
    )
}
