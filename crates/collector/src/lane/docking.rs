//! The fields of a lane's header in the log for a thread that is *docked*: it has done its part of a region
//! and waits for the others, then for work. Its owner writes that it is docked; the opener of the region
//! writes when it was over.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::Operation;

use super::Lane;

impl Lane {
    /// The owner has done its part of a region, and waits for the others of `team`: the log says so before it
    /// blocks.
    pub fn dock(&self, now_ns: u64, team: u64, region: u32) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as in `enter`; `wait_released_ns` is the opener's to write only between here and
            // `undock`.
            unsafe {
                (&raw mut (*header).wait_object).write_volatile(team);
                (&raw mut (*header).wait_since_ns).write_volatile(now_ns);
                (&raw mut (*header).wait_node).write_volatile(self.member.idle_node());
                (&raw mut (*header).wait_target).write_volatile(0);
                AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).store(0, Ordering::Relaxed);
                (&raw mut (*header).region).write_volatile(region);
                (&raw mut (*header).wait_operation).write_volatile(Operation::OmpRegionEnd as u32);
            }
        }
        if self.operations.open.has_alarm() {
            self.hold_sample();
        }
    }

    /// The owner has work again; when the region at whose end it waited was over, and how long before that
    /// the last thread had arrived. None where no thread wrote it.
    pub fn undock(&self) -> Option<(u64, u64)> {
        if self.operations.open.has_alarm() {
            self.go_on();
        }
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return None;
        }
        // SAFETY: as in `dock`.
        unsafe {
            (&raw mut (*header).wait_operation).write_volatile(0);
            (&raw mut (*header).region).write_volatile(0);
            let released_ns =
                AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).load(Ordering::Acquire);
            let latency_ns = AtomicU64::from_ptr(&raw mut (*header).wait_latency_ns).load(Ordering::Relaxed);
            (released_ns != 0).then_some((released_ns, latency_ns))
        }
    }

    /// The team at the end of whose region the owner waits.
    pub fn docked_for(&self) -> u64 {
        let header = self.header.load(Ordering::Relaxed);
        // SAFETY: the header is mapped for the process's life; only the owner, the caller, writes this.
        if header.is_null() { 0 } else { unsafe { (&raw const (*header).wait_object).read_volatile() } }
    }

    /// Whether the owner waits at the end of a region of `team`, and began to when it was opened or later.
    /// For the thread that opened it: one that was in the team before may be docked for another one by now,
    /// or have ended, and its lane be another's.
    pub fn is_docked_for(&self, team: u64, since_ns: u64) -> bool {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return self.member.docked_ns() >= since_ns;
        }
        // SAFETY: the header is mapped for the process's life. The owner's writes meanwhile concern another
        // region, and yield one of the two numbers or the other.
        unsafe {
            (&raw const (*header).wait_operation).read_volatile() == Operation::OmpRegionEnd as u32
                && (&raw const (*header).wait_object).read_volatile() == team
                && self.docked_since_ns() >= since_ns
        }
    }

    /// Since when the owner waits at a region's end, for the thread that opened it.
    pub fn docked_since_ns(&self) -> u64 {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return self.member.docked_ns();
        }
        // SAFETY: the header is mapped for the process's life.
        unsafe { AtomicU64::from_ptr(&raw mut (*header).wait_since_ns).load(Ordering::Relaxed) }
    }

    /// The region at whose end the owner waits is over; for the thread that opened it.
    pub fn release_docked(&self, now_ns: u64, latency_ns: u64) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as above; the owner reads these two only when it has work again.
            unsafe {
                AtomicU64::from_ptr(&raw mut (*header).wait_latency_ns).store(latency_ns, Ordering::Relaxed);
                AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).store(now_ns, Ordering::Release);
            }
        }
    }

    /// Whether the owner waits for work, the region at whose end it waited being over.
    pub fn is_idle(&self) -> bool {
        let docked_ns = self.member.docked_ns();
        let header = self.header.load(Ordering::Relaxed);
        if docked_ns == 0 || header.is_null() {
            return false;
        }
        // SAFETY: as above.
        let released_ns =
            unsafe { AtomicU64::from_ptr(&raw mut (*header).wait_released_ns).load(Ordering::Relaxed) };
        released_ns != 0 || self.member.docked_in().is_some_and(|team| team.ended_ns(docked_ns).is_some())
    }
}
