//! No panic leaves the sampling handler: it would unwind into the program, which knows nothing of it.
//!
//! A panic is a fault of ours. It is reported before anything is unwound, on the stack on which it happened;
//! from there the thread returns to where the handler began, whatever lies between, and this process is not
//! recorded any more. Anything that the handler had taken is lost with it: it is not used again.

use core::ffi::c_void;
use core::sync::atomic::{AtomicUsize, Ordering};

use crate::arch::stacks::{back, enter};
use crate::{lane, life};

/// Where a thread's handler began: its stack pointer then; 0 = it runs no handler.
#[derive(Debug, Default)]
pub struct Entry(AtomicUsize);

/// Panics are reported to us, and print nothing.
pub fn prepare() {
    std::panic::set_hook(Box::new(|_| leave_handler()));
}

/// Runs `work`; false if it panicked.
#[inline]
pub fn run<F: FnMut()>(entry: &Entry, mut work: F) -> bool {
    extern "C" fn call<F: FnMut()>(work: *mut c_void) {
        // SAFETY: `run` passes its own variable, and waits.
        unsafe { (*work.cast::<F>())() };
    }
    // SAFETY: `enter` keeps the registers that a called function has to keep, and `call` fits its argument.
    let ended = unsafe { enter((&raw mut work).cast(), call::<F>, entry.0.as_ptr()) };
    entry.0.store(0, Ordering::Relaxed);
    ended
}

/// For the panicking thread: if it runs the handler, it goes back to its begin, and the process is not
/// recorded any more.
fn leave_handler() {
    let Some(lane) = lane::current() else { return };
    let sp = lane.samples.entry.0.load(Ordering::Relaxed);
    if sp == 0 {
        return;
    }
    life::stop();
    for lane in lane::live() {
        lane.stop_timers();
    }
    // SAFETY: `enter` is still on the stack, below which this runs, and has stored its stack pointer.
    unsafe { back(sp) }
}
