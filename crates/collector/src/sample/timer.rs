//! A CPU timer for each thread.
//!
//! The thread CPU clock works for every user and charges time in the kernel too; it expires at most once
//! in a kernel tick. The signal's default action is *ignore*, so that one left pending across an exec does
//! not kill the new program.

use crate::{clock, raw};

/// The sampling signal.
pub const SIGNAL: i32 = libc::SIGURG;

/// Value that our timers' signals carry, to tell them from others' of the same number.
pub const COOKIE: usize = 0x5052_4f55_5354_0001;

/// The signal's bit in a kernel signal mask.
pub const SIGNAL_BIT: u64 = 1 << (SIGNAL - 1);

/// Creates and arms the timer of thread `tid` of this process; an errno if the kernel refuses.
pub fn start(tid: u32, period_ns: u64) -> Result<i32, i32> {
    let timer = raw::timer_create(clock::cpu_clock_of(tid), SIGNAL, COOKIE, tid)?;
    let armed = raw::timer_set(timer, period_ns);
    if raw::failed(armed) {
        raw::timer_delete(timer);
        return Err(-armed as i32);
    }
    Ok(timer)
}

/// Deletes a timer.
pub fn stop(timer: i32) {
    raw::timer_delete(timer);
}
