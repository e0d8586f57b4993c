//! The sweep's folder: made new, or gone on with.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proust_profile::SweepFile;
use proust_profile::notes::SweepFileNote;
use proust_profile::sweep_file::{PointOutcome, SweepPoint};
use proust_words::counted;

use super::SweepArgs;

/// A sweep and its folder, which is locked against other processes.
#[derive(Debug)]
pub struct Folder {
    /// As the user named it.
    pub dir: PathBuf,
    /// What is noted there.
    pub file: SweepFile,
    /// Holds the lock.
    _lock: File,
}

impl Folder {
    /// Makes the folder for the sweep `plan`, or continues the one that is there.
    ///
    /// # Errors
    /// When the folder holds something else, or another `sweep` works on it.
    pub fn open(args: &SweepArgs, plan: SweepFile) -> Result<Folder> {
        let dir = match &args.output {
            Some(dir) => dir.clone(),
            None => free_name(&plan.command[0])?,
        };
        match crate::record::make_folder(&dir) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                if !SweepFile::is_in(&dir) {
                    bail!(
                        "{} exists already and holds no sweep; name another folder with -o, or remove it",
                        dir.display()
                    );
                }
            }
            Err(error) => {
                return Err(error).with_context(|| {
                    format!(
                        "{} cannot be made; choose with -o a folder in a place that can be written",
                        dir.display()
                    )
                });
            }
        }
        let lock = lock(&dir)?;
        let file = if SweepFile::is_in(&dir) { resumed(SweepFile::read(&dir)?, plan, &dir)? } else { plan };
        file.write(&dir)?;
        Ok(Folder { dir, file, _lock: lock })
    }

    /// A name for a run's folder that is not taken: `threads-4.1` for the first repetition with four threads,
    /// with a number behind it if it was tried before.
    pub fn name_for(&self, point: &SweepPoint) -> String {
        let values: Vec<String> = self
            .file
            .axes
            .iter()
            .zip(&point.values)
            .map(|(axis, value)| format!("{}-{}", axis.name, in_a_name(value)))
            .collect();
        let values = if point.serial { "serial".to_owned() } else { values.join(".") };
        let name = format!("{values}.{}", point.repetition);
        let later = (2..).map(|attempt| format!("{name}.attempt-{attempt}"));
        let mut names = std::iter::once(name.clone()).chain(later);
        names.find(|name| !self.dir.join(name).exists()).unwrap_or(name)
    }
}

/// A value as a part of a file's name.
fn in_a_name(value: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() || "+-_=".contains(c) { c } else { '_' };
    value.chars().map(plain).take(40).collect()
}

/// A folder's name for a sweep of this command that is not taken.
pub(super) fn free_name(command: &str) -> Result<PathBuf> {
    let name = Path::new(command).file_name().unwrap_or(OsStr::new("run")).to_string_lossy();
    let mut names = (1_u32..).map(|number| PathBuf::from(format!("{name}.{number}.sweep")));
    names.find(|name| !name.exists()).context("there is no free folder name")
}

/// Locks the folder for this process; the lock ends with it.
fn lock(dir: &Path) -> Result<File> {
    let path = dir.join("lock");
    let file = File::create(&path)
        .with_context(|| format!("{} cannot be written; is the disk full?", path.display()))?;
    if file.try_lock().is_err() {
        bail!("another `proust sweep` is working on {}; wait until it has ended", dir.display());
    }
    Ok(file)
}

/// The plan, with the runs that the sweep in the folder has done.
fn resumed(old: SweepFile, mut plan: SweepFile, dir: &Path) -> Result<SweepFile> {
    if old.command != plan.command || old.serial != plan.serial {
        let serial =
            |file: &SweepFile| file.serial.as_ref().map(|words| format!(" (serial: {})", words.join(" ")));
        bail!(
            "{} holds a sweep of another command ({}{}); name another folder with -o",
            dir.display(),
            old.command.join(" "),
            serial(&old).unwrap_or_default(),
        );
    }
    let names = |file: &SweepFile| file.axes.iter().map(|axis| axis.name.clone()).collect::<Vec<_>>();
    if names(&old) != names(&plan) {
        bail!(
            "{} holds a sweep over {}, this one is over {}; name another folder with -o",
            dir.display(),
            names(&old).join(" and "),
            names(&plan).join(" and ")
        );
    }
    if old.host != plan.host
        || old.available_processors != plan.available_processors
        || old.binding != plan.binding
    {
        plan.notes.push(SweepFileNote::MadeElsewhere {
            first_host: old.host.clone(),
            first_processors: old.available_processors,
            host: plan.host.clone(),
            processors: plan.available_processors,
        });
    }
    for note in old.notes {
        if !plan.notes.contains(&note) {
            plan.notes.push(note);
        }
    }
    plan.start_unix_s = old.start_unix_s;
    let mut kept = 0;
    let mut beyond = Vec::new();
    for point in old.points.into_iter().filter(|point| point.outcome != PointOutcome::Pending) {
        let same = |other: &&mut SweepPoint| {
            (&other.values, other.serial, other.repetition) == (&point.values, point.serial, point.repetition)
        };
        let complete = point.outcome == PointOutcome::Done && is_complete(dir, &point);
        kept += usize::from(complete);
        match plan.points.iter_mut().find(same) {
            Some(place) if complete => *place = point,
            Some(_) => {}
            // A count or repetition that was asked for before and is not now: finished runs stay.
            None if complete => beyond.push(point),
            None => {}
        }
    }
    for point in &beyond {
        for (axis, value) in plan.axes.iter_mut().zip(&point.values) {
            if !axis.values.contains(value) {
                axis.values.push(value.clone());
            }
        }
        plan.repetitions = plan.repetitions.max(point.repetition);
    }
    plan.points.extend(beyond);
    if kept > 0 {
        message!("going on with {}: {} kept", dir.display(), counted(kept, "run"));
    }
    Ok(plan)
}

/// Whether the folder of a run that is done is still there.
fn is_complete(dir: &Path, point: &SweepPoint) -> bool {
    let run = point.dir.as_ref().and_then(|name| proust_profile::RunFile::read(&dir.join(name)).ok());
    run.is_some_and(|run| run.finished.is_some())
}
