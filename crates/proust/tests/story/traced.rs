//! Threads that ask to be traced stop at each signal until their tracer looks: none of ours may come.

use std::process::Command;

use crate::command::run;
use crate::programs::built;
use crate::recording::{number, record, truth_in};

#[test]
fn a_child_that_is_traced_stops_at_its_exec_and_not_before() {
    let Some(program) = built("traced_children") else { return };
    let alone = truth_in(&run(Command::new(&program).arg("0.2")));
    if number(&alone, "/by_function") != number(&alone, "/of_exec") {
        println!("SKIP: nobody may be traced here");
        return;
    }
    let run = record(&program, &["0.2"]).succeeded();
    assert_eq!(run.truth(), alone);
}

#[test]
fn a_process_that_is_traced_by_nobody_goes_on() {
    let Some(program) = built("traced_children") else { return };
    let run = record(&program, &["0.3", "self"]).succeeded();
    assert_eq!(number(&run.truth(), "/result"), 0.0);
    assert!(run.threads().locations.iter().map(|thread| thread.cpu_s).sum::<f64>() > 0.29);
}

/// The parent of a recorded command is `record`, which no program asks to trace it: it lets the command go
/// on.
#[test]
fn a_process_that_asks_its_parent_to_trace_it_gets_its_signals() {
    let Some(program) = built("traced_children") else { return };
    let run = record(program, &["0.1", "signal"]).succeeded();
    let truth = run.truth();
    if number(&truth, "/result") != 0.0 {
        println!("SKIP: nobody may be traced here");
        return;
    }
    assert_eq!(number(&truth, "/handled"), 3.0);
}
