//! The head of every page of a sweep, the curve of its counts, and its notes.

use proust_account::ledger::{Account, Class, IoAs};
use proust_compare::scaling::Timing;
use proust_compare::scaling::{Ensemble, Kind, Point, Ratio, Swept, efficiency, speedup};
use proust_profile::sweep_file::PointOutcome;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{SweepQuestion, SweepView};
use crate::number::{duration, fixed};
use crate::style::{Paint, Style};
use crate::wording::{Notes, SweepNote};

/// JSON: the sweep as a whole.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct SweepBlock {
    pub dir: String,
    pub command: Vec<String>,
    pub serial: Option<Vec<String>>,
    pub axes: Vec<AxisBlock>,
    pub selected: Option<String>,
    pub repetitions: u32,
    pub runs: usize,
    pub runs_done: usize,
    pub available_processors: u32,
    pub affinity: String,
    pub binding: std::collections::BTreeMap<String, String>,
    /// `strong` or `weak`.
    pub scaling: &'static str,
    pub failures: Vec<FailureRow>,
    /// All its runs, in the order in which they are run, or were started.
    pub points: Vec<PointRow>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct PointRow {
    /// Its folder; null until it was run.
    pub run: Option<String>,
    pub values: Vec<String>,
    pub serial: bool,
    /// From 1 on; 0 for a run that failed, of a sweep that was made of recorded runs.
    pub repetition: u32,
    /// `pending`, `done`, `failed` or `timed-out`.
    #[schemars(with = "String")]
    pub outcome: PointOutcome,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct AxisBlock {
    pub name: String,
    pub values: Vec<String>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct FailureRow {
    pub values: Vec<String>,
    pub serial: bool,
    pub repetition: u32,
    pub run: Option<String>,
    pub failure: String,
}

impl SweepBlock {
    pub fn new(view: &SweepView<'_>, question: &SweepQuestion) -> SweepBlock {
        let file = view.file;
        let failed = file.points.iter().filter_map(|point| {
            Some(FailureRow {
                values: point.values.clone(),
                serial: point.serial,
                repetition: point.repetition,
                run: point.dir.clone(),
                failure: point.failure.clone().filter(|_| point.outcome != PointOutcome::Done)?,
            })
        });
        SweepBlock {
            dir: view.dir.to_owned(),
            command: file.command.clone(),
            serial: file.serial.clone(),
            axes: file
                .axes
                .iter()
                .map(|axis| AxisBlock { name: axis.name.clone(), values: axis.values.clone() })
                .collect(),
            selected: Some(view.selected.to_owned()).filter(|text| !text.is_empty()),
            repetitions: file.repetitions,
            runs: file.points.len(),
            runs_done: file.done().count(),
            available_processors: view.ensemble.available(),
            affinity: file.binding.affinity.clone(),
            binding: file.binding.variables.clone(),
            scaling: if question.kind == Kind::Weak { "weak" } else { "strong" },
            failures: failed.collect(),
            points: file
                .points
                .iter()
                .map(|point| PointRow {
                    run: point.dir.clone(),
                    values: point.values.clone(),
                    serial: point.serial,
                    repetition: point.repetition,
                    outcome: point.outcome,
                })
                .collect(),
        }
    }

    pub fn text(&self, style: &Style, title: &str) -> String {
        let axes: Vec<String> =
            self.axes.iter().map(|axis| format!("{} {}", axis.name, axis.values.join(", "))).collect();
        let mut text = style.paint(Paint::Strong, title) + "  " + &self.command.join(" ") + "\n";
        text.push_str(&format!(
            " {} scaling over {}; {} of {} done, {}; {} available\n",
            self.scaling,
            axes.join("; "),
            self.runs_done,
            counted(self.runs, "run"),
            counted(self.repetitions, "repetition"),
            counted(self.available_processors, "processor"),
        ));
        if let Some(selected) = &self.selected {
            text.push_str(&format!(" of these, the runs with {selected}\n"));
        }
        text
    }

    pub fn failures_text(&self) -> String {
        let line = |row: &FailureRow| {
            let values = if row.serial { "serial".into() } else { row.values.join(", ") };
            let which = match (row.repetition, &row.run) {
                // A run that nobody planned has no number.
                (0, Some(run)) => run.clone(),
                (repetition, _) => format!("repetition {repetition}"),
            };
            format!(" Failed: {values}, {which}: {}\n", row.failure)
        };
        self.failures.iter().map(line).collect()
    }
}

/// JSON: one count of the curve. Seconds are means but for `wall_s`, which is the median.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct CurveRow {
    pub count: u32,
    pub runs: usize,
    pub oversubscribed: bool,
    pub wall_s: f64,
    pub wall_low_s: f64,
    pub wall_high_s: f64,
    pub cpu_s: f64,
    pub processor_s: f64,
    pub speedup: Option<f64>,
    pub speedup_interval: Option<(f64, f64)>,
    pub efficiency: Option<f64>,
    pub efficiency_interval: Option<(f64, f64)>,
    /// Computation with the least count by that with this one: 1 = the same work takes as much processor
    /// time.
    pub computation_scaling: Option<f64>,
    pub accounts: Vec<AccountSeconds>,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct AccountSeconds {
    pub id: &'static str,
    pub class: &'static str,
    pub seconds: f64,
}

impl CurveRow {
    /// Seconds of a class that are lost.
    pub fn lost_s(&self, class: Class) -> f64 {
        self.accounts.iter().filter(|row| row.class == class.id()).map(|row| row.seconds).sum()
    }

    /// One row for each count, ascending.
    pub fn all(ensemble: &Ensemble<'_>, kind: Kind) -> Vec<CurveRow> {
        let timings = if ensemble.joint().is_empty() { Vec::new() } else { ensemble.timings(0) };
        let points: Vec<Point> = timings.iter().map(point).collect();
        let mut rows: Vec<CurveRow> = Vec::new();
        for (at, timing) in timings.iter().enumerate() {
            let runs: Vec<&Swept> = ensemble.group(at).collect();
            let mean =
                |of: &dyn Fn(&Swept) -> f64| runs.iter().map(|run| of(run)).sum::<f64>() / runs.len() as f64;
            // A time in comparison with itself has no uncertainty.
            let exact = |ratio: Ratio| if at == 0 { Ratio { interval: None, ..ratio } } else { ratio };
            let ratio =
                |of: fn(Kind, &Point, &Point) -> Option<Ratio>| of(kind, &points[0], &points[at]).map(exact);
            let (fast, good) = (ratio(speedup), ratio(efficiency));
            let accounts: Vec<AccountSeconds> = Account::ALL
                .into_iter()
                .map(|account| AccountSeconds {
                    id: account.id(),
                    class: account.class().id(),
                    seconds: mean(&|run| run.accounts[account] as f64 / 1e9),
                })
                .collect();
            let interval = timing.interval();
            let computed = |accounts: &[AccountSeconds]| {
                accounts.iter().find(|row| row.id == Account::Compute.id()).map_or(0.0, |row| row.seconds)
            };
            let (compute_s, first_s) = (
                computed(&accounts),
                rows.first().map_or(computed(&accounts), |row| computed(&row.accounts)),
            );
            let grown = if kind == Kind::Weak { points[at].count / points[0].count } else { 1.0 };
            rows.push(CurveRow {
                count: timing.count,
                runs: runs.len(),
                oversubscribed: timing.count > ensemble.available(),
                wall_s: timing.typical().as_seconds(),
                wall_low_s: interval.low.as_seconds(),
                wall_high_s: interval.high.as_seconds(),
                cpu_s: mean(&|run| run.cpu.as_seconds()),
                processor_s: mean(&|run| run.total.as_seconds()),
                speedup: fast.map(|ratio| ratio.value),
                speedup_interval: fast.and_then(|ratio| ratio.interval),
                efficiency: good.map(|ratio| ratio.value),
                efficiency_interval: good.and_then(|ratio| ratio.interval),
                computation_scaling: (compute_s > 0.0).then(|| first_s * grown / compute_s),
                accounts,
            });
        }
        rows
    }
}

/// A point of the curve.
pub(crate) fn point(timing: &Timing) -> Point {
    let interval = timing.interval();
    Point {
        count: f64::from(timing.count),
        time: timing.typical(),
        interval: (timing.times.len() > 1).then_some((interval.low, interval.high)),
    }
}

/// What a reader must know of a sweep's runs.
pub(super) fn notes(view: &SweepView<'_>) -> Notes {
    let mut notes = Notes::of(&view.notes);
    notes.add(&view.file.notes);
    let ensemble = view.ensemble;
    let runs = ensemble.runs();
    if let Some(first) = runs.first() {
        let other = runs.iter().find(|run| run.programs != first.programs);
        if let Some(other) = other {
            notes.push(SweepNote::OtherPrograms {
                run_a: first.name.clone(),
                programs_a: first.programs.clone(),
                run_b: other.name.clone(),
                programs_b: other.programs.clone(),
            });
        }
        if runs.iter().any(|run| run.available != first.available) {
            notes.push(SweepNote::OtherProcessors {});
        }
    }
    let counts: Vec<u32> = (0..ensemble.counts().len())
        .filter(|&count| ensemble.group(count).count() == 1)
        .map(|count| ensemble.counts()[count])
        .collect();
    if !counts.is_empty() {
        notes.push(SweepNote::SingleRuns { counts });
    }
    if runs.iter().all(|run| !run.has_lines) {
        notes.push(SweepNote::NoLines {});
    }
    let wrong: Vec<&Swept> = runs
        .iter()
        .filter(|run| run.team_max > 0 && view.file.axes.len() == 1 && view.file.axes[0].name == "threads")
        .filter(|run| run.team_max != run.count)
        .collect();
    if let Some(run) = wrong.first() {
        notes.push(SweepNote::OtherTeams { threads: run.team_max, count: run.count });
    }
    let processors = ensemble.available();
    let counts: Vec<u32> = ensemble.counts().iter().copied().filter(|&count| count > processors).collect();
    if !counts.is_empty() {
        notes.push(SweepNote::Oversubscribed { processors, counts });
    }
    notes
}

/// A count, marked where it is more than there are processors.
pub(super) fn count_text(count: u32, oversubscribed: bool) -> String {
    if oversubscribed { format!("{count}*") } else { count.to_string() }
}

/// `1.61 (1.52–1.70)`; without its interval where there is none.
pub(super) fn with_interval(value: Option<f64>, interval: Option<(f64, f64)>) -> String {
    match (value, interval) {
        (None, _) => "-".into(),
        (Some(value), None) => fixed(value, 2),
        (Some(value), Some((low, high))) => {
            format!("{} ({}–{})", fixed(value, 2), fixed(low, 2), fixed(high, 2))
        }
    }
}

/// The text about the serial reference.
pub(super) fn serial_text(view_serial_s: Option<f64>, curve: &[CurveRow]) -> String {
    let (Some(serial_s), Some(last)) = (view_serial_s, curve.last()) else { return String::new() };
    let best = curve.iter().min_by(|a, b| a.wall_s.total_cmp(&b.wall_s)).unwrap_or(last);
    format!(
        " The serial reference takes {}: the fastest count, {}, is {} times as fast.\n",
        duration(serial_s),
        best.count,
        fixed(serial_s / best.wall_s, 2)
    )
}

/// What is lost: all classes but the productive and those that are no loss.
pub(super) const LOST: [Class; 5] =
    [Class::Parallelism, Class::Waiting, Class::Communication, Class::Overhead, Class::System];

/// The lost processor time, from the ledger.
pub(super) fn lost_s(row: &CurveRow) -> f64 {
    let lost = |id: &str| Account::from_id(id).is_some_and(|account| account.lost(IoAs::Productive));
    row.accounts.iter().filter(|row| lost(row.id)).map(|row| row.seconds).sum()
}
