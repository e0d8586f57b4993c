//! System calls that the program makes through the C library's `syscall`, of which some wait.
//!
//! The locks, conditions and parkers of Rust's standard library, of parking_lot, oneTBB and C++'s atomics are
//! futexes that they reach in this way. What a futex represents is decided in the analysis, by its caller.

use core::ffi::{c_int, c_long, c_ulong};

use proust_log::operations::Operation;

use super::{borrowers, confinement, memory_barriers, tracing};
use crate::interpose::interpose;
use crate::life;
use crate::operation::{self, Outcome, here, releases};
use crate::sample::alarm;

/// Operations of the `futex` call, without its flags, that wait.
const WAITING: [usize; 5] = [0, 6, 9, 11, 13];
/// Those that wake waiting threads.
const WAKING: [usize; 5] = [1, 3, 4, 5, 10];
/// Flags of the `futex` call's operation.
const FLAGS: usize = 128 | 256;

/// `syscall`, whose number of arguments depends on the call: six are passed on as the registers and the stack
/// have them.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn syscall(
    number: c_long,
    a: usize,
    b: usize,
    c: usize,
    d: usize,
    e: usize,
    f: usize,
) -> c_long {
    let Some(function) = real::syscall() else {
        operation::set_errno(libc::ENOSYS as u32);
        return -1;
    };
    // SAFETY: the real function with what the program gave.
    let call = || unsafe { function(number, a, b, c, d, e, f) };
    match number {
        libc::SYS_seccomp => confinement::before_filter(a, c),
        libc::SYS_prctl => confinement::before_change(a as c_int, b as c_ulong, c as c_ulong),
        libc::SYS_pivot_root => confinement::before_call(number),
        libc::SYS_membarrier if life::in_hook().is_some() => return memory_barriers::bracket(a, b, call),
        libc::SYS_ptrace => return tracing::bracket(a as u32, call),
        _ => borrowers::before_call(number),
    }
    let waits = match number {
        libc::SYS_futex if WAITING.contains(&(b & !FLAGS)) => Some(Operation::FutexWait),
        libc::SYS_futex_waitv => Some(Operation::FutexWaitMany),
        libc::SYS_io_uring_enter => Some(Operation::RingEnter),
        _ => None,
    };
    if number == libc::SYS_futex && WAKING.contains(&(b & !FLAGS)) {
        return releases::bracket_wake(Operation::FutexWake, a as u64, call, || here!());
    }
    match waits {
        Some(operation) => operation::bracket_two(operation, (a as u64, b as u64), call, Outcome::errno),
        None => alarm::without_samples(here!(), call),
    }
}

interpose! {
    syscall(
        number: c_long as number(call), a: usize as word, b: usize as word, c: usize as word,
        d: usize as word,
        e: usize as word, f: usize as word,
    ) -> c_long, or -1;
}
