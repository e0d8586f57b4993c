//! Semaphores, of POSIX and of System V, and barriers.

use core::ffi::{c_int, c_void};

use libc::{clockid_t, pthread_barrier_t, sem_t, size_t, timespec};
use proust_log::operations::Operation;

use super::deadlines;
use super::family::{errno_of, operations};
use crate::interpose::{interpose, real_functions};
use crate::operation::{self, Outcome, errno, set_errno};

/// Of `pthread_barrier_wait`: one thread gets a result that says it was the last.
fn at_barrier(result: c_int) -> Outcome {
    Outcome::code(result.max(0))
}

operations! {
    pthread_barrier_wait(barrier: *mut pthread_barrier_t as object(barrier)) -> c_int, or libc::ENOSYS
        => Barrier, (barrier, 0), at_barrier;
    semop(
        set: c_int as number(set), operations: *mut c_void as inputs(sembuf, count),
        count: size_t as number(count),
    ) -> c_int, or -1
        => SemaphoreOperation, (set, 0), errno_of;
    semtimedop(
        set: c_int as number(set), operations: *mut c_void as inputs(sembuf, count),
        count: size_t as number(count), time: *const timespec as input(timespec),
    ) -> c_int, or -1
        => SemaphoreTimedOperation, (set, 0), errno_of;
}

/// Semaphores that can be tried first.
pub mod posix {
    use super::{
        Operation, c_int, clockid_t, deadlines, errno, errno_of, interpose, operation, real_functions, sem_t,
        set_errno, timespec,
    };

    macro_rules! semaphores {
        ($( $(#[$how:ident($version:literal)])? $name:ident (
            $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),*
        ) => $operation:ident, $may_be_tried:expr; )*) => { $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name(semaphore: *mut sem_t $(, $argument: $type)*) -> c_int {
                let Some(function) = real::$name() else { return -1 };
                // SAFETY: the function reads the time that the program gave first, too.
                #[allow(unused_unsafe, reason = "one has no time")]
                let may_be_tried = unsafe { $may_be_tried };
                if may_be_tried
                    && let (Some(test_cancel), Some(try_first)) = (others::pthread_testcancel(),
                        others::sem_trywait())
                {
                    // SAFETY: waiting for a semaphore is a point of cancellation even if the thread need not
                    // wait; trying is not. Both are real functions with the program's argument.
                    unsafe {
                        test_cancel();
                        let before = errno();
                        if try_first(semaphore) == 0 {
                            return 0;
                        }
                        set_errno(before);
                    }
                }
                operation::bracket(
                    Operation::$operation,
                    semaphore as u64,
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function(semaphore $(, $argument)*) },
                    errno_of,
                )
            }
        )*
        interpose! { $(
            $(#[$how($version)])?
            $name(
                semaphore: *mut sem_t as object(semaphore)
                $(, $argument: $type as $grammar $(($($of),*))?)*
            ) -> c_int, or -1;
        )* } };
    }
    semaphores! {
        sem_wait() => SemaphoreWait, true;
        sem_timedwait(until: *const timespec as input(timespec))
            => SemaphoreTimedWait, deadlines::is_plain(until);
        #[since("2.30")]
        sem_clockwait(clock: clockid_t as number(clock), until: *const timespec as input(timespec))
            => SemaphoreClockWait, deadlines::is_plain_by(clock, until);
    }

    /// Functions that are not hooked.
    mod others {
        use super::{c_int, real_functions, sem_t};

        real_functions! {
            pthread_testcancel() -> ();
            sem_trywait(semaphore: *mut sem_t) -> c_int;
        }
    }
}
