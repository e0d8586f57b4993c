//! The environment variables that a sweep sets and notes: counts of threads, and how threads are bound to
//! processors.

use std::collections::BTreeMap;
use std::env;
use std::fs;

use proust_profile::notes::SweepFileNote;
use proust_profile::sweep_file::{Axis, Binding, THREADS};

/// Variables from which runtimes take their count of threads: both OpenMP runtimes, and rayon.
const COUNTS: [&str; 2] = ["OMP_NUM_THREADS", "RAYON_NUM_THREADS"];
/// Variables that bind threads to processors.
const BINDING: [&str; 4] = ["OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"];

/// The variables that make `threads` threads.
pub fn counts(threads: Option<&str>) -> Vec<(String, String)> {
    let Some(threads) = threads else { return Vec::new() };
    COUNTS.map(|name| (name.to_owned(), threads.to_owned())).into()
}

/// How threads are bound, as far as can be known before they are there.
pub fn binding() -> Binding {
    let variables: BTreeMap<String, String> =
        BINDING.into_iter().filter_map(|name| Some((name.to_owned(), env::var(name).ok()?))).collect();
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let affinity = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:"));
    Binding { variables, affinity: affinity.unwrap_or("").trim().to_owned() }
}

/// Name of this host.
pub fn host() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").map(|name| name.trim().to_owned()).unwrap_or_default()
}

/// The user's variables that are overridden, or that interfere.
pub fn notes(axes: &[Axis]) -> Vec<SweepFileNote> {
    notes_from(axes, |name| env::var(name).ok())
}

fn notes_from(axes: &[Axis], variable: impl Fn(&str) -> Option<String>) -> Vec<SweepFileNote> {
    let Some(threads) = axes.iter().find(|axis| axis.name == THREADS) else { return Vec::new() };
    let mut notes = Vec::new();
    for name in COUNTS {
        if let Some(value) = variable(name) {
            notes.push(SweepFileNote::VariableOverridden { variable: name.into(), value });
        }
    }
    let most = threads.values.iter().filter_map(|value| value.parse::<u32>().ok()).max().unwrap_or(0);
    if let Some(limit) = variable("OMP_THREAD_LIMIT")
        && limit.trim().parse::<u32>().is_ok_and(|limit| limit < most)
    {
        notes.push(SweepFileNote::ThreadLimit { limit, most });
    }
    if variable("OMP_DYNAMIC").is_some_and(|value| value.trim().eq_ignore_ascii_case("true")) {
        notes.push(SweepFileNote::DynamicThreads {});
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_overridden_or_in_the_way_is_told() {
        let axes = [Axis { name: THREADS.into(), values: vec!["1".into(), "4".into()] }];
        let set = |name: &str| match name {
            "OMP_NUM_THREADS" => Some("8".to_owned()),
            "OMP_THREAD_LIMIT" => Some("2".to_owned()),
            "OMP_DYNAMIC" => Some("TRUE".to_owned()),
            _ => None,
        };
        let overridden =
            SweepFileNote::VariableOverridden { variable: "OMP_NUM_THREADS".into(), value: "8".into() };
        let limited = SweepFileNote::ThreadLimit { limit: "2".into(), most: 4 };
        assert_eq!(notes_from(&axes, set), [overridden, limited, SweepFileNote::DynamicThreads {}]);
        assert!(notes_from(&axes, |_| None).is_empty());
        assert!(notes_from(&[], set).is_empty());
    }

    #[test]
    fn affinity_is_known() {
        assert!(!binding().affinity.is_empty());
    }
}
