//! Durations as users write them, the same on every command line.

use thiserror::Error;

/// Units by their words, ns.
const UNITS: [(&str, f64); 9] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("min", 60e9),
    ("h", 3600e9),
    ("hour", 3600e9),
];

/// Why a text is no duration.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DurationError {
    /// It is none.
    #[error("`{0}` is no time: write a number with ns, us, ms, s, min or h, such as 1.5s or 200us")]
    NoDuration(String),
    /// The number has no unit, where none is meant.
    #[error("`{0}` has no unit: write ns, us, ms, s, min or h behind it, such as {0}us")]
    NoUnit(String),
    /// It is too long.
    #[error("`{0}` is longer than five hundred years")]
    TooLong(String),
}

/// How many ns a unit has; None if there is no such unit.
pub fn unit_ns(word: &str) -> Option<f64> {
    UNITS.iter().find(|(unit, _)| *unit == word).map(|&(_, ns)| ns)
}

/// Reads a duration such as `1.5s`, ns. `bare` is the unit of a number that has none; without it only 0 needs
/// no unit.
///
/// # Errors
/// [`DurationError`], which says what is accepted.
pub fn parse_ns(text: &str, bare: Option<&str>) -> Result<u64, DurationError> {
    let trimmed = text.trim();
    let none = || DurationError::NoDuration(text.to_owned());
    let end = trimmed.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(trimmed.len());
    let number: f64 = trimmed[..end].parse().map_err(|_| none())?;
    let scale_ns = match trimmed[end..].trim() {
        "" if number == 0.0 => 1.0,
        "" => bare.and_then(unit_ns).ok_or_else(|| DurationError::NoUnit(trimmed.to_owned()))?,
        unit => unit_ns(unit).ok_or_else(none)?,
    };
    let ns = (number * scale_ns).round();
    // The first float that is too large.
    if ns < u64::MAX as f64 { Ok(ns as u64) } else { Err(DurationError::TooLong(text.to_owned())) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn units_and_parts_are_understood() {
        for (text, ns) in [
            ("500ns", 500),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("1.5us", 1_500),
            ("1ms", 1_000_000),
            (" 2 s ", 2_000_000_000),
            (".5s", 500_000_000),
            ("1.5m", 90_000_000_000),
            ("1min", 60_000_000_000),
            ("2h", 7_200_000_000_000),
            ("0", 0),
        ] {
            assert_eq!(parse_ns(text, None), Ok(ns), "{text}");
        }
        assert_eq!(parse_ns("90", Some("s")), Ok(90_000_000_000));
    }

    #[test]
    fn what_is_wrong_is_said_with_what_is_accepted() {
        for wrong in ["", "us", "-1us", "+1us", "1.2.3s", "inf", "NaN", "1e3s", "1d", "1s2", ".s", "é"] {
            let error = parse_ns(wrong, Some("s")).unwrap_err().to_string();
            assert!(error.contains("ns, us, ms, s, min or h"), "{wrong}: {error}");
        }
        assert_eq!(parse_ns("10", None), Err(DurationError::NoUnit("10".into())));
        assert_eq!(parse_ns("1000000h", None), Ok(3_600_000_000_000_000_000));
        assert_eq!(parse_ns("10000000h", None), Err(DurationError::TooLong("10000000h".into())));
    }

    proptest! {
        #[test]
        fn whole_numbers_are_exact(number in 0_u64..1_000_000, unit in 0..UNITS.len()) {
            let (word, ns) = UNITS[unit];
            let exact = number * ns as u64;
            prop_assert_eq!(parse_ns(&format!("{number}{word}"), None), Ok(exact));
            prop_assert_eq!(parse_ns(&format!(" {number}.0 {word} "), None), Ok(exact));
        }

        #[test]
        fn any_text_is_answered(text in any::<String>()) {
            let _ = parse_ns(&text, Some("s")).map_err(|error| error.to_string());
        }
    }
}
