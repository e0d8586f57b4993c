//! Which critical sections are recorded: the one rule, with the probability that it gives each section.
//!
//! `docs/internals/lock-sampling.md` explains it. Here is the arithmetic alone, for one thread: which
//! acquisitions are timed, and which of the sections that were timed, and that a thread waited for, are
//! recorded with which weight.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use proust_log::records::{RELEASE_MOST_ACQUISITIONS as LONGEST_BLOCK, RELEASE_WEIGHT_NS};

/// Blocks get longer until two timed acquisitions of a thread are so far apart: about 10 µs. A reading of the
/// counter takes 20 ns.
const APART_TICKS: u64 = 1 << 15;

/// One thread's draws. Used by the owner alone.
#[derive(Debug)]
pub struct Sampling {
    /// So many acquisitions pass before one is timed.
    left: AtomicU32,
    /// Length of the present block, a power of two.
    block: AtomicU32,
    /// So many acquisitions are left in the present block after the one that is timed.
    after: AtomicU32,
    /// The processor's counter when the thread last read it for a lock.
    read_ticks: AtomicU64,
    /// The counter at the last acquisition that was timed.
    timed_ticks: AtomicU64,
    /// Held time, ns, up to the point drawn in the present stretch of [`RELEASE_WEIGHT_NS`]; and from there
    /// to its end.
    to_point_ns: AtomicU64,
    after_point_ns: AtomicU64,
    random: AtomicU64,
}

impl Default for Sampling {
    fn default() -> Sampling {
        Sampling {
            left: AtomicU32::new(0),
            block: AtomicU32::new(1),
            after: AtomicU32::new(0),
            read_ticks: AtomicU64::new(0),
            timed_ticks: AtomicU64::new(0),
            to_point_ns: AtomicU64::new(0),
            after_point_ns: AtomicU64::new(0),
            random: AtomicU64::new(1),
        }
    }
}

impl Sampling {
    /// A thread begins when the counter stands at `ticks`; `seed` is any number.
    pub fn begin(&self, ticks: u64, seed: u64) {
        self.random.store((ticks ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)) | 1, Ordering::Relaxed);
        self.read_ticks.store(ticks, Ordering::Relaxed);
        self.timed_ticks.store(ticks, Ordering::Relaxed);
        self.block.store(1, Ordering::Relaxed);
        self.left.store(0, Ordering::Relaxed);
        self.after.store(0, Ordering::Relaxed);
        self.after_point_ns.store(0, Ordering::Relaxed);
        self.draw_point();
    }

    /// A lock was acquired: whether this section is timed.
    #[inline]
    pub fn is_drawn(&self) -> bool {
        let left = self.left.load(Ordering::Relaxed);
        if left == 0 {
            return true;
        }
        self.left.store(left - 1, Ordering::Relaxed);
        false
    }

    /// An acquisition was drawn and timed, when the counter stood at `ticks`: how many it represents. Draws
    /// the next.
    pub fn timed(&self, ticks: u64) -> u32 {
        let block = self.block.load(Ordering::Relaxed);
        let apart = ticks.saturating_sub(self.timed_ticks.load(Ordering::Relaxed));
        self.timed_ticks.store(ticks, Ordering::Relaxed);
        self.read_ticks.store(ticks, Ordering::Relaxed);
        // The length of the next block is settled before anything of that block is known: it favours no
        // section.
        let next = if apart < APART_TICKS {
            (block * 2).min(LONGEST_BLOCK)
        } else if apart > 4 * APART_TICKS {
            (block / 2).max(1)
        } else {
            block
        };
        let drawn = if next == 1 { 0 } else { self.below(u64::from(next)) as u32 };
        self.left.store(self.after.load(Ordering::Relaxed) + drawn, Ordering::Relaxed);
        self.after.store(next - 1 - drawn, Ordering::Relaxed);
        self.block.store(next, Ordering::Relaxed);
        block
    }

    /// When the thread last read the counter for a lock.
    #[inline]
    pub fn read_ticks(&self) -> u64 {
        self.read_ticks.load(Ordering::Relaxed)
    }

    /// The thread has read the counter for a lock.
    #[inline]
    pub fn has_read(&self, ticks: u64) {
        self.read_ticks.store(ticks, Ordering::Relaxed);
    }

    /// A section that was timed, and is one of `stands_for`, has lasted `held_ns`, and a thread waits for it:
    /// how much held time its record represents, ns. None if it is not recorded.
    pub fn weight_ns(&self, held_ns: u64, stands_for: u32) -> Option<u64> {
        let all_ns = held_ns.max(1).saturating_mul(u64::from(stands_for));
        if all_ns >= RELEASE_WEIGHT_NS {
            return Some(all_ns);
        }
        let mut rest_ns = all_ns;
        let mut points = 0;
        loop {
            let to_point_ns = self.to_point_ns.load(Ordering::Relaxed);
            if rest_ns < to_point_ns {
                self.to_point_ns.store(to_point_ns - rest_ns, Ordering::Relaxed);
                break;
            }
            rest_ns -= to_point_ns;
            points += 1;
            self.draw_point();
        }
        (points > 0).then_some(points * RELEASE_WEIGHT_NS)
    }

    /// Draws a point in the next stretch of held time. Never 0, so that each section that contains one ends
    /// after it.
    fn draw_point(&self) {
        let point_ns = self.below(RELEASE_WEIGHT_NS);
        let before_ns = self.after_point_ns.load(Ordering::Relaxed);
        self.to_point_ns.store(before_ns + point_ns + 1, Ordering::Relaxed);
        self.after_point_ns.store(RELEASE_WEIGHT_NS - 1 - point_ns, Ordering::Relaxed);
    }

    /// A number that looks random, below `end`.
    fn below(&self, end: u64) -> u64 {
        // xorshift, from any state but zero.
        let mut state = self.random.load(Ordering::Relaxed) | 1;
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        self.random.store(state, Ordering::Relaxed);
        ((u128::from(state) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread's sections as the rule sees them: (length, ns; time until the next acquisition, ticks).
    /// Returns for each kind the sum of weights, and of weight over length: the held time and the number of
    /// sections according to the log.
    fn estimated(sections: &[(u64, u64)], rounds: u64, seed: u64) -> Vec<(f64, f64)> {
        let sampling = Sampling::default();
        sampling.begin(1_000, seed);
        let mut ticks = 1_000;
        let mut sums = vec![(0.0, 0.0); sections.len()];
        for _ in 0..rounds {
            for (kind, &(held_ns, until_next)) in sections.iter().enumerate() {
                if sampling.is_drawn() {
                    let stands_for = sampling.timed(ticks);
                    if let Some(weight_ns) = sampling.weight_ns(held_ns, stands_for) {
                        sums[kind].0 += weight_ns as f64;
                        sums[kind].1 += weight_ns as f64 / held_ns as f64;
                    }
                }
                ticks += until_next;
            }
        }
        sums
    }

    #[test]
    fn each_kind_of_section_is_estimated_without_bias_whatever_the_pattern() {
        // Patterns with which every second, fourth or sixty-fourth acquisition would always be of the same
        // kind.
        let patterns: [&[(u64, u64)]; 4] = [
            &[(100, 500), (300, 500)],
            &[(50, 60), (50, 60), (50, 60), (5_000, 50_000)],
            &[(4_000, 20_000), (8_000, 40_000), (16_000, 300_000)],
            &[(20, 100), (20, 100), (20, 100), (300_000, 100)],
        ];
        for (number, sections) in patterns.iter().enumerate() {
            let (rounds, runs) = (40_000, 24);
            let mut means = vec![(0.0, 0.0); sections.len()];
            for seed in 0..runs {
                for (mean, of) in means.iter_mut().zip(estimated(sections, rounds, seed * 77 + 5)) {
                    mean.0 += of.0 / runs as f64;
                    mean.1 += of.1 / runs as f64;
                }
            }
            for (&(held_ns, _), (held, count)) in sections.iter().zip(means) {
                let truth = (held_ns * rounds) as f64;
                // Poisson, at worst, in points and in acquisitions drawn.
                let points = truth / RELEASE_WEIGHT_NS as f64;
                let drawn = rounds as f64 / f64::from(LONGEST_BLOCK);
                let sigma = ((1.0 / points + 1.0 / drawn) / runs as f64).sqrt();
                assert!(
                    (held / truth - 1.0).abs() < 5.0 * sigma,
                    "{number}: {held_ns} ns: {held} of {truth}, {sigma}"
                );
                assert!((count / rounds as f64 - 1.0).abs() < 5.0 * sigma, "{number}: {held_ns} ns: {count}");
            }
        }
    }

    #[test]
    fn a_thread_that_seldom_acquires_times_all_and_one_that_often_does_one_of_sixty_four() {
        let timed_of = |until_next: u64| {
            let sampling = Sampling::default();
            sampling.begin(1, 3);
            let drawn = (0..100_000_u64)
                .filter(|number| sampling.is_drawn() && sampling.timed(1 + (number + 1) * until_next) > 0);
            drawn.count()
        };
        assert_eq!(timed_of(APART_TICKS), 100_000);
        let often = timed_of(10);
        assert!((1_500..1_600).contains(&often), "{often}");
    }

    #[test]
    fn long_sections_are_always_recorded_and_stand_for_themselves() {
        let sampling = Sampling::default();
        sampling.begin(1, 9);
        for held_ns in [RELEASE_WEIGHT_NS, 3 * RELEASE_WEIGHT_NS, 1 << 40] {
            assert_eq!(sampling.weight_ns(held_ns, 1), Some(held_ns));
        }
        assert_eq!(sampling.weight_ns(RELEASE_WEIGHT_NS / 4, 8), Some(2 * RELEASE_WEIGHT_NS));
        // Between two points lie at most two stretches.
        let mut without = 0;
        for _ in 0..10_000 {
            without = if sampling.weight_ns(1_000, 1).is_some() { 0 } else { without + 1 };
            assert!(without <= 2 * RELEASE_WEIGHT_NS / 1_000);
        }
    }
}
