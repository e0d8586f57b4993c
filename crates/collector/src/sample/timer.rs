//! A CPU timer for each thread.
//!
//! The thread CPU clock works for every user and charges time in the kernel too; it expires at most once
//! in a kernel tick.

use crate::{clock, raw};

/// Value that our timers' signals carry, to tell them from others' of the same number.
pub const COOKIE: usize = 0x5052_4f55_5354_0001;

/// Creates and arms the timer of thread `tid` of this process, which sends `signal`; an errno if the kernel
/// refuses.
pub fn start(tid: u32, period_ns: u64, signal: i32) -> Result<i32, i32> {
    let timer = raw::timer_create(clock::cpu_clock_of(tid), signal, COOKIE, tid)?;
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
