//! What whole processes had used and held at some instants.

use crate::ProcessId;

/// A process at an instant. Amounts are those since its begin, or that of the image before it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProcessSampleRow {
    /// The process.
    pub process: ProcessId,
    /// When, nanoseconds since the run's start.
    pub time_ns: u64,
    /// `begin`, `end`, `period`, `fork`, `exec`, `pause`, `resume`, `asked`, `mark` or `signal`.
    pub reason: String,
    /// Label of the request for it; empty = none.
    pub label: String,
    /// CPU time of the process.
    pub cpu_ns: u64,
    /// User time.
    pub user_ns: u64,
    /// System time.
    pub system_ns: u64,
    /// Page faults without I/O.
    pub minor_faults: u64,
    /// Page faults with I/O.
    pub major_faults: u64,
    /// Voluntary context switches.
    pub voluntary_switches: u64,
    /// Involuntary context switches.
    pub involuntary_switches: u64,
    /// The most memory that was resident at once, bytes.
    pub peak_resident_bytes: u64,
    /// Amounts that only some samples read; None where they did not.
    pub resident_bytes: Option<u64>,
    /// Bytes that it caused to be read from storage.
    pub read_bytes: Option<u64>,
    /// Bytes that it caused to be written to storage.
    pub written_bytes: Option<u64>,
    /// Bytes that its system calls read, of whatever.
    pub read_by_calls_bytes: Option<u64>,
    /// Bytes that its system calls wrote.
    pub written_by_calls_bytes: Option<u64>,
    /// System calls that read.
    pub read_calls: Option<u64>,
    /// System calls that wrote.
    pub write_calls: Option<u64>,
    /// Its threads.
    pub threads: Option<u32>,
    /// Threads of the whole machine that had or wanted a processor.
    pub runnable: Option<u32>,
    /// Load of the machine over the last minute, in thousandths.
    pub load_milli: Option<u32>,
    /// Frequency of the processor that it was taken on, kHz.
    pub frequency_khz: Option<u32>,
    /// Temperature of the machine, thousandths of a degree Celsius.
    pub temperature_milli: Option<u32>,
}
