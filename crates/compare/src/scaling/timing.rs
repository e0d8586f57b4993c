//! The times of a region's repetitions with one count of threads, and how sure they are. What of a difference
//! is chance, [`proust_statistics`] says.

use proust_statistics::observation::{median, median_interval};
use proust_statistics::{Change, Matters, Observation};

/// One count of threads: what a region took in each repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// Threads.
    pub count: u32,
    /// By repetition the time of the thread that took longest, s.
    pub times_s: Vec<f64>,
    /// By repetition the time for which threads were in the run queue there, s; summed over threads, since a
    /// thread that waits for one without a processor is late, too.
    pub queued_s: Vec<f64>,
    /// By repetition the CPU time of the thread that used most, s.
    pub busy_s: Vec<f64>,
    /// How often each thread visited it; 0 where that was not counted.
    pub visits: u64,
    /// The largest standard error of a time from sampling, s; 0 where times are exact.
    pub error_s: f64,
    /// By repetition what of the time measuring took, as far as it is known, s.
    pub added_s: Vec<f64>,
    /// The largest standard error of that, s.
    pub added_error_s: f64,
}

/// A lower and an upper end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Lower end, s.
    pub low: f64,
    /// Upper end, s.
    pub high: f64,
}

impl Timing {
    /// A count with times that nothing else is known of.
    pub fn new(count: u32, times_s: impl Into<Vec<f64>>) -> Timing {
        Timing { count, times_s: times_s.into(), ..Timing::default() }
    }

    /// The times without the cost of measuring.
    pub fn corrected(&self) -> Timing {
        let added = |n: usize| self.added_s.get(n).copied().unwrap_or(0.0);
        let times = self.times_s.iter().enumerate().map(|(n, time_s)| (time_s - added(n)).max(0.0));
        Timing { times_s: times.collect(), added_s: Vec::new(), added_error_s: 0.0, ..self.clone() }
    }

    /// The largest part of a repetition's time that measuring took.
    pub fn added_share(&self) -> f64 {
        let shares = self.times_s.iter().zip(&self.added_s).filter(|(time, _)| **time > 0.0);
        shares.map(|(time, added)| added / time).fold(0.0, f64::max)
    }

    /// The typical time of the region, s: the median, with any number of repetitions, so that counts with
    /// more of them and with fewer are compared by the same; 0 if there are none.
    pub fn typical_s(&self) -> f64 {
        median(&sorted(&self.times_s))
    }

    /// Where that lies with at least 95 % probability ([`median_interval`]); twice the error of sampling is
    /// added on both sides.
    pub fn interval(&self) -> Interval {
        let (low, high) = median_interval(&sorted(&self.times_s));
        Interval { low: (low - 2.0 * self.error_s).max(0.0), high: high + 2.0 * self.error_s }
    }

    /// The typical time for which its threads were in the run queue, s.
    pub fn typical_queued_s(&self) -> f64 {
        median(&sorted(&self.queued_s))
    }

    /// The largest share of a repetition's time for which its threads were in the run queue.
    pub fn queued_share(&self) -> f64 {
        let shares = self.times_s.iter().zip(&self.queued_s).filter(|(time, _)| **time > 0.0);
        shares.map(|(time, queued)| queued / time).fold(0.0, f64::max)
    }

    /// The typical CPU time of the thread that used most, s: it would take as long on a machine of its own,
    /// but for what it spins while a partner has no processor.
    pub fn busy_s(&self) -> f64 {
        median(&sorted(&self.busy_s))
    }

    /// What of the difference between `before` and this is more than chance. A thread that waits for one
    /// without a processor is late, too: at most all the time for which threads were in the run queue is due
    /// to other load on the machine, unless the time `is_its_own`.
    pub fn change_from(&self, before: &Timing, is_its_own: bool, matters: &Matters) -> Change {
        Change::of(&before.observed(is_its_own), &self.observed(is_its_own), matters)
    }

    fn observed(&self, is_its_own: bool) -> Vec<Observation> {
        let queued_s = |n: usize| match is_its_own {
            true => 0.0,
            false => self.queued_s.get(n).copied().unwrap_or(0.0),
        };
        let times = self.times_s.iter().enumerate();
        times.map(|(n, &value)| Observation { value, error: self.error_s, disturbed: queued_s(n) }).collect()
    }
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_says_what_is_typical_however_many_there_are() {
        assert_eq!(Timing::new(1, [3.0, 1.0, 2.0]).typical_s(), 2.0);
        assert_eq!(Timing::new(1, [3.0, 1.0]).typical_s(), 2.0);
        assert_eq!(Timing::new(1, [9.0, 1.0, 2.0, 3.0, 4.0]).typical_s(), 3.0);
        assert_eq!(Timing::new(1, []).typical_s(), 0.0);
    }

    /// One of five runs with four threads failed: what is said of speedup does not depend on it.
    #[test]
    fn a_run_that_failed_flatters_no_count() {
        let (five, four) = ([1.0, 1.01, 1.02, 1.5, 1.6], [1.0, 1.02, 1.5, 1.6]);
        let ratio = Timing::new(4, five).typical_s() / Timing::new(4, four).typical_s();
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }

    #[test]
    fn sampling_widens_an_interval() {
        let timing = Timing { error_s: 0.25, ..Timing::new(1, [3.0, 1.0, 2.0]) };
        assert_eq!(timing.interval(), Interval { low: 0.5, high: 3.5 });
    }
}
