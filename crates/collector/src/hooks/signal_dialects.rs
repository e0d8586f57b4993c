//! The older ways to set actions and masks, of System V and BSD.
//!
//! In the C library they call its own `sigaction` and `sigprocmask`, which no hook sees. So for the signals
//! that matter here they are done as the C library does them, by our functions; for all others they are the C
//! library's own.

use core::ffi::c_int;
use core::sync::atomic::{AtomicU64, Ordering};

use libc::{sigaction as Action, sigset_t};

use super::signal_masks::{STAND_IN, change_word, first_word, set_first_word, set_of, wanted};
use super::signal_requests;
use super::signal_waits::sigsuspend;
use super::signals::sigaction;
use crate::interpose::{declare, interpose};
use crate::sample::signal;
use crate::{life, raw};

/// In place of a handler: the signal is blocked.
const SIG_HOLD: usize = 2;
const SA_INTERRUPT: c_int = 0x2000_0000;
/// Flags of `sigvec`.
const SV_ONSTACK: c_int = 1;
const SV_INTERRUPT: c_int = 2;
const SV_RESETHAND: c_int = 4;

/// Signals whose handlers are to interrupt system calls, as `siginterrupt` asked; of the special ones.
static INTERRUPTS: AtomicU64 = AtomicU64::new(0);

/// The bit of a signal for which the C library's own function must not be called.
fn special(number: c_int) -> Option<u64> {
    let bit = 1_u64.checked_shl((number as u32).wrapping_sub(1))?;
    let is_ours = signal::candidate(number).is_some() || signal_requests::is_one(number);
    (life::has_begun() && (is_ours || bit == STAND_IN)).then_some(bit)
}

/// Sets a handler; returns the one before, or `SIG_ERR`.
fn set_handler(number: c_int, handler: usize, flags: c_int, mask: u64) -> usize {
    // SAFETY: all-zero is a valid action.
    let (mut new, mut old): (Action, Action) = unsafe { (core::mem::zeroed(), core::mem::zeroed()) };
    new.sa_sigaction = handler;
    new.sa_flags = flags;
    set_first_word(&mut new.sa_mask, mask);
    // SAFETY: two actions of our own.
    let result = unsafe { sigaction(number, &new, &mut old) };
    if result == 0 { old.sa_sigaction } else { libc::SIG_ERR }
}

/// Declares the names of one function that sets a handler.
macro_rules! handler_setters {
    ($( $name:ident => $special:expr; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(number: c_int, handler: usize) -> usize {
            match special(number) {
                Some(bit) if handler != libc::SIG_ERR => {
                    let set: fn(c_int, usize, u64) -> usize = $special;
                    set(number, handler, bit)
                }
                // SAFETY: the real function with the arguments that the program gave.
                _ => unsafe { real::$name().map_or(libc::SIG_ERR, |function| function(number, handler)) },
            }
        }
    )* };
}

fn set_by_bsd(number: c_int, handler: usize, bit: u64) -> usize {
    let restarts = INTERRUPTS.load(Ordering::Relaxed) & bit == 0;
    set_handler(number, handler, if restarts { libc::SA_RESTART } else { 0 }, bit)
}

fn set_by_system_v(number: c_int, handler: usize, _: u64) -> usize {
    set_handler(number, handler, libc::SA_RESETHAND | libc::SA_NODEFER | SA_INTERRUPT, 0)
}

/// As `sigset`, which also opens the signal, or only blocks it.
fn set_and_open(number: c_int, handler: usize, bit: u64) -> usize {
    if handler == SIG_HOLD {
        if change_word(libc::SIG_BLOCK, bit) & bit != 0 {
            return SIG_HOLD;
        }
        // SAFETY: all-zero is a valid action, and a place for one.
        unsafe {
            let mut old: Action = core::mem::zeroed();
            sigaction(number, core::ptr::null(), &mut old);
            return old.sa_sigaction;
        }
    }
    let before = set_handler(number, handler, 0, 0);
    if before != libc::SIG_ERR && change_word(libc::SIG_UNBLOCK, bit) & bit != 0 { SIG_HOLD } else { before }
}

handler_setters! {
    signal => set_by_bsd;
    bsd_signal => set_by_bsd;
    ssignal => set_by_bsd;
    sysv_signal => set_by_system_v;
    __sysv_signal => set_by_system_v;
    sigset => set_and_open;
}

/// Declares functions of one signal.
macro_rules! of_one_signal {
    ($( $name:ident => $special:expr; )*) => { $(
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        pub unsafe extern "C-unwind" fn $name(number: c_int) -> c_int {
            match special(number) {
                Some(bit) => {
                    let act: fn(c_int, u64) -> c_int = $special;
                    act(number, bit)
                }
                // SAFETY: the real function with the argument that the program gave.
                None => unsafe { real::$name().map_or(-1, |function| function(number)) },
            }
        }
    )* };
}

of_one_signal! {
    sighold => |_, bit| { change_word(libc::SIG_BLOCK, bit); 0 };
    sigrelse => |_, bit| { change_word(libc::SIG_UNBLOCK, bit); 0 };
    sigignore => |number, _| if set_handler(number, libc::SIG_IGN, 0, 0) == libc::SIG_ERR { -1 } else { 0 };
}

/// `siginterrupt`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn siginterrupt(number: c_int, interrupts: c_int) -> c_int {
    let Some(bit) = special(number) else {
        // SAFETY: the real function with the arguments that the program gave.
        return unsafe { real::siginterrupt().map_or(-1, |function| function(number, interrupts)) };
    };
    // SAFETY: all-zero is a valid action; an action of our own.
    unsafe {
        let mut action: Action = core::mem::zeroed();
        sigaction(number, core::ptr::null(), &mut action);
        if interrupts != 0 {
            INTERRUPTS.fetch_or(bit, Ordering::Relaxed);
            action.sa_flags &= !libc::SA_RESTART;
        } else {
            INTERRUPTS.fetch_and(!bit, Ordering::Relaxed);
            action.sa_flags |= libc::SA_RESTART;
        }
        sigaction(number, &action, core::ptr::null_mut())
    }
}

/// `__sigaction`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __sigaction(number: c_int, new: *const Action, old: *mut Action) -> c_int {
    // SAFETY: the arguments that the program gave to the function of the other name.
    unsafe { sigaction(number, new, old) }
}

/// An action as `sigvec` has it.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Vector {
    handler: usize,
    mask: c_int,
    flags: c_int,
}

/// `sigvec`, which old programs still call.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigvec(number: c_int, new: *const Vector, old: *mut Vector) -> c_int {
    // SAFETY: the program passes null or valid places; all-zero is a valid action.
    unsafe {
        let (mut action, mut before): (Action, Action) = (core::mem::zeroed(), core::mem::zeroed());
        let mut given = core::ptr::null();
        if let Some(new) = new.as_ref() {
            action.sa_sigaction = new.handler;
            set_first_word(&mut action.sa_mask, (new.mask as u32).into());
            for (flag, is_set) in [
                (libc::SA_ONSTACK, new.flags & SV_ONSTACK != 0),
                (libc::SA_RESTART, new.flags & SV_INTERRUPT == 0),
                (libc::SA_RESETHAND, new.flags & SV_RESETHAND != 0),
            ] {
                action.sa_flags |= if is_set { flag } else { 0 };
            }
            given = &raw const action;
        }
        let result = sigaction(number, given, &mut before);
        if result == 0
            && let Some(old) = old.as_mut()
        {
            old.handler = before.sa_sigaction;
            old.mask = first_word(&before.sa_mask) as u32 as c_int;
            old.flags = 0;
            for (flag, is_set) in [
                (SV_ONSTACK, before.sa_flags & libc::SA_ONSTACK != 0),
                (SV_INTERRUPT, before.sa_flags & libc::SA_RESTART == 0),
                (SV_RESETHAND, before.sa_flags & libc::SA_RESETHAND != 0),
            ] {
                old.flags |= if is_set { flag } else { 0 };
            }
        }
        result
    }
}

/// `sigblock`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigblock(mask: c_int) -> c_int {
    change_word(libc::SIG_BLOCK, (mask as u32).into()) as u32 as c_int
}

/// `sigsetmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigsetmask(mask: c_int) -> c_int {
    change_word(libc::SIG_SETMASK, (mask as u32).into()) as u32 as c_int
}

/// `siggetmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn siggetmask() -> c_int {
    change_word(libc::SIG_BLOCK, 0) as u32 as c_int
}

/// Waits with the thread's mask but for one signal.
///
/// # Safety
/// `call` is the C library's function for that signal.
unsafe fn pause_for(number: c_int, call: impl FnOnce() -> c_int) -> c_int {
    let kernel = raw::signal_mask(libc::SIG_BLOCK, 0);
    let mask = wanted(kernel);
    if !life::has_begun() || mask == kernel || !(1..=64).contains(&number) {
        return call();
    }
    // SAFETY: a set of our own.
    unsafe { sigsuspend(&set_of(mask & !(1 << (number - 1)))) }
}

/// `sigpause` of the X/Open standard
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __xpg_sigpause(number: c_int) -> c_int {
    // SAFETY: the real function with the argument that the program gave.
    unsafe { pause_for(number, || real::__xpg_sigpause().map_or(-1, |function| function(number))) }
}

/// The function that both kinds of `sigpause` call
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn __sigpause(signal_or_mask: c_int, is_signal: c_int) -> c_int {
    // SAFETY: the real function with the arguments that the program gave.
    let call = || unsafe { real::__sigpause().map_or(-1, |function| function(signal_or_mask, is_signal)) };
    // SAFETY: as above.
    if is_signal == 0 { call() } else { unsafe { pause_for(signal_or_mask, call) } }
}

/// `sigpending`: one of ours may wait where the sampling signal is blocked for a while.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigpending(set: *mut sigset_t) -> c_int {
    let Some(function) = real::sigpending() else { return -1 };
    // SAFETY: the real function with what the program gave, which has filled the set where it returns 0.
    unsafe {
        let result = function(set);
        if result == 0 && life::in_passing().is_some() {
            for candidate in 0..signal::CANDIDATES.len() {
                if first_word(&*set) & signal::bit(candidate) != 0 {
                    super::signal_moves::drop_pending(candidate);
                    function(set);
                }
            }
        }
        result
    }
}

interpose! {
    signal(number: c_int as number(signal), handler: usize as number(handler)) -> usize, or libc::SIG_ERR;
    bsd_signal(number: c_int as number(signal), handler: usize as number(handler)) -> usize, or libc::SIG_ERR;
    ssignal(number: c_int as number(signal), handler: usize as number(handler)) -> usize, or libc::SIG_ERR;
    sysv_signal(number: c_int as number(signal), handler: usize as number(handler))
        -> usize, or libc::SIG_ERR;
    __sysv_signal(number: c_int as number(signal), handler: usize as number(handler))
        -> usize, or libc::SIG_ERR;
    sigset(number: c_int as number(signal), handler: usize as number(handler)) -> usize, or libc::SIG_ERR;
    sighold(number: c_int as number(signal)) -> c_int, or -1;
    sigrelse(number: c_int as number(signal)) -> c_int, or -1;
    sigignore(number: c_int as number(signal)) -> c_int, or -1;
    siginterrupt(number: c_int as number(signal), interrupts: c_int as number(flags)) -> c_int, or -1;
    sigpending(set: *mut sigset_t as output(sigset)) -> c_int, or -1;
    __xpg_sigpause(number: c_int as number(signal)) -> c_int, or -1;
    __sigpause(signal_or_mask: c_int as word, is_signal: c_int as number(flags)) -> c_int, or -1;
}

declare! {
    __sigaction(
        number: c_int as number(signal), new: *const Action as input(sigaction),
        old: *mut Action as output(sigaction),
    ) -> c_int, or -1;
    sigvec(
        number: c_int as number(signal), new: *const Vector as input(vector),
        old: *mut Vector as output(vector),
    ) -> c_int, or -1;
    sigblock(mask: c_int as word) -> c_int, or -1;
    sigsetmask(mask: c_int as word) -> c_int, or -1;
    siggetmask() -> c_int, or -1;
}
