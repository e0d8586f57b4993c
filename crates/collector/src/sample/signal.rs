//! The sampling signal: which number it has.
//!
//! Its default action must be *ignore*, so that one left pending across an exec does not kill the new program. There are
//! two such signals that a library may take; when the program wants the one in use, sampling moves to the other. Each
//! thread moves by itself: its timer, and its mask, which nobody else can change.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The signals that may be used, the best first.
pub const CANDIDATES: [i32; 2] = [libc::SIGURG, libc::SIGWINCH];

static CURRENT: AtomicUsize = AtomicUsize::new(0);

/// Which candidate new timers use.
#[inline]
pub fn current() -> usize {
    CURRENT.load(Ordering::Acquire)
}

/// Goes over to another candidate.
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

/// Which candidate a signal is.
#[inline]
pub fn candidate(signal: i32) -> Option<usize> {
    CANDIDATES.iter().position(|&candidate| candidate == signal)
}
