//! Waiting for signals.

use core::ffi::{c_int, c_void};

use libc::{sigset_t, timespec};

use super::family::{errno_of, operations};
use crate::operation::Outcome;

operations! {
    sigwait(set: *const sigset_t, signal: *mut c_int) -> c_int, or libc::ENOSYS => SignalWait, (0, 0), Outcome::code;
    sigwaitinfo(set: *const sigset_t, info: *mut c_void) -> c_int, or -1 => SignalWaitInfo, (0, 0), errno_of;
    sigtimedwait(set: *const sigset_t, info: *mut c_void, timeout: *const timespec) -> c_int, or -1
        => SignalTimedWait, (0, 0), errno_of;
    pause() -> c_int, or -1 => Pause, (0, 0), errno_of;
    sigsuspend(mask: *const sigset_t) -> c_int, or -1 => SignalSuspend, (0, 0), errno_of;
}
