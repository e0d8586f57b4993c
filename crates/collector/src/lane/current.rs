//! The calling thread's lane, in thread-local storage at a fixed offset from the thread pointer: one load, no
//! call that could allocate.

use core::ffi::c_void;

use super::Lane;

core::arch::global_asm!(
    ".pushsection .tbss.proust_lane,\"awT\",@nobits",
    ".p2align 3",
    ".globl proust_lane",
    ".hidden proust_lane",
    ".type proust_lane,@object",
    ".size proust_lane,8",
    "proust_lane:",
    ".zero 8",
    ".popsection",
);

fn slot() -> *mut *mut c_void {
    let slot: *mut *mut c_void;
    // SAFETY: the initial-exec model's access sequence for a variable of this library. The library is
    // preloaded, so its thread-local storage is part of every thread's static block.
    unsafe {
        core::arch::asm!(
            "mov {slot}, qword ptr [rip + proust_lane@GOTTPOFF]",
            "add {slot}, qword ptr fs:[0]",
            slot = out(reg) slot,
            options(nostack, readonly)
        );
    }
    slot
}

/// The calling thread's lane.
#[inline]
pub fn get() -> Option<&'static Lane> {
    // SAFETY: the slot is this thread's own; it is null or a lane, and lanes are never freed.
    unsafe { (*slot()).cast::<Lane>().as_ref() }
}

/// Sets the calling thread's lane.
pub fn set(lane: Option<&'static Lane>) {
    let pointer = lane.map_or(core::ptr::null(), core::ptr::from_ref);
    // SAFETY: as above.
    unsafe { *slot() = pointer.cast_mut().cast() };
}

/// Address of the calling thread's control block, which lies at the top of its stack.
#[inline]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: on x86-64 the word at fs:0 is the thread pointer itself.
    unsafe { core::arch::asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, readonly)) };
    pointer
}
