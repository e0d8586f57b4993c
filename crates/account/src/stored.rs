//! Timelines of states as streams: written once, when a run is analysed, and read by range since, with memory
//! that depends on neither their length nor their number.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proust_profile::{ContextId, LocationId, Profile};
pub use proust_streams::BinsIn;
use proust_streams::levels::LevelOptions;
use proust_streams::records::{PART_ACCOUNTS, State as Record};
use proust_streams::{
    BlockOptions, BlockSink, BlockWriter, Blocks, FileError, Key, Levels, LevelsFile, Location, ReadAt,
    StreamBuilder, StreamFile, bins_by_scan,
};

use crate::ledger::{PartKind, PassiveReason, Run, Span, Spans, State, Timeline, Wait, Work};
use crate::timelines::{AtOnce, Whose, in_order};

/// A record's flag: the span lies in a parallel region.
const IN_REGION: u8 = 1;
/// Where the numbers of each kind of state begin. Working has those from 0 on, and none has those of parts.
const WAITING: u8 = 0x20;
const POLLING: u8 = 0x30;
const PASSIVE: u8 = 0x40;
const WAITS: [Wait; 3] = [Wait::Barrier, Wait::Lock, Wait::MpiPartner];

/// The timelines of a run as they were written.
///
/// What cannot be read is left out, and [`StoredTimelines::is_damaged`] says so afterwards.
#[derive(Debug)]
pub struct StoredTimelines {
    streams: StreamFile<Source>,
    levels: Option<Arc<LevelsFile>>,
    is_damaged: AtomicBool,
}

/// Where the streams are.
#[derive(Debug)]
enum Source {
    File(File),
    Memory(Vec<u8>),
}

impl ReadAt for Source {
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        match self {
            Source::File(file) => ReadAt::read_exact_at(file, buffer, offset),
            Source::Memory(bytes) => bytes.read_exact_at(buffer, offset),
        }
    }

    fn length(&self) -> io::Result<u64> {
        match self {
            Source::File(file) => file.length(),
            Source::Memory(bytes) => bytes.length(),
        }
    }
}

/// The spans of a location within a range of time, read whenever they are asked for.
#[derive(Clone, Debug)]
pub struct StoredSpans<'s> {
    of: &'s StoredTimelines,
    location: LocationId,
    range_ns: Range<u64>,
}

impl StoredTimelines {
    /// Those of a profile with its rows, in memory.
    pub fn of(profile: &Profile) -> StoredTimelines {
        StoredTimelines::in_memory(|bytes| write(profile, AtOnce::default(), bytes))
    }

    fn in_memory(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> StoredTimelines {
        let mut bytes = Vec::new();
        let written = write(&mut bytes);
        let streams = written.and_then(|()| StreamFile::new(Source::Memory(bytes)).map_err(unreadable));
        let streams = streams.expect("memory takes everything, and has what was written");
        StoredTimelines { streams, levels: None, is_damaged: AtomicBool::new(false) }
    }

    /// Those in a file that was written by [`write()`]; with levels of it ([`write_levels`]), sums over many
    /// spans read few of them. Levels of other streams are damage: one of the two files is not the run's.
    ///
    /// # Errors
    /// When nothing in it can be read.
    pub fn open(streams: File, levels: Option<File>) -> io::Result<StoredTimelines> {
        let streams = StreamFile::new(Source::File(streams)).map_err(unreadable)?;
        // Levels are a cache: without them sums are read from the streams.
        let levels = levels.and_then(|levels| LevelsFile::new(levels).ok()).map(Arc::new);
        let is_of = |levels: &Arc<LevelsFile>| Levels::<Record, _>::new(&streams, levels.clone()).is_ok();
        let is_of_others = levels.as_ref().is_some_and(|levels| !is_of(levels));
        let is_damaged = AtomicBool::new(!streams.notes().is_empty() || is_of_others);
        Ok(StoredTimelines { streams, levels, is_damaged })
    }

    /// Whether anything that was asked for could not be read until now.
    pub fn is_damaged(&self) -> bool {
        self.is_damaged.load(Ordering::Relaxed)
    }

    /// The spans of a location that have a time in common with a range, in order.
    pub fn spans(&self, location: LocationId, range_ns: Range<u64>) -> StoredSpans<'_> {
        StoredSpans { of: self, location, range_ns }
    }

    /// The timelines of all locations of the profile. The profile needs no rows.
    pub fn whole_run(&self, profile: &Profile) -> Run<StoredSpans<'_>> {
        self.run(profile, &(0..u64::MAX))
    }

    /// As [`StoredTimelines::whole_run`], as far as they overlap the range.
    pub fn run(&self, profile: &Profile, range_ns: &Range<u64>) -> Run<StoredSpans<'_>> {
        let Whose { processes, processor_sets, bound } = Whose::of(profile);
        let timeline = |(id, location): (LocationId, &proust_profile::Location)| Timeline {
            location: id,
            process: location.process,
            service: location.service,
            spans: self.spans(id, range_ns.clone()),
        };
        let timelines = profile.locations.iter_enumerated().map(timeline).collect();
        Run { processes, timelines, processor_sets, bound }
    }

    /// The time of a location in bins, by what `counts_as` says of a state and its context; a part of a span
    /// counts as the work that it is. Exact, ns.
    pub fn bins<K: Ord>(
        &self,
        location: LocationId,
        place: BinsIn,
        counts_as: impl Fn(State, ContextId) -> Option<K>,
    ) -> Vec<BTreeMap<K, u128>> {
        let counts_as = |key: Key| counts_as(state_of(key.account)?, ContextId(key.context));
        if let Some(bins) = self.bins_of_levels(location, place, counts_as) {
            return bins;
        }
        let (bins, lost) =
            bins_by_scan::<Record, _, _>(&self.streams, Location(location.0), place, counts_as);
        if !lost.is_empty() {
            self.note_damage();
        }
        bins
    }

    /// None where there are no levels of these streams, or these are damaged.
    fn bins_of_levels<K: Ord>(
        &self,
        location: LocationId,
        place: BinsIn,
        counts_as: impl Fn(Key) -> Option<K>,
    ) -> Option<Vec<BTreeMap<K, u128>>> {
        let levels = Levels::<Record, _>::new(&self.streams, self.levels.clone()?).ok()?;
        levels.bins_by(&[Location(location.0)], place, counts_as).ok()
    }

    fn note_damage(&self) {
        self.is_damaged.store(true, Ordering::Relaxed);
    }
}

impl Spans for StoredSpans<'_> {
    fn spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.overlapping(self.range_ns.clone())
    }

    fn overlapping(&self, range_ns: Range<u64>) -> impl Iterator<Item = Span> + '_ {
        let range_ns = range_ns.start.max(self.range_ns.start)..range_ns.end.min(self.range_ns.end);
        let mut records = self.of.streams.stream::<Record>(Location(self.location.0)).overlapping(range_ns);
        std::iter::from_fn(move || {
            loop {
                // References to records: an answer by value is as long as what may be said of a lost block.
                let is_read = match records.decoded() {
                    Some(record) => match span_of(record) {
                        Some(span) => return Some(span),
                        None => false,
                    },
                    None => records.advance()?.is_ok(),
                };
                if !is_read {
                    self.of.note_damage();
                }
            }
        })
    }
}

/// Makes the timelines of a profile with its rows, and writes each as a stream as soon as it is made.
///
/// # Errors
/// When `to` refuses, or spans are out of order.
pub fn write(profile: &Profile, at_once: AtOnce, to: impl Write) -> io::Result<()> {
    let mut blocks = BlockWriter::new(to)?;
    let Whose { processes, .. } = Whose::of(profile);
    let spool = profile.events.spool();
    let encoded = |timeline: Timeline<&mut dyn Iterator<Item = Span>>| {
        let mut made = Blocks::new(&spool);
        write_spans(timeline.location, timeline.spans, &mut made).map(|()| made)
    };
    in_order(profile, &processes, at_once, encoded, |made| made?.give_to(&mut blocks))?;
    blocks.finish()?;
    Ok(())
}

fn write_spans(
    location: LocationId,
    spans: &mut dyn Iterator<Item = Span>,
    to: &mut impl BlockSink,
) -> io::Result<()> {
    let mut stream = StreamBuilder::new(Location(location.0), BlockOptions::default());
    for span in spans {
        stream.push(record_of(&span), to)?;
    }
    stream.finish(to)
}

/// Writes the levels of streams that [`write()`] has written into an empty file, open for reading and
/// writing.
///
/// # Errors
/// When the streams cannot be read, or the file refuses.
pub fn write_levels(streams: File, to: &File) -> io::Result<()> {
    let streams = StreamFile::new(streams).map_err(unreadable)?;
    Levels::<Record, _>::write(&streams, to, &LevelOptions::default())
}

fn unreadable(error: FileError) -> io::Error {
    match error {
        FileError::System(error) => error,
        error @ FileError::NotStreams => io::Error::new(io::ErrorKind::InvalidData, error),
    }
}

fn record_of(span: &Span) -> Record {
    let mut left_ns = span.length_ns();
    let mut parts_ns = [0; PART_ACCOUNTS.len()];
    if !matches!(span.state, State::Passive(_)) {
        // Where parts are longer than their span the first ones count, as everywhere.
        for (part_ns, kind) in parts_ns.iter_mut().zip(PartKind::ALL) {
            *part_ns = span.parts.get(kind).min(left_ns);
            left_ns -= *part_ns;
        }
    }
    Record {
        begin_ns: span.start_ns,
        end_ns: span.end_ns.max(span.start_ns),
        key: Key { account: number(span.state), context: span.context.0 },
        flags: if span.in_region { IN_REGION } else { 0 },
        parts_ns,
    }
}

fn span_of(record: &Record) -> Option<Span> {
    let state = State::Working(Work::Compute);
    let mut span = Span::new(record.begin_ns, record.end_ns, state, ContextId(record.key.context));
    // A part is no state of a span.
    span.state = state_of(record.key.account).filter(|_| !PART_ACCOUNTS.contains(&record.key.account))?;
    span.in_region = record.flags & IN_REGION != 0;
    for (kind, ns) in PartKind::ALL.into_iter().zip(record.parts_ns) {
        span.parts.add(kind, ns);
    }
    Some(span)
}

/// The number of a state in streams.
fn number(state: State) -> u8 {
    match state {
        State::Working(work) => work as u8,
        State::Waiting(wait) => WAITING + wait as u8,
        State::Polling(wait) => POLLING + wait as u8,
        State::Passive(reason) => PASSIVE + reason as u8,
    }
}

/// The state of a number, or the work of a part.
fn state_of(number: u8) -> Option<State> {
    let at = |from: u8| usize::from(number - from);
    match number {
        0..WAITING => Some(State::Working(*Work::ALL.get(at(0))?)),
        WAITING..POLLING => Some(State::Waiting(*WAITS.get(at(WAITING))?)),
        POLLING..PASSIVE => Some(State::Polling(*WAITS.get(at(POLLING))?)),
        _ => match PART_ACCOUNTS.iter().position(|&part| part == number) {
            Some(part) => Some(State::Working(PartKind::ALL[part].work())),
            None => Some(State::Passive(*PassiveReason::ALL.get(at(PASSIVE))?)),
        },
    }
}

#[cfg(test)]
mod tests;
