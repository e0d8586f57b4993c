//! A lock of the whole process for which no thread waits without a bound, and that no jump can leave locked.
//!
//! Its holder has all signals blocked: no handler of the program can jump out of the work, or meet it half
//! done. Its word is the holder's kernel id, so that it can be taken from a thread that is gone.

use core::sync::atomic::{AtomicU32, Ordering};

use crate::{clock, raw};

/// A lock; 0 = free.
#[derive(Debug)]
pub struct Turn(AtomicU32);

/// All signals of the calling thread are blocked until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct Quiet(u64);

impl Quiet {
    /// Blocks them.
    pub fn begin() -> Quiet {
        Quiet(raw::signal_mask(libc::SIG_SETMASK, u64::MAX))
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        raw::signal_mask(libc::SIG_SETMASK, self.0);
    }
}

/// The lock is the calling thread's until this is dropped.
#[must_use]
#[derive(Debug)]
pub struct Mine {
    turn: &'static Turn,
    /// Dropped after the lock was given back.
    _quiet: Quiet,
}

impl Drop for Mine {
    fn drop(&mut self) {
        self.turn.0.store(0, Ordering::Release);
    }
}

impl Turn {
    /// A lock that is free.
    pub const fn new() -> Turn {
        Turn(AtomicU32::new(0))
    }

    /// Whether no thread has the lock just now.
    pub fn is_free(&self) -> bool {
        self.0.load(Ordering::Acquire) == 0
    }

    /// Takes the lock if it is free. For signal handlers too.
    pub fn try_begin(&'static self) -> Option<Mine> {
        if self.0.load(Ordering::Relaxed) == 0 { self.take_from(0) } else { None }
    }

    /// As [`Turn::try_begin`]; takes the lock from a thread that is gone, too, which costs a system call if
    /// any thread has it.
    pub fn try_begin_or_inherit(&'static self) -> Option<Mine> {
        let holder = self.0.load(Ordering::Relaxed);
        if holder != 0 && raw::has_thread(holder) {
            return None;
        }
        self.take_from(holder)
    }

    /// Waits for the lock for `patience_ns`; never spins, so that a thread of lower priority can give it
    /// back.
    pub fn begin_within(&'static self, patience_ns: u64) -> Option<Mine> {
        let until_ns = clock::now_ns() + patience_ns;
        let mut pause_ns = FIRST_PAUSE_NS;
        loop {
            let mine = self.try_begin_or_inherit();
            if mine.is_some() || clock::now_ns() >= until_ns {
                return mine;
            }
            raw::sleep_ns(pause_ns);
            pause_ns = (2 * pause_ns).min(LONGEST_PAUSE_NS);
        }
    }

    fn take_from(&'static self, holder: u32) -> Option<Mine> {
        let quiet = Quiet::begin();
        let taken = self.0.compare_exchange(holder, raw::gettid(), Ordering::AcqRel, Ordering::Relaxed);
        taken.is_ok().then_some(Mine { turn: self, _quiet: quiet })
    }

    /// In a forked child no other thread is left that could have it.
    pub fn after_fork(&self) {
        self.0.store(0, Ordering::Release);
    }
}

impl Default for Turn {
    fn default() -> Turn {
        Turn::new()
    }
}

/// Pauses between two tries.
const FIRST_PAUSE_NS: u64 = 20_000;
const LONGEST_PAUSE_NS: u64 = 1_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn is_blocked() -> bool {
        raw::signal_mask(libc::SIG_BLOCK, 0) & 1 << (libc::SIGUSR1 - 1) != 0
    }

    #[test]
    fn one_thread_has_it_with_its_signals_blocked() {
        static TURN: Turn = Turn::new();
        let mine = TURN.try_begin();
        assert!(mine.is_some() && is_blocked());
        assert!(TURN.try_begin().is_none() && TURN.try_begin_or_inherit().is_none());
        drop(mine);
        assert!(!is_blocked());
        assert!(TURN.begin_within(0).is_some());
    }

    #[test]
    fn a_waiting_thread_gets_it_or_gives_up() {
        static TURN: Turn = Turn::new();
        let mine = TURN.try_begin();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let begin = std::time::Instant::now();
                assert!(TURN.begin_within(30_000_000).is_none());
                assert!(begin.elapsed().as_nanos() >= 30_000_000);
            });
        });
        let waits = std::thread::spawn(|| TURN.begin_within(60_000_000_000).is_some());
        std::thread::sleep(std::time::Duration::from_millis(5));
        drop(mine);
        assert!(waits.join().unwrap());
    }

    #[test]
    fn it_is_inherited_from_a_thread_that_is_gone() {
        static TURN: Turn = Turn::new();
        let gone = std::thread::spawn(|| {
            core::mem::forget(TURN.try_begin());
            raw::gettid()
        });
        let gone = gone.join().unwrap();
        while raw::has_thread(gone) {
            std::thread::yield_now();
        }
        assert!(TURN.try_begin().is_none());
        assert!(TURN.begin_within(0).is_some());
        assert!(TURN.try_begin().is_some());
    }
}
