//! Registers of the function one is in, and the thread's own words.

use core::arch::asm;

/// The registers of the function it is expanded in, as a [`State`](crate::path::memo::State).
macro_rules! here {
    () => {{
        let mut state = $crate::path::memo::State { exact: true, ..Default::default() };
        let link: u64;
        // SAFETY: reads four registers. They belong together: the path is taken from this very instruction.
        unsafe {
            core::arch::asm!(
                "adr {pc}, .",
                "mov {sp}, sp",
                "mov {bp}, x29",
                "mov {link}, x30",
                pc = out(reg) state.pc,
                sp = out(reg) state.sp,
                bp = out(reg) state.bp,
                link = out(reg) link,
                options(nomem, nostack, preserves_flags)
            );
        }
        state.link = $crate::arch::unwinding::Link::of(link);
        state
    }};
}
pub(crate) use here;

/// The stack pointer.
#[inline(always)]
pub fn stack_pointer() -> u64 {
    let sp: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Address of the calling thread's control block, which lies at the top of a created thread's stack and is
/// what the C library calls the thread. The thread pointer leads behind its end, at a distance that only the
/// C library knows.
#[inline]
pub fn control_block() -> u64 {
    // SAFETY: computes an address of the thread pointer.
    unsafe { libc::pthread_self() }
}

/// The thread pointer, from which the C library counts.
#[inline(always)]
pub fn thread_pointer() -> u64 {
    let pointer: u64;
    // SAFETY: reads a register.
    unsafe {
        core::arch::asm!("mrs {}, tpidr_el0", out(reg) pointer, options(nomem, nostack, preserves_flags))
    };
    pointer
}

/// Declares words of each thread, zero at first, with functions that load and store them by the initial-exec
/// model's access sequence: two loads, no call that could allocate. The library is preloaded, so its
/// thread-local storage is part of every thread's static block.
macro_rules! thread_words {
    ($( $symbol:literal: $load:ident, $store:ident; )*) => {
        core::arch::global_asm!($(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",%nobits"),
            ".p2align 3",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ",%object"),
            concat!(".size ", $symbol, ",8"),
            concat!($symbol, ":"),
            ".zero 8",
            ".popsection",
        )*);
        $(
            #[inline(always)]
            fn $load() -> *mut core::ffi::c_void {
                let word;
                // SAFETY: loads the calling thread's own word.
                unsafe {
                    core::arch::asm!(
                        concat!("adrp {word}, :gottprel:", $symbol),
                        concat!("ldr {word}, [{word}, :gottprel_lo12:", $symbol, "]"),
                        "mrs {thread}, tpidr_el0",
                        "ldr {word}, [{thread}, {word}]",
                        word = out(reg) word,
                        thread = out(reg) _,
                        options(nostack, readonly, preserves_flags)
                    );
                }
                word
            }

            #[inline(always)]
            fn $store(value: *mut core::ffi::c_void) {
                // SAFETY: stores to the calling thread's own word.
                unsafe {
                    core::arch::asm!(
                        concat!("adrp {place}, :gottprel:", $symbol),
                        concat!("ldr {place}, [{place}, :gottprel_lo12:", $symbol, "]"),
                        "mrs {thread}, tpidr_el0",
                        "str {value}, [{thread}, {place}]",
                        place = out(reg) _,
                        thread = out(reg) _,
                        value = in(reg) value,
                        options(nostack, preserves_flags)
                    );
                }
            }
        )*
    };
}
pub(crate) use thread_words;
