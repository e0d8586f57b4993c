//! Processor time by account against the count: what grows is what does not scale.

use super::Group;
use super::canvas::{Anchor, Canvas, FILLS, Fill, ticks};
use super::speedup::number;
use crate::number::duration;
use crate::sweep::head::CurveRow;

/// Draws it into a place, of several sweeps with the same scale; the legend is at the right of it.
pub fn draw(canvas: &mut Canvas, groups: &[Group<'_>], [left, top, width, height]: [f64; 4]) {
    let rows = || groups.iter().flat_map(|group| group.rows);
    let Some(last) = rows().last() else { return };
    let largest = |id: &str| rows().map(|row| of(row, id)).fold(0.0, f64::max);
    let most = rows().map(|row| row.processor_s).fold(0.0, f64::max);
    let mut ids: Vec<&str> =
        last.accounts.iter().map(|row| row.id).filter(|id| largest(id) >= 0.01 * most).collect();
    // As many as there are fills, the last of which is for all others.
    if ids.len() > FILLS.len() - 2 {
        ids.sort_by(|a, b| largest(b).total_cmp(&largest(a)));
        ids.truncate(FILLS.len() - 2);
        ids.sort_by_key(|id| last.accounts.iter().position(|row| row.id == *id));
    }
    let ticks = ticks(most);
    let scale = height / ticks[ticks.len() - 1];
    canvas.strong(left, top - 12.0, Anchor::Start, "Processor time by account, s");
    for &tick in &ticks {
        let y = top + height - tick * scale;
        canvas.line((left, y), (left + width, y), 0.5, "#cccccc", "");
        canvas.text(left - 6.0, y + 4.0, Anchor::End, &number(tick));
    }
    // Between sweeps there is the room of a bar.
    let step = width / (rows().count() + groups.len() - 1) as f64;
    let bar = (0.7 * step).min(70.0);
    let mut x = left + 0.5 * step;
    for group in groups {
        let first = x;
        for row in group.rows {
            let mut base = top + height;
            for (_, fill, seconds) in layers(row, &ids) {
                let tall = seconds * scale;
                base -= tall;
                canvas.area([x - bar / 2.0, base, bar, tall], fill);
            }
            let mark = if row.oversubscribed { "*" } else { "" };
            canvas.text(x, top + height + 18.0, Anchor::Middle, &format!("{}{mark}", row.count));
            canvas.text(x, base - 5.0, Anchor::Middle, &duration(row.processor_s));
            x += step;
        }
        if groups.len() > 1 {
            canvas.strong(f64::midpoint(first, x - step), top + height + 36.0, Anchor::Middle, group.name);
        }
        x += step;
    }
    canvas.line((left, top + height), (left + width, top + height), 1.0, "black", "");
    let below = if groups.len() > 1 { 16.0 } else { 0.0 };
    canvas.text(left + width / 2.0, top + height + 38.0 + below, Anchor::Middle, "count of threads or ranks");
    if rows().any(|row| row.oversubscribed) {
        canvas.text(
            left + width / 2.0,
            top + height + 54.0 + below,
            Anchor::Middle,
            "* more threads than processors",
        );
    }
    let mut y = top + 10.0;
    let layers: Vec<_> = layers(last, &ids).collect();
    for (id, fill, _) in layers.into_iter().rev() {
        canvas.area([left + width + 15.0, y, 22.0, 14.0], fill);
        canvas.text(left + width + 43.0, y + 11.0, Anchor::Start, id);
        y += 22.0;
    }
}

fn of(row: &CurveRow, id: &str) -> f64 {
    row.accounts.iter().find(|account| account.id == id).map_or(0.0, |account| account.seconds)
}

/// The layers of a bar from below, the last for all that has none of its own.
fn layers<'i>(row: &CurveRow, ids: &[&'i str]) -> impl Iterator<Item = (&'i str, Fill, f64)> {
    let known: f64 = ids.iter().map(|id| of(row, id)).sum();
    let rest_s = (row.processor_s - known).max(0.0);
    // The first fill is that of computation in every picture.
    let first = usize::from(ids.first() != Some(&"compute"));
    let fills = FILLS[first..].iter().copied();
    let mut layers: Vec<(&str, Fill, f64)> =
        ids.iter().zip(fills).map(|(id, fill)| (*id, fill, of(row, id))).collect();
    layers.push(("others", FILLS[FILLS.len() - 1], rest_s));
    layers.into_iter()
}
