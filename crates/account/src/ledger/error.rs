//! What can be wrong with the input as a whole.

use proust_profile::{LocationId, ProcessId};

/// The timelines contradict each other, so that no account can be drawn up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LedgerError {
    /// A timeline names a process that is not in the run.
    #[error("a timeline belongs to process {process}, which is not among the run's processes")]
    UnknownProcess {
        /// The process named.
        process: ProcessId,
    },
    /// Two processes have the same identifier.
    #[error("process {process} appears twice in the run")]
    DuplicateProcess {
        /// The process named twice.
        process: ProcessId,
    },
    /// Two timelines have the same identifier.
    #[error("location {location} has two timelines")]
    DuplicateLocation {
        /// The location named twice.
        location: LocationId,
    },
    /// More processor time than 64 bits of nanoseconds hold.
    #[error(
        "the run has {years} years of processor time, and an account holds at most 584: ask for a part of it \
         (--where time=…)"
    )]
    TooLong {
        /// Years of processors and threads together.
        years: u64,
    },
    /// The processors given were determined for another run.
    #[error("no number of processors is known for process {process}")]
    NoProcessors {
        /// The process whose slots have no number.
        process: ProcessId,
    },
}
