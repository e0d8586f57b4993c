//! What a whole process has used and occupies at an instant.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// What the process has used so far, and what it occupies now. `head.a` is a [`SampleReason`]; bit
/// [`PROCESS_SAMPLE_ASKED_PROC`] of `head.b` says whether `/proc` was asked: without it only what `getrusage`
/// returns is there.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ProcessSample {
    /// When, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// CPU clock of the process.
    pub cpu_ns: u64,
    /// User time, microseconds.
    pub user_us: u64,
    /// System time, microseconds.
    pub system_us: u64,
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
    /// Memory that is resident now, bytes.
    pub resident_bytes: u64,
    /// Bytes that it caused to be read from storage.
    pub read_bytes: u64,
    /// Bytes that it caused to be written to storage.
    pub written_bytes: u64,
    /// Bytes that its system calls read, of whatever.
    pub read_by_calls_bytes: u64,
    /// Bytes that its system calls wrote.
    pub written_by_calls_bytes: u64,
    /// System calls that read.
    pub read_calls: u64,
    /// System calls that wrote.
    pub write_calls: u64,
    /// Its threads.
    pub threads: u32,
    /// Threads of the whole machine that had or wanted a processor.
    pub runnable: u32,
    /// Label given with the request for it: number of the [`super::Subject::SampleLabel`] before it; 0 =
    /// none.
    pub label: u32,
    /// How long taking it took, ns.
    pub own_ns: u32,
    /// Load of the machine over the last minute, in thousandths.
    pub load_milli: u32,
    /// Frequency of the processor that took it, kHz; 0 = not known.
    pub frequency_khz: u32,
    /// Temperature of the machine's first zone, thousandths of a degree Celsius; 0 = not known.
    pub temperature_milli: u32,
    /// Spare.
    pub reserved: u32,
}

/// See [`ProcessSample`].
pub const PROCESS_SAMPLE_ASKED_PROC: u16 = 1;

/// Why a process was sampled.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleReason {
    /// Its measurement begins.
    Begin = 1,
    /// It ends.
    End = 2,
    /// A second of its life has passed, or more if nothing of it ran.
    Period = 3,
    /// It forks.
    Fork = 4,
    /// It is about to load another image.
    Exec = 5,
    /// Recording was switched off.
    Pause = 6,
    /// Recording was switched on again.
    Resume = 7,
    /// `proust sample`.
    Asked = 8,
    /// A mark in the program.
    Mark = 9,
    /// The signal that asks for one.
    Signal = 10,
}

impl SampleReason {
    /// All reasons.
    pub const ALL: [SampleReason; 10] = [
        SampleReason::Begin,
        SampleReason::End,
        SampleReason::Period,
        SampleReason::Fork,
        SampleReason::Exec,
        SampleReason::Pause,
        SampleReason::Resume,
        SampleReason::Asked,
        SampleReason::Mark,
        SampleReason::Signal,
    ];

    /// The reason with this number.
    pub fn from_number(number: u16) -> Option<SampleReason> {
        SampleReason::ALL.into_iter().find(|&reason| reason as u16 == number)
    }

    /// Its identifier.
    pub fn id(self) -> &'static str {
        match self {
            SampleReason::Begin => "begin",
            SampleReason::End => "end",
            SampleReason::Period => "period",
            SampleReason::Fork => "fork",
            SampleReason::Exec => "exec",
            SampleReason::Pause => "pause",
            SampleReason::Resume => "resume",
            SampleReason::Asked => "asked",
            SampleReason::Mark => "mark",
            SampleReason::Signal => "signal",
        }
    }
}
