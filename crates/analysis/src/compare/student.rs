//! How far a mean may be off: quantiles of Student's t distribution.

use std::sync::OnceLock;

/// Beyond so many degrees of freedom it is the normal distribution to three digits.
const MOST: usize = 400;
/// Steps of the integral: the error is below 1e-6.
const STEPS: usize = 2000;

/// The two-sided quantile for a confidence of 95 %.
pub(super) fn interval(degrees: f64) -> f64 {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    at(TABLE.get_or_init(|| table(0.95)), degrees)
}

/// The two-sided quantile for a confidence of 99.7 %: for a decision that is made at many places at once.
pub(super) fn decision(degrees: f64) -> f64 {
    static TABLE: OnceLock<Vec<f64>> = OnceLock::new();
    at(TABLE.get_or_init(|| table(0.997)), degrees)
}

fn at(table: &[f64], degrees: f64) -> f64 {
    // Fewer degrees are the careful side.
    let whole = if degrees.is_finite() { degrees.floor().max(1.0) as usize } else { MOST };
    table[whole.min(MOST) - 1]
}

fn table(confidence: f64) -> Vec<f64> {
    (1..=MOST).map(|degrees| quantile(confidence, degrees as f64)).collect()
}

/// With t = √ν tan θ the density of t with ν degrees of freedom becomes cosᵛ⁻¹ θ between −π/2 and π/2: a
/// smooth integral.
fn quantile(confidence: f64, degrees: f64) -> f64 {
    let step = std::f64::consts::FRAC_PI_2 / STEPS as f64;
    let density = |theta: f64| theta.cos().powf(degrees - 1.0);
    let mut sums = vec![0.0];
    for n in 0..STEPS {
        let from = n as f64 * step;
        let simpson = density(from) + 4.0 * density(from + step / 2.0) + density(from + step);
        sums.push(sums[n] + simpson * step / 6.0);
    }
    let wanted = confidence * sums[STEPS];
    let above = sums.partition_point(|&sum| sum < wanted).max(1);
    let share = (wanted - sums[above - 1]) / (sums[above] - sums[above - 1]);
    degrees.sqrt() * ((above as f64 - 1.0 + share) * step).tan()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        for (degrees, expected) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (10.0, 2.228), (30.0, 2.042), (1e9, 1.966)]
        {
            assert!((interval(degrees) - expected).abs() < 2e-3, "{degrees}: {}", interval(degrees));
        }
        for (degrees, expected) in [(1.0, 212.2), (2.0, 18.22), (f64::INFINITY, 2.99)] {
            assert!((decision(degrees) / expected - 1.0).abs() < 5e-3, "{degrees}: {}", decision(degrees));
        }
    }
}
