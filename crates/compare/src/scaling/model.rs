//! Costs as a formula of the count: the performance model normal form of Calotoiu, Hoefler, Poke and Wolf,
//! "Using automated performance modeling to find scalability bugs in complex codes", SC 2013, with one term,
//! as Extra-P's single-parameter modeler has it: f(p) = c₀ + c₁ · pⁱ · log₂ʲ p.
//!
//! Among all pairs of exponents the one is taken whose formula, fitted without one of the points, predicts
//! that point best (leave-one-out cross-validation). The constant is kept unless a term predicts clearly
//! better and its coefficient is more than chance ([`proust_statistics::line`]).

use proust_statistics::line::{Line, Point};
use proust_statistics::{Estimate, Observation};

/// A cost with one count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Threads or ranks, at least 1.
    pub count: f64,
    /// The cost.
    pub value: f64,
    /// Its standard error; 0 if nothing is known of it.
    pub error: f64,
    /// Repetitions that it was made of.
    pub runs: usize,
}

impl Sample {
    /// The estimate from these repetitions for a count: their median, as all that is shown of repetitions is.
    /// None if there are none.
    pub fn of(count: f64, values: &[f64]) -> Option<Sample> {
        let observed: Vec<Observation> = values.iter().map(|&value| Observation::exact(value)).collect();
        let estimate = Estimate::of(&observed);
        let sample = Sample { count, value: estimate.median, error: estimate.error(), runs: estimate.runs };
        (estimate.runs > 0).then_some(sample)
    }
}

/// A formula.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// c₀.
    pub constant: f64,
    /// c₁; 0 for a constant.
    pub coefficient: f64,
    /// i.
    pub exponent: f64,
    /// j.
    pub logarithms: u32,
    /// Symmetric mean absolute percentage error of the cross-validation, a part of 2: how well points that
    /// were left out are predicted.
    pub smape: f64,
    /// The least count that was measured.
    pub from: f64,
    /// The largest count that was measured.
    pub to: f64,
}

/// The value of a formula for a count.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prediction {
    /// The cost.
    pub value: f64,
    /// Whether the count lies beyond those that were measured: then it is a guess that nothing changes on the
    /// way.
    pub is_beyond: bool,
}

/// Counts that a formula needs: two numbers are fitted, and a point is left out.
pub const FEWEST_COUNTS: usize = 4;

/// Exponents of p: those of Extra-P's basic modeler, from 0 to 3.
const EXPONENTS: [f64; 21] = [
    0.0,
    1.0 / 4.0,
    1.0 / 3.0,
    1.0 / 2.0,
    2.0 / 3.0,
    3.0 / 4.0,
    4.0 / 5.0,
    1.0,
    5.0 / 4.0,
    4.0 / 3.0,
    3.0 / 2.0,
    5.0 / 3.0,
    7.0 / 4.0,
    2.0,
    9.0 / 4.0,
    7.0 / 3.0,
    5.0 / 2.0,
    8.0 / 3.0,
    11.0 / 4.0,
    3.0,
    -1.0,
];
/// Powers of the logarithm.
const LOGARITHMS: [u32; 3] = [0, 1, 2];
/// How many times better than the constant a term must predict.
const BETTER: f64 = 1.3;
/// What is fitted exactly, as a part of the values: rounding errors, no noise.
const EXACT: f64 = 1e-9;

impl Model {
    /// What it says of a count.
    pub fn predict(&self, count: f64) -> Prediction {
        let value = self.constant + self.coefficient * term(count, self.exponent, self.logarithms);
        Prediction { value, is_beyond: count < self.from || count > self.to }
    }

    /// Whether it is a constant.
    pub fn is_constant(&self) -> bool {
        self.coefficient == 0.0
    }
}

/// The formula that fits best; None with fewer than [`FEWEST_COUNTS`] different counts, or counts below 1.
pub fn fit(samples: &[Sample]) -> Option<Model> {
    let mut counts: Vec<f64> = samples.iter().map(|sample| sample.count).collect();
    counts.sort_unstable_by(f64::total_cmp);
    counts.dedup();
    if counts.len() < FEWEST_COUNTS || counts[0] < 1.0 || samples.iter().any(|s| !s.value.is_finite()) {
        return None;
    }
    let values: Vec<f64> = samples.iter().map(|sample| sample.value).collect();
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let constant = Model {
        constant: mean,
        coefficient: 0.0,
        exponent: 0.0,
        logarithms: 0,
        smape: smape(&left_out_by_mean(&values), &values),
        from: counts[0],
        to: counts[counts.len() - 1],
    };
    let pairs = EXPONENTS.iter().flat_map(|&i| LOGARITHMS.map(|j| (i, j)));
    // A cost that shrinks faster than its threads grow in number by a logarithm is no form that occurs.
    let pairs = pairs.filter(|&(i, j)| (i, j) != (0.0, 0) && !(i < 0.0 && j > 0));
    let best = pairs.filter_map(|(i, j)| term_model(samples, &values, i, j, &constant)).min_by(|a, b| {
        let simple = |model: &Model| model.exponent.abs() + f64::from(model.logarithms);
        let same = (a.smape - b.smape).abs() <= EXACT;
        if same { simple(a).total_cmp(&simple(b)) } else { a.smape.total_cmp(&b.smape) }
    });
    let best = best.filter(|best| best.smape * BETTER <= constant.smape && is_above_chance(best, samples));
    Some(best.unwrap_or(constant))
}

fn term(count: f64, exponent: f64, logarithms: u32) -> f64 {
    count.powf(exponent) * count.log2().powi(logarithms as i32)
}

fn term_model(samples: &[Sample], values: &[f64], i: f64, j: u32, constant: &Model) -> Option<Model> {
    let terms: Vec<f64> = samples.iter().map(|sample| term(sample.count, i, j)).collect();
    let fitted = |without: Option<usize>| {
        let pairs = terms.iter().copied().zip(values.iter().copied()).enumerate();
        Line::through(pairs.filter(move |(at, _)| Some(*at) != without).map(|(_, pair)| pair))
    };
    let line = fitted(None)?;
    let mut left_out = Vec::with_capacity(values.len());
    for (at, &term) in terms.iter().enumerate() {
        left_out.push(fitted(Some(at))?.at(term));
    }
    Some(Model {
        constant: line.constant,
        coefficient: line.slope,
        exponent: i,
        logarithms: j,
        smape: smape(&left_out, values),
        ..*constant
    })
}

fn left_out_by_mean(values: &[f64]) -> Vec<f64> {
    let sum: f64 = values.iter().sum();
    values.iter().map(|value| (sum - value) / (values.len() as f64 - 1.0)).collect()
}

fn smape(predicted: &[f64], actual: &[f64]) -> f64 {
    let error = |(p, a): (&f64, &f64)| {
        let size = p.abs() + a.abs();
        if size > 0.0 { 2.0 * (p - a).abs() / size } else { 0.0 }
    };
    predicted.iter().zip(actual).map(error).sum::<f64>() / actual.len() as f64
}

/// Whether a formula says more than chance does, and more than rounding.
fn is_above_chance(model: &Model, samples: &[Sample]) -> bool {
    let point = |sample: &Sample| Point {
        at: term(sample.count, model.exponent, model.logarithms),
        value: sample.value,
        error: sample.error,
        degrees: sample.runs.saturating_sub(1) as f64,
    };
    let points: Vec<Point> = samples.iter().map(point).collect();
    let at = |count: f64| model.predict(count).value;
    let change = (at(model.to) - at(model.from)).abs();
    let largest = samples.iter().fold(0.0_f64, |most, s| most.max(s.value.abs()));
    let line = Line { constant: model.constant, slope: model.coefficient };
    change > EXACT * largest && line.is_sloped(&points)
}
