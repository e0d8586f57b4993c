//! Where a coroutine's stack ends.
//!
//! A function started by `makecontext` returns into a function of the C library that has no caller and does
//! not say so: above it there is nothing but what the program happened to leave. Its address is not exported;
//! `makecontext` writes it down where a started function would return to.

use core::sync::atomic::{AtomicU64, Ordering};

use crate::arch::context::coroutine_returns_to;

static RETURN_ADDRESS: AtomicU64 = AtomicU64::new(0);

const STACK_BYTES: usize = 1024;

/// Asks the C library where functions of coroutines return to.
pub fn find_return_address() {
    extern "C" fn never_called() {}
    #[repr(align(16))]
    struct Stack([u8; STACK_BYTES]);
    let mut stack = Stack([0; STACK_BYTES]);
    // SAFETY: all-zero is a valid context to be filled in; `makecontext` writes to the stack that it names,
    // and the context is never entered.
    unsafe {
        let mut context: libc::ucontext_t = core::mem::zeroed();
        context.uc_stack.ss_sp = stack.0.as_mut_ptr().cast();
        context.uc_stack.ss_size = STACK_BYTES;
        libc::makecontext(&mut context, never_called, 0);
        let bottom = stack.0.as_ptr() as u64;
        if let Some(address) = coroutine_returns_to(&context, bottom..bottom + STACK_BYTES as u64) {
            RETURN_ADDRESS.store(address, Ordering::Relaxed);
        }
    }
}

/// Whether a function that returns to `pc` is a coroutine's first one.
#[inline]
pub fn ends_at(pc: u64) -> bool {
    pc == RETURN_ADDRESS.load(Ordering::Relaxed)
}
