//! Finding runs in a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use proust_profile::{RunFile, SweepFile};

/// A run that was found.
pub struct FoundRun {
    /// Its folder.
    pub dir: PathBuf,
    /// What `record` noted of it.
    pub file: RunFile,
}

impl FoundRun {
    /// The name of its folder.
    pub fn name(&self) -> String {
        self.dir.file_name().unwrap_or(self.dir.as_os_str()).to_string_lossy().into_owned()
    }
}

/// The runs directly in a folder, newest first.
///
/// # Errors
/// When the folder cannot be read.
pub fn runs_in(folder: &Path) -> Result<Vec<FoundRun>> {
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut runs: Vec<FoundRun> = entries
        .flatten()
        .filter_map(|entry| {
            let dir = if folder == Path::new(".") { PathBuf::from(entry.file_name()) } else { entry.path() };
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
    let entries =
        fs::read_dir(folder).with_context(|| format!("cannot read the folder {}", folder.display()))?;
    let mut sweeps: Vec<(PathBuf, SweepFile)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.path(), SweepFile::read(&entry.path()).ok()?)))
        .collect();
    sweeps.sort_by(|a, b| b.1.start_unix_s.total_cmp(&a.1.start_unix_s).then_with(|| a.0.cmp(&b.0)));
    Ok(sweeps)
}

/// The folder that was named, or else the newest run in the current folder, which is then told.
///
/// # Errors
/// When none was named and there is none.
pub fn named_or_newest(dir: Option<&Path>) -> Result<PathBuf> {
    if let Some(dir) = dir {
        return Ok(dir.to_owned());
    }
    let here = Path::new(".");
    if here.join(proust_profile::run_file::RUN_FILE).exists() {
        eprintln!("proust: the current folder is a run");
        return Ok(here.to_owned());
    }
    let newest = runs_in(here)?.into_iter().next().ok_or_else(|| {
        anyhow!("there is no run in the current folder; name one, or record one with `proust record -- CMD`")
    })?;
    eprintln!("proust: the newest run here is {}", newest.dir.display());
    Ok(newest.dir)
}
