//! Texts, and notes about the measurement.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::Head;

/// Head of a text. `head.a` is a [`Subject`], `head.b` the part number of a text longer than one record.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct TextHead {
    /// A number that depends on the subject: argument number, module number, thread id.
    pub id: u32,
    /// Bytes of text in this record.
    pub bytes: u32,
}

/// Most bytes of text in one record.
pub const TEXT_BYTES: usize = 255 * 8 - size_of::<Head>() - size_of::<TextHead>();

/// The subject of a text.
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
    /// Nanoseconds, in decimal, that this process's CLOCK_MONOTONIC is ahead of its host's (a time
    /// namespace). Without one: 0.
    MonotonicOffset = 9,
    /// Processors that this process may run on when it begins, as ranges of numbers: `0-3,8`.
    Processors = 10,
    /// The limit of its control group on them, in thousandths of a processor, in decimal. Without one: all.
    ProcessorQuota = 11,
    /// Path by which the executable was started, where that is a symbolic link to it of another name.
    StartedAs = 12,
    /// Label of a process sample that was asked for; `id` is its number.
    SampleLabel = 13,
    /// World ranks of the members of communicator `id`, in its order: 32-bit numbers. Written by its first
    /// member.
    Members = 14,
    /// Processors that thread `id` was bound to when it, or its process, ended, as ranges. Without one: those
    /// that the process began with.
    ThreadProcessors = 15,
    /// Code object `id` of an interpreter, a number in the lane ([`crate::code`]).
    Code = 16,
    /// Name of interval `id`.
    IntervalName = 30,
    /// Source file in which interval `id` is begun, as the program names it.
    IntervalFile = 31,
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
            10 => Subject::Processors,
            11 => Subject::ProcessorQuota,
            12 => Subject::StartedAs,
            13 => Subject::SampleLabel,
            14 => Subject::Members,
            15 => Subject::ThreadProcessors,
            16 => Subject::Code,
            30 => Subject::IntervalName,
            31 => Subject::IntervalFile,
            _ => return None,
        })
    }
}

/// Something about the measurement worth reporting. `head.a` is a [`NoteCode`].
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Note {
    /// When, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// Depends on the code (an errno, a signal number, a thread id).
    pub value: u64,
}

/// The content of a note.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteCode {
    /// No CPU timer for a thread; value = errno. Its CPU time is known, its contexts are not.
    TimerRefused = 1,
    /// The program asked for the sampling signal; value = signal number. Both handlers get theirs.
    SignalShared = 2,
    /// A thread was found that no hook had seen; value = its id.
    ThreadFound = 3,
    /// exec failed and the program continued; value = errno.
    ExecFailed = 4,
    /// The environment given to a child lacked the collector; it was put back; value = 1, or not: 0.
    EnvironmentMended = 5,
    /// A thread waited so often that only longer waits were recorded alone; value = the longest such limit,
    /// ns. All others are in sums.
    Coarsened = 6,
    /// The program was about to install a system call filter: the record ends here, and children are not
    /// followed.
    Confined = 7,
    /// A thread of the program blocks both signals that samples could be taken with: it is not sampled
    /// meanwhile.
    SignalGivenUp = 8,
    /// A runtime of parallel regions reports to one tool only, and another one was first; value = 1 if it is
    /// on the program's own symbols, 2 if the runtime was given it: its regions are not in the log. 3: both
    /// get the events.
    OtherTool = 9,
    /// A thread's alternate signal stack has no room for a sample; value = its bytes. It is not sampled
    /// meanwhile.
    SmallSignalStack = 10,
    /// The program put a handler of its own in the place of the sampling handler, by a system call that no
    /// hook saw; value = signal number. Nothing is sampled since.
    HandlerReplaced = 11,
    /// Value = 1: which runtime of parallel regions a caller would have without the collector is not certain;
    /// its calls are passed on, and its regions are not in the log. 2: none was loaded although the program
    /// found the names of one, and one was loaded for it.
    RuntimeInDoubt = 12,
    /// Samples were dropped since the kernel's frame filled the alternate signal stacks of their threads: the
    /// program uses registers that a process has to ask for; value = how many.
    FilledSignalStack = 13,
    /// So many requests of MPI could not be followed from their start to their end, since too many were
    /// under way: their messages have no end.
    UntrackedRequests = 14,
    /// Marks that were not followed; value = how many. They came from a handler of the program that had
    /// interrupted the collector, or found no memory.
    MarksMissed = 15,
    /// The program uses the signal by which samples are asked for, or pauses; value = its number. It gets it,
    /// and the recording does not.
    RequestSignalUsed = 16,
    /// Executions of intervals that began inside [`super::MOST_OPEN_INTERVALS`] others of their thread; value
    /// = how many. They are not in the log.
    IntervalsTooDeep = 17,
    /// Executions of intervals beyond the first [`super::MOST_INTERVALS`] different ones of their thread;
    /// value = how many. They are not in the log.
    IntervalsTooMany = 18,
    /// Most of the log's size is used: from now on the thread's short calls of MPI are summed, and none is
    /// matched; value = the begin of the first of them, CLOCK_MONOTONIC.
    CallsSummed = 19,
    /// A program was started that cannot load the collector, and was started without it; value = 1 where it
    /// is for another machine, 2 where its dynamic linker is not the GNU C library's, 3 where its root does
    /// not have the collector's file.
    Unloadable = 20,
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
            10 => NoteCode::SmallSignalStack,
            11 => NoteCode::HandlerReplaced,
            12 => NoteCode::RuntimeInDoubt,
            13 => NoteCode::FilledSignalStack,
            14 => NoteCode::UntrackedRequests,
            15 => NoteCode::MarksMissed,
            16 => NoteCode::RequestSignalUsed,
            17 => NoteCode::IntervalsTooDeep,
            18 => NoteCode::IntervalsTooMany,
            19 => NoteCode::CallsSummed,
            20 => NoteCode::Unloadable,
            _ => return None,
        })
    }
}
