//! Why a question has no answer.

use proust_account::ledger::LedgerError;
use proust_query::UnknownFunction;

use crate::wording::what_there_is;

/// Why a question has no answer.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// The question itself is wrong: exit code 2.
    #[error("{0}")]
    Usage(String),
    /// The run has no such function.
    #[error("{}{}", .0, what_there_is(&.0.known))]
    UnknownFunction(#[from] UnknownFunction),
    /// The run has no such row.
    #[error("there is no {what} {handle} in this run: its {what}s go from {first} to {last}")]
    UnknownHandle {
        /// The name that was looked up.
        what: &'static str,
        /// The handle.
        handle: String,
        /// The first there is.
        first: String,
        /// The last there is.
        last: String,
    },
    /// The profile contradicts itself.
    #[error("the account cannot be drawn up: {0}; `tree`, `flat` and `callers` still show CPU time")]
    Ledger(#[from] LedgerError),
}
