//! A sample that finds its thread at the first instruction of a signal handler.
//!
//! Timers of the program and ours expire at the same tick, and so do others' wishes that the thread stop (a
//! runtime's preemption). The kernel then prepares the program's handler and, before an instruction of it was
//! executed, ours on top of that. All the time that the sample represents was spent in what both interrupted:
//! were it charged to the handler, a program that gets a signal at each tick would seem to do nothing else.

use libc::ucontext_t;

use crate::arch::context;
use crate::path::memo::State;
use crate::raw;

/// Handlers of so many signals may be prepared at once, one on top of the other.
const MOST: usize = 4;

/// The context of a thread's own work: the one that the handlers interrupted if it has only just entered
/// them, otherwise the registers' content.
#[inline]
pub fn interrupted(registers: &ucontext_t) -> State {
    let mut state = context::state(registers);
    let mut arguments = context::handler_arguments(registers);
    for _ in 0..MOST {
        if arguments != [state.sp.wrapping_add(context::INFO), state.sp.wrapping_add(context::CONTEXT)] {
            break;
        }
        let Some((below, its_arguments)) = below(&state) else { break };
        (state, arguments) = (below, its_arguments);
    }
    state
}

/// The state that this handler interrupted, which has only just been entered, and its second and third
/// argument if that one was a handler, too.
#[cold]
#[inline(never)]
fn below(handler: &State) -> Option<(State, [u64; 2])> {
    let mut frame = [0_u8; context::FRAME_BYTES];
    let mut code = [0_u8; context::RETURN_CODE.len()];
    let pid = raw::getpid();
    if raw::read_memory(pid, handler.sp, &mut frame) != frame.len() as isize {
        return None;
    }
    let returns_to = context::handler_returns_to(&frame, handler)?;
    if raw::read_memory(pid, returns_to, &mut code) != code.len() as isize || code != context::RETURN_CODE {
        return None;
    }
    context::state_below(&frame)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static FOUND_PC: AtomicU64 = AtomicU64::new(0);
    static FOUND_SP: AtomicU64 = AtomicU64::new(0);
    static INSIDE_PC: AtomicU64 = AtomicU64::new(0);

    /// Is entered on top of `lower`, since the kernel prepares the handlers of all signals that wait.
    extern "C" fn upper(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid context.
        let state = interrupted(unsafe { &*context.cast::<libc::ucontext_t>() });
        FOUND_PC.store(state.pc, Ordering::Relaxed);
        FOUND_SP.store(state.sp, Ordering::Relaxed);
    }

    extern "C" fn lower(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid context.
        let of_this = unsafe { &*context.cast::<libc::ucontext_t>() };
        let own = context::state(of_this);
        INSIDE_PC.store(own.pc, Ordering::Relaxed);
        assert_eq!(interrupted(of_this).pc, own.pc);
    }

    #[test]
    fn what_two_handlers_interrupt_is_found_from_the_upper_one() {
        // SAFETY: handlers that only store numbers, of signals that nothing else uses here; the mask is this
        // thread's own and is put back.
        unsafe {
            let mut action: libc::sigaction = core::mem::zeroed();
            action.sa_flags = libc::SA_SIGINFO;
            for (signal, handler) in [(40, lower as *const () as usize), (41, upper as *const () as usize)] {
                action.sa_sigaction = handler;
                assert_eq!(libc::sigaction(signal, &action, core::ptr::null_mut()), 0);
            }
            let (mut both, mut before): (libc::sigset_t, libc::sigset_t) =
                (core::mem::zeroed(), core::mem::zeroed());
            libc::sigemptyset(&mut both);
            libc::sigaddset(&mut both, 40);
            libc::sigaddset(&mut both, 41);
            libc::pthread_sigmask(libc::SIG_BLOCK, &both, &mut before);
            libc::pthread_kill(libc::pthread_self(), 40);
            libc::pthread_kill(libc::pthread_self(), 41);
            let here = &raw const both as u64;
            libc::pthread_sigmask(libc::SIG_SETMASK, &before, core::ptr::null_mut());
            assert_ne!(INSIDE_PC.load(Ordering::Relaxed), 0, "the lower handler ran");
            assert_eq!(FOUND_PC.load(Ordering::Relaxed), INSIDE_PC.load(Ordering::Relaxed));
            assert!(FOUND_SP.load(Ordering::Relaxed).abs_diff(here) < 65_536);
        }
    }
}
