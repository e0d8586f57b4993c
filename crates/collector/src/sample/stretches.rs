//! How long a thread runs between two operations that its hooks see.
//!
//! Arming the alarm costs the thread some microseconds, and the next hook that may block disarms it. So in a
//! thread that enters one operation after another it is armed only if the next sample is near: no further
//! than the stretches between two operations are long in which the thread spends nearly all of its time.
//! Until then the thread looks at the clock where an operation ends. A sample that is due in a longer
//! stretch is taken at a tick.
//!
//! Lengths are on the wall's clock, which costs no system call: a thread that is often displaced seems to run
//! for longer, and its alarm is armed more often.

use core::array;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// Classes of lengths: two for each doubling.
const CLASSES: usize = 16;
/// Bits of the shortest length that the first class is for, in units.
const FIRST_BITS: usize = 7;
/// Nanoseconds of a unit are two to this power: about a microsecond.
const UNIT_BITS: u32 = 10;
/// Operations that follow each other more closely leave no room for an alarm: the sample would nearly always
/// be taken in their hooks.
const LEAST_NS: u64 = 150_000;
/// Of the time that a thread runs, the part in stretches so long that an alarm is not armed for them.
const LEFT_OUT: u64 = 16;
/// After so many samples what was seen counts half.
const REMEMBERED: u32 = 32;

/// The stretches of one thread. Used by its thread alone.
#[derive(Debug)]
pub struct Stretches {
    /// Since when the thread runs; 0 = it is in an operation, or that is not known.
    since_ns: AtomicU64,
    /// The time spent in stretches of each class, in units.
    time: [AtomicU32; CLASSES],
    /// Samples since that was halved.
    samples: AtomicU32,
    /// Before this instant the thread's next sample is too far away to arm the alarm.
    look_ns: AtomicU64,
}

impl Default for Stretches {
    fn default() -> Stretches {
        Stretches {
            since_ns: AtomicU64::new(0),
            time: array::from_fn(|_| AtomicU32::new(0)),
            samples: AtomicU32::new(0),
            look_ns: AtomicU64::new(0),
        }
    }
}

/// The class of a length in units.
fn class_of(units: u64) -> usize {
    let bits = (64 - (units | 1).leading_zeros()) as usize;
    if bits < FIRST_BITS {
        return 0;
    }
    let is_upper_half = units >> (bits - 2) & 1;
    (2 * (bits - FIRST_BITS) + is_upper_half as usize).min(CLASSES - 1)
}

/// Where a class ends, ns.
fn end_of(class: usize) -> u64 {
    (3 + class as u64 % 2) << (FIRST_BITS - 2 + class / 2) << UNIT_BITS
}

impl Stretches {
    /// A thread begins.
    pub fn begin(&self) {
        self.stop();
        self.time.iter().for_each(|time| time.store(0, Ordering::Relaxed));
        self.samples.store(0, Ordering::Relaxed);
    }

    /// Hooks do not report the thread's operations from now on.
    pub fn stop(&self) {
        self.since_ns.store(0, Ordering::Relaxed);
        self.look_ns.store(0, Ordering::Relaxed);
    }

    /// The thread runs now, outside of operations.
    pub fn runs(&self, now_ns: u64) {
        if self.since_ns.load(Ordering::Relaxed) == 0 {
            self.since_ns.store(now_ns, Ordering::Relaxed);
        }
    }

    /// The thread enters an operation, which began then.
    pub fn ends(&self, begin_ns: u64) {
        let since_ns = self.since_ns.load(Ordering::Relaxed);
        if since_ns != 0 {
            self.since_ns.store(0, Ordering::Relaxed);
            let units = begin_ns.saturating_sub(since_ns) >> UNIT_BITS;
            let time = &self.time[class_of(units)];
            let sum = time.load(Ordering::Relaxed).saturating_add(u32::try_from(units).unwrap_or(u32::MAX));
            time.store(sum, Ordering::Relaxed);
        }
    }

    /// A sample was taken. A stretch that it was taken in is as long as seen so far.
    pub fn sampled(&self, now_ns: u64) {
        self.ends(now_ns);
        let samples = self.samples.load(Ordering::Relaxed) + 1;
        self.samples.store(samples % REMEMBERED, Ordering::Relaxed);
        if samples == REMEMBERED {
            for time in &self.time {
                time.store(time.load(Ordering::Relaxed) / 2, Ordering::Relaxed);
            }
        }
    }

    /// How near a sample has to be for the alarm to be armed; None where the thread's stretches put no bound.
    fn near_ns(&self) -> Option<u64> {
        let time: [u64; CLASSES] = array::from_fn(|class| self.time[class].load(Ordering::Relaxed).into());
        let all: u64 = time.iter().sum();
        let mut longer = 0;
        let longest = (0..CLASSES).rev().find(|&class| {
            longer += time[class];
            longer * LEFT_OUT > all
        });
        longest.map(end_of).filter(|&near_ns| near_ns >= LEAST_NS)
    }

    /// Whether the alarm for a sample that is due in `left_ns` would probably be disarmed before.
    pub fn is_beyond(&self, left_ns: u64) -> bool {
        self.near_ns().is_some_and(|near_ns| left_ns > near_ns)
    }

    /// As [`Stretches::is_beyond`]; and [`Stretches::is_far`] as long as that is so.
    pub fn put_off(&self, now_ns: u64, left_ns: u64) -> bool {
        let beyond_ns = self.near_ns().map_or(0, |near_ns| left_ns.saturating_sub(near_ns));
        // The CPU clock is no faster than the wall's.
        self.look_ns.store(now_ns.saturating_add(beyond_ns), Ordering::Relaxed);
        beyond_ns != 0
    }

    /// Whether the next sample is known to be far away.
    pub fn is_far(&self, now_ns: u64) -> bool {
        now_ns < self.look_ns.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread runs so often for so long, with operations of no length in between, until the instant.
    fn run(stretches: &Stretches, now_ns: &mut u64, (times, run_ns): (u32, u64)) {
        for _ in 0..times {
            stretches.runs(*now_ns);
            *now_ns += run_ns;
            stretches.ends(*now_ns);
        }
    }

    fn after(runs: &[(u32, u64)]) -> (Stretches, u64) {
        let (stretches, mut now_ns) = (Stretches::default(), 1);
        runs.iter().for_each(|&runs| run(&stretches, &mut now_ns, runs));
        (stretches, now_ns)
    }

    #[test]
    fn a_length_lies_below_the_end_of_its_class_and_above_that_of_the_one_before() {
        for ns in (0..30_000).map(|step| step * 500) {
            let class = class_of(ns >> UNIT_BITS);
            assert!(class == CLASSES - 1 || ns < end_of(class), "{ns}");
            assert!(class == 0 || ns >= end_of(class - 1), "{ns}");
        }
    }

    #[test]
    fn a_sample_beyond_the_usual_stretch_is_put_off_until_it_is_near() {
        let (stretches, now_ns) = after(&[(20, 400_000)]);
        assert!(!stretches.put_off(now_ns, 400_000));
        assert!(!stretches.is_far(now_ns));
        assert!(stretches.put_off(now_ns, 2_000_000));
        assert!(stretches.is_far(now_ns + 1_400_000));
        assert!(!stretches.is_far(now_ns + 1_600_000));
    }

    #[test]
    fn without_stretches_or_with_very_short_ones_nothing_is_put_off() {
        assert!(!Stretches::default().put_off(1, u64::MAX));
        let (stretches, now_ns) = after(&[(1000, 50_000)]);
        assert!(!stretches.put_off(now_ns, u64::MAX));
    }

    #[test]
    fn one_long_stretch_is_chance_and_those_that_take_the_time_are_not() {
        // A hundred short ones, and one of a tenth or a twentieth of their time.
        let beyond = |long_ns| after(&[(100, 400_000), (1, long_ns)]).0.is_beyond(2_000_000);
        assert!(beyond(2_000_000));
        assert!(!beyond(4_000_000));
    }

    #[test]
    fn what_was_is_forgotten() {
        let (stretches, mut now_ns) = after(&[(100, 5_000_000)]);
        let mut samples = 0;
        while !stretches.is_beyond(4_000_000) {
            run(&stretches, &mut now_ns, (10, 200_000));
            stretches.sampled(now_ns);
            samples += 1;
        }
        assert!((2 * REMEMBERED..10 * REMEMBERED).contains(&samples), "{samples}");
    }

    #[test]
    fn a_stretch_that_a_sample_cuts_counts_as_long_as_it_was() {
        let (stretches, now_ns) = after(&[(3, 200_000)]);
        stretches.runs(now_ns);
        stretches.sampled(now_ns + 3_500_000);
        assert!(!stretches.is_beyond(3_500_000));
        // From then on its operations are not seen.
        stretches.ends(now_ns + 90_000_000);
        assert!(stretches.is_beyond(4_200_000));
    }
}
