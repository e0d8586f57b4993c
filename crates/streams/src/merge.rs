//! The records of many locations in one order, with bounded memory.
//!
//! Time is cut into windows that hold as many records as the budget allows. For a window, the blocks that
//! overlap it are read, location by location; its records are sorted, and nothing but the index is kept for
//! the next one. So memory depends neither on the number of locations nor on that of records.

mod budget;
mod radix;
mod row;
mod runs;
mod sorter;
mod spill;
mod windows;

pub use budget::Budget;
pub use sorter::{Located, Sorted, Sorter};
pub use spill::SpillFolder;
use windows::Windows;

use std::fs::File;
use std::io;
use std::path::PathBuf;

use crate::file::StreamFile;
use crate::lost::Lost;
use crate::record::{Location, Record, Times};
use crate::source::ReadAt;

/// In which order records are merged. At equal times: by location, then by place in the stream; backwards
/// exactly reversed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// By end.
    ByEnd,
    /// By end, from the last to the first.
    ByEndBackward,
    /// By begin: of kinds whose records do not overlap.
    ByBegin,
    /// By begin, from the last to the first: of kinds whose records do not overlap.
    ByBeginBackward,
}

impl Order {
    pub(crate) fn is_backward(self) -> bool {
        matches!(self, Order::ByEndBackward | Order::ByBeginBackward)
    }

    pub(crate) fn is_by_begin(self) -> bool {
        matches!(self, Order::ByBegin | Order::ByBeginBackward)
    }

    /// The time by which a record is merged, ns.
    pub(crate) fn time_ns<R: Record>(self, record: &R) -> u64 {
        if self.is_by_begin() { record.begin_ns() } else { record.end_ns() }
    }
}

/// Why a merge cannot be done, or cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// Records of this kind may contain others, so their begins are in no order.
    #[error("records that contain others cannot be merged by begin")]
    NotByBegin,
    /// Reading or writing a temporary file failed.
    #[error("cannot use the temporary folder {folder}: {error}")]
    Temporary {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        error: io::Error,
    },
}

/// Where the records of a merge come from.
pub(crate) enum Way<'a, R, S> {
    Windows(Windows<'a, R, S>),
    Sorted(Box<Sorted<R>>),
}

/// Records of many locations in order. What was lost on the way is asked of it at the end.
pub struct Merge<'a, R, S = File> {
    way: Way<'a, R, S>,
    lost: Vec<Lost>,
}

/// Reading a block once more takes as long as merging about this number of records. Where all that would be
/// read again takes longer than the merge itself, records are sorted with spilled runs.
const RECORDS_OF_A_READ: u64 = 16;

impl<'a, R: Record, S: ReadAt> Merge<'a, R, S> {
    /// Merges these locations (each once). Sorted runs go below the budget's folder if blocks would otherwise
    /// be read many times.
    pub fn new(
        file: &'a StreamFile<S>,
        locations: &[Location],
        order: Order,
        budget: &Budget,
    ) -> Result<Merge<'a, R, S>, MergeError> {
        if order.is_by_begin() && R::TIMES == Times::Nested {
            return Err(MergeError::NotByBegin);
        }
        let windows = Windows::new(file, locations, order, budget);
        if windows.expected_reads() <= windows.blocks() + windows.records() / RECORDS_OF_A_READ {
            return Ok(Merge { way: Way::Windows(windows), lost: Vec::new() });
        }
        drop(windows);
        Merge::spilled(file, locations, order, budget)
    }

    /// The same, through sorted runs in any case.
    pub(crate) fn spilled(
        file: &'a StreamFile<S>,
        locations: &[Location],
        order: Order,
        budget: &Budget,
    ) -> Result<Merge<'a, R, S>, MergeError> {
        let key = move |located: &Located<R>| {
            let time_ns = order.time_ns(&located.record);
            let (time, location) = (u128::from(time_ns), u128::from(located.location.0));
            let key = time << 32 | location;
            if order.is_backward() { !key } else { key }
        };
        let mut sorter = Sorter::new(budget, key);
        let mut lost = Vec::new();
        let mut sorted = locations.to_vec();
        sorted.sort_unstable();
        sorted.dedup();
        for location in sorted {
            let stream = file.stream::<R>(location);
            let records = if order.is_backward() { stream.backward() } else { stream.forward() };
            for record in records {
                match record {
                    Ok(record) => sorter.push(Located { location, record })?,
                    Err(block) => lost.push(block),
                }
            }
        }
        lost.sort_by_key(|lost: &Lost| (lost.location, lost.sequence));
        Ok(Merge { way: Way::Sorted(Box::new(sorter.finish()?)), lost })
    }

    /// The next record.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Located<R>>, MergeError> {
        match &mut self.way {
            Way::Windows(windows) => Ok(windows.next()),
            Way::Sorted(sorted) => sorted.next(),
        }
    }

    /// How many sorted runs were written.
    pub fn runs(&self) -> usize {
        match &self.way {
            Way::Windows(_) => 0,
            Way::Sorted(sorted) => sorted.runs(),
        }
    }

    /// What could not be read, by location. Complete when the last record was answered.
    pub fn lost(&self) -> Vec<Lost> {
        match &self.way {
            Way::Windows(windows) => windows.lost(),
            Way::Sorted(_) => self.lost.clone(),
        }
    }
}
