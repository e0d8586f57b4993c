//! The times of a region's repetitions with one count of threads, and how sure they are. What of a difference
//! is chance, [`proust_statistics`] says.

use proust_profile::Ns;
use proust_statistics::observation::{median, median_interval};
use proust_statistics::{Change, Matters, Observation};

/// One count of threads: what a region took in each repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// Threads.
    pub count: u32,
    /// By repetition the time of the thread that took longest.
    pub times: Vec<Ns>,
    /// By repetition the time for which threads were in the run queue there; summed over threads, since a
    /// thread that waits for one without a processor is late, too.
    pub queued: Vec<Ns>,
    /// By repetition the CPU time of the thread that used most.
    pub busy: Vec<Ns>,
    /// How often each thread visited it; 0 where that was not counted.
    pub visits: u64,
    /// The largest standard error of a time from sampling; 0 where times are exact.
    pub error: Ns,
    /// By repetition what of the time measuring took, as far as it is known.
    pub added: Vec<Ns>,
    /// The largest standard error of that.
    pub added_error: Ns,
}

/// A lower and an upper end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Interval {
    /// Lower end.
    pub low: Ns,
    /// Upper end.
    pub high: Ns,
}

impl Timing {
    /// A count with times that nothing else is known of.
    pub fn new(count: u32, times: impl Into<Vec<Ns>>) -> Timing {
        Timing { count, times: times.into(), ..Timing::default() }
    }

    /// The times without the cost of measuring.
    pub fn corrected(&self) -> Timing {
        let added = |n: usize| self.added.get(n).copied().unwrap_or_default();
        let times = self.times.iter().enumerate().map(|(n, &time)| (time - added(n)).max(Ns::ZERO));
        Timing { times: times.collect(), added: Vec::new(), added_error: Ns::ZERO, ..self.clone() }
    }

    /// The largest part of a repetition's time that measuring took.
    pub fn added_share(&self) -> f64 {
        let shares = self.times.iter().zip(&self.added);
        shares.map(|(&time, added)| added.share_of(time)).fold(0.0, f64::max)
    }

    /// The typical time of the region: the median, with any number of repetitions, so that counts with
    /// more of them and with fewer are compared by the same; 0 if there are none.
    pub fn typical(&self) -> Ns {
        typical(&self.times)
    }

    /// Where that lies with at least 95 % probability ([`median_interval`]); twice the error of sampling is
    /// added on both sides.
    pub fn interval(&self) -> Interval {
        let (low, high) = median_interval(&sorted(&self.times));
        let (low, high, more) = (Ns::from_seconds(low), Ns::from_seconds(high), self.error * 2.0);
        Interval { low: (low - more).max(Ns::ZERO), high: high + more }
    }

    /// The typical time for which its threads were in the run queue.
    pub fn typical_queued(&self) -> Ns {
        typical(&self.queued)
    }

    /// The largest share of a repetition's time for which its threads were in the run queue.
    pub fn queued_share(&self) -> f64 {
        let shares = self.times.iter().zip(&self.queued);
        shares.map(|(&time, queued)| queued.share_of(time)).fold(0.0, f64::max)
    }

    /// The typical CPU time of the thread that used most: it would take as long on a machine of its own,
    /// but for what it spins while a partner has no processor.
    pub fn busy(&self) -> Ns {
        typical(&self.busy)
    }

    /// What of the difference between `before` and this is more than chance. A thread that waits for one
    /// without a processor is late, too: at most all the time for which threads were in the run queue is due
    /// to other load on the machine, unless the time `is_its_own`.
    pub fn change_from(&self, before: &Timing, is_its_own: bool, matters: &Matters) -> Change {
        Change::of(&before.observed(is_its_own), &self.observed(is_its_own), matters)
    }

    fn observed(&self, is_its_own: bool) -> Vec<Observation> {
        let queued = |n: usize| match is_its_own {
            true => Ns::ZERO,
            false => self.queued.get(n).copied().unwrap_or_default(),
        };
        let times = self.times.iter().enumerate();
        let observed = |(n, time): (usize, &Ns)| Observation {
            value: time.as_seconds(),
            error: self.error.as_seconds(),
            disturbed: queued(n).as_seconds(),
        };
        times.map(observed).collect()
    }
}

fn typical(times: &[Ns]) -> Ns {
    Ns::from_seconds(median(&sorted(times)))
}

/// In seconds, as the statistics have all numbers.
fn sorted(times: &[Ns]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    sorted.into_iter().map(Ns::as_seconds).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn timing<const N: usize>(count: u32, seconds: [f64; N]) -> Timing {
        Timing::new(count, seconds.map(Ns::from_seconds))
    }

    #[test]
    fn the_median_says_what_is_typical_however_many_there_are() {
        assert_eq!(timing(1, [3.0, 1.0, 2.0]).typical(), Ns::from_seconds(2.0));
        assert_eq!(timing(1, [3.0, 1.0]).typical(), Ns::from_seconds(2.0));
        assert_eq!(timing(1, [9.0, 1.0, 2.0, 3.0, 4.0]).typical(), Ns::from_seconds(3.0));
        assert_eq!(timing(1, []).typical(), Ns::from_seconds(0.0));
    }

    /// One of five runs with four threads failed: what is said of speedup does not depend on it.
    #[test]
    fn a_run_that_failed_flatters_no_count() {
        let (five, four) = ([1.0, 1.01, 1.02, 1.5, 1.6], [1.0, 1.02, 1.5, 1.6]);
        let ratio = timing(4, five).typical() / timing(4, four).typical();
        assert!((0.8..1.25).contains(&ratio), "{ratio}");
    }

    #[test]
    fn sampling_widens_an_interval() {
        let sampled = Timing { error: Ns::from_seconds(0.25), ..timing(1, [3.0, 1.0, 2.0]) };
        let (low, high) = (Ns::from_seconds(0.5), Ns::from_seconds(3.5));
        assert_eq!(sampled.interval(), Interval { low, high });
    }
}
