//! Serial phases, long tasks, idle pools, late threads.

use proust_log::operations::Operation;

use super::super::{Kind, Sure};
use super::{Builder, cause, has, near, one};

#[test]
fn who_works_alone_first_is_a_serial_phase() {
    let mut run = Builder::new(3, 1000);
    run.work(0, "main prepare", (0, 400));
    run.during(0, "main", Operation::Join, (400, 1000));
    run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
    let found = run.findings();
    let finding = one(&found, Kind::SerialPhase);
    near(finding.lost_s, 0.4);
    assert_eq!((cause(finding), finding.account.as_str()), ("prepare", "serial"));
    assert_eq!(finding.sure, Sure::Certain);
    assert!(!has(&found, Kind::LongTask) && !has(&found, Kind::IdlePool));
}

#[test]
fn a_helper_that_many_call_is_not_the_phase() {
    let mut run = Builder::new(3, 1000);
    run.work(0, "main prepare burn", (0, 400));
    run.during(0, "main", Operation::Join, (400, 1000));
    run.work(1, "worker solve burn", (400, 1000)).work(2, "worker solve burn", (400, 1000));
    let found = run.findings();
    let finding = one(&found, Kind::SerialPhase);
    assert_eq!(cause(finding), "prepare");
    // The line in it that calls the helper.
    assert_eq!(finding.cause.line, Some(107));
}

#[test]
fn one_of_several_alike_that_goes_on_alone_has_the_long_task() {
    let run = |first_ms: u64, second_ms: u64| {
        let mut run = Builder::new(3, 1000);
        run.during(0, "main", Operation::Join, (0, 1000));
        run.work(1, "worker task", (0, first_ms)).work(2, "worker task", (0, second_ms));
        run.profile.locations[1].end_s = first_ms as f64 / 1e3;
        run.profile.locations[2].end_s = second_ms as f64 / 1e3;
        run.findings()
    };
    let found = run(400, 1000);
    let finding = one(&found, Kind::LongTask);
    near(finding.lost_s, 0.6);
    assert_eq!(cause(finding), "task");
    assert!(!has(&run(1000, 1000), Kind::LongTask));
}

#[test]
fn who_is_late_for_want_of_a_processor_has_no_long_task() {
    // Both have 400 ms to do; one of them does not get a processor for the first 600 ms.
    let mut run = Builder::new(3, 1000);
    run.during(0, "main", Operation::Join, (0, 1000));
    run.work(1, "worker task", (0, 400)).work(2, "worker task", (600, 1000));
    run.profile.locations[1].end_s = 0.4;
    run.profile.locations[2].queued_s = 0.6;
    let found = run.findings();
    assert!(!has(&found, Kind::LongTask), "{found:#?}");
}

#[test]
fn threads_that_wait_for_work_again_and_again_have_too_few_tasks() {
    let run = |make_ms: u64, use_ms: u64| {
        let mut run = Builder::new(2, 1200);
        let every_ms = make_ms.max(use_ms);
        for item in 0..1200 / every_ms {
            let at_ms = item * every_ms;
            run.work(0, "main produce", (at_ms, at_ms + make_ms));
            run.work(1, "worker consume", (at_ms, at_ms + use_ms));
            if use_ms < every_ms {
                run.during(1, "worker wait", Operation::ConditionWait, (at_ms + use_ms, at_ms + every_ms));
            }
        }
        run.findings()
    };
    let found = run(12, 2);
    let finding = one(&found, Kind::IdlePool);
    near(finding.lost_s, 1.0);
    assert_eq!(cause(finding), "produce");
    assert_eq!(finding.victims[0].place.function.as_deref(), Some("wait"));
    assert!(!has(&run(12, 12), Kind::IdlePool));
}

#[test]
fn a_barrier_waits_for_who_has_more_to_do() {
    let run = |late_ms: u64, early_ms: u64, queued_s: f64| {
        let mut run = Builder::new(2, 1000);
        for time in 0..10 {
            let at_ms = time * 100;
            run.work(0, "main small", (at_ms, at_ms + early_ms));
            run.work(1, "worker large", (at_ms + 99 - late_ms, at_ms + 99));
            run.during(0, "main meet", Operation::Barrier, (at_ms + early_ms, at_ms + 100)).object = 0x10;
            run.during(1, "worker meet", Operation::Barrier, (at_ms + 99, at_ms + 100)).object = 0x10;
        }
        run.profile.locations[1].queued_s = queued_s;
        run.findings()
    };
    let found = run(99, 40, 0.0);
    let finding = one(&found, Kind::LateThread);
    near(finding.lost_s, 0.59);
    assert_eq!((cause(finding), finding.account.as_str()), ("large", "barrier"));
    // It has as much to do, but stood in the run queue.
    assert!(!has(&run(40, 40, 0.59), Kind::LateThread));
}

#[test]
fn who_worked_alone_before_does_not_hide_a_late_thread() {
    let mut run = Builder::new(2, 4000);
    run.work(0, "main serial", (0, 2000));
    run.during(1, "worker begin", Operation::ConditionWait, (0, 2000));
    for time in 0..20 {
        let at_ms = 2000 + time * 100;
        run.work(0, "main small", (at_ms, at_ms + 40));
        run.work(1, "worker large", (at_ms, at_ms + 99));
        run.during(0, "main meet", Operation::Barrier, (at_ms + 40, at_ms + 100)).object = 0x10;
        run.during(1, "worker meet", Operation::Barrier, (at_ms + 99, at_ms + 100)).object = 0x10;
    }
    let found = run.findings();
    let finding = one(&found, Kind::LateThread);
    assert_eq!(cause(finding), "large");
    // But for the first time, before which the one worked alone for as long as the other one had no work.
    assert!(finding.lost_s > 0.9 * 20.0 * 0.059, "{finding:#?}");
}
