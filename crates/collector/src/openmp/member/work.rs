//! The segment that a thread is at: work since the last site, and waits that something interrupted.

use core::sync::atomic::{AtomicU64, Ordering};

use super::Member;
use crate::openmp::settling;

/// A wait as long as that is worth reading the CPU clock at its begin.
const LONG_WAIT_NS: u64 = 20_000;

impl Member {
    /// The work since the last site, up to when it stopped working.
    pub fn worked_ns(&self) -> u64 {
        self.worked_ns.load(Ordering::Relaxed)
    }

    /// Sets the work since the last site.
    pub fn set_worked(&self, worked_ns: u64) {
        self.worked_ns.store(worked_ns, Ordering::Relaxed);
    }

    /// Takes the work of the segment that has ended at `now_ns` at no barrier. If barriers were passed in it
    /// that were not measured, it is no work but a gap. For the thread that has taken the record.
    #[inline]
    pub fn take_work_after_visits(&self, now_ns: u64) -> u64 {
        let work_ns = self.take_work();
        match self.visits() {
            Some(visits) if visits.end_segment() => {
                // SAFETY: the caller has taken the record.
                settling::add_gap(unsafe { visits.pending() }, work_ns, now_ns);
                0
            }
            _ => work_ns,
        }
    }

    /// It stops working at `now_ns`, for something that is no part of its segment.
    #[inline]
    pub fn pause(&self, now_ns: u64) {
        let since_ns = self.since_ns.swap_relaxed(0);
        if since_ns != 0 {
            let worked_ns = self.worked_ns.load(Ordering::Relaxed) + now_ns.saturating_sub(since_ns);
            self.worked_ns.store(worked_ns, Ordering::Relaxed);
        }
    }

    /// It works again.
    #[inline]
    pub fn resume(&self, now_ns: u64) {
        self.since_ns.store(now_ns, Ordering::Relaxed);
    }

    /// Takes the work of the segment that has ended.
    #[inline]
    pub fn take_work(&self) -> u64 {
        self.worked_ns.swap_relaxed(0)
    }

    /// Whether the thread's CPU clock is worth a reading where it begins to wait: its waits are long.
    /// Otherwise what it used before the wait and in it could not be distinguished: runtimes spin for a while
    /// before they sleep.
    #[inline]
    pub fn waits_long(&self) -> bool {
        self.last_wait_ns.load(Ordering::Relaxed) >= LONG_WAIT_NS
    }

    /// How long its newest wait took.
    #[inline]
    pub fn last_wait_ns(&self) -> u64 {
        self.last_wait_ns.load(Ordering::Relaxed)
    }

    /// A wait took so long.
    #[inline]
    pub fn has_waited(&self, ns: u64) {
        self.last_wait_ns.store(ns, Ordering::Relaxed);
    }

    /// Adds to the waiting that was interrupted.
    pub fn waited(&self, ns: u64) {
        self.waited_ns.store(self.waited_ns.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
    }

    /// Takes it.
    #[inline]
    pub fn take_waited(&self) -> u64 {
        self.waited_ns.swap_relaxed(0)
    }
}

/// A swap that is none of several threads: of fields that only their thread writes.
trait SwapRelaxed {
    fn swap_relaxed(&self, value: u64) -> u64;
}

impl SwapRelaxed for AtomicU64 {
    #[inline]
    fn swap_relaxed(&self, value: u64) -> u64 {
        let before = self.load(Ordering::Relaxed);
        self.store(value, Ordering::Relaxed);
        before
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_what_lies_between_waits() {
        let member = Member::default();
        member.resume(100);
        member.pause(130);
        member.pause(150);
        member.resume(200);
        member.pause(205);
        assert_eq!(member.take_work(), 35);
        assert_eq!(member.take_work(), 0);
    }
}
