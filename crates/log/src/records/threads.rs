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
    /// Found running; what it did before is unknown.
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

/// What the scheduler says of this lane's thread since the thread's creation (`/proc/…/schedstat`).
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
