//! Waking threads that wait for a condition or a semaphore.

use core::ffi::{c_int, c_void};

use libc::{pthread_cond_t, sem_t};
use proust_log::operations::Operation;

use super::family::real_functions;
use crate::operation::{here, releases};

/// `thrd_error`
const THREAD_ERROR: c_int = 2;

macro_rules! wakes {
    ($( $name:ident ( $type:ty ), or $none:expr => $operation:ident; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(object: $type) -> c_int {
                let Some(function) = real::$name() else { return $none };
                releases::around(
                    Operation::$operation,
                    object as u64,
                    // SAFETY: the real function with the argument that the program gave.
                    || unsafe { function(object) },
                    || here!(),
                )
            }
        )*
        real_functions! { $( $name($type) -> c_int; )* }
    };
}
wakes! {
    pthread_cond_signal(*mut pthread_cond_t), or libc::ENOSYS => ConditionSignal;
    pthread_cond_broadcast(*mut pthread_cond_t), or libc::ENOSYS => ConditionBroadcast;
    cnd_signal(*mut c_void), or THREAD_ERROR => CndSignal;
    cnd_broadcast(*mut c_void), or THREAD_ERROR => CndBroadcast;
    sem_post(*mut sem_t), or -1 => SemaphorePost;
}
