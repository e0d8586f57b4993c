//! The call-path memo never changes a path: in its debug mode every path is compared with a full unwind.

use crate::programs::built;
use crate::recording::record_with;

fn assert_no_mismatch(program: &str, arguments: &[&str]) {
    let Some(program) = built(program) else { return };
    let run = record_with(&["--check-paths", "--rate", "1000"], program, arguments).succeeded();
    let checks = run.quality().quality;
    let samples = run.summary().quality.samples;
    assert!(checks.paths_compared > 0, "{checks:?}");
    assert!(checks.paths_compared as f64 >= 0.9 * samples as f64, "{checks:?} of {samples} samples");
    assert_eq!(checks.path_mismatches, 0, "{checks:?}");
}

#[test]
fn paths_that_hardly_ever_repeat() {
    assert_no_mismatch("deep_and_shallow", &["4"]);
}

#[test]
fn exceptions() {
    assert_no_mismatch("exceptions", &["3"]);
}

#[test]
fn deep_recursion() {
    assert_no_mismatch("recursion", &["3", "3000"]);
}

#[test]
fn split_stacks() {
    assert_no_mismatch("hostile_split", &["pieces"]);
}

#[test]
fn libraries_at_one_address() {
    assert_no_mismatch("plugins", &["3", "reopen"]);
}

#[test]
fn signal_handlers() {
    assert_no_mismatch("signals", &["3"]);
}

#[test]
fn threads_that_come_and_go() {
    assert_no_mismatch("threads_any_way", &["3"]);
}

#[test]
fn a_rust_thread_pool() {
    assert_no_mismatch("rayon-sum", &["2"]);
}

/// Who ends a process looks at the stacks of the others, which may go on at any moment.
#[test]
fn threads_that_go_on_while_the_process_ends() {
    assert_no_mismatch("ends_while_yielding", &["400"]);
}

#[test]
fn a_process_tree() {
    assert_no_mismatch("process_tree", &["3"]);
}
