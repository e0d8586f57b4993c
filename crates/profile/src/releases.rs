//! The other end of waits: who let a lock go, or woke somebody, while others waited.

use crate::{ContextId, LocationId, OperationId};

/// Of sections shorter than this, ns, only some may be here, so that a row stands for about as much held
/// time.
pub const SAMPLED_HELD_NS: u64 = 200_000;

/// A lock that was let go, or somebody who was woken, while other threads waited for the same object.
///
/// Only what happens while somebody waits is here, and of very many short sections only some, in proportion
/// to their length: `weight_ns` says for how much held time a row stands.
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
    /// For how much held time this row stands: `held_ns`, or more where it stands for others, too; 0 for
    /// those who wake and hold nothing.
    pub weight_ns: u64,
    /// When the thread acquired the lock, nanoseconds since the run's start. None = not known.
    pub since_ns: Option<u64>,
}

impl ReleaseRow {
    /// Whether it stands for others, too, of which nothing is told.
    pub fn is_sampled(&self) -> bool {
        self.held_ns > 0 && self.held_ns < self.weight_ns
    }
}
