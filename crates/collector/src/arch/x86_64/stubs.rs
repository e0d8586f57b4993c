//! Functions that other C libraries keep elsewhere, or not at all (`crate::other_homes`).

/// The version of the GNU C library's first functions on this machine.
macro_rules! base_version {
    () => {
        "GLIBC_2.2.5"
    };
}
pub(crate) use base_version;

/// Declares a hidden function NAME for each that jumps to where its slot leads: at the first call to `$find`,
/// with the slot, the address that is imported weakly, the name, and what answers where there is none.
macro_rules! moved {
    ($find:path; $( $name:literal, missing $missing:literal; )*) => {
        core::arch::global_asm!($(
            concat!(".pushsection .data.proust_slot_", $name, ",\"aw\",@progbits"),
            ".p2align 3",
            concat!(".globl proust_slot_", $name),
            concat!(".hidden proust_slot_", $name),
            concat!("proust_slot_", $name, ": .quad proust_first_", $name),
            concat!("proust_text_", $name, ": .asciz \"", $name, "\""),
            ".popsection",
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            concat!("jmp qword ptr [rip + proust_slot_", $name, "]"),
            ".cfi_endproc",
            concat!(".size ", $name, ",.-", $name),
            concat!(".weak proust_weak_", $name),
            concat!(
                ".symver proust_weak_", $name, ",", $name, "@", $crate::arch::stubs::base_version!()
            ),
            // The first call: finds the function, with all arguments kept.
            concat!("proust_first_", $name, ":"),
            ".cfi_startproc",
            "push rdi", ".cfi_adjust_cfa_offset 8",
            "push rsi", ".cfi_adjust_cfa_offset 8",
            "push rdx", ".cfi_adjust_cfa_offset 8",
            "push rcx", ".cfi_adjust_cfa_offset 8",
            "push r8", ".cfi_adjust_cfa_offset 8",
            concat!("lea rdi, [rip + proust_slot_", $name, "]"),
            concat!("mov rsi, qword ptr [rip + proust_weak_", $name, "@GOTPCREL]"),
            concat!("lea rdx, [rip + proust_text_", $name, "]"),
            concat!("lea rcx, [rip + proust_missing_", $name, "]"),
            "call {find}",
            "pop r8", ".cfi_adjust_cfa_offset -8",
            "pop rcx", ".cfi_adjust_cfa_offset -8",
            "pop rdx", ".cfi_adjust_cfa_offset -8",
            "pop rsi", ".cfi_adjust_cfa_offset -8",
            "pop rdi", ".cfi_adjust_cfa_offset -8",
            "jmp rax",
            ".cfi_endproc",
            concat!("proust_missing_", $name, ":"),
            ".cfi_startproc",
            concat!("mov eax, ", $missing),
            "ret",
            ".cfi_endproc",
            ".popsection",
        )*
        find = sym $find);
    };
}
pub(crate) use moved;

/// Declares hidden functions that return a number at once.
macro_rules! answers {
    ($( $name:literal => $value:literal; )*) => {
        core::arch::global_asm!($(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            concat!("mov rax, ", $value),
            "ret",
            ".cfi_endproc",
            concat!(".size ", $name, ",.-", $name),
            ".popsection",
        )*);
    };
}
pub(crate) use answers;

/// Declares a hidden function that must not be reached.
macro_rules! trap {
    ($name:literal) => {
        core::arch::global_asm!(
            concat!(".pushsection .text.", $name, ",\"ax\",@progbits"),
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",@function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "ud2",
            ".cfi_endproc",
            concat!(".size ", $name, ",.-", $name),
            ".popsection",
        );
    };
}
pub(crate) use trap;

/// Declares names under which functions of the C library are imported weakly, with their version.
macro_rules! weak_imports {
    ($( $symbol:literal: $name:literal; )*) => {
        core::arch::global_asm!($(
            concat!(".weak ", $symbol),
            concat!(".symver ", $symbol, ",", $name),
        )*);
    };
}
pub(crate) use weak_imports;

/// A weakly imported function, or null.
macro_rules! weak {
    ($symbol:literal) => {{
        let address: *mut core::ffi::c_void;
        // SAFETY: loads a word of the library's own table, which the dynamic linker filled.
        unsafe {
            core::arch::asm!(
                concat!("mov {address}, qword ptr [rip + ", $symbol, "@GOTPCREL]"),
                address = out(reg) address,
                options(nostack, readonly, preserves_flags, pure)
            );
        }
        address
    }};
}
pub(crate) use weak;
