//! Room to work in where the caller's stack has little: another stack.
//!
//! The program's stacks may be as small as 8 KiB, a coroutine's somewhere in the heap, without anything below
//! that would stop a write beyond its end. The collector may take at most 1 KiB of them. So any code that
//! takes more runs on a stack of the collector's own, unless the caller is known to have plenty: with the
//! lane's record ([`Lane::with_room`]) or without it ([`apart`]). No signal handler of the program runs
//! meanwhile, so that nothing leaves such a stack but by its end.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

use crate::arch::registers::stack_pointer;
use crate::arch::stacks::call_on;
use crate::free_list::FreeList;
use crate::lane::{self, Lane};
use crate::path::stack::OwnStack;
use crate::turn::Quiet;
use crate::{arena, raw};

/// A stack with so much left is plenty.
const PLENTY_BYTES: u64 = 64 << 10;
const PRIVATE_BYTES: usize = 64 << 10;

/// Stacks that no thread works on. There are as many in all as threads ever worked on one at once, which are
/// few: a thread on one is not blocked meanwhile. Thousands of threads with small stacks need no more.
static STACKS: FreeList = FreeList::new(0);

/// A stack to work on, until this is dropped.
struct Stack(*mut u8);

impl Stack {
    fn take() -> Option<Stack> {
        let mut memory = STACKS.take();
        if memory.is_null() {
            memory = arena::pages(PRIVATE_BYTES);
        }
        (!memory.is_null()).then_some(Stack(memory))
    }

    fn top(&self) -> *mut u8 {
        // SAFETY: the end of memory of that size.
        unsafe { self.0.add(PRIVATE_BYTES) }
    }
}

impl Drop for Stack {
    fn drop(&mut self) {
        // SAFETY: arena memory, which stays; no thread runs on it any more.
        unsafe { STACKS.give(self.0) };
    }
}

/// The stack that a lane's owner works on now; null = its own.
#[derive(Debug)]
pub struct Room(AtomicPtr<u8>);

impl Room {
    /// None.
    pub const fn new() -> Room {
        Room(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// Runs `work` on a stack of the collector's. Only for a thread that has taken the lane's record, with
    /// all signals blocked.
    fn run<R>(&self, work: impl FnOnce() -> R) -> R {
        let Some(stack) = Stack::take() else { return on_reserve(work) };
        let outer = self.0.swap(stack.0, Ordering::Relaxed);
        // SAFETY: no other thread uses the stack; no signal handler runs on it.
        let result = unsafe { on_stack(stack.top(), work) };
        self.0.store(outer, Ordering::Relaxed);
        result
    }

    fn contains(&self, sp: u64) -> bool {
        let memory = self.0.load(Ordering::Relaxed) as u64;
        memory != 0 && sp.wrapping_sub(memory) <= PRIVATE_BYTES as u64
    }
}

impl Default for Room {
    fn default() -> Room {
        Room::new()
    }
}

fn is_plenty(own: OwnStack, sp: u64) -> bool {
    own.contains(sp) && sp - own.low >= PLENTY_BYTES
}

impl Lane {
    /// Runs `work` with plenty of stack and with all signals blocked: no handler of the program may leave it
    /// half done.
    ///
    /// # Safety
    /// The caller is the owner and has taken the record.
    #[inline]
    pub unsafe fn with_room<R>(&self, work: impl FnOnce() -> R) -> R {
        let _quiet = Quiet::begin();
        // SAFETY: the caller's promise.
        unsafe { self.with_room_in_quiet(work) }
    }

    /// As [`Lane::with_room`], where all signals are blocked already.
    ///
    /// # Safety
    /// As for [`Lane::with_room`].
    pub unsafe fn with_room_in_quiet<R>(&self, work: impl FnOnce() -> R) -> R {
        let sp = stack_pointer();
        // SAFETY: the caller is the owner.
        let stays = is_plenty(unsafe { self.own_stack() }, sp) || self.room.contains(sp);
        // SAFETY: it stays where it is.
        if stays { unsafe { on_stack(core::ptr::null_mut(), work) } } else { self.room.run(work) }
    }

    /// Runs `work` where it is if the caller has plenty of stack, with signals as they are; otherwise as
    /// [`Lane::with_room`]. For what may be left by a jump at any instruction, and takes more than a hook
    /// may.
    ///
    /// # Safety
    /// The caller has taken the record. Should that not be the owner, all signals are blocked.
    #[inline]
    pub unsafe fn with_room_for<R>(&self, work: impl FnOnce() -> R) -> R {
        let sp = stack_pointer();
        // SAFETY: a copy of two words that change only while the record is taken.
        if is_plenty(unsafe { self.own_stack() }, sp) || self.room.contains(sp) {
            work()
        } else {
            // SAFETY: the caller's promise.
            unsafe { self.with_room(work) }
        }
    }

    /// As [`Lane::with_room_in_quiet`], before the record has been taken: for the sampling handler, which is
    /// on a stack that may have no more room than for the kernel's own frame, as the pieces of a split stack.
    /// It interrupts no code on a stack of the collector's, since all signals are blocked there.
    ///
    /// # Safety
    /// The caller is the owner's handler.
    #[inline(always)]
    pub unsafe fn with_room_at_once<R>(&self, work: impl FnOnce() -> R) -> R {
        // SAFETY: the caller is the owner.
        if is_plenty(unsafe { self.own_stack() }, stack_pointer()) { work() } else { self.room.run(work) }
    }

    /// As [`Lane::with_room_in_quiet`], on another stack in any case: the caller's is an alternate one, which
    /// may lie within the thread's own.
    ///
    /// # Safety
    /// As for [`Lane::with_room`], by a caller that is not on that other stack already.
    pub unsafe fn with_own_room<R>(&self, work: impl FnOnce() -> R) -> R {
        self.room.run(work)
    }
}

/// Runs `work` with plenty of stack, for a caller that has not taken a lane's record; `work` may take it.
pub fn apart<R>(work: impl FnOnce() -> R) -> R {
    // SAFETY: a copy of two words that only the owner changes, whose thread this is (or a child that has its
    // stack).
    let own = lane::current().map_or(OwnStack::default(), |lane| unsafe { lane.own_stack() });
    apart_from(own, work)
}

/// As [`apart`], for a caller with this stack of its own.
#[inline(never)]
pub fn apart_from<R>(own: OwnStack, work: impl FnOnce() -> R) -> R {
    if is_plenty(own, stack_pointer()) {
        // SAFETY: stays where it is.
        return unsafe { on_stack(core::ptr::null_mut(), work) };
    }
    let mask = raw::signal_mask(libc::SIG_SETMASK, u64::MAX);
    let result = match Stack::take() {
        // SAFETY: taken just now for this call alone.
        Some(stack) => unsafe { on_stack(stack.top(), work) },
        None => on_reserve(work),
    };
    raw::signal_mask(libc::SIG_SETMASK, mask);
    result
}

#[repr(C, align(4096))]
struct Reserve(core::cell::UnsafeCell<[u8; PRIVATE_BYTES]>);

// SAFETY: used as a stack by the thread that has taken `IN_RESERVE`.
unsafe impl Sync for Reserve {}

static RESERVE: Reserve = Reserve(core::cell::UnsafeCell::new([0; PRIVATE_BYTES]));
static IN_RESERVE: AtomicBool = AtomicBool::new(false);
/// How often one looks whether the reserve is free.
const MOST_TRIES: u32 = 10_000;

/// Runs `work` on the one stack that is there even if there is no memory; all signals are blocked. A thread
/// that has it meanwhile is done in a moment, or it is the caller, further out. One that was killed there as
/// a vforked child is never done: then nothing is left but the caller's stack.
#[cold]
#[inline(never)]
fn on_reserve<R>(work: impl FnOnce() -> R) -> R {
    let start = RESERVE.0.get().cast::<u8>();
    let is_in_it = stack_pointer().wrapping_sub(start as u64) <= PRIVATE_BYTES as u64;
    let takes = || {
        let is_free = !IN_RESERVE.swap(true, Ordering::Acquire);
        if !is_free {
            raw::give_processor_away();
        }
        is_free
    };
    let has_taken = !is_in_it && (0..MOST_TRIES).any(|_| takes());
    let top = if has_taken { start.wrapping_add(PRIVATE_BYTES) } else { core::ptr::null_mut() };
    // SAFETY: it is this caller's alone.
    let result = unsafe { on_stack(top, work) };
    if has_taken {
        IN_RESERVE.store(false, Ordering::Release);
    }
    result
}

/// In a forked child no other thread is on the reserve.
pub fn after_fork() {
    let start = RESERVE.0.get() as u64;
    if stack_pointer().wrapping_sub(start) > PRIVATE_BYTES as u64 {
        IN_RESERVE.store(false, Ordering::Release);
    }
}

/// Runs `work` on another stack, or on this one if `top` is null.
///
/// # Safety
/// Below `top`, which is aligned to 16 bytes, lies mapped memory that nothing else uses meanwhile, enough for
/// `work`, which does not unwind out of this.
#[inline]
unsafe fn on_stack<F: FnOnce() -> R, R>(top: *mut u8, work: F) -> R {
    struct Call<F, R> {
        work: Option<F>,
        result: MaybeUninit<R>,
    }
    extern "C" fn run<F: FnOnce() -> R, R>(call: *mut c_void) {
        // SAFETY: `on_stack` passes its own local variable, and waits.
        let call = unsafe { &mut *call.cast::<Call<F, R>>() };
        if let Some(work) = call.work.take() {
            call.result.write(work());
        }
    }
    let mut call = Call { work: Some(work), result: MaybeUninit::uninit() };
    // SAFETY: `call_on` keeps the registers that a called function has to keep, and `run` fits its argument.
    unsafe {
        call_on((&raw mut call).cast(), run::<F, R>, top);
        // SAFETY: `run` wrote it.
        call.result.assume_init()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_runs_on_the_other_stack_and_comes_back() {
        let memory = arena::pages(PRIVATE_BYTES);
        // SAFETY: the end of the mapping, which nothing else uses.
        let (result, sp) = unsafe {
            let text = String::from("kept");
            on_stack(memory.add(PRIVATE_BYTES), move || (text + " and more", stack_pointer()))
        };
        assert_eq!(result, "kept and more");
        let range = memory as u64..memory as u64 + PRIVATE_BYTES as u64;
        assert!(range.contains(&sp));
        assert!(!range.contains(&stack_pointer()));
    }

    #[test]
    fn a_thread_with_plenty_stays_and_all_others_move() {
        let sp = stack_pointer();
        let near = |other: u64| other.abs_diff(sp) < PLENTY_BYTES;
        let plenty = OwnStack { low: sp - 4 * PLENTY_BYTES, top: sp + PLENTY_BYTES };
        assert!(near(apart_from(plenty, stack_pointer)));
        let before = raw::signal_mask(libc::SIG_BLOCK, 0);
        let little = OwnStack { low: sp - PLENTY_BYTES / 2, ..plenty };
        for own in [little, OwnStack::default()] {
            let (there, mask) = apart_from(own, || (stack_pointer(), raw::signal_mask(libc::SIG_BLOCK, 0)));
            assert!(!near(there));
            assert!(mask.count_ones() >= 60, "a handler might run: {mask:x}");
        }
        assert_eq!(raw::signal_mask(libc::SIG_BLOCK, 0), before);
    }

    #[test]
    fn the_reserve_is_entered_once_and_again_from_inside() {
        let (outer, inner) = on_reserve(|| (stack_pointer(), on_reserve(stack_pointer)));
        let range = RESERVE.0.get() as u64..RESERVE.0.get() as u64 + PRIVATE_BYTES as u64;
        assert!(range.contains(&outer) && range.contains(&inner) && inner < outer);
        assert!(!IN_RESERVE.load(Ordering::Relaxed));
    }
}
