//! Waiting for threads to end, and ending them.

use core::ffi::{c_int, c_void};
use core::sync::atomic::Ordering;

use libc::{clockid_t, pthread_t, timespec};

use super::family::{operations, real_functions};
use crate::operation::{self, Outcome};
use crate::{lane, life};

/// `thrd_error`
const THREAD_ERROR: c_int = 2;

operations! {
    pthread_join(thread: pthread_t, result: *mut *mut c_void) -> c_int, or libc::ENOSYS
        => Join, (thread, 0), Outcome::code;
    pthread_timedjoin_np(thread: pthread_t, result: *mut *mut c_void, until: *const timespec) -> c_int, or libc::ENOSYS
        => TimedJoin, (thread, 0), Outcome::code;
    pthread_clockjoin_np(thread: pthread_t, result: *mut *mut c_void, clock: clockid_t, until: *const timespec)
        -> c_int, or libc::ENOSYS => ClockJoin, (thread, 0), Outcome::code;
    thrd_join(thread: pthread_t, result: *mut c_int) -> c_int, or THREAD_ERROR
        => ThrdJoin, (thread, 0), Outcome::code;
}

/// Cancelling a thread.
pub mod cancel {
    use super::{Ordering, c_int, lane, life, operation, pthread_t, real_functions};

    /// `pthread_cancel`. The thread may be blocked: once it is cancelled, nothing tells any more who called what it
    /// was blocked in.
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

    real_functions! {
        pthread_cancel(pthread_t) -> c_int;
    }
}
