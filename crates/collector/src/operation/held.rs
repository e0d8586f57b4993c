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
    /// So many times more it is taken for contended when it is acquired.
    hot: AtomicU64,
    /// When its section began, if that is one of those that are timed.
    timed_ticks: AtomicU64,
}

/// A lock that was contended is taken for contended this many times: who waits for it may be on its way for long.
const HOT: u64 = 1 << 20;

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
            place.hot.store(0, Ordering::Relaxed);
            place.timed_ticks.store(0, Ordering::Relaxed);
        }
        if since_ns != 0 {
            place.hot.store(HOT, Ordering::Relaxed);
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

    /// Somebody waits for a lock that this thread is about to let go: whether it had been contended when it was acquired,
    /// and that at once.
    #[inline]
    pub fn is_contended(&self, object: u64) -> bool {
        let place = self.place(object);
        if place.object.load(Ordering::Relaxed) != object {
            return false;
        }
        let was_contended = place.hot.load(Ordering::Relaxed) != 0;
        place.hot.store(HOT, Ordering::Relaxed);
        was_contended && place.since_ns.load(Ordering::Relaxed) == 0
    }

    /// Whether a lock that was just acquired, and kept, was contended not long ago; asked once for each acquisition.
    #[inline]
    pub fn was_contended(&self, object: u64) -> bool {
        let place = self.place(object);
        let hot = place.hot.load(Ordering::Relaxed);
        if hot != 0 {
            place.hot.store(hot - 1, Ordering::Relaxed);
        }
        hot != 0
    }

    /// The section that has just begun is timed: from when the processor's counter stood at `ticks`.
    #[inline]
    pub fn time(&self, object: u64, ticks: u64) {
        self.place(object).timed_ticks.store(ticks, Ordering::Relaxed);
    }

    /// Whether the section that ends now is timed, of this lock or of another one in its place.
    #[inline]
    pub fn is_timed(&self, object: u64) -> bool {
        self.place(object).timed_ticks.load(Ordering::Relaxed) != 0
    }

    /// When the section began that ends now, if it is timed.
    #[inline]
    pub fn timed(&self, object: u64) -> Option<u64> {
        let place = self.place(object);
        let ticks = place.timed_ticks.load(Ordering::Relaxed);
        if ticks == 0 || place.object.load(Ordering::Relaxed) != object {
            return None;
        }
        place.timed_ticks.store(0, Ordering::Relaxed);
        Some(ticks)
    }

    /// How many ticks before the processor's counter stood at `ticks` this thread let a lock go the last time, or a number
    /// beyond all if that is not known.
    #[inline]
    pub fn since_let_go(&self, object: u64, ticks: u64) -> u64 {
        let place = self.place(object);
        match place.let_go_ticks.load(Ordering::Relaxed) {
            before if before != 0 && place.object.load(Ordering::Relaxed) == object => {
                ticks.saturating_sub(before)
            }
            _ => u64::MAX,
        }
    }

    /// A lock was let go when the processor's counter stood at `ticks`.
    #[inline]
    pub fn let_go(&self, object: u64, ticks: u64) {
        let place = self.place(object);
        if place.object.load(Ordering::Relaxed) == object {
            place.let_go_ticks.store(ticks, Ordering::Relaxed);
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
        assert_eq!(held.since_let_go(0x1000, 500), u64::MAX);
        held.let_go(0x1000, 500);
        held.keep(0x1000, 8, 0);
        assert_eq!(held.since_let_go(0x1000, 530), 30);
        held.let_go(0x2000, 535);
        assert_eq!(held.since_let_go(0x2000, 540), u64::MAX);
        held.forget();
        assert_eq!(held.of(0x1000), (0, 0));
        held.keep(0x1000, 8, 0);
        assert_eq!(held.since_let_go(0x1000, 600), u64::MAX);
    }

    #[test]
    fn a_lock_that_was_contended_once_is_watched() {
        let held = Held::default();
        held.keep(0x1000, 8, 0);
        assert!(!held.was_contended(0x1000));
        assert_eq!((held.is_contended(0x1000), held.is_contended(0x1000)), (false, true));
        assert!(held.was_contended(0x1000));
        // Who waited for it knows since when he has it.
        held.keep(0x1000, 8, 77);
        assert!(!held.is_contended(0x1000));
        held.time(0x1000, 570);
        assert_eq!((held.timed(0x1000), held.timed(0x1000)), (Some(570), None));
        held.keep(0x2000, 9, 0);
        assert_eq!((held.timed(0x3000), held.was_contended(0x2000)), (None, false));
    }
}
