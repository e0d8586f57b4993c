//! Each thread's state of operations.

use core::mem::offset_of;
use core::sync::atomic::{AtomicU32, AtomicUsize};

use super::Kind;
use super::callers::Callers;
use super::elapsed::Elapsed;
use super::inside::{Inner, Inside};
use super::known_paths::FewPaths;
use super::open::Open;
use super::postponed::{Postponed, Section, WithoutPath};
use super::rehearsal::hook_ns;
use super::releases::LastWake;
use super::sampling::Sampling;
use super::sections::Sections;
use super::short_waits::ShortWaits;
use super::sums::Sums;
use super::threshold::Limit;
use super::tries::Tries;
use super::waited;
use crate::clock;
use crate::lane::Record;
use crate::openmp::settling;

/// State that a hook uses without the record, and other threads may read: first the fields that every
/// operation reads.
#[derive(Default)]
#[repr(C)]
pub struct Shared {
    /// The operation that the thread is in.
    pub open: Open,
    /// The parts of its waits for locks that are not recorded yet.
    pub postponed: Postponed,
    /// Operations since the thread last asked what a descriptor leads to.
    pub targets_used: AtomicU32,
    /// Its tries to take a lock.
    pub tries: Tries,
    /// The function that initialises where it is inside a `pthread_once`.
    pub initialiser: AtomicUsize,
    /// When it last recorded that it woke another thread.
    pub last_wake: LastWake,
    /// Its short waits for locks without a call path.
    pub without_path: WithoutPath,
    /// Those that are not recorded yet.
    pub short_waits: ShortWaits,
    /// Call paths of its waits for locks, and of its unlocks.
    pub known_paths: FewPaths,
    /// Which of its critical sections are recorded.
    pub sampling: Sampling,
    /// Those that it is in.
    pub sections: Sections,
    /// A section that has ended and is not recorded yet.
    pub postponed_section: Section,
    /// The callers of its operations.
    pub callers: Callers,
    /// The one inside `open` that it is in.
    pub inner: Inner,
}

/// Whether this is a good place for a [`Shared`] in memory that begins at a cache line: the fields that every
/// operation reads are in that line and the one after it, and no section is in two.
pub const fn fits_at(offset: usize) -> bool {
    offset + offset_of!(Shared, tries) < 128 && (offset + offset_of!(Shared, sections)).is_multiple_of(32)
}

impl Shared {
    /// Thread `tid` begins.
    pub fn begin(&self, tid: u32) {
        self.callers.forget();
        self.known_paths.forget();
        self.postponed.forget();
        self.short_waits.forget();
        self.without_path.begin();
        self.sections.forget();
        self.sampling.begin(clock::ticks::now(), u64::from(tid));
        self.open.leave();
    }

    /// Since when the thread has been waiting for a lock, if it does. For other threads.
    pub fn wants_since_ns(&self, lock: u64) -> Option<u64> {
        let waits = self.open.object() == lock
            && self.open.kind().is_some_and(|kind| waited::is_for_lock(kind.operation));
        if waits { Some(self.open.begin_ns()) } else { self.tries.since_ns(lock) }
    }
}

/// State that only the thread that has taken the record uses.
#[derive(Default)]
pub struct Owned {
    /// Operations too short to be recorded alone.
    pub sums: Sums,
    /// From which length on one is recorded alone.
    pub limit: Limit,
    /// Until when those are recorded that are recorded alone.
    pub recorded_until_ns: u64,
    /// How long the thread was in those that were recorded alone.
    pub elapsed: Elapsed,
    /// Operations inside others.
    pub inside: Inside,
    /// It has been noted that short calls are summed to spare the log.
    pub spares: bool,
    /// The hooks try what they take: nothing is recorded.
    pub is_rehearsal: bool,
}

impl Owned {
    /// A thread begins.
    pub fn begin(&mut self) {
        self.sums.forget();
        self.inside.forget();
        self.limit = Limit::default();
        self.elapsed = Elapsed::default();
        self.spares = false;
        self.is_rehearsal = false;
    }

    /// Until the next [`Owned::begin`] operations of this kind are summed for the sake of the time it takes.
    pub fn rehearse(&mut self, kind: Kind) {
        self.is_rehearsal = true;
        self.sums.rehearse(kind);
    }
}

/// Writes the operations that were summed since the last time.
pub fn settle(record: &mut Record) {
    settling::settle(record);
    record.operations.sums.write(&mut record.output);
    record.operations.inside.write_if_due(&mut record.output);
    let calls = record.operations.sums.take_calls();
    if calls > 0 {
        record.spent(calls * hook_ns());
    }
}
