//! Questions to a profile: pure functions, the same for text, JSON and pictures.
//!
//! A question is put in two steps. A [`Filter`] (the text after `--where`) is resolved against a profile to a
//! [`Selection`]: the locations in scope and their amounts. What is counted is a [`Measure`]: a stored
//! metric, or seconds by account, for which a selection needs the rows of a ledger. A [`Quantity`] is a
//! measure, or what a user derives from measures. Everything else is computed from a selection:
//!
//! - [`Amounts`]: inclusive and exclusive amounts by context and by function
//! - [`intervals`]: marked intervals, and the account of the time in each
//! - [`characteristics`]: those of the DVM system, of each interval
//! - [`BottomUp`]: functions, and under each its callers
//! - [`mpi`]: calls of MPI, waits for partners, messages between ranks
//! - [`Neighbours`]: one function with its callers and callees
//! - [`hot_path()`]: where most of the time is, downwards
//! - [`inside()`]: operations inside others
//! - [`OnPath`]: amounts by source line and by module, with what is called there
//! - [`OperationSums`]: waits and I/O by operation and place
//! - [`Statistics`]: how an amount is spread over the locations

mod amounts;
mod bottom_up;
pub mod characteristics;
mod derived;
mod doing;
mod expression;
mod forest;
mod glob;
mod handle;
mod hot_path;
mod inside;
pub mod intervals;
mod measure;
pub mod mpi;
mod neighbours;
mod on_path;
pub mod openmp;
mod operations;
mod scope_note;
mod scoped_account;
mod selection;
mod statistics;
mod summaries;
mod summarised;
#[cfg(test)]
mod tests;
mod wanted;

pub use amounts::Amounts;
pub use amounts::{Sampling, add, errors, of_kind, over_contexts};
pub use bottom_up::{BottomUp, Node};
pub use derived::{DefinitionError, Derived, Metrics, Quantity};
pub use doing::Doing;
pub use expression::{Clause, Filter, FilterError, Key, Pattern, SampleName};
pub use forest::Forest;
pub use handle::Handle;
pub use hot_path::hot_path;
pub use inside::{InsideSum, inside};
pub use measure::ACCOUNTS;
pub use measure::Measure;
pub use neighbours::{Neighbour, Neighbours};
pub use on_path::{OnPath, SourceLine};
pub use operations::{OperationKey, OperationSum, OperationSums};
pub use scope_note::{Known, MatchKind, ScopeNote};
pub use scoped_account::ScopedAccount;
pub use selection::{Selection, UnknownFunction, functions_called, with_times};
pub use statistics::{Spread, Statistics};
pub use summaries::Summaries;
pub use summarised::{summarised, summarised_if_fewer};
