//! Why a run cannot answer.

use std::path::PathBuf;

use proust_account::classes::ClassError;
use proust_account::ledger::LedgerError;
use proust_ingest::IngestError;
use proust_profile::tables::TablesError;
use thiserror::Error;

/// Why a part of a run cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The run cannot be analysed.
    #[error(transparent)]
    Ingest(#[from] IngestError),
    /// The user's rules for waits cannot be read.
    #[error(transparent)]
    Rules(#[from] ClassError),
    /// There are no logs, and the analysis that was kept cannot be read.
    #[error(
        "the logs of the run in {} are gone, and what was kept of it cannot be read: {source}; record the \
         program again",
        dir.display()
    )]
    NoSource {
        /// The run's folder.
        dir: PathBuf,
        /// What is wrong with what was kept.
        source: TablesError,
    },
    /// Its processes and threads contradict each other: there is no account of it.
    #[error("no ledger can be drawn up of this run: {0}")]
    Ledger(#[from] LedgerError),
    /// Rows of the kept analysis could be read at first, and then not any more.
    #[error(
        "operations and samples that were kept in {} cannot be read any more: the file has changed, or the \
         storage refuses; repeat the command",
        dir.display()
    )]
    LostRows {
        /// The run's folder.
        dir: PathBuf,
    },
    /// A part of the kept analysis was damaged, and the logs meanwhile give another one.
    #[error("the run in {} changed while it was read; repeat the command", dir.display())]
    Changed {
        /// The run's folder.
        dir: PathBuf,
    },
}
