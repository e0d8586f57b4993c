//! What the program believes of the sampling signal: that it is blocked, where it set a mask that says so, while it is not.
//!
//! The kernel keeps the rest of a mask: it changes it when a handler begins and puts it back when that one returns. So a belief
//! holds as long as the rest is what it was when the mask was set; one set inside a handler holds there only.

use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use super::Lane;
use crate::hooks::borrowers;
use crate::hooks::signal_masks::UNSEEN;
use crate::hooks::signals;
use crate::life::{self, Life};
use crate::raw;
use crate::sample::signal;

/// A mask as the kernel has it, and whether the sampling signal belongs to it.
#[derive(Debug, Default)]
struct Set {
    mask: AtomicU64,
    blocked: AtomicBool,
}

impl Set {
    #[inline]
    fn store(&self, mask: u64, blocked: bool) {
        self.mask.store(mask & !UNSEEN, Ordering::Relaxed);
        self.blocked.store(blocked, Ordering::Relaxed);
    }

    #[inline]
    fn under(&self, mask: u64) -> Option<bool> {
        (self.mask.load(Ordering::Relaxed) == mask & !UNSEEN).then(|| self.blocked.load(Ordering::Relaxed))
    }
}

/// A thread's belief. Used by the owner alone, in its hooks and handlers.
#[derive(Debug, Default)]
pub struct Belief {
    outer: Set,
    /// Set while the mask was another one than the outer: inside a handler.
    inner: Set,
    has_inner: AtomicBool,
}

impl Belief {
    /// A thread begins, or what was believed before is over: the kernel's mask, and whether the signal belongs to it.
    #[inline]
    pub fn begin(&self, mask: u64, blocked: bool) {
        self.outer.store(mask, blocked);
        self.has_inner.store(false, Ordering::Relaxed);
    }

    /// Whether the program believes the signal whose bit is `ours` blocked, where the kernel has `mask`.
    #[inline]
    pub fn is_blocked(&self, mask: u64, ours: u64) -> bool {
        if self.has_inner.load(Ordering::Relaxed)
            && let Some(blocked) = self.inner.under(mask)
        {
            return blocked;
        }
        let outer = self.outer.under(mask);
        outer.unwrap_or_else(|| {
            signals::is_blocked_by_handler(mask, self.outer.mask.load(Ordering::Relaxed), ours)
        })
    }

    /// The program changed the mask.
    #[inline]
    pub fn set(&self, before: u64, mask: u64, blocked: bool) {
        if self.outer.under(before).is_some() {
            self.begin(mask, blocked);
        } else {
            self.inner.store(mask, blocked);
            self.has_inner.store(true, Ordering::Relaxed);
        }
    }
}

/// What a vforked child sets for itself, while it uses its parent's memory.
#[derive(Debug, Default)]
pub struct Borrower {
    pid: AtomicU32,
    belief: Belief,
    /// Candidates whose action it has set.
    actions: AtomicU8,
}

impl Borrower {
    fn enter(&self, parents: &Belief, ours: u64) {
        let pid = raw::getpid();
        if self.pid.swap(pid, Ordering::Relaxed) != pid {
            let mask = raw::signal_mask(libc::SIG_BLOCK, 0);
            self.belief.begin(mask, parents.is_blocked(mask, ours));
            self.actions.store(0, Ordering::Relaxed);
        }
    }
}

impl Lane {
    /// The kernel's mask of the owner is `mask` from now on, and whether the sampling signal belongs to it.
    pub fn begin_belief(&self, mask: u64, blocked: bool) {
        self.belief.begin(mask, blocked);
    }

    /// Whether the owner believes the sampling signal blocked, where the kernel has `mask`; for the copy of the owner, too,
    /// that a fork has made.
    pub fn is_blocked_by_owner(&self, mask: u64) -> bool {
        self.belief.is_blocked(mask, signal::bit(self.signal.load(Ordering::Relaxed)))
    }

    /// Whether the caller believes the sampling signal blocked, where the kernel has `mask`.
    pub fn is_blocked_under(&self, mask: u64) -> bool {
        let ours = signal::bit(self.signal.load(Ordering::Relaxed));
        life::recording().is_some_and(|life| self.belief(life).is_blocked(mask, ours))
    }

    /// The caller's belief: the owner's, or that of the child that borrows its memory.
    #[inline]
    pub fn belief(&self, life: &Life) -> &Belief {
        // Asking the kernel who asks takes as long as changing the mask.
        if !borrowers::may_be() || !life::is_borrowed(life) {
            return &self.belief;
        }
        self.borrower.enter(&self.belief, signal::bit(self.signal.load(Ordering::Relaxed)));
        &self.borrower.belief
    }

    /// The bit of the sampling signal, if the caller believes that signal blocked now; otherwise 0.
    pub fn believed_bit(&self, life: &Life) -> u64 {
        let ours = signal::bit(self.signal.load(Ordering::Relaxed));
        if self.belief(life).is_blocked(raw::signal_mask(libc::SIG_BLOCK, 0), ours) { ours } else { 0 }
    }

    /// A vforked child set its own action of a candidate.
    pub fn borrower_has_set(&self, life: &Life, candidate: usize) {
        let _ = self.belief(life);
        self.borrower.actions.fetch_or(1 << candidate, Ordering::Relaxed);
    }

    /// Whether a vforked child did.
    pub fn has_borrower_set(&self, life: &Life, candidate: usize) -> bool {
        let _ = self.belief(life);
        self.borrower.actions.load(Ordering::Relaxed) & 1 << candidate != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OURS: u64 = 1 << 22;

    #[test]
    fn what_a_handler_sets_ends_with_it() {
        let belief = Belief::default();
        belief.begin(0, false);
        assert!(!belief.is_blocked(0, OURS));
        // In a handler, whose mask is another one.
        belief.set(0b100, 0b110, true);
        assert!(belief.is_blocked(0b110, OURS));
        assert!(!belief.is_blocked(0, OURS));
        belief.set(0, 0b1, true);
        assert!(belief.is_blocked(0b1, OURS));
        belief.set(0b1, 0, false);
        assert!(!belief.is_blocked(0, OURS));
    }
}
