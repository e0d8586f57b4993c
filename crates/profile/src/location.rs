//! Which thread of which process: where time passes.

use crate::{Ns, ProcessId};

/// One process image: a process that calls exec is two entries with one pid.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Process {
    /// Operating-system process id.
    pub pid: u32,
    /// Parent's process id.
    pub parent_pid: u32,
    /// MPI world rank, where it has one.
    pub rank: Option<u32>,
    /// Host it ran on.
    pub host: String,
    /// File name of its executable.
    pub name: String,
    /// Path of its executable.
    pub executable: String,
    /// Command-line arguments, the program's name included.
    pub arguments: Vec<String>,
    /// Variables that say how it runs in parallel, as `NAME=value`.
    pub environment: Vec<String>,
    /// `image` or `fork`: how its measurement began.
    pub origin: String,
    /// `exit`, `immediate-exit`, `exec`, `confined` or `stopped` (both continued without a record) or `open`
    /// (killed, crashed, or still running).
    pub ending: String,
    /// Begin, since the run's start.
    pub start: Ns,
    /// Last thing known of it, since the run's start.
    pub end: Ns,
    /// CPU time of the whole process while it was measured, by its own clock; None while `open`.
    pub clock_cpu: Option<Ns>,
    /// Processors it may run on, a quota being rounded up.
    pub available_processors: u32,
    /// Which these are, as ranges of numbers (`0-3,8`); empty = not known.
    pub processors: String,
    /// Processor time that its control group may use in any stretch of time, in thousandths of a processor;
    /// None = all.
    pub quota_milli: Option<u32>,
    /// The most memory that it had resident at once, bytes, or at most so much: an image that exec loaded
    /// inherits the peak of the one before it. None = not read.
    pub peak_resident_bytes: Option<u64>,
}

/// One thread of one process image.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Location {
    /// The process.
    pub process: ProcessId,
    /// Kernel thread id.
    pub tid: u32,
    /// Thread name.
    pub name: String,
    /// Begin, since the run's start.
    pub start: Ns,
    /// End, or the last thing known of it, since the run's start.
    pub end: Ns,
    /// CPU time by the thread's CPU clock; the samples' weights sum to this.
    pub cpu: Ns,
    /// How long it was runnable without a processor (run-queue delay), as far as it was read.
    pub queued: Ns,
    /// Time inside Proust's handlers and hooks; part of `cpu`.
    pub measurement: Ns,
    /// Samples taken.
    pub samples: u64,
    /// Service threads of a runtime are shown, not charged.
    pub service: bool,
    /// Processors that it was bound to at its end, as ranges of numbers such as `0-3,8`; empty = those of its
    /// process.
    pub processors: String,
}

impl Location {
    /// From begin to end.
    pub fn wall(&self) -> Ns {
        self.end - self.start
    }
}
