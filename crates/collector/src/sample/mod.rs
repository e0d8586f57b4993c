//! Sampling: when each thread's samples are due, its timers, and the handler of their signal.

pub mod alarm;
pub mod allowance;
pub mod contain;
pub mod entered;
pub mod gamma;
pub mod handler;
pub mod pace;
pub mod process;
pub mod resume;
pub mod signal;
pub mod timer;

use crate::lane::Lane;
use crate::source::Source;

/// Samples of threads as a source of data.
pub struct Samples;

impl Source for Samples {
    fn thread_born(&self, lane: &Lane, _: u32) {
        lane.pace.begin();
    }

    fn forked(&self) {
        pace::after_fork();
    }
}
