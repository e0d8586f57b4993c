//! The first instructions of OpenMP's hooks: they find the table of the caller's runtime, by where the call
//! returns to or by the function that it is given, and go straight on to the runtime where nothing is
//! recorded.

use core::ffi::c_void;

use crate::openmp::runtime::Table;

/// The first instructions find the table of the call, whose key is `$key`: then `x10` holds it, and the code
/// after `then` runs. Calls that are not recorded jump straight to the runtime, with the stack and all
/// registers unchanged but `x9` to `x13` and `x16`, in which no argument is passed. Each load of a route
/// leads to the next one by its address, which orders them.
macro_rules! begin {
    ($function:ident, $key:literal, then [$($then:expr),* $(,)?], $hook:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            concat!("mov x11, ", $key),
            "movz x12, #{factor_0}",
            "movk x12, #{factor_1}, lsl #16",
            "movk x12, #{factor_2}, lsl #32",
            "movk x12, #{factor_3}, lsl #48",
            "mul x9, x11, x12",
            "lsr x9, x9, #{shift}",
            "and x9, x9, #{mask}",
            "adrp x12, {routes}",
            "add x12, x12, :lo12:{routes}",
            "add x9, x12, x9",
            "ldr x10, [x9]",
            "cbz x10, 2f",
            "ldr x12, [x10]",
            "cmp x12, x11",
            "b.ne 2f",
            "ldr x10, [x10, #8]",
            "5:",
            "ldr w12, [x10]",
            "cbnz w12, 4f",
            ".cfi_remember_state",
            $($then,)*
            ".cfi_restore_state",
            // The other place of the bucket.
            "2:",
            "eor x9, x9, #8",
            "ldr x10, [x9]",
            "cbz x10, 3f",
            "ldr x12, [x10]",
            "cmp x12, x11",
            "b.ne 3f",
            "ldr x10, [x10, #8]",
            "b 5b",
            "3:",
            "mov w10, #{function}",
            // The jump returns with this in its place again.
            "mov x13, x30",
            "bl {miss}",
            "b 5b",
            "4:",
            "ldr x16, [x10, #({functions} + 8 * {function})]",
            "br x16",
            ".cfi_endproc",
            factor_0 = const $crate::openmp::runtime::routes::FACTOR & 0xffff,
            factor_1 = const $crate::openmp::runtime::routes::FACTOR >> 16 & 0xffff,
            factor_2 = const $crate::openmp::runtime::routes::FACTOR >> 32 & 0xffff,
            factor_3 = const $crate::openmp::runtime::routes::FACTOR >> 48 & 0xffff,
            shift = const $crate::openmp::runtime::routes::SHIFT,
            mask = const $crate::openmp::runtime::routes::MASK,
            functions = const $crate::openmp::runtime::FUNCTIONS,
            function = const $crate::openmp::gomp::names::Function::$function as u32,
            routes = sym $crate::openmp::runtime::routes::ROUTES,
            miss = sym $crate::arch::routes::miss,
            hook = sym $hook,
        )
    };
}
pub(crate) use begin;

/// Jumps to `$hook` with three more arguments after the named ones: the address that the call returns to, the
/// stack pointer at the call, and the table. The first word below the call's stack pointer holds that address
/// until the hook has returned ([`is_called`]).
macro_rules! sited {
    ($function:ident, $hook:path) => {
        $crate::arch::routes::sited!($function, $hook, "x0" "x1" "x2")
    };
    ($function:ident, $hook:path, $one:ident) => {
        $crate::arch::routes::sited!($function, $hook, "x1" "x2" "x3")
    };
    ($function:ident, $hook:path, $one:ident, $two:ident) => {
        $crate::arch::routes::sited!($function, $hook, "x2" "x3" "x4")
    };
    ($function:ident, $hook:path, $site:literal $sp:literal $table:literal) => {
        $crate::arch::routes::begin!(
            $function,
            "x30",
            then [
                concat!("mov ", $site, ", x30"),
                concat!("mov ", $sp, ", sp"),
                concat!("mov ", $table, ", x10"),
                "stp x29, x30, [sp, #-16]!",
                ".cfi_def_cfa_offset 16",
                ".cfi_offset 29, -16",
                ".cfi_offset 30, -8",
                "mov x29, sp",
                "bl {hook}",
                "ldp x29, x30, [sp], #16",
                ".cfi_def_cfa_offset 0",
                ".cfi_restore 29",
                ".cfi_restore 30",
                "ret",
            ],
            $hook
        )
    };
}
pub(crate) use sited;

/// Jumps to `$hook` with its arguments unchanged: the first one, a function, is the key.
macro_rules! bodied {
    ($function:ident, $hook:path) => {
        $crate::arch::routes::begin!($function, "x0", then["b {hook}"], $hook)
    };
}
pub(crate) use bodied;

/// Declares a hook that takes up to twelve arguments of one type, in registers and on the stack, with the
/// table and the address that the call returns to: the body finds all twelve in `$words`.
///
/// The table becomes the first argument on the stack; the address that the call returns to is the second.
macro_rules! twelve {
    ($(#[$attribute:meta])* $name:ident $hook:ident $type:ty $(=> $result:ty)?,
        |$table:ident, $site:ident, $words:ident| $body:block) => {
        $(#[$attribute])*
        #[unsafe(naked)]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name() {
            $crate::arch::routes::begin!(
                $name,
                "x30",
                then [
                    "stp x10, x30, [sp, #-16]!",
                    ".cfi_def_cfa_offset 16",
                    ".cfi_offset 30, -8",
                    "bl {hook}",
                    "ldr x30, [sp, #8]",
                    "add sp, sp, #16",
                    ".cfi_def_cfa_offset 0",
                    ".cfi_restore 30",
                    "ret",
                ],
                $hook
            )
        }

        #[allow(clippy::too_many_arguments, reason = "as many as a nest of loops may have")]
        unsafe extern "C-unwind" fn $hook(
            a: $type, b: $type, c: $type, d: $type, e: $type, f: $type, g: $type, h: $type,
            $table: &'static $crate::openmp::runtime::Table, $site: u64,
            i: $type, j: $type, k: $type, l: $type,
        ) $(-> $result)? {
            let $words = [a, b, c, d, e, f, g, h, i, j, k, l];
            $body
        }
    };
}
pub(crate) use twelve;

core::arch::global_asm!(
    ".pushsection .text.proust_run_body,\"ax\",%progbits",
    ".p2align 2",
    ".globl proust_run_body",
    ".hidden proust_run_body",
    ".type proust_run_body,%function",
    "proust_run_body:",
    ".cfi_startproc",
    "stp x29, x30, [sp, #-32]!",
    ".cfi_def_cfa_offset 32",
    ".cfi_offset 29, -32",
    ".cfi_offset 30, -24",
    "mov x29, sp",
    "str x2, [sp, #16]",
    "mov x9, x0",
    "mov x0, x1",
    "blr x9",
    ".globl proust_body_returns",
    ".hidden proust_body_returns",
    "proust_body_returns:",
    "ldp x29, x30, [sp], #32",
    ".cfi_def_cfa_offset 0",
    ".cfi_restore 29",
    ".cfi_restore 30",
    "ret",
    ".cfi_endproc",
    ".size proust_run_body, . - proust_run_body",
    ".popsection",
);

unsafe extern "C-unwind" {
    /// Calls `body(data)` with `table` on the stack, at a place that a hook to which the body jumps finds.
    pub fn proust_run_body(body: usize, data: *mut c_void, table: *const Table);
    static proust_body_returns: u8;
}

/// The table of a hook's call that returns to [`proust_run_body`]: the body jumped to the hook. `entry` is
/// the stack as the hook found it.
///
/// # Safety
/// `entry` and `key` are those of such a call.
pub unsafe fn table_of_run_body(key: u64, entry: *const usize) -> Option<*const Table> {
    // SAFETY: the hook found the frame of `proust_run_body`, which keeps the table behind its two registers.
    (key == &raw const proust_body_returns as u64).then(|| unsafe { *entry.add(2) as *const Table })
}

/// So many bytes below the stack pointer of a call lies where it returns to, until it has returned.
pub const RETURN_BELOW: u64 = 8;

/// Whether a call that began with the stack pointer at `place`, and returns to `address`, has still to
/// return.
///
/// # Safety
/// The word [`RETURN_BELOW`] `place` may be read.
pub unsafe fn is_called(place: u64, address: u64) -> bool {
    // SAFETY: the caller's promise. `sited` stores there where the call returns to.
    unsafe { ((place - RETURN_BELOW) as *const u64).read_volatile() == address }
}

/// Finds the table of a call whose route is not known: the key is in `x11`, the place of the function in
/// `x10`, what the hook returns to in `x13`. The table is returned in `x10`; all registers in which arguments
/// are passed, and the stack, stay as they are, and `x30` is as the hook found it.
///
/// # Safety
/// Called by the first instructions of a hook alone, with the stack as that found it.
#[unsafe(naked)]
pub unsafe extern "C" fn miss() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "stp x29, x30, [sp, #-112]!",
        ".cfi_def_cfa_offset 112",
        ".cfi_offset 29, -112",
        ".cfi_offset 30, -104",
        "mov x29, sp",
        "stp x0, x1, [sp, #16]",
        "stp x2, x3, [sp, #32]",
        "stp x4, x5, [sp, #48]",
        "stp x6, x7, [sp, #64]",
        "stp x8, x13, [sp, #80]",
        "mov x0, x11",
        "mov w1, w10",
        // The stack as the hook found it.
        "add x2, sp, #112",
        "bl {route}",
        "mov x10, x0",
        "ldp x0, x1, [sp, #16]",
        "ldp x2, x3, [sp, #32]",
        "ldp x4, x5, [sp, #48]",
        "ldp x6, x7, [sp, #64]",
        "ldp x8, x13, [sp, #80]",
        "ldp x29, x14, [sp], #112",
        ".cfi_def_cfa_offset 0",
        ".cfi_restore 29",
        ".cfi_register 30, 14",
        "mov x30, x13",
        "ret x14",
        ".cfi_endproc",
        route = sym crate::openmp::runtime::calls::route,
    )
}
