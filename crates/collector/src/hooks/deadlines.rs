//! Functions that wait up to a given moment: whether a try may replace them.
//!
//! Of a lock that is free the C library refuses some clocks and times, and does not look at others. A try
//! knows nothing of either: it replaces the function only where clock and time are plainly right, and they
//! are read only where the function reads them, too.

use core::sync::atomic::{AtomicU32, Ordering};

use libc::{clockid_t, timespec};

use crate::real;

/// Since 2.25 reader-writer locks and semaphores read the time before anything else.
const READS_TIME_FIRST: u32 = 25;

/// Whether this is a moment that the function refuses in no case.
///
/// # Safety
/// The time is what the program gave to a function that reads it before it looks at the lock.
pub unsafe fn is_plain(until: *const timespec) -> bool {
    // A lock waits for ever then, and a semaphore faults.
    if until.is_null() {
        return false;
    }
    /// Version of the C library; 0 = not asked yet.
    static VERSION: AtomicU32 = AtomicU32::new(0);
    let mut version = VERSION.load(Ordering::Relaxed);
    if version == 0 {
        version = real::running_minor_version();
        VERSION.store(version, Ordering::Relaxed);
    }
    // SAFETY: the caller's promise, and the version: the function reads the same word now.
    version < READS_TIME_FIRST
        || (0..1_000_000_000).contains(&unsafe { (&raw const (*until).tv_nsec).read_volatile() })
}

/// As [`is_plain`], of a given clock.
///
/// # Safety
/// As there.
pub unsafe fn is_plain_by(clock: clockid_t, until: *const timespec) -> bool {
    // SAFETY: the caller's promise.
    is_plain_clock(clock) && unsafe { is_plain(until) }
}

/// Whether this is one of the two clocks that every such function takes.
pub fn is_plain_clock(clock: clockid_t) -> bool {
    matches!(clock, libc::CLOCK_REALTIME | libc::CLOCK_MONOTONIC)
}
