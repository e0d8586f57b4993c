//! Record by record through a stream. Memory: the bytes of a block and the records of a unit.

use std::fs::File;
use std::ops::Range;

use super::{Reading, Stream};
use crate::block::BlockView;
use crate::lost::{Fault, Lost};
use crate::record::Record;
use crate::source::ReadAt;

/// Records in order; in the place of blocks that cannot be read stands what is lost with them.
pub struct Records<'a, R, S = File> {
    stream: Stream<'a, R, S>,
    range_ns: Range<u64>,
    forward: bool,
    /// Whether records outside of the range are left out.
    chosen: bool,
    /// The blocks that are still to be opened.
    blocks: Range<usize>,
    /// The units of the open block that are still to be read.
    open: Option<(usize, Range<usize>)>,
    /// What is missing behind the last block that was read backwards.
    missing: Option<Lost>,
    /// None until the first block is opened: many readers may be made, of which few read.
    reading: Option<Box<Reading>>,
    /// The records of a unit that are still to be answered.
    unit: Vec<R>,
    next: Range<usize>,
}

impl<'a, R: Record, S: ReadAt> Records<'a, R, S> {
    pub(super) fn new(stream: Stream<'a, R, S>, range_ns: Range<u64>, forward: bool, chosen: bool) -> Self {
        let blocks = match chosen {
            true => stream.index.overlapping(&range_ns),
            false => 0..stream.blocks().len(),
        };
        Records {
            blocks,
            stream,
            range_ns,
            forward,
            chosen,
            open: None,
            missing: None,
            reading: None,
            unit: Vec::new(),
            next: 0..0,
        }
    }

    /// Whether records that begin and end between these times may be wanted.
    fn may_be_within(&self, begin_ns: u64, end_ns: u64) -> bool {
        !self.chosen || begin_ns < self.range_ns.end && end_ns >= self.range_ns.start
    }

    fn open_next_block(&mut self) -> Option<Result<(), Lost>> {
        let block = if self.forward { self.blocks.next()? } else { self.blocks.next_back()? };
        let entry = &self.stream.blocks()[block];
        let wanted = self.may_be_within(entry.min_begin_ns, entry.last_end_ns);
        let missing = self
            .stream
            .missing_before(block)
            // Nested records of a missing block may begin at any time before they end.
            .filter(|lost| !self.chosen || lost.to_ns >= self.range_ns.start);
        let opened = match wanted {
            true => {
                let Reading { buffer, scratch } = &mut **self.reading.get_or_insert_default();
                let view = self.stream.read_block(block, buffer);
                view.and_then(|view| match view.read_dictionaries::<R>(scratch) {
                    Some(()) => Ok(Some((block, 0..view.units()))),
                    None => Err(self.stream.lost(block, Fault::Contradiction)),
                })
            }
            false => Ok(None),
        };
        match (opened, missing) {
            (Ok(open), missing) => {
                self.open = open;
                match missing {
                    Some(lost) if self.forward => Some(Err(lost)),
                    missing => {
                        self.missing = missing;
                        Some(Ok(()))
                    }
                }
            }
            (Err(lost), None) => Some(Err(lost)),
            (Err(lost), Some(missing)) => {
                // Both, in the order of reading.
                let (first, second) = if self.forward { (missing, lost) } else { (lost, missing) };
                self.missing = Some(second);
                Some(Err(first))
            }
        }
    }

    /// Reads the next unit of the open block that may have wanted records.
    fn read_next_unit(&mut self) -> Option<Result<(), Lost>> {
        let (block, units) = self.open.as_mut()?;
        let block = *block;
        let unit = if self.forward { units.next() } else { units.next_back() };
        let Some(unit) = unit else {
            self.open = None;
            return None;
        };
        self.unit.clear();
        self.next = 0..0;
        let (range, chosen) = (&self.range_ns, self.chosen);
        let Reading { buffer, scratch } = &mut **self.reading.get_or_insert_default();
        let records = &mut self.unit;
        let read = BlockView::parse(buffer).and_then(|view| {
            let (_, end_ns) = view.unit_ends_ns::<R>(unit)?;
            let begin_ns = view.unit_begin_ns::<R>(unit)?;
            if !chosen || begin_ns < range.end && end_ns >= range.start {
                view.read_unit(unit, scratch, records)?;
            }
            Some(())
        });
        if read.is_none() {
            self.unit.clear();
            self.open = None;
            return Some(Err(self.stream.lost(block, Fault::Contradiction)));
        }
        if chosen {
            self.unit.retain(|record| {
                let (begin_ns, end_ns) = (record.begin_ns(), record.end_ns());
                begin_ns < range.end && (end_ns > range.start || begin_ns >= range.start)
            });
        }
        self.next = 0..self.unit.len();
        Some(Ok(()))
    }
}

impl<R: Record, S: ReadAt> Records<'_, R, S> {
    /// The next record of those that are decoded. None = [`Records::advance`] has to decode more.
    #[inline]
    pub fn decoded(&mut self) -> Option<&R> {
        let at = if self.forward { self.next.next() } else { self.next.next_back() }?;
        Some(&self.unit[at])
    }

    /// Decodes more records, where none are left. None = there are no more.
    pub fn advance(&mut self) -> Option<Result<(), Lost>> {
        while self.next.is_empty() {
            if self.open.is_some() {
                if let Some(Err(lost)) = self.read_next_unit() {
                    return Some(Err(lost));
                }
                continue;
            }
            if let Some(lost) = self.missing.take() {
                return Some(Err(lost));
            }
            if let Err(lost) = self.open_next_block()? {
                return Some(Err(lost));
            }
        }
        Some(Ok(()))
    }
}

impl<R: Record, S: ReadAt> Iterator for Records<'_, R, S> {
    type Item = Result<R, Lost>;

    #[inline]
    fn next(&mut self) -> Option<Result<R, Lost>> {
        loop {
            if let Some(&record) = self.decoded() {
                return Some(Ok(record));
            }
            if let Err(lost) = self.advance()? {
                return Some(Err(lost));
            }
        }
    }
}
