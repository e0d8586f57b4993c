//! A thread inside a barrier for which no operation is open: the state it writes before it waits, and the
//! code that interrupts the wait.

use core::sync::atomic::Ordering;

use proust_log::operations::Operation;

use super::{DRAWN, Inside, NOT_INSIDE, Visit, Visits};
use crate::arch::routes;
use crate::clock;
use crate::lane;
use crate::life;
use crate::path::stack::OwnStack;

/// A visit to a barrier that was interrupted by something else, such as a task that the thread does inside.
#[derive(Clone, Copy, Debug, Default)]
pub struct Interrupted {
    inside: u32,
    at: u32,
    arrived_ns: u64,
    is_in_gap: bool,
}

impl Visits {
    /// The thread is inside a barrier that is not measured; the log says so before it may block.
    #[inline(always)]
    pub fn enter(&self, inside: Inside) {
        self.now.inside.store(inside as u32, Ordering::Relaxed);
        // SAFETY: a word of the lane's header, which is mapped for the process's life, or one of these pages.
        // Volatile, so that it is stored now: the process may be killed inside.
        unsafe {
            self.now.wait_operation.load(Ordering::Relaxed).write_volatile(Operation::OmpBarrier as u32)
        };
    }

    /// As [`Visits::enter`], in a drawn visit. Nothing but this lies between the program's work and its
    /// barrier: if measuring delayed the thread, waits that are measured would differ from those that are
    /// not.
    #[inline(always)]
    pub fn enter_drawn(&self, inside: Inside) {
        self.enter(inside);
        self.now.inside.store(inside as u32 | DRAWN, Ordering::Relaxed);
        let now_ns = clock::ordered_ns();
        self.now.arrived_ns.store(now_ns, Ordering::Relaxed);
        self.now.waits_since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// It is no longer inside. `drawn` is called if the visit was drawn, with the time at which it was over.
    #[inline(always)]
    pub fn over(&'static self, drawn: impl FnOnce(u64)) {
        // A child that was forked inside has other visits, and another record.
        if life::records_here() && lane::visits().is_some_and(|visits| core::ptr::eq(visits, self)) {
            let is_drawn = self.now.inside.load(Ordering::Relaxed) & DRAWN != 0;
            if is_drawn {
                let end_ns = clock::ordered_ns();
                self.leave();
                drawn(end_ns);
            } else {
                self.leave();
            }
        }
    }

    /// When the thread arrived at its newest drawn visit, and since when it has waited, but for what
    /// interrupted that.
    pub fn arrived_and_waits_since(&self) -> (u64, u64) {
        (self.now.arrived_ns.load(Ordering::Relaxed), self.now.waits_since_ns.load(Ordering::Relaxed))
    }

    /// Since when the thread has waited in the drawn visit that it is inside, if it is.
    pub fn waits_since(&self) -> Option<u64> {
        let is_drawn = self.now.inside.load(Ordering::Relaxed) & DRAWN != 0;
        is_drawn.then(|| self.now.waits_since_ns.load(Ordering::Relaxed))
    }

    #[inline(always)]
    pub(super) fn leave(&self) {
        // SAFETY: as above.
        unsafe { self.now.wait_operation.load(Ordering::Relaxed).write_volatile(0) };
        self.now.inside.store(NOT_INSIDE, Ordering::Relaxed);
    }

    /// Whether the thread is inside a barrier for which no operation is open.
    #[inline]
    pub fn is_inside(&self) -> bool {
        self.now.inside.load(Ordering::Relaxed) != NOT_INSIDE
    }

    /// Whether it is, seen from a call whose frame is at `sp`: its calls there are the runtime's waiting. A
    /// handler of the program may have left the barrier by a jump; then it is no longer inside.
    #[inline]
    pub fn is_inside_at(&self, sp: u64, own_stack: OwnStack) -> bool {
        let inside = self.now.inside.load(Ordering::Relaxed);
        if inside == NOT_INSIDE {
            return false;
        }
        if inside & !DRAWN == Inside::WithFrame as u32
            && let Some(site) = self.sites.get(self.at())
            && site.is_called(sp, own_stack) == Some(false)
        {
            self.leave();
            return false;
        }
        true
    }

    /// Whether a team of one is in a visit that was only counted ([`pass_alone`](super::pass_alone)), seen
    /// from a frame at `sp`.
    pub(super) fn is_inside_alone(&self, sp: u64, own_stack: OwnStack) -> bool {
        self.now.is_alone.load(Ordering::Relaxed)
            && self.now.epoch.load(Ordering::Relaxed) != 0
            && self.sites.get(self.at()).is_some_and(|site| site.is_called(sp, own_stack) == Some(true))
    }

    /// Something else is measured inside it (a task), to be taken up by [`Visits::go_on`].
    pub fn interrupt(&self) -> Interrupted {
        let interrupted = Interrupted {
            inside: self.now.inside.load(Ordering::Relaxed),
            at: self.now.at.load(Ordering::Relaxed),
            arrived_ns: self.now.arrived_ns.load(Ordering::Relaxed),
            is_in_gap: self.now.is_in_gap.load(Ordering::Relaxed) != 0,
        };
        if interrupted.inside != NOT_INSIDE {
            self.leave();
        }
        self.look_again();
        self.now.is_in_gap.store(0, Ordering::Relaxed);
        interrupted
    }

    /// Continues at `now_ns` after what was measured inside.
    pub fn go_on(&self, interrupted: &Interrupted, now_ns: u64) {
        self.now.is_in_gap.store(u32::from(interrupted.is_in_gap), Ordering::Relaxed);
        if interrupted.inside != NOT_INSIDE {
            self.enter(Inside::WithFrame);
            self.now.inside.store(interrupted.inside, Ordering::Relaxed);
            self.now.at.store(interrupted.at, Ordering::Relaxed);
            self.now.arrived_ns.store(interrupted.arrived_ns, Ordering::Relaxed);
            self.now.waits_since_ns.store(now_ns, Ordering::Relaxed);
        }
    }
}

impl Visit {
    /// Whether a hook that was called from this site, or the runtime's function that it jumped to, has still
    /// to return, seen from a frame at `sp`; None if they lie on other stacks.
    fn is_called(&self, sp: u64, own_stack: OwnStack) -> Option<bool> {
        let place = self.sp.load(Ordering::Relaxed);
        if !own_stack.contains(sp) || !own_stack.contains(place) {
            return None;
        }
        if place.saturating_sub(routes::RETURN_BELOW) < sp || !place.is_multiple_of(8) {
            return Some(false);
        }
        // SAFETY: between a stack pointer of this thread's own stack and that stack's top all is mapped.
        Some(unsafe { routes::is_called(place, self.address.load(Ordering::Relaxed)) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_lasts_while_its_return_address_lies_where_it_was() {
        let words = [1_u64, 2, 3, 4];
        let low = words.as_ptr() as u64;
        let own_stack = OwnStack { low, top: low + 32 + routes::RETURN_BELOW };
        let site = |address: u64, sp: u64| {
            let site = Visit::default();
            site.address.store(address, Ordering::Relaxed);
            site.sp.store(sp + routes::RETURN_BELOW, Ordering::Relaxed);
            site
        };
        assert_eq!(site(3, low + 16).is_called(low + 8, own_stack), Some(true));
        assert_eq!(site(3, low + 16).is_called(low + 16, own_stack), Some(true));
        assert_eq!(site(3, low + 16).is_called(low + 24, own_stack), Some(false), "it has returned");
        assert_eq!(site(7, low + 16).is_called(low + 8, own_stack), Some(false), "another call lies there");
        assert_eq!(site(3, low + 16).is_called(low - 8, own_stack), None);
        assert_eq!(site(3, low + 64).is_called(low + 8, own_stack), None);
    }
}
