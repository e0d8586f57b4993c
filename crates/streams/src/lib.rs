//! Streams: what each location recorded over time, in blocks of at most 4 KiB, with exact sums over them.
//!
//! Nothing here knows a profile: only times, records of numbers, and keys by which time is summed.
//!
//! - [`Record`]: what a stream consists of; [`records`]: the kinds to start with
//! - [`StreamBuilder`]: from records to blocks; [`FileWriter`]: the file that they go to; [`Blocks`]: in
//!   a spool, on their way there
//! - [`StreamFile`], [`Stream`], [`Records`]: reading, forwards and backwards; [`Nesting`]: what encloses the
//!   current record
//! - [`Levels`]: exact time by key over any range, and in bins; [`sums_by_scan`], [`bins_by_scan`]: the same
//!   without levels
//! - [`merge`]: many locations in one order, and sorting by any key, with bounded memory
//! - [`Spool`]: bytes in memory as far as a budget allows, and in a file without a name
//! - [`Array`]: rows that are read by position, likewise
//! - [`Lost`], [`Note`]: what could not be read, as data
//!
//! The rules, and how each user of streams works with them, are in `docs/internals/streams.md`.

#![deny(unsafe_code)]

mod array;
mod bins;
mod block;
mod file;
mod index;
pub mod levels;
mod lost;
pub mod merge;
pub mod numbers;
mod pack;
mod publication;
mod reader;
mod record;
pub mod records;
mod source;
mod spool;
mod sums;
mod varint;
mod writer;

pub use array::Array;
pub use bins::{BinsIn, bins_by_scan};
#[doc(hidden)]
pub use block::put_checks_right;
pub use block::{BlockEntry, BlockOptions, BlockSink, MAX_BLOCK_BYTES, NotOrdered, StreamBuilder};
pub use file::{FileError, StreamFile};
pub use levels::{Levels, LevelsError, LevelsFile};
pub use lost::{Fault, Lost, Note};
pub use reader::{Nesting, Reading, Records, Stream};
pub use record::{Column, Key, Kind, Location, MAX_COLUMNS, Record, Summed, Times};
pub use source::ReadAt;
pub use spool::{Budget, Spool, SpoolWriter, Spooled, Taken};
pub use sums::{Sums, sums_by_scan};
pub use writer::{BlockWriter, Blocks, FileWriter};

#[cfg(test)]
mod tests;
