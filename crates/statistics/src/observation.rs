//! An amount of one run, and its estimate from the repetitions of a side.

use super::quantiles;

/// An amount as one run has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// The amount.
    pub value: f64,
    /// Its standard error from sampling; 0 where it was measured from begin to end.
    pub error: f64,
    /// How much of it may be due to other load on the machine; 0 on a quiet one.
    pub disturbed: f64,
}

impl Observation {
    /// An amount that is known exactly.
    pub fn exact(value: f64) -> Observation {
        Observation { value, ..Observation::default() }
    }

    /// An amount with a standard error.
    pub fn sampled(value: f64, error: f64) -> Observation {
        Observation { value, error, ..Observation::default() }
    }
}

/// What is known of an amount from all repetitions of a side.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Estimate {
    /// Number of repetitions.
    pub runs: usize,
    /// Their mean.
    pub mean: f64,
    /// Their median: of an even number the mean of the two in the middle.
    pub median: f64,
    /// The smallest.
    pub min: f64,
    /// The largest.
    pub max: f64,
    /// Standard error of the mean by the spread of the repetitions; 0 of a single run.
    pub spread: f64,
    /// Standard error of the mean by sampling.
    pub sampling: f64,
    /// Lower end of the 95 % confidence interval of the mean.
    pub low: f64,
    /// Upper end of it.
    pub high: f64,
    /// The largest [`Observation::disturbed`].
    pub disturbed: f64,
}

impl Estimate {
    /// What these repetitions say; all zero if there are none.
    pub fn of(observations: &[Observation]) -> Estimate {
        let runs = observations.len();
        if runs == 0 {
            return Estimate::default();
        }
        let n = runs as f64;
        let mean = observations.iter().map(|o| o.value).sum::<f64>() / n;
        let sampling = observations.iter().map(|o| o.error * o.error).sum::<f64>().sqrt() / n;
        let mut values: Vec<f64> = observations.iter().map(|o| o.value).collect();
        values.sort_unstable_by(f64::total_cmp);
        let mut estimate = Estimate {
            runs,
            mean,
            median: median(&values),
            min: values[0],
            max: values[runs - 1],
            spread: 0.0,
            sampling,
            low: mean,
            high: mean,
            disturbed: observations.iter().fold(0.0, |most: f64, o| most.max(o.disturbed)),
        };
        if runs > 1 {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            estimate.spread = (squares / (n - 1.0) / n).sqrt();
        }
        // Of the spread few repetitions know little, of the errors of sampling many samples know all.
        let by_spread = quantiles::t(0.95, estimate.degrees()) * estimate.spread;
        let half = by_spread.max(quantiles::t(0.95, f64::INFINITY) * sampling);
        (estimate.low, estimate.high) = (mean - half, mean + half);
        estimate
    }

    /// Degrees of freedom of its spread; none are known of a single run.
    pub(super) fn degrees(&self) -> f64 {
        if self.runs > 1 { self.runs as f64 - 1.0 } else { f64::INFINITY }
    }

    /// Standard error of the mean: by the spread of the repetitions or by sampling, whichever is larger.
    pub fn error(&self) -> f64 {
        self.spread.max(self.sampling)
    }
}

/// The order statistics between which the median lies with at least 95 % probability, whatever the
/// distribution: all of the sorted values where they are too few for that (five or fewer); zeros if there are
/// none.
pub fn median_interval(sorted: &[f64]) -> (f64, f64) {
    let Some(last) = sorted.len().checked_sub(1) else { return (0.0, 0.0) };
    let cut = left_out(sorted.len());
    (sorted[cut], sorted[last - cut])
}

/// How many values on each side lie outside of that: the most for which P(median outside) ≤ 5 %.
fn left_out(n: usize) -> usize {
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

/// The median of sorted values; 0 if there are none.
pub fn median(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => 0.0,
        n => (sorted[(n - 1) / 2] + sorted[n / 2]) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_of_medians_are_those_of_the_binomial_distribution() {
        // The table of order statistics for the median: n = 8 leaves none out, 9 one, 12 two, 15 three, 20
        // five.
        for (n, cut) in [(1, 0), (3, 0), (5, 0), (8, 0), (9, 1), (12, 2), (15, 3), (20, 5)] {
            assert_eq!(left_out(n), cut, "{n}");
        }
        assert_eq!(median_interval(&[1.0, 2.0, 9.0]), (1.0, 9.0));
        assert_eq!(median_interval(&[]), (0.0, 0.0));
    }
}
