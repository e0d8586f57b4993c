//! Amounts as bars.

use schemars::JsonSchema;
use serde::Serialize;
use unicode_width::UnicodeWidthStr;

use crate::number::Scale;
use crate::style::Style;

/// Lines of a plot.
const LINES: usize = 8;
/// Bars of a histogram at most.
const BINS: usize = 10;

/// Bars that stand side by side, of as many amounts each as is needed for all to have room: full up to their
/// mean, and light up to the largest.
pub(super) fn bars(amounts: &[f64], scale: &Scale, style: &Style) -> String {
    let top = amounts.iter().copied().fold(0.0, f64::max);
    let labels = [scale.show(top), "0".to_owned()];
    let before = 1 + labels.iter().map(|label| label.width()).max().unwrap_or(0);
    let room = style.width.saturating_sub(before + 3).max(8);
    let each = amounts.len().div_ceil(room).max(1);
    // Few amounts get wider bars.
    let wide = (room / amounts.len().max(1)).clamp(1, 6);
    let lines_of = |amount: f64| if top > 0.0 { amount / top * LINES as f64 } else { 0.0 };
    let columns: Vec<(f64, f64)> = amounts
        .chunks(each)
        .map(|chunk| {
            let mean = chunk.iter().sum::<f64>() / chunk.len() as f64;
            (lines_of(mean), lines_of(chunk.iter().copied().fold(0.0, f64::max)))
        })
        .collect();
    let (full, light) = (style.pick("█", "#"), style.pick("░", ":"));
    let mut text = String::new();
    for line in (0..LINES).rev() {
        let label = match line {
            _ if line + 1 == LINES => &labels[0],
            0 => &labels[1],
            _ => "",
        };
        let mut bars = String::new();
        for &(mean, largest) in &columns {
            // Each line stands for the amounts around its middle; the least amount that is not zero is seen.
            let reaches = |height: f64| height > line as f64 + 0.5 || line == 0 && height > 0.0;
            let bar = match (reaches(mean), reaches(largest)) {
                (true, _) => full,
                (false, true) => light,
                (false, false) => " ",
            };
            bars.push_str(&bar.repeat(wide.max(2) - 1));
            bars.push_str(if wide > 1 { " " } else { "" });
        }
        let line = format!("{label:>before$} {} {bars}", style.pick("│", "|"));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if amounts.iter().any(|amount| *amount < 0.0) {
        text.push_str(" amounts below zero have no bar\n");
    }
    if each > 1 {
        text.push_str(&format!(
            " a bar stands for {each}: {full} up to their mean, {light} to the largest\n"
        ));
    }
    text
}

/// A range of amounts, and how many are in it: from its lower end on, up to the upper end, which only the
/// last one includes.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub(super) struct Bin {
    from: f64,
    to: f64,
    count: usize,
}

/// How many amounts are in each of some ranges of equal width.
pub(super) fn bins(amounts: &[f64]) -> Vec<Bin> {
    let least = amounts.iter().copied().fold(f64::INFINITY, f64::min);
    let most = amounts.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if amounts.is_empty() {
        return Vec::new();
    }
    let bins = if most > least { BINS.min(amounts.len()).max(2) } else { 1 };
    let width = (most - least) / bins as f64;
    let border = |n: usize| if n == bins { most } else { least + n as f64 * width };
    let mut found: Vec<Bin> =
        (0..bins).map(|n| Bin { from: border(n), to: border(n + 1), count: 0 }).collect();
    for amount in amounts {
        let bin = if width > 0.0 { ((amount - least) / width) as usize } else { 0 };
        found[bin.min(bins - 1)].count += 1;
    }
    found
}

/// A bar for each range, as long as there are amounts in it.
pub(super) fn histogram(bins: &[Bin], scale: &Scale, style: &Style) -> String {
    let number = |amount: f64| if amount == 0.0 { "0".to_owned() } else { scale.show(amount) };
    let ranges: Vec<[String; 2]> = bins.iter().map(|bin| [bin.from, bin.to].map(number)).collect();
    let widest = |side: usize| ranges.iter().map(|range| range[side].width()).max().unwrap_or(0);
    let (left, right) = (widest(0), widest(1));
    let largest = bins.iter().map(|bin| bin.count).max().unwrap_or(1).max(1);
    let digits = largest.to_string().len();
    let room = style.width.saturating_sub(left + right + digits + 8).max(8);
    let full = style.pick("█", "#");
    let mut text = String::new();
    for ([from, to], count) in ranges.iter().zip(bins.iter().map(|bin| bin.count)) {
        let length = (count * room).div_ceil(largest);
        let line = format!(" {from:>left$} to {to:>right$} {count:>digits$} {}", full.repeat(length));
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use proust_profile::Unit;

    use super::*;

    const STYLE: Style = Style { width: 40, colour: false, unicode: false };

    fn scale() -> Scale {
        Scale::of(Unit::COUNT, [8.0])
    }

    #[test]
    fn bars_are_as_high_as_their_amounts() {
        let text = bars(&[8.0, 4.0, 1.0, 0.0], &scale(), &STYLE);
        let column = |at: usize| text.lines().filter(|line| line.as_bytes().get(at) == Some(&b'#')).count();
        let begin = text.lines().next().unwrap().find('#').unwrap();
        assert_eq!([0, 6, 12, 18].map(|at| column(begin + at)), [8, 4, 1, 0]);
        assert_eq!(text.lines().count(), LINES);
        // What is derived may be negative, or not known.
        let text = bars(&[8.0, -4.0, f64::NAN], &scale(), &STYLE);
        assert!(text.ends_with("amounts below zero have no bar\n") && !text.contains("NaN"), "{text}");
    }

    #[test]
    fn many_amounts_share_bars() {
        let amounts: Vec<f64> = (0..1000).map(|n| if n == 500 { 8.0 } else { 2.0 }).collect();
        let text = bars(&amounts, &scale(), &STYLE);
        assert!(text.lines().all(|line| line.len() <= 80), "{text}");
        // The single large one is seen, though its neighbours are small.
        assert_eq!(text.lines().next().unwrap().matches(':').count(), 1, "{text}");
        assert!(text.contains(" a bar stands for "), "{text}");
    }

    #[test]
    fn a_histogram_counts_every_amount_once() {
        let amounts = [0.0, 0.0, 1.0, 3.9, 4.0, 8.0];
        let text = histogram(&bins(&amounts), &scale(), &STYLE);
        let counts =
            text.lines().map(|line| line.split_whitespace().nth(3).unwrap().parse::<usize>().unwrap());
        assert_eq!(counts.collect::<Vec<_>>(), [3, 0, 1, 1, 0, 1]);
        assert_eq!(bins(&[2.0; 5]), [Bin { from: 2.0, to: 2.0, count: 5 }]);
        // What is derived may be negative.
        let counts: Vec<usize> = bins(&[-4.0, -1.0, -3.0]).iter().map(|bin| bin.count).collect();
        assert_eq!((counts, bins(&[])), (vec![1, 1, 1], vec![]));
    }
}
