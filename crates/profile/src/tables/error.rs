//! What can be wrong with a profile on disk.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::BrokenInvariant;

/// Why a profile cannot be read or written. A damaged one is made from the logs again; the caller that knows
/// whether there are any adds the advice.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TablesError {
    /// There is none.
    #[error("there is no profile in {}", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// The system refused.
    #[error("{} cannot be {action}: {source}", path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, as a participle.
        action: &'static str,
        /// The system's answer.
        source: io::Error,
    },
    /// Made by another version.
    #[error("{} has schema {found}, this build of Proust reads schema {}", path.display(), super::SCHEMA)]
    OtherSchema {
        /// The file.
        path: PathBuf,
        /// The schema in it.
        found: u32,
    },
    /// A file differs from the one that was written.
    #[error("{} is damaged: {what}", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        what: String,
    },
    /// Not the JSON that was written, or facts that JSON cannot hold.
    #[error("{} is damaged ({source})", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: serde_json::Error,
    },
    /// Not the table that was written.
    #[error("{} is damaged ({source})", path.display())]
    Parquet {
        /// The file.
        path: PathBuf,
        /// Where and how.
        source: parquet::errors::ParquetError,
    },
    /// The tables contradict each other.
    #[error("the profile in {} contradicts itself: {source}", path.display())]
    Broken {
        /// The profile's folder.
        path: PathBuf,
        /// How.
        source: BrokenInvariant,
    },
}
