//! Why a run cannot be analysed.

use std::io;
use std::path::PathBuf;

use proust_log::layout::VERSION;
use proust_profile::run_file::RunFileError;
use thiserror::Error;

use super::unread::Refused;
use proust_words::counted;

/// Why a run cannot be analysed at all; what is only missing in part is a note of the profile.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum IngestError {
    /// There is no such folder.
    #[error("{} does not exist; name the folder that `proust record` wrote", dir.display())]
    NoFolder {
        /// The folder.
        dir: PathBuf,
    },
    /// Neither `run.json` nor logs.
    #[error(
        "{} is not the folder of a run (it has neither run.json nor logs); name the folder that `proust \
         record` wrote",
        dir.display()
    )]
    NotARun {
        /// The folder.
        dir: PathBuf,
    },
    /// Not a single log can be read.
    #[error("nothing was recorded in {}: {why}", dir.display())]
    NothingRecorded {
        /// The run's folder.
        dir: PathBuf,
        /// Why, and what to do.
        why: String,
    },
    /// There were logs.
    #[error(
        "the run in {} had {what} and has none now, nor an analysis of them: record the program again",
        dir.display()
    )]
    LogsGone {
        /// The run's folder.
        dir: PathBuf,
        /// How many there were, in words.
        what: String,
    },
    /// Recorded by another version.
    #[error(
        "the run in {} was recorded with log layout {found}, this build of Proust reads layout {VERSION}; \
         use the Proust that recorded it, or record again",
        dir.display()
    )]
    OtherVersion {
        /// The run's folder.
        dir: PathBuf,
        /// The layout of its logs.
        found: u32,
    },
    /// What the analysis had put aside was lost.
    #[error(
        "the temporary file of the analysis in {} cannot be read again; check that disk, or give the \
         analysis more memory with --memory",
        dir.display()
    )]
    Spool {
        /// The folder that it was in.
        dir: PathBuf,
    },
    /// `run.json` is of another version.
    #[error(transparent)]
    RunFile(#[from] RunFileError),
    /// The system refused.
    #[error("{} cannot be read: {source}; check its permissions", path.display())]
    Io {
        /// The folder.
        path: PathBuf,
        /// The system's answer.
        source: io::Error,
    },
}

impl IngestError {
    /// `noted` are the logs that there were when the command had ended.
    pub(super) fn nothing_recorded(dir: &str, refused: &[Refused], noted: u64) -> IngestError {
        let why = match refused.first() {
            None if noted > 0 => {
                let what = counted(noted, "log");
                return IngestError::LogsGone { dir: dir.into(), what };
            }
            None => "no process of the command wrote a log; a static or setuid program, or one that clears \
                     its environment, cannot be measured, and a command that could not be executed has \
                     nothing to measure (`proust doctor` tells which holds here)"
                .into(),
            Some(first) => {
                let which = match refused.len() {
                    1 => "its log cannot be read".to_owned(),
                    several => format!("none of its {several} logs can be read"),
                };
                format!(
                    "{which} ({}: {}); record the program again, to another place if the storage was full",
                    first.name, first.reason
                )
            }
        };
        IngestError::NothingRecorded { dir: dir.into(), why }
    }
}
