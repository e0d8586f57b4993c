//! The first instructions of hooks that look at the call itself: where it returns to, or all that it was
//! given. Each macro is the whole body of a naked function.

/// Jumps to `$hook`, with the address that the call returns to as one more argument after the named ones.
macro_rules! with_site {
    ($hook:path) => {
        $crate::arch::thunks::with_site!("rdi", $hook)
    };
    ($hook:path, $one:ident) => {
        $crate::arch::thunks::with_site!("rsi", $hook)
    };
    ($hook:path, $one:ident $two:ident) => {
        $crate::arch::thunks::with_site!("rdx", $hook)
    };
    ($hook:path, $one:ident $two:ident $three:ident) => {
        $crate::arch::thunks::with_site!("rcx", $hook)
    };
    ($register:literal, $hook:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            concat!("mov ", $register, ", [rsp]"),
            "jmp {hook}",
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
            "sub rsp, 56",
            ".cfi_adjust_cfa_offset 56",
            "mov [rsp], rdi",
            "mov [rsp + 8], rsi",
            "mov [rsp + 16], rdx",
            "mov [rsp + 24], rcx",
            "mov [rsp + 32], r8",
            "mov [rsp + 40], r9",
            "mov rdi, rsp",
            "call {find}",
            "mov rdi, [rsp]",
            "mov rsi, [rsp + 8]",
            "mov rdx, [rsp + 16]",
            "mov rcx, [rsp + 24]",
            "mov r8, [rsp + 32]",
            "mov r9, [rsp + 40]",
            "add rsp, 56",
            ".cfi_adjust_cfa_offset -56",
            "test rax, rax",
            "jz 2f",
            "jmp rax",
            "2:",
            "ret",
            ".cfi_endproc",
            find = sym $find,
        )
    };
}
pub(crate) use jump_to_found;

/// The registers in which integer arguments are passed.
pub type Arguments = [usize; 6];

/// The return address of the call whose arguments `jump_to_found!` stored.
///
/// # Safety
/// They are still where it laid them down.
pub unsafe fn returns_to(arguments: *const Arguments) -> u64 {
    // SAFETY: the frame is 56 bytes long, from the arguments up to what the call has pushed.
    unsafe { *arguments.cast::<u64>().add(7) }
}

/// Lays the arguments behind the `$named` ones, which are all integers or addresses, down as a `va_list`, and
/// calls `$function` with the named ones and that list.
///
/// The frame, from the stack pointer: the `va_list` (24 bytes: how far the registers of both kinds are used
/// up, the arguments on the stack, the registers), 8 bytes, 6 general registers, 8 vector registers, 8 bytes.
macro_rules! with_list {
    (1, $function:path) => {
        $crate::arch::thunks::with_list!(1, "rsi", $function)
    };
    (2, $function:path) => {
        $crate::arch::thunks::with_list!(2, "rdx", $function)
    };
    (3, $function:path) => {
        $crate::arch::thunks::with_list!(3, "rcx", $function)
    };
    ($named:literal, $register:literal, $function:path) => {
        core::arch::naked_asm!(
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
    };
}
pub(crate) use with_list;

/// Pointers after the first argument that are passed in registers.
pub const POINTERS_IN_REGISTERS: usize = 5;

/// Calls `$collect(first, registers, stack, $which)`: the first argument, the [`POINTERS_IN_REGISTERS`] next
/// ones, where those behind them lie, and a number.
macro_rules! with_pointers {
    ($which:path, $collect:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            "sub rsp, 56",
            ".cfi_adjust_cfa_offset 56",
            "mov [rsp], rsi",
            "mov [rsp + 8], rdx",
            "mov [rsp + 16], rcx",
            "mov [rsp + 24], r8",
            "mov [rsp + 32], r9",
            "mov rsi, rsp",
            "lea rdx, [rsp + 64]",
            "mov ecx, {which}",
            "call {collect}",
            "add rsp, 56",
            ".cfi_adjust_cfa_offset -56",
            "ret",
            ".cfi_endproc",
            which = const $which,
            collect = sym $collect,
        )
    };
}
pub(crate) use with_pointers;
