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
pub mod split_stacks;
mod state;
pub mod stretches;
pub mod timer;

pub use state::{Owned, Shared};

use proust_log::records::ThreadEnd;

use crate::lane::{Lane, Record};
use crate::source::Source;

/// Samples of threads as a source of data.
pub struct Samples;

impl Source for Samples {
    fn thread_born(&self, lane: &Lane, _: u32) {
        lane.samples.pace.begin();
    }

    fn record_begins(&self, record: &mut Record) {
        record.samples = Owned::default();
    }

    fn record_ends(&self, record: &mut Record, end: &mut ThreadEnd) {
        end.overruns = record.samples.overruns;
    }

    fn forked(&self) {
        pace::after_fork();
    }
}
