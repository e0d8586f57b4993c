//! How much of a thread's CPU time its samples may take.
//!
//! A path over thousands of frames on a stack that cannot be read directly takes half a millisecond. Where
//! samples are as expensive as that, some are left out: their CPU time goes to the next one, as that of
//! expirations that are too late.

/// Samples may take one part in so many of the thread's CPU time.
const SHARE: u64 = 50;
/// What they may take beyond that at once: the first samples of a program are expensive, and a burst is not a
/// state.
const AT_ONCE_NS: u64 = 500_000;

/// A sample may take twice as long as the longest of late, and this longer. Time beyond that was not its
/// doing: another thread had the processor, and its clocks kept running.
const LONGER_NS: u64 = 100_000;
/// The longest of late: from one sample to the next it loses one part in so many. Expensive samples and cheap
/// ones alternate where paths are now deep and now not.
const FORGETS: u64 = 8;

/// One thread's allowance.
#[derive(Clone, Copy, Debug, Default)]
pub struct Allowance {
    /// All CPU time up to here has been spent on samples, in their share.
    spent_until_ns: u64,
    /// Samples left out since the last one that was taken.
    left_out: u64,
    /// The time of the longest sample of late.
    longest_ns: u64,
}

impl Allowance {
    /// Whether a sample may be taken when the thread's CPU clock stands at `cpu_ns`.
    #[inline]
    pub fn allows(&mut self, cpu_ns: u64) -> bool {
        let allowed = self.spent_until_ns <= cpu_ns.saturating_add(AT_ONCE_NS * SHARE);
        self.left_out += u64::from(!allowed);
        allowed
    }

    /// A sample took `own_ns`.
    #[inline]
    pub fn spend(&mut self, cpu_ns: u64, own_ns: u64) {
        let believed_ns = own_ns.min(self.longest_ns.saturating_mul(2).saturating_add(LONGER_NS));
        self.longest_ns = believed_ns.max(self.longest_ns - self.longest_ns / FORGETS);
        self.spent_until_ns =
            self.spent_until_ns.max(cpu_ns).saturating_add(believed_ns.saturating_mul(SHARE));
    }

    /// Samples left out since this was last asked.
    #[inline]
    pub fn take_left_out(&mut self) -> u64 {
        core::mem::take(&mut self.left_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Samples taken and left out in so many seconds of CPU time at 200 a second.
    fn taken(seconds: u64, own_ns: u64) -> (u64, u64) {
        let mut allowance = Allowance::default();
        let (mut taken, mut left_out) = (0, 0);
        for cpu_ns in (0..seconds * 1_000_000_000).step_by(5_000_000) {
            if allowance.allows(cpu_ns) {
                taken += 1;
                left_out += allowance.take_left_out();
                allowance.spend(cpu_ns, own_ns);
            }
        }
        (taken, left_out)
    }

    #[test]
    fn usual_samples_are_all_taken() {
        assert_eq!(taken(60, 50_000), (12_000, 0));
    }

    #[test]
    fn dear_ones_take_their_share_and_no_more() {
        let (samples, left_out) = taken(100, 1_000_000);
        assert!((1_990..=2_010).contains(&samples), "{samples}");
        assert!((17_900..=18_010).contains(&left_out), "{left_out}");
    }

    #[test]
    fn dear_ones_among_cheap_ones_count_in_full() {
        let mut allowance = Allowance::default();
        let mut spent_ns = 0;
        for at in 0..20_000 {
            let cpu_ns = at * 5_000_000;
            if allowance.allows(cpu_ns) {
                let own_ns = if at % 5 == 0 { 2_000_000 } else { 10_000 };
                allowance.spend(cpu_ns, own_ns);
                spent_ns += own_ns;
            }
        }
        let percent = 100.0 * spent_ns as f64 / 100e9;
        assert!((1.5..2.1).contains(&percent), "{percent} %");
    }

    #[test]
    fn one_that_was_held_up_is_no_reason_to_leave_others_out() {
        let mut allowance = Allowance::default();
        for (at, own_ns) in [5_000, 6_000, 20_000_000, 5_000, 5_000, 5_000].into_iter().enumerate() {
            let cpu_ns = at as u64 * 5_000_000;
            assert!(allowance.allows(cpu_ns), "sample {at}");
            allowance.spend(cpu_ns, own_ns);
        }
    }

    #[test]
    fn a_burst_is_taken_whole() {
        let mut allowance = Allowance::default();
        for cpu_ns in (0..5).map(|at| at * 5_000_000) {
            assert!(allowance.allows(cpu_ns));
            allowance.spend(cpu_ns, 250_000);
        }
        assert!(!allowance.allows(25_000_000) && allowance.allows(37_500_000));
    }
}
