//! Threads and processes: when they began and ended, and what they used.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A thread begins in this lane. `head.a` is a [`ThreadOrigin`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ThreadBegin {
    /// Begin, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Thread CPU clock at the begin.
    pub cpu_ns: u64,
    /// Kernel thread id.
    pub tid: u32,
    /// Kernel thread id of the creating thread; 0 = unknown.
    pub parent_tid: u32,
    /// Context node of the thread's start function in this lane; 0 = unknown.
    pub start_node: u32,
    /// Run-queue delay the thread had collected before, microseconds.
    pub queued_us: u32,
}

/// How a thread came under measurement (`head.a` of [`ThreadBegin`]).
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThreadOrigin {
    /// The thread in which the process's measurement began.
    First = 1,
    /// Created through a hooked function; measured from its first instruction.
    Created = 2,
    /// Found running; its time before is unknown.
    Found = 3,
}

/// A thread ends. Deltas are since the thread's newest sample; totals are of the whole thread.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ThreadEnd {
    /// End, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Thread CPU clock at the end.
    pub cpu_ns: u64,
    /// Time spent in the collector's handlers and hooks, whole thread.
    pub own_ns: u64,
    /// Timer expirations merged into one signal, whole thread.
    pub overruns: u64,
    /// Samples that found no room in the log.
    pub unrecorded_samples: u64,
    /// CPU time of those samples.
    pub unrecorded_cpu_ns: u64,
    /// User time since the newest sample, microseconds.
    pub user_us: u32,
    /// System time since the newest sample, microseconds.
    pub system_us: u32,
    /// Page faults without I/O since the newest sample.
    pub minor_faults: u32,
    /// Page faults with I/O since the newest sample.
    pub major_faults: u32,
    /// Voluntary context switches since the newest sample.
    pub voluntary_switches: u32,
    /// Involuntary context switches since the newest sample.
    pub involuntary_switches: u32,
    /// Kernel thread id.
    pub tid: u32,
    /// 1 when the numbers were written by another thread at the process's end.
    pub closed_by_other: u32,
}

/// The scheduler's counts for this lane's thread since the thread's creation (`/proc/…/schedstat`).
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct SchedStat {
    /// When it was read, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Time on a processor.
    pub run_ns: u64,
    /// Time runnable but waiting for a processor (run-queue delay).
    pub queued_ns: u64,
}

/// A child process was started by this lane's thread. `head.a` is a [`Birth`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Child {
    /// When, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Its process id.
    pub pid: u32,
    /// Spare.
    pub reserved: u32,
}

/// How a child process was started.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Birth {
    /// `fork` and relatives.
    Fork = 1,
    /// `posix_spawn` and relatives.
    Spawn = 2,
}

/// Recording was switched off or on: where a thread of the process, or the process, stood then. `head.a` is a
/// [`SwitchedTo`].
///
/// The thread that notices the command first writes one for each thread and one for the process, into its own
/// lane. Between the command and that the threads kept running; what they used of their clocks meanwhile is
/// taken off again as far as it is known.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Switched {
    /// When, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// CPU clock of the thread, or of the process, at that time.
    pub cpu_ns: u64,
    /// When the process noticed.
    pub noticed_ns: u64,
    /// Kernel thread id; 0 = the process.
    pub tid: u32,
    /// Spare.
    pub reserved: u32,
}

/// The state that recording was switched to.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SwitchedTo {
    /// Nothing is recorded from here on.
    Off = 0,
    /// Everything is recorded from here on.
    On = 1,
    /// The lane's thread has noticed: its sums from here on belong to a time in which recording is off. Of
    /// the record's fields only `noticed_ns` counts.
    LaneOff = 2,
    /// As [`SwitchedTo::LaneOff`], recording being on again.
    LaneOn = 3,
}

impl SwitchedTo {
    /// The state with this number.
    pub fn from_number(number: u16) -> Option<SwitchedTo> {
        Some(match number {
            0 => SwitchedTo::Off,
            1 => SwitchedTo::On,
            2 => SwitchedTo::LaneOff,
            3 => SwitchedTo::LaneOn,
            _ => return None,
        })
    }
}
