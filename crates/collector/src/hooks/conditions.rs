//! Condition variables.

use core::ffi::{c_int, c_void};

use libc::{clockid_t, pthread_cond_t, pthread_mutex_t, timespec};

use super::family::operations;
use crate::operation::Outcome;

/// `thrd_error`
const THREAD_ERROR: c_int = 2;

operations! {
    pthread_cond_wait(
        condition: *mut pthread_cond_t as object(condition), mutex: *mut pthread_mutex_t as object(mutex),
    ) -> c_int, or libc::ENOSYS
        => ConditionWait, (condition, mutex), Outcome::code;
    pthread_cond_timedwait(
        condition: *mut pthread_cond_t as object(condition), mutex: *mut pthread_mutex_t as object(mutex),
        until: *const timespec as input(timespec),
    )
        -> c_int, or libc::ENOSYS => ConditionTimedWait, (condition, mutex), Outcome::code;
    #[since("2.30")]
    pthread_cond_clockwait(
        condition: *mut pthread_cond_t as object(condition), mutex: *mut pthread_mutex_t as object(mutex),
        clock: clockid_t as number(clock), until: *const timespec as input(timespec),
    ) -> c_int, or libc::ENOSYS => ConditionClockWait, (condition, mutex), Outcome::code;
    #[since("2.28")]
    cnd_wait(condition: *mut c_void as object(cnd), mutex: *mut c_void as object(mtx))
        -> c_int, or THREAD_ERROR
        => CndWait, (condition, mutex), Outcome::code;
    #[since("2.28")]
    cnd_timedwait(
        condition: *mut c_void as object(cnd), mutex: *mut c_void as object(mtx),
        until: *const timespec as input(timespec),
    ) -> c_int, or THREAD_ERROR
        => CndTimedWait, (condition, mutex), Outcome::code;
}
