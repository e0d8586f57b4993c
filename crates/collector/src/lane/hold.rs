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
/// Bits of [`Hold::met`] for how often.
const MEETING_BITS: u32 = 8;

/// Whether the kernel makes all processors of this process keep order. Written before there are threads.
static ORDERS_OTHERS: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);

/// Asks the kernel to be ready; before the first lane of a process is made.
pub fn prepare() {
    ORDERS_OTHERS.store(raw::register_barriers(), Ordering::Relaxed);
}

/// Which thread uses the record.
#[derive(Debug)]
pub struct Hold {
    /// The owner does, or is about to look whether it may: its stack pointer; 0 = it does not.
    owner: AtomicU64,
    /// Which hook the sampler has found using it ([`Hold::takes`]), and how often.
    met: AtomicU32,
    /// How often the owner has taken it.
    takes: AtomicU16,
    /// Another thread does, or is about to look whether it may.
    other: AtomicBool,
    /// Whether it is enough that the other one keeps order.
    other_pays: bool,
}

impl Hold {
    /// Of a lane that no thread uses.
    pub fn new() -> Hold {
        Hold {
            owner: AtomicU64::new(0),
            met: AtomicU32::new(0),
            takes: AtomicU16::new(0),
            other: AtomicBool::new(false),
            other_pays: ORDERS_OTHERS.load(Ordering::Relaxed),
        }
    }

    /// The owner takes the record in a hook; None if it has it already, in what this call interrupts, or if
    /// another thread has it. `own_stack` is the owner's.
    #[inline]
    pub fn take(&self, own_stack: impl FnOnce() -> OwnStack) -> Option<ByOwner<'_>> {
        let sp = stack_pointer();
        // A handler between this line and the next gives back what it takes.
        let holder = self.owner.load(Ordering::Relaxed);
        if holder != 0 && !is_left_for_hook(holder, sp, own_stack) {
            return None;
        }
        self.take_as(sp)
    }

    /// The owner takes the record in its handler, having interrupted the frame at `sp`; `alternate` is its
    /// alternate stack.
    pub fn take_in_handler(
        &self,
        sp: u64,
        own_stack: OwnStack,
        alternate: Range<u64>,
    ) -> Option<ByOwner<'_>> {
        let holder = self.owner.load(Ordering::Relaxed);
        if holder != 0 && !is_left(holder, sp, own_stack, || alternate) {
            let hook = u32::from(self.takes.load(Ordering::Relaxed)) << MEETING_BITS;
            let met = self.met.load(Ordering::Relaxed).checked_sub(hook);
            let met = met.filter(|&met| met < MOST_MEETINGS).unwrap_or(0) + 1;
            self.met.store(hook + met, Ordering::Relaxed);
            if met < MOST_MEETINGS {
                return None;
            }
        }
        self.met.store(0, Ordering::Relaxed);
        self.take_as(stack_pointer())
    }

    #[inline]
    fn take_as(&self, sp: u64) -> Option<ByOwner<'_>> {
        // Before the next line: a thread that finds the record taken also finds which time it is.
        self.takes.store(self.takes.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        self.owner.store(sp, Ordering::Relaxed);
        // Nothing that belongs into the bracket may be moved out of it, for the handler's sake, too: it runs
        // on this very thread.
        if self.other_pays {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        let held = ByOwner(self, sp);
        if self.other.load(Ordering::Acquire) { None } else { Some(held) }
    }

    /// As [`Hold::take`], where it must not fail because another thread looks into the record just now: that
    /// takes a moment. None if the collector is at work in this thread, or if the other one is not done in 20
    /// ms.
    pub fn take_in_time(&self, own_stack: OwnStack) -> Option<ByOwner<'_>> {
        let mut until_ns = 0;
        loop {
            let held = self.take(|| own_stack);
            if held.is_some() || self.owner.load(Ordering::Relaxed) != 0 {
                return held;
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
    pub fn is_taken_from_owner(&self) -> bool {
        self.other.load(Ordering::Acquire)
    }

    /// The lane has no owner any more. One that was ended in the middle of a hook has not given the record
    /// back.
    pub fn forget_owner(&self) {
        self.owner.store(0, Ordering::Release);
    }

    /// Another thread takes the record, and has its signals blocked meanwhile; None if the owner or a third
    /// thread has it.
    pub fn take_from_owner(&self) -> Option<ByOther<'_>> {
        if self.owner.load(Ordering::Relaxed) != 0 || self.other.load(Ordering::Relaxed) {
            return None;
        }
        let quiet = Quiet::begin();
        if self.other.swap(true, Ordering::SeqCst) {
            return None;
        }
        let held = ByOther(self, quiet);
        if self.other_pays {
            raw::barrier();
        } else {
            fence(Ordering::SeqCst);
        }
        if self.owner.load(Ordering::Acquire) != 0 { None } else { Some(held) }
    }
}

/// A hook at `sp` finds the record taken at `holder`. Its own frame is not the one that took it: what it
/// interrupts lies further out, and a frame that was at its own depth is gone.
#[cold]
#[inline(never)]
fn is_left_for_hook(holder: u64, sp: u64, own_stack: impl FnOnce() -> OwnStack) -> bool {
    is_left(holder, sp.saturating_add(1), own_stack(), raw::alternate_stack)
}

/// The owner has the record until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct ByOwner<'a>(&'a Hold, u64);

impl Drop for ByOwner<'_> {
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
pub struct ByOther<'a>(&'a Hold, #[allow(dead_code, reason = "dropped last")] Quiet);

impl Drop for ByOther<'_> {
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

    struct Guarded(Hold, UnsafeCell<[u64; 2]>);

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
        let guarded = Guarded(Hold { other_pays, ..Hold::new() }, UnsafeCell::new([0; 2]));
        let until = Instant::now() + Duration::from_millis(300);
        let added = thread::scope(|scope| {
            let others = [(); 2].map(|()| {
                scope.spawn(|| {
                    let mut added = 0;
                    while Instant::now() < until {
                        if let Some(_held) = guarded.0.take_from_owner() {
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
                    if let Some(_held) = guarded.0.take(unknown) {
                        guarded.add();
                        added += 1;
                    }
                }
            }
            if let Some(_held) =
                core::iter::repeat_with(|| guarded.0.take_in_time(unknown())).flatten().next()
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
            let hold = Hold { other_pays, ..Hold::new() };
            let mine = hold.take(unknown);
            assert!(mine.is_some());
            assert!(!deeper(|| hold.take(unknown).is_some()), "in a handler of the program");
            assert!(hold.take_from_owner().is_none());
            assert!(!deeper(|| hold.take_in_time(unknown()).is_some()), "it would wait for itself");
            drop(mine);
            let theirs = hold.take_from_owner();
            assert!(theirs.is_some());
            assert!(hold.take(unknown).is_none());
            assert!(hold.take_from_owner().is_none());
            assert!(hold.is_taken_from_owner());
            let begin = Instant::now();
            assert!(hold.take_in_time(unknown()).is_none());
            assert!(begin.elapsed().as_nanos() as u64 >= PATIENCE_NS);
            drop(theirs);
            assert!(!hold.is_taken_from_owner());
            core::mem::forget(hold.take(unknown));
            assert!(!deeper(|| hold.take(unknown).is_some()));
            hold.forget_owner();
            assert!(hold.take(unknown).is_some());
        }
    }

    #[test]
    fn a_thread_that_left_it_by_a_jump_does_not_keep_it() {
        let own = OwnStack { low: 0, top: 1 << 47 };
        let hold = Hold::new();
        let here = stack_pointer();
        // In a frame that is gone, as far in as this one.
        core::mem::forget(hold.take_as(here));
        assert!(
            hold.take_in_handler(here, own, 0..0).is_none(),
            "it may be that very frame that was interrupted"
        );
        assert!(hold.take_in_handler(here + 16, own, 0..0).is_some());
        core::mem::forget(hold.take_as(here - 4096));
        assert!(hold.take(|| own).is_some());
        // Further out than this one: an interrupted hook, in whose signal handler this would be.
        core::mem::forget(hold.take_as(here + 4096));
        assert!(hold.take(|| own).is_none());
        // On an unknown stack it takes a few samples to decide; several hooks of one handler are not enough.
        hold.forget_owner();
        core::mem::forget(hold.take_as(here + 4096));
        for _ in 0..10 {
            assert!(hold.take(unknown).is_none());
        }
        hold.met.store(0, Ordering::Relaxed);
        for meeting in 1..=MOST_MEETINGS {
            assert_eq!(hold.take_in_handler(here, unknown(), 0..0).is_some(), meeting == MOST_MEETINGS);
        }
        assert!(hold.take(unknown).is_some());
    }

    #[test]
    fn a_thread_that_is_met_in_one_hook_after_another_keeps_it() {
        let hold = Hold::new();
        for _ in 0..100_000 {
            let held = hold.take_as(0x2000);
            assert!(held.is_some() && hold.take_in_handler(0x1000, unknown(), 0..0).is_none());
        }
    }

    #[test]
    fn a_context_that_goes_on_does_not_give_back_what_another_one_has_taken() {
        let hold = Hold::new();
        let first = hold.take_as(0x1000);
        let second = hold.take_as(0x2000);
        drop(first);
        assert_eq!(hold.owner.load(Ordering::Relaxed), 0x2000);
        drop(second);
        assert_eq!(hold.owner.load(Ordering::Relaxed), 0);
    }
}
