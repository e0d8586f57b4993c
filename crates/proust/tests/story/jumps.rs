//! Handlers that leave hooked calls by a jump or for another context, at any moment.

use crate::programs::built;
use crate::recording::{number, record};

#[test]
fn a_thread_that_jumped_out_of_thousands_of_calls_is_measured_as_before() {
    let Some(program) = built("hostile_jumps") else { return };
    let run = record(&program, &[] as &[&str]).succeeded();
    let truth = run.truth();
    let late_s = number(&truth, "/late_work_s");
    let flat = run.flat();
    let found_s = flat.cpu("late_work").inclusive;
    assert!(found_s >= 0.8 * late_s, "{found_s} s of {late_s} s found: {:#?}", flat.functions);
    assert!(found_s <= 1.2 * late_s, "{found_s} s of {late_s} s found: {:#?}", flat.functions);
}
