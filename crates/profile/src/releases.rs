//! The other end of waits: releases of locks, and wakes, while others waited.

mod record;

use crate::by_location::{ByLocation, RowsBuilder};
use crate::{ContextId, LocationId, OperationId};

/// The releases of a run, each location's in the order of their times.
pub type Releases = ByLocation<ReleaseRow>;
/// Makes [`Releases`].
pub type ReleasesBuilder = RowsBuilder<ReleaseRow>;

/// Of sections shorter than this, ns, only some may be here, so that a row stands for about as much held
/// time.
pub const SAMPLED_HELD_NS: u64 = 200_000;

/// The release of a lock, or a wake, while other threads waited for the same object.
///
/// There are rows only for releases while a thread waits, and of very many short sections only for some, in
/// proportion to their length: `weight_ns` is the held time that a row represents.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReleaseRow {
    /// Which thread let it go.
    pub location: LocationId,
    /// The call path that did.
    pub context: ContextId,
    /// Where the thread had acquired it: a path of a single frame. None = not known.
    pub site: Option<ContextId>,
    /// Which function was called.
    pub operation: OperationId,
    /// When, nanoseconds since the run's start; before the object was free.
    pub time_ns: u64,
    /// The lock, condition, semaphore or futex: its address in the process.
    pub object: u64,
    /// How long the section was, where `since_ns` is known; otherwise how long at most, 0 = not known.
    pub held_ns: u64,
    /// The held time that this row represents: `held_ns`, or more where it represents others, too; 0 for a
    /// wake without a lock.
    pub weight_ns: u64,
    /// When the thread acquired the lock, nanoseconds since the run's start. None = not known.
    pub since_ns: Option<u64>,
}

impl ReleaseRow {
    /// Whether it represents others, too, which have no rows.
    pub fn is_sampled(&self) -> bool {
        self.held_ns > 0 && self.held_ns < self.weight_ns
    }
}
