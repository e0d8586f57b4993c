//! Libraries and interpreters of which a remedy is known.

use std::path::Path;

use serde_json::Value;

use super::{findings, of_kind};
use crate::programs::{built, folder, has};
use crate::python::read_interpreters;
use crate::recording::{Recorded, number, record};

/// The kinds that are told of libraries, each with a story here.
pub(super) const KINDS: [&str; 6] = [
    "blocked-loop",
    "exception-churn",
    "interpreter-lock",
    "library-lock",
    "process-exchange",
    "slow-library",
];

/// Where Debian has the reference implementation of BLAS.
const REFERENCE: &str = "/usr/lib/x86_64-linux-gnu/blas/libblas.so.3";

/// What was saved lies within the run.
fn assert_range(run: &Recorded, finding: &Value) {
    let (low_s, high_s) = (number(finding, "/low_s"), number(finding, "/high_s"));
    let wall_s = number(&run.page::<Value>("summary", &[]), "/run/wall_s");
    assert!(0.0 <= low_s && low_s <= high_s && high_s <= wall_s, "{low_s} to {high_s} of {wall_s}");
}

#[test]
fn the_lock_of_pythons_interpreter() {
    if !has("python3") {
        println!("SKIP: python3 is not installed");
        return;
    }
    let script = folder().join("findings/interpreter.py");
    let run = |how: &str| record("python3", &[script.to_str().unwrap(), how]).succeeded();
    let threads = run("threads");
    let found = findings(&threads);
    // Without its lock an interpreter has none to wait for.
    if threads.truth()["has_lock"] == false {
        println!("SKIP: this Python has no such lock");
        return;
    }
    let finding = of_kind(&found, "interpreter-lock").unwrap_or_else(|| panic!("{found:#?}"));
    assert!(finding["title"].as_str().unwrap().contains("interpreter's lock"), "{finding:#}");
    assert_ne!(finding["cause"]["function"], "[unknown]", "{finding:#}");
    assert_range(&threads, finding);
    assert!(of_kind(&found, "long-section").is_none(), "one loss, one finding: {found:#?}");
    let found = findings(&run("processes"));
    assert!(of_kind(&found, "interpreter-lock").is_none(), "{found:#?}");
}

/// A script's own lock is no matter of the interpreter's.
#[test]
fn a_lock_of_a_script_is_held_while_its_holder_sleeps() {
    let Some(python) = read_interpreters().into_iter().next() else { return };
    let script = folder().join("findings/script_lock.py");
    let run = |how: &str| record(&python.path, &[script.to_str().unwrap(), how]).succeeded();
    let within = run("within");
    let found = findings(&within);
    let finding = of_kind(&found, "lock-across-sleep").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(finding["cause"]["function"], "pause_locked", "{finding:#}");
    let (lost_s, truth_s) = (number(finding, "/lost_s"), number(&within.truth(), "/lost_s"));
    // The holder's sleep leaves a processor empty, too.
    let range = 0.75 * truth_s..=2.25 * truth_s;
    assert!(range.contains(&lost_s), "{lost_s} s are found, {truth_s} s were lost");
    // Its holder may lose the processor to another program, and little is lost by that.
    let of_interpreter = of_kind(&found, "interpreter-lock");
    assert!(of_interpreter.is_none_or(|other| number(other, "/lost_s") < 0.1 * lost_s), "{found:#?}");
    let found = findings(&run("outside"));
    assert!(of_kind(&found, "lock-across-sleep").is_none(), "{found:#?}");
}

#[test]
fn exceptions_thrown_all_the_time() {
    let Some(program) = built("exceptions") else { return };
    let all = record(&program, &["3"]).succeeded();
    let found = findings(&all);
    let finding = of_kind(&found, "exception-churn").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(finding["cause"]["function"], "frame", "{finding:#}");
    let (lost_s, truth_s) = (number(finding, "/lost_s"), number(&all.truth(), "/throwing_s"));
    // Not all that is between the throw and the catch is spent in the unwinder; samples represent 10 ms each.
    let chance_s = 3.0 * (truth_s * 0.01).sqrt();
    let range = 0.5 * truth_s - chance_s..=1.1 * truth_s + chance_s;
    assert!(range.contains(&lost_s), "{lost_s} of {truth_s} s are found");
    let found = findings(&record(program, &["1", "1000"]).succeeded());
    assert!(of_kind(&found, "exception-churn").is_none(), "{found:#?}");
}

#[test]
fn data_that_processes_of_python_hand_to_each_other() {
    let Some(python) = read_interpreters().into_iter().next() else { return };
    let script = folder().join("findings/exchange.py");
    let run = |how: &str| record(&python.path, &[script.to_str().unwrap(), how]).succeeded();
    let sent = run("sent");
    let found = findings(&sent);
    let finding = of_kind(&found, "process-exchange").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(finding["cause"]["function"], "main", "{finding:#}");
    let lines = 28.0..=29.0;
    assert!(lines.contains(&number(finding, "/cause/line")), "{finding:#}");
    assert_range(&sent, finding);
    let inherited = run("inherited");
    let found = findings(&inherited);
    assert!(of_kind(&found, "process-exchange").is_none(), "{found:#?}");
    // What the second saves is what was found.
    let cpu_s = |run: &Recorded| number(&run.truth(), "/cpu_s");
    let saved_s = cpu_s(&sent) - cpu_s(&inherited);
    let lost_s = number(finding, "/lost_s");
    assert!((0.5..2.0).contains(&(lost_s / saved_s)), "{lost_s} s are found, {saved_s} s saved");
}

#[test]
fn a_coroutine_that_keeps_the_event_loop() {
    let Some(python) = read_interpreters().into_iter().next() else { return };
    let script = folder().join("findings/event_loop.py");
    let run = |how: &str| record(&python.path, &[script.to_str().unwrap(), how]).succeeded();
    let kept = run("kept");
    let found = findings(&kept);
    let available = number(&kept.page::<Value>("summary", &[]), "/run/available_processors");
    if available < 2.0 {
        println!("SKIP: one processor has no other that could do the loop's work");
        return;
    }
    let finding = of_kind(&found, "blocked-loop").unwrap_or_else(|| panic!("{found:#?}"));
    assert_eq!(finding["cause"]["function"], "slow_hash", "{finding:#}");
    assert_eq!(finding["account"], "serial", "{finding:#}");
    // On two processors as much of another one is empty as the hashes take, which is nearly all.
    let truth = kept.truth();
    let part = number(finding, "/lost_s") / number(&truth, "/cpu_s");
    assert!((0.8..1.1).contains(&part), "{part} of {truth:#}: {finding:#}");
    assert_range(&kept, finding);
    let found = findings(&run("handed"));
    assert!(of_kind(&found, "blocked-loop").is_none(), "{found:#?}");
}

#[test]
fn a_lock_of_the_library_that_all_threads_call() {
    let Some(program) = built("libraries/callers") else { return };
    for (how, is_found) in [("locked", true), ("free", false)] {
        let run = record(&program, &["0.6", how]).succeeded();
        let found = findings(&run);
        let finding = of_kind(&found, "library-lock");
        assert_eq!(finding.is_some(), is_found, "{how}: {found:#?}");
        if let Some(finding) = finding {
            assert_eq!(finding["library"], "libopenblas_own.so", "{finding:#}");
            assert_eq!(finding["cause"]["function"], "product", "{finding:#}");
            assert_range(&run, finding);
        }
    }
}

#[test]
fn the_reference_implementation_of_blas() {
    let Some(program) = built("libraries/multiply") else { return };
    if !Path::new(REFERENCE).exists() {
        println!("SKIP: {REFERENCE} is not installed");
        return;
    }
    for (how, is_found) in [("reference", true), ("own", false)] {
        let run = record(&program, &["0.5", how, REFERENCE]).succeeded();
        let found = findings(&run);
        let finding = of_kind(&found, "slow-library");
        assert_eq!(finding.is_some(), is_found, "{how}: {found:#?}");
        if let Some(finding) = finding {
            assert_eq!(finding["cause"]["function"], "multiply", "{finding:#}");
            // All but a little of the program's time is spent there, by its own clock.
            let (lost_s, inside_s) = (number(finding, "/lost_s"), number(&run.truth(), "/inside_s"));
            assert!(
                lost_s > 0.4 * inside_s && lost_s < 0.9 * inside_s,
                "{lost_s} of {inside_s}: {finding:#}"
            );
            assert_range(&run, finding);
        }
    }
}
