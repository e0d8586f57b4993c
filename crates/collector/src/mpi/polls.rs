//! Polls that find nothing: `MPI_Test` or `MPI_Iprobe` again and again, until something has arrived.
//!
//! A program may poll many million times, with work of its own in between. So a poll in vain reads no clock:
//! it adds to a word. Only the first one of an *episode* is timed, and then one in [`TIMED`]; after each of
//! these the time until the next poll begins is measured, too. What both kinds of time are to each other, the
//! whole episode is divided by: so waits for a processor, which hit short pieces as seldom as they are short,
//! count where they were. The next call of MPI that is no poll in vain closes the episode: it becomes a sum,
//! of so many calls that took so long in all. The time between polls is the program's own, and stays so.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use proust_log::operations::Operation;

use crate::clock;
use crate::lane::{Lane, Output};
use crate::operation::Kind;
use crate::operation::exact::known_path;
use crate::operation::sums::{Found, Several, Sums};
use crate::path::memo::State;
use crate::path::python;
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
    /// What the first one took, and when it ended.
    first_ns: AtomicU64,
    divided_since_ns: AtomicU64,
    /// The end of the newest timed poll.
    read_ns: AtomicU64,
    /// What the timed polls took together, and what passed after them until the next one began.
    inside_ns: AtomicU64,
    between_ns: AtomicU64,
    /// The shortest timed poll.
    each_ns: AtomicU64,
    /// What reading the clock takes: the least that was seen; 0 = not known.
    clock_ns: AtomicU64,
}

/// Adds to a word that only this thread writes.
fn add(word: &AtomicU64, more: u64) {
    word.store(word.load(Ordering::Relaxed).wrapping_add(more), Ordering::Relaxed);
}

impl Polls {
    /// Whether there is an episode.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.count.load(Ordering::Relaxed) != 0
    }

    /// Whether the next poll is not timed.
    #[inline]
    pub fn is_uncounted(&self) -> bool {
        !self.count.load(Ordering::Relaxed).is_multiple_of(TIMED)
    }

    /// Whether the next poll is the one behind a timed one.
    #[inline]
    pub fn is_behind_timed(&self) -> bool {
        self.count.load(Ordering::Relaxed) % TIMED == 1
    }

    /// Whether neither the next poll is timed, nor the time until it begins.
    #[inline]
    pub fn is_amid_untimed(&self) -> bool {
        self.count.load(Ordering::Relaxed) % TIMED > 1
    }

    /// A poll in vain that was not timed.
    #[inline]
    pub fn add(&self) {
        let count = self.count.load(Ordering::Relaxed);
        self.count.store(count.wrapping_add(1).max(1), Ordering::Relaxed);
    }

    /// The poll behind a timed one begins, after two readings of the clock.
    #[cold]
    pub fn begin_behind_timed(&self, [first_ns, second_ns]: [u64; 2]) {
        let (known_ns, seen_ns) = (self.clock_ns.load(Ordering::Relaxed), second_ns.saturating_sub(first_ns));
        if seen_ns > 0 && (known_ns == 0 || seen_ns < known_ns) {
            self.clock_ns.store(seen_ns, Ordering::Relaxed);
        }
        let passed_ns = first_ns.saturating_sub(self.read_ns.load(Ordering::Relaxed));
        // The reading itself, and about as much for the hook's own work around it: a loop that does nothing
        // but poll is in polls.
        let own_ns = 2 * self.clock_ns.load(Ordering::Relaxed);
        add(&self.between_ns, passed_ns.saturating_sub(own_ns));
    }

    /// A poll in vain that was timed.
    pub fn add_timed(&self, operation: Operation, node: NodeId, (begin_ns, end_ns): (u64, u64)) {
        let took_ns = end_ns.saturating_sub(begin_ns);
        let took_ns = took_ns.saturating_sub(self.clock_ns.load(Ordering::Relaxed)).max(1);
        if !self.is_any() {
            self.operation.store(operation as u32, Ordering::Relaxed);
            self.node.store(node, Ordering::Relaxed);
            self.since_ns.store(begin_ns, Ordering::Relaxed);
            self.first_ns.store(took_ns, Ordering::Relaxed);
            self.divided_since_ns.store(end_ns, Ordering::Relaxed);
            self.each_ns.store(took_ns, Ordering::Relaxed);
        }
        let least_ns = self.each_ns.load(Ordering::Relaxed).min(took_ns);
        self.each_ns.store(least_ns, Ordering::Relaxed);
        add(&self.inside_ns, took_ns);
        self.read_ns.store(end_ns, Ordering::Relaxed);
        self.add();
    }

    /// Time in polls of the episode until now, as far as that is known.
    fn estimated_ns(&self, now_ns: u64) -> u64 {
        let of = |word: &AtomicU64| word.load(Ordering::Relaxed);
        let (inside_ns, between_ns) = (of(&self.inside_ns), of(&self.between_ns));
        let read_ns = of(&self.read_ns);
        let divided_ns = read_ns.saturating_sub(of(&self.divided_since_ns));
        let share = u128::from(inside_ns) * u128::from(divided_ns)
            / u128::from(inside_ns.saturating_add(between_ns).max(1));
        let untimed = u64::from(self.count.load(Ordering::Relaxed).wrapping_sub(1) % TIMED);
        let newest_ns = (untimed * of(&self.each_ns)).min(now_ns.saturating_sub(read_ns));
        of(&self.first_ns).saturating_add(share as u64).saturating_add(newest_ns)
    }

    /// What a poll of this episode takes; 0 = there is none.
    pub fn each_ns(&self) -> u64 {
        if self.is_any() { self.each_ns.load(Ordering::Relaxed) } else { 0 }
    }

    /// The last reading of the clock in it.
    pub fn read_ns(&self) -> u64 {
        self.read_ns.load(Ordering::Relaxed)
    }

    /// Adds what is not in the thread's sums yet to them, until the present instant. The calls count for the
    /// innermost interval of now.
    pub fn settle(&self, interval: u32, sums: &mut Sums, output: &mut Output) {
        let (count, until_ns) = (self.count.load(Ordering::Relaxed), clock::now_ns());
        let calls = count.wrapping_sub(self.summed.load(Ordering::Relaxed));
        let (estimated_ns, summed_ns) = (self.estimated_ns(until_ns), self.summed_ns.load(Ordering::Relaxed));
        let spent_ns = estimated_ns.saturating_sub(summed_ns);
        let operation = u16::try_from(self.operation.load(Ordering::Relaxed)).ok();
        let (Some(operation), 1..) = (operation.and_then(Operation::from_number), calls) else { return };
        let since_ns = self.since_ns.load(Ordering::Relaxed);
        let kind = Kind::from(operation);
        let ns = spent_ns.min(until_ns.saturating_sub(since_ns));
        sums.add_estimated(&Several { kind, calls: calls.into(), ns, since_ns, until_ns }, output);
        let node = self.node.load(Ordering::Relaxed);
        if node != 0 {
            sums.caller(kind, Found { node, flags: 0, region: 0, interval }, output);
        }
        self.summed.store(count, Ordering::Relaxed);
        self.summed_ns.store(estimated_ns.max(summed_ns), Ordering::Relaxed);
        self.since_ns.store(until_ns, Ordering::Relaxed);
    }

    /// There is no episode.
    pub fn forget(&self) {
        for word in [&self.count, &self.summed] {
            word.store(0, Ordering::Relaxed);
        }
        for word in [&self.inside_ns, &self.between_ns, &self.summed_ns] {
            word.store(0, Ordering::Relaxed);
        }
    }
}

/// Closes the calling thread's episode.
#[cold]
#[inline(never)]
pub fn close(lane: &'static Lane) {
    if let Some(_guard) = lane.take() {
        // SAFETY: called by the owner, which has taken the record.
        let record = unsafe { lane.record() };
        // SAFETY: as above.
        unsafe {
            lane.with_room(|| {
                lane.mpi.polls.settle(
                    record.marks.interval(),
                    &mut record.operations.sums,
                    &mut record.output,
                )
            });
        }
    }
    lane.mpi.polls.forget();
}

/// The caller of a poll that begins an episode: known, or found.
#[cold]
#[inline(never)]
pub fn caller(lane: &'static Lane, state: State, pid: u32) -> NodeId {
    if !python::is_there() {
        let known = lane.mpi.paths.find(&state);
        if known != 0 {
            return known;
        }
    }
    let find = |record: &mut crate::lane::Record| match known_path(lane, record, &state) {
        0 if record.output.is_open() => record.path_to_know(state, pid, &lane.mpi.paths).0,
        known => known,
    };
    lane.with_record(find).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Polls of 20 ns with 5 ns between, of which the machine takes `lost_ns` each time after so many.
    fn polled(polls: &Polls, times: u32, lost: impl Fn(u32) -> u64) -> (u32, u64) {
        let (mut timed, mut now_ns) = (0, 1_000);
        for poll in 0..times {
            assert_eq!(polls.is_amid_untimed(), polls.is_uncounted() && !polls.is_behind_timed());
            if polls.is_uncounted() {
                if polls.is_behind_timed() {
                    polls.begin_behind_timed([now_ns, now_ns]);
                }
                polls.add();
            } else {
                polls.add_timed(Operation::MPI_Test, 0, (now_ns, now_ns + 20 + lost(poll)));
                timed += 1;
            }
            now_ns += 25 + lost(poll);
        }
        (timed, now_ns)
    }

    #[test]
    fn one_poll_in_many_is_timed_and_stands_for_the_others() {
        let polls = Polls::default();
        let (timed, now_ns) = polled(&polls, 1_000, |_| 0);
        assert_eq!((timed, polls.count.load(Ordering::Relaxed)), (16, 1_000));
        assert!(polls.estimated_ns(now_ns).abs_diff(20_000) < 40, "{}", polls.estimated_ns(now_ns));
        polls.forget();
        assert!(!polls.is_any() && !polls.is_uncounted() && polls.each_ns() == 0);
        let (_, now_ns) = polled(&polls, 1, |_| 0);
        assert_eq!(polls.estimated_ns(now_ns + 1_000_000), 20, "what follows is the program's own");
    }

    /// Others have the processor now and then, mostly in a poll that is not timed.
    #[test]
    fn a_wait_for_a_processor_is_divided_as_the_rest() {
        let polls = Polls::default();
        let (_, now_ns) = polled(&polls, 64_001, |poll| if poll % 1_000 == 999 { 50_000 } else { 0 });
        let passed_ns = now_ns - 1_000;
        assert!(polls.estimated_ns(now_ns).abs_diff(passed_ns * 4 / 5) < passed_ns / 20);
    }
}
