//! The critical sections that a thread is in: where it acquired each lock and, of those that are timed, when.

use crate::arena::spread;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

const PLACES: usize = 16;

#[derive(Debug, Default)]
struct Place {
    object: AtomicU64,
    site: AtomicU64,
    /// The processor's counter when the section began; 0 = the section is not timed.
    ticks: AtomicU64,
    /// Of how many acquisitions this one was drawn.
    stands_for: AtomicU32,
}

const _: () = assert!(size_of::<Place>() == 32);

/// A section that was timed from its begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// The processor's counter then.
    pub ticks: u64,
    /// Of how many acquisitions it was drawn.
    pub stands_for: u32,
}

/// The newest acquisitions of a thread. Used by the owner alone; of two locks of one place the later one is
/// known.
#[derive(Debug, Default)]
pub struct Sections([Place; PLACES]);

impl Sections {
    #[inline]
    fn place(&self, object: u64) -> &Place {
        &self.0[(spread(object) >> 60) as usize % PLACES]
    }

    /// A section begins: the lock was acquired by the call that returns to `site`. It is not timed.
    #[inline]
    pub fn begin(&self, object: u64, site: u64) {
        let place = self.place(object);
        place.object.store(object, Ordering::Relaxed);
        place.site.store(site, Ordering::Relaxed);
        place.ticks.store(0, Ordering::Relaxed);
    }

    /// The section that has just begun is timed.
    pub fn time(&self, object: u64, timed: Timed) {
        let place = self.place(object);
        place.stands_for.store(timed.stands_for, Ordering::Relaxed);
        place.ticks.store(timed.ticks, Ordering::Relaxed);
    }

    /// Where a lock was acquired; 0 if that is not known.
    pub fn site(&self, object: u64) -> u64 {
        let place = self.place(object);
        if place.object.load(Ordering::Relaxed) == object { place.site.load(Ordering::Relaxed) } else { 0 }
    }

    /// Whether the section of this lock, or of another one in its place, is timed.
    #[inline]
    pub fn is_timed(&self, object: u64) -> bool {
        self.place(object).ticks.load(Ordering::Relaxed) != 0
    }

    /// The section ends: when it began, if it is timed.
    #[inline]
    pub fn end(&self, object: u64) -> Option<Timed> {
        let place = self.place(object);
        let ticks = place.ticks.load(Ordering::Relaxed);
        if ticks == 0 || place.object.load(Ordering::Relaxed) != object {
            return None;
        }
        place.ticks.store(0, Ordering::Relaxed);
        Some(Timed { ticks, stands_for: place.stands_for.load(Ordering::Relaxed) })
    }

    /// The lane's next thread begins.
    pub fn forget(&self) {
        for place in &self.0 {
            place.object.store(0, Ordering::Relaxed);
            place.ticks.store(0, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_is_known_from_its_begin_to_its_end() {
        let sections = Sections::default();
        let timed = Timed { ticks: 570, stands_for: 8 };
        assert_eq!((sections.site(0x1000), sections.end(0x1000)), (0, None));
        sections.begin(0x1000, 7);
        sections.begin(0x1000, 8);
        assert_eq!((sections.site(0x1000), sections.is_timed(0x1000)), (8, false));
        sections.time(0x1000, timed);
        assert!(sections.is_timed(0x1000));
        assert_eq!((sections.end(0x1000), sections.end(0x1000)), (Some(timed), None));
        sections.begin(0x1000, 8);
        sections.time(0x1000, timed);
        // The next section of this lock is another one.
        sections.begin(0x1000, 9);
        assert_eq!((sections.site(0x1000), sections.end(0x1000)), (9, None));
        sections.time(0x1000, timed);
        sections.forget();
        assert_eq!((sections.site(0x1000), sections.end(0x1000)), (0, None));
    }

    #[test]
    fn of_two_locks_of_one_place_only_the_later_is_known() {
        let sections = Sections::default();
        let place = |object: u64| core::ptr::from_ref(sections.place(object));
        let other = (1..).map(|n| 0x1000 + n * 40).find(|&other| place(other) == place(0x1000)).unwrap();
        sections.begin(0x1000, 7);
        sections.time(0x1000, Timed { ticks: 570, stands_for: 1 });
        sections.begin(other, 8);
        assert_eq!((sections.end(0x1000), sections.site(0x1000), sections.site(other)), (None, 0, 8));
    }
}
