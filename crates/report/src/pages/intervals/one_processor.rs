//! The forecast of the time on one processor, beside a real run on one and one of a sequential build.
//!
//! JSON, in each interval where such runs are given: `"one_processor":{"forecast_s","serial_s":…|null,
//! "serial_executions":…|null,"sequential_s":…|null,"sequential_executions":…|null}`; null: that run is not
//! given, or has no such interval.

use schemars::JsonSchema;
use serde::Serialize;

use super::super::facts::seconds;
use super::Row;
use crate::number::{Scale, percent};
use crate::references::{Executed, Path, Reference, References};
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::PageNote;

/// The number of executions may differ by as much before it is said.
const SAME_EXECUTIONS: f64 = 1e-6;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OneProcessor {
    pub forecast_s: f64,
    pub serial_s: Option<f64>,
    serial_executions: Option<f64>,
    pub sequential_s: Option<f64>,
    sequential_executions: Option<f64>,
}

impl OneProcessor {
    /// Of an interval; None where no such runs are given.
    pub fn of(references: &References, path: &Path, productive_ns: u64) -> Option<OneProcessor> {
        if references.is_empty() {
            return None;
        }
        let of = |reference: &Option<Reference>| reference.as_ref().and_then(|of| of.of_path(path));
        let (serial, sequential) = (of(&references.serial), of(&references.sequential));
        let time_s = |of: Executed| seconds(of.time_ns);
        Some(OneProcessor {
            forecast_s: seconds(productive_ns),
            serial_s: serial.map(time_s),
            serial_executions: serial.map(|of| of.executions),
            sequential_s: sequential.map(time_s),
            sequential_executions: sequential.map(|of| of.executions),
        })
    }
}

/// What a reader must know of these runs.
pub(super) fn notes(rows: &[Row], references: &References) -> Vec<PageNote> {
    type OfRow = fn(&OneProcessor) -> (Option<f64>, Option<f64>);
    let sides: [(&Option<Reference>, OfRow); 2] = [
        (&references.serial, |of| (of.serial_s, of.serial_executions)),
        (&references.sequential, |of| (of.sequential_s, of.sequential_executions)),
    ];
    let mut notes = Vec::new();
    for (reference, of) in sides {
        let Some(reference) = reference else { continue };
        let (mut missing, mut uneven) = (Vec::new(), Vec::new());
        for row in rows {
            let Some(one) = &row.one_processor else { continue };
            let executions = row.characterised.as_ref().map_or(0.0, |of| of.executions);
            match of(one) {
                (None, _) => missing.push(row.label.clone()),
                (_, Some(other)) if (other - executions).abs() > SAME_EXECUTIONS * executions => {
                    uneven.push(row.label.clone());
                }
                _ => {}
            }
        }
        let run = || reference.dir.clone();
        if !missing.is_empty() {
            notes.push(PageNote::IntervalsNotInReference { run: run(), intervals: missing });
        }
        if !uneven.is_empty() {
            notes.push(PageNote::ReferenceUneven { run: run(), intervals: uneven });
        }
    }
    if !references.is_empty() {
        notes.push(PageNote::ForecastIsNoMeasurement {});
    }
    notes
}

/// The three times of each interval.
pub(super) fn table(rows: &[Row], references: &References, style: &Style) -> String {
    let times: Vec<(&Row, &OneProcessor)> =
        rows.iter().filter_map(|row| Some((row, row.one_processor.as_ref()?))).collect();
    if times.is_empty() {
        return String::new();
    }
    let scale = Scale::seconds(times.iter().map(|(_, of)| of.forecast_s));
    let mut titles = vec![(scale.title("forecast"), Align::Right)];
    for (title, reference) in [("serial", &references.serial), ("sequential", &references.sequential)] {
        if reference.is_some() {
            titles.push((scale.title(title), Align::Right));
            titles.push(("of it".into(), Align::Right));
        }
    }
    titles.push(("interval".into(), Align::Left));
    let mut table = Table::new(titles);
    for (row, of) in times {
        let mut cells = vec![Cell::from(scale.show(of.forecast_s))];
        for (time_s, reference) in
            [(of.serial_s, &references.serial), (of.sequential_s, &references.sequential)]
        {
            if reference.is_none() {
                continue;
            }
            cells.push(Cell::from(time_s.map_or_else(|| "-".into(), |time_s| scale.show(time_s))));
            let part = time_s.filter(|&time_s| time_s > 0.0);
            cells.push(Cell::from(
                part.map_or_else(|| "-".into(), |time_s| format!("{} %", percent(of.forecast_s, time_s))),
            ));
        }
        cells.push(Cell::from(format!("{}{}", "  ".repeat(row.level), row.label)));
        table.row(cells);
    }
    let mut legend = "forecast: Productive_time of this run".to_owned();
    for (what, reference) in
        [("serial: one processor", &references.serial), ("sequential build", &references.sequential)]
    {
        if let Some(reference) = reference {
            legend.push_str(&format!("; {what}, {}", reference.dir));
        }
    }
    legend.push_str("; of it: the forecast, in % of that time.");
    table.render(style) + &style.paint(Paint::Faint, &crate::wrap::wrapped(&legend, 1, style.width))
}
