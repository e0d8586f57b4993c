//! Functions that other C libraries keep elsewhere, or not at all (`crate::other_homes`).

/// The version of the GNU C library's first functions on this machine.
macro_rules! base_version {
    () => {
        "GLIBC_2.17"
    };
}
pub(crate) use base_version;

/// Declares a hidden function NAME for each that jumps to where its slot leads: at the first call to `$find`,
/// with the slot, the address that is imported weakly, the name, and what answers where there is none.
macro_rules! moved {
    ($find:path; $( $name:literal, missing $missing:literal; )*) => {
        core::arch::global_asm!($(
            concat!(".pushsection .data.proust_slot_", $name, ",\"aw\",%progbits"),
            ".p2align 3",
            concat!(".globl proust_slot_", $name),
            concat!(".hidden proust_slot_", $name),
            concat!("proust_slot_", $name, ": .xword proust_first_", $name),
            concat!("proust_text_", $name, ": .asciz \"", $name, "\""),
            ".popsection",
            concat!(".pushsection .text.", $name, ",\"ax\",%progbits"),
            ".p2align 2",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",%function"),
            concat!($name, ":"),
            ".cfi_startproc",
            concat!("adrp x16, proust_slot_", $name),
            concat!("ldr x16, [x16, :lo12:proust_slot_", $name, "]"),
            "br x16",
            ".cfi_endproc",
            concat!(".size ", $name, ",.-", $name),
            concat!(".weak proust_weak_", $name),
            concat!(
                ".symver proust_weak_", $name, ",", $name, "@", $crate::arch::stubs::base_version!()
            ),
            // The first call: finds the function, with all arguments kept.
            concat!("proust_first_", $name, ":"),
            ".cfi_startproc",
            "stp x29, x30, [sp, #-64]!",
            ".cfi_def_cfa_offset 64",
            ".cfi_offset 29, -64",
            ".cfi_offset 30, -56",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "stp x2, x3, [sp, #32]",
            "stp x4, x5, [sp, #48]",
            concat!("adrp x0, proust_slot_", $name),
            concat!("add x0, x0, :lo12:proust_slot_", $name),
            concat!("adrp x1, :got:proust_weak_", $name),
            concat!("ldr x1, [x1, :got_lo12:proust_weak_", $name, "]"),
            concat!("adrp x2, proust_text_", $name),
            concat!("add x2, x2, :lo12:proust_text_", $name),
            concat!("adrp x3, proust_missing_", $name),
            concat!("add x3, x3, :lo12:proust_missing_", $name),
            "bl {find}",
            "mov x16, x0",
            "ldp x0, x1, [sp, #16]",
            "ldp x2, x3, [sp, #32]",
            "ldp x4, x5, [sp, #48]",
            "ldp x29, x30, [sp], #64",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore 29",
            ".cfi_restore 30",
            "br x16",
            ".cfi_endproc",
            concat!("proust_missing_", $name, ":"),
            ".cfi_startproc",
            concat!("mov x0, #", $missing),
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
            concat!(".pushsection .text.", $name, ",\"ax\",%progbits"),
            ".p2align 2",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",%function"),
            concat!($name, ":"),
            ".cfi_startproc",
            concat!("mov x0, #", $value),
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
            concat!(".pushsection .text.", $name, ",\"ax\",%progbits"),
            ".p2align 2",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ",%function"),
            concat!($name, ":"),
            ".cfi_startproc",
            "brk #1",
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
                concat!("adrp {address}, :got:", $symbol),
                concat!("ldr {address}, [{address}, :got_lo12:", $symbol, "]"),
                address = out(reg) address,
                options(nostack, readonly, preserves_flags, pure)
            );
        }
        address
    }};
}
pub(crate) use weak;
