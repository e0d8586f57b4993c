//! The time stamp counter.

use core::arch::x86_64::{__cpuid, _mm_lfence, _rdtsc};

/// Bit of CPUID leaf 0x80000007, register d: the counter runs at one rate, whatever the processor does.
const INVARIANT: u32 = 1 << 8;
const POWER_LEAF: u32 = 0x8000_0007;
const HIGHEST_LEAF: u32 = 0x8000_0000;

/// Whether it runs at one rate.
pub fn is_even() -> bool {
    __cpuid(HIGHEST_LEAF).eax >= POWER_LEAF && __cpuid(POWER_LEAF).edx & INVARIANT != 0
}

/// Counter and clock are read at one moment, if reading both takes no more ticks than this.
pub fn at_once_ticks() -> u64 {
    1_000
}

/// Where the kernel makes its clock of the counter it is read in fewer ticks; of anything else, in many more.
pub fn clock_of_counter_ticks() -> u64 {
    500
}

/// The counter.
#[inline]
pub fn read() -> u64 {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { _rdtsc() }
}

/// The counter is not read before all that stands before this is done.
#[inline]
pub fn finish_before() {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { _mm_lfence() }
}
