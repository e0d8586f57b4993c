//! The cost of measuring regions and sections: some executions are timed, each for several.
//!
//! Of a hook's own time the clock shows what lies between a reading that it makes anyway and another one at
//! its end. It does not show what lies before the first reading: about as long as a reading takes, which is
//! the reported error. How barriers are timed is in [`visits`](super::visits).

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use super::sites::Added;
use crate::clock;

/// All of so many first parts of regions are timed, since the very first ones take much longer,
const ALL_OF_FIRST: u32 = 8;
/// and then one of so many.
const PARTS_TIMED_OF: u32 = 8;
/// Of entries into sections one of so many is.
const SECTIONS_TIMED_OF: u32 = 64;

/// A longer stretch is another program's time.
pub const MOST_NS: u64 = 20_000;
/// A stretch that takes so many times the usual represents itself alone.
const TIMES_THE_USUAL: u64 = 8;
const LEAST_USUAL_NS: u64 = 50;
/// Longer entries are the cache's, or another program's: they do not represent others.
const LONGEST_ENTRY_NS: u64 = 200;

/// A thread's. Used by that thread alone.
#[derive(Debug, Default)]
pub struct OwnCost {
    ns: AtomicU64,
    error_ns: AtomicU64,
    behind_ns: AtomicU64,
    parts: AtomicU32,
    /// The cost of a stretch of a part, ns: a mean of late ones.
    usual_ns: AtomicU64,
    /// For how many parts the one that the thread is in stands; 0 = it is not timed.
    weight: AtomicU32,
    sections: AtomicU32,
}

impl OwnCost {
    /// The thread opens a region, or begins its part of one that another thread has opened.
    pub fn begin_part(&self) {
        let parts = self.parts.load(Ordering::Relaxed).wrapping_add(1);
        self.parts.store(parts, Ordering::Relaxed);
        let weight = match parts {
            0..=ALL_OF_FIRST => 1,
            _ if parts.is_multiple_of(PARTS_TIMED_OF) => PARTS_TIMED_OF,
            _ => 0,
        };
        self.weight.store(weight, Ordering::Relaxed);
    }

    /// The hook's work for a part of a region since the clock said `since_ns` is over.
    #[inline]
    pub fn took(&self, since_ns: u64) {
        if let Some(ns) = self.timed(since_ns) {
            self.ns.store(self.ns.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
        }
    }

    /// As [`OwnCost::took`], after the region.
    #[inline]
    pub fn took_behind(&self, since_ns: u64) {
        if let Some(ns) = self.timed(since_ns) {
            self.behind_ns.store(self.behind_ns.load(Ordering::Relaxed) + ns, Ordering::Relaxed);
        }
    }

    /// Its cost since then, in all the parts for which this one stands, if it is timed.
    #[inline]
    fn timed(&self, since_ns: u64) -> Option<u64> {
        let weight = u64::from(self.weight.load(Ordering::Relaxed));
        if weight == 0 {
            return None;
        }
        let (passed_ns, reading_ns) = (clock::ordered_ns().saturating_sub(since_ns), clock::reading_ns());
        // Others have the reading at the begin, but not the one at the end.
        let ns = (passed_ns + reading_ns).saturating_sub(clock::ordered_reading_ns());
        let weight = self.weight_of(ns, weight)?;
        let error_ns = self.error_ns.load(Ordering::Relaxed) + weight * reading_ns;
        self.error_ns.store(error_ns, Ordering::Relaxed);
        Some(weight * ns)
    }

    /// For how many stretches one that took so long stands. Now and then the thread loses its processor in
    /// one: that is not what measuring takes. One that is much longer than others for another reason, such
    /// as the first at a place, represents itself.
    fn weight_of(&self, ns: u64, weight: u64) -> Option<u64> {
        let usual_ns = self.usual_ns.load(Ordering::Relaxed);
        if ns > MOST_NS {
            return None;
        }
        if weight > 1 && ns > TIMES_THE_USUAL * usual_ns.max(LEAST_USUAL_NS) {
            return Some(1);
        }
        let usual_ns = if usual_ns == 0 { ns } else { (7 * usual_ns + ns) / 8 };
        self.usual_ns.store(usual_ns, Ordering::Relaxed);
        Some(weight)
    }

    /// The cost that a timed entry into a section represents: two stretches of it took so long together, and
    /// reading the clock twice in between `empty_ns`. The work when the section is left is not timed: it is
    /// taken to cost about the same.
    pub fn of_section(&self, stretches_ns: u64, empty_ns: u64) -> Added {
        let entry_ns = stretches_ns.saturating_sub(empty_ns).min(LONGEST_ENTRY_NS);
        let times = u64::from(SECTIONS_TIMED_OF);
        let error_ns = times * (entry_ns + clock::reading_ns());
        Added { ns: 2 * times * entry_ns, error_ns, behind_ns: 0 }
    }

    /// The cost of parts of regions since the last call.
    pub fn take(&self) -> Added {
        let taken = |of: &AtomicU64| {
            let ns = of.load(Ordering::Relaxed);
            of.store(0, Ordering::Relaxed);
            ns
        };
        Added { ns: taken(&self.ns), error_ns: taken(&self.error_ns), behind_ns: taken(&self.behind_ns) }
    }

    /// Whether this entry into a section is timed.
    #[inline]
    pub fn times_section(&self) -> bool {
        let sections = self.sections.load(Ordering::Relaxed).wrapping_add(1);
        self.sections.store(sections, Ordering::Relaxed);
        sections.is_multiple_of(SECTIONS_TIMED_OF)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_parts_are_all_timed_and_then_one_stands_for_eight() {
        let cost = OwnCost::default();
        let mut stands_for = 0;
        for part in 1..=80 {
            cost.begin_part();
            let weight = cost.weight.load(Ordering::Relaxed);
            assert!(part > 8 || weight == 1, "part {part}");
            stands_for += weight;
        }
        assert_eq!(stands_for, 80);
    }

    #[test]
    fn a_stretch_in_which_the_processor_was_lost_stands_for_no_other() {
        let cost = OwnCost::default();
        for _ in 0..20 {
            assert_eq!(cost.weight_of(100, 8), Some(8));
        }
        assert_eq!(cost.weight_of(3_000, 8), Some(1));
        assert_eq!(cost.weight_of(4_000_000, 8), None);
        assert_eq!(cost.usual_ns.load(Ordering::Relaxed), 100);
    }
}
