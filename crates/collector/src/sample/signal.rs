//! The sampling signal: which number it has.
//!
//! Its default action should be *ignore*, so that one left pending across an exec does not kill the new
//! program: SIGURG. When the program uses that one itself, sampling moves to a real-time signal. Those queue,
//! so that none of the program's is lost behind a sample's: two signals of one standard number that wait at
//! the same time become one. No timer sends a real-time signal while the program calls exec.
//!
//! Each thread moves by itself: its timer, and its mask, which no other thread can change.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The signals that may be used, the best first.
pub const CANDIDATES: [i32; 2] = [libc::SIGURG, LAST];

/// The last real-time signal, the one that is least often used.
const LAST: i32 = 64;

/// The candidate that takes over when the program uses the first one.
pub const FALLBACK: usize = 1;

static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// Which candidate new timers use.
#[inline]
pub fn current() -> usize {
    CURRENT.load(Ordering::Acquire)
}

/// Moves to another candidate.
pub fn set_current(candidate: usize) {
    CURRENT.store(candidate, Ordering::Release);
}

/// The number of a candidate.
#[inline]
pub fn number(candidate: usize) -> i32 {
    CANDIDATES.get(candidate).copied().unwrap_or(CANDIDATES[0])
}

/// A candidate's bit in a kernel signal mask.
#[inline]
pub fn bit(candidate: usize) -> u64 {
    1 << (number(candidate) - 1)
}

/// Whether a candidate that is pending would end a program without a handler for it.
#[inline]
pub fn is_deadly(candidate: usize) -> bool {
    candidate == FALLBACK
}

/// Which candidate a signal is.
#[inline]
pub fn candidate(signal: i32) -> Option<usize> {
    CANDIDATES.iter().position(|&candidate| candidate == signal)
}
