//! Where a thread acquired the locks that it holds: an address of code for each, kept at each acquisition; and when it
//! last let them go.

use core::sync::atomic::{AtomicU64, Ordering};

const PLACES: usize = 16;

#[derive(Debug, Default)]
struct Place {
    object: AtomicU64,
    site: AtomicU64,
    since_ns: AtomicU64,
    let_go_ticks: AtomicU64,
}

/// The newest acquisitions of a thread. Used by the owner alone; two locks of one place displace each other.
#[derive(Debug, Default)]
pub struct Held([Place; PLACES]);

impl Held {
    #[inline]
    fn place(&self, object: u64) -> &Place {
        &self.0[(object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 60) as usize % PLACES]
    }

    /// A lock was acquired by the call that returns to `site`; `since_ns` is 0 where nobody read a clock.
    #[inline]
    pub fn keep(&self, object: u64, site: u64, since_ns: u64) {
        let place = self.place(object);
        if place.object.load(Ordering::Relaxed) != object {
            place.object.store(object, Ordering::Relaxed);
            place.let_go_ticks.store(0, Ordering::Relaxed);
        }
        place.site.store(site, Ordering::Relaxed);
        place.since_ns.store(since_ns, Ordering::Relaxed);
    }

    /// Where and, if that is known, when a lock was acquired; zeros if it is not.
    pub fn of(&self, object: u64) -> (u64, u64) {
        let place = self.place(object);
        if place.object.load(Ordering::Relaxed) == object {
            (place.site.load(Ordering::Relaxed), place.since_ns.load(Ordering::Relaxed))
        } else {
            (0, 0)
        }
    }

    /// A lock is let go when the processor's counter stands at `ticks`: how many ticks ago this thread did so before, or
    /// a number beyond all if that is not known.
    #[inline]
    pub fn let_go(&self, object: u64, ticks: u64) -> u64 {
        let place = self.place(object);
        if place.object.load(Ordering::Relaxed) != object {
            return u64::MAX;
        }
        let before = place.let_go_ticks.load(Ordering::Relaxed);
        place.let_go_ticks.store(ticks, Ordering::Relaxed);
        if before == 0 { u64::MAX } else { ticks.saturating_sub(before) }
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        for place in &self.0 {
            place.object.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_acquisition_of_a_lock_is_known() {
        let held = Held::default();
        assert_eq!(held.of(0x1000), (0, 0));
        held.keep(0x1000, 7, 0);
        held.keep(0x1000, 8, 99);
        assert_eq!(held.of(0x1000), (8, 99));
        assert_eq!(held.let_go(0x1000, 500), u64::MAX);
        held.keep(0x1000, 8, 0);
        assert_eq!(held.let_go(0x1000, 530), 30);
        assert_eq!(held.let_go(0x2000, 540), u64::MAX);
        held.forget();
        assert_eq!(held.of(0x1000), (0, 0));
        held.keep(0x1000, 8, 0);
        assert_eq!(held.let_go(0x1000, 600), u64::MAX);
    }
}
