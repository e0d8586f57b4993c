//! ELF files of this machine.

/// `e_machine`.
pub const MACHINE: u16 = 183;
/// Types of relocations that hold the address of what was looked up: `R_AARCH64_ABS64`, `GLOB_DAT`,
/// `JUMP_SLOT`.
pub const LOOKED_UP: [u64; 3] = [257, 1025, JUMP_SLOT];
/// The last of these: of a word that is filled in at the first call.
pub const JUMP_SLOT: u64 = 1026;
/// The dynamic linker of the GNU C library, as programs name it.
pub const INTERPRETER: &[u8] = b"/lib/ld-linux-aarch64.so.1";
/// That of musl.
pub const MUSL_INTERPRETER: &[u8] = b"/lib/ld-musl-aarch64.so.1";

/// The kernel's functions that read a clock, and the number of the processor, which has no function for the
/// second here.
pub const VDSO: [&[u8]; 2] = [b"__kernel_clock_gettime", b"__kernel_getcpu"];

/// The version of the GNU C library's first functions on this machine.
pub const BASE_VERSION: &core::ffi::CStr = c"GLIBC_2.17";
