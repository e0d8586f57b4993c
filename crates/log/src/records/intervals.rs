//! Intervals that the program marks, and when each thread executed them.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// An interval of one thread: a name and a number that the program gave it, inside of another interval, on
/// one call path. `head.a` is an [`IntervalKind`], `head.b` an [`IntervalOrigin`]. Written before the first
/// record that names it, in the lane of the thread that began it; its name, and its file where the program
/// gave one, are texts with its number before it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Interval {
    /// Number in the process, from 1.
    pub id: u32,
    /// The interval of the same thread in which it was begun; 0 = none.
    pub parent: u32,
    /// Context node of this lane: the call that began it; 0 = not known.
    pub node: u32,
    /// Parallel region in which it was begun; 0 = none.
    pub region: u32,
    /// The program's own number for it; [`NO_NUMBER`] = it gave none.
    pub number: i64,
    /// Line of the call that began it, in the file that the program named; 0 = not known.
    pub line: u32,
    /// Of a replicated interval: how many processors execute it, each the same; 0 = all ranks of the run.
    pub degree: u32,
}

/// [`Interval::number`] of an interval without one.
pub const NO_NUMBER: i64 = i64::MIN;

/// Most intervals that a thread may be in at once. Of those begun deeper only the number is recorded
/// ([`super::NoteCode::IntervalsTooDeep`]); their time is the innermost recorded one's.
pub const MOST_OPEN_INTERVALS: usize = 128;

/// Most intervals of a thread that differ in name, number, line or call path. Of executions of others only
/// the number is recorded ([`super::NoteCode::IntervalsTooMany`]).
pub const MOST_INTERVALS: usize = 8192;

/// How the program describes the work in an interval.
#[repr(u16)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalKind {
    /// Nothing.
    #[default]
    Plain = 0,
    /// It is distributed over the processors.
    Parallel = 1,
    /// Several processors each do the same.
    Replicated = 2,
}

impl IntervalKind {
    /// The kind with this number; unknown ones say nothing.
    pub fn from_number(number: u16) -> IntervalKind {
        match number {
            1 => IntervalKind::Parallel,
            2 => IntervalKind::Replicated,
            _ => IntervalKind::Plain,
        }
    }
}

/// By which interface the program marks an interval.
#[repr(u16)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum IntervalOrigin {
    /// Proust's own.
    #[default]
    Proust = 1,
    /// `MPI_Pcontrol`, or a message of a rank to itself.
    Mpi = 2,
    /// `omp_control_tool`.
    OpenMp = 3,
    /// ITT.
    Itt = 4,
    /// NVTX.
    Nvtx = 5,
    /// Kokkos Tools.
    Kokkos = 6,
}

/// A thread executed an interval, once. `head.a` has the `EXECUTION_` bits.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Execution {
    /// Begin, CLOCK_MONOTONIC.
    pub begin_ns: u64,
    /// End, CLOCK_MONOTONIC.
    pub end_ns: u64,
    /// Iterations that the program counted in it.
    pub iterations: u64,
    /// [`Interval::id`].
    pub interval: u32,
    /// Spare.
    pub reserved: u32,
}

/// [`Execution`] flag: no mark ended it, but the mark that ended an interval around it.
pub const EXECUTION_CROSSED: u16 = 1;
/// [`Execution`] flag: no mark ended it; it lasted until the end of the thread or of the process image.
pub const EXECUTION_OPEN: u16 = 2;
/// [`Execution`] flag: its thread's process forked in it, and this one is the child.
pub const EXECUTION_INHERITED: u16 = 4;

/// Executions this long are recorded alone however many there are, ns.
pub const LONG_EXECUTION_NS: u64 = 200_000;

/// Executions of an interval by a thread that marks very often, which were not recorded alone: since its
/// previous record of that interval. With those that were, all are there.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct ExecutionSum {
    /// Begin of the first, CLOCK_MONOTONIC.
    pub since_ns: u64,
    /// End of the last.
    pub until_ns: u64,
    /// Time in them.
    pub ns: u64,
    /// The shortest.
    pub min_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// How many.
    pub executions: u64,
    /// Iterations that the program counted in them.
    pub iterations: u64,
    /// [`Interval::id`].
    pub interval: u32,
    /// Spare.
    pub reserved: u32,
}

/// Marks that end nothing, since the thread's previous such record. `head.a` is 0. The name of what the
/// program wanted to end, and its file, are texts with [`Unmatched::id`] before it. A thread's first sixteen
/// different ones are recorded apart; all others are in a record with no texts, and 0 for `id`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Unmatched {
    /// The first of them, CLOCK_MONOTONIC.
    pub time_ns: u64,
    /// The program's own number.
    pub number: i64,
    /// Number of the texts, from the same row as [`Interval::id`]; 0 = others than those recorded apart.
    pub id: u32,
    /// Context node of this lane: the call; 0 = not known.
    pub node: u32,
    /// Line of the call, in the file that the program named; 0 = not known.
    pub line: u32,
    /// How often.
    pub count: u32,
}
