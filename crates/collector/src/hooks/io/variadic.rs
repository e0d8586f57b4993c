//! Functions with a variable number of arguments: the registers are laid down as the calling convention's
//! `va_list` wants them, and the function that takes such a list is called.

use core::arch::naked_asm;
use core::ffi::c_int;

use libc::FILE;

use super::formats::{Text, inner};
use crate::interpose::declare;

/// Declares a hook: how many named arguments it has (all of them in general registers), the register of the
/// argument after them, and the function that takes a `va_list` in its place.
///
/// The frame, from the stack pointer: the `va_list` (24 bytes: how far the registers of both kinds are used
/// up, the arguments on the stack, the registers), 8 bytes, 6 general registers, 8 vector registers, 8 bytes.
macro_rules! variadic {
    ($($name:ident, $named:literal, $register:literal, $function:path;)*) => {$(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() -> c_int {
            naked_asm!(
                ".cfi_startproc",
                "sub rsp, 216",
                ".cfi_adjust_cfa_offset 216",
                "mov [rsp + 32], rdi",
                "mov [rsp + 40], rsi",
                "mov [rsp + 48], rdx",
                "mov [rsp + 56], rcx",
                "mov [rsp + 64], r8",
                "mov [rsp + 72], r9",
                // The caller says in al whether there are any.
                "test al, al",
                "je 2f",
                "movups [rsp + 80], xmm0",
                "movups [rsp + 96], xmm1",
                "movups [rsp + 112], xmm2",
                "movups [rsp + 128], xmm3",
                "movups [rsp + 144], xmm4",
                "movups [rsp + 160], xmm5",
                "movups [rsp + 176], xmm6",
                "movups [rsp + 192], xmm7",
                "2:",
                "mov dword ptr [rsp], {named} * 8",
                "mov dword ptr [rsp + 4], 48",
                "lea rax, [rsp + 224]",
                "mov [rsp + 8], rax",
                "lea rax, [rsp + 32]",
                "mov [rsp + 16], rax",
                concat!("mov ", $register, ", rsp"),
                "call {function}",
                "add rsp, 216",
                ".cfi_adjust_cfa_offset -216",
                "ret",
                ".cfi_endproc",
                named = const $named,
                function = sym $function,
            )
        }
    )*};
}

variadic! {
    printf, 1, "rsi", inner::vprintf;
    fprintf, 2, "rdx", inner::vfprintf;
    dprintf, 2, "rdx", inner::vdprintf;
    __printf_chk, 2, "rdx", inner::__vprintf_chk;
    __fprintf_chk, 3, "rcx", inner::__vfprintf_chk;
    __dprintf_chk, 3, "rcx", inner::__vdprintf_chk;
    scanf, 1, "rsi", inner::vscanf;
    fscanf, 2, "rdx", inner::vfscanf;
    __isoc99_scanf, 1, "rsi", inner::__isoc99_vscanf;
    __isoc99_fscanf, 2, "rdx", inner::__isoc99_vfscanf;
    __isoc23_scanf, 1, "rsi", inner::__isoc23_vscanf;
    __isoc23_fscanf, 2, "rdx", inner::__isoc23_vfscanf;
}

declare! {
    printf(format: Text as format, rest: () as more) -> c_int, or -1;
    fprintf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
    dprintf(file: c_int as fd, format: Text as format, rest: () as more) -> c_int, or -1;
    __printf_chk(flag: c_int as number(flags), format: Text as format, rest: () as more) -> c_int, or -1;
    __fprintf_chk(
        stream: *mut FILE as stream, flag: c_int as number(flags), format: Text as format, rest: () as more,
    ) -> c_int, or -1;
    __dprintf_chk(
        file: c_int as fd, flag: c_int as number(flags), format: Text as format, rest: () as more,
    ) -> c_int, or -1;
    scanf(format: Text as format, rest: () as more) -> c_int, or -1;
    fscanf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
    __isoc99_scanf(format: Text as format, rest: () as more) -> c_int, or -1;
    __isoc99_fscanf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
    #[since("2.38")]
    __isoc23_scanf(format: Text as format, rest: () as more) -> c_int, or -1;
    #[since("2.38")]
    __isoc23_fscanf(stream: *mut FILE as stream, format: Text as format, rest: () as more) -> c_int, or -1;
}
