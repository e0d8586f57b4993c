//! The page in text: a table of regions, and each finding with its path, its causes and advice.

use proust_words::counted;

use super::super::order::depth_below;
use super::{DegradationPage, FindingRow, RegionRow, TimeRow};
use crate::number::{Scale, duration, fixed, percent};
use crate::pages::heading;
use crate::style::{Paint, Style};
use crate::sweep::head::count_text;
use crate::sweep::wording;
use crate::table::{Align, Cell, Table};
use crate::wrap::wrapped;

/// Regions in text when nothing else is asked for.
const ROWS: usize = 25;

impl DegradationPage {
    pub(super) fn regions_text(&self, style: &Style) -> String {
        let limit = self.limit.unwrap_or(ROWS);
        let all: Vec<&RegionRow> = self.regions.iter().filter(|region| !region.is_entrance).collect();
        let shown = &all[..all.len().min(limit)];
        // Levels left out at the top add no depth.
        let skipped = self.regions.iter().filter(|region| region.is_entrance).map(|region| region.depth);
        let skipped = skipped.max().unwrap_or(0);
        let scale =
            Scale::seconds(shown.iter().flat_map(|region| region.times.iter().map(|time| time.corrected_s)));
        let mut titles: Vec<(String, Align)> = Vec::new();
        if let Some(region) = shown.first() {
            for (at, time) in region.times.iter().enumerate() {
                let title = format!("T({})", count_text(time.count, time.oversubscribed));
                titles.push((if at == 0 { scale.title(&title) } else { title }, Align::Right));
            }
        }
        let most = shown.first().and_then(|region| region.most_threads());
        if let Some(time) = most {
            let count = count_text(time.count, time.oversubscribed);
            titles.extend(["S", "E"].map(|what| (format!("{what}({count})"), Align::Right)));
        }
        titles.extend([
            ("ranks".to_owned(), Align::Left),
            ("min".into(), Align::Right),
            ("strength".into(), Align::Right),
            ("loss".into(), Align::Right),
            ("verdict".into(), Align::Left),
            ("region".into(), Align::Left),
        ]);
        let mut table = Table::new(titles);
        for region in shown {
            let mut cells: Vec<Cell> =
                region.times.iter().map(|time| Cell::from(scale.show(time.corrected_s))).collect();
            if let Some(time) = region.most_threads() {
                cells.push(fixed(time.speedup, 2).into());
                cells.push(fixed(time.efficiency, 2).into());
            }
            let largest = |of: fn(&TimeRow) -> f64| region.times.iter().map(of).fold(0.0, f64::max);
            let (strength_s, loss_s) = (largest(|time| time.strength_s), largest(|time| time.loss_s));
            let paint = if region.class == "degraded" { Paint::Bad } else { Paint::Plain };
            cells.push(region.ranks_text().into());
            cells.push(region.minimal_text().into());
            cells.push(scale.show(strength_s).into());
            cells.push(scale.show(loss_s).into());
            cells.push(Cell::painted(paint, region.class_text()));
            cells.push(format!("{}{}", "  ".repeat(depth_below(region.depth, skipped)), region.name).into());
            table.row(cells);
        }
        let mut text = table.render(style);
        if all.len() > shown.len() {
            let hidden = counted(all.len() - shown.len(), "region");
            text.push_str(&format!(" {hidden} not shown: --limit, or --format json.\n"));
        }
        for line in [
            " T: seconds of the thread that takes longest, without what measuring took; S: speedup; E: \
             efficiency;",
            " ranks: counts with which it is degraded; strength: its time there; loss: what fewer threads \
             would save.",
        ] {
            text.push_str(&(style.paint(Paint::Faint, line) + "\n"));
        }
        if let Some(serial_s) = self.serial_s
            && let Some(program) = self.regions.first()
        {
            let speedups = program.times.iter().filter_map(|time| {
                let count = count_text(time.count, time.oversubscribed);
                Some(format!("{} with {count}", fixed(time.serial_speedup?, 2)))
            });
            let speedups: Vec<String> = speedups.collect();
            let serial = format!(
                " Against the serial runs ({}): speedup {}.\n",
                duration(serial_s),
                speedups.join(", ")
            );
            text.push_str(&serial);
        }
        text
    }
}

impl RegionRow {
    /// With the most threads that have processors of their own, or, if there are none, the most.
    fn most_threads(&self) -> Option<&TimeRow> {
        self.times.iter().rev().find(|time| !time.oversubscribed).or(self.times.last())
    }

    fn ranks_text(&self) -> String {
        let plain = self.ranks.iter().map(|&count| count_text(count, false));
        let marked = self.oversubscribed_ranks.iter().map(|&count| count_text(count, true));
        let all: Vec<String> = plain.chain(marked).collect();
        if all.is_empty() { "-".into() } else { all.join(",") }
    }

    /// The minimal rank; where counts between were not tried, it may be any of them.
    fn minimal_text(&self) -> String {
        match (self.minimal_rank, self.clean_below) {
            (Some(rank), Some(clean)) if clean + 1 < rank => format!("{}..{rank}", clean + 1),
            (Some(rank), _) => rank.to_string(),
            _ => "-".into(),
        }
    }

    pub(in crate::sweep) fn class_text(&self) -> String {
        let doubtful = self.times.iter().rev().find_map(|time| Some((time.why?, time.more_runs)));
        let (why, more_runs) = doubtful.unwrap_or_default();
        let more = more_runs.map_or_else(String::new, |more| format!(" (+{more})"));
        match (self.class, why) {
            ("inconclusive", "disturbed") => format!("? other programs{more}"),
            ("inconclusive", "overlap") => format!("? repetitions differ as much{more}"),
            ("inconclusive", "places") => format!("? one of many places{more}"),
            ("inconclusive", "too-fine") => "? too fine to judge".into(),
            ("inconclusive", "one-repetition") => format!("? one repetition{more}"),
            ("inconclusive", _) => "? other work".into(),
            (class, _) => class.into(),
        }
    }
}

impl FindingRow {
    pub(super) fn text(&self, number: usize, style: &Style) -> String {
        let title = format!("{number}. {} loses {} with {}", self.region, duration(self.loss_s), self.count);
        let mut text = heading(style, &title, &format!("in comparison with {}", self.better));
        for (depth, name) in self.names.iter().enumerate() {
            let bend = if depth == 0 {
                String::new()
            } else {
                "  ".repeat(depth.min(16) - 1) + style.pick("└ ", "- ")
            };
            text.push_str(&format!("    {bend}{name}\n"));
        }
        let [causes, more] = &self.split;
        let (all, all_more) = (causes.sum().as_seconds(), more.sum().as_seconds());
        let scale = Scale::seconds([all, all_more]);
        let mut table = Table::new([
            (scale.title("processor time"), Align::Right),
            ("%".into(), Align::Right),
            (format!("more than with {}", self.better), Align::Right),
            (String::new(), Align::Left),
        ]);
        let mut rows: Vec<_> = causes
            .iter()
            .filter(|(cause, time)| time.abs() + more[*cause].abs() >= causes.sum() * 0.005)
            .collect();
        rows.sort_by(|a, b| more[b.0].cmp(&more[a.0]));
        for (cause, time) in rows {
            let seconds = time.as_seconds();
            table.row(vec![
                scale.show(seconds).into(),
                percent(seconds, all).into(),
                signed(&scale, more[cause].as_seconds()).into(),
                wording::cause(cause).into(),
            ]);
        }
        table.row(vec![
            scale.show(all).into(),
            percent(all, all).into(),
            signed(&scale, all_more).into(),
            format!("of {}", self.cause).into(),
        ]);
        text.push_str(&table.render(style));
        if let Some(advice) = &self.advice {
            text.push_str(&wrapped(&advice.text, 1, style.width));
        }
        text
    }
}

fn signed(scale: &Scale, seconds: f64) -> String {
    let shown = scale.show(seconds);
    if seconds > 0.0 && shown != "-" { format!("+{shown}") } else { shown }
}
