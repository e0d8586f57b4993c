//! The first instructions of hooks that look at the call itself: where it returns to, or all that it was
//! given. Each macro is the whole body of a naked function.

/// Jumps to `$hook`, with the address that the call returns to as one more argument after the named ones.
macro_rules! with_site {
    ($hook:path) => {
        $crate::arch::thunks::with_site!("x0", $hook)
    };
    ($hook:path, $one:ident) => {
        $crate::arch::thunks::with_site!("x1", $hook)
    };
    ($hook:path, $one:ident $two:ident) => {
        $crate::arch::thunks::with_site!("x2", $hook)
    };
    ($hook:path, $one:ident $two:ident $three:ident) => {
        $crate::arch::thunks::with_site!("x3", $hook)
    };
    ($register:literal, $hook:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            concat!("mov ", $register, ", x30"),
            "b {hook}",
            ".cfi_endproc",
            hook = sym $hook,
        )
    };
}
pub(crate) use with_site;

/// Calls `$find(&mut arguments)`, an `extern "C"` function that is given the [`Arguments`] of the call, and
/// jumps to the address it returns, with everything unchanged except what it changed in them; returns null
/// where that is null.
macro_rules! jump_to_found {
    ($find:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, #-96]!",
            ".cfi_def_cfa_offset 96",
            ".cfi_offset 29, -96",
            ".cfi_offset 30, -88",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "stp x2, x3, [sp, #32]",
            "stp x4, x5, [sp, #48]",
            "stp x6, x7, [sp, #64]",
            "str x8, [sp, #80]",
            "add x0, sp, #16",
            "bl {find}",
            "mov x16, x0",
            "ldp x0, x1, [sp, #16]",
            "ldp x2, x3, [sp, #32]",
            "ldp x4, x5, [sp, #48]",
            "ldp x6, x7, [sp, #64]",
            "ldr x8, [sp, #80]",
            "ldp x29, x30, [sp], #96",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "cbz x16, 2f",
            "br x16",
            "2:",
            "mov x0, #0",
            "ret",
            ".cfi_endproc",
            find = sym $find,
        )
    };
}
pub(crate) use jump_to_found;

/// The registers in which integer arguments are passed, and the one for a result in memory.
pub type Arguments = [usize; 9];

/// The return address of the call whose arguments `jump_to_found!` stored.
///
/// # Safety
/// They are still where it laid them down.
pub unsafe fn returns_to(arguments: *const Arguments) -> u64 {
    // SAFETY: the frame begins 16 bytes below the arguments, with x29 and x30.
    unsafe { *arguments.cast::<u64>().sub(1) }
}

/// Lays the arguments behind the `$named` ones, which are all integers or addresses, down as a `va_list`, and
/// calls `$function` with the named ones and that list's address.
///
/// The frame, from the stack pointer: the `va_list` (32 bytes: the arguments on the stack, the ends of the
/// registers of both kinds, and how far below these the next ones lie), 8 general registers, 8 vector
/// registers, frame pointer and return address.
macro_rules! with_list {
    (1, $function:path) => {
        $crate::arch::thunks::with_list!(1, "x1", $function)
    };
    (2, $function:path) => {
        $crate::arch::thunks::with_list!(2, "x2", $function)
    };
    (3, $function:path) => {
        $crate::arch::thunks::with_list!(3, "x3", $function)
    };
    ($named:literal, $register:literal, $function:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "sub sp, sp, #240",
            ".cfi_def_cfa_offset 240",
            "stp x29, x30, [sp, #224]",
            ".cfi_offset 29, -16",
            ".cfi_offset 30, -8",
            "add x29, sp, #224",
            "stp x0, x1, [sp, #32]",
            "stp x2, x3, [sp, #48]",
            "stp x4, x5, [sp, #64]",
            "stp x6, x7, [sp, #80]",
            "stp q0, q1, [sp, #96]",
            "stp q2, q3, [sp, #128]",
            "stp q4, q5, [sp, #160]",
            "stp q6, q7, [sp, #192]",
            "add x9, sp, #240",
            "add x10, sp, #96",
            "stp x9, x10, [sp]",
            "add x9, sp, #224",
            "str x9, [sp, #16]",
            "mov w9, #-(64 - 8 * {named})",
            "mov w10, #-128",
            "stp w9, w10, [sp, #24]",
            concat!("mov ", $register, ", sp"),
            "bl {function}",
            "ldp x29, x30, [sp, #224]",
            "add sp, sp, #240",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "ret",
            ".cfi_endproc",
            named = const $named,
            function = sym $function,
        )
    };
}
pub(crate) use with_list;

/// Pointers after the first argument that are passed in registers.
pub const POINTERS_IN_REGISTERS: usize = 7;

/// Calls `$collect(first, registers, stack, $which)`: the first argument, the [`POINTERS_IN_REGISTERS`] next
/// ones, where those behind them lie, and a number.
macro_rules! with_pointers {
    ($which:path, $collect:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "sub sp, sp, #80",
            ".cfi_def_cfa_offset 80",
            "stp x29, x30, [sp, #64]",
            ".cfi_offset 29, -16",
            ".cfi_offset 30, -8",
            "add x29, sp, #64",
            "stp x1, x2, [sp]",
            "stp x3, x4, [sp, #16]",
            "stp x5, x6, [sp, #32]",
            "str x7, [sp, #48]",
            "mov x1, sp",
            "add x2, sp, #80",
            "mov w3, #{which}",
            "bl {collect}",
            "ldp x29, x30, [sp, #64]",
            "add sp, sp, #80",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "ret",
            ".cfi_endproc",
            which = const $which,
            collect = sym $collect,
        )
    };
}
pub(crate) use with_pointers;
