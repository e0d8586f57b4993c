//! Each thread's state of sampling.

use core::sync::atomic::{AtomicI32, AtomicUsize, Ordering};

use super::allowance::Allowance;
use super::contain::Entry;
use super::pace::Pace;
use super::resume::Resumed;
use super::split_stacks::Stack;
use crate::hooks::signal_moves::Silence;

/// State that the handler uses without the record, and other threads may read.
pub struct Shared {
    /// When the next sample is due.
    pub pace: Pace,
    /// The thread's CPU timer; -1 = none.
    timer: AtomicI32,
    /// Which sampling signal that timer sends, as a position in [`super::signal::CANDIDATES`].
    pub signal: AtomicUsize,
    /// Why the thread has no timer, if it has none.
    pub silence: Silence,
    /// Where its handler began.
    pub entry: Entry,
    /// For a call that a sample interrupted.
    pub resumed: Resumed,
    /// Where its samples arrive if its own stack is in pieces.
    pub stack: Stack,
}

impl Default for Shared {
    fn default() -> Shared {
        Shared {
            pace: Pace::default(),
            timer: AtomicI32::new(-1),
            signal: AtomicUsize::new(0),
            silence: Silence::default(),
            entry: Entry::default(),
            resumed: Resumed::default(),
            stack: Stack::default(),
        }
    }
}

impl Shared {
    /// The thread's CPU timer; -1 = none.
    pub fn timer(&self) -> i32 {
        self.timer.load(Ordering::Acquire)
    }

    /// Sets the thread's CPU timer; returns the one before.
    pub fn replace_timer(&self, timer: Option<i32>) -> Option<i32> {
        let old = self.timer.swap(timer.unwrap_or(-1), Ordering::AcqRel);
        (old >= 0).then_some(old)
    }
}

/// State that only the thread that has taken the record uses.
#[derive(Default)]
pub struct Owned {
    /// Merged timer expirations, whole thread.
    pub overruns: u64,
    /// The time that the thread's samples may take.
    pub allowance: Allowance,
}
