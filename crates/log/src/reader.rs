//! Validates a log and yields what is intact, whatever happened to the file.
//!
//! Nothing in the file is trusted: lengths are bounded, every record's check is verified, a damaged record
//! is skipped by searching for the next one that verifies, and what was skipped is counted.

use zerocopy::FromBytes;

mod known;

use self::known::{Known, Taken};
use crate::children::{self, Child as BriefChild};
use crate::layout::{
    ChunkHeader, ENDIAN_MARK, Ending, FileHeader, HEADER_BYTES, LaneHeader, MAGIC, MAX_CHUNK_BYTES,
    UNIT_BYTES, VERSION,
};
use crate::records::{
    Body, CHECK_MASK, Child, ClockOffset, Communicator, Completed, Event, Execution, ExecutionSum, Head,
    Inside, Interval, Kind, MAX_RECORD_BYTES, Module, ModuleEnd, Node, Note, ProcessSample, Received, Region,
    Release, Sample, SchedStat, Segments, Stay, Sum, Switched, TextHead, ThreadBegin, ThreadEnd, Unmatched,
    check_of,
};

/// Why a file cannot be read as a log at all.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum LogError {
    /// Too short for a header.
    #[error("the log is only {bytes} bytes long, less than its header of {HEADER_BYTES}")]
    TooShort {
        /// Length of the file.
        bytes: usize,
    },
    /// The first bytes are not a log's.
    #[error("the file is not a Proust log")]
    NotALog,
    /// Written by another version.
    #[error("the log has layout version {found}, this build of Proust reads version {VERSION}")]
    Version {
        /// The version in the file.
        found: u32,
    },
    /// Written on a machine of the other byte order.
    #[error("the log was written on a machine of the other byte order; analyse it on such a machine")]
    ByteOrder,
    /// The layout's sizes in the header are not those of this version.
    #[error(
        "the log's header is damaged (chunks of up to {chunk_bytes} bytes after a header of {header_bytes})"
    )]
    Header {
        /// Size of the largest chunk in the header.
        chunk_bytes: u32,
        /// Header size in the header.
        header_bytes: u32,
    },
}

/// Damage that was found; all zero for an intact log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Damage {
    /// The header's facts do not match their check.
    pub header: bool,
    /// Stretches of the file that belong to no chunk and are not empty: chunks whose headers are unusable.
    pub chunks: u64,
    /// Chunks of a lane that are missing between others.
    pub missing_chunks: u64,
    /// Bytes of these stretches, and those that the file's end lacks.
    pub skipped_bytes: u64,
}

impl Damage {
    /// Whether anything was damaged.
    pub fn any(&self) -> bool {
        *self != Damage::default()
    }
}

/// A record as read. `a` and `b` are the head's fields.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Record<'a> {
    /// A thread begins in the lane; `a` is a [`crate::records::ThreadOrigin`].
    ThreadBegin(u16, ThreadBegin),
    /// The lane's thread ends.
    ThreadEnd(ThreadEnd),
    /// A context node of the lane.
    Node(Node),
    /// A sample; first its flags.
    Sample(u16, Sample),
    /// A module; first the build-id's length.
    Module(u16, Module),
    /// A module is gone.
    ModuleEnd(ModuleEnd),
    /// A part of a text.
    Text {
        /// [`crate::records::Subject`] as number.
        subject: u16,
        /// Position of this part in a long text.
        part: u16,
        /// A number that depends on the subject.
        id: u32,
        /// The text's bytes, in no particular encoding.
        text: &'a [u8],
    },
    /// Scheduler's numbers.
    SchedStat(SchedStat),
    /// A child process; first a [`crate::records::Birth`].
    Child(u16, Child),
    /// A note; first a [`crate::records::NoteCode`].
    Note(u16, Note),
    /// An operation; first its [`crate::operations::Operation`], then flags and target.
    Event(u16, u16, Event),
    /// Short operations; first their [`crate::operations::Operation`], then the target.
    Sum(u16, u16, Sum),
    /// A lock was released or a thread woken; first by which [`crate::operations::Operation`], then flags.
    Release(u16, u16, Release),
    /// A parallel region; first a [`crate::records::RegionOrigin`].
    Region(u16, Region),
    /// A thread was in a parallel region; first its number in the team, then the team's size.
    Stay(u16, u16, Stay),
    /// Segments of a region; first the [`crate::operations::Operation`] at which they ended.
    Segments(u16, Segments),
    /// Recording was switched off or on; first a [`crate::records::SwitchedTo`].
    Switched(u16, Switched),
    /// The process's use of resources; first a [`crate::records::SampleReason`], then which parts of it were
    /// asked.
    ProcessSample(u16, u16, ProcessSample),
    /// More requests of the next call of MPI: the first one's slot, and how many.
    Completed(u16, u16),
    /// What a receive has got that the next call of MPI completes; first its slot, then flags.
    Received(u16, u16, Received),
    /// A communicator of MPI; first its flags.
    Communicator(u16, Communicator),
    /// A comparison of clocks; first its flags.
    ClockOffset(u16, ClockOffset),
    /// Operations inside others; first their [`crate::operations::Operation`], then that of the outer ones.
    Inside(u16, u16, Inside),
    /// An interval; first its [`crate::records::IntervalKind`], then its
    /// [`crate::records::IntervalOrigin`].
    Interval(u16, u16, Interval),
    /// An execution of an interval; first its flags.
    Execution(u16, Execution),
    /// Executions of an interval, summed up.
    ExecutionSum(ExecutionSum),
    /// Marks that end nothing.
    Unmatched(Unmatched),
    /// Records were lost here (damage, or a missing chunk).
    Gap,
    /// A record of a kind this version does not know.
    Unknown(u8),
}

/// One lane: its chunks in order and its thread's header.
#[derive(Clone, Debug)]
pub struct Lane<'a> {
    /// The lane's number.
    pub number: u32,
    /// State of the lane's newest thread; None if the first chunk is missing.
    pub header: Option<LaneHeader>,
    chunks: Vec<(u32, &'a [u8])>,
}

/// A log over the bytes of a file.
#[derive(Clone, Debug)]
pub struct Log<'a> {
    /// The file's header.
    pub header: FileHeader,
    /// Its lanes, by number.
    pub lanes: Vec<Lane<'a>>,
    /// Forked children that have no log of their own.
    pub children: Vec<BriefChild>,
    damage: Damage,
}

impl<'a> Log<'a> {
    /// Reads the header and finds the lanes. The bytes may be any; they should be 8-byte aligned for speed.
    ///
    /// # Errors
    /// [`LogError`] if the bytes are not a log of this version.
    pub fn parse(bytes: &'a [u8]) -> Result<Log<'a>, LogError> {
        let (header, _) = FileHeader::read_from_prefix(bytes)
            .ok()
            .filter(|_| bytes.len() >= HEADER_BYTES)
            .ok_or(LogError::TooShort { bytes: bytes.len() })?;
        if header.magic != MAGIC {
            return Err(LogError::NotALog);
        }
        if header.endian_mark == ENDIAN_MARK.swap_bytes() {
            return Err(LogError::ByteOrder);
        }
        if header.version != VERSION {
            return Err(LogError::Version { found: header.version });
        }
        if header.chunk_bytes as usize != MAX_CHUNK_BYTES || header.header_bytes as usize != HEADER_BYTES {
            return Err(LogError::Header {
                chunk_bytes: header.chunk_bytes,
                header_bytes: header.header_bytes,
            });
        }
        let mut damage = Damage { header: header.check != header.check_of_facts(), ..Damage::default() };
        let Found { lanes, children, known_bytes } = find_lanes(&bytes[HEADER_BYTES..], &mut damage);
        damage.skipped_bytes += missing_bytes(&header, known_bytes);
        Ok(Log { header, lanes, children, damage })
    }

    /// Damage found in the file's and the chunks' headers; damage inside the chunks is counted by
    /// [`Records::skipped_bytes`].
    pub fn damage(&self) -> Damage {
        self.damage
    }
}

/// Bytes that were handed out to chunks and are not there: the file was cut, or overwritten with zeros, which
/// look like what is reserved and not in use yet. `known` are those of chunks and of what is damaged.
///
/// While the process runs its counter is ahead of the chunks, so only a log that was closed is judged.
fn missing_bytes(header: &FileHeader, known: u64) -> u64 {
    match Ending::from_number(header.ending) {
        Ending::Open => 0,
        _ => (u64::from(header.units) * UNIT_BYTES as u64).saturating_sub(known),
    }
}

/// The content after the header.
struct Found<'a> {
    lanes: Vec<Lane<'a>>,
    children: Vec<BriefChild>,
    /// Bytes of all chunks, by their headers, and of stretches that belong to none and are not empty.
    known_bytes: u64,
}

fn find_lanes<'a>(mut rest: &'a [u8], damage: &mut Damage) -> Found<'a> {
    let mut found: Vec<(u32, u32, &[u8])> = Vec::new();
    let mut brief = Vec::new();
    let mut known_bytes = 0;
    let mut in_damage = false;
    while !rest.is_empty() {
        let header = ChunkHeader::begins(rest);
        let bytes = header.map_or(UNIT_BYTES, |header| header.bytes as usize);
        let (piece, behind) = rest.split_at(bytes.min(rest.len()));
        rest = behind;
        match header {
            Some(header) if header.is_of_children() => {
                brief.extend(children::children_in(piece, &mut damage.skipped_bytes));
            }
            Some(header) => found.push((header.lane, header.sequence, piece)),
            // Reserved but never used, unless the damage is that its header was wiped out. A process may have
            // been killed while it wrote the header: behind it nothing is.
            None if piece.iter().skip(size_of::<ChunkHeader>()).all(|&byte| byte == 0) => {
                in_damage = false;
                continue;
            }
            None => {
                known_bytes += piece.len() as u64;
                damage.chunks += u64::from(!in_damage);
                damage.skipped_bytes += piece.len() as u64;
                in_damage = true;
                continue;
            }
        }
        known_bytes += bytes as u64;
        in_damage = false;
    }
    // A lane takes its chunks from the file's end: they follow each other there.
    found.sort_by_key(|&(lane, ..)| lane);
    let mut lanes: Vec<Lane<'a>> = Vec::new();
    for (number, sequence, chunk) in found {
        match lanes.last_mut().filter(|lane| lane.number == number) {
            Some(lane) => lane.chunks.push((sequence, chunk)),
            None => lanes.push(Lane { number, header: None, chunks: vec![(sequence, chunk)] }),
        }
    }
    for lane in &mut lanes {
        let present = lane.chunks.len() as u64;
        let last = lane.chunks.iter().map(|&(sequence, _)| u64::from(sequence)).max().unwrap_or(0);
        damage.missing_chunks += (last + 1).saturating_sub(present);
        if let Some(&(0, chunk)) = lane.chunks.first() {
            lane.header = chunk
                .get(size_of::<ChunkHeader>()..)
                .and_then(|rest| LaneHeader::read_from_prefix(rest).ok())
                .map(|(header, _)| header);
        }
    }
    Found { lanes, children: brief, known_bytes }
}

impl<'a> Lane<'a> {
    /// The lane's records in order.
    pub fn records(&self) -> Records<'a, '_> {
        Records {
            lane: self,
            next_chunk: 0,
            expected: 0,
            rest: &[],
            behind_use: 0,
            read_bytes: 0,
            skipped_bytes: 0,
            pending_gap: false,
            known: Known::default(),
        }
    }
}

/// Iterator over the records of a lane.
#[derive(Clone, Debug)]
pub struct Records<'a, 'l> {
    lane: &'l Lane<'a>,
    next_chunk: usize,
    expected: u32,
    rest: &'a [u8],
    /// How long `rest` is where the chunk's bytes in use end.
    behind_use: usize,
    read_bytes: u64,
    skipped_bytes: u64,
    pending_gap: bool,
    known: Known,
}

impl Records<'_, '_> {
    /// Bytes so far of records that were read, those included that short records refer to.
    pub fn read_bytes(&self) -> u64 {
        self.read_bytes
    }

    /// Bytes so far that did not read as valid records.
    pub fn skipped_bytes(&self) -> u64 {
        self.skipped_bytes
    }

    fn open_next_chunk(&mut self) -> bool {
        let Some(&(sequence, chunk)) = self.lane.chunks.get(self.next_chunk) else { return false };
        self.next_chunk += 1;
        if sequence != self.expected {
            self.pending_gap = true;
        }
        self.expected = sequence.wrapping_add(1);
        let mut begin = size_of::<ChunkHeader>();
        if sequence == 0 {
            begin += size_of::<LaneHeader>();
        }
        // Records are found by their own checks up to the chunk's end: the `used` mark may be damaged, and
        // after the last record there are only zeros. Zeros before it were records.
        self.rest = chunk.get(begin..).unwrap_or(&[]);
        let used = ChunkHeader::begins(chunk).map_or(0, |header| header.used.min(header.bytes) as usize);
        self.behind_use = chunk.len().saturating_sub(used);
        self.skipped_bytes += used.saturating_sub(chunk.len()) as u64;
        true
    }

    /// Whether all that is left of the lane is a record that its thread never finished, because a kill or
    /// the end of the process stopped it there: `used`, which is stored last, leaves it out.
    fn ends_unfinished(&self) -> bool {
        let (begun, rest) = self.rest.split_at(self.rest.len().min(MAX_RECORD_BYTES));
        self.rest.len() == self.behind_use
            && self.next_chunk == self.lane.chunks.len()
            && rest.iter().all(|&byte| byte == 0)
            && (8..begun.len()).step_by(8).all(|at| valid_record(&begun[at..]).is_none())
    }

    /// Skips to the next position in the chunk that reads as a valid record, or to its end.
    fn resynchronise(&mut self) {
        if self.ends_unfinished() {
            self.rest = &[];
            return;
        }
        let mut skipped = 0;
        while !self.rest.is_empty() {
            let step = self.rest.len().min(8);
            if self.rest.len() > self.behind_use || self.rest[..step].iter().any(|&byte| byte != 0) {
                skipped += step;
            }
            self.rest = &self.rest[step..];
            if valid_record(self.rest).is_some() {
                break;
            }
        }
        if skipped > 0 {
            self.skipped_bytes += skipped as u64;
            self.pending_gap = true;
        }
    }
}

impl<'a> Iterator for Records<'a, '_> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Record<'a>> {
        loop {
            if self.pending_gap {
                self.pending_gap = false;
                return Some(Record::Gap);
            }
            if self.rest.is_empty() {
                if !self.open_next_chunk() {
                    return None;
                }
                continue;
            }
            match valid_record(self.rest) {
                Some((head, body, rest)) => {
                    let bytes = (self.rest.len() - rest.len()) as u64;
                    self.rest = rest;
                    self.read_bytes += bytes;
                    match self.known.take(head, body) {
                        Taken::No => return Some(decode(head, body)),
                        Taken::Kept => {}
                        Taken::Record(record) => return Some(record),
                        Taken::Lost => {
                            self.read_bytes -= bytes;
                            self.skipped_bytes += bytes;
                            self.pending_gap = true;
                        }
                    }
                }
                None => self.resynchronise(),
            }
        }
    }
}

fn valid_record(bytes: &[u8]) -> Option<(Head, &[u8], &[u8])> {
    let (head, _) = Head::read_from_prefix(bytes).ok()?;
    let length = usize::from(head.words) * 8;
    if head.kind == 0 || length < size_of::<Head>() || length > bytes.len() {
        return None;
    }
    let (record, rest) = bytes.split_at(length);
    let mut words =
        record.chunks_exact(8).map(|w| u64::from_le_bytes([w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7]]));
    let first = words.next()? & !CHECK_MASK;
    if check_of(core::iter::once(first).chain(words)) != head.check {
        return None;
    }
    Some((head, &record[size_of::<Head>()..], rest))
}

fn decode(head: Head, body: &[u8]) -> Record<'_> {
    fn fixed<B: Body>(body: &[u8]) -> Option<B> {
        B::read_from_bytes(body).ok()
    }
    let a = head.a;
    let record = match head.kind {
        k if k == Kind::ThreadBegin as u8 => fixed(body).map(|b| Record::ThreadBegin(a, b)),
        k if k == Kind::ThreadEnd as u8 => fixed(body).map(Record::ThreadEnd),
        k if k == Kind::Node as u8 => fixed(body).map(Record::Node),
        k if k == Kind::Sample as u8 => fixed(body).map(|b| Record::Sample(a, b)),
        k if k == Kind::Module as u8 => fixed(body).map(|b| Record::Module(a, b)),
        k if k == Kind::ModuleEnd as u8 => fixed(body).map(Record::ModuleEnd),
        k if k == Kind::SchedStat as u8 => fixed(body).map(Record::SchedStat),
        k if k == Kind::Child as u8 => fixed(body).map(|b| Record::Child(a, b)),
        k if k == Kind::Note as u8 => fixed(body).map(|b| Record::Note(a, b)),
        k if k == Kind::Event as u8 => fixed(body).map(|b| Record::Event(a, head.b, b)),
        k if k == Kind::Release as u8 => fixed(body).map(|b| Record::Release(a, head.b, b)),
        k if k == Kind::Region as u8 => fixed(body).map(|b| Record::Region(a, b)),
        k if k == Kind::Stay as u8 => fixed(body).map(|b| Record::Stay(a, head.b, b)),
        k if k == Kind::Segments as u8 => fixed(body).map(|b| Record::Segments(a, b)),
        k if k == Kind::ProcessSample as u8 => fixed(body).map(|b| Record::ProcessSample(a, head.b, b)),
        k if k == Kind::Switched as u8 => fixed(body).map(|b| Record::Switched(a, b)),
        k if k == Kind::Completed as u8 => fixed::<Completed>(body).map(|_| Record::Completed(a, head.b)),
        k if k == Kind::Received as u8 => fixed(body).map(|b| Record::Received(a, head.b, b)),
        k if k == Kind::Communicator as u8 => fixed(body).map(|b| Record::Communicator(a, b)),
        k if k == Kind::ClockOffset as u8 => fixed(body).map(|b| Record::ClockOffset(a, b)),
        k if k == Kind::Inside as u8 => fixed(body).map(|b| Record::Inside(a, head.b, b)),
        k if k == Kind::Interval as u8 => fixed(body).map(|b| Record::Interval(a, head.b, b)),
        k if k == Kind::Execution as u8 => fixed(body).map(|b| Record::Execution(a, b)),
        k if k == Kind::ExecutionSum as u8 => fixed(body).map(Record::ExecutionSum),
        k if k == Kind::Unmatched as u8 => fixed(body).map(Record::Unmatched),
        k if k == Kind::Sum as u8 => fixed(body).map(|b| Record::Sum(a, head.b, b)),
        k if k == Kind::Text as u8 => TextHead::read_from_prefix(body).ok().and_then(|(text, rest)| {
            Some(Record::Text {
                subject: a,
                part: head.b,
                id: text.id,
                text: rest.get(..text.bytes as usize)?,
            })
        }),
        _ => None,
    };
    record.unwrap_or(Record::Unknown(head.kind))
}
