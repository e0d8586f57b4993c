//! The program's signal masks: the sampling signal stays out of them, while the program reads back what it set.

use core::ffi::c_int;
use core::sync::atomic::Ordering;

use libc::sigset_t;

use crate::real::call_real;
use crate::sample::signal;
use crate::{lane, life, raw};

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

/// Keeps our bit out of the thread's mask.
fn mask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
    call: impl FnOnce(*const sigset_t, *mut sigset_t) -> c_int,
) -> c_int {
    let Some(lane) = life::in_hook().and_then(|_| lane::current()) else { return call(new, old) };
    let candidate = lane.signal.load(Ordering::Relaxed);
    let ours = signal::bit(candidate);
    // SAFETY: the program passes null or a valid set.
    let given = unsafe { new.as_ref() }.copied();
    let changed = given.map(|mut set| {
        let word = first_word(&set);
        set_first_word(&mut set, word & !ours);
        set
    });
    let result = call(changed.as_ref().map_or(core::ptr::null(), core::ptr::from_ref), old);
    if result != 0 {
        return result;
    }
    let was_blocked = lane.blocked.load(Ordering::Relaxed);
    // SAFETY: the program passes null or a place for a set.
    if let Some(place) = unsafe { old.as_mut() }
        && was_blocked
    {
        let word = first_word(place) | ours;
        set_first_word(place, word);
    }
    let Some(given) = given else { return result };
    let named = first_word(&given) & ours != 0;
    let blocked = match how {
        libc::SIG_BLOCK => was_blocked || named,
        libc::SIG_UNBLOCK => was_blocked && !named,
        _ => named,
    };
    lane.blocked.store(blocked, Ordering::Relaxed);
    if !blocked && lane.held.swap(false, Ordering::Relaxed) {
        raw::signal_thread(raw::gettid(), signal::number(candidate));
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
