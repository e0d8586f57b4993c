//! When a team's newest region was opened, and when the one before it was over.
//!
//! The opener writes these in each region. A thread that was given them with its work does not read them.

use crate::sync::{AtomicU64, Ordering};

/// Times of a team's regions.
#[derive(Debug, Default)]
#[repr(align(64))]
pub struct Times {
    fork_ns: AtomicU64,
    before_fork_ns: AtomicU64,
    before_end_ns: AtomicU64,
}

impl Times {
    /// The opener opens a region.
    #[inline]
    pub fn open(&self, fork_ns: u64) {
        self.fork_ns.store(fork_ns, Ordering::Relaxed);
    }

    /// The opener continues behind the region: it is the one before the next.
    #[inline]
    pub fn close(&self, end_ns: u64) {
        self.before_fork_ns.store(self.fork_ns(), Ordering::Relaxed);
        self.before_end_ns.store(end_ns, Ordering::Release);
    }

    /// When the newest region was opened.
    #[inline]
    pub fn fork_ns(&self) -> u64 {
        self.fork_ns.load(Ordering::Relaxed)
    }

    /// When the region before it was opened; of a team whose newest region is over, that one.
    #[inline]
    pub fn before_fork_ns(&self) -> u64 {
        self.before_fork_ns.load(Ordering::Relaxed)
    }

    /// When that one was over.
    #[inline]
    pub fn before_end_ns(&self) -> u64 {
        self.before_end_ns.load(Ordering::Relaxed)
    }

    /// When the region was over at whose end a thread began to wait at `docked_ns`; None if it is not, or if
    /// two others were since.
    #[inline]
    pub fn end_of(&self, docked_ns: u64) -> Option<u64> {
        // First: whoever finds an end finds the begin that belongs to it, or a later one.
        let end_ns = self.before_end_ns.load(Ordering::Acquire);
        (self.before_fork_ns()..=end_ns).contains(&docked_ns).then_some(end_ns)
    }
}

/// When the region was over at whose end a thread waited from `docked_ns` on: as an opener wrote into its
/// header (`released_ns`), or as it was given with work of the same team (`given_ns`: when the region before
/// that one was over), or as the team knows it. None if nothing says so.
#[inline]
pub fn end_of_wait(
    docked_ns: u64,
    released_ns: Option<u64>,
    given_ns: Option<u64>,
    docked_in: Option<&Times>,
) -> Option<u64> {
    // A thread that is not in every region of its team is notified of the end of those that it is in.
    let given_ns = given_ns.filter(|&end_ns| docked_ns <= end_ns);
    released_ns.or(given_ns).or_else(|| docked_in?.end_of(docked_ns))
}
