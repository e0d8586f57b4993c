//! Why a run cannot be exported.

use thiserror::Error;

/// Why a run cannot be exported.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The format shows when something happened, and that is known of processor time alone.
    #[error(
        "`{format}` shows samples in the order of time, which only cpu_s has; `folded`, `flamegraph` and \
         `pprof` can show {measure}"
    )]
    NotInTime {
        /// The format.
        format: &'static str,
        /// The measure that was asked for.
        measure: String,
    },
    /// The file cannot be written.
    #[error("the export cannot be written: {0}")]
    Io(#[from] std::io::Error),
    /// A part of it cannot be written as JSON.
    #[error("the export cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}
