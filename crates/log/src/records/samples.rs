//! Samples, and the context nodes that they point to.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A context node: one frame below its parent in this lane's tree. Written before it is first used.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Node {
    /// Number in the lane, from 1; 0 is the root.
    pub id: u32,
    /// The parent's number.
    pub parent: u32,
    /// Module number (a new one for each load of a module); 0 = not in a known module; [`INTERPRETED`] = not
    /// machine code.
    pub module: u32,
    /// Spare.
    pub reserved: u32,
    /// The instruction executing (leaf) or the last byte of the call (callers), SVMA; AVMA without a module;
    /// of interpreted code its number in the lane ([`super::Subject::Code`]), shifted left by 32, and the
    /// byte of the code that executes.
    pub address: u64,
}

/// [`Node::module`]: a function of a language that an interpreter executes.
pub const INTERPRETED: u32 = u32::MAX;

/// [`Sample`] flag (`head.a`): the path's upper end could not be found.
pub const SAMPLE_PARTIAL: u16 = 1;
/// [`Sample`] flag: the path was cut at the depth limit.
pub const SAMPLE_TRUNCATED: u16 = 2;
/// [`Sample`] flag: the sample fell into an intercepted operation.
pub const SAMPLE_IN_OPERATION: u16 = 4;
/// [`Sample`] flag: it was taken well past its instant (0.1 ms, or a tick where it waits for that), perhaps
/// delayed by what ran then.
pub const SAMPLE_LATE: u16 = 8;
/// [`Sample`] flag: it was taken at a tick of the kernel's near its instant, and not at that itself.
pub const SAMPLE_AT_TICK: u16 = 16;

/// One location was here, and used this much since its previous record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Sample {
    /// When, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Thread CPU clock. The sample's weight is its advance since the previous record of the thread.
    pub cpu_ns: u64,
    /// Context node of this lane.
    pub node: u32,
    /// Part of the weight that went into the collector itself.
    pub own_ns: u32,
    /// User time since the previous record, microseconds.
    pub user_us: u32,
    /// System time since the previous record, microseconds.
    pub system_us: u32,
    /// Page faults without I/O since the previous record.
    pub minor_faults: u32,
    /// Page faults with I/O since the previous record; saturates.
    pub major_faults: u16,
    /// Voluntary context switches since the previous record; saturates.
    pub voluntary_switches: u16,
    /// Involuntary context switches since the previous record; saturates.
    pub involuntary_switches: u16,
    /// Processor number.
    pub processor: u16,
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
    /// Innermost parallel region; 0 = none.
    pub region: u32,
    /// State of the parallel runtime; 0 = none known.
    pub runtime_state: u16,
    /// Timer expirations merged into this signal; saturates.
    pub overruns: u16,
}
