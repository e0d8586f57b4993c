//! Work between parallel regions.

use proust_profile::{LocationId, Ns};

use super::super::super::Kind;
use super::super::{Builder, cause, has, near, one};
use proust_log::operations::Operation;

/// A hundred regions of 6 ms, each followed by 4 ms that one thread works alone.
fn serial_parts() -> Builder {
    let mut run = Builder::new(2, 1000);
    let region = run.region("main region", None);
    for step in 0..100 {
        let at_ms = step * 10;
        run.work(0, "main region loop", (at_ms, at_ms + 6)).work(1, "main region loop", (at_ms, at_ms + 6));
        run.work(0, "main smooth", (at_ms + 6, at_ms + 10));
        run.during(1, "main region", Operation::OmpIdle, (at_ms + 6, at_ms + 10));
    }
    run.both(region, Operation::OmpRegionEnd, "main region", [(100, 600, 0, 0); 2]);
    run
}

#[test]
fn serial_work_between_regions_is_told_as_that() {
    let run = serial_parts();
    let found = run.findings();
    let finding = one(&found, Kind::OmpSerialPart);
    near(finding.lost, 0.4);
    assert_eq!((cause(finding), finding.account.as_str()), ("smooth", "serial"));
    assert!(!has(&found, Kind::IdlePool) && !has(&found, Kind::SerialPhase), "{found:#?}");
}

/// The thread that opens regions and their members are alike. Its work before them is a phase: no task of the
/// team that another member could have had.
#[test]
fn serial_work_before_regions_is_no_long_task() {
    let mut run = Builder::new(2, 1000);
    let region = run.region("main region", None);
    run.work(0, "main fill", (0, 400));
    run.work(0, "main region loop", (400, 1000)).work(1, "main region loop", (400, 1000));
    run.profile.locations[LocationId(1)].start = Ns::from_seconds(0.4);
    run.both(region, Operation::OmpRegionEnd, "main region", [(1, 600, 0, 0); 2]);
    let found = run.findings();
    assert!(!has(&found, Kind::LongTask), "{found:#?}");
    let finding = one(&found, Kind::SerialPhase);
    near(finding.lost, 0.4);
    assert_eq!(cause(finding), "fill");
}

/// Members that wait for the next region look for it before they sleep: the processors that a serial part
/// leaves empty are in use, and could be used for something else.
#[test]
fn serial_work_between_regions_is_found_though_the_others_keep_their_processors() {
    let mut run = serial_parts();
    for step in 0..100 {
        run.work(1, "main region", (step * 10 + 6, step * 10 + 10));
    }
    let found = run.findings();
    let finding = one(&found, Kind::OmpSerialPart);
    near(finding.recoverable, 0.4);
}

/// LLVM's members look for a fifth of a second, also beside parts that are long.
#[test]
fn a_long_part_between_regions_is_found_though_the_others_keep_their_processors() {
    let mut run = Builder::new(2, 1000);
    let region = run.region("main region", None);
    for at_ms in (0..1000).step_by(100) {
        run.work(0, "main region loop", (at_ms, at_ms + 60)).work(1, "main region loop", (at_ms, at_ms + 60));
        run.work(0, "main smooth", (at_ms + 60, at_ms + 100));
        run.work(1, "main region", (at_ms + 60, at_ms + 100));
        run.during(1, "main region", Operation::OmpIdle, (at_ms + 60, at_ms + 100));
    }
    run.both(region, Operation::OmpRegionEnd, "main region", [(10, 600, 0, 0); 2]);
    let found = run.findings();
    let finding = one(&found, Kind::SerialPhase);
    assert_eq!(cause(finding), "smooth");
    near(finding.lost, 0.4);
    near(finding.recoverable, 0.4);
}

#[test]
fn a_member_that_wakes_late_does_not_wait_for_more_work() {
    let mut run = Builder::new(2, 1000);
    let region = run.region("main region", None);
    for step in 0..100 {
        let at_ms = step * 10;
        run.work(0, "main region loop", (at_ms, at_ms + 10));
        run.during(1, "main region", Operation::OmpIdle, (at_ms, at_ms + 3));
        run.work(1, "main region loop", (at_ms + 3, at_ms + 10));
    }
    run.both(region, Operation::OmpRegionEnd, "main region", [(100, 1000, 0, 0); 2]);
    let found = run.findings();
    assert!(!has(&found, Kind::IdlePool), "{found:#?}");
}

/// The other members have nothing to do between regions, so time in line before or after is not the reason.
#[test]
fn serial_work_between_regions_is_found_though_its_thread_stood_in_line() {
    let mut run = Builder::new(2, 1000);
    let region = run.region("main region", None);
    for step in 0..100 {
        let at_ms = step * 10;
        run.work(0, "main region loop", (at_ms, at_ms + 1)).work(1, "main region loop", (at_ms, at_ms + 7));
        run.work(0, "main smooth", (at_ms + 4, at_ms + 10));
        run.during(1, "main region", Operation::OmpIdle, (at_ms + 7, at_ms + 10));
    }
    run.profile.locations[LocationId(0)].queued = Ns::from_seconds(0.3);
    run.both(region, Operation::OmpRegionEnd, "main region", [(100, 600, 0, 0); 2]);
    let found = run.findings();
    let finding = one(&found, Kind::OmpSerialPart);
    // Where in a millisecond or two it queued is not known: some of that is taken from `smooth`.
    assert!((0.24..=0.3).contains(&finding.lost.as_seconds()), "{finding:#?}");
    assert_eq!(cause(finding), "smooth");
}
