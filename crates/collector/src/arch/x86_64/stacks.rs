//! Going to another stack, and back out of a handler.

use core::arch::naked_asm;
use core::ffi::c_void;

/// Calls `run(call)` on the stack below `top`, or on the present one if that is null. Debuggers and unwinders
/// find the caller's frame through `rbp`.
///
/// # Safety
/// Below `top`, which is aligned to 16 bytes, lies memory that nothing else uses meanwhile, enough for `run`,
/// which takes `call`.
#[unsafe(naked)]
pub unsafe extern "C" fn call_on(call: *mut c_void, run: extern "C" fn(*mut c_void), top: *mut u8) {
    naked_asm!(
        ".cfi_startproc",
        "push rbp",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset rbp, -16",
        "mov rbp, rsp",
        ".cfi_def_cfa_register rbp",
        "test rdx, rdx",
        "cmovnz rsp, rdx",
        "call rsi",
        "mov rsp, rbp",
        "pop rbp",
        ".cfi_def_cfa rsp, 8",
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
        "push rbp",
        ".cfi_adjust_cfa_offset 8",
        "push rbx",
        ".cfi_adjust_cfa_offset 8",
        "push r12",
        ".cfi_adjust_cfa_offset 8",
        "push r13",
        ".cfi_adjust_cfa_offset 8",
        "push r14",
        ".cfi_adjust_cfa_offset 8",
        "push r15",
        ".cfi_adjust_cfa_offset 8",
        "sub rsp, 8",
        ".cfi_adjust_cfa_offset 8",
        "mov [rdx], rsp",
        "call rsi",
        "mov eax, 1",
        "add rsp, 8",
        ".cfi_adjust_cfa_offset -8",
        "pop r15",
        ".cfi_adjust_cfa_offset -8",
        "pop r14",
        ".cfi_adjust_cfa_offset -8",
        "pop r13",
        ".cfi_adjust_cfa_offset -8",
        "pop r12",
        ".cfi_adjust_cfa_offset -8",
        "pop rbx",
        ".cfi_adjust_cfa_offset -8",
        "pop rbp",
        ".cfi_adjust_cfa_offset -8",
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
        "mov rsp, rdi",
        "xor eax, eax",
        "add rsp, 8",
        "pop r15",
        "pop r14",
        "pop r13",
        "pop r12",
        "pop rbx",
        "pop rbp",
        "ret",
    )
}

/// `cmp rsp, fs:[0x70]`: where functions that are compiled with `-fsplit-stack` begin, unless they need more
/// than what is always free.
const COMPARES_LIMIT: [u8; 9] = [0x64, 0x48, 0x3b, 0x24, 0x25, 0x70, 0, 0, 0];

/// Whether functions of this code look before they begin whether their stack has to be continued elsewhere.
pub fn splits(code: &[u8]) -> bool {
    code.windows(COMPARES_LIMIT.len()).any(|window| window == COMPARES_LIMIT)
}
