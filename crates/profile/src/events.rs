//! The intercepted operations: waits and I/O, with their exact times.

mod record;

use serde::{Deserialize, Serialize};

use crate::by_location::{ByLocation, RowsBuilder};
use crate::{ContextId, LocationId, OperationId};

/// The operations of a run, each location's in the order of their ends.
pub type Events = ByLocation<EventRow>;
/// Makes [`Events`].
pub type EventsBuilder = RowsBuilder<EventRow>;

/// The target of an operation's descriptor. Positions in [`Target::ALL`] are its numbers in tables.
#[repr(u8)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Target {
    /// No descriptor, or its target is not known.
    #[default]
    None,
    /// A file or folder, a block device.
    File,
    /// A pipe or FIFO.
    Pipe,
    /// A socket.
    Socket,
    /// A terminal.
    Terminal,
    /// Another character device.
    Device,
    /// A kernel object without a file: eventfd, timerfd, signalfd, inotify, epoll.
    Event,
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 7] = [
        Target::None,
        Target::File,
        Target::Pipe,
        Target::Socket,
        Target::Terminal,
        Target::Device,
        Target::Event,
    ];

    /// Identifier in JSON.
    pub fn id(self) -> &'static str {
        match self {
            Target::None => "none",
            Target::File => "file",
            Target::Pipe => "pipe",
            Target::Socket => "socket",
            Target::Terminal => "terminal",
            Target::Device => "device",
            Target::Event => "event",
        }
    }

    /// The target with this identifier.
    pub fn from_id(id: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.id() == id)
    }

    /// The target with this number.
    pub fn from_number(number: u32) -> Option<Target> {
        Target::ALL.get(number as usize).copied()
    }
}

/// One operation that was recorded by itself, or the sum of short ones of one kind.
///
/// The single operations of a location do not overlap. Those of a sum lie somewhere between its begin and its
/// end, `time_ns` of it in all, and in no single one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventRow {
    /// Which thread.
    pub location: LocationId,
    /// The caller; of a sum: the caller of one of them, for all.
    pub context: ContextId,
    /// Which function was called.
    pub operation: OperationId,
    /// The target of its descriptor.
    pub target: Target,
    /// Begin, nanoseconds since the run's start; of a sum: of the first.
    pub begin_ns: u64,
    /// End, nanoseconds since the run's start; of a sum: of the last.
    pub end_ns: u64,
    /// Time in the operation: from begin to end, of a sum less.
    pub time_ns: u64,
    /// How many operations these are: 1 but for sums.
    pub calls: u32,
    /// How many of them failed.
    pub errors: u32,
    /// Bytes moved.
    pub bytes: u64,
    /// CPU time of the location from its begin to the end of this operation, where it was read.
    pub cpu_clock_ns: Option<u64>,
    /// What was waited for or used: the address of a lock, a descriptor, the id of a process or thread; 0 =
    /// nothing.
    pub object: u64,
    /// A second object: the mutex of a condition variable, the other descriptor; 0 = none.
    pub object2: u64,
    /// Whether it is a sum of short operations.
    pub summed: bool,
    /// Whether it was left by longjmp, an exception or cancellation: the end is when that was noticed.
    pub left: bool,
    /// Whether the location was still in it when its record ended.
    pub open: bool,
}

/// Operations inside others of the same thread, by kind: their time is the outer ones', and on no account of
/// its own. Those inside each other are counted once, as the outermost of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct InsideRow {
    /// Which thread.
    pub location: LocationId,
    /// The caller of the outer ones, as far as it is known.
    pub context: ContextId,
    /// The operation that they were inside of.
    pub outer: OperationId,
    /// Which function was called.
    pub operation: OperationId,
    /// Begin of the first, nanoseconds since the run's start.
    pub begin_ns: u64,
    /// End of the last.
    pub end_ns: u64,
    /// Time in them; at most what lies between.
    pub time_ns: u64,
    /// The longest of them; at most `time_ns`.
    pub longest_ns: u64,
    /// How many.
    pub calls: u32,
    /// How many of them failed.
    pub errors: u32,
    /// Bytes moved.
    pub bytes: u64,
}
