//! Operations inside another one of the same thread: a futex, a poll or a write of the library that the
//! program called, or the calls of a signal handler while its thread waits.
//!
//! The time is the outer operation's, and stays so. Of those inside it the log has their number and sums, by
//! outer and inner operation, so that a user sees what the time was spent with. Only the outermost of them
//! counts, so that their sums are at most the outer one's time.
//!
//! They are summed twice: those of the operation that is open apart, since its call path is known only at its
//! end, and then with the others of that operation and path. What was summed is written every
//! `WRITTEN_AFTER_NS` and when the thread ends.

use core::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use proust_log::operations::{Family, Operation};
use proust_log::records;

use super::{Outcome, Ticket, mark};
use crate::arena::{Entry, Table};
use crate::lane::{self, Lane, Output, Record, is_left};
use crate::path::tree::NodeId;
use crate::turn::Quiet;
use crate::{clock, raw, room};

/// Slots for the kinds of operations inside the one that is open.
const SLOTS_OF_ONE: usize = 16;
/// Slots for what is summed until it is written: at first, and at most. A thread that makes such calls in
/// many places needs as many.
const SLOTS: usize = 32;
const MOST_SLOTS: usize = 1024;
/// Sums that began so long ago are written at the next record that cuts the thread's time.
const WRITTEN_AFTER_NS: u64 = 100_000_000;

/// The operation inside the open one that a thread is in. Written by its thread alone.
#[derive(Debug, Default)]
pub struct Inner {
    /// Stack pointer of its hook; 0 = there is none.
    sp: AtomicU64,
    /// Begin of the operation around it: of another one it says nothing.
    outer_ns: AtomicU64,
    begin_ns: AtomicU64,
    /// Address of a word in the hook's frame that contains `begin_ns`.
    marker: AtomicU64,
    /// An [`Operation`].
    operation: AtomicU16,
}

/// An operation that the thread calls inside the open one, from a hook at `sp`, begins. `marker` is a word in
/// the hook's frame.
#[inline(never)]
pub(super) fn begin(lane: &'static Lane, operation: Operation, sp: u64, marker: &mut u64) -> Ticket {
    let (open, inner) = (&lane.operations.open, &lane.operations.inner);
    // The thread itself initialises, which is no wait; and MPI calls itself by its other names.
    let counts = match operation {
        Operation::Once | Operation::CallOnce => false,
        _ => operation.family() != Family::Mpi || !open.is(operation),
    };
    if !counts || inner.is_around(lane, sp) {
        return Ticket::NONE;
    }
    let begin_ns = clock::now_ns();
    inner.marker.store(mark(marker, begin_ns), Ordering::Relaxed);
    inner.operation.store(operation as u16, Ordering::Relaxed);
    inner.begin_ns.store(begin_ns, Ordering::Relaxed);
    inner.outer_ns.store(open.begin_ns(), Ordering::Relaxed);
    inner.sp.store(sp, Ordering::Relaxed);
    Ticket { lane: None, begin_ns }
}

impl Inner {
    /// Whether a hook at `sp` is called by one that is inside the open operation, too, and has still to
    /// return: as [`super::open::Open::is_live`]. Where that was left by a jump and its frame not overwritten
    /// since, a call is taken for one inside of it, and does not count.
    fn is_around(&self, lane: &Lane, sp: u64) -> bool {
        let frame = self.sp.load(Ordering::Relaxed);
        if frame == 0 || self.outer_ns.load(Ordering::Relaxed) != lane.operations.open.begin_ns() {
            return false;
        }
        // SAFETY: this is the owner, outside of its handler; the own stack is written by it, with the record
        // taken.
        let own_stack = unsafe { lane.own_stack() };
        if is_left(frame, sp.saturating_add(1), own_stack, raw::alternate_stack) {
            return false;
        }
        let marker = self.marker.load(Ordering::Relaxed);
        if !own_stack.contains(sp) || !own_stack.contains(marker) || marker < sp {
            return true;
        }
        // SAFETY: between a stack pointer of this thread's own stack and that stack's top all is mapped.
        unsafe { (marker as *const u64).read_volatile() == self.begin_ns.load(Ordering::Relaxed) }
    }
}

/// The operation of a ticket from `begin` ends.
#[inline(never)]
pub fn end(ticket: Ticket, outcome: Outcome) {
    if ticket.begin_ns == 0 {
        return;
    }
    let end_ns = clock::now_ns();
    // After a fork inside it the child has a lane of its own, in no operation.
    let Some(lane) = lane::current() else { return };
    let (open, inner) = (&lane.operations.open, &lane.operations.inner);
    let (Some(outer), outer_ns) = (open.kind(), open.begin_ns()) else { return };
    let is_it = inner.begin_ns.load(Ordering::Relaxed) == ticket.begin_ns
        && inner.outer_ns.load(Ordering::Relaxed) == outer_ns;
    let operation = Operation::from_number(inner.operation.load(Ordering::Relaxed));
    let (true, Some(operation)) = (is_it, operation) else { return };
    inner.sp.store(0, Ordering::Relaxed);
    if let Some(_guard) = lane.take() {
        // SAFETY: called by the owner, which has taken the record.
        let record = unsafe { lane.record() };
        let done = Done { operation, begin_ns: ticket.begin_ns, end_ns, outcome };
        add(record, (outer.operation, outer_ns), &done);
    }
}

/// An operation inside another one that is over.
struct Done {
    operation: Operation,
    begin_ns: u64,
    end_ns: u64,
    outcome: Outcome,
}

#[inline]
fn add(record: &mut Record, outer: (Operation, u64), done: &Done) {
    let (inside, output) = (&mut record.operations.inside, &mut record.output);
    if inside.outer != outer {
        if inside.is_pending {
            inside.settle_pending((0, 0, record.marks.interval()), output);
        }
        inside.outer = outer;
    }
    inside.add(done, output);
}

/// Sums of operations of one kind inside operations of one kind. One cache line.
#[derive(Clone, Copy, Default)]
#[repr(align(64))]
struct Slot {
    /// [`key`]; 0 = free.
    key: u32,
    /// The outer operation's call path; 0 = not known.
    node: NodeId,
    calls: u32,
    errors: u32,
    ns: u64,
    bytes: u64,
    longest_ns: u64,
    since_ns: u64,
    until_ns: u64,
    region: u32,
    interval: u32,
}

const _: () = assert!(size_of::<Slot>() == 64);

// SAFETY: numbers.
unsafe impl Entry for Slot {
    #[inline]
    fn is_free(&self) -> bool {
        self.key == 0
    }
}

#[inline]
fn key(outer: Operation, inner: Operation) -> u32 {
    (outer as u32) << 16 | inner as u32
}

#[inline]
fn hash(key: u32, node: NodeId) -> u64 {
    u64::from((key ^ key >> 15).wrapping_add(node.wrapping_mul(5))) << 32
}

/// Operations inside others, of one thread.
pub struct Inside {
    /// Those inside [`Inside::outer`], by kind.
    pending: Table<Slot>,
    /// The newest operation with others inside it, and its begin.
    outer: (Operation, u64),
    /// Whether there are any whose outer operation is not over.
    is_pending: bool,
    /// All others, by kind, outer operation and call path.
    sums: Table<Slot>,
    /// When they are to be written; 0 = there are none.
    due_ns: u64,
}

impl Default for Inside {
    fn default() -> Inside {
        Inside {
            pending: Table::default(),
            outer: (Operation::Yield, 0),
            is_pending: false,
            sums: Table::default(),
            due_ns: 0,
        }
    }
}

impl Inside {
    /// The lane's next thread begins.
    pub fn forget(&mut self) {
        self.pending.clear();
        self.sums.clear();
        (self.outer, self.is_pending, self.due_ns) = ((Operation::Yield, 0), false, 0);
    }

    #[inline]
    fn add(&mut self, done: &Done, output: &mut Output) {
        let key = key(self.outer.0, done.operation);
        if self.pending_slot(key).is_none() {
            self.make_pending(key, output);
        }
        let Some(slot) = self.pending_slot(key) else { return };
        let ns = done.end_ns.saturating_sub(done.begin_ns);
        if slot.calls == 0 {
            slot.since_ns = done.begin_ns;
        }
        slot.calls = slot.calls.saturating_add(1);
        slot.errors = slot.errors.saturating_add(u32::from(done.outcome.error != 0));
        slot.ns += ns;
        slot.bytes = slot.bytes.saturating_add(done.outcome.bytes);
        slot.longest_ns = slot.longest_ns.max(ns);
        slot.until_ns = done.end_ns;
        self.is_pending = true;
    }

    #[inline]
    fn pending_slot(&mut self, key: u32) -> Option<&mut Slot> {
        let at = self.pending.position(hash(key, 0), |slot| slot.key == key)?;
        self.pending.at(at).filter(|slot| slot.key == key)
    }

    #[cold]
    #[inline(never)]
    fn make_pending(&mut self, key: u32, output: &mut Output) {
        let _quiet = Quiet::begin();
        if self.pending.capacity() == 0 {
            self.pending.grow(SLOTS_OF_ONE, |slot| hash(slot.key, 0));
        } else if self.pending.is_full() {
            self.settle_pending((0, 0, 0), output);
            self.pending.clear();
        }
        if let Some(at) = self.pending.position(hash(key, 0), |slot| slot.key == key) {
            self.pending.put(at, Slot { key, ..Slot::default() });
        }
    }

    /// Whether the operation that began then, and has just ended, had others inside it.
    #[inline]
    pub fn is_pending_of(&self, outer: (Operation, u64)) -> bool {
        self.is_pending && self.outer == outer
    }

    /// The operation that is open, or was the last one, was called from that node, in that region and
    /// interval.
    #[cold]
    #[inline(never)]
    pub fn settle_pending(&mut self, place: (NodeId, u32, u32), output: &mut Output) {
        self.is_pending = false;
        for at in 0..self.pending.capacity() {
            let Some(slot) = self.pending.at(at) else { break };
            if slot.calls > 0 {
                let done = Slot { node: place.0, region: place.1, interval: place.2, ..*slot };
                *slot = Slot { key: slot.key, ..Slot::default() };
                self.merge(&done, output);
            }
        }
    }

    fn merge(&mut self, done: &Slot, output: &mut Output) {
        let place = |slot: &Slot| (slot.region, slot.interval);
        if self.sum(done).is_none() {
            self.make_sum(done, output);
        }
        let Some(slot) = self.sum(done) else { return };
        if slot.calls > 0 && place(slot) != place(done) {
            let _quiet = Quiet::begin();
            write(slot, output);
        }
        if slot.calls == 0 {
            *slot = *done;
        } else {
            slot.calls = slot.calls.saturating_add(done.calls);
            slot.errors = slot.errors.saturating_add(done.errors);
            slot.ns += done.ns;
            slot.bytes = slot.bytes.saturating_add(done.bytes);
            slot.longest_ns = slot.longest_ns.max(done.longest_ns);
            slot.until_ns = done.until_ns;
        }
        if self.due_ns == 0 {
            self.due_ns = done.since_ns + WRITTEN_AFTER_NS;
        }
    }

    fn sum(&mut self, of: &Slot) -> Option<&mut Slot> {
        let is_it = |slot: &Slot| (slot.key, slot.node) == (of.key, of.node);
        let at = self.sums.position(hash(of.key, of.node), is_it)?;
        self.sums.at(at).filter(|slot| is_it(slot))
    }

    #[cold]
    #[inline(never)]
    fn make_sum(&mut self, of: &Slot, output: &mut Output) {
        let _quiet = Quiet::begin();
        if self.sums.capacity() == 0 {
            self.sums.grow(SLOTS, |slot| hash(slot.key, slot.node));
        } else if self.sums.is_full()
            && (self.sums.capacity() >= MOST_SLOTS
                || !self.sums.grow(SLOTS, |slot| hash(slot.key, slot.node)))
        {
            self.write(output);
            self.sums.clear();
        }
        if let Some(at) =
            self.sums.position(hash(of.key, of.node), |slot| (slot.key, slot.node) == (of.key, of.node))
        {
            self.sums.put(at, Slot { key: of.key, node: of.node, ..Slot::default() });
        }
    }

    /// Writes what was summed, if that is so old.
    #[inline]
    pub fn write_if_due(&mut self, output: &mut Output) {
        if self.due_ns != 0 && clock::now_ns() >= self.due_ns {
            self.write(output);
        }
    }

    /// Writes all that was summed, but for what is in an open operation.
    #[cold]
    #[inline(never)]
    fn write(&mut self, output: &mut Output) {
        self.due_ns = 0;
        self.sums.iter_mut().filter(|slot| slot.calls > 0).for_each(|slot| write(slot, output));
        if self.sums.is_full() {
            // Others may be the ones that are called now.
            self.sums.clear();
        }
    }

    /// Writes everything: the thread's record ends. `place` is that of the operation that is open.
    pub fn write_all(&mut self, place: (NodeId, u32, u32), output: &mut Output) {
        if self.is_pending {
            self.settle_pending(place, output);
        }
        self.write(output);
    }
}

fn write(slot: &mut Slot, output: &mut Output) {
    let sum = records::Inside {
        since_ns: slot.since_ns,
        until_ns: slot.until_ns,
        ns: slot.ns,
        bytes: slot.bytes,
        longest_ns: slot.longest_ns,
        calls: slot.calls,
        errors: slot.errors,
        node: slot.node,
        region: slot.region,
        interval: slot.interval,
        reserved: 0,
    };
    let (outer, inner) = ((slot.key >> 16) as u16, slot.key as u16);
    let _ = room::apart(|| output.push(inner, outer, &sum));
    *slot = Slot { key: slot.key, node: slot.node, ..Slot::default() };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(operation: Operation, begin_ns: u64, ns: u64) -> Done {
        Done { operation, begin_ns, end_ns: begin_ns + ns, outcome: Outcome { bytes: 3, error: 0 } }
    }

    /// Number and time of all that is summed, by outer and inner operation and node.
    fn sums(inside: &mut Inside) -> Vec<(u16, u16, NodeId, u32, u64)> {
        let used = inside.sums.iter_mut().filter(|slot| slot.calls > 0);
        let mut all: Vec<_> = used
            .map(|slot| ((slot.key >> 16) as u16, slot.key as u16, slot.node, slot.calls, slot.ns))
            .collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn they_are_summed_by_the_path_of_the_outer_one() {
        let (mut inside, mut output) = (Inside::default(), Output::new(None));
        for call in 0..10_u64 {
            inside.outer = (Operation::MPI_Wait, call * 100);
            inside.add(&done(Operation::Poll, call * 100 + 10, 20), &mut output);
            inside.add(&done(Operation::Poll, call * 100 + 40, 20), &mut output);
            inside.add(&done(Operation::Write, call * 100 + 70, 5), &mut output);
            assert!(inside.is_pending_of((Operation::MPI_Wait, call * 100)));
            assert!(!inside.is_pending_of((Operation::MPI_Wait, call * 100 + 1)));
            inside.settle_pending((1 + (call % 2) as NodeId, 0, 0), &mut output);
            assert!(!inside.is_pending_of((Operation::MPI_Wait, call * 100)));
        }
        let wait = Operation::MPI_Wait as u16;
        let (poll, writes) = (Operation::Poll as u16, Operation::Write as u16);
        let mut expected = vec![];
        for node in [1, 2] {
            expected.extend([(wait, poll, node, 10, 200), (wait, writes, node, 5, 25)]);
        }
        expected.sort_unstable();
        assert_eq!(sums(&mut inside), expected);
        inside.write(&mut output);
        assert_eq!(sums(&mut inside), []);
    }

    #[test]
    fn many_places_are_summed_until_it_is_time_to_write_them() {
        let (mut inside, mut output) = (Inside::default(), Output::new(None));
        for round in 0..3 {
            for node in 1..=500 {
                inside.outer = (Operation::MPI_Win_allocate, u64::from(round * 1000 + node));
                inside.add(&done(Operation::Write, 10, 2), &mut output);
                inside.settle_pending((node, 0, 0), &mut output);
            }
        }
        let all = sums(&mut inside);
        assert!(all.len() == 500 && all.iter().all(|&(_, _, _, calls, ns)| (calls, ns) == (3, 6)));
    }

    #[test]
    fn any_number_of_kinds_and_places_finds_room() {
        let (mut inside, mut output) = (Inside::default(), Output::new(None));
        for round in 0..100_u32 {
            inside.outer = (Operation::MPI_Wait, round.into());
            for &operation in Operation::ALL {
                inside.add(&done(operation, 0, 1), &mut output);
            }
            inside.settle_pending((round, 0, 0), &mut output);
        }
        assert_eq!((inside.pending.capacity(), inside.sums.capacity()), (SLOTS_OF_ONE, MOST_SLOTS));
    }
}
