//! Speedup against the count, beside what it could be; of one sweep, or of two.

use super::Group;
use super::canvas::{Anchor, Canvas, Mark, ticks};
use crate::number::fixed;
use crate::sweep::head::CurveRow;

/// How the curves are distinguished: colour, dashes, points, and the position of the numbers.
struct Look {
    colour: &'static str,
    dashes: &'static str,
    mark: Mark,
    number_at: (f64, f64),
}

const ALONE: Look = Look { colour: "#0072b2", dashes: "", mark: Mark::Disc, number_at: (8.0, -7.0) };
const BEFORE: Look = Look { colour: "#b35900", dashes: "3 3", mark: Mark::Square, number_at: (8.0, 17.0) };

/// Where values are in the picture.
struct Axes {
    left: f64,
    top: f64,
    width: f64,
    height: f64,
    counts: (f64, f64),
    most: f64,
}

impl Axes {
    /// Counts are mostly powers of two: their distances are those of logarithms.
    fn x(&self, count: f64) -> f64 {
        let (low, high) = self.counts;
        let share = if high > low { (count / low).ln() / (high / low).ln() } else { 0.5 };
        self.left + 15.0 + share * (self.width - 40.0)
    }

    fn y(&self, value: f64) -> f64 {
        self.top + self.height - value.clamp(0.0, self.most) / self.most * self.height
    }
}

/// Draws the curves into a place: one, or that before and that after a change.
pub fn draw(canvas: &mut Canvas, groups: &[Group<'_>], [left, top, width, height]: [f64; 4]) {
    let rows = || groups.iter().flat_map(|group| group.rows);
    let at = |row: &CurveRow| f64::from(row.count);
    let low = rows().map(at).fold(f64::INFINITY, f64::min);
    let high = rows().map(at).fold(0.0, f64::max);
    if high == 0.0 {
        return;
    }
    let ideal = |count: f64| count / low;
    let processors = rows().filter(|row| !row.oversubscribed).map(at).fold(low, f64::max);
    let measured = rows().filter_map(|row| row.speedup_interval.map_or(row.speedup, |(_, high)| Some(high)));
    let most = measured.fold(ideal(processors), f64::max).min(2.0 * ideal(high));
    let ticks = ticks(most);
    let axes = Axes { left, top, width, height, counts: (low, high), most: ticks[ticks.len() - 1] };
    canvas.strong(left, top - 12.0, Anchor::Start, &format!("Speedup in comparison with {low}"));
    if processors < high {
        let next = rows().map(at).filter(|&count| count > processors).fold(high, f64::min);
        let from = f64::midpoint(axes.x(processors), axes.x(next));
        canvas.shade([from, top, left + width - from, height]);
        canvas.text(left + width - 5.0, top + 14.0, Anchor::End, "oversubscribed");
    }
    for &tick in &ticks {
        canvas.line((left, axes.y(tick)), (left + width, axes.y(tick)), 0.5, "#cccccc", "");
        canvas.text(left - 6.0, axes.y(tick) + 4.0, Anchor::End, &number(tick));
    }
    canvas.line((left, top + height), (left + width, top + height), 1.0, "black", "");
    let mut counts: Vec<u32> = rows().map(|row| row.count).collect();
    counts.sort_unstable();
    counts.dedup();
    let mut corner = (axes.x(low), axes.y(ideal(low)));
    for &count in &counts {
        let to = (axes.x(count.into()), axes.y(ideal(f64::from(count).min(processors))));
        canvas.line(corner, to, 1.0, "#666666", "6 4");
        canvas.text(to.0, top + height + 18.0, Anchor::Middle, &count.to_string());
        corner = to;
    }
    canvas.text(axes.x(processors) - 28.0, axes.y(ideal(processors)) + 22.0, Anchor::End, "ideal");
    for (at, group) in groups.iter().enumerate() {
        let look = if groups.len() > 1 && at == 0 { &BEFORE } else { &ALONE };
        curve(canvas, &axes, group.rows, look);
        if groups.len() > 1 {
            let y = top + 14.0 + 20.0 * at as f64;
            canvas.line((left + 10.0, y), (left + 46.0, y), 2.0, look.colour, look.dashes);
            canvas.point(left + 28.0, y, look.mark);
            canvas.text(left + 54.0, y + 4.0, Anchor::Start, group.name);
        }
    }
    canvas.text(left + width / 2.0, top + height + 38.0, Anchor::Middle, "count of threads or ranks");
}

fn curve(canvas: &mut Canvas, axes: &Axes, rows: &[CurveRow], look: &Look) {
    let points = || rows.iter().filter_map(|row| Some((row, row.speedup?)));
    let place = |(row, speedup): (&CurveRow, f64)| (axes.x(row.count.into()), axes.y(speedup));
    for (from, to) in points().zip(points().skip(1)) {
        canvas.line(place(from), place(to), 2.0, look.colour, look.dashes);
    }
    for (row, speedup) in points() {
        let (px, py) = place((row, speedup));
        if let Some((low, high)) = row.speedup_interval {
            canvas.line((px, axes.y(low)), (px, axes.y(high)), 1.5, "black", "");
            for end in [low, high] {
                canvas.line((px - 4.0, axes.y(end)), (px + 4.0, axes.y(end)), 1.5, "black", "");
            }
        }
        canvas.point(px, py, look.mark);
        let (right, down) = look.number_at;
        canvas.text(px + right, py + down, Anchor::Start, &fixed(speedup, 2));
    }
}

/// A number without digits that say nothing.
pub fn number(number: f64) -> String {
    let text = fixed(number, 3);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
