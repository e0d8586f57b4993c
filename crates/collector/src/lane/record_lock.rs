//! Which thread uses a lane's record: its owner, in a hook or in its handler, or another thread for it.
//!
//! The owner takes it millions of times a second, another thread at the end of the process or before a
//! cancellation. So the other thread pays the whole cost of mutual exclusion: each stores that it is about to
//! enter, and then checks whether the other is. Between the two a processor must not let the load overtake
//! the store. The owner only keeps its compiler from reordering them, and the other thread makes every
//! processor that runs this process order them, by a system call (`membarrier`). Where the kernel has none,
//! the owner pays, too: a locked instruction, 6 to 8 ns.
//!
//! A handler of the program may leave the owner's hook at any instruction, by a jump, an exception or another
//! context, and then the record is not given back. So the owner stores its stack pointer. A thread that finds
//! that frame left (`left.rs`) takes the record. Where that cannot be decided, the owner's sampler takes it
//! when it has met the same hook a few times: between two samples a hook has long ended. Which hook that is
//! has to be known, since a thread that does little else is in one at every sample, but each time in another
//! one. Both are sound only because of what may be done by an owner that can be interrupted: it adds to
//! numbers whose places are fixed, or appends a record that its last store makes valid, where only a jump
//! ends it. Changes of places, of nodes, or of the log's chunks are made with all signals blocked
//! (`Lane::with_room`).

use core::ops::Range;

use super::left::is_left;
use crate::arch::registers::stack_pointer;
use crate::path::stack::OwnStack;
use crate::sync::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence, fence};
use crate::turn::Quiet;
use crate::{clock, raw};

/// How long an owner waits for another thread.
const PATIENCE_NS: u64 = 20_000_000;

/// The sampler takes the record from a hook that it has met so often.
const MOST_MEETINGS: u32 = 3;
/// Bits of [`RecordLock::met`] for how often.
const MEETING_BITS: u32 = 8;

/// Whether the kernel makes all processors of this process keep order. Written before there are threads.
static ORDERS_OTHERS: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

/// Asks the kernel to be ready; before the first lane of a process is made.
pub fn prepare() {
    ORDERS_OTHERS.store(raw::register_barriers(), Ordering::Relaxed);
}

/// Which thread uses the record.
#[derive(Debug)]
pub struct RecordLock {
    /// The owner does, or is about to look whether it may: its stack pointer; 0 = it does not.
    owner: AtomicU64,
    /// Which hook the sampler has found using it ([`RecordLock::acquisitions`]), and how often.
    met: AtomicU32,
    /// How often the owner has taken it.
    acquisitions: AtomicU16,
    /// Another thread does, or is about to look whether it may.
    other: AtomicBool,
    /// Whether it is enough that the other one keeps order.
    other_pays: bool,
}

impl RecordLock {
    /// Of a lane that no thread uses.
    pub fn new() -> RecordLock {
        RecordLock {
            owner: AtomicU64::new(0),
            met: AtomicU32::new(0),
            acquisitions: AtomicU16::new(0),
            other: AtomicBool::new(false),
            other_pays: ORDERS_OTHERS.load(Ordering::Relaxed),
        }
    }

    /// The owner takes the record in a hook; None if it has it already, in what this call interrupts, or if
    /// another thread has it. `own_stack` is the owner's.
    #[inline]
    pub fn acquire(&self, own_stack: impl FnOnce() -> OwnStack) -> Option<OwnerGuard<'_>> {
        let sp = stack_pointer();
        // A handler between this line and the next gives back what it takes.
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != 0 && !is_left_for_hook(owner, sp, own_stack) {
            return None;
        }
        self.acquire_as(sp)
    }

    /// The owner takes the record in its handler, having interrupted the frame at `sp`; `alternate` is its
    /// alternate stack.
    pub fn acquire_in_handler(
        &self,
        sp: u64,
        own_stack: OwnStack,
        alternate: Range<u64>,
    ) -> Option<OwnerGuard<'_>> {
        let owner = self.owner.load(Ordering::Relaxed);
        if owner != 0 && !is_left(owner, sp, own_stack, || alternate) {
            let hook = u32::from(self.acquisitions.load(Ordering::Relaxed)) << MEETING_BITS;
            let met = self.met.load(Ordering::Relaxed).checked_sub(hook);
            let met = met.filter(|&met| met < MOST_MEETINGS).unwrap_or(0) + 1;
            self.met.store(hook + met, Ordering::Relaxed);
            if met < MOST_MEETINGS {
                return None;
            }
        }
        self.met.store(0, Ordering::Relaxed);
        self.acquire_as(stack_pointer())
    }

    #[inline]
    fn acquire_as(&self, sp: u64) -> Option<OwnerGuard<'_>> {
        // Before the next line: a thread that finds the record taken also finds which time it is.
        self.acquisitions.store(self.acquisitions.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.owner.store(sp, Ordering::Relaxed);
        // Nothing that belongs into the bracket may be moved out of it, for the handler's sake, too: it runs
        // on this very thread.
        if self.other_pays {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        let guard = OwnerGuard(self, sp);
        if self.other.load(Ordering::Acquire) { None } else { Some(guard) }
    }

    /// As [`RecordLock::acquire`], where it must not fail because another thread looks into the record just
    /// now: that takes a moment. None if the collector is at work in this thread, or if the other one is not
    /// done in 20 ms.
    pub fn acquire_in_time(&self, own_stack: OwnStack) -> Option<OwnerGuard<'_>> {
        let mut until_ns = 0;
        loop {
            let guard = self.acquire(|| own_stack);
            if guard.is_some() || self.owner.load(Ordering::Relaxed) != 0 {
                return guard;
            }
            let now_ns = clock::now_ns();
            if until_ns == 0 {
                until_ns = now_ns + PATIENCE_NS;
            } else if now_ns >= until_ns {
                return None;
            }
            raw::give_processor_away();
        }
    }

    /// Whether another thread uses the record.
    pub fn is_acquired_by_other(&self) -> bool {
        self.other.load(Ordering::Acquire)
    }

    /// The lane has no owner any more. One that was ended in the middle of a hook has not given the record
    /// back.
    pub fn forget_owner(&self) {
        self.owner.store(0, Ordering::Release);
    }

    /// Another thread takes the record, and has its signals blocked meanwhile; None if the owner or a third
    /// thread has it.
    pub fn acquire_from_owner(&self) -> Option<OtherGuard<'_>> {
        if self.owner.load(Ordering::Relaxed) != 0 || self.other.load(Ordering::Relaxed) {
            return None;
        }
        let quiet = Quiet::begin();
        if self.other.swap(true, Ordering::SeqCst) {
            return None;
        }
        let guard = OtherGuard(self, quiet);
        if self.other_pays {
            raw::barrier();
        } else {
            fence(Ordering::SeqCst);
        }
        if self.owner.load(Ordering::Acquire) != 0 { None } else { Some(guard) }
    }
}

/// A hook at `sp` finds the record taken at `owner`. Its own frame is not the one that took it: what it
/// interrupts lies further out, and a frame that was at its own depth is gone.
#[cold]
#[inline(never)]
fn is_left_for_hook(owner: u64, sp: u64, own_stack: impl FnOnce() -> OwnStack) -> bool {
    is_left(owner, sp.saturating_add(1), own_stack(), raw::alternate_stack)
}

/// The owner has the record until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct OwnerGuard<'a>(&'a RecordLock, u64);

impl Drop for OwnerGuard<'_> {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        // Another context of the thread may have taken it, and still use it.
        if self.0.owner.load(Ordering::Relaxed) == self.1 {
            self.0.owner.store(0, Ordering::Release);
        }
    }
}

/// Another thread has the record until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct OtherGuard<'a>(&'a RecordLock, #[allow(dead_code, reason = "dropped last")] Quiet);

impl Drop for OtherGuard<'_> {
    fn drop(&mut self) {
        self.0.other.store(false, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use std::cell::UnsafeCell;
    use std::thread;
    use std::time::{Duration, Instant};

    use super::*;

    fn unknown() -> OwnStack {
        OwnStack::default()
    }

    struct Guarded(RecordLock, UnsafeCell<[u64; 2]>);

    // SAFETY: the numbers are touched only by the thread that has taken the record.
    unsafe impl Sync for Guarded {}

    impl Guarded {
        fn add(&self) {
            // SAFETY: the caller has taken the record.
            let numbers = unsafe { &mut *self.1.get() };
            assert_eq!(numbers[0], numbers[1]);
            numbers[0] += 1;
            core::hint::black_box(&mut *numbers);
            numbers[1] += 1;
        }
    }

    fn never_both(other_pays: bool) {
        let guarded = Guarded(RecordLock { other_pays, ..RecordLock::new() }, UnsafeCell::new([0; 2]));
        let until = Instant::now() + Duration::from_millis(300);
        let added = thread::scope(|scope| {
            let others = [(); 2].map(|()| {
                scope.spawn(|| {
                    let mut added = 0;
                    while Instant::now() < until {
                        if let Some(_guard) = guarded.0.acquire_from_owner() {
                            guarded.add();
                            added += 1;
                        }
                    }
                    added
                })
            });
            let mut added = 0;
            while Instant::now() < until {
                for _ in 0..100 {
                    if let Some(_guard) = guarded.0.acquire(unknown) {
                        guarded.add();
                        added += 1;
                    }
                }
            }
            if let Some(_guard) =
                core::iter::repeat_with(|| guarded.0.acquire_in_time(unknown())).flatten().next()
            {
                guarded.add();
                added += 1;
            }
            added + others.into_iter().map(|other| other.join().unwrap()).sum::<u64>()
        });
        assert_eq!(guarded.1.into_inner(), [added; 2]);
    }

    #[test]
    fn owner_and_others_never_have_it_both() {
        prepare();
        never_both(false);
        if ORDERS_OTHERS.load(Ordering::Relaxed) {
            never_both(true);
        } else {
            println!("SKIP: this kernel has no membarrier");
        }
    }

    /// Runs `work` with the stack pointer further in.
    #[inline(never)]
    fn deeper<R>(work: impl FnOnce() -> R) -> R {
        let room = core::hint::black_box([0_u8; 512]);
        let result = work();
        core::hint::black_box(&room);
        result
    }

    #[test]
    fn it_is_taken_once() {
        for other_pays in [false, true] {
            let lock = RecordLock { other_pays, ..RecordLock::new() };
            let mine = lock.acquire(unknown);
            assert!(mine.is_some());
            assert!(!deeper(|| lock.acquire(unknown).is_some()), "in a handler of the program");
            assert!(lock.acquire_from_owner().is_none());
            assert!(!deeper(|| lock.acquire_in_time(unknown()).is_some()), "it would wait for itself");
            drop(mine);
            let theirs = lock.acquire_from_owner();
            assert!(theirs.is_some());
            assert!(lock.acquire(unknown).is_none());
            assert!(lock.acquire_from_owner().is_none());
            assert!(lock.is_acquired_by_other());
            let begin = Instant::now();
            assert!(lock.acquire_in_time(unknown()).is_none());
            assert!(begin.elapsed().as_nanos() as u64 >= PATIENCE_NS);
            drop(theirs);
            assert!(!lock.is_acquired_by_other());
            core::mem::forget(lock.acquire(unknown));
            assert!(!deeper(|| lock.acquire(unknown).is_some()));
            lock.forget_owner();
            assert!(lock.acquire(unknown).is_some());
        }
    }

    #[test]
    fn a_thread_that_left_it_by_a_jump_does_not_keep_it() {
        let own = OwnStack { low: 0, top: 1 << 47 };
        let lock = RecordLock::new();
        let here = stack_pointer();
        // In a frame that is gone, as far in as this one.
        core::mem::forget(lock.acquire_as(here));
        assert!(
            lock.acquire_in_handler(here, own, 0..0).is_none(),
            "it may be that very frame that was interrupted"
        );
        assert!(lock.acquire_in_handler(here + 16, own, 0..0).is_some());
        core::mem::forget(lock.acquire_as(here - 4096));
        assert!(lock.acquire(|| own).is_some());
        // Further out than this one: an interrupted hook, in whose signal handler this would be.
        core::mem::forget(lock.acquire_as(here + 4096));
        assert!(lock.acquire(|| own).is_none());
        // On an unknown stack it takes a few samples to decide; several hooks of one handler are not enough.
        lock.forget_owner();
        core::mem::forget(lock.acquire_as(here + 4096));
        for _ in 0..10 {
            assert!(lock.acquire(unknown).is_none());
        }
        lock.met.store(0, Ordering::Relaxed);
        for meeting in 1..=MOST_MEETINGS {
            assert_eq!(lock.acquire_in_handler(here, unknown(), 0..0).is_some(), meeting == MOST_MEETINGS);
        }
        assert!(lock.acquire(unknown).is_some());
    }

    #[test]
    fn a_thread_that_is_met_in_one_hook_after_another_keeps_it() {
        let lock = RecordLock::new();
        for _ in 0..100_000 {
            let guard = lock.acquire_as(0x2000);
            assert!(guard.is_some() && lock.acquire_in_handler(0x1000, unknown(), 0..0).is_none());
        }
    }

    #[test]
    fn a_context_that_goes_on_does_not_give_back_what_another_one_has_taken() {
        let lock = RecordLock::new();
        let first = lock.acquire_as(0x1000);
        let second = lock.acquire_as(0x2000);
        drop(first);
        assert_eq!(lock.owner.load(Ordering::Relaxed), 0x2000);
        drop(second);
        assert_eq!(lock.owner.load(Ordering::Relaxed), 0);
    }
}
