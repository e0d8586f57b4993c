//! Parallel regions, and what each thread did in them.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

/// A parallel region: one place from which threads were brought together, on one call path. `head.a` is a
/// [`RegionOrigin`]. Written before the first record that names it, in the lane of the thread that opened it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Region {
    /// Number in the process, from 1.
    pub id: u32,
    /// Context node of this lane: the path that opened it; 0 = not known.
    pub node: u32,
    /// The region in which it was opened; 0 = none.
    pub parent: u32,
    /// Context node of a single frame: the function that its threads run; 0 = not known.
    pub body: u32,
    /// Innermost marked interval of the thread that opened it; 0 = none.
    pub interval: u32,
    /// Spare.
    pub reserved: u32,
}

/// How a region was seen.
#[repr(u16)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionOrigin {
    /// By what the program calls of GCC's runtime.
    Gomp = 1,
    /// By what the runtime reports to tools.
    Ompt = 2,
}

/// A thread was in a parallel region, long enough to be recorded alone. `head.a` is the thread's number in
/// the team, `head.b` the number of threads in it, 0 = not known; both saturate.
///
/// The time from `fork_ns` to `begin_ns` is the way in, and no part of the stay; the end is that of the
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
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
}

/// A thread's time between the synchronisation sites of a region, summed up by the site at which it ended:
/// since the thread's previous record of that site. `head.a` is the [`crate::operations::Operation`] of the
/// site.
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
    /// Of that, after the last of the team had arrived, or after the lock was free.
    pub latency_ns: u64,
    /// How often.
    pub executions: u64,
    /// Of these, how many were only counted: their waits, and the work before them, are estimated from others
    /// of the site.
    pub unmeasured: u64,
    /// Standard error of [`Segments::wait_ns`], and of the work likewise.
    pub wait_error_ns: u64,
    /// Of the executions, how many there are of which it is known which of the team arrived last.
    pub known: u32,
    /// Of those, how often this thread did.
    pub last: u32,
    /// Of the executions, how often the thread had to wait for a holder.
    pub contended: u32,
    /// [`Region::id`].
    pub region: u32,
    /// Context node of the site; 0 = not known.
    pub node: u32,
    /// Fewest threads that were in the team.
    pub team_min: u16,
    /// Most threads that were in the team.
    pub team_max: u16,
    /// Innermost marked interval; 0 = none.
    pub interval: u32,
    /// Of the executions, of how many it is known when the last of the team left.
    pub spreads: u32,
    /// Σ over these of the time from where this thread left until the last one did.
    pub spread_ns: u64,
    /// Iterations of loops that the thread got, as far as the runtime says so.
    pub iterations: u64,
    /// The cost of measuring that was timed itself: recording, begin and end of a region. A part of the work,
    /// mostly.
    pub added_ns: u64,
    /// The time that may lie before and after the clock's readings there.
    pub added_error_ns: u64,
    /// The cost of measuring when the region was over already.
    pub added_behind_ns: u64,
    /// The cost of counting, of executions that were only counted.
    pub trials: Trials,
}

/// The cost of counting a visit to a site: stretches of visits that were counted twice, compared with those
/// before and after them. Sums over stretches.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, FromBytes, IntoBytes, Immutable, KnownLayout)]
pub struct Trials {
    /// Stretches, n.
    pub count: u64,
    /// Visits that were counted twice, Σ v.
    pub visits: u64,
    /// By how much those stretches were longer, Σ t.
    pub more_ns: i64,
    /// Σ v².
    pub visits2: u64,
    /// Σ t².
    pub more_ns2: u64,
    /// Σ v·t.
    pub product: i64,
}
