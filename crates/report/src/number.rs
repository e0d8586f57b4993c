//! Numbers as people read them: one unit a column, digits that mean something, columns that add up.

use std::fmt;

use proust_profile::Unit;
use proust_words::count;

/// A unit as numbers have it beside them: none of counts, bytes and ratios.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum ShownUnit {
    None,
    Seconds(&'static str),
    Other(Unit),
}

impl fmt::Display for ShownUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ShownUnit::None => Ok(()),
            ShownUnit::Seconds(unit) => f.write_str(unit),
            ShownUnit::Other(unit) => unit.fmt(f),
        }
    }
}

/// Units of time as numbers have them beside them.
const SECONDS: [&str; 3] = ["s", "ms", "µs"];
/// Units of amounts of memory and data.
const BYTES: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];

/// All units that the pages show.
pub fn units() -> impl Iterator<Item = &'static str> {
    SECONDS.into_iter().chain(BYTES).chain(["%"])
}

/// The unit and digits of a column of numbers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scale {
    /// Unit as shown.
    pub unit: ShownUnit,
    factor: f64,
    decimals: usize,
}

impl Scale {
    /// The scale in which the largest of these numbers is easy to read.
    pub fn of(unit: Unit, numbers: impl IntoIterator<Item = f64>) -> Scale {
        let largest = numbers.into_iter().fold(0.0, |largest: f64, number| largest.max(number.abs()));
        let seconds = |unit, factor, decimals| Scale { unit: ShownUnit::Seconds(unit), factor, decimals };
        let [s, ms, us] = SECONDS;
        let plain = |unit, decimals| Scale { unit, factor: 1.0, decimals };
        match unit {
            Unit::SECONDS if largest >= 1000.0 => seconds(s, 1.0, 1),
            Unit::SECONDS if largest >= 100.0 => seconds(s, 1.0, 2),
            Unit::SECONDS if largest == 0.0 || largest >= 0.1 => seconds(s, 1.0, 3),
            Unit::SECONDS if largest >= 1e-2 => seconds(ms, 1e3, 2),
            Unit::SECONDS if largest >= 1e-4 => seconds(ms, 1e3, 3),
            Unit::SECONDS => seconds(us, 1e6, 2),
            Unit::COUNT | Unit::BYTES => plain(ShownUnit::None, 0),
            Unit::RATIO => plain(ShownUnit::None, decimals_of(largest)),
            unit => plain(ShownUnit::Other(unit), decimals_of(largest)),
        }
    }

    /// The scale of seconds in which the largest of these is easy to read.
    pub fn seconds(numbers: impl IntoIterator<Item = f64>) -> Scale {
        Scale::of(Unit::SECONDS, numbers)
    }

    /// A number in this scale, without its unit; `-` for nothing at all, and no text where there is no
    /// number.
    pub fn show(&self, number: f64) -> String {
        if number == 0.0 {
            return "-".into();
        }
        if number.is_nan() {
            return String::new();
        }
        if self.decimals == 0 {
            let sign = if number.round() < 0.0 { "-" } else { "" };
            return format!("{sign}{}", count(number.abs().round() as u64));
        }
        fixed(number * self.factor, self.decimals)
    }

    /// Numbers that add up to their total as shown: the rounding is spread by largest remainder.
    pub fn show_parts(&self, parts: &[f64], total: f64) -> Vec<String> {
        let grain = 10f64.powi(self.decimals as i32);
        let shown = round_to_sum(
            &parts.iter().map(|part| part * self.factor * grain).collect::<Vec<_>>(),
            total * self.factor * grain,
        );
        let write = |(number, part): (i64, &f64)| match number {
            0 if *part == 0.0 => "-".to_owned(),
            number => fixed(number as f64 / grain, self.decimals),
        };
        shown.into_iter().zip(parts).map(write).collect()
    }

    /// A number in units of its last digit as shown.
    pub fn digits(&self, number: f64) -> i64 {
        (number * self.factor * 10f64.powi(self.decimals as i32)).round() as i64
    }

    /// Parts in units of the last digit, whose sum is `total` if the parts add up to about that.
    pub fn split(&self, parts: impl IntoIterator<Item = f64>, total: i64) -> Vec<i64> {
        let grain = 10f64.powi(self.decimals as i32);
        let parts: Vec<f64> = parts.into_iter().map(|part| part * self.factor * grain).collect();
        round_to_sum(&parts, total as f64)
    }

    /// What [`Scale::digits`] and [`Scale::split`] gave, written; `-` for nothing.
    pub fn write(&self, digits: i64) -> String {
        match digits {
            0 => "-".into(),
            digits => fixed(digits as f64 / 10f64.powi(self.decimals as i32), self.decimals),
        }
    }

    /// A heading with the unit of the column.
    pub fn title(&self, name: &str) -> String {
        format!("{name} {}", self.unit).trim_end().to_owned()
    }
}

/// Decimals with which the largest of some numbers has four digits, or three where it is small.
fn decimals_of(largest: f64) -> usize {
    const MOST: i32 = 12;
    if largest == 0.0 {
        return 3;
    }
    // At most 308 in amount.
    let digits = largest.log10().floor() as i32;
    if digits >= -1 { (3 - digits).max(0) as usize } else { (2 - digits).min(MOST) as usize }
}

/// Percentages with one decimal that add up to that of their total as shown.
pub(crate) fn percents(parts: &[f64], whole: f64) -> Vec<String> {
    let scaled: Vec<f64> =
        parts.iter().map(|part| if whole > 0.0 { part / whole * 1000.0 } else { 0.0 }).collect();
    let total = scaled.iter().sum();
    round_to_sum(&scaled, total).into_iter().map(|number| format!("{:.1}", number as f64 / 10.0)).collect()
}

/// A percentage with one decimal, without the sign.
pub(crate) fn percent(part: f64, whole: f64) -> String {
    if whole > 0.0 { fixed(part / whole * 100.0, 1) } else { "-".into() }
}

/// A number with so many decimals; a value that rounds to zero has no sign.
pub(crate) fn fixed(number: f64, decimals: usize) -> String {
    let text = format!("{number:.decimals$}");
    match text.strip_prefix('-') {
        Some(digits) if digits.bytes().all(|digit| matches!(digit, b'0' | b'.')) => digits.to_owned(),
        _ => text,
    }
}

/// A number as programs read it, an empty field for none. There is one zero.
pub(crate) fn exact(number: f64) -> String {
    if number.is_nan() { String::new() } else { (number + 0.0).to_string() }
}

/// Sum that is zero, not -0, where there is nothing to sum up, as the standard library's would be.
pub(crate) fn sum(numbers: impl IntoIterator<Item = f64>) -> f64 {
    numbers.into_iter().fold(0.0, |sum, number| sum + number)
}

/// Rounds numbers to integers whose sum is the rounded total, where the total is their sum. Rounding moves
/// each by less than one; where the total is something else it stays so, and every number is rounded alone.
fn round_to_sum(numbers: &[f64], total: f64) -> Vec<i64> {
    let mut rounded: Vec<i64> = numbers.iter().map(|number| number.floor() as i64).collect();
    let missing = total.round() as i64 - rounded.iter().sum::<i64>();
    if missing < 0 || missing > numbers.len() as i64 {
        return numbers.iter().map(|number| number.round() as i64).collect();
    }
    let mut order: Vec<usize> = (0..numbers.len()).filter(|&n| numbers[n] != 0.0).collect();
    order.sort_by(|&a, &b| {
        let remainder = |n: usize| numbers[n] - numbers[n].floor();
        remainder(b).total_cmp(&remainder(a)).then(a.cmp(&b))
    });
    for &n in order.iter().take(missing as usize) {
        rounded[n] += 1;
    }
    rounded
}

/// Seconds with a unit that fits.
pub fn duration(seconds: f64) -> String {
    let scale = Scale::seconds([seconds]);
    if seconds == 0.0 { "0 s".into() } else { format!("{} {}", scale.show(seconds), scale.unit) }
}

/// Bytes with a unit that fits. Units are powers of 1024, as those of `--max-size` are: a value given as 1G
/// is shown as 1 GiB.
pub fn bytes(number: u64) -> String {
    let fits = |unit: &usize| number >> (10 * unit) < 1024;
    let unit = (0..BYTES.len()).find(fits).unwrap_or(BYTES.len() - 1);
    let size = fixed(number as f64 / (1_u64 << (10 * unit)) as f64, 1);
    format!("{} {}", size.strip_suffix(".0").unwrap_or(&size), BYTES[unit])
}

/// Seconds since 1970 as date and time in UTC.
pub fn utc(unix_s: f64) -> String {
    let seconds = unix_s.max(0.0) as u64;
    let (days, second) = (seconds / 86_400, seconds % 86_400);
    // Days are counted from 1 March of the year 0, so that leap days are the last of a year: 719 468 days
    // before 1970; 146 097 days are 400 years.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted / 146_097, shifted % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = era * 400 + year_of_era + u64::from(month <= 2);
    format!(
        "{year:04}-{month:02}-{day:02} {:02}:{:02}:{:02} UTC",
        second / 3600,
        second / 60 % 60,
        second % 60
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up_as_shown() {
        let scale = Scale::seconds([1.0]);
        assert_eq!(scale.show_parts(&[0.3334, 0.3333, 0.3333], 1.0), ["0.334", "0.333", "0.333"]);
        assert_eq!(percents(&[1.0, 1.0, 1.0], 3.0), ["33.4", "33.3", "33.3"]);
        assert_eq!(percents(&[0.0, 2.0], 2.0), ["0.0", "100.0"]);
        assert_eq!(percents(&[1.0], 0.0), ["0.0"]);
    }

    #[test]
    fn tables_add_up_in_both_directions() {
        let scale = Scale::seconds([1.0]);
        let total = scale.digits(1.0);
        let columns = scale.split([0.5005, 0.4995], total);
        assert_eq!(columns.iter().sum::<i64>(), total);
        let cells = scale.split([0.16683, 0.16683, 0.16684], columns[0]);
        assert_eq!(cells.iter().sum::<i64>(), columns[0]);
        assert_eq!((scale.write(cells[0]), scale.write(0)), ("0.167".to_owned(), "-".to_owned()));
    }

    #[test]
    fn there_is_one_zero() {
        assert_eq!(fixed(-0.0004, 3), "0.000");
        assert_eq!(fixed(-0.0006, 3), "-0.001");
        assert_eq!(percent(-0.0, 1.0), "0.0");
        assert_eq!(Scale::seconds([1.0]).show(-1e-9), "0.000");
        assert_eq!((exact(-0.0), exact(0.5)), ("0".to_owned(), "0.5".to_owned()));
        assert!(sum([]).is_sign_positive());
    }

    #[test]
    fn units_fit_the_largest() {
        assert_eq!(duration(12.3456), "12.346 s");
        assert_eq!(duration(0.012), "12.00 ms");
        assert_eq!(duration(0.000_012), "12.00 µs");
        assert_eq!(Scale::seconds([123.4]).show(123.456), "123.46");
        assert_eq!(Scale::of(Unit::COUNT, [5.0]).show(1_234_567.0), "1 234 567");
        let rate = Unit::BYTES.per(Unit::SECONDS).unwrap();
        let shown = |unit, number: f64| {
            let scale = Scale::of(unit, [number, f64::NAN]);
            format!("{} {}", scale.show(number), scale.unit)
        };
        assert_eq!(shown(rate, 1_234_567.0), "1 234 567 bytes/s");
        assert_eq!(shown(rate, 12.5), "12.50 bytes/s");
        assert_eq!([shown(Unit::RATIO, 0.25), shown(Unit::RATIO, -1.0)], ["0.2500 ", "-1.000 "]);
        assert_eq!(shown(Unit::RATIO, 0.001234), "0.00123 ");
        assert_eq!(shown(Unit::COUNT, -1_200.0), "-1 200 ");
        assert_eq!(shown(rate, f64::NAN), " bytes/s");
        assert_eq!(bytes(999), "999 B");
        assert_eq!(bytes(1 << 30), "1 GiB");
        assert_eq!(bytes(1_234_567), "1.2 MiB");
        assert_eq!(bytes(u64::MAX), "16777216 TiB");
    }

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(utc(0.0), "1970-01-01 00:00:00 UTC");
        assert_eq!(utc(951_782_400.0), "2000-02-29 00:00:00 UTC");
        assert_eq!(utc(1_792_546_403.9), "2026-10-21 01:33:23 UTC");
    }
}
