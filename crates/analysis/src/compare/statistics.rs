//! What of a difference is more than chance.
//!
//! An amount of a run is an [`Observation`]: its value and, where it rests on samples, its standard error.
//! The observations of repetitions make an [`Estimate`]; two of them a [`Change`]. A change is
//! [`Verdict::More`] or [`Verdict::Less`] only if all three hold, else it is [`Verdict::Noise`], and [`Why`]
//! says which did not:
//!
//! 1. it is larger than what chance makes of equal amounts in 3 of 1000 comparisons: by Student's test over
//!    the repetitions, or Welch's where one side has more, or, where there is only one run on both sides, by
//!    the errors of the samples;
//! 2. it is larger than what is allowed for what nobody measured ([`Matters::relative`], and more where a run
//!    stood in the run queue: [`Observation::disturbed`]);
//! 3. it matters to the whole ([`Matters::absolute`]).
//!
//! A single run tells nothing of how runs differ from each other: there the allowance is larger
//! ([`Matters::single`]).

use super::student;

/// An amount as one run has it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Observation {
    /// The amount.
    pub value: f64,
    /// Its standard error from sampling; 0 where it was measured from begin to end.
    pub error: f64,
    /// How much of it may have come from what else ran on the machine; 0 on a quiet one.
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

/// What is known of an amount from all repetitions.
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
        let median = (values[(runs - 1) / 2] + values[runs / 2]) / 2.0;
        let mut estimate = Estimate {
            runs,
            mean,
            median,
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
        let by_spread = student::interval(estimate.degrees()) * estimate.spread;
        let half = by_spread.max(student::interval(f64::INFINITY) * sampling);
        (estimate.low, estimate.high) = (mean - half, mean + half);
        estimate
    }

    /// Degrees of freedom of its spread; none are known of a single run.
    fn degrees(&self) -> f64 {
        if self.runs > 1 { self.runs as f64 - 1.0 } else { f64::INFINITY }
    }

    /// Standard error of the mean: by the spread of the repetitions or by sampling, whichever is larger.
    pub fn error(&self) -> f64 {
        self.spread.max(self.sampling)
    }
}

/// Which differences matter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matters {
    /// The least difference as a part of the larger amount, where both sides have repetitions.
    pub relative: f64,
    /// The same where a side is a single run.
    pub single: f64,
    /// The least difference, in the unit of the amounts.
    pub absolute: f64,
}

impl Matters {
    /// What is asked for when nobody says otherwise: 5 % with repetitions, 10 % without, and half a percent
    /// of the whole, at least a millisecond.
    pub fn of_total(total_s: f64) -> Matters {
        Matters { relative: 0.05, single: 0.1, absolute: (0.005 * total_s.abs()).max(0.001) }
    }
}

/// What a difference is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Verdict {
    /// The second is larger.
    More,
    /// The second is smaller.
    Less,
    /// It may be chance, or is too small to matter.
    #[default]
    Noise,
}

impl Verdict {
    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Verdict::More => "more",
            Verdict::Less => "less",
            Verdict::Noise => "noise",
        }
    }
}

/// Why a difference is what it is said to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Why {
    /// It is larger than chance, and it matters.
    Significant,
    /// There is none.
    #[default]
    Equal,
    /// It is too small to matter.
    Small,
    /// The samples are too few to tell.
    Samples,
    /// Repetitions differ as much among themselves.
    Spread,
    /// Single runs may differ as much, since nobody knows how much this program's runs do.
    Single,
    /// Something else ran on the machine, which may have made as much of it.
    Disturbed,
}

impl Why {
    /// The stable identifier, as in JSON.
    pub const fn id(self) -> &'static str {
        match self {
            Why::Significant => "significant",
            Why::Equal => "equal",
            Why::Small => "small",
            Why::Samples => "samples",
            Why::Spread => "spread",
            Why::Single => "single",
            Why::Disturbed => "disturbed",
        }
    }
}

/// An amount before and after.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Change {
    /// Before.
    pub a: Estimate,
    /// After.
    pub b: Estimate,
    /// After − before, of the means.
    pub delta: f64,
    /// After by before; None where there was nothing before.
    pub ratio: Option<f64>,
    /// Standard error of `delta`.
    pub error: f64,
    /// What it is.
    pub verdict: Verdict,
    /// Why.
    pub why: Why,
}

impl Change {
    /// What became of an amount. Exchanging the sides exchanges more and less, and nothing else.
    pub fn of(a: &[Observation], b: &[Observation], matters: &Matters) -> Change {
        Change::between(Estimate::of(a), Estimate::of(b), matters)
    }

    /// As [`Change::of`], of what is known of each side.
    pub fn between(a: Estimate, b: Estimate, matters: &Matters) -> Change {
        let delta = b.mean - a.mean;
        // A single run may differ as the repetitions of the other side do.
        let of_one = |estimate: &Estimate| estimate.spread * (estimate.runs as f64).sqrt();
        let (spread_a, spread_b) = match (a.runs > 1, b.runs > 1) {
            (false, true) => (of_one(&b), b.spread),
            (true, false) => (a.spread, of_one(&a)),
            _ => (a.spread, b.spread),
        };
        let (squares_a, squares_b) = (spread_a * spread_a, spread_b * spread_b);
        let spread = (squares_a + squares_b).sqrt();
        let sampling = a.sampling.hypot(b.sampling);
        let error = spread.max(sampling);
        let ratio = (a.mean != 0.0).then(|| b.mean / a.mean);
        let repeated = a.runs > 1 && b.runs > 1;
        let degrees = if !repeated || squares_a + squares_b == 0.0 {
            a.degrees().min(b.degrees())
        } else if a.runs == b.runs {
            // As many on both sides: Student's test, which knows more of few repetitions.
            a.degrees() + b.degrees()
        } else {
            // Welch and Satterthwaite.
            let parts = squares_a.powi(2) / a.degrees() + squares_b.powi(2) / b.degrees();
            (squares_a + squares_b).powi(2) / parts
        };
        let by_spread = student::decision(degrees) * spread;
        let by_sampling = student::decision(f64::INFINITY) * sampling;
        let relative = if repeated { matters.relative } else { matters.single };
        let larger = a.mean.abs().max(b.mean.abs());
        let disturbed = a.disturbed.max(b.disturbed);
        let size = delta.abs();
        let why = if delta == 0.0 {
            Why::Equal
        } else if size <= matters.absolute || size <= matters.relative * larger {
            Why::Small
        } else if size <= by_sampling {
            Why::Samples
        } else if size <= by_spread {
            Why::Spread
        } else if size <= relative * larger {
            Why::Single
        } else if size <= relative * larger + disturbed {
            Why::Disturbed
        } else {
            Why::Significant
        };
        let verdict = match why {
            Why::Significant if delta > 0.0 => Verdict::More,
            Why::Significant => Verdict::Less,
            _ => Verdict::Noise,
        };
        Change { a, b, delta, ratio, error, verdict, why }
    }
}
