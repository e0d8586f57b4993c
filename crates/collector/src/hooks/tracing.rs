//! Threads that ask to be traced by their parent (`PTRACE_TRACEME`).
//!
//! Such a thread stops at each signal until its tracer looks. Many tracers wait for the next `exec` only, and
//! a program that asks just to keep debuggers away has a parent that never looks: one sampling signal, and it
//! stands for ever. So it is not sampled from then on, up to its `exec`.

use core::ffi::{c_int, c_long, c_uint};

use super::signal_moves::TRACED;
use crate::interpose::interpose;
use crate::lane;
use crate::life;

/// `PTRACE_TRACEME`
const TRACEME: c_uint = libc::PTRACE_TRACEME as c_uint;

/// Makes the call `call`, which is `ptrace` with that request.
pub fn bracket(request: c_uint, call: impl FnOnce() -> c_long) -> c_long {
    if request != TRACEME {
        return call();
    }
    set_traced(true);
    let result = call();
    if result < 0 {
        set_traced(false);
    }
    result
}

/// The calling thread is not sampled while it is traced. A child that was vforked has no timer.
fn set_traced(is_traced: bool) {
    if let Some(life) = life::in_hook().filter(|life| !life::is_borrowed(life))
        && let Some(lane) = lane::current()
    {
        lane.set_silence(life, TRACED, is_traced);
    }
}

/// `ptrace`, whose arguments after the first depend on it.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn ptrace(
    request: c_uint,
    process: c_int,
    address: usize,
    data: usize,
) -> c_long {
    let Some(function) = real::ptrace() else { return -1 };
    // SAFETY: the real function with the registers that the program filled.
    bracket(request, || unsafe { function(request, process, address, data) })
}

interpose! {
    ptrace(request: c_uint as word, process: c_int as word, address: usize as word, data: usize as word)
        -> c_long, or -1;
}
