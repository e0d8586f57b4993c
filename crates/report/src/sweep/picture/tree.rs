//! Regions as a tree, their times with each count as bars, and degraded ones.

use super::WIDTH;
use super::canvas::{Anchor, Canvas, FILLS, Fill};
use crate::number::{Scale, duration};
use crate::sweep::degradation::{DegradationPage, RegionRow};
use crate::sweep::order::depth_below;

/// Regions that are drawn.
const ROWS: usize = 40;
const ROW: f64 = 30.0;
/// Where the bars begin, and how long the longest is.
const BARS: f64 = 460.0;
const LONGEST: f64 = 190.0;
/// The space for the text beside a bar.
const LABEL: f64 = 85.0;

/// Draws it.
pub fn draw(page: &DegradationPage, command: &str) -> String {
    let all: Vec<&RegionRow> = page.regions.iter().filter(|region| !region.is_entrance).collect();
    let skipped = page.regions.iter().filter(|region| region.is_entrance).map(|region| region.depth).max();
    let rows = &all[..all.len().min(ROWS)];
    let counts = page.counts.len().max(1) as f64;
    let row_height = ROW.max(13.0 * counts + 8.0);
    let height = 125.0 + row_height * rows.len() as f64;
    let mut canvas = Canvas::new(WIDTH, height);
    canvas.title(command);
    canvas.strong(20.0, 58.0, Anchor::Start, "Region");
    canvas.strong(BARS, 58.0, Anchor::Start, "Time of the thread that takes longest");
    canvas.strong(BARS + LONGEST + LABEL, 58.0, Anchor::Start, "Verdict");
    let longest =
        rows.iter().flat_map(|row| row.times.iter()).map(|time| time.corrected_s).fold(0.0, f64::max);
    let scale = Scale::seconds([longest]);
    let on_path = |row: &RegionRow| page.findings.iter().any(|finding| finding.path.contains(&row.id));
    // Where the latest row of each level is.
    let mut latest: Vec<f64> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let y = 72.0 + at as f64 * row_height;
        let depth = depth_below(row.depth, skipped.unwrap_or(0)) as f64;
        let x = 20.0 + 16.0 * depth;
        let middle = y + row_height / 2.0;
        if row.class == "degraded" {
            canvas.shade([10.0, y, WIDTH - 20.0, row_height - 2.0]);
        }
        let level = depth as usize;
        latest.truncate(level);
        if level > 0 {
            let width = if on_path(row) { 2.5 } else { 0.8 };
            // A region whose parent takes no row hangs below the one before.
            let above = latest.last().copied().unwrap_or(middle - row_height);
            canvas.line((x - 10.0, above + 8.0), (x - 10.0, middle), width, "black", "");
            canvas.line((x - 10.0, middle), (x - 3.0, middle), width, "black", "");
        }
        latest.resize(level + 1, middle);
        let room = ((BARS - x - 20.0) / 7.0).max(12.0) as usize;
        let name = crate::middle(&row.name, room, true);
        if on_path(row) {
            canvas.strong(x, middle + 4.0, Anchor::Start, &name);
        } else {
            canvas.text(x, middle + 4.0, Anchor::Start, &name);
        }
        let tall = (row_height - 8.0) / counts;
        for (n, time) in row.times.iter().enumerate() {
            let fill = if time.verdict == "degraded" { FILLS[5] } else { Fill { pattern: "", ..FILLS[0] } };
            let length = if longest > 0.0 { time.corrected_s / longest * LONGEST } else { 0.0 };
            let top = y + 3.0 + n as f64 * tall;
            canvas.area([BARS, top, length.max(0.5), tall - 1.0], fill);
            if tall >= 9.0 {
                let mark = if time.oversubscribed { "*" } else { "" };
                let label = format!("{}{mark}: {}", time.count, scale.show(time.corrected_s));
                canvas.text(BARS + length + 5.0, top + tall / 2.0 + 3.0, Anchor::Start, &label);
            }
        }
        canvas.text(BARS + LONGEST + LABEL, middle + 4.0, Anchor::Start, &verdict(row));
    }
    let y = height - 32.0;
    canvas.area([20.0, y - 11.0, 22.0, 12.0], FILLS[5]);
    canvas.text(48.0, y, Anchor::Start, "degraded: slower than with fewer threads");
    canvas.area([340.0, y - 11.0, 22.0, 12.0], Fill { pattern: "", ..FILLS[0] });
    canvas.text(
        368.0,
        y,
        Anchor::Start,
        &format!("not degraded; beside bars: count and time in {}", scale.unit),
    );
    canvas.line((20.0, y + 15.0), (42.0, y + 15.0), 2.5, "black", "");
    canvas.text(48.0, y + 20.0, Anchor::Start, "the way to the code that causes it");
    canvas.text(340.0, y + 20.0, Anchor::Start, "* more threads than processors");
    canvas.finish()
}

fn verdict(row: &RegionRow) -> String {
    let loss_s = row.times.iter().map(|time| time.loss_s).fold(0.0, f64::max);
    match (row.class, row.minimal_rank) {
        ("degraded", Some(rank)) => format!("minimal rank {rank}, {} lost", duration(loss_s)),
        ("degraded", None) => format!("degraded*, {} lost", duration(loss_s)),
        _ => row.class_text(),
    }
}
