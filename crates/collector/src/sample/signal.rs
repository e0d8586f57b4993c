//! The sampling signal: which number it has.
//!
//! Its default action should be *ignore*, so that one left pending across an exec does not kill the new program. There are
//! two such signals that a library may take; when the program wants the one in use, sampling moves to the other. When it wants
//! both, sampling takes a real-time signal: two of the others that wait at the same time become one, so that one of the
//! program's would be lost behind a sample's; real-time signals queue. No timer sends one while the program calls exec.
//!
//! Each thread moves by itself: its timer, and its mask, which nobody else can change. A program that gets all of them by
//! waiting for them leaves none.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The signals that may be used, the best first.
pub const CANDIDATES: [i32; 3] = [libc::SIGURG, libc::SIGWINCH, LAST];

/// The last real-time signal, the one that is least often used.
const LAST: i32 = 64;

/// In place of a candidate: the program has them all, and nothing is sampled any more.
pub const NONE: usize = CANDIDATES.len();

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

/// A candidate's bit in a kernel signal mask; 0 for [`NONE`].
#[inline]
pub fn bit(candidate: usize) -> u64 {
    CANDIDATES.get(candidate).map_or(0, |number| 1 << (number - 1))
}

/// Whether a candidate that is pending would end a program without a handler for it.
#[inline]
pub fn is_deadly(candidate: usize) -> bool {
    CANDIDATES.get(candidate) == Some(&LAST)
}

/// Which candidate a signal is.
#[inline]
pub fn candidate(signal: i32) -> Option<usize> {
    CANDIDATES.iter().position(|&candidate| candidate == signal)
}
