//! Durations, and instants since the run's start: whole nanoseconds.
//!
//! Sums of them are exact in any order. Seconds are for people: they are read from files that people write,
//! and made where numbers are shown.

use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

use serde::{Deserialize, Serialize};

/// A duration, or an instant since the run's start, ns. It holds 292 years, or as many processor-years; what
/// is longer stays at the end of the range.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Ns(i64);

impl Ns {
    /// No time, or the run's start.
    pub const ZERO: Ns = Ns(0);
    /// The shortest time: a divisor in place of a time that may be zero.
    pub const SHORTEST: Ns = Ns(1);
    /// The longest time.
    pub const MAX: Ns = Ns(i64::MAX);

    /// So many nanoseconds.
    pub const fn new(ns: i64) -> Ns {
        Ns(ns)
    }

    /// So many nanoseconds of rows, streams and accounts.
    pub const fn of(ns: u64) -> Ns {
        if ns > i64::MAX as u64 { Ns::MAX } else { Ns(ns as i64) }
    }

    /// A sum of amounts that are times.
    pub const fn of_sum(ns: u128) -> Ns {
        if ns > i64::MAX as u128 { Ns::MAX } else { Ns(ns as i64) }
    }

    /// The nearest time to so many seconds, which were read; what is no number is no time.
    pub fn from_seconds(seconds: f64) -> Ns {
        Ns((seconds * 1e9).round() as i64)
    }

    /// Seconds, to be shown or put into formulas of statistics.
    pub fn as_seconds(self) -> f64 {
        // Not a multiplication by 1e-9, which is no binary fraction: 0.03 s should read so.
        self.0 as f64 / 1e9
    }

    /// The number of nanoseconds.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The number of nanoseconds, as rows, streams and accounts have it: 0 for what is less.
    pub const fn unsigned(self) -> u64 {
        if self.0 < 0 { 0 } else { self.0 as u64 }
    }

    /// How far it is from zero.
    pub const fn abs(self) -> Ns {
        Ns(self.0.saturating_abs())
    }

    /// Whether it is more than nothing.
    pub const fn is_positive(self) -> bool {
        self.0 > 0
    }

    /// The root of the sum of both squares: standard errors add up so.
    pub fn hypot(self, other: Ns) -> Ns {
        Ns((self.0 as f64).hypot(other.0 as f64).round() as i64)
    }

    /// Its part of a whole; 0 of a whole that is nothing.
    pub fn share_of(self, whole: Ns) -> f64 {
        if whole == Ns::ZERO { 0.0 } else { self / whole }
    }
}

impl Add for Ns {
    type Output = Ns;

    fn add(self, other: Ns) -> Ns {
        Ns(self.0.saturating_add(other.0))
    }
}

impl AddAssign for Ns {
    fn add_assign(&mut self, other: Ns) {
        *self = *self + other;
    }
}

impl Sub for Ns {
    type Output = Ns;

    fn sub(self, other: Ns) -> Ns {
        Ns(self.0.saturating_sub(other.0))
    }
}

impl SubAssign for Ns {
    fn sub_assign(&mut self, other: Ns) {
        *self = *self - other;
    }
}

impl Neg for Ns {
    type Output = Ns;

    fn neg(self) -> Ns {
        Ns(self.0.saturating_neg())
    }
}

/// Exact until its end, whatever is added first: only the sum has to be in range.
impl Sum for Ns {
    fn sum<I: Iterator<Item = Ns>>(times: I) -> Ns {
        let sum: i128 = times.map(|time| i128::from(time.0)).sum();
        Ns(sum.clamp(i64::MIN.into(), i64::MAX.into()) as i64)
    }
}

impl<'t> Sum<&'t Ns> for Ns {
    fn sum<I: Iterator<Item = &'t Ns>>(times: I) -> Ns {
        times.copied().sum()
    }
}

/// So many times as long, rounded.
impl Mul<f64> for Ns {
    type Output = Ns;

    fn mul(self, times: f64) -> Ns {
        Ns((self.0 as f64 * times).round() as i64)
    }
}

/// One of so many parts, rounded.
impl Div<f64> for Ns {
    type Output = Ns;

    fn div(self, parts: f64) -> Ns {
        Ns((self.0 as f64 / parts).round() as i64)
    }
}

/// How often the other one is in it.
impl Div for Ns {
    type Output = f64;

    fn div(self, other: Ns) -> f64 {
        self.0 as f64 / other.0 as f64
    }
}

/// Times in what pages have in JSON as it is: notes, and the quality. They are seconds by its contract.
pub(crate) mod in_seconds {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::Ns;

    pub(crate) fn serialize<S: Serializer>(time: &Ns, to: S) -> Result<S::Ok, S::Error> {
        time.as_seconds().serialize(to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Ns, D::Error> {
        f64::deserialize(from).map(Ns::from_seconds)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn seconds_are_read_to_the_nearest_nanosecond() {
        for (seconds, ns) in [
            (0.03, 30_000_000),
            (-1.5, -1_500_000_000),
            (1.4e-9, 1),
            (1.6e-9, 2),
            (f64::NAN, 0),
            (f64::INFINITY, i64::MAX),
            (-1e300, i64::MIN),
        ] {
            assert_eq!(Ns::from_seconds(seconds), Ns::new(ns), "{seconds}");
        }
        assert_eq!(Ns::new(30_000_000).as_seconds(), 0.03);
        assert_eq!((Ns::of(u64::MAX), Ns::of_sum(1 << 100), Ns::of_sum(7)), (Ns::MAX, Ns::MAX, Ns::new(7)));
        assert_eq!(Ns::new(-1).unsigned(), 0);
    }

    #[test]
    fn what_is_out_of_range_stays_at_its_end() {
        let least = Ns::new(i64::MIN);
        assert_eq!((Ns::MAX + Ns::SHORTEST, least - Ns::SHORTEST, -least), (Ns::MAX, least, Ns::MAX));
        assert_eq!((Ns::MAX * 2.0, Ns::SHORTEST / 0.0, least.abs()), (Ns::MAX, Ns::MAX, Ns::MAX));
        let sum: Ns = [Ns::MAX, Ns::MAX, -Ns::MAX].iter().sum();
        assert_eq!(sum, Ns::MAX, "only the sum is limited");
    }

    #[test]
    fn errors_add_up_by_their_squares() {
        assert_eq!(Ns::new(3).hypot(Ns::new(-4)), Ns::new(5));
    }

    #[test]
    fn a_part_of_nothing_is_no_share() {
        assert_eq!((Ns::new(3).share_of(Ns::new(4)), Ns::new(3).share_of(Ns::ZERO)), (0.75, 0.0));
    }

    #[test]
    fn it_is_a_number_in_json() {
        assert_eq!(serde_json::to_string(&Ns::new(-7)).unwrap(), "-7");
        assert_eq!(serde_json::from_str::<Ns>("12").unwrap(), Ns::new(12));
        assert!(serde_json::from_str::<Ns>("1.5").is_err());
    }

    proptest! {
        /// 2⁵¹ ns are 26 days.
        #[test]
        fn seconds_are_as_exact_as_the_time(ns in -(1_i64 << 51)..1 << 51) {
            prop_assert_eq!(Ns::from_seconds(Ns::new(ns).as_seconds()), Ns::new(ns));
        }

        #[test]
        fn sums_do_not_depend_on_the_order(mut times in proptest::collection::vec(any::<i64>(), 0..20)) {
            let sum = |times: &[i64]| times.iter().map(|&ns| Ns::new(ns)).sum::<Ns>();
            let forwards = sum(&times);
            times.reverse();
            prop_assert_eq!(sum(&times), forwards);
        }

        #[test]
        fn parts_are_rounded_and_ratios_are_not(ns in -1_000_000_000_000..1_000_000_000_000_i64, n in 1..99) {
            let (time, n) = (Ns::new(ns), f64::from(n));
            prop_assert!(((time / n).get() as f64 * n - ns as f64).abs() <= n / 2.0 + 1e-3);
            prop_assert_eq!(time * n / n, time);
            prop_assert!(ns == 0 || time * n / time == n);
            prop_assert_eq!(time - time, Ns::ZERO);
            prop_assert_eq!(-(-time) + time, time * 2.0);
        }
    }
}
