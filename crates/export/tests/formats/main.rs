//! Each format, read back as its readers do: structure, and sums that are those of the run.

mod definition;
mod example;
mod protobuf;
mod schema;

mod firefox;
mod folded;
mod laws;
mod pprof;
mod speedscope;
mod trace;

use proust_account::ledger::Windows;
use proust_export::{Format, write};
use proust_profile::{Metric, Profile};
use proust_query::{Measure, Selection};
use serde_json::Value;

/// The whole profile in a format, by processor time.
fn exported(profile: &Profile, format: Format) -> Vec<u8> {
    exported_by(profile, format, Metric::Cpu)
}

fn exported_by(profile: &Profile, format: Format, metric: Metric) -> Vec<u8> {
    let mut out = Vec::new();
    let selection = Selection::all(profile);
    write(&selection, &Windows::all(), format, Measure::Metric(metric), None, &mut out).expect("an export");
    out
}

fn json(profile: &Profile, format: Format) -> Value {
    serde_json::from_slice(&exported(profile, format)).expect("JSON")
}

/// Nanoseconds of processor time, from the samples themselves.
fn cpu_ns(profile: &Profile) -> u64 {
    profile.samples.iter().map(|row| row.cpu_ns).sum()
}

/// A list in JSON.
fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value}"))
}

#[test]
fn formats_in_time_show_processor_time_alone() {
    let profile = example::profile();
    for spec in proust_export::FORMATS {
        let mut out = Vec::new();
        let measure = Measure::Metric(Metric::Samples);
        let written = write(&Selection::all(&profile), &Windows::all(), spec.format, measure, None, &mut out);
        assert_eq!(written.is_err(), spec.in_time, "{}", spec.id);
    }
}
