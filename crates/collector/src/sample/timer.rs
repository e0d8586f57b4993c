//! A thread's timers: one on its CPU clock, and where samples may be taken between two ticks, one on the
//! wall's clock.
//!
//! The thread CPU clock works for every user and charges time in the kernel too; its timers expire at most
//! once in a kernel tick, at the tick. Both carry the same cookie: whether a sample is due is decided by the
//! CPU clock, never by which timer said so, since two of their signals may become one.

use crate::raw::Outcome;
use crate::{clock, raw};

/// Value that our timers' signals carry, to distinguish them from others of the same number.
pub const COOKIE: usize = 0x5052_4f55_5354_0001;

/// In place of a timer's number, in a signal that a thread sends itself: it asks for a sample here and now.
pub const ASKED: i32 = -1;

/// Creates the timer of thread `tid` of this process on its CPU clock, which sends `signal`; an errno if the
/// kernel refuses.
pub fn create(tid: u32, signal: i32) -> Result<i32, i32> {
    raw::timer_create(clock::cpu_clock_of(tid), signal, COOKIE, tid)
}

/// Creates a timer on the wall's clock that sends `signal` to thread `tid`; an errno if the kernel refuses.
pub fn create_one_shot(tid: u32, signal: i32) -> Result<i32, i32> {
    raw::timer_create(libc::CLOCK_MONOTONIC, signal, COOKIE, tid)
}

/// Arms a CPU timer: it expires at the first tick after the clock has reached `cpu_ns`, and every `again_ns`
/// from there on, in case that no thread can run on at that one.
pub fn at_cpu(timer: i32, cpu_ns: u64, again_ns: u64) -> Outcome {
    raw::timer_set(timer, libc::TIMER_ABSTIME, cpu_ns.max(1), again_ns)
}

/// Arms a timer to expire once, in so long.
pub fn after(timer: i32, ns: u64) {
    raw::timer_set(timer, 0, ns.max(1), 0);
}

/// Disarms a timer.
pub fn disarm(timer: i32) {
    raw::timer_set(timer, 0, 0, 0);
}

/// Deletes a timer.
pub fn stop(timer: i32) {
    raw::timer_delete(timer);
}
