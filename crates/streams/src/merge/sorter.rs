//! Records in any order, sorted with bounded memory: sorted runs on disk, and a merge of them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::io;
use std::path::PathBuf;

use super::runs::{CHUNK_BYTES, RunReader, RunWriter};
use super::{Budget, MergeError, SpillFolder};
use crate::record::{Location, Record};

/// A record and whose it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Located<R> {
    /// Whose.
    pub location: Location,
    /// The record.
    pub record: R,
}

/// Runs that are merged at once, at most: each has an open file.
const FAN_IN: usize = 256;

/// Sorts records by a key; those with the same key stay in the order in which they came.
pub struct Sorter<R, F> {
    key: F,
    records: Vec<Located<R>>,
    most: usize,
    /// Runs that may be merged at once within the budget.
    fan_in: usize,
    parent: PathBuf,
    folder: Option<SpillFolder>,
    runs: Vec<PathBuf>,
    made: usize,
}

impl<R: Record, F: Fn(&Located<R>) -> u128> Sorter<R, F> {
    /// A sorter with nothing in it. The temporary folder is made when it is needed.
    pub fn new(budget: &Budget, key: F) -> Sorter<R, F> {
        // A stable sort takes half as much again.
        let most = budget.records(size_of::<Located<R>>() * 3 / 2);
        let fan_in = (budget.bytes / (2 * CHUNK_BYTES)).clamp(2, FAN_IN);
        Sorter {
            key,
            records: Vec::new(),
            most,
            fan_in,
            parent: budget.folder.clone(),
            folder: None,
            runs: Vec::new(),
            made: 0,
        }
    }

    /// Adds a record.
    pub fn push(&mut self, located: Located<R>) -> Result<(), MergeError> {
        if self.records.len() == self.most {
            self.spill()?;
        }
        if self.records.capacity() == 0 {
            self.records.reserve_exact(self.most.min(1024));
        } else if self.records.len() == self.records.capacity() {
            // Never beyond the budget, as doubling would be.
            let more = self.records.len().min(self.most - self.records.len());
            self.records.reserve_exact(more);
        }
        self.records.push(located);
        Ok(())
    }

    /// The records in order.
    pub fn finish(mut self) -> Result<Sorted<R>, MergeError>
    where
        F: 'static,
    {
        if self.runs.is_empty() {
            self.records.sort_by_key(&self.key);
            let source = Kept::Memory(self.records.into_iter());
            return Ok(Sorted { source, runs: 0, parent: self.parent, folder: None });
        }
        if !self.records.is_empty() {
            self.spill()?;
        }
        self.records = Vec::new();
        let made = self.runs.len();
        let folder = self.folder.take();
        let parent = self.parent.clone();
        self.folder = None;
        let result = self.merge_down(&folder);
        result.map_err(|error| temporary(&parent, error))?;
        let runs = Runs::open(&self.runs, &self.key).map_err(|error| temporary(&parent, error))?;
        Ok(Sorted { source: Kept::Runs(runs, Box::new(self.key)), runs: made, parent, folder })
    }

    /// Merges runs that follow each other until so few are left that all can be read at once.
    fn merge_down(&mut self, folder: &Option<SpillFolder>) -> io::Result<()> {
        let Some(folder) = folder else { return Ok(()) };
        while self.runs.len() > self.fan_in {
            let mut next = Vec::new();
            for some in self.runs.chunks(self.fan_in) {
                let path = folder.path().join(self.made.to_string());
                self.made += 1;
                let mut writer = RunWriter::create(&path)?;
                let mut runs = Runs::<R>::open(some, &self.key)?;
                while let Some(located) = runs.next(&self.key)? {
                    writer.push(&located)?;
                }
                writer.finish()?;
                drop(runs);
                for path in some {
                    std::fs::remove_file(path)?;
                }
                next.push(path);
            }
            self.runs = next;
        }
        Ok(())
    }

    fn spill(&mut self) -> Result<(), MergeError> {
        self.records.sort_by_key(&self.key);
        let result = self.write_run();
        self.records.clear();
        result.map_err(|error| temporary(&self.parent, error))
    }

    fn write_run(&mut self) -> io::Result<()> {
        let folder = match &self.folder {
            Some(folder) => folder,
            None => self.folder.insert(SpillFolder::new(&self.parent)?),
        };
        let path = folder.path().join(self.made.to_string());
        self.made += 1;
        let mut writer = RunWriter::create(&path)?;
        for located in &self.records {
            writer.push(located)?;
        }
        writer.finish()?;
        self.runs.push(path);
        Ok(())
    }
}

fn temporary(folder: &std::path::Path, error: io::Error) -> MergeError {
    MergeError::Temporary { folder: folder.to_owned(), error }
}

/// Sorted records.
pub struct Sorted<R> {
    source: Kept<R>,
    runs: usize,
    parent: PathBuf,
    /// Removed with the last use of it.
    folder: Option<SpillFolder>,
}

enum Kept<R> {
    Memory(std::vec::IntoIter<Located<R>>),
    Runs(Runs<R>, Box<dyn Fn(&Located<R>) -> u128>),
}

impl<R: Record> Sorted<R> {
    /// The next record.
    #[allow(clippy::should_implement_trait)]
    pub fn next(&mut self) -> Result<Option<Located<R>>, MergeError> {
        let next = match &mut self.source {
            Kept::Memory(records) => Ok(records.next()),
            Kept::Runs(runs, key) => runs.next(key),
        };
        next.map_err(|error| temporary(&self.parent, error))
    }

    /// How many sorted runs were written at first.
    pub fn runs(&self) -> usize {
        self.runs
    }

    /// Where the runs are, while there are any.
    pub fn folder(&self) -> Option<&SpillFolder> {
        self.folder.as_ref()
    }
}

/// Runs that are merged: the smallest key first, of equal ones that of the earlier run.
struct Runs<R> {
    readers: Vec<RunReader>,
    heads: Vec<Option<Located<R>>>,
    heap: BinaryHeap<Reverse<(u128, usize)>>,
}

impl<R: Record> Runs<R> {
    fn open(paths: &[PathBuf], key: &impl Fn(&Located<R>) -> u128) -> io::Result<Runs<R>> {
        let mut runs = Runs { readers: Vec::new(), heads: Vec::new(), heap: BinaryHeap::new() };
        for (at, path) in paths.iter().enumerate() {
            let mut reader = RunReader::open(path)?;
            let head = reader.next()?;
            runs.heap.extend(head.as_ref().map(|head| Reverse((key(head), at))));
            runs.readers.push(reader);
            runs.heads.push(head);
        }
        Ok(runs)
    }

    fn next(&mut self, key: &(impl Fn(&Located<R>) -> u128 + ?Sized)) -> io::Result<Option<Located<R>>> {
        let Some(mut top) = self.heap.peek_mut() else { return Ok(None) };
        let at = top.0.1;
        let following = self.readers[at].next::<R>()?;
        match &following {
            Some(located) => top.0.0 = key(located),
            None => {
                std::collections::binary_heap::PeekMut::pop(top);
            }
        }
        Ok(std::mem::replace(&mut self.heads[at], following))
    }
}
