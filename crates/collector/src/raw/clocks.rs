//! Clocks, the CPU time of threads, and timers.

use super::{Outcome, call, failed, sys};

/// Clock reading in nanoseconds; 0 if the kernel refuses the clock.
#[inline]
pub fn clock_ns(clock: i32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let outcome = sys!(SYS_clock_gettime, clock, &raw mut time);
    if failed(outcome) { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// Resolution of a clock in nanoseconds.
pub fn clock_resolution_ns(clock: i32) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    let outcome = sys!(SYS_clock_getres, clock, &raw mut time);
    if failed(outcome) { 0 } else { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 }
}

/// Resource use of `whose`: RUSAGE_THREAD, RUSAGE_SELF.
#[inline]
pub fn usage(whose: i32) -> libc::rusage {
    // SAFETY: all-zero is a valid `rusage`.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    sys!(SYS_getrusage, whose, &raw mut usage);
    usage
}

/// Creates a timer that signals thread `tid`; the timer's id, or an errno.
pub fn timer_create(clock: i32, signal: i32, value: usize, tid: u32) -> Result<i32, i32> {
    // SAFETY: all-zero is a valid `sigevent`.
    let mut event: libc::sigevent = unsafe { core::mem::zeroed() };
    event.sigev_value.sival_ptr = value as *mut core::ffi::c_void;
    event.sigev_signo = signal;
    event.sigev_notify = libc::SIGEV_THREAD_ID;
    event.sigev_notify_thread_id = tid as i32;
    let mut timer = 0_i32;
    let outcome = sys!(SYS_timer_create, clock as isize, &raw const event, &raw mut timer);
    if failed(outcome) { Err(-outcome as i32) } else { Ok(timer) }
}

/// Sets a timer: when it expires (0 = never), with TIMER_ABSTIME by its clock, and how often after that (0 =
/// not again).
pub fn timer_set(timer: i32, flags: i32, value_ns: u64, period_ns: u64) -> Outcome {
    let time = |ns: u64| libc::timespec {
        tv_sec: (ns / 1_000_000_000) as i64,
        tv_nsec: (ns % 1_000_000_000) as i64,
    };
    let setting = libc::itimerspec { it_interval: time(period_ns), it_value: time(value_ns) };
    sys!(SYS_timer_settime, timer, flags, &raw const setting, 0)
}

/// Deletes a timer.
pub fn timer_delete(timer: i32) {
    sys!(SYS_timer_delete, timer);
}

/// Whether the calling thread may read the processor's counter.
pub fn may_read_counter() -> bool {
    let mut setting = libc::PR_TSC_ENABLE;
    sys!(SYS_prctl, libc::PR_GET_TSC, &raw mut setting);
    setting != libc::PR_TSC_SIGSEGV
}
