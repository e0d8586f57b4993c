//! The messages of a sweep in progress: a line for each run, and on a terminal how long the rest will take.

use std::io::{self, IsTerminal};
use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proust_profile::SweepFile;
use proust_profile::sweep_file::{PointOutcome, SweepPoint};
use proust_words::counted;

/// How often the bar is drawn during a run: rarely, since the processors are the run's.
const TICK: Duration = Duration::from_secs(1);

/// What is shown.
pub struct Shown {
    bar: Option<ProgressBar>,
}

impl Shown {
    /// Begins to show.
    pub fn new(file: &SweepFile) -> Shown {
        let bar = io::stderr().is_terminal().then(|| {
            let bar =
                ProgressBar::with_draw_target(Some(file.points.len() as u64), ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template("{bar:30} {pos}/{len} runs, {elapsed} here; {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
            bar.enable_steady_tick(TICK);
            bar
        });
        Shown { bar }
    }

    /// A run begins.
    pub fn begin(&self, file: &SweepFile, at: usize) {
        if let Some(bar) = &self.bar {
            bar.set_position(file.done().count() as u64);
            let left = remaining_s(file, at).map_or_else(
                || "the first run tells how long it takes".to_owned(),
                |s| format!("about {} left", spoken(s)),
            );
            bar.set_message(format!("{}; {left}", name(file, &file.points[at])));
        }
    }

    /// A run has ended.
    pub fn ended(&self, file: &SweepFile, at: usize, dir: &Path) {
        let point = &file.points[at];
        let wall = point.wall_s.map(|wall_s| format!("{wall_s:.2} s")).unwrap_or_default();
        let what = match (&point.failure, point.outcome) {
            (None, _) => wall,
            (Some(why), _) => format!("{why}; what it said is in {}.err", dir.display()),
        };
        let line = format!("{} of {}: {}: {what}", at + 1, file.points.len(), name(file, point));
        match &self.bar {
            Some(bar) => bar.suspend(|| message!("{line}")),
            None => message!("{line}"),
        }
    }

    /// All messages are printed.
    pub fn end(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

/// A run in words.
fn name(file: &SweepFile, point: &SweepPoint) -> String {
    let repetition = format!("repetition {}", point.repetition);
    if point.serial {
        return format!("serial, {repetition}");
    }
    let values = file.axes.iter().zip(&point.values).map(|(axis, value)| match value.parse::<u64>() {
        Ok(count) if axis.name == "threads" => counted(count, "thread"),
        Ok(count) if axis.name == "ranks" => counted(count, "rank"),
        _ => format!("{}={value}", axis.name),
    });
    values.chain([repetition]).collect::<Vec<_>>().join(", ")
}

/// Seconds that the runs from `at` on will take: as long as others with the same values did, or as long as
/// the mean of all; None before the first has ended.
fn remaining_s(file: &SweepFile, at: usize) -> Option<f64> {
    let timed: Vec<&SweepPoint> = file.points.iter().filter(|point| point.wall_s.is_some()).collect();
    let mean =
        |points: Vec<f64>| (!points.is_empty()).then(|| points.iter().sum::<f64>() / points.len() as f64);
    let all = mean(timed.iter().filter_map(|point| point.wall_s).collect())?;
    let pending = file.points[at..].iter().filter(|point| point.outcome != PointOutcome::Done);
    Some(
        pending
            .map(|point| {
                let alike = timed
                    .iter()
                    .filter(|other| (&other.values, other.serial) == (&point.values, point.serial));
                mean(alike.filter_map(|point| point.wall_s).collect()).unwrap_or(all)
            })
            .sum(),
    )
}

/// Seconds as one says them.
fn spoken(seconds: f64) -> String {
    match seconds.round() as u64 {
        s if s < 90 => format!("{s} s"),
        s if s < 5400 => format!("{} min", (s + 30) / 60),
        s => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_remains_is_told_from_runs_alike() {
        let point = |value: &str, wall_s| SweepPoint {
            values: vec![value.into()],
            wall_s,
            outcome: if wall_s.is_some() { PointOutcome::Done } else { PointOutcome::Pending },
            ..SweepPoint::default()
        };
        let points = vec![point("1", Some(8.0)), point("2", Some(4.0)), point("1", None), point("4", None)];
        let file = SweepFile { points, ..SweepFile::default() };
        assert_eq!(remaining_s(&file, 2), Some(8.0 + 6.0));
        let first = SweepFile { points: vec![point("1", None)], ..SweepFile::default() };
        assert_eq!(remaining_s(&first, 0), None);
        assert_eq!(["3 s", "2 min", "2 h 5 min"], [spoken(3.2), spoken(100.0), spoken(7500.0)]);
    }
}
