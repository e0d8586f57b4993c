//! Registers of the function one is in, and the thread's own words.

use core::arch::asm;

/// The registers of the function it is expanded in, as a [`State`](crate::path::memo::State).
macro_rules! here {
    () => {{
        let mut state = $crate::path::memo::State { exact: true, ..Default::default() };
        // SAFETY: reads three registers. They belong together: the path is taken from this very instruction.
        unsafe {
            core::arch::asm!(
                "lea {pc}, [rip]",
                "mov {sp}, rsp",
                "mov {bp}, rbp",
                pc = out(reg) state.pc,
                sp = out(reg) state.sp,
                bp = out(reg) state.bp,
                options(nomem, nostack, preserves_flags)
            );
        }
        state
    }};
}
pub(crate) use here;

/// The stack pointer.
#[inline(always)]
pub fn stack_pointer() -> u64 {
    let sp: u64;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, rsp", out(reg) sp, options(nomem, nostack, preserves_flags)) };
    sp
}

/// Address of the calling thread's control block, which lies at the top of a created thread's stack and is
/// what the C library calls the thread.
#[inline]
pub fn control_block() -> u64 {
    let pointer: u64;
    // SAFETY: the word at fs:0 is the thread pointer itself, which is the control block's address.
    unsafe { asm!("mov {}, qword ptr fs:[0]", out(reg) pointer, options(nostack, readonly)) };
    pointer
}

/// The thread pointer, from which the C library counts.
#[inline(always)]
pub fn thread_pointer() -> u64 {
    control_block()
}

/// Declares words of each thread, zero at first, with functions that load and store them by the initial-exec
/// model's access sequence: two loads, no call that could allocate. The library is preloaded, so its
/// thread-local storage is part of every thread's static block.
macro_rules! thread_words {
    ($( $symbol:literal: $load:ident, $store:ident; )*) => {
        core::arch::global_asm!($(
            concat!(".pushsection .tbss.", $symbol, ",\"awT\",@nobits"),
            ".p2align 3",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ",@object"),
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
                        concat!("mov {word}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov {word}, qword ptr fs:[{word}]",
                        word = out(reg) word,
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
                        concat!("mov {place}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                        "mov qword ptr fs:[{place}], {value}",
                        place = out(reg) _,
                        value = in(reg) value,
                        options(nostack, preserves_flags)
                    );
                }
            }
        )*
    };
}
pub(crate) use thread_words;
