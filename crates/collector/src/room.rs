//! Room to work in where the thread's stack has little: a stack of the lane's own.
//!
//! The program's stacks may be as small as 16 KB, or a coroutine's few KB somewhere in the heap. Finding a call path may
//! take more than that. So what takes much runs on a private stack, unless the thread is known to have plenty.

use core::ffi::c_void;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicPtr, Ordering};

use crate::lane::Lane;
use crate::{arena, raw};

/// A stack with so much left is plenty.
const PLENTY_BYTES: u64 = 64 << 10;
const PRIVATE_BYTES: usize = 64 << 10;

/// A lane's private stack, made when it is first needed.
#[derive(Debug)]
pub struct Room(AtomicPtr<u8>);

impl Room {
    /// None yet.
    pub const fn new() -> Room {
        Room(AtomicPtr::new(core::ptr::null_mut()))
    }

    /// The address above it; None without memory. Only for who has taken the lane's record.
    fn top(&self) -> Option<*mut u8> {
        let mut memory = self.0.load(Ordering::Relaxed);
        if memory.is_null() {
            memory = arena::pages(PRIVATE_BYTES);
            self.0.store(memory, Ordering::Relaxed);
        }
        // SAFETY: the end of a mapping of that size.
        (!memory.is_null()).then(|| unsafe { memory.add(PRIVATE_BYTES) })
    }
}

impl Default for Room {
    fn default() -> Room {
        Room::new()
    }
}

impl Lane {
    /// Runs `work` with plenty of stack.
    ///
    /// # Safety
    /// The caller is the owner and has taken the record.
    #[inline]
    pub unsafe fn with_room<R>(&self, work: impl FnOnce() -> R) -> R {
        let sp = stack_pointer();
        // SAFETY: the caller is the owner.
        let own = unsafe { self.own_stack() };
        if own.contains(sp) && sp - own.low >= PLENTY_BYTES {
            return work();
        }
        // SAFETY: the caller has taken the record.
        unsafe { self.aside(work) }
    }

    /// Runs `work` on the private stack, while no handler of the program may run.
    ///
    /// # Safety
    /// As for [`Lane::with_room`].
    #[cold]
    #[inline(never)]
    pub unsafe fn aside<R>(&self, work: impl FnOnce() -> R) -> R {
        let Some(top) = self.room.top() else { return work() };
        let mask = raw::signal_mask(libc::SIG_SETMASK, u64::MAX);
        // SAFETY: the private stack is mapped, and used by who has taken the record alone; no signal handler runs on it.
        let result = unsafe { on_stack(top, work) };
        raw::signal_mask(libc::SIG_SETMASK, mask);
        result
    }
}

#[inline]
fn stack_pointer() -> u64 {
    let sp: u64;
    // SAFETY: reads a register.
    unsafe { core::arch::asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Runs `work` on another stack.
///
/// # Safety
/// Below `top`, which is aligned to 16 bytes, lies mapped memory that nobody else uses meanwhile, enough for `work`,
/// which does not unwind out of this.
#[inline(never)]
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
    // SAFETY: the stack pointer is kept in a register that called functions preserve, and is put back; all registers
    // that a call may change are declared so.
    unsafe {
        core::arch::asm!(
            "mov r12, rsp",
            "mov rsp, {top}",
            "call {run}",
            "mov rsp, r12",
            top = in(reg) top,
            run = in(reg) run::<F, R> as extern "C" fn(*mut c_void),
            in("rdi") &raw mut call,
            out("r12") _,
            clobber_abi("C"),
        );
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
        // SAFETY: the end of the mapping, which nobody else uses.
        let (result, sp) = unsafe {
            let text = String::from("kept");
            on_stack(memory.add(PRIVATE_BYTES), move || (text + " and more", stack_pointer()))
        };
        assert_eq!(result, "kept and more");
        let range = memory as u64..memory as u64 + PRIVATE_BYTES as u64;
        assert!(range.contains(&sp));
        assert!(!range.contains(&stack_pointer()));
    }
}
