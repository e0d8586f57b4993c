//! How far amounts of CPU time may be from the truth, since it was sampled.

use proust_profile::{Context, ContextKind, LocationId, Metric, Process, ProcessId, Value};

use super::{profile, select};
use crate::{Amounts, OnPath, Selection};

#[test]
fn errors_come_from_the_weights_and_vanish_for_the_total() {
    let profile = profile();
    // Of the samples; the profile's values have no squares.
    let errors = Amounts::errors_by_context(&select(&profile, "time=..100s"));
    assert_eq!(errors.inclusive[0], 0.0);
    // Σ w² is 49 here and 35 elsewhere, at a share of 7 in 20.
    let expected = (49.0f64 * 0.65_f64.powi(2) + 35.0 * 0.35_f64.powi(2)).sqrt();
    assert!((errors.inclusive[11] - expected).abs() < 1e-12);
}

#[test]
fn a_line_that_is_on_one_path_has_the_error_of_its_context() {
    let profile = profile();
    let selection = select(&profile, "time=..100s");
    let lines = OnPath::lines(&profile, selection.forest());
    let (errors, by_context) = (lines.errors(&selection), Amounts::errors_by_context(&selection));
    let mut compared = 0;
    for (row, &(file, line)) in lines.keys.iter().enumerate() {
        let is_it = |context: &Context| {
            let place = (context.file.as_deref(), context.line);
            context.kind == ContextKind::Line && place == (Some(file), Some(line))
        };
        let of: Vec<_> = profile.contexts.iter_enumerated().filter(|(_, context)| is_it(context)).collect();
        if let [(id, _)] = of[..] {
            assert_eq!(errors.exclusive[row], by_context.exclusive[id.index()]);
            compared += usize::from(errors.exclusive[row] > 0.0);
        }
    }
    assert!(compared > 0, "{errors:?}");
}

/// The errors of a page of one process are those of a run of this process alone, however long others
/// worked and however rarely they were sampled.
#[test]
fn errors_of_a_process_are_its_own() {
    let mut profile = profile();
    profile.processes.push(Process { pid: 9, ..profile.processes[ProcessId(0)].clone() });
    profile.locations[LocationId(1)].process = ProcessId(1);
    // Each sample of the main thread stands for 1 s, each of the worker's for 10 ms.
    let squares = |value: &Value| {
        let weight_us = if value.location == LocationId(1) { 10_000 } else { 1_000_000 };
        Value { metric: Metric::CpuSquares, amount: value.amount / 1000 * weight_us, ..*value }
    };
    let cpu = profile.values.iter().filter(|value| value.metric == Metric::Cpu);
    let squares: Vec<Value> = cpu.map(squares).collect();
    profile.values.extend(squares);
    profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    let mut alone = profile.clone();
    alone.values.retain(|value| value.location == LocationId(1));
    let found = Amounts::errors_by_function(&select(&profile, "process=p1"));
    let expected = Amounts::errors_by_function(&Selection::all(&alone));
    assert_eq!((&found.exclusive, &found.inclusive), (&expected.exclusive, &expected.inclusive));
    let largest = found.inclusive.iter().copied().fold(0.0, f64::max);
    assert!(largest > 0.0 && largest < 0.5, "10 s by samples of 10 ms: {found:?}");
}
