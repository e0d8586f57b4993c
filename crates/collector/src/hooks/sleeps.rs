//! Sleeping, and giving the processor away.

use core::ffi::{c_int, c_uint, c_void};

use libc::{clockid_t, timespec, useconds_t};

use super::family::{errno_of, operations};
use crate::operation::Outcome;

/// Result of a function without one.
type Nothing = ();

/// Of `thrd_sleep`: 0, or less than that.
fn slept(result: c_int) -> Outcome {
    Outcome::code(if result < 0 { libc::EINTR } else { 0 })
}

/// Of `sleep`: the seconds that were left when a signal came.
fn unslept(left: c_uint) -> Outcome {
    Outcome::code(if left > 0 { libc::EINTR } else { 0 })
}

operations! {
    nanosleep(time: *const timespec, left: *mut timespec) -> c_int, or -1 => NanoSleep, (0, 0), errno_of;
    clock_nanosleep(clock: clockid_t, flags: c_int, time: *const timespec, left: *mut timespec) -> c_int, or libc::ENOSYS
        => ClockNanoSleep, (0, 0), Outcome::code;
    usleep(time: useconds_t) -> c_int, or -1 => MicroSleep, (0, 0), errno_of;
    sleep(time: c_uint) -> c_uint, or time => Sleep, (0, 0), unslept;
    thrd_sleep(time: *const c_void, left: *mut c_void) -> c_int, or -2 => ThrdSleep, (0, 0), slept;
    sched_yield() -> c_int, or -1 => Yield, (0, 0), errno_of;
    thrd_yield() -> Nothing, or Default::default() => ThrdYield, (0, 0), |()| Outcome::default();
}
