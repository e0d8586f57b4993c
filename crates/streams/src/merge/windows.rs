//! Windows of time, each read and sorted by itself.

use std::fs::File;
use std::ops::Range;

use super::{Budget, Located, Order, radix};
use crate::block::BlockEntry;
use crate::file::StreamFile;
use crate::lost::Lost;
use crate::reader::{Reading, Stream};
use crate::record::{Location, Record};
use crate::source::ReadAt;

/// Bytes of a record in a window beside the record itself: its time and place twice, its source, and its time
/// where the median is looked for.
const SORTING_BYTES: usize = 2 * size_of::<(u64, u32)>() + size_of::<u32>() + size_of::<u64>();

/// Records of many locations in order.
pub struct Windows<'a, R, S = File> {
    sources: Vec<Source<'a, R, S>>,
    order: Order,
    /// How many records a window may have.
    most: usize,
    /// Times that are still to be answered: the window is taken from the front, or backwards from the end.
    /// Inclusive, so that the last nanosecond of all can be in it.
    left_ns: Option<(u64, u64)>,
    /// The length that the next window is tried with, ns.
    length_ns: u64,
    records: Vec<R>,
    /// The source of each record.
    source_of: Vec<u32>,
    pairs: Vec<(u64, u32)>,
    other: Vec<(u64, u32)>,
    next: Range<usize>,
    reading: Reading,
    decoded: Vec<R>,
    lost: Vec<Lost>,
    reads: u64,
    /// All records of one instant, where a window of that length does not fit.
    instant: Option<Instant>,
}

/// Where the reading of a single instant stands.
struct Instant {
    at_ns: u64,
    source: usize,
    block: usize,
    behind: usize,
}

struct Source<'a, R, S> {
    stream: Stream<'a, R, S>,
    /// Blocks that are not known to lie before (backwards: behind) all windows that follow.
    blocks: Range<usize>,
    /// Blocks that were read at least once.
    seen: Range<usize>,
    /// The last block that was reported as lost.
    lost: Option<usize>,
}

impl<'a, R: Record, S: ReadAt> Windows<'a, R, S> {
    /// Merges these locations, each once.
    pub fn new(file: &'a StreamFile<S>, locations: &[Location], order: Order, budget: &Budget) -> Self {
        let mut locations = locations.to_vec();
        locations.sort_unstable();
        locations.dedup();
        let sources: Vec<Source<'_, R, S>> = locations
            .into_iter()
            .map(|location| {
                let stream = file.stream::<R>(location);
                let edge = if order.is_backward() { stream.blocks().len() } else { 0 };
                Source { stream, blocks: 0..stream.blocks().len(), seen: edge..edge, lost: None }
            })
            .filter(|source| !source.blocks.is_empty())
            .collect();
        let times = sources.iter().flat_map(|source| source.stream.blocks()).map(|block| times(order, block));
        let left_ns = times.reduce(|all, (from, to)| (all.0.min(from), all.1.max(to)));
        let most = budget.records(size_of::<R>() + SORTING_BYTES);
        let records: u64 = sources.iter().map(|source| source.stream.count()).sum();
        let length_ns = left_ns.map_or(0, |(from, to)| {
            let share = (to - from) as u128 * most as u128 / (u128::from(records) + 1);
            u64::try_from(share * 3 / 4).unwrap_or(u64::MAX)
        });
        Windows {
            sources,
            order,
            most,
            left_ns,
            length_ns,
            records: Vec::new(),
            source_of: Vec::new(),
            pairs: Vec::new(),
            other: Vec::new(),
            next: 0..0,
            reading: Reading::default(),
            decoded: Vec::new(),
            lost: Vec::new(),
            reads: 0,
            instant: None,
        }
    }

    /// The number of blocks that are merged.
    pub(super) fn blocks(&self) -> u64 {
        self.sources.iter().map(|source| source.blocks.len() as u64).sum()
    }

    /// The number of records that are merged.
    pub(super) fn records(&self) -> u64 {
        self.sources.iter().map(|source| source.stream.count()).sum()
    }

    /// How often blocks will be read in all, if records lie evenly in time.
    pub(super) fn expected_reads(&self) -> u64 {
        let length_ns = self.length_ns.max(1);
        let reads = self.sources.iter().flat_map(|source| source.stream.blocks()).map(|block| {
            let (from, to) = times(self.order, block);
            (to - from) / length_ns + 1
        });
        reads.fold(0, u64::saturating_add)
    }

    /// How often blocks were read.
    pub fn reads(&self) -> u64 {
        self.reads
    }

    /// What could not be read, by location and place.
    pub fn lost(&self) -> Vec<Lost> {
        let mut lost = self.lost.clone();
        lost.sort_by_key(|lost| (lost.location, lost.sequence));
        lost
    }

    fn fill(&mut self) -> bool {
        while let Some((from, to)) = self.left_ns {
            let backward = self.order.is_backward();
            // The window, inclusive.
            let mut window = match backward {
                false => (from, from.saturating_add(self.length_ns).min(to)),
                true => (to.saturating_sub(self.length_ns).max(from), to),
            };
            self.records.clear();
            self.source_of.clear();
            let fits = (0..self.sources.len()).all(|source| self.collect(source, &mut window));
            if !fits {
                // More records at one time than a window may have.
                self.records.clear();
                self.source_of.clear();
                let source = if backward { self.sources.len() - 1 } else { 0 };
                self.instant = Some(Instant { at_ns: window.0, source, block: usize::MAX, behind: 0 });
            }
            self.left_ns = match backward {
                false if window.1 < to => Some((window.1 + 1, to)),
                true if window.0 > from => Some((from, window.0 - 1)),
                _ => None,
            };
            self.adapt(window);
            if !fits {
                return true;
            }
            if !self.records.is_empty() {
                self.sort();
                return true;
            }
        }
        false
    }

    /// The next window is tried with the length that would have had three quarters of what fits.
    fn adapt(&mut self, window: (u64, u64)) {
        let length = u128::from(window.1 - window.0) + 1;
        let wanted = length * self.most as u128 * 3 / 4 / (self.records.len() as u128 + 1);
        self.length_ns =
            u64::try_from(wanted).unwrap_or(u64::MAX).min(self.length_ns.saturating_mul(4).max(16));
    }

    /// Adds a source's records in the window, which becomes shorter if they do not fit. Answers false if it
    /// cannot become shorter.
    fn collect(&mut self, source: usize, window: &mut (u64, u64)) -> bool {
        let backward = self.order.is_backward();
        let stream = self.sources[source].stream;
        let entries = stream.blocks();
        let blocks = &mut self.sources[source].blocks;
        if backward {
            while blocks.end > blocks.start && times(self.order, &entries[blocks.end - 1]).0 > window.1 {
                blocks.end -= 1;
            }
        } else {
            while blocks.start < blocks.end && times(self.order, &entries[blocks.start]).1 < window.0 {
                blocks.start += 1;
            }
        }
        let blocks = blocks.clone();
        let first = match backward {
            true => {
                blocks.start + entries[blocks.clone()].partition_point(|b| times(self.order, b).1 < window.0)
            }
            false => blocks.start,
        };
        let behind =
            first + entries[first..blocks.end].partition_point(|b| times(self.order, b).0 <= window.1);
        self.report_missing(source, first..behind);
        for block in first..behind {
            if times(self.order, &entries[block]).0 > window.1 {
                break;
            }
            self.decoded.clear();
            self.read(source, block, *window);
            for at in 0..self.decoded.len() {
                let record = self.decoded[at];
                let time_ns = self.order.time_ns(&record);
                if (window.0..=window.1).contains(&time_ns) {
                    if self.records.len() == self.most && !self.shorten(window) {
                        return false;
                    }
                    if (window.0..=window.1).contains(&time_ns) {
                        push(&mut self.records, record, self.most);
                        push(&mut self.source_of, source as u32, self.most);
                    }
                }
            }
        }
        true
    }

    /// Cuts the window at the median of what it has, and forgets the rest.
    fn shorten(&mut self, window: &mut (u64, u64)) -> bool {
        let order = self.order;
        let mut ends: Vec<u64> = self.records.iter().map(|record| order.time_ns(record)).collect();
        let middle = ends.len() / 2;
        let median = *ends.select_nth_unstable(middle).1;
        let shorter = match order.is_backward() {
            // The median itself stays out if that makes the window shorter.
            false if median > window.0 => (window.0, median - 1),
            true if median < window.1 => (median + 1, window.1),
            false => (window.0, window.0),
            true => (window.1, window.1),
        };
        if shorter == *window {
            return false;
        }
        *window = shorter;
        let mut kept = 0;
        for at in 0..self.records.len() {
            if (shorter.0..=shorter.1).contains(&order.time_ns(&self.records[at])) {
                self.records[kept] = self.records[at];
                self.source_of[kept] = self.source_of[at];
                kept += 1;
            }
        }
        self.records.truncate(kept);
        self.source_of.truncate(kept);
        kept < self.most || self.shorten(window)
    }

    /// Reports what is missing before blocks that are read for the first time.
    fn report_missing(&mut self, source: usize, blocks: Range<usize>) {
        let Source { stream, seen, .. } = &mut self.sources[source];
        let new = blocks.clone().filter(|block| !seen.contains(block));
        self.lost.extend(new.filter_map(|block| stream.missing_before(block)));
        if !blocks.is_empty() {
            *seen = seen.start.min(blocks.start)..seen.end.max(blocks.end);
        }
    }

    /// Reads the units of a block that may have records in a window into `decoded`. What cannot be read is
    /// reported once.
    fn read(&mut self, source: usize, block: usize, window: (u64, u64)) {
        let Source { stream, lost, .. } = &mut self.sources[source];
        self.reads += 1;
        let wanted = |from: u64, to: u64| from <= window.1 && to >= window.0;
        if let Err(report) = stream.read_units(block, &mut self.reading, &mut self.decoded, wanted) {
            if lost.replace(block) != Some(block) {
                self.lost.push(report);
            }
        }
    }

    /// Records were collected by location and place: a stable sort by time gives the order.
    fn sort(&mut self) {
        let order = self.order;
        let base = self.records.iter().map(|record| order.time_ns(record)).min().unwrap_or(0);
        self.pairs.clear();
        self.pairs.reserve_exact(self.records.len());
        let times = self.records.iter().map(|record| order.time_ns(record) - base);
        self.pairs.extend(times.zip(0u32..));
        radix::sort(&mut self.pairs, &mut self.other);
        self.next = 0..self.pairs.len();
    }

    /// The next record of an instant with very many, source by source.
    fn next_of_instant(&mut self) -> Option<Located<R>> {
        let backward = self.order.is_backward();
        loop {
            let at = if backward { self.next.next_back() } else { self.next.next() };
            let instant = self.instant.as_mut()?;
            if let Some(at) = at {
                let record = self.decoded[at];
                if self.order.time_ns(&record) == instant.at_ns {
                    return Some(Located {
                        location: self.sources[instant.source].stream.location(),
                        record,
                    });
                }
                continue;
            }
            if instant.block == usize::MAX {
                // A source is entered: its blocks at this instant.
                let entries = self.sources[instant.source].stream.blocks();
                let (order, at_ns) = (self.order, instant.at_ns);
                instant.block = entries.partition_point(|block| times(order, block).1 < at_ns);
                instant.behind = entries.partition_point(|block| times(order, block).0 <= at_ns);
                let (source, blocks) = (instant.source, instant.block..instant.behind.max(instant.block));
                self.report_missing(source, blocks);
                continue;
            }
            if instant.block < instant.behind {
                let block = if backward { instant.behind - 1 } else { instant.block };
                if backward {
                    instant.behind -= 1;
                } else {
                    instant.block += 1;
                }
                let (source, at_ns) = (instant.source, instant.at_ns);
                self.decoded.clear();
                self.read(source, block, (at_ns, at_ns));
                self.next = 0..self.decoded.len();
                continue;
            }
            instant.block = usize::MAX;
            let next = if backward { instant.source.checked_sub(1) } else { Some(instant.source + 1) };
            match next.filter(|&source| source < self.sources.len()) {
                Some(source) => instant.source = source,
                None => {
                    self.instant = None;
                    self.next = 0..0;
                    return None;
                }
            }
        }
    }
}

impl<R: Record, S: ReadAt> Iterator for Windows<'_, R, S> {
    type Item = Located<R>;

    fn next(&mut self) -> Option<Located<R>> {
        loop {
            if self.instant.is_some() {
                match self.next_of_instant() {
                    Some(located) => return Some(located),
                    None => continue,
                }
            }
            let at = if self.order.is_backward() { self.next.next_back() } else { self.next.next() };
            if let Some(at) = at {
                let at = self.pairs[at].1 as usize;
                let source = &self.sources[self.source_of[at] as usize];
                return Some(Located { location: source.stream.location(), record: self.records[at] });
            }
            if !self.fill() {
                return None;
            }
        }
    }
}

/// Adds to a vector, which grows up to so many items and no further.
fn push<T>(items: &mut Vec<T>, item: T, most: usize) {
    if items.len() == items.capacity() {
        items.reserve_exact(items.len().max(256).min(most - items.len()));
    }
    items.push(item);
}

/// The earliest and the latest time that a block's records are merged by, ns. By begin: the last record
/// begins before it ends.
fn times(order: Order, block: &BlockEntry) -> (u64, u64) {
    if order.is_by_begin() {
        (block.min_begin_ns, block.last_end_ns)
    } else {
        (block.first_end_ns, block.last_end_ns)
    }
}
