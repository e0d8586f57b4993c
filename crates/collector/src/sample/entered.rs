//! A sample that finds its thread at the first instruction of a signal handler.
//!
//! Timers of the program and ours expire at the same tick, and so do others' wishes that the thread stop (a
//! runtime's preemption). The kernel then prepares the program's handler and, before an instruction of it was
//! executed, ours on top of that. All the time that the sample stands for was spent in what both interrupted:
//! were it charged to the handler, a program that gets a signal at each tick would seem to do nothing else.

use crate::path::memo::State;
use crate::raw;

/// What the kernel puts on the stack for a handler: the address that it returns to, the context, the siginfo.
const CONTEXT: u64 = 8;
const INFO: u64 = CONTEXT + CONTEXT_BYTES as u64;
/// The kernel's `struct ucontext`: flags, link, stack, registers, mask.
const CONTEXT_BYTES: usize = 304;
/// Where the registers begin in it.
const REGISTERS: usize = 40;

/// `mov rax, SYS_rt_sigreturn; syscall`: what a handler returns to.
const RETURN: [u8; 9] = [0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05];

/// Handlers of so many signals may be prepared at once, one on top of the other.
const MOST: usize = 4;

/// What a thread with these registers was doing: what the handlers interrupted that it has only just entered,
/// otherwise what the registers say.
#[inline]
pub fn interrupted(registers: &[i64; 23]) -> State {
    let at = |register: i32| registers[register as usize] as u64;
    let mut state =
        State { pc: at(libc::REG_RIP), sp: at(libc::REG_RSP), bp: at(libc::REG_RBP), exact: true };
    let mut arguments = [at(libc::REG_RSI), at(libc::REG_RDX)];
    for _ in 0..MOST {
        if arguments != [state.sp.wrapping_add(INFO), state.sp.wrapping_add(CONTEXT)] {
            break;
        }
        let Some((below, its_arguments)) = below(state.sp) else { break };
        (state, arguments) = (below, its_arguments);
    }
    state
}

/// The state that the handler whose frame is at `sp` interrupted, and its second and third argument if that
/// one was a handler, too.
#[cold]
#[inline(never)]
fn below(sp: u64) -> Option<(State, [u64; 2])> {
    let mut frame = [0_u8; INFO as usize];
    let mut code = [0_u8; RETURN.len()];
    let pid = raw::getpid();
    if raw::read_memory(pid, sp, &mut frame) != frame.len() as isize {
        return None;
    }
    let word = |at: usize| frame.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes);
    if raw::read_memory(pid, word(0)?, &mut code) != code.len() as isize || code != RETURN {
        return None;
    }
    let register = |register: i32| word(CONTEXT as usize + REGISTERS + 8 * register as usize);
    let state = State {
        pc: register(libc::REG_RIP)?,
        sp: register(libc::REG_RSP)?,
        bp: register(libc::REG_RBP)?,
        exact: true,
    };
    Some((state, [register(libc::REG_RSI)?, register(libc::REG_RDX)?]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU64, Ordering};

    static FOUND_PC: AtomicU64 = AtomicU64::new(0);
    static FOUND_SP: AtomicU64 = AtomicU64::new(0);
    static INSIDE_PC: AtomicU64 = AtomicU64::new(0);

    fn registers(of: &libc::ucontext_t) -> &[i64; 23] {
        &of.uc_mcontext.gregs
    }

    /// Comes on top of `lower`, since the kernel prepares the handlers of all signals that wait.
    extern "C" fn upper(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid context.
        let state = interrupted(registers(unsafe { &*context.cast::<libc::ucontext_t>() }));
        FOUND_PC.store(state.pc, Ordering::Relaxed);
        FOUND_SP.store(state.sp, Ordering::Relaxed);
    }

    extern "C" fn lower(_: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
        // SAFETY: the kernel passes a valid context.
        let context = unsafe { &*context.cast::<libc::ucontext_t>() };
        INSIDE_PC.store(registers(context)[libc::REG_RIP as usize] as u64, Ordering::Relaxed);
        let of_this = interrupted(registers(context));
        assert_eq!(of_this.pc, registers(context)[libc::REG_RIP as usize] as u64);
    }

    #[test]
    fn what_two_handlers_interrupt_is_found_from_the_upper_one() {
        // SAFETY: handlers that only store numbers, of signals that nobody else uses here; the mask is this
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
