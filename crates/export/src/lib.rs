//! Runs in the formats of other tools: a [`Selection`](proust_query::Selection) of a run becomes a file that
//! a viewer of flame graphs, profiles or traces opens.
//!
//! A format has a file of its own, and all of them read the same things:
//!
//! - [`format`]: the table of formats
//! - `frames`: what is on a call path, and what it is called
//! - `threads`: the threads in scope, and their samples in the order of time
//! - `amounts`: what was measured, in whole numbers
//!
//! This is not for reading other tools' files, nor for pages: those are `proust-report`'s.

mod amounts;
mod chrome_trace;
mod error;
mod firefox;
mod flamegraph;
mod folded;
mod format;
mod frames;
mod pprof;
mod speedscope;
mod threads;
mod written;

pub use error::ExportError;
pub use format::{FORMATS, Format, FormatSpec};
pub use written::write;
