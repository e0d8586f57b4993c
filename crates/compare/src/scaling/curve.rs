//! Speedup and efficiency, with their uncertainty.

use proust_profile::Ns;

use super::loss::Kind;

/// A time with one count.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// Threads or ranks.
    pub count: f64,
    /// What is typical.
    pub time: Ns,
    /// Where it lies: the ends of its interval, or all repetitions if they are few; None if there is only
    /// one.
    pub interval: Option<(Ns, Ns)>,
}

/// A ratio with its interval: the least and the most that the intervals of both times allow, so that it is
/// not too narrow; None where one repetition has no data on it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Ratio {
    /// The ratio.
    pub value: f64,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
}

impl Ratio {
    fn of(over: &Point, under: &Point, factor: f64) -> Option<Ratio> {
        if !over.time.is_positive() || !under.time.is_positive() {
            return None;
        }
        let value = factor * (over.time / under.time);
        let interval = over.interval.zip(under.interval).filter(|(_, under)| under.0.is_positive());
        let interval =
            interval.map(|(over, under)| (factor * (over.0 / under.1), factor * (over.1 / under.0)));
        Some(Ratio { value, interval })
    }
}

/// How many times faster: T(p) ÷ T(q) for the same problem, times q ÷ p for one that has grown with the
/// count. None if a time is not above zero.
pub fn speedup(kind: Kind, first: &Point, point: &Point) -> Option<Ratio> {
    let factor = if kind == Kind::Weak { point.count / first.count } else { 1.0 };
    Ratio::of(first, point, factor)
}

/// Speedup as a part of what it could be: q ÷ p.
pub fn efficiency(kind: Kind, first: &Point, point: &Point) -> Option<Ratio> {
    let factor = if kind == Kind::Weak { 1.0 } else { first.count / point.count };
    Ratio::of(first, point, factor)
}
