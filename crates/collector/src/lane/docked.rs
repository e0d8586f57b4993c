//! What a lane's header says of a thread that is *docked*: it has done its part of a region and waits for the
//! others, then for work. Its owner writes that it is docked; the opener of the region writes when it was
//! over.
//!
//! The opener may write `wait_released_ns` only while the thread is docked for this region. It checks that,
//! and its check may be out of date a moment later: the thread may have left, and be docked for another
//! region by then. What it writes then lies before that begin, and the owner discards it.

use super::LaneHeader;
use crate::sync::{Ordering, half_word_at, word_at};

/// The fields of a lane's header that concern docking.
#[derive(Clone, Copy, Debug)]
pub struct Docked(*mut LaneHeader);

/// When a region was over, and how long before that its last thread had arrived.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Released {
    /// When it was over.
    pub at_ns: u64,
    /// How long before that the last thread had arrived.
    pub latency_ns: u64,
}

impl Docked {
    /// None of null.
    ///
    /// # Safety
    /// Null, or a header that stays mapped; its words of waits are written by the lane's owner, and two of
    /// them by openers through this type.
    #[inline]
    pub unsafe fn of(header: *mut LaneHeader) -> Option<Docked> {
        (!header.is_null()).then_some(Docked(header))
    }

    /// The owner has done its part of `region` of `team`, and will wait at `node`: the log says so before it
    /// blocks. `operation` is that of such a wait.
    #[inline]
    pub fn dock(self, now_ns: u64, (team, region): (u64, u32), node: u32, operation: u32) {
        let header = self.0;
        // SAFETY: the header is mapped, and these are atomic words (contract of `of`).
        unsafe {
            word_at(&raw mut (*header).wait_object).store(team, Ordering::Relaxed);
            word_at(&raw mut (*header).wait_since_ns).store(now_ns, Ordering::Relaxed);
            half_word_at(&raw mut (*header).wait_node).store(node, Ordering::Relaxed);
            half_word_at(&raw mut (*header).wait_target).store(0, Ordering::Relaxed);
            word_at(&raw mut (*header).wait_released_ns).store(0, Ordering::Relaxed);
            half_word_at(&raw mut (*header).region).store(region, Ordering::Relaxed);
            // Last: whoever finds it finds the rest, too.
            half_word_at(&raw mut (*header).wait_operation).store(operation, Ordering::Release);
        }
    }

    /// The owner, which docked at `docked_ns`, has work again; when the region was over. None where no opener
    /// wrote it.
    #[inline]
    pub fn undock(self, docked_ns: u64) -> Option<Released> {
        let header = self.0;
        // SAFETY: as in `dock`.
        unsafe {
            half_word_at(&raw mut (*header).wait_operation).store(0, Ordering::Relaxed);
            half_word_at(&raw mut (*header).region).store(0, Ordering::Relaxed);
            let at_ns = word_at(&raw mut (*header).wait_released_ns).load(Ordering::Acquire);
            let latency_ns = word_at(&raw mut (*header).wait_latency_ns).load(Ordering::Relaxed);
            // Neither zero nor written late, of a region before.
            (at_ns != 0 && at_ns >= docked_ns).then_some(Released { at_ns, latency_ns })
        }
    }

    /// The team at the end of whose region the owner waits; by the owner.
    #[inline]
    pub fn team(self) -> u64 {
        // SAFETY: as in `dock`.
        unsafe { word_at(&raw mut (*self.0).wait_object).load(Ordering::Relaxed) }
    }

    /// Since when it waits.
    #[inline]
    pub fn since_ns(self) -> u64 {
        // SAFETY: as in `dock`.
        unsafe { word_at(&raw mut (*self.0).wait_since_ns).load(Ordering::Relaxed) }
    }

    /// Whether the owner waits at the end of a region of `team`, and began to at `since_ns` or later; for the
    /// thread that opened it. Writes of the owner meanwhile concern another region.
    #[inline]
    pub fn is_for(self, team: u64, since_ns: u64, operation: u32) -> bool {
        // SAFETY: as in `dock`.
        let waits_in = unsafe { half_word_at(&raw mut (*self.0).wait_operation).load(Ordering::Acquire) };
        waits_in == operation && self.team() == team && self.since_ns() >= since_ns
    }

    /// The region at whose end the owner waits is over; by the thread that opened it.
    #[inline]
    pub fn release(self, released: Released) {
        // SAFETY: as in `dock`; the owner reads these two only when it has work again.
        unsafe {
            word_at(&raw mut (*self.0).wait_latency_ns).store(released.latency_ns, Ordering::Relaxed);
            word_at(&raw mut (*self.0).wait_released_ns).store(released.at_ns, Ordering::Release);
        }
    }

    /// Whether an opener wrote that the region is over.
    #[inline]
    pub fn is_released(self) -> bool {
        // SAFETY: as in `dock`.
        unsafe { word_at(&raw mut (*self.0).wait_released_ns).load(Ordering::Relaxed) != 0 }
    }
}
