//! Waiting for signals.
//!
//! A set that contains the sampling signal would catch the samples of threads: sampling moves to the
//! fallback. If the wait is for that one, too, the program gets only its own signals.

use core::ffi::c_int;

use libc::{siginfo_t, sigset_t, timespec};
use proust_log::operations::Operation;

use super::family::{errno_of, operations};
use super::{signal_moves, signal_requests};
use crate::operation::{self, Outcome};
use crate::sample::handler::is_ours;
use crate::sample::signal;
use crate::{lane, life};

operations! {
    pause() -> c_int, or -1 => Pause, (0, 0), errno_of;
    sigsuspend(mask: *const sigset_t as input(sigset)) -> c_int, or -1 => SignalSuspend, (0, 0), errno_of;
}

/// Those that wait for the signals of a set.
pub mod sets {
    use super::{
        Operation, Outcome, c_int, errno_of, is_ours, lane, life, operation, siginfo_t, signal, signal_moves,
        signal_requests, sigset_t, timespec,
    };
    use crate::clock;
    use crate::hooks::readable;
    use crate::interpose::interpose;

    /// Whether a sample may end a wait for this set. Sampling moves away first, if it can. A set that the
    /// kernel will refuse has no signals.
    fn may_be_ours(set: *const sigset_t) -> bool {
        if life::in_hook().is_none() || lane::current().is_none() {
            return false;
        }
        // SAFETY: any eight bytes are a number; the kernel reads no more of a set.
        let awaited = unsafe { readable::read(set.cast::<u64>()) }.unwrap_or(0);
        signal_requests::before_wait(awaited);
        signal_moves::before_wait(awaited);
        awaited & signal::bit(signal::current()) != 0
    }

    /// Waits again as long as it receives a sample's signal. `call` waits, with a place for the signal's
    /// data.
    fn but_for_ours(info: *mut siginfo_t, mut call: impl FnMut(*mut siginfo_t) -> c_int) -> c_int {
        // SAFETY: all-zero is a valid siginfo.
        let mut received: siginfo_t = unsafe { core::mem::zeroed() };
        let result = loop {
            let result = call(&mut received);
            // SAFETY: the kernel filled in the signal that it returned.
            if result < 0 || !unsafe { is_ours(&received) } {
                break result;
            }
        };
        // The kernel refuses a place that it cannot write, when it has taken the signal. SAFETY: the program
        // passes null or a place.
        if result >= 0 && !info.is_null() && !unsafe { readable::write(info, &received) } {
            operation::set_errno(libc::EFAULT as u32);
            return -1;
        }
        result
    }

    /// `sigwait`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn sigwait(set: *const sigset_t, number: *mut c_int) -> c_int {
        let (Some(function), Some(informed)) = (real::sigwait(), real::sigwaitinfo()) else {
            return libc::ENOSYS;
        };
        let shares = may_be_ours(set);
        let wait_for_theirs = || {
            let errno = operation::errno();
            loop {
                // SAFETY: the program's set, and a place of our own.
                let result = but_for_ours(core::ptr::null_mut(), |info| unsafe { informed(set, info) });
                let error = operation::errno();
                operation::set_errno(errno);
                if result >= 0 {
                    // SAFETY: the program passes a place for the number.
                    unsafe { *number = result };
                    return 0;
                }
                if error != libc::EINTR as u32 {
                    return error as c_int;
                }
            }
        };
        // SAFETY: the real function with the arguments that the program gave.
        let wait = || if shares { wait_for_theirs() } else { unsafe { function(set, number) } };
        operation::bracket(Operation::SignalWait, 0, wait, Outcome::code)
    }

    /// `sigwaitinfo`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn sigwaitinfo(set: *const sigset_t, info: *mut siginfo_t) -> c_int {
        let Some(function) = real::sigwaitinfo() else { return -1 };
        let shares = may_be_ours(set);
        // SAFETY: the real function with the arguments that the program gave.
        let call = |info| unsafe { function(set, info) };
        let wait = || if shares { but_for_ours(info, call) } else { call(info) };
        operation::bracket(Operation::SignalWaitInfo, 0, wait, errno_of)
    }

    /// `sigtimedwait`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn sigtimedwait(
        set: *const sigset_t,
        info: *mut siginfo_t,
        timeout: *const timespec,
    ) -> c_int {
        let Some(function) = real::sigtimedwait() else { return -1 };
        let shares = may_be_ours(set);
        // SAFETY: any sixteen bytes are a time.
        let given = if shares { unsafe { readable::read(timeout) } } else { None };
        let given = given.filter(|given| given.tv_sec >= 0 && given.tv_nsec >= 0);
        let given_ns =
            given.map(|given| (given.tv_sec as u64).saturating_mul(1_000_000_000) + given.tv_nsec as u64);
        let begin_ns = clock::now_ns();
        let mut is_first = true;
        let call = |info| {
            let passed_ns = clock::now_ns().saturating_sub(begin_ns);
            let left = given_ns.filter(|_| !is_first).map(|given_ns| given_ns.saturating_sub(passed_ns));
            is_first = false;
            let left = left.map(|ns| timespec {
                tv_sec: (ns / 1_000_000_000) as i64,
                tv_nsec: (ns % 1_000_000_000) as i64,
            });
            let timeout = left.as_ref().map_or(timeout, core::ptr::from_ref);
            // SAFETY: the real function with the arguments that the program gave, or what is left of the
            // time.
            unsafe { function(set, info, timeout) }
        };
        // SAFETY: the real function with the arguments that the program gave.
        let wait = || if shares { but_for_ours(info, call) } else { unsafe { function(set, info, timeout) } };
        operation::bracket(Operation::SignalTimedWait, 0, wait, errno_of)
    }

    /// `signalfd`, from which signals are read as bytes: sampling moves away, if it can.
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn signalfd(file: c_int, set: *const sigset_t, flags: c_int) -> c_int {
        let Some(function) = real::signalfd() else { return -1 };
        may_be_ours(set);
        // SAFETY: the real function with the arguments that the program gave.
        unsafe { function(file, set, flags) }
    }

    interpose! {
        sigwait(set: *const sigset_t as input(sigset), number: *mut c_int as output(number))
            -> c_int, or libc::ENOSYS;
        sigwaitinfo(set: *const sigset_t as input(sigset), info: *mut siginfo_t as output(siginfo))
            -> c_int, or -1;
        sigtimedwait(
            set: *const sigset_t as input(sigset), info: *mut siginfo_t as output(siginfo),
            timeout: *const timespec as input(timespec),
        ) -> c_int, or -1;
        signalfd(file: c_int as fd, set: *const sigset_t as input(sigset), flags: c_int as number(flags))
            -> c_int, or -1;
    }
}
