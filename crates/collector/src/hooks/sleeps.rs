//! Sleeping, and giving the processor away.

use core::ffi::{c_int, c_uint, c_void};

use libc::{clockid_t, timespec, useconds_t};

use proust_log::operations::Operation;

use super::family::errno_of;
use crate::interpose::interpose;
use crate::operation::{self, Outcome};

/// Result of a function without one.
type Nothing = ();

/// Of `thrd_sleep`: 0, or less than that.
fn slept(result: c_int) -> Outcome {
    Outcome::code(if result < 0 { libc::EINTR } else { 0 })
}

/// Of `sleep`: the seconds that were left when a signal was delivered.
fn unslept(left: c_uint) -> Outcome {
    Outcome::code(if left > 0 { libc::EINTR } else { 0 })
}

/// Declares hooks of functions that sleep: after the call it is known for how long, if it slept so long.
macro_rules! sleeps {
    ($( $(#[$how:ident $(($version:literal))?])? $name:ident (
        $($argument:ident : $type:ty as $grammar:ident $(($($of:ident),*))?),* $(,)?
    ) -> $result:ty, or $none:expr
        => $operation:ident, $outcome:expr, $asked_ns:expr; )*) => {
        $(
            #[doc = concat!("`", stringify!($name), "`")]
            #[unsafe(no_mangle)]
            pub unsafe extern "C-unwind" fn $name($($argument: $type),*) -> $result {
                let Some(function) = real::$name() else { return $none };
                operation::bracket_asking(
                    Operation::$operation,
                    // SAFETY: the real function with the arguments that the program gave.
                    || unsafe { function($($argument),*) },
                    $outcome,
                    |result, begin_ns| {
                        if result != 0 {
                            return 0;
                        }
                        let asked_ns: fn($($type,)* u64) -> u64 = $asked_ns;
                        asked_ns($($argument,)* begin_ns)
                    },
                )
            }
        )*
        interpose! {
            $( $(#[$how $(($version))?])? $name($($argument: $type as $grammar $(($($of),*))?),*)
                -> $result, or $none; )*
            sched_yield() -> c_int, or -1;
            #[since("2.28")]
            thrd_yield() -> Nothing, or Default::default();
        }
    };
}

/// Declares hooks of functions that give the processor away.
macro_rules! yields {
    ($( $name:ident () -> $result:ty, or $none:expr => $operation:ident, $outcome:expr; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> $result {
            let Some(function) = real::$name() else { return $none };
            // SAFETY: the real function.
            operation::bracket(Operation::$operation, 0, || unsafe { function() }, $outcome)
        }
    )* };
}

/// A time that the C library has read without a complaint, ns.
fn as_ns(time: *const timespec) -> u64 {
    // SAFETY: the call that it was an argument of has just succeeded.
    let time = unsafe { time.read() };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    seconds.saturating_mul(1_000_000_000).saturating_add(u64::try_from(time.tv_nsec).unwrap_or(0))
}

/// Of `clock_nanosleep`. Only an instant of our own clock can be converted to a length.
fn until(clock: clockid_t, flags: c_int, time: *const timespec, begin_ns: u64) -> u64 {
    match (flags & libc::TIMER_ABSTIME != 0, clock) {
        (false, _) => as_ns(time),
        (true, libc::CLOCK_MONOTONIC) => as_ns(time).saturating_sub(begin_ns),
        (true, _) => 0,
    }
}

sleeps! {
    nanosleep(time: *const timespec as input(timespec), left: *mut timespec as output(timespec))
        -> c_int, or -1
        => NanoSleep, errno_of, |time, _, _| as_ns(time);
    clock_nanosleep(
        clock: clockid_t as number(clock), flags: c_int as number(flags),
        time: *const timespec as input(timespec), left: *mut timespec as output(timespec),
    ) -> c_int, or libc::ENOSYS
        => ClockNanoSleep, Outcome::code,
        |clock, flags, time, _, begin_ns| until(clock, flags, time, begin_ns);
    usleep(time: useconds_t as number(microseconds)) -> c_int, or -1
        => MicroSleep, errno_of, |time, _| u64::from(time) * 1000;
    sleep(time: c_uint as number(seconds)) -> c_uint, or time
        => Sleep, unslept, |time, _| u64::from(time) * 1_000_000_000;
    #[since("2.28")]
    thrd_sleep(time: *const c_void as input(timespec), left: *mut c_void as output(timespec)) -> c_int, or -2
        => ThrdSleep, slept, |time, _, _| as_ns(time.cast());
}

yields! {
    sched_yield() -> c_int, or -1 => Yield, errno_of;
    thrd_yield() -> Nothing, or Default::default() => ThrdYield, |()| Outcome::default();
}
