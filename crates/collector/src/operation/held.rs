//! Where a thread acquired the locks that it holds: an address of code for each, kept at each acquisition.

use core::sync::atomic::{AtomicU64, Ordering};

const PLACES: usize = 16;

#[derive(Debug, Default)]
struct Place {
    object: AtomicU64,
    site: AtomicU64,
    since_ns: AtomicU64,
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
        place.object.store(object, Ordering::Relaxed);
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
        held.forget();
        assert_eq!(held.of(0x1000), (0, 0));
    }
}
