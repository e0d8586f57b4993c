//! What `record` notes of a run as a whole: `run.json` in the run's folder.
//!
//! It is written when the run starts and again when the command has ended; a file without
//! [`RunFile::finished`] belongs to a run that still runs, or whose `record` was killed.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::notes::RunNote;
use crate::whole_file;

/// File name in the run's folder.
pub const RUN_FILE: &str = "run.json";
/// Version of the file's layout.
pub const SCHEMA: u32 = 2;

/// What `record` notes of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct RunFile {
    /// [`SCHEMA`].
    pub schema: u32,
    /// Version of the Proust that recorded.
    pub version: String,
    /// The recorded command.
    pub command: Vec<String>,
    /// Start, seconds since 1970.
    pub start_unix_s: f64,
    /// The same instant on CLOCK_MONOTONIC, nanoseconds.
    pub start_monotonic_ns: u64,
    /// Host on which `record` ran.
    pub host: String,
    /// How the kernel chooses the frequency of the processors that `record` may run on: their governors, each
    /// once; empty = it does not show that.
    #[serde(default)]
    pub governors: Vec<String>,
    /// Samples asked for per second of CPU time.
    pub asked_rate_hz: u32,
    /// Most bytes all logs of the run may take together.
    pub budget_bytes: u64,
    /// What the launcher's variables say which job this is; None outside a job.
    pub job_key: Option<String>,
    /// The process that started the first rank on this host; None outside a job, and where it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launcher: Option<LauncherProcess>,
    /// What a reader of the run must know.
    pub notes: Vec<RunNote>,
    /// How it ended; None while it runs.
    pub finished: Option<Finished>,
    /// When its processes were stopped, on CLOCK_MONOTONIC; written at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stops: Vec<Stop>,
    /// When recording was switched off in all of its processes, in order; written at the end.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pauses: Vec<Pause>,
}

/// A process that starts ranks, as only one of a host has these numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LauncherProcess {
    /// Its number.
    pub pid: u32,
    /// When it began, in the kernel's ticks since the boot.
    pub start_ticks: u64,
}

/// A stretch in which recording was switched off, by CLOCK_MONOTONIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pause {
    /// When it was switched off.
    pub begin_ns: u64,
    /// When it was switched on again; None if it never was.
    #[serde(default)]
    pub end_ns: Option<u64>,
}

/// A stretch for which a process was stopped: by a signal, or by a tracer. Four instants in order, ns; the
/// holder of the value knows on which clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stop {
    /// The process.
    pub pid: u32,
    /// It was last seen running.
    pub before_ns: u64,
    /// From here on it was certainly stopped,
    pub begin_ns: u64,
    /// until here.
    pub end_ns: u64,
    /// It was first seen running again, or gone.
    pub behind_ns: u64,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finished {
    /// End of the command, seconds since 1970.
    pub end_unix_s: f64,
    /// Seconds from the start to the end of the command.
    pub wall_s: f64,
    /// Exit code of the command, if it exited.
    pub exit_code: Option<i32>,
    /// Signal that ended the command, if one did.
    pub signal: Option<i32>,
    /// Seconds for which the host of this virtual machine had the processors that the run may use meanwhile,
    /// summed over them; None if the system does not report it.
    #[serde(default)]
    pub stolen_s: Option<f64>,
    /// Seconds for which the control group of the run had used up the processor time that it may have, summed
    /// over processors; None where nothing limits it.
    #[serde(default)]
    pub throttled_s: Option<f64>,
    /// Logs in the run's folder when the command had ended: later there are as many, or more of processes
    /// that still ran.
    #[serde(default)]
    pub logs: Option<u64>,
}

/// Why `run.json` cannot be read or written.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunFileError {
    /// There is none.
    #[error(
        "{} does not exist: the folder does not hold a recorded run; name the folder that `proust record` \
         wrote",
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
    #[error("{} is damaged ({source}); the logs can still be analysed when it is removed", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: serde_json::Error,
    },
    /// Written by another version.
    #[error(
        "{} has schema {found}, this build of Proust reads schema {SCHEMA}; use the Proust that recorded \
         the run{}",
        path.display(), version.as_ref().map(|v| format!(" ({v})")).unwrap_or_default()
    )]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The schema in it.
        found: u64,
        /// The version of Proust it names.
        version: Option<String>,
    },
}

impl RunFile {
    /// Reads `run.json` of the run in `dir`.
    ///
    /// # Errors
    /// [`RunFileError`] that names the file and what to do.
    pub fn read(dir: &Path) -> Result<RunFile, RunFileError> {
        let path = dir.join(RUN_FILE);
        let text = match fs::read(&path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(RunFileError::Missing { path });
            }
            Err(source) => return Err(RunFileError::Io { path, action: "read", source }),
        };
        let value: serde_json::Value = match serde_json::from_slice(&text) {
            Ok(value) => value,
            Err(source) => return Err(RunFileError::Damaged { path, source }),
        };
        // The schema decides before the fields do: another version's fields may be others.
        if let Some(found) = value.get("schema").and_then(serde_json::Value::as_u64)
            && found != u64::from(SCHEMA)
        {
            let version = value.get("version").and_then(|v| v.as_str()).map(str::to_owned);
            return Err(RunFileError::OtherSchema { path, found, version });
        }
        serde_json::from_value(value).map_err(|source| RunFileError::Damaged { path, source })
    }

    /// Writes `run.json` of the run in `dir`, so that a reader sees the old or the new one, never a part.
    ///
    /// # Errors
    /// [`RunFileError::Io`] when the folder cannot be written.
    pub fn write(&self, dir: &Path) -> Result<(), RunFileError> {
        let path = dir.join(RUN_FILE);
        whole_file::write(&path, self).map_err(|source| RunFileError::Io { path, action: "written", source })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> RunFile {
        RunFile {
            schema: SCHEMA,
            version: "0.1.0".into(),
            command: vec!["./solve".into(), "--n=3".into()],
            start_unix_s: 1_753_000_000.25,
            start_monotonic_ns: u64::MAX,
            governors: vec!["performance".into()],
            host: "node-1".into(),
            asked_rate_hz: 100,
            budget_bytes: 1 << 30,
            job_key: Some("slurm:17.0".into()),
            launcher: Some(LauncherProcess { pid: 7, start_ticks: u64::MAX }),
            notes: vec![RunNote::StillRunning { processes: vec!["“quoted”\n".into()] }],
            finished: Some(Finished {
                end_unix_s: 2.0,
                wall_s: 1.5,
                exit_code: None,
                signal: Some(9),
                stolen_s: Some(0.25),
                throttled_s: Some(0.5),
                logs: Some(3),
            }),
            stops: vec![Stop {
                pid: 7,
                before_ns: 1,
                begin_ns: 2,
                end_ns: u64::MAX - 1,
                behind_ns: u64::MAX,
            }],
            pauses: vec![Pause { begin_ns: 1, end_ns: Some(2) }, Pause { begin_ns: 3, end_ns: None }],
        }
    }

    #[test]
    fn what_was_written_is_read_and_no_temporary_file_stays() {
        let dir = tempfile::tempdir().unwrap();
        let mut file = example();
        file.write(dir.path()).unwrap();
        assert_eq!(RunFile::read(dir.path()).unwrap(), file);
        file.finished = None;
        file.write(dir.path()).unwrap();
        assert_eq!(RunFile::read(dir.path()).unwrap(), file);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn errors_name_the_file_and_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        let missing = RunFile::read(dir.path()).unwrap_err();
        assert!(matches!(missing, RunFileError::Missing { .. }));
        assert!(missing.to_string().contains("run.json") && missing.to_string().contains("proust record"));
        fs::write(dir.path().join(RUN_FILE), "{\"schema\":1,").unwrap();
        assert!(matches!(RunFile::read(dir.path()), Err(RunFileError::Damaged { .. })));
        fs::write(dir.path().join(RUN_FILE), "{\"schema\":7,\"version\":\"9.9\"}").unwrap();
        let other = RunFile::read(dir.path()).unwrap_err();
        assert!(matches!(other, RunFileError::OtherSchema { found: 7, .. }), "{other}");
        assert!(other.to_string().contains("9.9"));
        let nowhere = example().write(&dir.path().join("absent")).unwrap_err();
        assert!(matches!(nowhere, RunFileError::Io { action: "written", .. }));
    }
}
