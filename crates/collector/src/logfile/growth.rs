//! Who grows the log: one thread at a time, with all signals blocked.
//!
//! No handler of the program can leave the work by a jump, or lose a race with it; and the system calls are not interrupted. Where
//! the thread is gone all the same (a fork, a thread that the kernel ended), the next one takes its place.

use core::sync::atomic::{AtomicU32, Ordering};

use super::patience::{Lost, Next, Patience};
use crate::{clock, raw};

/// Kernel id of the thread that is at it; 0 = none.
static GROWING: AtomicU32 = AtomicU32::new(0);

static LOST: Lost = Lost::never();

/// The right to grow the log, until this is dropped.
#[derive(Debug)]
pub struct Growing {
    mask: u64,
}

/// Whether it could be had.
#[derive(Debug)]
pub enum Turn {
    /// Yes.
    Mine(Growing),
    /// Another thread was at it until just now: what this one wanted may be there.
    Over,
    /// No, and it was waited for long enough.
    Never,
}

impl Growing {
    /// The right, if nobody has it.
    pub fn begin() -> Option<Growing> {
        let holder = GROWING.load(Ordering::Acquire);
        if holder != 0 && raw::has_thread(holder) {
            return None;
        }
        let mask = raw::signal_mask(libc::SIG_SETMASK, u64::MAX);
        if GROWING.compare_exchange(holder, raw::gettid(), Ordering::AcqRel, Ordering::Relaxed).is_ok() {
            return Some(Growing { mask });
        }
        raw::signal_mask(libc::SIG_SETMASK, mask);
        None
    }

    /// As [`Growing::begin`]; waits a moment for who has it.
    pub fn turn() -> Turn {
        if GROWING.load(Ordering::Acquire) == 0
            && let Some(growing) = Growing::begin()
        {
            return Turn::Mine(growing);
        }
        let mut patience = Patience::default();
        while GROWING.load(Ordering::Acquire) != 0 {
            match patience.next(&LOST, clock::now_ns) {
                Next::Look => core::hint::spin_loop(),
                Next::GiveAway => raw::give_processor_away(),
                Next::GiveUp => return Growing::begin().map_or(Turn::Never, Turn::Mine),
            }
        }
        Turn::Over
    }

    /// As [`Growing::begin`]; waits until then for who has it.
    pub fn begin_until(until_ns: u64) -> Option<Growing> {
        loop {
            let growing = Growing::begin();
            if growing.is_some() || clock::now_ns() >= until_ns {
                return growing;
            }
            raw::give_processor_away();
        }
    }
}

impl Drop for Growing {
    fn drop(&mut self) {
        GROWING.store(0, Ordering::Release);
        raw::signal_mask(libc::SIG_SETMASK, self.mask);
    }
}

/// In a forked child nobody is left who could be at it.
pub fn after_fork() {
    GROWING.store(0, Ordering::Release);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_gone_has_no_right_any_more() {
        let first = Growing::begin();
        assert!(first.is_some() && Growing::begin().is_none());
        drop(first);
        // SAFETY: changes nothing; signals of this thread come again.
        assert_eq!(raw::signal_mask(libc::SIG_BLOCK, 0) & 1 << (libc::SIGUSR1 - 1), 0);
        let gone = std::thread::spawn(|| {
            core::mem::forget(Growing::begin());
            raw::gettid()
        });
        let gone = gone.join().unwrap();
        assert_eq!(GROWING.load(Ordering::Relaxed), gone);
        while raw::has_thread(gone) {
            std::thread::yield_now();
        }
        assert!(matches!(Growing::turn(), Turn::Mine(_)));
        assert!(Growing::begin_until(0).is_some());
    }
}
