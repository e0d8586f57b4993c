//! Whether a run crowds itself out of its processors.

use super::fixed::{Units, fraction};

/// The locations that compete for one set of processors.
///
/// A delay in the run queue is `oversubscribed` while this run itself wants more processors than the set has, and
/// `preempted` otherwise: with no more locations than processors, only others can have taken them. Those who want
/// a processor are counted over all locations, polling and service ones included, since all of them take one.
#[derive(Clone, Debug)]
pub(super) struct Crowd {
    available: u64,
    /// Locations that hold a processor or queue for one.
    pub wanting: u64,
    now_ns: u64,
    crowded_ns: u64,
}

impl Crowd {
    pub fn new(available: u32) -> Crowd {
        Crowd { available: u64::from(available), wanting: 0, now_ns: 0, crowded_ns: 0 }
    }

    /// Moves on to `to_ns`.
    pub fn advance(&mut self, to_ns: u64) {
        if self.wanting > self.available {
            self.crowded_ns += to_ns.saturating_sub(self.now_ns);
        }
        self.now_ns = to_ns;
    }

    /// How long the set has been crowded so far, ns.
    pub fn crowded_ns(&self) -> u64 {
        self.crowded_ns
    }
}

/// Splits a delay inside a stretch of `length_ns`, during `crowded_ns` of which the set was crowded, into
/// (oversubscribed, preempted).
pub(super) fn split_delay(delay: Units, crowded_ns: u64, length_ns: u64) -> (Units, Units) {
    let oversubscribed = fraction(delay, crowded_ns, length_ns);
    (oversubscribed, delay - oversubscribed)
}
