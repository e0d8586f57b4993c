//! Raw system calls.
//!
//! The collector never calls the C library's wrappers for these: it would meet its own hooks, and the
//! wrappers write `errno`, which belongs to the program. Errors are returned as negative numbers.

use core::ffi::{CStr, c_char};

mod clocks;
mod files;
mod machine;
mod memory;
mod signals;

pub use clocks::*;
pub use files::*;
pub use machine::*;
pub use memory::*;
pub use signals::*;

/// Result of a system call: a value, or a negated errno between -4095 and -1.
pub type Outcome = isize;

/// Whether a system call failed.
pub fn failed(outcome: Outcome) -> bool {
    (-4095..0).contains(&outcome)
}

/// How often a call is made again that a signal has interrupted before it did anything.
const MOST_INTERRUPTIONS: u32 = 100;

/// Makes a call again as long as it is interrupted: by a signal, or by work that the kernel does for the
/// thread.
fn until_done(mut make: impl FnMut() -> Outcome) -> Outcome {
    for _ in 0..MOST_INTERRUPTIONS {
        let outcome = make();
        if outcome != -(libc::EINTR as isize) {
            return outcome;
        }
    }
    -(libc::EINTR as isize)
}

/// A system call with up to six arguments.
///
/// # Safety
/// The call must be sound for the process: pointers valid for what the kernel does with them.
#[inline]
pub unsafe fn call(number: libc::c_long, arguments: [usize; 6]) -> Outcome {
    let [a, b, c, d, e, f] = arguments;
    // SAFETY: the caller's promise.
    unsafe { syscalls::raw::syscall6(number as usize, a, b, c, d, e, f) as isize }
}

macro_rules! sys {
    ($number:ident $(, $argument:expr)*) => {{
        let given = [$($argument as usize),*];
        let mut arguments = [0_usize; 6];
        arguments[..given.len()].copy_from_slice(&given);
        // SAFETY: each use in this module and below passes pointers to live memory of the sizes the call
        // expects.
        unsafe { call(libc::$number, arguments) }
    }};
}

use sys;

/// Kernel id of the calling thread.
#[inline]
pub fn gettid() -> u32 {
    sys!(SYS_gettid, 0) as u32
}

/// Process id.
pub fn getpid() -> u32 {
    sys!(SYS_getpid, 0) as u32
}

/// Parent's process id.
pub fn getppid() -> u32 {
    sys!(SYS_getppid, 0) as u32
}

/// User id.
pub fn getuid() -> u32 {
    sys!(SYS_getuid, 0) as u32
}

/// The calling thread's name, filled up with zeros.
pub fn thread_name() -> [u8; 16] {
    let mut name = [0_u8; 16];
    // PR_GET_NAME fills 16 bytes, the final zero included.
    // SAFETY: the buffer has that size.
    unsafe { call(libc::SYS_prctl, [libc::PR_GET_NAME as usize, name.as_mut_ptr() as usize, 0, 0, 0, 0]) };
    name
}

/// Lets other threads run on the caller's processor.
pub fn give_processor_away() {
    sys!(SYS_sched_yield, 0);
}

/// Whether there is a thread of that kernel id; in any process, since a child may run in its parent's memory.
pub fn has_thread(tid: u32) -> bool {
    sys!(SYS_tkill, tid, 0) != -(libc::ESRCH as isize)
}

/// Sleeps for so long, or until a signal is delivered.
pub fn sleep_ns(ns: u64) {
    let time = [(ns / 1_000_000_000) as i64, (ns % 1_000_000_000) as i64];
    sys!(SYS_nanosleep, time.as_ptr(), 0);
}

/// Asks the kernel to be ready for [`barrier`]; whether it is. Cheap while the process has one thread.
pub fn register_barriers() -> bool {
    !failed(sys!(SYS_membarrier, libc::MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0))
}

/// Every thread of this process executes a full memory barrier before this returns. Only after
/// [`register_barriers`].
pub fn barrier() {
    sys!(SYS_membarrier, libc::MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0);
}

/// Bytes of a C string.
///
/// # Safety
/// `text` points to a zero-terminated string that lives as long as the result is used.
pub unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}
