//! Sweeps of runs that were recorded one by one: for `report RUN RUN… scaling`, and for `sweep --from`.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proust_compare::scaling::{Swept, gathered, read_without_counts};
use proust_profile::SweepFile;
use proust_profile::sweep_file::SWEEP_FILE;
use proust_report::{SweepNote, Worded};
use proust_words::counted;

use super::SweepArgs;
use crate::failure::WrongUsage;
use crate::progress;
use crate::runs::folder_of_run;

/// Runs that were recorded one by one, as a sweep.
pub struct FromRuns {
    /// What the runs are as a sweep; of each point the folder as it was named.
    pub file: SweepFile,
    /// The runs that were done, in the order of the points.
    pub swept: Vec<Swept>,
    /// What a reader must know: runs that cannot be read.
    pub notes: Vec<SweepNote>,
}

impl FromRuns {
    /// Reads the runs in these folders and finds what is varied. A run that cannot be read is left out with a
    /// note. `counts`, one for each folder, stand in for the runs' own.
    ///
    /// # Errors
    /// When a folder holds no run or stands there twice, when counts and folders are not equally many, or
    /// when the runs make no sweep.
    pub fn read(dirs: &[PathBuf], counts: &[u32]) -> Result<FromRuns> {
        if !counts.is_empty() && counts.len() != dirs.len() {
            bail!(WrongUsage(format!(
                "--count gives {} for {}: give one for each run, in their order",
                counted(counts.len(), "count"),
                counted(dirs.len(), "run")
            )));
        }
        for (n, dir) in dirs.iter().enumerate() {
            folder_of_run(dir)?;
            let same = |other: &&PathBuf| fs::canonicalize(other).ok() == fs::canonicalize(dir).ok();
            if let Some(other) = dirs[..n].iter().find(same) {
                let (a, b) = (other.display(), dir.display());
                let what = if other == dir {
                    format!("{b} is named twice")
                } else {
                    format!("{a} and {b} are one folder")
                };
                bail!(WrongUsage(format!("{what}: it is one run, not two")));
            }
        }
        let (mut swept, mut notes, mut given) = (Vec::new(), Vec::new(), Vec::new());
        for (at, run) in
            read_without_counts(dirs, |source| progress::open(&source.dir)).into_iter().enumerate()
        {
            match run {
                Ok(run) => {
                    swept.push(run);
                    given.extend(counts.get(at));
                }
                Err(error) => notes.push(SweepNote::RunLeftOut {
                    run: dirs[at].display().to_string(),
                    sweep: None,
                    error: error.to_string(),
                }),
            }
        }
        let told = || notes.iter().for_each(|note| message!("note: {}", note.text()));
        if swept.is_empty() {
            told();
            bail!("none of the runs can be read");
        }
        let counts = Some(&given[..]).filter(|counts| !counts.is_empty());
        let (file, order) = gathered(&mut swept, counts).map_err(|error| {
            // That a run was left out may be why.
            told();
            WrongUsage(error.to_string())
        })?;
        let mut by_point: Vec<Option<Swept>> = swept.into_iter().map(Some).collect();
        let done = order.iter().zip(&file.points).filter(|(_, point)| point.failure.is_none());
        let swept = done.filter_map(|(&at, _)| by_point[at].take()).collect();
        Ok(FromRuns { file, swept, notes })
    }
}

/// Notes in a folder of its own that these runs are a sweep; the runs stay where they are.
///
/// # Errors
/// As [`FromRuns::read`], and when the folder exists or cannot be made.
pub fn keep(args: &SweepArgs) -> Result<()> {
    let FromRuns { mut file, notes, .. } = FromRuns::read(&args.from, &args.count)?;
    let dir = match &args.output {
        Some(dir) => dir.clone(),
        None => super::folder::free_name(file.command.first().map_or("run", String::as_str))?,
    };
    if dir.exists() {
        bail!("{} exists already: name a new folder with -o, or remove it", dir.display());
    }
    crate::record::make_folder(&dir).with_context(|| {
        format!("{} cannot be made; choose with -o a folder in a place that can be written", dir.display())
    })?;
    for point in &mut file.points {
        point.dir = point.dir.as_ref().map(|run| from_sweep(&dir, Path::new(run)));
    }
    file.write(&dir)?;
    let texts = notes.iter().map(Worded::text).chain(file.notes.iter().map(Worded::text));
    for note in texts {
        message!("note: {note}");
    }
    let over = file.axes.iter().map(|axis| format!("{} {}", axis.name, axis.values.join(", ")));
    message!(
        "{} over {} -> {} ({SWEEP_FILE} names their folders; they stay where they are)",
        counted(file.done().count(), "run"),
        over.collect::<Vec<_>>().join("; "),
        dir.display()
    );
    message!("next: `proust report {} scaling`", dir.display());
    Ok(())
}

/// A run's folder as the sweep's names it: relative where both lie beside each other, so that they can be
/// moved together, else from the root.
fn from_sweep(sweep: &Path, run: &Path) -> String {
    let whole = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let (sweep, run) = (whole(sweep), whole(run));
    let beside = sweep.parent().and_then(|parent| run.strip_prefix(parent).ok());
    let path = beside.map_or_else(|| run.clone(), |rest| Path::new("..").join(rest));
    path.to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_beside_a_sweep_are_named_relative_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| {
            let dir = folder.path().join(name);
            fs::create_dir_all(&dir).unwrap();
            dir
        };
        assert_eq!(from_sweep(&at("jobs/s"), &at("jobs/run-1")), "../run-1");
        assert_eq!(from_sweep(&at("jobs/s"), &at("jobs/old/run-1")), "../old/run-1");
        let elsewhere = at("elsewhere/run-1");
        assert_eq!(
            from_sweep(&at("jobs/s"), &elsewhere),
            fs::canonicalize(&elsewhere).unwrap().to_string_lossy()
        );
    }
}
