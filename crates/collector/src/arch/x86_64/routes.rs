//! The first instructions of OpenMP's hooks: they find the table of the caller's runtime, by where the call
//! returns to or by the function that it is given, and go straight on to the runtime where nothing is
//! recorded.

use core::ffi::c_void;

use crate::openmp::runtime::Table;

/// The first instructions find the table of the call, whose key is `$key`: then `r10` holds it, and the code
/// after `then` runs. Calls that are not recorded jump straight to the runtime, with the stack and all
/// registers unchanged but `rax`, `r10` and `r11`, in which no argument is passed.
macro_rules! begin {
    ($function:ident, $key:literal, then [$($then:expr),* $(,)?], $hook:path) => {
        core::arch::naked_asm!(
            ".cfi_startproc",
            concat!("mov r11, ", $key),
            "imul r10, r11, {factor}",
            "shr r10, {shift}",
            "and r10d, {mask}",
            "lea rax, [rip + {routes}]",
            "add rax, r10",
            "mov r10, [rax]",
            "test r10, r10",
            "jz 2f",
            "cmp [r10], r11",
            "jne 2f",
            "mov r10, [r10 + 8]",
            "5:",
            "cmp dword ptr [r10], 0",
            "jne 4f",
            ".cfi_remember_state",
            $($then,)*
            ".cfi_restore_state",
            // The other place of the bucket.
            "2:",
            "xor rax, 8",
            "mov r10, [rax]",
            "test r10, r10",
            "jz 3f",
            "cmp [r10], r11",
            "jne 3f",
            "mov r10, [r10 + 8]",
            "jmp 5b",
            "3:",
            "mov r10d, {function}",
            "call {miss}",
            "jmp 5b",
            "4:",
            "jmp [r10 + {functions} + 8 * {function}]",
            ".cfi_endproc",
            factor = const $crate::openmp::runtime::routes::FACTOR,
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
/// stack pointer before that was stored or at the call, and the table.
macro_rules! sited {
    ($function:ident, $hook:path) => {
        $crate::arch::routes::sited!($function, $hook, "rdi" "rsi" "rdx")
    };
    ($function:ident, $hook:path, $one:ident) => {
        $crate::arch::routes::sited!($function, $hook, "rsi" "rdx" "rcx")
    };
    ($function:ident, $hook:path, $one:ident, $two:ident) => {
        $crate::arch::routes::sited!($function, $hook, "rdx" "rcx" "r8")
    };
    ($function:ident, $hook:path, $site:literal $sp:literal $table:literal) => {
        $crate::arch::routes::begin!(
            $function,
            "qword ptr [rsp]",
            then [
                concat!("mov ", $site, ", [rsp]"),
                concat!("mov ", $sp, ", rsp"),
                concat!("mov ", $table, ", r10"),
                "jmp {hook}",
            ],
            $hook
        )
    };
}
pub(crate) use sited;

/// Jumps to `$hook` with its arguments unchanged: the first one, a function, is the key.
macro_rules! bodied {
    ($function:ident, $hook:path) => {
        $crate::arch::routes::begin!($function, "rdi", then["jmp {hook}"], $hook)
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
                "qword ptr [rsp]",
                then [
                    "push r10",
                    ".cfi_adjust_cfa_offset 8",
                    "call {hook}",
                    "add rsp, 8",
                    ".cfi_adjust_cfa_offset -8",
                    "ret",
                ],
                $hook
            )
        }

        #[allow(clippy::too_many_arguments, reason = "as many as a nest of loops may have")]
        unsafe extern "C-unwind" fn $hook(
            a: $type, b: $type, c: $type, d: $type, e: $type, f: $type,
            $table: &'static $crate::openmp::runtime::Table, $site: u64,
            g: $type, h: $type, i: $type, j: $type, k: $type, l: $type,
        ) $(-> $result)? {
            let $words = [a, b, c, d, e, f, g, h, i, j, k, l];
            $body
        }
    };
}
pub(crate) use twelve;

core::arch::global_asm!(
    ".pushsection .text.proust_run_body,\"ax\",@progbits",
    ".globl proust_run_body",
    ".hidden proust_run_body",
    ".type proust_run_body,@function",
    "proust_run_body:",
    ".cfi_startproc",
    "push rdx",
    ".cfi_adjust_cfa_offset 8",
    "mov rax, rdi",
    "mov rdi, rsi",
    "call rax",
    ".globl proust_body_returns",
    ".hidden proust_body_returns",
    "proust_body_returns:",
    "add rsp, 8",
    ".cfi_adjust_cfa_offset -8",
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
    // SAFETY: the hook found first the address it returns to, and behind it what `proust_run_body` had
    // pushed.
    (key == &raw const proust_body_returns as u64).then(|| unsafe { *entry.add(1) as *const Table })
}

/// So many bytes below the stack pointer of a call lies where it returns to, until it has returned.
pub const RETURN_BELOW: u64 = 0;

/// Whether a call that began with the stack pointer at `place`, and returns to `address`, has still to
/// return.
///
/// # Safety
/// The word [`RETURN_BELOW`] `place` may be read.
pub unsafe fn is_called(place: u64, address: u64) -> bool {
    // SAFETY: the caller's promise. A call stores there where it returns to.
    unsafe { ((place - RETURN_BELOW) as *const u64).read_volatile() == address }
}

/// Finds the table of a call whose route is not known: the key is in `r11`, the place of the function in
/// `r10`. The table is returned in `r10`; all registers in which arguments are passed, and the stack, stay as
/// they are.
///
/// # Safety
/// Called by the first instructions of a hook alone, with the stack as that found it.
#[unsafe(naked)]
pub unsafe extern "C" fn miss() {
    core::arch::naked_asm!(
        ".cfi_startproc",
        "push rdi",
        ".cfi_adjust_cfa_offset 8",
        "push rsi",
        ".cfi_adjust_cfa_offset 8",
        "push rdx",
        ".cfi_adjust_cfa_offset 8",
        "push rcx",
        ".cfi_adjust_cfa_offset 8",
        "push r8",
        ".cfi_adjust_cfa_offset 8",
        "push r9",
        ".cfi_adjust_cfa_offset 8",
        "mov rdi, r11",
        "mov esi, r10d",
        // The hook itself finds this on top of the stack.
        "lea rdx, [rsp + 56]",
        "call {route}",
        "mov r10, rax",
        "pop r9",
        ".cfi_adjust_cfa_offset -8",
        "pop r8",
        ".cfi_adjust_cfa_offset -8",
        "pop rcx",
        ".cfi_adjust_cfa_offset -8",
        "pop rdx",
        ".cfi_adjust_cfa_offset -8",
        "pop rsi",
        ".cfi_adjust_cfa_offset -8",
        "pop rdi",
        ".cfi_adjust_cfa_offset -8",
        "ret",
        ".cfi_endproc",
        route = sym crate::openmp::runtime::calls::route,
    )
}
