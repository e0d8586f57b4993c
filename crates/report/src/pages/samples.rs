//! The page `samples`: what each process had used and held at some instants.
//!
//! JSON: `{"schema":1,"samples":[…],"notes":[…]}`. A sample is `{"number","process","name","time_s","reason",
//! "label":…|null,"cpu_s","user_s","system_s","minor_faults","major_faults","voluntary_switches",
//! "involuntary_switches","peak_resident_bytes","resident_bytes","read_bytes","written_bytes",
//! "read_by_calls_bytes","written_by_calls_bytes","read_calls","write_calls","threads","runnable",
//! "host_load","frequency_hz","temperature_c"}`; amounts are those since the process began, and from
//! `resident_bytes` on null where only the cheap amounts were read; frequency and temperature also where the
//! machine does not show them. `number` counts the samples of the run by time, from 1.

use std::collections::BTreeSet;

use proust_profile::{ProcessId, ProcessSampleRow, Profile};
use proust_query::Selection;
use proust_words::counted;
use schemars::JsonSchema;
use serde::Serialize;

use super::{Cut, Page, heading, no_arguments};
use crate::error::ReportError;
use crate::number::{bytes, duration, exact};
use crate::question::{Format, Question};
use crate::schema::SCHEMA;
use crate::style::{Paint, Style};
use crate::table::{Align, Cell, Table};
use crate::wording::Notes;

/// Rows of text when nothing else is asked for.
const ROWS: usize = 60;

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Samples {
    schema: u32,
    samples: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cut: Option<Cut>,
    #[serde(flatten)]
    notes: Notes,
    #[serde(skip)]
    scope: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Row {
    number: usize,
    process: u32,
    name: String,
    time_s: f64,
    reason: String,
    label: Option<String>,
    cpu_s: f64,
    user_s: f64,
    system_s: f64,
    minor_faults: u64,
    major_faults: u64,
    voluntary_switches: u64,
    involuntary_switches: u64,
    peak_resident_bytes: u64,
    resident_bytes: Option<u64>,
    read_bytes: Option<u64>,
    written_bytes: Option<u64>,
    read_by_calls_bytes: Option<u64>,
    written_by_calls_bytes: Option<u64>,
    read_calls: Option<u64>,
    write_calls: Option<u64>,
    threads: Option<u32>,
    runnable: Option<u32>,
    host_load: Option<f64>,
    frequency_hz: Option<f64>,
    temperature_c: Option<f64>,
}

fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}

impl Row {
    fn new(profile: &Profile, number: usize, sample: &ProcessSampleRow) -> Row {
        let process = profile.processes.get(sample.process);
        Row {
            number,
            process: process.map_or(0, |process| process.pid),
            name: process.map(|process| process.name.clone()).unwrap_or_default(),
            time_s: seconds(sample.time_ns),
            reason: sample.reason.clone(),
            label: Some(sample.label.clone()).filter(|label| !label.is_empty()),
            cpu_s: seconds(sample.cpu_ns),
            user_s: seconds(sample.user_ns),
            system_s: seconds(sample.system_ns),
            minor_faults: sample.minor_faults,
            major_faults: sample.major_faults,
            voluntary_switches: sample.voluntary_switches,
            involuntary_switches: sample.involuntary_switches,
            peak_resident_bytes: sample.peak_resident_bytes,
            resident_bytes: sample.resident_bytes,
            read_bytes: sample.read_bytes,
            written_bytes: sample.written_bytes,
            read_by_calls_bytes: sample.read_by_calls_bytes,
            written_by_calls_bytes: sample.written_by_calls_bytes,
            read_calls: sample.read_calls,
            write_calls: sample.write_calls,
            threads: sample.threads,
            runnable: sample.runnable,
            host_load: sample.load_milli.map(|milli| f64::from(milli) / 1e3),
            frequency_hz: sample.frequency_khz.map(|khz| f64::from(khz) * 1e3),
            temperature_c: sample.temperature_milli.map(|milli| f64::from(milli) / 1e3),
        }
    }
}

impl Samples {
    pub fn build(selection: &Selection<'_>, question: &Question) -> Result<Samples, ReportError> {
        no_arguments(question)?;
        let profile = selection.profile();
        let processes: BTreeSet<ProcessId> = (selection.locations().iter())
            .filter_map(|&location| profile.locations.get(location))
            .map(|location| location.process)
            .collect();
        let mut all: Vec<&ProcessSampleRow> = profile.process_samples.iter().collect();
        all.sort_by_key(|sample| (sample.time_ns, sample.process));
        let within = question.filter.windows();
        let is_asked = |sample: &ProcessSampleRow| {
            let in_time = within.as_ref().is_none_or(|windows| {
                let mut windows = windows.as_slice().iter();
                windows.any(|window| (window.start_ns..=window.end_ns).contains(&sample.time_ns))
            });
            in_time && processes.contains(&sample.process)
        };
        let mut samples: Vec<Row> = all
            .into_iter()
            .enumerate()
            .filter(|(_, sample)| is_asked(sample))
            .map(|(at, sample)| Row::new(profile, at + 1, sample))
            .collect();
        let shown = counted(samples.len(), "sample");
        let mut scope = format!("{shown} of {}", counted(processes.len(), "process"));
        if !question.filter.is_empty() {
            scope = format!("{scope}, where {}", question.filter);
        }
        let mut cut = None;
        let limit = question.limit.or((question.format == Format::Text).then_some(ROWS));
        if let Some(limit) = limit.filter(|&limit| limit < samples.len()) {
            cut = Some(Cut { rows: samples.len() - limit, amount: 0.0 });
            samples.truncate(limit);
        }
        Ok(Samples { schema: SCHEMA, samples, cut, notes: Notes::of(selection.notes()), scope })
    }
}

/// A number, or nothing.
fn known<T: ToString>(value: Option<T>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

impl Page for Samples {
    fn text(&self, style: &Style) -> String {
        let mut text = heading(style, "Samples of the processes", &self.scope);
        if self.samples.is_empty() {
            text.push_str(" no process was sampled here\n");
            return text;
        }
        let right = ["", "at", "CPU", "memory", "peak", "threads", "faults", "read", "written"];
        let mut titles: Vec<(String, Align)> = right.map(|title| (title.to_owned(), Align::Right)).to_vec();
        titles.push(("load".into(), Align::Right));
        // Most machines show neither to a program.
        let has_frequency = self.samples.iter().any(|row| row.frequency_hz.is_some());
        let has_temperature = self.samples.iter().any(|row| row.temperature_c.is_some());
        titles.extend(has_frequency.then(|| ("GHz".to_owned(), Align::Right)));
        titles.extend(has_temperature.then(|| ("°C".to_owned(), Align::Right)));
        titles.extend(["why", "process"].map(|title| (title.to_owned(), Align::Left)));
        let mut table = Table::new(titles);
        for row in &self.samples {
            let of = |number: Option<u64>| number.map(bytes).unwrap_or_default();
            let why = match &row.label {
                Some(label) => format!("{}: {label}", row.reason),
                None => row.reason.clone(),
            };
            let decimal = |number: Option<f64>, scale: f64| {
                number.map(|number| format!("{:.2}", number / scale)).unwrap_or_default()
            };
            let mut cells = vec![
                row.number.to_string(),
                format!("{:.3} s", row.time_s),
                duration(row.cpu_s),
                of(row.resident_bytes),
                bytes(row.peak_resident_bytes),
                known(row.threads),
                (row.minor_faults + row.major_faults).to_string(),
                of(row.read_by_calls_bytes),
                of(row.written_by_calls_bytes),
                decimal(row.host_load, 1.0),
            ];
            cells.extend(has_frequency.then(|| decimal(row.frequency_hz, 1e9)));
            cells.extend(has_temperature.then(|| decimal(row.temperature_c, 1.0)));
            cells.extend([why, format!("{} {}", row.name, row.process)]);
            table.row(cells.into_iter().map(Cell::from).collect());
        }
        let least = ["°C", "GHz", "load", "threads", "written", "read", "faults", "peak"];
        text.push_str(&table.render_within(&least, style));
        if let Some(cut) = &self.cut {
            let more = format!(" {} later are not shown; --limit N shows more", cut.rows);
            text.push_str(&(style.paint(Paint::Faint, &more) + "\n"));
        }
        let legend = "Amounts are those since the process began; read, written: by system calls, of \
                      whatever; load: of the machine, over a minute.";
        text.push_str(&style.paint(Paint::Faint, &crate::wrap::wrapped(legend, 1, style.width)));
        text + &self.notes.lines(style)
    }

    fn rows(&self) -> Vec<Vec<String>> {
        let heads = [
            "number",
            "process",
            "name",
            "time_s",
            "reason",
            "label",
            "cpu_s",
            "user_s",
            "system_s",
            "minor_faults",
            "major_faults",
            "voluntary_switches",
            "involuntary_switches",
            "peak_resident_bytes",
            "resident_bytes",
            "read_bytes",
            "written_bytes",
            "read_by_calls_bytes",
            "written_by_calls_bytes",
            "read_calls",
            "write_calls",
            "threads",
            "runnable",
            "host_load",
            "frequency_hz",
            "temperature_c",
        ];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(self.samples.iter().map(|row| {
            vec![
                row.number.to_string(),
                row.process.to_string(),
                row.name.clone(),
                exact(row.time_s),
                row.reason.clone(),
                row.label.clone().unwrap_or_default(),
                exact(row.cpu_s),
                exact(row.user_s),
                exact(row.system_s),
                row.minor_faults.to_string(),
                row.major_faults.to_string(),
                row.voluntary_switches.to_string(),
                row.involuntary_switches.to_string(),
                row.peak_resident_bytes.to_string(),
                known(row.resident_bytes),
                known(row.read_bytes),
                known(row.written_bytes),
                known(row.read_by_calls_bytes),
                known(row.written_by_calls_bytes),
                known(row.read_calls),
                known(row.write_calls),
                known(row.threads),
                known(row.runnable),
                row.host_load.map(exact).unwrap_or_default(),
                row.frequency_hz.map(exact).unwrap_or_default(),
                row.temperature_c.map(exact).unwrap_or_default(),
            ]
        }));
        rows
    }
}
