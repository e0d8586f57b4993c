//! The records: fixed bodies after a common head, each with a check over all its bytes.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

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

/// What a record is.
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
}

/// A record body with a fixed layout.
pub trait Body: FromBytes + IntoBytes + Immutable + KnownLayout + Copy {
    /// The kind that its head names.
    const KIND: Kind;
}

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

/// A context node: one frame below its parent in this lane's tree. Written before it is first used.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Node {
    /// Number in the lane, from 1; 0 is the root.
    pub id: u32,
    /// The parent's number.
    pub parent: u32,
    /// Module number (a new one for each load of a module); 0 = not in a known module.
    pub module: u32,
    /// Spare.
    pub reserved: u32,
    /// The instruction executing (leaf) or the last byte of the call (callers), SVMA; AVMA without a module.
    pub address: u64,
}

/// [`Sample`] flag (`head.a`): the path's upper end could not be found.
pub const SAMPLE_PARTIAL: u16 = 1;
/// [`Sample`] flag: the path was cut at the depth limit.
pub const SAMPLE_TRUNCATED: u16 = 2;
/// [`Sample`] flag: the sample fell into an intercepted operation.
pub const SAMPLE_IN_OPERATION: u16 = 4;

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

/// A module was loaded (or was there at the start). `head.a` = bytes of the build-id in use.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Module {
    /// Number in the process, from 1; a module loaded again gets a new number.
    pub id: u32,
    /// 1 when its unwind tables could be used.
    pub has_unwind_tables: u32,
    /// When it was first seen.
    pub time_ns: u64,
    /// Begin of its address range, AVMA.
    pub start: u64,
    /// End of its address range, AVMA.
    pub end: u64,
    /// AVMA − SVMA.
    pub load_bias: u64,
    /// Size of its file; 0 = unknown.
    pub file_bytes: u64,
    /// Modification time of its file, nanoseconds since 1970; 0 = unknown.
    pub file_modified_ns: u64,
    /// GNU build-id, zero padded.
    pub build_id: [u8; 24],
}

/// A module was unloaded.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ModuleEnd {
    /// When it was found gone.
    pub time_ns: u64,
    /// Number in the process.
    pub id: u32,
    /// Spare.
    pub reserved: u32,
}

/// Head of a text. `head.a` is a [`Subject`], `head.b` the part number of a text longer than one record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct TextHead {
    /// What the subject needs: argument number, module number, thread id.
    pub id: u32,
    /// Bytes of text in this record.
    pub bytes: u32,
}

/// Most bytes of text in one record.
pub const TEXT_BYTES: usize = 255 * 8 - size_of::<Head>() - size_of::<TextHead>();

/// What a text is about.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// Host name.
    Host = 1,
    /// Path of the executable.
    Executable = 2,
    /// Command-line argument number `id`.
    Argument = 3,
    /// Working folder.
    WorkingFolder = 4,
    /// Name of thread `id`.
    ThreadName = 5,
    /// Path of module `id`.
    ModulePath = 6,
    /// `NAME=value` of an environment variable that says how the program runs in parallel.
    Variable = 7,
    /// Program that exec replaced this image with; `id` is the process id.
    ExecTarget = 8,
    /// Nanoseconds, in decimal, that this process's CLOCK_MONOTONIC is ahead of its host's (a time namespace). Without one: 0.
    MonotonicOffset = 9,
}

impl Subject {
    /// The subject with this number.
    pub fn from_number(number: u16) -> Option<Subject> {
        Some(match number {
            1 => Subject::Host,
            2 => Subject::Executable,
            3 => Subject::Argument,
            4 => Subject::WorkingFolder,
            5 => Subject::ThreadName,
            6 => Subject::ModulePath,
            7 => Subject::Variable,
            8 => Subject::ExecTarget,
            9 => Subject::MonotonicOffset,
            _ => return None,
        })
    }
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

/// An intercepted operation that lasted long enough to be told alone.
///
/// `head.a` is an [`crate::operations::Operation`]; `head.b` holds the `EVENT_` bits, and above
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
    /// What was waited for: the address of the lock, condition, futex; the descriptor, process or thread id.
    pub object: u64,
    /// A second object: the mutex of a condition variable, the other descriptor; of a sleep that was not cut short, how long
    /// it was to be, ns.
    pub object2: u64,
    /// Bytes moved.
    pub bytes: u64,
    /// Context node of this lane: who called; 0 = not known.
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
    /// Spare.
    pub reserved: u32,
}

/// Bit of [`Event`]'s `head.b`: it was left by longjmp, an exception or cancellation; the end is when that was noticed.
pub const EVENT_LEFT: u16 = 1;
/// Bit of `head.b` of [`Event`] and [`Sum`]: the upper end of the node's path could not be found.
pub const EVENT_PARTIAL: u16 = 2;
/// Bit of [`Event`]'s `head.b`: no operation, but where one begins; only the CPU clock was read.
pub const EVENT_CLOCK: u16 = 4;
/// Position of the target in `head.b` of [`Event`] and [`Sum`].
pub const EVENT_TARGET_SHIFT: u32 = 8;

/// Operations of one kind that were each too short to be told alone, since the thread's previous [`Sum`] of that kind
/// or its begin. Heads as in [`Event`].
///
/// Every sample, every [`Event`] with a CPU clock and every thread's end is preceded by the sums of what came before
/// it: what a sum tells of lies between two such records.
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
}

/// Something was let go, or somebody woken, while others waited for it. `head.a` is an
/// [`crate::operations::Operation`] of nature Release or Wake, `head.b` may hold [`EVENT_PARTIAL`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Release {
    /// When, CLOCK_MONOTONIC: read before it was let go.
    pub time_ns: u64,
    /// The lock, condition, semaphore or futex.
    pub object: u64,
    /// Time since somebody let this object go before, as far as it was noticed; 0 = never noticed.
    pub held_ns: u64,
    /// For how much held time this record stands: `held_ns`, or more where only some of many short sections are told.
    pub weight_ns: u64,
    /// Since when the thread had it, if it had to wait for it; 0 = not known.
    pub since_ns: u64,
    /// Context node: who let it go.
    pub node: u32,
    /// Context node of a single frame, without callers: where it was acquired; 0 = not known.
    pub site: u32,
}

/// A parallel region: one place from which threads were brought together, on one call path. `head.a` is a
/// [`RegionOrigin`]. Written before the first record that names it, in the lane of the thread that opened it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Region {
    /// Number in the process, from 1.
    pub id: u32,
    /// Context node of this lane: who opened it; 0 = not known.
    pub node: u32,
    /// The region in which it was opened; 0 = none.
    pub parent: u32,
    /// Context node of a single frame: the function that its threads run; 0 = not known.
    pub body: u32,
}

/// How a region was seen.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionOrigin {
    /// By what the program calls of GCC's runtime.
    Gomp = 1,
    /// By what the runtime tells tools.
    Ompt = 2,
}

/// A thread was in a parallel region, long enough to be told alone. `head.a` is the thread's number in the team,
/// `head.b` the number of threads in it, 0 = not known; both saturate.
///
/// What lies before `begin_ns` back to `fork_ns` is the way in, and no part of the stay; the end is that of the
/// thread's own part, before it waits for the others.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Stay {
    /// When the region was opened, CLOCK_MONOTONIC.
    pub fork_ns: u64,
    /// When the thread began its part.
    pub begin_ns: u64,
    /// When it ended it.
    pub end_ns: u64,
    /// [`Region::id`].
    pub region: u32,
    /// Spare.
    pub reserved: u32,
}

/// What a thread did between the synchronisation sites of a region, summed up by the site at which it ended: since the
/// thread's previous record of that site. `head.a` is the [`crate::operations::Operation`] of the site.
///
/// A segment begins where the one before ended its wait, or where the region began.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Segments {
    /// End of the first, CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// End of the last.
    pub until_ns: u64,
    /// Time in the segments: work, whether on a processor or not.
    pub work_ns: u64,
    /// Time in the site.
    pub wait_ns: u64,
    /// Of that, after the last of the team had come, or after the lock was free.
    pub latency_ns: u64,
    /// How often.
    pub executions: u64,
    /// Of these, how often somebody had to wait for a holder.
    pub contended: u32,
    /// [`Region::id`].
    pub region: u32,
    /// Context node of the site; 0 = not known.
    pub node: u32,
    /// Fewest threads that were in the team.
    pub team_min: u16,
    /// Most threads that were in the team.
    pub team_max: u16,
}

/// Sections shorter than this are told by chance, so that one record stands for about as much held time.
pub const RELEASE_WEIGHT_NS: u64 = 200_000;

/// Of sections of locks that are contended at times one in so many is timed, on average, and stands for the others.
pub const RELEASE_TIMED_ONE_IN: u64 = 16;

/// After so much time in short operations of one kind the caller of one is found, and stands for all.
pub const SUM_PATH_NS: u64 = 1_000_000;

/// Something about the measurement worth telling. `head.a` is a [`NoteCode`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Note {
    /// When, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Depends on the code (an errno, a signal number, a thread id).
    pub value: u64,
}

/// What a note says.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteCode {
    /// No CPU timer for a thread; value = errno. Its CPU time is known, its contexts are not.
    TimerRefused = 1,
    /// The program asked for the sampling signal; value = signal number. Both handlers get theirs.
    SignalShared = 2,
    /// A thread was found that no hook had seen; value = its id.
    ThreadFound = 3,
    /// exec failed and the program went on; value = errno.
    ExecFailed = 4,
    /// The environment given to a child lacked the collector; it was put back; value = 1, or not: 0.
    EnvironmentMended = 5,
    /// A thread waited so often that only longer waits were told alone; value = the longest such limit, ns. All others
    /// are in sums.
    Coarsened = 6,
    /// The program was about to install a system call filter: the record ends here, and children are not followed.
    Confined = 7,
    /// The program waits for every signal that samples could come with, and got one: nothing is sampled any more.
    SignalGivenUp = 8,
    /// A runtime of parallel regions tells one tool only, and another one came first; value = 1 if it is on the program's own
    /// symbols, 2 if the runtime was given it: its regions are not in the log. 3: both are told.
    OtherTool = 9,
}

impl NoteCode {
    /// The code with this number.
    pub fn from_number(number: u16) -> Option<NoteCode> {
        Some(match number {
            1 => NoteCode::TimerRefused,
            2 => NoteCode::SignalShared,
            3 => NoteCode::ThreadFound,
            4 => NoteCode::ExecFailed,
            5 => NoteCode::EnvironmentMended,
            6 => NoteCode::Coarsened,
            7 => NoteCode::Confined,
            8 => NoteCode::SignalGivenUp,
            9 => NoteCode::OtherTool,
            _ => return None,
        })
    }
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
    Segments
);

/// Bytes of a record with body `B`, head included.
pub const fn record_bytes<B: Body>() -> usize {
    size_of::<Head>() + size_of::<B>()
}

/// Check over a record's bytes (a multiple of 8) whose own check field reads as zero.
///
/// Any single flipped bit changes it: every step is a bijection of the state, and the final fold keeps
/// 16 of 64 well-mixed bits.
#[inline]
pub fn check_of(words: impl Iterator<Item = u64>) -> u16 {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for word in words {
        state = (state ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        state ^= state >> 32;
    }
    (state >> 16) as u16
}

/// Little-endian position of the check field in a record's first word.
pub const CHECK_MASK: u64 = 0xffff_u64 << 16;
