//! Calling the dynamic linker in another's name.

#[cfg(target_arch = "aarch64")]
use core::ffi::{c_char, c_void};

/// `ret`
const RET: u32 = 0xd65f_03c0;

/// Whether the instruction is `ldp x29, x30, [sp], #n` with a positive n.
fn is_end_of_frame(instruction: u32) -> bool {
    // All but the distance, which is signed and counts words.
    let distance = instruction >> 15 & 0x7f;
    instruction & 0xffc0_7fff == 0xa8c0_7bfd && (1..0x40).contains(&distance)
}

/// Where in this code, which begins at `start`, it returns to the address on the stack: a function's end that
/// takes the frame's two registers from there.
pub fn find_return(code: &[u8], start: u64) -> Option<u64> {
    let mut before = 0;
    for (number, bytes) in code.chunks_exact(4).enumerate() {
        let instruction = u32::from_le_bytes(bytes.try_into().ok()?);
        if instruction == RET && is_end_of_frame(before) {
            return Some(start + 4 * (number as u64 - 1));
        }
        before = instruction;
    }
    None
}

/// Calls `function(handle, name, version)` so that it takes its caller to be the owner of the code at
/// `gadget`, which [`find_return`] found: it returns there, and that leads back.
///
/// # Safety
/// The function has that type, and the code stays there.
#[cfg(target_arch = "aarch64")]
pub unsafe fn call_as(
    function: usize,
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    gadget: u64,
) -> *mut c_void {
    // SAFETY: the caller's promise.
    unsafe { as_called_by(function, handle, name, version, gadget) }
}

/// The called function returns to the gadget, which takes the two words that are stored here for it, gives
/// back as much of the stack as its instruction says, and returns to the label.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn as_called_by(
    function: usize,
    handle: *mut c_void,
    name: *const c_char,
    version: *const c_char,
    gadget: u64,
) -> *mut c_void {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-16]!",
        ".cfi_def_cfa_offset 16",
        ".cfi_offset 29, -16",
        ".cfi_offset 30, -8",
        "mov x29, sp",
        ".cfi_def_cfa_register 29",
        "ldr w9, [x4]",
        "ubfx w9, w9, #15, #6",
        "lsl x9, x9, #3",
        "sub sp, sp, x9",
        "adr x10, 2f",
        "stp x29, x10, [sp]",
        "mov x16, x0",
        "mov x0, x1",
        "mov x1, x2",
        "mov x2, x3",
        "mov x30, x4",
        "br x16",
        "2:",
        ".cfi_def_cfa_register 31",
        "ldp x29, x30, [sp], #16",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore 29",
        ".cfi_restore 30",
        "ret",
        ".cfi_endproc",
    )
}

/// Whether the processor checks where the calling thread's functions return to (GCS).
#[cfg(target_arch = "aarch64")]
pub fn has_shadow_stack() -> bool {
    let answer: u64;
    // SAFETY: `chkfeat x16` clears the bits of features that are on; older processors do nothing.
    unsafe {
        core::arch::asm!(
            "mov x16, #1",
            "hint #40",
            out("x16") answer,
            options(nomem, nostack, preserves_flags)
        );
    }
    answer & 1 == 0
}

/// Hides symbols from other libraries.
#[cfg(target_arch = "aarch64")]
macro_rules! hide {
    ($($name:expr),*) => {
        core::arch::global_asm!($( concat!(".hidden ", $name), )*);
    };
}
#[cfg(target_arch = "aarch64")]
pub(crate) use hide;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_frame_is_found() {
        // ldp x29, x30, [sp], #32
        let end = 0xa8c2_7bfd_u32;
        assert!(is_end_of_frame(end));
        // ldp x29, x30, [sp], #-32 ; ldp x29, x30, [sp, #32] ; ldp x19, x20, [sp], #32
        assert!(![0xa8fe_7bfd, 0xa942_7bfd, 0xa8c2_53f3].into_iter().any(is_end_of_frame));
        let code =
            |instructions: &[u32]| instructions.iter().flat_map(|i| i.to_le_bytes()).collect::<Vec<_>>();
        assert_eq!(find_return(&code(&[RET, 0xd503_201f, end, RET, RET]), 0x1000), Some(0x1008));
        // autiasp between them: what the frame keeps is checked.
        assert_eq!(find_return(&code(&[end, 0xd503_23bf, RET]), 0x1000), None);
    }
}
