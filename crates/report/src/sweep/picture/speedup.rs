//! Speedup against the count, beside what it could be.

use super::canvas::{Anchor, Canvas, ticks};
use crate::number::fixed;
use crate::sweep::head::CurveRow;

/// Draws it into a place.
pub fn draw(canvas: &mut Canvas, curve: &[CurveRow], [left, top, width, height]: [f64; 4]) {
    let (Some(first), Some(last)) = (curve.first(), curve.last()) else { return };
    let (low, high) = (f64::from(first.count), f64::from(last.count));
    let at = |row: &CurveRow| f64::from(row.count);
    let ideal = |count: f64| count / low;
    let processors = curve.iter().filter(|row| !row.oversubscribed).map(at).fold(low, f64::max);
    let measured =
        curve.iter().filter_map(|row| row.speedup_interval.map_or(row.speedup, |(_, high)| Some(high)));
    let most = measured.fold(ideal(processors), f64::max).min(2.0 * ideal(high));
    let ticks = ticks(most);
    let top_value = ticks[ticks.len() - 1];
    // Counts are mostly powers of two: their distances are those of logarithms.
    let x = |count: f64| {
        let share = if high > low { (count / low).ln() / (high / low).ln() } else { 0.5 };
        left + 15.0 + share * (width - 40.0)
    };
    let y = |value: f64| top + height - value.clamp(0.0, top_value) / top_value * height;
    canvas.strong(left, top - 12.0, Anchor::Start, &format!("Speedup in comparison with {}", first.count));
    if processors < high {
        let from = (x(processors) + x(curve.iter().map(at).find(|&c| c > processors).unwrap_or(high))) / 2.0;
        canvas.shade([from, top, left + width - from, height]);
        canvas.text(left + width - 5.0, top + 14.0, Anchor::End, "oversubscribed");
    }
    for &tick in &ticks {
        canvas.line((left, y(tick)), (left + width, y(tick)), 0.5, "#cccccc", "");
        canvas.text(left - 6.0, y(tick) + 4.0, Anchor::End, &number(tick));
    }
    canvas.line((left, top + height), (left + width, top + height), 1.0, "black", "");
    let mut corner = (x(low), y(ideal(low)));
    for count in curve.iter().map(at).skip(1) {
        let to = (x(count), y(ideal(count.min(processors))));
        canvas.line(corner, to, 1.0, "#666666", "6 4");
        corner = to;
    }
    canvas.text(x(processors) - 28.0, y(ideal(processors)) + 22.0, Anchor::End, "ideal");
    let mut before: Option<(f64, f64)> = None;
    for row in curve {
        let Some(speedup) = row.speedup else { continue };
        let here = (x(at(row)), y(speedup));
        if let Some(before) = before {
            canvas.line(before, here, 2.0, "#0072b2", "");
        }
        before = Some(here);
    }
    for row in curve {
        let Some(speedup) = row.speedup else { continue };
        let (px, py) = (x(at(row)), y(speedup));
        if let Some((low, high)) = row.speedup_interval {
            canvas.line((px, y(low)), (px, y(high)), 1.5, "black", "");
            for end in [low, high] {
                canvas.line((px - 4.0, y(end)), (px + 4.0, y(end)), 1.5, "black", "");
            }
        }
        canvas.point(px, py);
        canvas.text(px + 8.0, py - 7.0, Anchor::Start, &fixed(speedup, 2));
        canvas.text(px, top + height + 18.0, Anchor::Middle, &row.count.to_string());
    }
    canvas.text(left + width / 2.0, top + height + 38.0, Anchor::Middle, "count of threads or ranks");
}

/// A number without digits that say nothing.
pub fn number(number: f64) -> String {
    let text = fixed(number, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
