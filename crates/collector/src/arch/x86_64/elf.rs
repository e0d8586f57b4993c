//! ELF files of this machine.

/// `e_machine`.
pub const MACHINE: u16 = 62;
/// Types of relocations that hold the address of what was looked up: `R_X86_64_64`, `GLOB_DAT`, `JUMP_SLOT`.
pub const LOOKED_UP: [u64; 3] = [1, 6, JUMP_SLOT];
/// The last of these: of a word that is filled in at the first call.
pub const JUMP_SLOT: u64 = 7;
/// The dynamic linker of the GNU C library, as programs name it.
pub const INTERPRETER: &[u8] = b"/lib64/ld-linux-x86-64.so.2";
/// That of musl.
pub const MUSL_INTERPRETER: &[u8] = b"/lib/ld-musl-x86_64.so.1";

/// The kernel's functions that read a clock, and the number of the processor.
pub const VDSO: [&[u8]; 2] = [b"__vdso_clock_gettime", b"__vdso_getcpu"];

/// The version of the GNU C library's first functions on this machine.
pub const BASE_VERSION: &core::ffi::CStr = c"GLIBC_2.2.5";
