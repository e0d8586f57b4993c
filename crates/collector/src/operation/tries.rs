//! Spinning by the program itself: trying to take a lock again and again is waiting for it.
//!
//! A try that fails begins a streak, and each further one on the same lock a moment later continues it. The
//! streak ends with the try that succeeds, or with the last one before the thread did something else.

use core::sync::atomic::{AtomicU16, AtomicU32, AtomicU64, Ordering};

use proust_log::operations::Operation;

use super::{Completed, Kind, Outcome, record_completed, waited};
use crate::lane::{self, Lane};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::{clock, raw};

/// A thread that tries again after so much CPU time did something else meanwhile.
const PATIENCE_NS: u64 = 100_000;
/// How often a thread that tries reads its CPU clock.
const CLOCKED_NS: u64 = 50_000;

/// A thread's streak of tries that failed.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Tries {
    /// Number of the operation; 0 = none. First, since every operation asks it.
    operation: AtomicU16,
    node: AtomicU32,
    /// The lock that the thread tries to take, or asked for where only getting it is reported.
    object: AtomicU64,
    since_ns: AtomicU64,
    last_ns: AtomicU64,
    /// Thread CPU clock, and when it was read.
    cpu_ns: AtomicU64,
    cpu_read_ns: AtomicU64,
}

impl Tries {
    /// Whether there is a streak.
    #[inline]
    pub fn is_active(&self) -> bool {
        self.operation.load(Ordering::Relaxed) != 0
    }

    /// Whether the thread is in a streak at `now_ns`: since its last try it had no time to do something else.
    pub fn is_live(&self, now_ns: u64) -> bool {
        if !self.is_active() {
            return false;
        }
        let passed_ns = now_ns.saturating_sub(self.last_ns.load(Ordering::Relaxed));
        passed_ns < PATIENCE_NS
            || clock::thread_cpu_ns().saturating_sub(self.cpu_ns.load(Ordering::Relaxed))
                < PATIENCE_NS + CLOCKED_NS
    }

    /// Since when the thread has been trying to take `lock`, if it does.
    pub fn since_ns(&self, lock: u64) -> Option<u64> {
        let is_trying = self.is_active() && self.object.load(Ordering::Relaxed) == lock;
        is_trying.then(|| self.since_ns.load(Ordering::Relaxed))
    }

    fn tried(&self, now_ns: u64) {
        self.last_ns.store(now_ns, Ordering::Relaxed);
        if now_ns.saturating_sub(self.cpu_read_ns.load(Ordering::Relaxed)) >= CLOCKED_NS {
            self.cpu_read_ns.store(now_ns, Ordering::Relaxed);
            self.cpu_ns.store(clock::thread_cpu_ns(), Ordering::Relaxed);
        }
    }

    fn take(&self) -> Option<Operation> {
        Operation::from_number(self.operation.swap(0, Ordering::Relaxed))
    }
}

/// A try failed. `state` is the hook's frame.
#[inline(never)]
pub fn failed(operation: Operation, object: u64, state: State) {
    let Some(life) = life::measuring() else { return };
    let Some(lane) = lane::current() else { return };
    if !super::wanted(operation.nature()) || lane.operations.open.kind().is_some() {
        return;
    }
    let tries = &lane.operations.tries;
    let now_ns = clock::now_ns();
    if tries.is_live(now_ns) && tries.object.load(Ordering::Relaxed) == object {
        tries.tried(now_ns);
        if tries.node.load(Ordering::Relaxed) == 0
            && now_ns.saturating_sub(tries.since_ns.load(Ordering::Relaxed)) >= PATIENCE_NS
        {
            // Should it give up, this frame will be gone.
            find_path(life, lane, state);
        }
        return;
    }
    stop(life, lane);
    tries.node.store(0, Ordering::Relaxed);
    tries.object.store(object, Ordering::Relaxed);
    tries.since_ns.store(now_ns, Ordering::Relaxed);
    tries.cpu_read_ns.store(0, Ordering::Relaxed);
    tries.tried(now_ns);
    // Any other operation ends the streak.
    tries.operation.store(operation as u16, Ordering::Relaxed);
    waited::want(object);
}

fn find_path(life: &Life, lane: &'static Lane, state: State) {
    if lane.owner.load(Ordering::Relaxed) != raw::gettid() {
        return;
    }
    lane.with_record(|record| {
        if record.output.is_open() {
            let node = record.path(state, life.pid).0;
            lane.operations.tries.node.store(node, Ordering::Relaxed);
        }
    });
}

/// The thread is about to try, in a runtime that reports nothing where that fails: if it did not report that
/// the try before succeeded, that one failed.
pub fn asked(operation: Operation, object: u64, state: State) {
    let (Some(life), Some(lane)) = (life::measuring(), lane::current()) else { return };
    let tries = &lane.operations.tries;
    if tries.object.load(Ordering::Relaxed) == object {
        failed(operation, object, state);
    } else {
        stop(life, lane);
        tries.object.store(object, Ordering::Relaxed);
    }
}

/// What [`asked`] was for is there.
#[inline]
pub fn answered(lane: &'static Lane, object: u64, state: impl FnOnce() -> State) {
    succeeded(lane, object, state);
    lane.operations.tries.object.store(0, Ordering::Relaxed);
}

/// A try succeeded.
#[inline]
pub fn succeeded(lane: &'static Lane, object: u64, state: impl FnOnce() -> State) {
    if lane.operations.tries.is_active() {
        end_with_success(lane, object, state());
    }
}

#[cold]
fn end_with_success(lane: &'static Lane, object: u64, state: State) {
    let Some(life) = life::in_hook() else { return };
    let now_ns = clock::now_ns();
    if lane.operations.tries.object.load(Ordering::Relaxed) == object && lane.operations.tries.is_live(now_ns)
    {
        lane.operations.tries.last_ns.store(now_ns, Ordering::Relaxed);
        finish(lane, Some(state));
    } else {
        stop(life, lane);
    }
}

/// The thread does something else now.
#[cold]
pub fn stop(_: &Life, lane: &'static Lane) {
    finish(lane, None);
}

fn finish(lane: &'static Lane, state: Option<State>) {
    let Some(operation) = lane.operations.tries.take() else { return };
    let (begin_ns, end_ns) = (
        lane.operations.tries.since_ns.load(Ordering::Relaxed),
        lane.operations.tries.last_ns.load(Ordering::Relaxed),
    );
    if end_ns <= begin_ns {
        return;
    }
    let completed = Completed {
        kind: Kind::from(operation),
        begin_ns,
        end_ns,
        object: lane.operations.tries.object.load(Ordering::Relaxed),
        object2: 0,
        request: 0,
        outcome: Outcome::default(),
        flags: 0,
        state,
        node: (lane.operations.tries.node.load(Ordering::Relaxed), 0),
        is_postponed: false,
    };
    record_completed(lane, &completed);
}
