//! The units of metrics: products of powers of seconds, bytes and counts.

use std::fmt;

use serde::{Serialize, Serializer};

/// A unit. What has none of its own, such as seconds per second, is a ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Unit {
    seconds: i8,
    bytes: i8,
    count: i8,
}

impl Unit {
    /// No unit: a plain number.
    pub const RATIO: Unit = Unit { seconds: 0, bytes: 0, count: 0 };
    /// Seconds.
    pub const SECONDS: Unit = Unit { seconds: 1, ..Unit::RATIO };
    /// Seconds squared, of sums of squares.
    pub const SECONDS_SQUARED: Unit = Unit { seconds: 2, ..Unit::RATIO };
    /// Bytes.
    pub const BYTES: Unit = Unit { bytes: 1, ..Unit::RATIO };
    /// How often something happened.
    pub const COUNT: Unit = Unit { count: 1, ..Unit::RATIO };

    /// A sum of amounts in this unit. Amounts are kept as whole numbers of what a unit is based on: seconds
    /// as nanoseconds, seconds squared as microseconds squared, of which 64 bits hold enough, and all others
    /// as they are. So sums are exact, in any order, until they are shown.
    pub fn shown(self, sum: u128) -> f64 {
        self.of_base(sum as f64)
    }

    /// A number that was computed of amounts, such as a deviation, in this unit.
    pub fn of_base(self, number: f64) -> f64 {
        // A division, since no negative power of ten is a binary fraction.
        match self {
            Unit::SECONDS => number / 1e9,
            Unit::SECONDS_SQUARED => number / 1e12,
            _ => number,
        }
    }

    /// The unit of a product; None where an exponent has no room.
    pub fn times(self, other: Unit) -> Option<Unit> {
        self.combined(other, i8::checked_add)
    }

    /// The unit of a quotient; None where an exponent has no room.
    pub fn per(self, other: Unit) -> Option<Unit> {
        self.combined(other, i8::checked_sub)
    }

    fn combined(self, other: Unit, combine: fn(i8, i8) -> Option<i8>) -> Option<Unit> {
        Some(Unit {
            seconds: combine(self.seconds, other.seconds)?,
            bytes: combine(self.bytes, other.bytes)?,
            count: combine(self.count, other.count)?,
        })
    }
}

/// As the JSON contract has it: `s`, `bytes`, `count`, `bytes/s`, `1/s`, `ratio`.
impl fmt::Display for Unit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let powers = [("bytes", self.bytes), ("count", self.count), ("s", self.seconds)];
        let product = |sign: i8| {
            let words = powers.iter().filter(|(_, power)| power.signum() == sign).map(|(word, power)| {
                match power.unsigned_abs() {
                    1 => (*word).to_owned(),
                    2 => format!("{word}²"),
                    3 => format!("{word}³"),
                    power => format!("{word}^{power}"),
                }
            });
            words.collect::<Vec<_>>()
        };
        let (above, below) = (product(1), product(-1));
        match (&above[..], &below[..]) {
            ([], []) => f.write_str("ratio"),
            (_, []) => f.write_str(&above.join("·")),
            ([], [only]) => write!(f, "1/{only}"),
            ([], _) => write!(f, "1/({})", below.join("·")),
            (_, [only]) => write!(f, "{}/{only}", above.join("·")),
            _ => write!(f, "{}/({})", above.join("·"), below.join("·")),
        }
    }
}

impl Serialize for Unit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_shown_in_their_unit() {
        let shown = [Unit::SECONDS, Unit::SECONDS_SQUARED, Unit::BYTES].map(|unit| unit.shown(30_000_000));
        assert_eq!(shown, [0.03, 3e-5, 3e7]);
    }

    #[test]
    fn quotients_and_products_have_their_units() {
        let per = |a: Unit, b: Unit| a.per(b).unwrap();
        let rate = per(Unit::BYTES, Unit::SECONDS);
        assert_eq!(per(Unit::SECONDS, Unit::SECONDS), Unit::RATIO);
        assert_eq!(Unit::SECONDS.times(Unit::SECONDS), Some(Unit::SECONDS_SQUARED));
        assert_eq!(rate.times(Unit::SECONDS), Some(Unit::BYTES));
        let words = [
            (Unit::RATIO, "ratio"),
            (Unit::SECONDS_SQUARED, "s²"),
            (rate, "bytes/s"),
            (per(Unit::RATIO, Unit::SECONDS), "1/s"),
            (per(Unit::RATIO, rate), "s/bytes"),
            (per(rate, Unit::COUNT), "bytes/(count·s)"),
            (Unit::BYTES.times(Unit::SECONDS).unwrap(), "bytes·s"),
        ];
        for (unit, word) in words {
            assert_eq!(unit.to_string(), word);
        }
        let mut high = Unit::SECONDS;
        for _ in 0..6 {
            high = high.times(high).unwrap();
        }
        assert_eq!(high.times(high), None);
    }
}
