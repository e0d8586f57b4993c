//! The generic timer's virtual counter.

use core::arch::asm;

/// Whether it runs at one rate: the architecture says so.
pub fn is_even() -> bool {
    true
}

/// Ticks in a second: 24 million on some machines, a thousand million on others.
fn frequency() -> u64 {
    let frequency: u64;
    // SAFETY: reads a register that programs may read.
    unsafe { asm!("mrs {}, cntfrq_el0", out(reg) frequency, options(nomem, nostack, preserves_flags)) };
    frequency
}

/// Ticks in so many nanoseconds, and a few, since a tick may be longer than what is measured.
fn ticks_in(ns: u64) -> u64 {
    frequency() / 1_000_000 * ns / 1_000 + 2
}

/// Counter and clock are read at one moment, if reading both takes no more ticks than this.
pub fn at_once_ticks() -> u64 {
    ticks_in(400)
}

/// Where the kernel makes its clock of the counter it is read in fewer ticks; of anything else, in many more.
pub fn clock_of_counter_ticks() -> u64 {
    ticks_in(200)
}

/// The counter.
#[inline]
pub fn read() -> u64 {
    let ticks: u64;
    // SAFETY: reads a register that programs may read.
    unsafe { asm!("mrs {}, cntvct_el0", out(reg) ticks, options(nomem, nostack, preserves_flags)) };
    ticks
}

/// The counter is not read before all that stands before this is done.
#[inline]
pub fn finish_before() {
    // SAFETY: waits for instructions.
    unsafe { asm!("isb", options(nostack, preserves_flags)) };
}
