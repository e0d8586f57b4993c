//! Condition variables.

use core::ffi::{c_int, c_void};

use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use super::family::operations;
use crate::operation::Outcome;

/// `thrd_error`
const THREAD_ERROR: c_int = 2;

operations! {
    pthread_cond_wait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t) -> c_int, or libc::ENOSYS
        => ConditionWait, (condition, mutex), Outcome::code;
    pthread_cond_timedwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, until: *const timespec)
        -> c_int, or libc::ENOSYS => ConditionTimedWait, (condition, mutex), Outcome::code;
    pthread_cond_clockwait(condition: *mut pthread_cond_t, mutex: *mut pthread_mutex_t, clock: clockid_t,
        until: *const timespec) -> c_int, or libc::ENOSYS => ConditionClockWait, (condition, mutex), Outcome::code;
    cnd_wait(condition: *mut c_void, mutex: *mut c_void) -> c_int, or THREAD_ERROR
        => CndWait, (condition, mutex), Outcome::code;
    cnd_timedwait(condition: *mut c_void, mutex: *mut c_void, until: *const timespec) -> c_int, or THREAD_ERROR
        => CndTimedWait, (condition, mutex), Outcome::code;
}
