//! The program's signal masks: the sampling signal stays out of them, while the program reads back what it set.

use core::ffi::c_int;
use core::mem::MaybeUninit;
use core::sync::atomic::Ordering;

use libc::sigset_t;

use crate::interpose::declare;
use crate::real::call_real;
use crate::sample::signal;
use crate::{lane, life};

/// The kernel's 64 signals are the first word of the C library's larger set.
pub fn first_word(set: &sigset_t) -> u64 {
    // SAFETY: the set is 128 bytes of plain numbers.
    unsafe { core::ptr::from_ref(set).cast::<u64>().read() }
}

/// Sets what [`first_word`] gives.
pub fn set_first_word(set: &mut sigset_t, word: u64) {
    // SAFETY: as above.
    unsafe { core::ptr::from_mut(set).cast::<u64>().write(word) };
}

/// What masks are compared without: signals that cannot be blocked, and those of the C library's own.
pub const UNSEEN: u64 = 1 << (libc::SIGKILL - 1) | 1 << (libc::SIGSTOP - 1) | 0b11 << 31;

/// A set of the C library's with a first word.
fn set_of(word: u64) -> sigset_t {
    // SAFETY: all-zero is a valid set.
    let mut set = unsafe { core::mem::zeroed() };
    set_first_word(&mut set, word);
    set
}

/// Keeps our bit out of the thread's mask.
///
/// Programs with split stacks come here twice for each piece of stack: it takes one system call, the program's own.
#[inline(always)]
fn mask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
    call: impl Fn(*const sigset_t, *mut sigset_t) -> c_int,
) -> c_int {
    let Some((life, lane)) = life::in_hook().zip(lane::current()) else { return call(new, old) };
    let ours = signal::bit(lane.signal.load(Ordering::Relaxed));
    // SAFETY: the program passes null or a valid set.
    let given = unsafe { new.as_ref() }.map(first_word);
    let belief = lane.belief(life);
    let mut place = MaybeUninit::<sigset_t>::uninit();
    // As the kernel does: the first word only.
    let before = if old.is_null() { place.as_mut_ptr() } else { old };
    let result = match given {
        Some(given) if given & ours != 0 => call(&set_of(given & !ours), before),
        _ => call(new, before),
    };
    if result != 0 {
        return result;
    }
    // SAFETY: the call succeeded, so the kernel has written the first word there.
    let mask = unsafe { before.cast::<u64>().read() };
    let was_blocked = belief.is_blocked(mask, ours);
    if let Some(given) = given {
        let (word, named) = (given & !ours, given & ours != 0);
        match how {
            libc::SIG_BLOCK => belief.set(mask, mask | word, was_blocked || named),
            libc::SIG_UNBLOCK => belief.set(mask, mask & !word, was_blocked && !named),
            _ => belief.set(mask, word, named),
        }
    }
    if was_blocked {
        // SAFETY: as above.
        unsafe { before.cast::<u64>().write(mask | ours) };
    }
    result
}

/// `sigprocmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    mask(how, new, old, |new, old| call_real!(SIGPROCMASK(how, new, old) else -1))
}

/// `pthread_sigmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    mask(how, new, old, |new, old| call_real!(PTHREAD_SIGMASK(how, new, old) else libc::ENOSYS))
}

declare! {
    sigprocmask(
        how: c_int as number(how), new: *const sigset_t as input(sigset), old: *mut sigset_t as output(sigset),
    ) -> c_int, or -1;
    pthread_sigmask(
        how: c_int as number(how), new: *const sigset_t as input(sigset), old: *mut sigset_t as output(sigset),
    ) -> c_int, or libc::ENOSYS;
}
