//! Calling the dynamic linker in another's name.

use core::ffi::{c_char, c_void};

/// Where in this code, which begins at `start`, it returns to the address on the stack: a byte that is the
/// instruction `ret`, wherever in an instruction it stands.
pub fn find_return(code: &[u8], start: u64) -> Option<u64> {
    const RET: u8 = 0xc3;
    code.iter().position(|&byte| byte == RET).map(|at| start + at as u64)
}

/// Calls `function(handle, name, version)` so that it takes its caller to be the owner of the code at
/// `gadget`, which [`find_return`] found: it returns there, and that leads back.
///
/// # Safety
/// The function has that type, and the code stays there.
pub unsafe fn call_as(
    function: usize,
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    gadget: u64,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { proust_as_called_by(function, handle, name, version, gadget) }
}

unsafe extern "C" {
    fn proust_as_called_by(
        function: usize,
        handle: *mut c_void,
        name: *const c_char,
        version: *const c_char,
        gadget: u64,
    ) -> *mut c_void;
}

core::arch::global_asm!(
    ".pushsection .text.proust_as_called_by,\"ax\",@progbits",
    ".globl proust_as_called_by",
    ".hidden proust_as_called_by",
    ".type proust_as_called_by,@function",
    "proust_as_called_by:",
    ".cfi_startproc",
    "mov rax, rdi",
    "mov rdi, rsi",
    "mov rsi, rdx",
    "mov rdx, rcx",
    "lea r10, [rip + 2f]",
    "push r10",
    ".cfi_adjust_cfa_offset 8",
    // The called function returns here, to the instruction that then returns to the one below.
    "push r8",
    ".cfi_adjust_cfa_offset 8",
    "jmp rax",
    ".cfi_adjust_cfa_offset -16",
    "2:",
    "ret",
    ".cfi_endproc",
    ".size proust_as_called_by, . - proust_as_called_by",
    ".popsection",
);

/// Whether the processor checks where the calling thread's functions return to.
pub fn has_shadow_stack() -> bool {
    let pointer: u64;
    // SAFETY: reads a register where there is one, and leaves zero where there is none.
    unsafe {
        core::arch::asm!(
            "xor {pointer:e}, {pointer:e}",
            "rdsspq {pointer}",
            pointer = out(reg) pointer,
            options(nomem, nostack)
        );
    }
    pointer != 0
}

/// Hides symbols from other libraries.
macro_rules! hide {
    ($($name:expr),*) => {
        core::arch::global_asm!($( concat!(".hidden ", $name), )*);
    };
}
pub(crate) use hide;
