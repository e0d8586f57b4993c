//! Page faults: who touched, and when.

use super::super::Kind;
use super::{Builder, cause, has, near, one};

#[test]
fn memory_that_one_thread_touches_for_all_is_told() {
    let mut run = Builder::new(3, 1000);
    run.work_with(0, "main fill", (0, 200), 60, 50_000);
    run.work(1, "worker use", (200, 1000)).work(2, "worker use", (200, 1000));
    let found = run.findings();
    let finding = one(&found, Kind::FirstTouch);
    near(finding.lost_s, 0.12 / 2.0);
    assert_eq!((cause(finding), finding.account.as_str()), ("fill", "fault"));
    assert!(!has(&found, Kind::FaultStartup) && !has(&found, Kind::SystemStorm));
}

#[test]
fn each_touching_its_own_is_no_first_touch() {
    let mut run = Builder::new(2, 1000);
    run.work_with(0, "main fill", (0, 100), 60, 25_000).work_with(1, "worker fill", (0, 100), 60, 25_000);
    run.work(0, "main use", (100, 1000)).work(1, "worker use", (100, 1000));
    assert!(!has(&run.findings(), Kind::FirstTouch));
}

#[test]
fn a_start_that_touches_much_is_told() {
    let run = |faults: u32| {
        let mut run = Builder::new(1, 1000);
        run.work_with(0, "main fill", (0, 200), 60, faults).work(0, "main use", (200, 1000));
        run.findings()
    };
    let found = run(50_000);
    let finding = one(&found, Kind::FaultStartup);
    near(finding.lost_s, 0.12);
    assert_eq!(cause(finding), "fill");
    assert!(!has(&run(1_000), Kind::FaultStartup));
}

#[test]
fn memory_that_is_touched_anew_all_the_time_is_told() {
    let mut run = Builder::new(1, 1000);
    for at_ms in (0..1000).step_by(20) {
        run.work_with(0, "main step", (at_ms, at_ms + 12), 60, 3_000).work(
            0,
            "main use",
            (at_ms + 12, at_ms + 20),
        );
    }
    let found = run.findings();
    let finding = one(&found, Kind::FaultChurn);
    near(finding.lost_s, 0.36);
    assert_eq!(cause(finding), "step");
}
