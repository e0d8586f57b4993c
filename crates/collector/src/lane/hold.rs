//! Who uses a lane's record: its owner, in a hook or in its handler, or another thread for it.
//!
//! The owner comes millions of times a second, another thread at the end of the process or before a cancellation. So all
//! that it costs to exclude each other is paid by the other: each says that it comes, and then looks whether the other
//! does. Between the two a processor must not let the look overtake the word. The owner only keeps its compiler from it,
//! and the other thread makes every processor that runs this process do the same, by a system call (`membarrier`). Where the
//! kernel has none, the owner pays, too: a locked instruction, 6 to 8 ns.

use core::sync::atomic::{AtomicBool, Ordering, compiler_fence, fence};

use crate::{clock, raw};

/// How long an owner waits for another thread.
const PATIENCE_NS: u64 = 20_000_000;

/// Whether the kernel makes all processors of this process keep order.
static ORDERS_OTHERS: AtomicBool = AtomicBool::new(false);

/// Asks the kernel to be ready; before the first lane of a process is made.
pub fn prepare() {
    ORDERS_OTHERS.store(raw::register_barriers(), Ordering::Relaxed);
}

/// Who uses the record.
#[derive(Debug)]
pub struct Hold {
    /// The owner does, or is about to look whether it may.
    owner: AtomicBool,
    /// Another thread does, or is about to look whether it may.
    other: AtomicBool,
    /// Whether it is enough that the other one keeps order.
    other_pays: bool,
}

impl Hold {
    /// Of a lane that nobody uses.
    pub fn new() -> Hold {
        Hold {
            owner: AtomicBool::new(false),
            other: AtomicBool::new(false),
            other_pays: ORDERS_OTHERS.load(Ordering::Relaxed),
        }
    }

    /// The owner takes the record; None if it has it already, in what this call interrupts, or if another thread has it.
    #[inline]
    pub fn take(&self) -> Option<ByOwner<'_>> {
        // A handler between this line and the next gives back what it takes.
        if self.owner.load(Ordering::Relaxed) {
            return None;
        }
        self.owner.store(true, Ordering::Relaxed);
        // Nothing that belongs into the bracket may be moved out of it, for the handler's sake, too: it runs on this very thread.
        if self.other_pays {
            compiler_fence(Ordering::SeqCst);
        } else {
            fence(Ordering::SeqCst);
        }
        let held = ByOwner(self);
        if self.other.load(Ordering::Acquire) { None } else { Some(held) }
    }

    /// As [`Hold::take`], where it must not fail because another thread looks into the record just now: that takes a moment.
    /// None if the collector is at work in this thread, or if the other one is not done in 20 ms.
    pub fn take_in_time(&self) -> Option<ByOwner<'_>> {
        let mut until_ns = 0;
        loop {
            let held = self.take();
            if held.is_some() || self.owner.load(Ordering::Relaxed) {
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

    /// The lane has no owner any more. One that was ended in the middle of a hook has not given the record back.
    pub fn forget_owner(&self) {
        self.owner.store(false, Ordering::Release);
    }

    /// Another thread takes the record; None if the owner or somebody else has it.
    pub fn take_from_owner(&self) -> Option<ByOther<'_>> {
        if self.owner.load(Ordering::Relaxed) || self.other.swap(true, Ordering::SeqCst) {
            return None;
        }
        let held = ByOther(self);
        if self.other_pays {
            raw::barrier();
        } else {
            fence(Ordering::SeqCst);
        }
        if self.owner.load(Ordering::Acquire) { None } else { Some(held) }
    }
}

/// The owner has the record until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct ByOwner<'a>(&'a Hold);

impl Drop for ByOwner<'_> {
    #[inline]
    fn drop(&mut self) {
        compiler_fence(Ordering::SeqCst);
        self.0.owner.store(false, Ordering::Release);
    }
}

/// Another thread has the record until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct ByOther<'a>(&'a Hold);

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

    struct Guarded(Hold, UnsafeCell<[u64; 2]>);

    // SAFETY: the numbers are touched by who holds them.
    unsafe impl Sync for Guarded {}

    impl Guarded {
        fn add(&self) {
            // SAFETY: the caller holds them.
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
                    if let Some(_held) = guarded.0.take() {
                        guarded.add();
                        added += 1;
                    }
                }
            }
            if let Some(_held) = core::iter::repeat_with(|| guarded.0.take_in_time()).flatten().next() {
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

    #[test]
    fn it_is_taken_once() {
        for other_pays in [false, true] {
            let hold = Hold { other_pays, ..Hold::new() };
            let mine = hold.take();
            assert!(mine.is_some());
            assert!(hold.take().is_none(), "in the owner's handler");
            assert!(hold.take_from_owner().is_none());
            assert!(hold.take_in_time().is_none(), "it would wait for itself");
            drop(mine);
            let theirs = hold.take_from_owner();
            assert!(theirs.is_some());
            assert!(hold.take().is_none());
            assert!(hold.take_from_owner().is_none());
            assert!(hold.is_taken_from_owner());
            let begin = Instant::now();
            assert!(hold.take_in_time().is_none());
            assert!(begin.elapsed().as_nanos() as u64 >= PATIENCE_NS);
            drop(theirs);
            assert!(!hold.is_taken_from_owner());
            core::mem::forget(hold.take());
            assert!(hold.take().is_none());
            hold.forget_owner();
            assert!(hold.take().is_some());
        }
    }
}
