//! The program's signal masks: the sampling signal stays out of them, while the program reads back what it
//! set.
//!
//! Nothing is remembered beside the kernel's masks. The kernel changes them itself when a handler begins and
//! returns, and copies of them are in jump buffers, contexts, and child processes. So a mask says itself that
//! the sampling signal belongs to it: by [`STAND_IN`], a signal that Linux never sends on this processor. A
//! program that blocks everything blocks that one, too. The kernel's mask then has the stand-in and not the
//! sampling signal, and a read of the mask returns the sampling signal. A program that blocks the sampling
//! signal by name, and not the stand-in, uses it: that is kept as it is, and sampling moves to another
//! signal.

use core::ffi::c_int;

use libc::{pthread_attr_t, sigset_t};

use super::signal_moves;
use crate::interpose::{call_real, interpose};
use crate::sample::signal::{self, FALLBACK};
use crate::{life, raw};

/// SIGSTKFLT, of coprocessors that no longer exist.
pub const STAND_IN: u64 = 1 << (libc::SIGSTKFLT - 1);

/// Signals whose bits in a kernel mask are not simply what the program wants.
const SPECIAL: u64 = STAND_IN | 1 << (signal::CANDIDATES[0] - 1) | 1 << (signal::CANDIDATES[1] - 1);

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

/// A set of the C library's with a first word.
pub fn set_of(word: u64) -> sigset_t {
    // SAFETY: all-zero is a valid set.
    let mut set = unsafe { core::mem::zeroed() };
    set_first_word(&mut set, word);
    set
}

/// The mask that the program wants, of the one that the kernel has.
///
/// The stand-in is there together with the signal that sampling uses, or with both candidates if the kernel
/// blocks the one.
#[inline]
pub fn wanted(kernel: u64) -> u64 {
    let missing = if kernel & signal::bit(0) == 0 { signal::bit(0) } else { signal::bit(FALLBACK) };
    if kernel & STAND_IN == 0 { kernel } else { kernel | missing }
}

/// The mask to give to the kernel where the program wants this one, while `ours` is the bit of the sampling
/// signal.
///
/// It leaves `ours` open, or is the program's own, or leaves the first candidate open, whichever can be read
/// back. A mask with the stand-in that can be kept in none of these ways loses the stand-in: it blocks
/// everything but the sampling signal, which must be delivered.
#[inline]
fn kernel_for(ours: u64, mask: u64) -> u64 {
    if wanted(mask & !ours) == mask {
        mask & !ours
    } else if wanted(mask) == mask {
        mask
    } else if wanted(mask & !signal::bit(0)) == mask {
        mask & !signal::bit(0)
    } else {
        mask & !STAND_IN
    }
}

/// The mask for the kernel that really blocks the candidate whose bit is `blocked`, of one that it has.
pub fn blocking(kernel: u64, blocked: u64) -> u64 {
    let mask = wanted(kernel) | blocked;
    let open = self::kernel(mask);
    if open & blocked != 0 {
        open
    } else if wanted(mask) == mask {
        mask
    } else {
        mask & !STAND_IN
    }
}

/// The mask to give to the kernel where the program wants this one.
#[inline]
pub fn kernel(mask: u64) -> u64 {
    kernel_for(signal::bit(signal::current()), mask)
}

/// A program begins: the inherited mask is the one it wants.
pub fn begin() {
    let inherited = raw::signal_mask(libc::SIG_BLOCK, 0);
    signal_moves::before_mask(inherited);
    let mask = kernel(inherited);
    if mask != inherited {
        raw::signal_mask(libc::SIG_SETMASK, mask);
    }
}

/// Changes the thread's mask as the program asks. `call` is the C library's function.
///
/// Programs with split stacks call this twice for each piece of stack: where the program blocks everything,
/// or nothing that matters here, it takes one system call, the program's own.
#[inline(always)]
fn change(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
    call: impl Fn(c_int, *const sigset_t, *mut sigset_t) -> c_int,
) -> c_int {
    if life::in_passing().is_none() && !life::has_begun() {
        return call(how, new, old);
    }
    // SAFETY: the program passes null or a valid set.
    let given = unsafe { new.as_ref() }.map_or(0, first_word);
    let set = |mask: u64, how| {
        let result = call(how, &set_of(mask), old);
        if result == 0 {
            signal_moves::after_mask(mask);
        }
        result
    };
    let result = match (given & SPECIAL, how) {
        (SPECIAL, libc::SIG_BLOCK) => call(how, &set_of(kernel(given)), old),
        (0, libc::SIG_BLOCK | libc::SIG_UNBLOCK) => call(how, new, old),
        (_, libc::SIG_SETMASK) if !new.is_null() => {
            signal_moves::before_mask(given);
            set(kernel(given), how)
        }
        (_, libc::SIG_BLOCK | libc::SIG_UNBLOCK) => {
            let before = wanted(raw::signal_mask(libc::SIG_BLOCK, 0));
            let mask = if how == libc::SIG_BLOCK { before | given } else { before & !given };
            signal_moves::before_mask(mask);
            set(kernel(mask), libc::SIG_SETMASK)
        }
        _ => call(how, new, old),
    };
    if result == 0
        // SAFETY: the call succeeded, so that the kernel has written the first word of the program's set.
        && let Some(old) = unsafe { old.as_mut() }
    {
        set_first_word(old, wanted(first_word(old)));
    }
    result
}

/// Changes the thread's mask for one of the older functions; returns what the program wanted before.
pub fn change_word(how: c_int, word: u64) -> u64 {
    let mut old = set_of(0);
    // SAFETY: two sets of our own.
    unsafe { sigprocmask(how, &set_of(word), &mut old) };
    first_word(&old)
}

/// `sigprocmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn sigprocmask(how: c_int, new: *const sigset_t, old: *mut sigset_t) -> c_int {
    change(how, new, old, |how, new, old| call_real!(real::sigprocmask(how, new, old) else -1))
}

/// `pthread_sigmask`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_sigmask(
    how: c_int,
    new: *const sigset_t,
    old: *mut sigset_t,
) -> c_int {
    change(how, new, old, |how, new, old| call_real!(real::pthread_sigmask(how, new, old) else libc::ENOSYS))
}

/// `pthread_attr_setsigmask_np`: the mask that a thread begins with.
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_attr_setsigmask_np(
    attributes: *mut pthread_attr_t,
    set: *const sigset_t,
) -> c_int {
    let Some(function) = real::pthread_attr_setsigmask_np() else { return libc::ENOSYS };
    // SAFETY: the program passes null or a valid set.
    let given = unsafe { set.as_ref() }.filter(|_| life::has_begun());
    let own = given.map(|given| set_of(kernel(first_word(given))));
    // SAFETY: the real function with what the program gave, or a set of our own in its place.
    unsafe { function(attributes, own.as_ref().map_or(set, core::ptr::from_ref)) }
}

/// `pthread_attr_getsigmask_np`
#[unsafe(no_mangle)]
pub unsafe extern "C-unwind" fn pthread_attr_getsigmask_np(
    attributes: *const pthread_attr_t,
    set: *mut sigset_t,
) -> c_int {
    let Some(function) = real::pthread_attr_getsigmask_np() else { return libc::ENOSYS };
    // SAFETY: the real function with what the program gave; where it returns 0 it has filled the set.
    unsafe {
        let result = function(attributes, set);
        if result == 0 && life::has_begun() {
            set_first_word(&mut *set, wanted(first_word(&*set)));
        }
        result
    }
}

interpose! {
    sigprocmask(
        how: c_int as number(how), new: *const sigset_t as input(sigset),
        old: *mut sigset_t as output(sigset),
    ) -> c_int, or -1;
    pthread_sigmask(
        how: c_int as number(how), new: *const sigset_t as input(sigset),
        old: *mut sigset_t as output(sigset),
    ) -> c_int, or libc::ENOSYS;
    #[since("2.32")]
    pthread_attr_setsigmask_np(
        attributes: *mut pthread_attr_t as inout(attributes), set: *const sigset_t as input(sigset),
    ) -> c_int, or libc::ENOSYS;
    #[since("2.32")]
    pthread_attr_getsigmask_np(
        attributes: *const pthread_attr_t as input(attributes), set: *mut sigset_t as output(sigset),
    ) -> c_int, or libc::ENOSYS;
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: u64 = !0;

    /// Masks with every combination of the bits that matter, and others around them.
    fn masks() -> impl Iterator<Item = u64> {
        (0..8_u64).flat_map(|pick| {
            let bits = [STAND_IN, signal::bit(0), signal::bit(FALLBACK)];
            let special = (0..3).filter(|at| pick >> at & 1 != 0).map(|at| bits[at]).fold(0, |a, b| a | b);
            [special, special | 0b110, special | ALL & !SPECIAL]
        })
    }

    #[test]
    fn a_mask_is_read_back_as_it_was_set() {
        for ours in [signal::bit(0), signal::bit(FALLBACK)] {
            for mask in masks() {
                let kernel = kernel_for(ours, mask);
                let read = wanted(kernel);
                // Only the stand-in may be lost, where the sampling signal must be delivered.
                assert_eq!(read | STAND_IN, mask | STAND_IN, "{mask:x} by {kernel:x}");
                assert!(read == mask || mask & signal::bit(0) == 0 || mask & signal::bit(FALLBACK) == 0);
                // What the program wants open is open, and of what it wants blocked only the sampling signal
                // is open.
                assert_eq!(kernel & !mask, 0);
                assert_eq!(mask & !kernel & !ours & !signal::bit(0) & !STAND_IN, 0);
            }
        }
    }

    #[test]
    fn a_thread_that_blocks_everything_is_sampled() {
        for ours in [signal::bit(0), signal::bit(FALLBACK)] {
            assert_eq!(kernel_for(ours, ALL), ALL & !ours);
            assert_eq!(wanted(kernel_for(ours, ALL)), ALL);
        }
        // By the functions that know 32 signals.
        assert_eq!(kernel_for(signal::bit(0), 0xffff_ffff), 0xffff_ffff & !signal::bit(0));
        assert_eq!(wanted(0xffff_ffff & !signal::bit(0)), 0xffff_ffff);
    }

    #[test]
    fn the_mask_of_a_handler_adds_to_what_is_blocked() {
        let ours = signal::bit(0);
        for outer in masks() {
            for inner in masks() {
                let both = kernel_for(ours, outer) | kernel_for(ours, inner);
                let lost = STAND_IN | signal::bit(FALLBACK);
                assert_eq!(wanted(both) | lost, outer | inner | lost, "{outer:x} {inner:x}");
            }
        }
    }
}
