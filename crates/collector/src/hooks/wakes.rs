//! Waking threads that wait for a condition or a semaphore.

use core::ffi::{c_int, c_void};

use libc::{pthread_cond_t, sem_t};
use proust_log::operations::Operation;

use crate::interpose::interpose;
use crate::operation::{here, releases};

/// `thrd_error`
const THREAD_ERROR: c_int = 2;

macro_rules! wakes {
    ($( $(#[$how:ident($version:literal)])? $name:ident ( $type:ty as $grammar:ident($of:ident) ),
        or $none:expr
        => $operation:ident; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(object: $type) -> c_int {
                let Some(function) = real::$name() else { return $none };
                releases::bracket_wake(
                    Operation::$operation,
                    object as u64,
                    // SAFETY: the real function with the argument that the program gave.
                    || unsafe { function(object) },
                    || here!(),
                )
            }
        )*
        interpose! {
            $( $(#[$how($version)])? $name(object: $type as $grammar($of)) -> c_int, or $none; )*
        }
    };
}
wakes! {
    pthread_cond_signal(*mut pthread_cond_t as object(condition)), or libc::ENOSYS => ConditionSignal;
    pthread_cond_broadcast(*mut pthread_cond_t as object(condition)), or libc::ENOSYS => ConditionBroadcast;
    #[since("2.28")]
    cnd_signal(*mut c_void as object(cnd)), or THREAD_ERROR => CndSignal;
    #[since("2.28")]
    cnd_broadcast(*mut c_void as object(cnd)), or THREAD_ERROR => CndBroadcast;
    sem_post(*mut sem_t as object(semaphore)), or -1 => SemaphorePost;
}
