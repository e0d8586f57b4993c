//! The processor's caches.

/// Asks for the line of memory at an address that is about to be changed, so that another processor that has
/// it gives it away at once. Any address will do: one that cannot be written is ignored.
#[inline(always)]
pub fn fetch_to_write(address: *const core::ffi::c_void) {
    // SAFETY: a hint, without any effect on registers and memory.
    unsafe {
        core::arch::asm!("prfm pstl1keep, [{}]", in(reg) address, options(nostack, preserves_flags));
    }
}
