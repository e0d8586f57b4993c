//! Waiting for threads to end, and ending them.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use libc::{clockid_t, pthread_t, timespec};

use super::family::operations;
use crate::interpose::interpose;
use crate::operation::{self, Outcome};
use crate::{lane, life};

/// `thrd_error`
const THREAD_ERROR: c_int = 2;

operations! {
    pthread_join(thread: pthread_t as number(thread), result: *mut *mut c_void as output(address))
        -> c_int, or libc::ENOSYS
        => Join, (thread, 0), Outcome::code;
    pthread_timedjoin_np(
        thread: pthread_t as number(thread), result: *mut *mut c_void as output(address),
        until: *const timespec as input(timespec),
    ) -> c_int, or libc::ENOSYS
        => TimedJoin, (thread, 0), Outcome::code;
    #[since("2.31")]
    pthread_clockjoin_np(
        thread: pthread_t as number(thread), result: *mut *mut c_void as output(address),
        clock: clockid_t as number(clock), until: *const timespec as input(timespec),
    )
        -> c_int, or libc::ENOSYS => ClockJoin, (thread, 0), Outcome::code;
    #[since("2.28")]
    thrd_join(thread: pthread_t as number(thread), result: *mut c_int as output(result))
        -> c_int, or THREAD_ERROR
        => ThrdJoin, (thread, 0), Outcome::code;
}

/// Cancelling a thread.
pub mod cancel {
    use super::{Ordering, c_int, interpose, lane, life, operation, pthread_t};

    /// `pthread_cancel`. The thread may be blocked: once it is cancelled, the caller of what it was blocked
    /// in cannot be found any more.
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn pthread_cancel(thread: pthread_t) -> c_int {
        let Some(function) = real::pthread_cancel() else { return libc::ENOSYS };
        if let Some(life) = life::in_hook() {
            let mine = lane::current();
            let owned = lane::live().map(|lane| (lane, lane.owner.load(Ordering::Acquire)));
            let mut others = owned.filter(|(lane, _)| !mine.is_some_and(|mine| core::ptr::eq(mine, *lane)));
            if let Some((lane, owner)) =
                others.find(|(lane, _)| lane.thread.load(Ordering::Relaxed) == thread)
            {
                operation::look_into(life, lane, owner);
            }
        }
        // SAFETY: the real function with the argument that the program gave.
        unsafe { function(thread) }
    }

    interpose! {
        pthread_cancel(thread: pthread_t as number(thread)) -> c_int, or libc::ENOSYS;
    }
}
