//! What `sweep` notes of many runs of one command: `sweep.json` in the sweep's folder.
//!
//! It is written before the first run and after each one, so that a sweep that was interrupted can be
//! continued. Each run is an ordinary run in a folder of its own inside the sweep's.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::notes::SweepFileNote;
use crate::whole_file;

/// File name in the sweep's folder.
pub const SWEEP_FILE: &str = "sweep.json";
/// Version of the file's layout.
pub const SWEEP_SCHEMA: u32 = 2;
/// Name of the axis of thread counts.
pub const THREADS: &str = "threads";
/// Name of the axis of rank counts.
pub const RANKS: &str = "ranks";

/// What `sweep` notes of all its runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepFile {
    /// [`SWEEP_SCHEMA`].
    pub schema: u32,
    /// Version of the Proust that began it.
    pub version: String,
    /// The command as it was given, with its places to fill in such as `{n}`.
    pub command: Vec<String>,
    /// The command of the serial reference, if one was given.
    pub serial: Option<Vec<String>>,
    /// What is varied; a point has a value on each axis.
    pub axes: Vec<Axis>,
    /// How often every point is to be run.
    pub repetitions: u32,
    /// Begin of the first run, seconds since 1970.
    pub start_unix_s: f64,
    /// Host on which it was begun.
    pub host: String,
    /// Processors that the runs may use (affinity and CPU bandwidth limit).
    pub available_processors: u32,
    /// How threads are bound to processors.
    pub binding: Binding,
    /// Seconds after which a run is ended.
    pub limit_s: Option<f64>,
    /// What a reader must know.
    pub notes: Vec<SweepFileNote>,
    /// All runs, done and to be done, in the order in which they are run.
    pub points: Vec<SweepPoint>,
}

/// Something that is varied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Axis {
    /// [`THREADS`], [`RANKS`], or the user's own name.
    pub name: String,
    /// Its values, as they are filled in.
    pub values: Vec<String>,
}

/// The settings that decide on which processors threads run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Binding {
    /// Variables of the environment that bind threads, as far as they are set.
    pub variables: BTreeMap<String, String>,
    /// Processors that the runs may use by affinity, such as `0-3,8`.
    pub affinity: String,
}

/// One run of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SweepPoint {
    /// Its value on each axis, in their order; empty for the serial reference.
    pub values: Vec<String>,
    /// Whether it is a run of the serial reference.
    pub serial: bool,
    /// Which repetition, from 1 on.
    pub repetition: u32,
    /// Its outcome.
    pub outcome: PointOutcome,
    /// The run's folder, relative to the sweep's; None until it was run.
    pub dir: Option<String>,
    /// The command with all places filled in.
    pub command: Vec<String>,
    /// Variables that were set for this run.
    pub environment: BTreeMap<String, String>,
    /// Seconds from the start to the end of the command.
    pub wall_s: Option<f64>,
    /// How it failed, in words.
    pub failure: Option<String>,
}

/// The outcome of a run of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PointOutcome {
    /// It is still to be run.
    #[default]
    Pending,
    /// It ended with exit code 0 and was recorded.
    Done,
    /// It ended otherwise, could not be started, or was not recorded.
    Failed,
    /// It took longer than it was allowed to.
    TimedOut,
}

impl SweepFile {
    /// The value of an axis at a point.
    pub fn value<'a>(&self, point: &'a SweepPoint, axis: &str) -> Option<&'a str> {
        let at = self.axes.iter().position(|candidate| candidate.name == axis)?;
        point.values.get(at).map(String::as_str)
    }

    /// Threads of all ranks together at a point: the product of its counts. 1 for the serial reference; None
    /// where neither threads nor ranks are varied.
    pub fn count(&self, point: &SweepPoint) -> Option<u32> {
        if point.serial {
            return Some(1);
        }
        let count = |axis| self.value(point, axis).and_then(|value| value.parse::<u32>().ok());
        match (count(THREADS), count(RANKS)) {
            (None, None) => None,
            (threads, ranks) => threads.unwrap_or(1).checked_mul(ranks.unwrap_or(1)),
        }
    }

    /// The points that were run in order.
    pub fn done(&self) -> impl Iterator<Item = &SweepPoint> {
        self.points.iter().filter(|point| point.outcome == PointOutcome::Done)
    }

    /// Whether a folder holds a sweep.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(SWEEP_FILE).is_file()
    }

    /// Reads `sweep.json` of the sweep in `dir`.
    ///
    /// # Errors
    /// [`SweepFileError`] that names the file and what to do.
    pub fn read(dir: &Path) -> Result<SweepFile, SweepFileError> {
        let path = dir.join(SWEEP_FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(SweepFileError::Missing { path });
            }
            Err(source) => return Err(SweepFileError::Io { path, action: "read", source }),
        };
        let value: serde_json::Value = match serde_json::from_slice(&text) {
            Ok(value) => value,
            Err(source) => return Err(SweepFileError::Damaged { path, source }),
        };
        if let Some(found) = value.get("schema").and_then(serde_json::Value::as_u64)
            && found != u64::from(SWEEP_SCHEMA)
        {
            return Err(SweepFileError::OtherSchema { path, found });
        }
        serde_json::from_value(value).map_err(|source| SweepFileError::Damaged { path, source })
    }

    /// Writes `sweep.json` of the sweep in `dir`, so that a reader sees the old or the new one, never a part.
    ///
    /// # Errors
    /// [`SweepFileError::Io`] when the folder cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), SweepFileError> {
        let path = dir.join(SWEEP_FILE);
        whole_file::write(&path, self).map_err(|source| SweepFileError::Io {
            path,
            action: "written",
            source,
        })
    }
}

/// Why `sweep.json` cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SweepFileError {
    /// There is none.
    #[error(
        "{} does not exist: the folder does not hold a sweep; name the folder that `proust sweep` wrote",
        path.display()
    )]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be {action}: {source}; check the folder's permissions and free space", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried: `read` or `written`.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// Not the JSON that was written.
    #[error("{} is damaged ({source}); each run in the folder can still be reported alone", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: serde_json::Error,
    },
    /// Written by another version.
    #[error(
        "{} has schema {found}, this build of Proust reads schema {SWEEP_SCHEMA}; use the Proust that made \
         the sweep",
        path.display()
    )]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The schema in it.
        found: u64,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> SweepFile {
        SweepFile {
            schema: SWEEP_SCHEMA,
            axes: vec![
                Axis { name: RANKS.into(), values: vec!["1".into(), "2".into()] },
                Axis { name: THREADS.into(), values: vec!["4".into()] },
            ],
            limit_s: Some(2.5),
            points: vec![SweepPoint {
                values: vec!["2".into(), "4".into()],
                outcome: PointOutcome::TimedOut,
                ..SweepPoint::default()
            }],
            ..SweepFile::default()
        }
    }

    #[test]
    fn what_was_written_is_read() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!SweepFile::is_in(dir.path()));
        example().write(dir.path()).unwrap();
        assert_eq!(SweepFile::read(dir.path()).unwrap(), example());
        assert!(SweepFile::is_in(dir.path()));
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_point_has_the_threads_of_all_its_ranks() {
        let file = example();
        assert_eq!(file.count(&file.points[0]), Some(8));
        assert_eq!(file.count(&SweepPoint { serial: true, ..SweepPoint::default() }), Some(1));
        let other = SweepFile { axes: vec![Axis { name: "size".into(), values: vec![] }], ..file.clone() };
        assert_eq!(other.count(&file.points[0]), None);
    }

    #[test]
    fn errors_name_the_file_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let missing = SweepFile::read(dir.path()).unwrap_err();
        assert!(missing.to_string().contains("sweep.json") && missing.to_string().contains("proust sweep"));
        fs::write(dir.path().join(SWEEP_FILE), "{").unwrap();
        assert!(matches!(SweepFile::read(dir.path()), Err(SweepFileError::Damaged { .. })));
        fs::write(dir.path().join(SWEEP_FILE), "{\"schema\":7}").unwrap();
        assert!(matches!(SweepFile::read(dir.path()), Err(SweepFileError::OtherSchema { found: 7, .. })));
    }
}
