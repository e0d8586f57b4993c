//! How much memory a process had resident at once: the kernel's own count, however it ended.

use serde_json::Value;

use crate::explained::Except;
use crate::programs::built;
use crate::recording::{number, record};

/// What the collector and the program's end may add after the program has looked, KiB.
const MORE_KIB: f64 = 4096.0;

fn assert_peak(how: &str) {
    let Some(program) = built("resident") else { return };
    let run = record(&program, &["0.3", how, "96"]);
    if how == "killed" {
        run.except(Except::Killed);
    }
    let truth = run.truth();
    let found = number(&run.page::<Value>("summary", &[]), "/run/peak_resident_bytes") / 1024.0;
    // Several blocks were touched in turn, so that a sum would be far off.
    assert!(number(&truth, "/blocks") >= 3.0, "{truth}");
    assert!(number(&truth, "/faults") * 4.0 > 2.5 * found, "{truth}: {found} KiB");
    let (least, most) = (number(&truth, "/peak_kib"), number(&truth, "/maxrss_kib") + MORE_KIB);
    assert!(found >= least && found <= most, "{found} KiB found, {truth}");
}

#[test]
fn the_peak_of_a_process_that_returns() {
    assert_peak("return");
}

#[test]
fn the_peak_of_a_process_that_is_killed() {
    assert_peak("killed");
}
