//! The end of a wait for a lock that was not long: it is recorded later, when nobody waits for the calling thread.
//!
//! The thread that had the lock before is back for it in a moment. If it is still held then, that thread has to sleep, and so on: a
//! tenth of a microsecond more with the lock costs several of them. So between the wait and the program's own section a clock is
//! read, and no more. Nor is the wait recorded where the lock is unlocked: two threads that take turns are out of step if one of
//! them comes back later than it otherwise would, which costs as much. Where a thread has just found a lock taken it has
//! time: there it records the wait before. So does whatever the thread records next, its sampler included.

use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};

use proust_log::operations::{Operation, Target};

use super::telling::{Passed, is_clocked, is_owner, tell_next};
use super::{Kind, Outcome, Ticket, waited};
use crate::clock::{self, ticks};
use crate::lane::{self, Lane, Record};
use crate::life;
use crate::path::tree::NodeId;

/// Waits of that length are recorded at once: half a microsecond more is nothing to them.
const AT_ONCE_NS: u64 = 1_000_000;

/// A wait that is over and not recorded yet. Written by its thread alone, and read by others at the process's end: `kind` is stored
/// last.
#[derive(Debug, Default)]
pub struct Postponed {
    /// [`Kind::number`]; 0 = none.
    kind: AtomicU16,
    /// It was so long that the thread's CPU clock is read, which tells something only soon after it.
    is_due: AtomicBool,
    node: AtomicU32,
    begin_ns: AtomicU64,
    end_ns: AtomicU64,
    object: AtomicU64,
}

impl Postponed {
    /// Whether there is one.
    #[inline]
    pub fn is_any(&self) -> bool {
        self.kind.load(Ordering::Relaxed) != 0
    }

    /// Whether it is to be recorded at the unlock.
    #[inline]
    pub fn is_due(&self) -> bool {
        self.is_due.load(Ordering::Relaxed)
    }

    #[inline]
    fn keep(&self, kind: Kind, (begin_ns, end_ns): (u64, u64), object: u64, node: NodeId) {
        self.is_due.store(is_clocked(begin_ns, end_ns), Ordering::Relaxed);
        self.node.store(node, Ordering::Relaxed);
        self.begin_ns.store(begin_ns, Ordering::Relaxed);
        self.end_ns.store(end_ns, Ordering::Relaxed);
        self.object.store(object, Ordering::Relaxed);
        self.kind.store(kind.number(), Ordering::Release);
    }

    /// For who has taken the lane's record.
    fn take(&self) -> Option<Passed> {
        let (operation, target) = Kind::parts(self.kind.load(Ordering::Acquire));
        let operation = Operation::from_number(operation)?;
        let passed = Passed {
            kind: Kind { operation, target: Target::from_number(target as u8) },
            begin_ns: self.begin_ns.load(Ordering::Relaxed),
            end_ns: self.end_ns.load(Ordering::Relaxed),
            object: self.object.load(Ordering::Relaxed),
            object2: 0,
            outcome: Outcome::default(),
            flags: 0,
            state: None,
            node: (self.node.load(Ordering::Relaxed), 0),
            is_postponed: true,
        };
        self.forget();
        Some(passed)
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        self.kind.store(0, Ordering::Relaxed);
        self.is_due.store(false, Ordering::Relaxed);
    }
}

/// Ends a wait for a lock: now, or if it was not long and its call path is known, later.
#[inline]
pub fn end(ticket: &Ticket, outcome: Outcome) {
    let Some(lane) = ticket.lane else { return };
    let is_mine = lane::current().is_some_and(|current| core::ptr::eq(current, lane));
    let node = lane.open.node();
    if !is_mine || node == 0 || outcome.error != 0 {
        super::end(ticket, outcome);
        lane.sampling.has_read(ticks::now());
        return;
    }
    let (end_ns, end_ticks) = clock::now();
    lane.sampling.has_read(end_ticks);
    // SAFETY: this is the owner.
    let limit_ns = unsafe { lane.limit_ns() };
    let Some(kind) = lane.open.kind_since(ticket.begin_ns) else { return };
    let ns = end_ns.saturating_sub(ticket.begin_ns);
    let node = if ns < limit_ns { node } else { find_caller(lane, kind, ns) };
    if node == 0 {
        super::end_at(lane, ticket, (kind, lane.open.object()), end_ns, outcome);
    } else {
        lane.postponed.keep(kind, (ticket.begin_ns, end_ns), lane.open.object(), node);
        lane.leave_unwatched();
    }
}

/// The call path of the wait that has just ended and that will be recorded alone: its frame will be gone then. 0 where it has to be
/// recorded now.
#[cold]
#[inline(never)]
fn find_caller(lane: &'static Lane, kind: Kind, ns: u64) -> NodeId {
    let Some(life) = life::in_hook().filter(|_| ns < AT_ONCE_NS && is_owner(lane)) else { return 0 };
    let state = lane.open.state();
    let found = lane
        .with_record(|record| if record.output.is_open() { record.path(state, life.pid) } else { (0, 0) });
    match found {
        Some((node, 0)) => {
            lane.callers.keep(kind, state.sp, node);
            node
        }
        _ => 0,
    }
}

/// Records what was postponed, before an operation begins; when it does. Who has found a lock taken waits already.
#[inline(never)]
pub fn settle_before(lane: &'static Lane, operation: Operation) -> u64 {
    let waits_since_ns = if waited::is_for_lock(operation) { clock::now_ns() } else { 0 };
    settle(lane);
    if waits_since_ns != 0 { waits_since_ns } else { clock::now_ns() }
}

/// Records what was postponed. By the owner.
#[inline(never)]
pub fn settle(lane: &'static Lane) {
    if let Some(_held) = lane.take() {
        // SAFETY: called by the owner, who has taken the record.
        settle_in(lane, unsafe { lane.record() });
    }
}

/// As [`settle`], where the lane's record has been taken.
#[inline(never)]
pub fn settle_in(lane: &Lane, record: &mut Record) {
    if let Some(passed) = lane.postponed.take() {
        tell_next(lane, record, &passed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_postponed_is_recorded_once() {
        let postponed = Postponed::default();
        assert!(!postponed.is_any() && postponed.take().is_none());
        postponed.keep(Kind::from(Operation::MutexLock), (100, 350), 0x1000, 7);
        assert!(postponed.is_any() && !postponed.is_due());
        let passed = postponed.take().unwrap();
        assert_eq!((passed.begin_ns, passed.end_ns, passed.object), (100, 350, 0x1000));
        assert_eq!((passed.kind.operation, passed.node), (Operation::MutexLock, (7, 0)));
        assert!(passed.is_postponed);
        assert!(!postponed.is_any() && postponed.take().is_none());
        postponed.keep(Kind::from(Operation::MutexLock), (100, 100_350), 0x1000, 7);
        assert!(postponed.is_due() && postponed.take().is_some() && !postponed.is_due());
    }
}
