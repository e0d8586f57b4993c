//! Intercepted operations: recorded alone, in sums, or as releases of what others wait for.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An intercepted operation that lasted long enough to be recorded alone.
///
/// `head.a` is an [`crate::operations::Operation`]; `head.b` has the `EVENT_` bits, and above
/// [`EVENT_TARGET_SHIFT`] a [`crate::operations::Target`]. The events of a thread do not overlap.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Event {
    /// Begin, CLOCK_MONOTONIC.
    pub begin_ns: u64,
    /// End, CLOCK_MONOTONIC.
    pub end_ns: u64,
    /// Thread CPU clock at the end; 0 = not read.
    pub cpu_ns: u64,
    /// The object of the operation: the address of the lock, condition, futex; the descriptor, process or
    /// thread id.
    pub object: u64,
    /// A second object: the mutex of a condition variable, the other descriptor; of a sleep that was not cut
    /// short, how long it was to be, ns.
    pub object2: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Context node of this lane: the caller; 0 = not known.
    pub node: u32,
    /// Error number if it failed; 0 = it did not.
    pub error: u32,
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
    /// Innermost parallel region; 0 = none.
    pub region: u32,
    /// State of the parallel runtime; 0 = none known.
    pub runtime_state: u16,
    /// Processor number at the end.
    pub processor: u16,
    /// Of a call of MPI: one more than the slot of its first request; 0 = it has none.
    pub request: u32,
}

/// Bit of [`Event`]'s `head.b`: it was left by longjmp, an exception or cancellation; the end is when that
/// was noticed.
pub const EVENT_LEFT: u16 = 1;
/// Bit of `head.b` of [`Event`] and [`Sum`]: the upper end of the node's path could not be found.
pub const EVENT_PARTIAL: u16 = 2;
/// Bit of [`Event`]'s `head.b`: no operation, but where one begins; only the CPU clock was read.
pub const EVENT_CLOCK: u16 = 4;
/// Position of the target in `head.b` of [`Event`] and [`Sum`].
pub const EVENT_TARGET_SHIFT: u32 = 8;

/// Operations of one kind that were each too short to be recorded alone, since the thread's previous [`Sum`]
/// of that kind or its begin. Heads as in [`Event`].
///
/// Every sample, every [`Event`] with a CPU clock and every thread's end is preceded by the sums of what was
/// before it: the operations of a sum lie between two such records.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Sum {
    /// Begin of the first, CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// End of the last, CLOCK_MONOTONIC.
    pub until_ns: u64,
    /// Time in them.
    pub ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// How many.
    pub calls: u32,
    /// How many of them failed.
    pub errors: u32,
    /// Context node of one of them, found about once in every [`SUM_PATH_NS`] of time in them; 0 = not known.
    pub node: u32,
    /// Innermost parallel region in which `node` was found; 0 = none.
    pub region: u32,
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
    /// Spare.
    pub reserved: u32,
}

/// Operations inside others of the same thread, whose time it is, since the last such record of this kind:
/// `head.a` is the [`crate::operations::Operation`], `head.b` that of the outer ones. Of those inside each
/// other only the outermost counts. This time is no part of any account.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Inside {
    /// Begin of the first, CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// End of the last, CLOCK_MONOTONIC.
    pub until_ns: u64,
    /// Time in them.
    pub ns: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// The longest.
    pub longest_ns: u64,
    /// How many.
    pub calls: u32,
    /// How many of them failed.
    pub errors: u32,
    /// Context node: the caller of the outer ones; 0 = not known.
    pub node: u32,
    /// Innermost parallel region in which `node` was found; 0 = none.
    pub region: u32,
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
    /// Spare.
    pub reserved: u32,
}

/// A lock was unlocked that others waited for, or a thread was woken. Of locks only some are recorded, each
/// with the probability that `docs/internals/lock-sampling.md` gives it. `head.a` is an
/// [`crate::operations::Operation`] of nature Release or Wake, `head.b` may have [`EVENT_PARTIAL`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Release {
    /// When, CLOCK_MONOTONIC: read before the unlock.
    pub time_ns: u64,
    /// The lock, condition, semaphore or futex.
    pub object: u64,
    /// How long the critical section was, if `since_ns` says when it began; otherwise how long it was at
    /// most, 0 = not known.
    pub held_ns: u64,
    /// How much held time this record represents: `held_ns` over the probability with which it is recorded. 0
    /// for wakes.
    pub weight_ns: u64,
    /// When the thread acquired the lock; 0 = not known.
    pub since_ns: u64,
    /// Context node: the call that unlocked or woke.
    pub node: u32,
    /// Context node of a single frame, without callers: where it was acquired; 0 = not known.
    pub site: u32,
    /// Innermost parallel region in which `node` was found; 0 = none.
    pub region: u32,
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
}

/// Sections shorter than this are randomly selected, so that each record represents about as much held time.
pub const RELEASE_WEIGHT_NS: u64 = 200_000;

/// Of so many acquisitions, at most, one is timed and represents the others.
pub const RELEASE_MOST_ACQUISITIONS: u32 = 64;

/// After so much time in short operations of one kind the caller of one is found, and represents all.
pub const SUM_PATH_NS: u64 = 1_000_000;
