//! Waiting for signals.
//!
//! A set that holds the sampling signal would catch the samples of threads: sampling gives way.

use core::ffi::{c_int, c_void};

use libc::{sigset_t, timespec};
use proust_log::operations::Operation;

use super::family::{errno_of, operations, real_functions};
use super::signals::await_signals;
use crate::operation::{self, Outcome};
use crate::{lane, life};

operations! {
    pause() -> c_int, or -1 => Pause, (0, 0), errno_of;
    sigsuspend(mask: *const sigset_t) -> c_int, or -1 => SignalSuspend, (0, 0), errno_of;
}

/// Those that wait for the signals of a set.
pub mod sets {
    use super::{
        Operation, Outcome, await_signals, c_int, c_void, errno_of, lane, life, operation, real_functions,
        sigset_t, timespec,
    };

    /// The set without what the program cannot have.
    ///
    /// # Safety
    /// Null or a valid set.
    unsafe fn what_it_gets(set: *const sigset_t) -> Option<sigset_t> {
        life::in_hook()?;
        lane::current()?;
        // SAFETY: the caller's promise.
        unsafe { set.as_ref() }.map(await_signals)
    }

    macro_rules! sets {
        ($( $name:ident ( $($argument:ident : $type:ty),* ), or $none:expr => $operation:ident, $outcome:expr; )*) => { $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(set: *const sigset_t $(, $argument: $type)*) -> c_int {
                let Some(function) = real::$name() else { return $none };
                // SAFETY: the program passes a valid set, or none.
                let mine = unsafe { what_it_gets(set) };
                let set = mine.as_ref().map_or(set, core::ptr::from_ref);
                operation::around(
                    Operation::$operation,
                    0,
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function(set $(, $argument)*) },
                    $outcome,
                )
            }
        )* };
    }
    sets! {
        sigwait(signal: *mut c_int), or libc::ENOSYS => SignalWait, Outcome::code;
        sigwaitinfo(info: *mut c_void), or -1 => SignalWaitInfo, errno_of;
        sigtimedwait(info: *mut c_void, timeout: *const timespec), or -1 => SignalTimedWait, errno_of;
    }

    /// `signalfd`, from which signals are read as bytes.
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn signalfd(file: c_int, set: *const sigset_t, flags: c_int) -> c_int {
        let Some(function) = real::signalfd() else { return -1 };
        // SAFETY: the program passes a valid set, or none, and gets the real function's result.
        unsafe {
            let mine = what_it_gets(set);
            function(file, mine.as_ref().map_or(set, core::ptr::from_ref), flags)
        }
    }

    real_functions! {
        sigwait(*const sigset_t, *mut c_int) -> c_int;
        sigwaitinfo(*const sigset_t, *mut c_void) -> c_int;
        sigtimedwait(*const sigset_t, *mut c_void, *const timespec) -> c_int;
        signalfd(c_int, *const sigset_t, c_int) -> c_int;
    }
}
