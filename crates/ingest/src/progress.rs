//! How far the analysis is.

use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};

/// What the analysis is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Reading logs; counted in bytes.
    Reading,
    /// Finding functions and lines; counted in addresses.
    Names,
    /// Building contexts; counted in samples.
    Contexts,
    /// Keeping the profile; not counted.
    Keeping,
}

/// How far a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done, in the stage's unit.
    pub done: u64,
    /// How much there is; 0 = not known.
    pub total: u64,
}

/// Counts progress; may be read by another thread at any time.
#[derive(Debug, Default)]
pub struct Counter {
    stage: AtomicU8,
    done: AtomicU64,
    total: AtomicU64,
}

impl Counter {
    /// How far it is now. While a stage changes, the numbers may be those of its neighbour.
    pub fn now(&self) -> Progress {
        let stage = match self.stage.load(Relaxed) {
            0 => Stage::Reading,
            1 => Stage::Names,
            2 => Stage::Contexts,
            _ => Stage::Keeping,
        };
        Progress { stage, done: self.done.load(Relaxed), total: self.total.load(Relaxed) }
    }

    /// Begins a stage of so much work.
    pub fn begin(&self, stage: Stage, total: u64) {
        self.done.store(0, Relaxed);
        self.total.store(total, Relaxed);
        self.stage.store(stage as u8, Relaxed);
    }

    /// So much of it is done.
    pub fn add(&self, done: u64) {
        self.done.fetch_add(done, Relaxed);
    }
}
