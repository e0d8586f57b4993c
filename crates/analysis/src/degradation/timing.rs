//! The times of a region's repetitions with one count of threads, and how sure they are.

/// One count of threads: what a region took in each repetition.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timing {
    /// Threads.
    pub count: u32,
    /// By repetition the time of the thread that took longest, s.
    pub times_s: Vec<f64>,
    /// By repetition the time for which threads stood in the run queue there, s; summed over threads, since
    /// who waits for a thread that has no processor is late, too.
    pub queued_s: Vec<f64>,
    /// By repetition the CPU time of the thread that used most, s.
    pub busy_s: Vec<f64>,
    /// How often each thread came by; 0 where that was not counted.
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

/// From so many repetitions on the median says what is typical; of fewer the least does: what disturbs only
/// makes longer.
const MEDIAN_FROM: usize = 5;

impl Timing {
    /// A count with times that nothing else is known of.
    pub fn new(count: u32, times_s: impl Into<Vec<f64>>) -> Timing {
        Timing { count, times_s: times_s.into(), ..Timing::default() }
    }

    /// The times without what measuring took.
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

    /// What the region typically takes, s: the median of five repetitions or more, the least of fewer; 0 if
    /// there are none.
    pub fn typical_s(&self) -> f64 {
        typical(&self.times_s)
    }

    /// The order statistics between which the median lies with at least 95 % probability, or all repetitions
    /// where they are too few for that (five or fewer); twice the error of sampling is added on both sides.
    /// Whatever the distribution.
    pub fn interval(&self) -> Interval {
        let sorted = sorted(&self.times_s);
        let Some(last) = sorted.len().checked_sub(1) else { return Interval::default() };
        let cut = trimmed(sorted.len());
        Interval {
            low: (sorted[cut] - 2.0 * self.error_s).max(0.0),
            high: sorted[last - cut] + 2.0 * self.error_s,
        }
    }

    /// The largest share of a repetition's time for which its threads stood in the run queue.
    pub fn queued_share(&self) -> f64 {
        let shares = self.times_s.iter().zip(&self.queued_s).filter(|(time, _)| **time > 0.0);
        shares.map(|(time, queued)| queued / time).fold(0.0, f64::max)
    }

    /// What the region would typically take if every moment in which one of its threads stood in the run
    /// queue had made it longer, s: what is left is no other program's doing.
    pub fn undisturbed_s(&self) -> f64 {
        let queued = |n: usize| self.queued_s.get(n).copied().unwrap_or(0.0);
        let left: Vec<f64> =
            self.times_s.iter().enumerate().map(|(n, time)| (time - queued(n)).max(0.0)).collect();
        (typical(&left) - 2.0 * self.error_s).max(0.0)
    }

    /// The typical CPU time of the thread that used most, s: it would take as long on a machine of its own,
    /// but for what it spins while a partner has no processor.
    pub fn busy_s(&self) -> f64 {
        typical(&self.busy_s)
    }

    /// The probability that chance alone makes these times as much longer than so many times the others as
    /// they are, or more: the exact one-sided rank-sum test of Wilcoxon, Mann and Whitney. 1 if there are
    /// none.
    pub fn chance_of_longer(&self, factor: f64, others: &Timing) -> f64 {
        let (longer, shorter) = (self.times_s.len(), others.times_s.len());
        if longer == 0 || shorter == 0 {
            return 1.0;
        }
        // Pairs in the wrong order.
        let limit = |other: f64| factor * (other + 2.0 * others.error_s);
        let wrong = self.times_s.iter().map(|time| {
            others.times_s.iter().filter(|&&other| time - 2.0 * self.error_s <= limit(other)).count()
        });
        let wrong: usize = wrong.sum();
        let ways = arrangements(longer, shorter);
        ways[..=wrong].iter().sum::<f64>() / ways.iter().sum::<f64>()
    }
}

/// By number of pairs in the wrong order, in how many ways `a` and `b` things can be arranged: the recursion
/// of Mann and Whitney, on the larger of two last things.
fn arrangements(a: usize, b: usize) -> Vec<f64> {
    let mut rows: Vec<Vec<f64>> = vec![vec![1.0]; b + 1];
    for m in 1..=a {
        let mut next: Vec<Vec<f64>> = vec![vec![1.0]];
        for n in 1..=b {
            let mut ways = vec![0.0; m * n + 1];
            // The last of all is one of a: it is behind all n of b.
            for (wrong, count) in rows[n].iter().enumerate() {
                ways[wrong] += count;
            }
            // Or one of b: all m of a come before it.
            for (wrong, count) in next[n - 1].iter().enumerate() {
                ways[wrong + m] += count;
            }
            next.push(ways);
        }
        rows = next;
    }
    rows.swap_remove(b)
}

/// The median of five or more, the least of fewer; 0 if there are none.
fn typical(values: &[f64]) -> f64 {
    let sorted = sorted(values);
    match sorted.len() {
        0 => 0.0,
        n if n >= MEDIAN_FROM => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
        _ => sorted[0],
    }
}

fn sorted(times: &[f64]) -> Vec<f64> {
    let mut sorted = times.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

/// How many repetitions on each side lie outside of the interval: the most for which P(median outside) ≤ 5 %.
fn trimmed(n: usize) -> usize {
    // P(X ≤ k) for X ~ B(n, ½), on both sides.
    let mut term = 0.5_f64.powi(n as i32);
    let mut tail = term;
    let mut cut = 0;
    while 2.0 * tail <= 0.05 && cut + 1 < n / 2 {
        term *= (n - cut) as f64 / (cut + 1) as f64;
        tail += term;
        if 2.0 * tail > 0.05 {
            break;
        }
        cut += 1;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_repetitions_are_told_by_the_least_many_by_the_median() {
        assert_eq!(Timing::new(1, [3.0, 1.0, 2.0]).typical_s(), 1.0);
        assert_eq!(Timing::new(1, [9.0, 1.0, 2.0, 3.0, 4.0]).typical_s(), 3.0);
        assert_eq!(Timing::new(1, []).typical_s(), 0.0);
    }

    #[test]
    fn intervals_are_those_of_the_binomial_distribution() {
        // The table of order statistics for the median: n = 8 leaves none out, 9 one, 12 two, 15 three, 20
        // five.
        for (n, cut) in [(1, 0), (3, 0), (5, 0), (8, 0), (9, 1), (12, 2), (15, 3), (20, 5)] {
            assert_eq!(trimmed(n), cut, "{n}");
        }
        let timing = Timing { error_s: 0.25, ..Timing::new(1, [3.0, 1.0, 2.0]) };
        assert_eq!(timing.interval(), Interval { low: 0.5, high: 3.5 });
    }

    #[test]
    fn ranks_are_tested_exactly() {
        // 20 arrangements of three and three, 252 of five and five; one pair in the wrong order is one more.
        let (a, b) = (Timing::new(2, [4.0, 5.0, 6.0]), Timing::new(1, [1.0, 2.0, 3.0]));
        assert!((a.chance_of_longer(1.0, &b) - 1.0 / 20.0).abs() < 1e-12);
        assert!((b.chance_of_longer(1.0, &a) - 1.0).abs() < 1e-12);
        let a = Timing::new(2, [4.5, 7.0, 8.0, 9.0, 10.0]);
        let b = Timing::new(1, [1.0, 2.0, 3.0, 4.0, 5.0]);
        assert!((a.chance_of_longer(1.0, &b) - 2.0 / 252.0).abs() < 1e-12);
        assert_eq!(arrangements(2, 2), [1.0, 1.0, 2.0, 1.0, 1.0]);
    }

    #[test]
    fn time_in_the_run_queue_is_taken_off_entirely() {
        let timing = Timing { queued_s: vec![1.5, 0.1], ..Timing::new(2, [3.0, 2.0]) };
        assert_eq!(timing.undisturbed_s(), 1.5);
        assert_eq!(timing.queued_share(), 0.5);
    }
}
