//! Tasks that are too small, and tasks of one thread.

use super::super::super::{Finding, Kind, Sure};
use super::super::{Builder, cause, has, near, one};
use super::half_waiting;
use proust_log::operations::Operation;

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

/// Tasks of a region, so many of each thread, and what the first one waits.
fn tasks(of: [(u64, u64); 2], waited_ms: u64) -> Vec<Finding> {
    let mut run = Builder::new(2, 1000);
    for (thread, (_, work_ms)) in of.into_iter().enumerate() {
        run.work(thread as u32, "main region part", (0, work_ms));
    }
    run.during(0, "main region", Operation::OmpRegionEnd, (1000 - waited_ms, 1000));
    let region = run.region("main region", None);
    let amounts = of.map(|(tasks, work_ms)| (tasks, work_ms, 0, 0));
    run.both(region, Operation::OmpTask, "main region part", amounts);
    run.both(region, Operation::OmpRegionEnd, "main region", [(1, 0, waited_ms, 0), (1, 0, 0, 0)]);
    run.findings()
}

#[test]
fn tasks_that_one_thread_executes_while_its_team_waits() {
    let found = tasks([(0, 10), (300, 990)], 990);
    let finding = one(&found, Kind::OmpTasksOfOne);
    near(finding.lost, 0.98);
    assert_eq!((cause(finding), finding.sure), ("part", Sure::Likely));
    assert!(!has(&found, Kind::LateThread) && !has(&found, Kind::UnexplainedWait), "{found:#?}");
    // Few large ones, two thirds, and while the others have something else to do.
    assert!(!has(&tasks([(0, 10), (4, 990)], 990), Kind::OmpTasksOfOne));
    assert!(!has(&tasks([(150, 495), (300, 990)], 495), Kind::OmpTasksOfOne));
    assert!(!has(&tasks([(0, 600), (300, 990)], 400), Kind::OmpTasksOfOne));
}
