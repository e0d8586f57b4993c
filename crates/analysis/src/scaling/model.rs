//! Costs as a formula of the count: the performance model normal form of Calotoiu, Hoefler, Poke and Wolf,
//! "Using automated performance modeling to find scalability bugs in complex codes", SC 2013, with one term,
//! as Extra-P's single-parameter modeler has it: f(p) = c₀ + c₁ · pⁱ · log₂ʲ p.
//!
//! Among all pairs of exponents the one is taken whose formula, fitted without one of the points, predicts
//! that point best (leave-one-out cross-validation). The constant is kept unless a term predicts clearly
//! better and says more than the noise does.

/// A cost with one count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Threads or ranks, at least 1.
    pub count: f64,
    /// The cost.
    pub value: f64,
    /// Its standard error; 0 if nothing is known of it.
    pub error: f64,
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

/// What a formula says of a count.
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
/// How many times its noise the change over all counts must be.
const ABOVE_NOISE: f64 = 3.0;
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
    let best = best.filter(|best| best.smape * BETTER <= constant.smape && is_above_noise(best, samples));
    Some(best.unwrap_or(constant))
}

fn term(count: f64, exponent: f64, logarithms: u32) -> f64 {
    count.powf(exponent) * count.log2().powi(logarithms as i32)
}

fn term_model(samples: &[Sample], values: &[f64], i: f64, j: u32, constant: &Model) -> Option<Model> {
    let terms: Vec<f64> = samples.iter().map(|sample| term(sample.count, i, j)).collect();
    let (c0, c1) = line(&terms, values, None)?;
    let mut left_out = Vec::with_capacity(values.len());
    for (at, &term) in terms.iter().enumerate() {
        let (c0, c1) = line(&terms, values, Some(at))?;
        left_out.push(c0 + c1 * term);
    }
    Some(Model {
        constant: c0,
        coefficient: c1,
        exponent: i,
        logarithms: j,
        smape: smape(&left_out, values),
        ..*constant
    })
}

/// Least squares of values = c₀ + c₁ · terms, without one of them; None if all terms are the same.
fn line(terms: &[f64], values: &[f64], without: Option<usize>) -> Option<(f64, f64)> {
    let kept =
        || terms.iter().zip(values).enumerate().filter(|(at, _)| Some(*at) != without).map(|(_, pair)| pair);
    let n = kept().count() as f64;
    let (mean_term, mean_value) =
        kept().fold((0.0, 0.0), |(terms, values), (term, value)| (terms + term / n, values + value / n));
    let (mut squares, mut products) = (0.0, 0.0);
    for (term, value) in kept() {
        squares += (term - mean_term) * (term - mean_term);
        products += (term - mean_term) * (value - mean_value);
    }
    (squares > 0.0).then(|| (mean_value - products / squares * mean_term, products / squares))
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

/// Whether a formula says more than the noise of its points, which are their errors or what it leaves
/// unexplained.
fn is_above_noise(model: &Model, samples: &[Sample]) -> bool {
    let at = |count: f64| model.predict(count).value;
    let change = (at(model.to) - at(model.from)).abs();
    let freedom = samples.len() as f64 - 2.0;
    let unexplained = samples.iter().map(|s| (s.value - at(s.count)).powi(2)).sum::<f64>() / freedom;
    let errors = samples.iter().map(|s| s.error * s.error).sum::<f64>() / samples.len() as f64;
    let largest = samples.iter().fold(0.0_f64, |most, s| most.max(s.value.abs()));
    change > ABOVE_NOISE * unexplained.max(errors).sqrt() && change > EXACT * largest
}
