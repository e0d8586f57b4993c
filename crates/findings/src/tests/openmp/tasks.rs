//! Tasks that are too small, and tasks that are executed one after the other.

use super::super::super::{Finding, Kind, Sure};
use super::super::{Builder, cause, has, near, one};
use super::half_waiting;
use proust_log::operations::Operation;
use proust_profile::{LocationId, Ns};

#[test]
fn tasks_that_cost_more_to_make_than_to_do() {
    let run = |tasks: u64| {
        let mut run = half_waiting(400);
        let region = run.region("main region", None);
        run.both(region, Operation::OmpTask, "main region loop", [(tasks, 400, 0, 0); 2]);
        run.both(region, Operation::OmpRegionEnd, "main region", [(1, 0, 600, 0); 2]);
        run.findings()
    };
    let found = run(1_000_000);
    let finding = one(&found, Kind::OmpSmallTasks);
    near(finding.lost, 1.2);
    assert_eq!(cause(finding), "loop");
    assert!(!has(&run(1_000), Kind::OmpSmallTasks));
}

/// So many tasks in regions of 10 ms each, by the threads that `workers` names; who does none waits for the
/// end. As much other work as given.
fn tasks(count: u64, workers: fn(u64) -> &'static [u32], other_work_ms: u64) -> Vec<Finding> {
    tasks_beside_others(count, workers, other_work_ms, 0.0)
}

/// As [`tasks`], where thread 0 was in the run queue for so long.
fn tasks_beside_others(
    count: u64,
    workers: fn(u64) -> &'static [u32],
    other_work_ms: u64,
    queued_s: f64,
) -> Vec<Finding> {
    let mut run = Builder::new(2, 1000);
    let (mut worked_ms, mut waited_ms) = ([0, 0], [0, 0]);
    for step in 0..100 {
        let times = (step * 10, step * 10 + 10);
        for thread in 0..2 {
            let (works, at) = (workers(step).contains(&thread), thread as usize);
            if works {
                run.work(thread, "main region part", times);
                worked_ms[at] += 10;
            } else {
                run.during(thread, "main region", Operation::OmpRegionEnd, times);
                waited_ms[at] += 10;
            }
        }
    }
    let region = run.region("main region", None);
    let done = worked_ms.map(|ms| (count / 2, ms, 0, 0));
    run.both(region, Operation::OmpTask, "main region part", done);
    let ends = waited_ms.map(|ms| (100, other_work_ms, ms, 0));
    run.both(region, Operation::OmpRegionEnd, "main region", ends);
    run.profile.locations[LocationId(0)].queued = Ns::from_seconds(queued_s);
    run.findings()
}

#[test]
fn who_has_no_processor_cannot_take_tasks() {
    let found = |queued_s| {
        let found = tasks_beside_others(1000, |_| &[1], 0, queued_s);
        found.iter().find(|one| one.kind == Kind::OmpSerialTasks).map(|one| one.sure)
    };
    assert_eq!([0.05, 0.15, 0.5].map(found), [Some(Sure::Likely), Some(Sure::Possible), None]);
}

#[test]
fn tasks_that_are_executed_one_after_the_other() {
    // All by the same thread, or each region's by one of the two.
    for workers in [(|_| &[1][..]) as fn(u64) -> _, |step| if step % 2 == 0 { &[0] } else { &[1] }] {
        let found = tasks(1000, workers, 0);
        let finding = one(&found, Kind::OmpSerialTasks);
        near(finding.lost, 1.0);
        assert_eq!((cause(finding), finding.sure), ("part", Sure::Likely));
        assert!(!has(&found, Kind::LateThread) && !has(&found, Kind::LateWork), "{found:#?}");
    }
    // Few large ones; half of them at the same time; beside as much other work.
    assert!(!has(&tasks(4, |_| &[1], 0), Kind::OmpSerialTasks));
    assert!(!has(&tasks(1000, |step| if step % 2 == 0 { &[0, 1] } else { &[1] }, 0), Kind::OmpSerialTasks));
    assert!(!has(&tasks(1000, |_| &[1], 500), Kind::OmpSerialTasks));
}
