//! The timeline of samples, for questions about time ranges, processors and states.

mod record;

use crate::by_location::{ByLocation, RowsBuilder};
use crate::{ContextId, LocationId};

/// The samples of a run, each location's in the order of their times.
pub type Samples = ByLocation<SampleRow>;
/// Makes [`Samples`].
pub type SamplesBuilder = RowsBuilder<SampleRow>;

/// No time in the run queue is known up to this row.
pub const NOT_READ: u32 = u32::MAX;

/// One sample, or CPU time without a sample: the closing record of a location (its tail), lost records, and
/// samples that found no room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRow {
    /// Which thread.
    pub location: LocationId,
    /// Where in the program; a tail is charged to the context of the location's last sample, or to its
    /// start function if it never had one.
    pub context: ContextId,
    /// When, nanoseconds since the run's start.
    pub time_ns: u64,
    /// CPU time since the location's previous row.
    pub cpu_ns: u64,
    /// Part of `cpu_ns` in user mode.
    pub user_ns: u64,
    /// Part of `cpu_ns` in the kernel.
    pub system_ns: u64,
    /// Part of `cpu_ns` inside Proust's handlers and hooks.
    pub measurement_ns: u64,
    /// Page faults without I/O since the previous row.
    pub minor_faults: u32,
    /// Page faults with I/O since the previous row.
    pub major_faults: u32,
    /// Voluntary context switches since the previous row.
    pub voluntary_switches: u32,
    /// Involuntary context switches since the previous row.
    pub involuntary_switches: u32,
    /// Time in the run queue since the last row that has it, or since the thread's begin, µs; [`NOT_READ`]
    /// where the scheduler was not asked.
    pub queued_us: u32,
    /// Processor number; `u16::MAX` for rows without a sample.
    pub processor: u16,
    /// Whether this row is a tail (or lost, or unrecorded time) and not a sample.
    pub tail: bool,
    /// Whether the path's upper end was not found.
    pub partial: bool,
    /// Whether it fell into an intercepted operation: its context is that of the operation, not of the
    /// computation before it.
    pub in_operation: bool,
    /// Whether it fell into a loop that does nothing but wait for another thread to write memory.
    pub is_busy_wait: bool,
    /// Whether it fell on an instruction that changes memory atomically.
    pub is_atomic: bool,
}

impl Default for SampleRow {
    fn default() -> SampleRow {
        SampleRow {
            location: LocationId(0),
            context: ContextId::PROGRAM,
            time_ns: 0,
            cpu_ns: 0,
            user_ns: 0,
            system_ns: 0,
            measurement_ns: 0,
            minor_faults: 0,
            major_faults: 0,
            voluntary_switches: 0,
            involuntary_switches: 0,
            queued_us: NOT_READ,
            processor: 0,
            tail: false,
            partial: false,
            in_operation: false,
            is_busy_wait: false,
            is_atomic: false,
        }
    }
}
