//! The records: fixed bodies after a common head, each with a check over all its bytes.
//!
//! - `threads`: threads and processes
//! - `samples`: samples and their contexts
//! - `process_samples`: a whole process's use of resources
//! - `code`: modules
//! - `texts`: texts and notes
//! - `operations`: operations, sums and releases
//! - `mpi`: messages and communicators
//! - `regions`: parallel regions
//! - `intervals`: intervals that the program marks
//! - `short`: short forms of what repeats

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

mod code;
mod intervals;
mod mpi;
mod operations;
mod process_samples;
mod regions;
mod samples;
mod short;
mod texts;
mod threads;

pub use code::*;
pub use intervals::*;
pub use mpi::*;
pub use operations::*;
pub use process_samples::*;
pub use regions::*;
pub use samples::*;
pub use short::*;
pub use texts::*;
pub use threads::*;

/// First 8 bytes of every record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Head {
    /// [`Kind`] as number; 0 ends the records of a chunk.
    pub kind: u8,
    /// Length of the record in 8-byte words, this head included.
    pub words: u8,
    /// [`check_of`] the record with this field zero.
    pub check: u16,
    /// Meaning depends on the kind.
    pub a: u16,
    /// Meaning depends on the kind.
    pub b: u16,
}

/// The kind of a record.
#[repr(u8)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// [`ThreadBegin`].
    ThreadBegin = 1,
    /// [`ThreadEnd`].
    ThreadEnd = 2,
    /// [`Node`].
    Node = 3,
    /// [`Sample`].
    Sample = 4,
    /// [`Module`].
    Module = 5,
    /// [`ModuleEnd`].
    ModuleEnd = 6,
    /// [`TextHead`] and bytes.
    Text = 7,
    /// [`SchedStat`].
    SchedStat = 8,
    /// [`Child`].
    Child = 9,
    /// [`Note`].
    Note = 10,
    /// [`Event`].
    Event = 11,
    /// [`Sum`].
    Sum = 12,
    /// [`Release`].
    Release = 13,
    /// [`Region`].
    Region = 14,
    /// [`Stay`].
    Stay = 15,
    /// [`Segments`].
    Segments = 16,
    /// [`Switched`].
    Switched = 17,
    /// [`ProcessSample`].
    ProcessSample = 18,
    /// [`Shape`].
    Shape = 19,
    /// [`Base`].
    Base = 20,
    /// [`Short`].
    Short = 21,
    /// [`Completed`].
    Completed = 22,
    /// [`Received`].
    Received = 23,
    /// [`Communicator`].
    Communicator = 24,
    /// [`ClockOffset`].
    ClockOffset = 25,
    /// [`Inside`].
    Inside = 26,
    /// [`Interval`].
    Interval = 30,
    /// [`Execution`].
    Execution = 31,
    /// [`ExecutionSum`].
    ExecutionSum = 32,
    /// [`Unmatched`].
    Unmatched = 33,
}

/// A record body with a fixed layout.
pub trait Body: FromBytes + IntoBytes + Immutable + KnownLayout + Copy {
    /// The kind that its head names.
    const KIND: Kind;
}

macro_rules! bodies {
    ($($body:ident),*) => { $(impl Body for $body { const KIND: Kind = Kind::$body; })* };
}
bodies!(
    ThreadBegin,
    ThreadEnd,
    Node,
    Sample,
    Module,
    ModuleEnd,
    SchedStat,
    Child,
    Note,
    Event,
    Sum,
    Release,
    Region,
    Stay,
    Segments,
    Switched,
    ProcessSample,
    Shape,
    Base,
    Short,
    Completed,
    Received,
    Communicator,
    ClockOffset,
    Inside,
    Interval,
    Execution,
    ExecutionSum,
    Unmatched
);

/// Bytes of a record with body `B`, head included.
pub const fn record_bytes<B: Body>() -> usize {
    size_of::<Head>() + size_of::<B>()
}

/// Most bytes of a record: its head says how many words it has in one byte.
pub const MAX_RECORD_BYTES: usize = u8::MAX as usize * 8;

/// Check over a record's bytes (a multiple of 8) whose own check field reads as zero.
///
/// Any single flipped bit changes it: every step is a bijection of the state, and the final fold keeps
/// 16 of 64 well-mixed bits.
#[inline]
pub fn check_of(words: impl Iterator<Item = u64>) -> u16 {
    folded(words.fold(UNCHECKED, checked_with))
}

/// As [`check_of`], of a short record: without a loop.
#[inline(always)]
pub(crate) fn check_of_short(words: [u64; 3], apart: Option<u64>) -> u16 {
    let state = checked_with(checked_with(checked_with(UNCHECKED, words[0]), words[1]), words[2]);
    folded(match apart {
        Some(word) => checked_with(state, word),
        None => state,
    })
}

/// A check's state before the first word.
const UNCHECKED: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline(always)]
fn checked_with(state: u64, word: u64) -> u64 {
    let state = (state ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
    state ^ state >> 32
}

#[inline(always)]
fn folded(state: u64) -> u16 {
    (state >> 16) as u16
}

/// Where the check field begins in a record's first word.
pub const CHECK_SHIFT: u32 = 16;

/// Little-endian position of the check field in a record's first word.
pub const CHECK_MASK: u64 = 0xffff_u64 << CHECK_SHIFT;
