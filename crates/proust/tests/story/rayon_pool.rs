//! Rust: a rayon pool and named threads.

use crate::chance::assert_close;
use crate::programs::built;
use crate::recording::{list, number, record};

#[test]
fn every_pool_thread_has_its_time() {
    let Some(program) = built("rayon-sum") else { return };
    let run = record(program, &["2", "3"]).succeeded();
    let truth = run.truth();
    let threads = run.threads();
    for thread in list(&truth, "/pool").iter().chain(list(&truth, "/named")) {
        let found = threads.thread(number(thread, "/tid") as u64);
        assert_eq!(found.name, thread["name"].as_str().unwrap());
        // A pool thread goes on for a moment after it read its clock: it looks for more work.
        let cpu_s = number(thread, "/cpu_s");
        assert_close(&found.name, found.cpu_s, cpu_s, 0.01 * cpu_s + 0.01);
    }
    let flat = run.flat();
    let share = flat.cpu("burn_chunk").inclusive / flat.total("cpu_s");
    assert!(share > 0.85, "the pool computed, the report says {share} of the time");
    // Of the named threads' work nothing is charged to the pool.
    let named: f64 = list(&truth, "/named").iter().map(|thread| number(thread, "/cpu_s")).sum();
    assert_close("named work", flat.cpu("named_work").inclusive, named, 0.02 * named + 0.01);
    run.assert_trustworthy();
}
