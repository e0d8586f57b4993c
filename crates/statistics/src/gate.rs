//! A limit that a user wrote: tested by itself, against the interval of what was measured.
//!
//! Neither is it enough that the amount found lies beyond the limit, nor is the question whether anything
//! changed at all: `wall>+2%` fails if the lower end of the interval of the change is above 2 %. The ends are
//! those of a 90 % interval, so that each is exceeded by chance in one of twenty comparisons. A true change
//! of exactly 2 % fails so in 2 to 3 % of simulated comparisons of 3 to 10 runs a side.

/// The outcome of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// All of the interval lies beyond it.
    Exceeded,
    /// The amount found lies beyond it, and the interval does not: more runs would decide.
    Undecided,
    /// The amount found does not lie beyond it.
    Kept,
}

/// Compares what was `found`, with the ends of its 90 % interval, with what is `allowed`: at most so much if
/// `is_upper`, else at least so much.
pub fn gate(found: f64, (low, high): (f64, f64), allowed: f64, is_upper: bool) -> Outcome {
    let is_beyond = |amount: f64| if is_upper { amount > allowed } else { amount < allowed };
    // Half a total of nothing is nothing.
    if !is_beyond(found) {
        Outcome::Kept
    } else if is_beyond(low) && is_beyond(high) {
        Outcome::Exceeded
    } else {
        Outcome::Undecided
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_exceeded_by_the_whole_interval() {
        assert_eq!(gate(4.7, (4.2, 5.2), 2.0, true), Outcome::Exceeded);
        assert_eq!(gate(4.7, (1.7, 7.7), 2.0, true), Outcome::Undecided);
        assert_eq!(gate(1.9, (1.0, 3.0), 2.0, true), Outcome::Kept);
        assert_eq!(gate(0.7, (0.65, 0.75), 0.8, false), Outcome::Exceeded);
        assert_eq!(gate(0.7, (0.55, 0.85), 0.8, false), Outcome::Undecided);
        assert_eq!(gate(f64::NAN, (f64::NAN, f64::NAN), 0.8, false), Outcome::Kept);
    }
}
