//! Quantiles and tail probabilities of Student's t distribution and the normal one.

use statrs::distribution::{ContinuousCDF, Normal, StudentsT};

/// From so many degrees of freedom on the normal distribution is used: the quantiles agree to three digits.
const MANY: f64 = 1e4;

/// How many standard errors a two-sided interval of this level takes on each side. `degrees` may be infinite.
pub(super) fn t(level: f64, degrees: f64) -> f64 {
    let upper = 0.5 + level / 2.0;
    if degrees < MANY {
        StudentsT::new(0.0, 1.0, degrees.max(1.0)).map_or(f64::INFINITY, |t| t.inverse_cdf(upper))
    } else {
        Normal::standard().inverse_cdf(upper)
    }
}

/// The probability of so many standard errors or more, on either side. 1 for NaN.
pub(super) fn two_sided(standard_errors: f64, degrees: f64) -> f64 {
    let size = -standard_errors.abs();
    if size.is_nan() {
        return 1.0;
    }
    let tail = if degrees < MANY {
        StudentsT::new(0.0, 1.0, degrees.max(1.0)).map_or(0.5, |t| t.cdf(size))
    } else {
        Normal::standard().cdf(size)
    };
    (2.0 * tail).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Fisher and Yates, table III.
        for (degrees, expected) in
            [(1.0, 12.706), (2.0, 4.303), (4.0, 2.776), (10.0, 2.228), (30.0, 2.042), (f64::INFINITY, 1.960)]
        {
            assert!((t(0.95, degrees) - expected).abs() < 1e-3, "{degrees}: {}", t(0.95, degrees));
            assert!((two_sided(expected, degrees) - 0.05).abs() < 1e-4, "{degrees}");
        }
        assert!((t(0.99, 2.0) - 9.925).abs() < 1e-3);
        assert_eq!(two_sided(f64::NAN, 3.0), 1.0);
        assert_eq!(two_sided(f64::INFINITY, 3.0), 0.0);
    }
}
