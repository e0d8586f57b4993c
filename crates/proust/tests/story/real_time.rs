//! Threads of real-time priority: what stops everybody else on its processor must not wait for them.

use std::process::Command;

use crate::command::run;
use crate::programs::built;
use crate::recording::{number, record, truth_in};

/// So much more processor time than alone no call may take, in seconds. One that waits for a thread that it
/// keeps from running takes what the kernel gives real-time threads at most: 0.95 of each second.
const MOST_S: f64 = 0.3;

#[test]
fn who_stops_all_others_does_not_wait_for_them() {
    let Some(program) = built("real_time") else { return };
    let alone = run(Command::new(&program).arg("0.3"));
    if alone.status.code() == Some(3) {
        println!("SKIP: threads of real-time priority are not permitted here");
        return;
    }
    let alone = truth_in(&alone);
    let truth = record(&program, &["0.3"]).succeeded().truth();
    assert!(number(&truth, "/calls") > 100.0, "{truth}");
    assert!(number(&truth, "/most_s") < number(&alone, "/most_s") + MOST_S, "{truth}, alone {alone}");
}
