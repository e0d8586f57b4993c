//! Going to another stack, and back out of a handler; how much of one the kernel's frame takes.

use core::arch::naked_asm;
use core::ffi::c_void;

/// Calls `run(call)` on the stack below `top`, or on the present one if that is null. Debuggers and unwinders
/// find the caller's frame through `x29`.
///
/// # Safety
/// Below `top`, which is aligned to 16 bytes, lies memory that nothing else uses meanwhile, enough for `run`,
/// which takes `call`.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on(call: *mut c_void, run: extern "C" fn(*mut c_void), top: *mut u8) {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset 29, -16",
        ".cfi_offset 30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register 29",
        "cbz x2, 2f",
        "mov sp, x2",
        "2:",
        "blr x1",
        "mov sp, x29",
        ".cfi_def_cfa_register 31",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "ret",
        ".cfi_endproc",
    )
}

/// Stores the stack pointer at `place` and calls `call(work)`. Returns true, or false where [`back`] returned
/// to here.
///
/// # Safety
/// `call` takes `work`, and `place` is the caller's.
#[unsafe(naked)]
pub unsafe extern "C" fn enter(
    work: *mut c_void,
    call: extern "C" fn(*mut c_void),
    place: *mut usize,
) -> bool {
    naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-160]!",
        ".cfi_def_cfa_offset 160",
        ".cfi_offset 29, -160",
        ".cfi_offset 30, -152",
        "stp x19, x20, [sp, #16]",
        "stp x21, x22, [sp, #32]",
        "stp x23, x24, [sp, #48]",
        "stp x25, x26, [sp, #64]",
        "stp x27, x28, [sp, #80]",
        "stp d8, d9, [sp, #96]",
        "stp d10, d11, [sp, #112]",
        "stp d12, d13, [sp, #128]",
        "stp d14, d15, [sp, #144]",
        "mov x9, sp",
        "str x9, [x2]",
        "blr x1",
        "mov w0, #1",
        "ldp x29, x30, [sp], #160",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "ret",
        ".cfi_endproc",
    )
}

/// Goes back to the [`enter`] that stored this stack pointer.
///
/// # Safety
/// That one has not returned.
#[unsafe(naked)]
pub unsafe extern "C" fn back(sp: usize) -> ! {
    naked_asm!(
        "mov sp, x0",
        "mov w0, #0",
        "ldp x19, x20, [sp, #16]",
        "ldp x21, x22, [sp, #32]",
        "ldp x23, x24, [sp, #48]",
        "ldp x25, x26, [sp, #64]",
        "ldp x27, x28, [sp, #80]",
        "ldp d8, d9, [sp, #96]",
        "ldp d10, d11, [sp, #112]",
        "ldp d12, d13, [sp, #128]",
        "ldp d14, d15, [sp, #144]",
        "ldp x29, x30, [sp], #160",
        "ret",
    )
}

/// Whether functions of this code look before they begin whether their stack has to be continued elsewhere:
/// no compiler makes such code here.
pub fn splits(_: &[u8]) -> bool {
    false
}

/// The kernel's frame at most, of which `most_bytes` is the largest that there may be on this machine. Which
/// vector lengths a process will use is not known, so none is left out.
pub fn frame_bytes(most_bytes: usize) -> usize {
    most_bytes
}

/// The handler's first instructions: an alternate stack that has no room for the largest frame has no
/// samples, so there is nothing to check.
pub use crate::sample::handler::on_signal as on_signal_first;

/// How many samples [`on_signal_first`] has dropped.
pub fn dropped_samples() -> u32 {
    0
}
