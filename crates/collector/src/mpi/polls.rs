//! Polls that find nothing: `MPI_Test` or `MPI_Iprobe` again and again, until something has come.
//!
//! A program may poll many million times, with work of its own in between. So a poll in vain reads no clock:
//! it adds to a word. Only the first one of an *episode* is timed, and then one in [`TIMED`], which stands
//! for the others. The next call of MPI that is no poll in vain closes the episode: it becomes a sum, of so
//! many calls that took so long in all. The time between polls is the program's own, and stays so.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use proust_log::operations::Operation;

use crate::clock;
use crate::lane::{Lane, Output};
use crate::operation::Kind;
use crate::operation::sums::{Estimated, Sums};
use crate::path::memo::State;
use crate::path::tree::NodeId;

/// Of so many polls one is timed.
pub const TIMED: u32 = 64;

/// A thread's episode. Written by its thread alone.
#[derive(Debug, Default)]
pub struct Polls {
    /// Polls in vain; 0 = there is no episode.
    count: AtomicU32,
    /// Polls of the episode that are in the thread's sums already, and their time.
    summed: AtomicU32,
    summed_ns: AtomicU64,
    /// An [`Operation`]: that of the first one.
    operation: AtomicU32,
    /// The caller of the first one; 0 = not known.
    node: AtomicU32,
    since_ns: AtomicU64,
    /// The last reading of the clock in it.
    read_ns: AtomicU64,
    /// Time in polls, as estimated so far.
    ns: AtomicU64,
    /// What the newest timed poll took.
    each_ns: AtomicU64,
}

impl Polls {
    /// Whether there is an episode.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Whether the next poll reads no clock.
    #[inline]
    pub fn is_uncounted(&self) -> bool {
        self.count.load(Ordering::Relaxed) % TIMED != 0
    }

    /// A poll in vain that was not timed.
    #[inline]
    pub fn add(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1).max(1), Ordering::Relaxed);
        self.ns
            .store(self.ns.load(Ordering::Relaxed) + self.each_ns.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// A poll in vain that was timed.
    pub fn add_timed(&self, operation: Operation, node: NodeId, (begin_ns, end_ns): (u64, u64)) {
        if !self.is_any() {
            self.operation.store(operation as u32, Ordering::Relaxed);
            self.node.store(node, Ordering::Relaxed);
            self.since_ns.store(begin_ns, Ordering::Relaxed);
        }
        self.each_ns.store(end_ns.saturating_sub(begin_ns), Ordering::Relaxed);
        self.read_ns.store(end_ns, Ordering::Relaxed);
        self.add();
    }

    /// What a poll of this episode takes; 0 = there is none.
    pub fn each_ns(&self) -> u64 {
        if self.is_any() { self.each_ns.load(Ordering::Relaxed) } else { 0 }
    }

    /// The last reading of the clock in it.
    pub fn read_ns(&self) -> u64 {
        self.read_ns.load(Ordering::Relaxed)
    }

    /// Adds what is not in the thread's sums yet to them, until the present instant.
    pub fn settle(&self, sums: &mut Sums, output: &mut Output) {
        let (count, ns) = (self.count.load(Ordering::Relaxed), self.ns.load(Ordering::Relaxed));
        let calls = count.wrapping_sub(self.summed.load(Ordering::Relaxed));
        let spent_ns = ns.saturating_sub(self.summed_ns.load(Ordering::Relaxed));
        let operation = u16::try_from(self.operation.load(Ordering::Relaxed)).ok();
        let (Some(operation), 1..) = (operation.and_then(Operation::from_number), calls) else { return };
        let (since_ns, until_ns) = (self.since_ns.load(Ordering::Relaxed), clock::now_ns());
        let kind = Kind::from(operation);
        let ns = spent_ns.min(until_ns.saturating_sub(since_ns));
        sums.add_estimated(&Estimated { kind, calls: calls.into(), ns, since_ns, until_ns }, output);
        let node = self.node.load(Ordering::Relaxed);
        if node != 0 {
            sums.caller(kind, (node, 0, 0), output);
        }
        self.summed.store(count, Ordering::Relaxed);
        self.summed_ns.store(self.ns.load(Ordering::Relaxed), Ordering::Relaxed);
        self.since_ns.store(until_ns, Ordering::Relaxed);
    }

    /// There is no episode.
    pub fn forget(&self) {
        for word in [&self.count, &self.summed] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [&self.ns, &self.summed_ns] {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// Closes the calling thread's episode.
#[cold]
#[inline(never)]
pub fn close(lane: &'static Lane) {
    if let Some(_held) = lane.take() {
        // SAFETY: called by the owner, which has taken the record.
        let record = unsafe { lane.record() };
        // SAFETY: as above.
        unsafe {
            lane.with_room(|| lane.mpi.polls.settle(&mut record.operations.sums, &mut record.output));
        }
    }
    lane.mpi.polls.forget();
}

/// The caller of a poll that begins an episode: known, or found.
#[cold]
#[inline(never)]
pub fn caller(lane: &'static Lane, state: State, pid: u32) -> NodeId {
    let known = lane.mpi.paths.find(&state);
    if known != 0 {
        return known;
    }
    let find = |record: &mut crate::lane::Record| {
        if record.output.is_open() { record.path_to_know(state, pid, &lane.mpi.paths).0 } else { 0 }
    };
    lane.with_record(find).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_poll_in_many_is_timed_and_stands_for_the_others() {
        let polls = Polls::default();
        let (mut timed, mut now_ns) = (0, 1_000);
        for _ in 0..1_000 {
            if polls.is_uncounted() {
                polls.add();
            } else {
                polls.add_timed(Operation::MPI_Test, 0, (now_ns, now_ns + 20));
                timed += 1;
            }
            now_ns += 25;
        }
        assert_eq!((timed, polls.count.load(Ordering::Relaxed)), (16, 1_000));
        assert_eq!(polls.ns.load(Ordering::Relaxed), 20_000);
        polls.forget();
        assert!(!polls.is_any() && !polls.is_uncounted() && polls.each_ns() == 0);
    }
}
