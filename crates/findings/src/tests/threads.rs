//! Crowds, churn, small tasks, sleeping and spinning.

use proust_profile::{Location, LocationId, ModuleId, Ns, ProcessId};

use super::super::{FigureId, Kind, Sure};
use super::{Builder, MS, cause, has, near, one};
use proust_log::operations::Operation;

#[test]
fn more_threads_than_processors_are_told_though_nothing_can_be_won() {
    let run = |threads: u32| {
        let mut run = Builder::new(threads, 1000);
        // Two of them run at a time.
        for at_ms in (0..1000).step_by(4) {
            for turn in 0..2 {
                run.work((at_ms as u32 / 4 * 2 + turn) % threads, "worker solve", (at_ms, at_ms + 4));
            }
        }
        for row in &mut run.samples {
            row.involuntary_switches = 1;
        }
        for location in &mut run.profile.locations {
            location.queued = Ns::from_seconds(1.0 - 2.0 / f64::from(threads));
        }
        run.findings()
    };
    let found = run(8);
    let finding = one(&found, Kind::Oversubscription);
    assert!(finding.lost > Ns::of(5000 * MS) && finding.recoverable < Ns::of(100 * MS), "{finding:#?}");
    assert_eq!((cause(finding), finding.sure), ("worker", Sure::Certain));
    assert!(!has(&run(2), Kind::Oversubscription));
}

#[test]
fn threads_that_are_bound_to_one_processor_while_another_is_empty() {
    let run = |processors: [&str; 2]| {
        let mut run = Builder::new(2, 1000);
        run.profile.processes[ProcessId(0)].processors = "0-1".into();
        for at_ms in (0..1000_u64).step_by(4) {
            run.work(at_ms as u32 / 4 % 2, "worker solve", (at_ms, at_ms + 4));
        }
        for (location, processors) in run.profile.locations.iter_mut().zip(processors) {
            location.queued = Ns::of(500 * MS);
            location.processors = processors.into();
        }
        run.findings()
    };
    let found = run(["1", "1"]);
    let finding = one(&found, Kind::BoundTogether);
    near(finding.lost, 1.0);
    assert_eq!((cause(finding), finding.sure), ("worker", Sure::Certain));
    // Others had the processors.
    assert!(!has(&run(["0", "1"]), Kind::BoundTogether));
    assert!(!has(&run(["", ""]), Kind::BoundTogether));
}

#[test]
fn a_crowd_where_others_have_the_processors_is_possible_at_most() {
    // Four threads want to run, and the run has one of two processors for half of the time.
    let mut run = Builder::new(4, 1000);
    for at_ms in (0..1000_u64).step_by(4) {
        run.work(at_ms as u32 / 4 % 4, "worker solve", (at_ms, at_ms + 2));
    }
    for location in &mut run.profile.locations {
        location.queued = Ns::from_seconds(1.0 - 0.5 / 4.0);
    }
    assert_eq!(one(&run.findings(), Kind::Oversubscription).sure, Sure::Possible);
}

#[test]
fn a_thread_more_than_processors_for_a_while_is_possible_at_most() {
    // A third thread shares a processor with the second for a while, and waits for something else then.
    let sure = |crowded_ms: u64| {
        let mut run = Builder::new(3, 1000);
        run.work(0, "worker solve", (0, 1000)).work(1, "worker solve", (crowded_ms, 1000));
        for at_ms in (0..crowded_ms).step_by(4) {
            run.work(at_ms as u32 / 4 % 2 + 1, "worker solve", (at_ms, at_ms + 4));
        }
        run.during(2, "worker", Operation::ConditionWait, (crowded_ms, 1000));
        for location in &mut run.profile.locations {
            location.queued = Ns::ZERO;
        }
        for late in [1, 2] {
            run.profile.locations[LocationId(late)].queued = Ns::of(crowded_ms / 2 * MS);
        }
        let found = run.findings();
        let crowd = one(&found, Kind::Oversubscription);
        near(crowd.lost, crowded_ms as f64 / 1000.0);
        crowd.sure
    };
    assert_eq!(sure(240), Sure::Possible, "a processor too few for 12 % of the run");
    assert_eq!(sure(480), Sure::Possible, "24 %, as a reader beside a pool that fills the processors has");
    assert_eq!(sure(800), Sure::Possible, "40 %, as who works beside a pool that fills the processors has");
}

#[test]
fn many_threads_that_live_shortly_are_churn() {
    let run = |threads: u32, system_percent: u64| {
        let mut run = Builder::new(1, 1000);
        for thread in 0..threads {
            let at_ms = u64::from(thread) * 5;
            run.profile.locations.push(Location {
                tid: 100 + thread,
                start: Ns::of((at_ms + 3) * MS),
                end: Ns::of((at_ms + 4) * MS),
                ..Location::default()
            });
            run.work(0, "main spawn libc:pthread_create", (at_ms, at_ms + 3));
            run.during(0, "main", Operation::Join, (at_ms + 3, at_ms + 5));
            run.work_with(1 + thread, "task", (at_ms + 3, at_ms + 4), system_percent, 0);
        }
        run.findings()
    };
    let found = run(200, 50);
    let finding = one(&found, Kind::ThreadChurn);
    near(finding.lost, 200.0 * (0.003 + 0.0005));
    assert_eq!(cause(finding), "spawn");
    assert!(!has(&run(20, 50), Kind::ThreadChurn));
}

#[test]
fn tasks_that_cost_less_than_handing_them_over_are_too_small() {
    let run = |waits: u32| {
        let mut run = Builder::new(2, 1000);
        for at_ms in (0..1000).step_by(8) {
            run.work(0, "main post libc:sem_post", (at_ms, at_ms + 4)).work(
                0,
                "main make",
                (at_ms + 4, at_ms + 8),
            );
            run.work(1, "worker use", (at_ms, at_ms + 4));
        }
        run.short(1, "worker take", Operation::SemaphoreWait, (0, 1000), (waits, 0, 400));
        run.findings()
    };
    let found = run(100_000);
    let finding = one(&found, Kind::SmallTasks);
    near(finding.lost, 0.5);
    assert_eq!(cause(finding), "post");
    assert!(!has(&run(500), Kind::SmallTasks));
}

#[test]
fn tasks_of_a_scheduler_are_too_small_where_its_code_for_them_takes_long() {
    let run = |task_ms: u64, code: &str| {
        let mut run = Builder::new(2, 1000);
        for at_ms in (0..1000).step_by(20) {
            for (id, start) in [(0, "main"), (1, "libc:tbb::detail::r1::market")] {
                let path = format!("{start} {code}");
                run.work(id, &path, (at_ms, at_ms + 20 - task_ms));
                run.work(id, &format!("{path} body"), (at_ms + 20 - task_ms, at_ms + 20));
            }
        }
        run.findings()
    };
    let execute = "libc:tbb::detail::d1::start_for::execute";
    let found = run(8, execute);
    let finding = one(&found, Kind::SmallTasks);
    near(finding.lost, 1.2);
    assert_eq!(cause(finding), "main", "the threads of the scheduler have no line of the program's");
    assert!(!has(&run(18, execute), Kind::SmallTasks));
    // Who looks for tasks has none.
    assert!(!has(&run(8, "libc:tbb::detail::r1::steal"), Kind::SmallTasks));
}

#[test]
fn a_worker_that_sleeps_while_another_one_works() {
    let run = |work_ms: u64| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main solve", (0, 1000)).work(1, "worker solve", (0, 20));
        for at_ms in (20..1000).step_by(10) {
            run.work(1, "worker solve", (at_ms, at_ms + work_ms));
            run.during(1, "worker back_off", Operation::MicroSleep, (at_ms + work_ms, at_ms + 10));
        }
        run.findings()
    };
    let found = run(6);
    let finding = one(&found, Kind::SleepingWorker);
    near(finding.lost, 0.392);
    assert_eq!((cause(finding), finding.sure), ("back_off", Sure::Possible));
    assert!(!has(&found, Kind::SleepPoll));
    assert!(!has(&run(1), Kind::SleepingWorker), "a clock");
}

#[test]
fn sleeping_to_look_again_is_told_where_all_stands_still() {
    let run = |sleep_ms: u64, looks: u64| {
        let mut run = Builder::new(1, 3000);
        for look in 0..looks {
            let at_ms = look * (sleep_ms + 2);
            run.work(0, "main look", (at_ms, at_ms + 2));
            run.during(0, "main wait", Operation::MicroSleep, (at_ms + 2, at_ms + 2 + sleep_ms));
        }
        let at_ms = looks * (sleep_ms + 2);
        run.work(0, "main solve", (at_ms, 3000));
        run.findings()
    };
    let found = run(3, 200);
    let finding = one(&found, Kind::SleepPoll);
    near(finding.lost, 0.6);
    assert_eq!((cause(finding), finding.sure), ("wait", Sure::Possible));
    // Where looks are seldom the run must stand still for much of the time.
    assert!(has(&run(12, 20), Kind::SleepPoll) && has(&run(48, 20), Kind::SleepPoll));
    assert!(!has(&run(24, 20), Kind::SleepPoll), "16 %");
    assert!(!has(&run(48, 15), Kind::SleepPoll), "a few looks");
}

#[test]
fn what_a_script_calls_is_named_in_place_of_its_interpreter() {
    let run = |program: &str, below: &str| {
        let mut run = Builder::new(1, 1000);
        run.profile.modules[ModuleId(0)].path = program.into();
        for at_ms in (0..1000).step_by(10) {
            run.work(0, "main eval", (at_ms, at_ms + 3));
            let path = format!("main eval prog+0x10{below}");
            run.during(0, &path, Operation::NanoSleep, (at_ms + 3, at_ms + 10));
        }
        for function in &mut run.profile.functions {
            function.file = None;
        }
        cause(one(&run.findings(), Kind::SleepPoll)).to_owned()
    };
    let below = " libc:sleep_for libc:nanosleep";
    assert_eq!(run("/usr/bin/python3.11", below), "sleep_for");
    assert_eq!(run("/usr/bin/python3.11", ""), "nanosleep", "the operation");
    assert_eq!(run("/usr/bin/solve", below), "prog+0x10");
}

#[test]
fn giving_the_processor_away_again_and_again_is_spinning() {
    let run = |yields: u32| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main solve", (0, 1000));
        run.work(1, "worker wait libc:sched_yield", (0, 1000));
        run.short(1, "worker wait", Operation::Yield, (0, 1000), (yields, 0, 900));
        run.findings()
    };
    let found = run(500_000);
    let finding = one(&found, Kind::SpinWait);
    assert!(finding.lost.min(finding.burned) > Ns::of(900 * MS), "{finding:#?}");
    assert_eq!(cause(finding), "wait");
    assert!(!has(&found, Kind::SystemStorm));
    assert!(!has(&run(20), Kind::SpinWait));
}

/// A server that always has something to do asks without waiting as well, and finds it each time.
#[test]
fn asking_in_vain_again_and_again_is_spinning() {
    let run = |questions: u32, answers: u32| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main solve", (0, 1000));
        run.work(1, "worker gather libc:__poll", (0, 900)).work(1, "worker gather add", (900, 1000));
        run.short(1, "worker gather", Operation::Poll, (0, 1000), (questions, 0, 900));
        run.short(1, "worker gather", Operation::Read, (0, 1000), (answers, 1 << 20, 50));
        run.findings()
    };
    let found = run(500_000, 1_000);
    let finding = one(&found, Kind::SpinWait);
    assert!(finding.lost.min(finding.burned) > Ns::of(850 * MS), "{finding:#?}");
    assert_eq!((cause(finding), finding.sure, finding.has(FigureId::Looks)), ("gather", Sure::Likely, true));
    assert!(!has(&run(500_000, 400_000), Kind::SpinWait));
    assert!(!has(&run(100, 1), Kind::SpinWait));
    // It waited: a question takes 2 ms.
    assert!(!has(&run(450, 1), Kind::SpinWait));
}

#[test]
fn memory_that_several_threads_change_atomically_is_named() {
    let run = |path: &str, threads: u32| {
        let mut run = Builder::new(2, 1000);
        run.work(0, path, (0, 1000)).work(1, path, (0, 1000));
        let at_work = run.samples.iter_mut().filter(|row| row.location.0 < threads).enumerate();
        at_work.for_each(|(number, row)| row.is_atomic = number % 10 < 3);
        run.findings()
    };
    let found = run("worker count", 2);
    let finding = one(&found, Kind::HotAtomic);
    near(finding.lost, 0.6);
    assert_eq!((cause(finding), finding.sure), ("count", Sure::Possible));
    // A lock for reading counts its readers in one place, though nobody waits for it.
    assert_eq!(cause(one(&run("worker find libc:__pthread_rwlock_rdlock", 2), Kind::HotAtomic)), "find");
    // Where one thread does, no other has the memory; and what a library locks for itself is its own.
    assert!(!has(&run("worker count", 1), Kind::HotAtomic));
    assert!(!has(&run("worker count libc:malloc", 2), Kind::HotAtomic));
}

#[test]
fn a_loop_that_only_reads_memory_is_busy_waiting() {
    let run = |path: &str, of_ten: usize| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main solve", (0, 1000));
        run.work(1, path, (0, 1000));
        let of_second = run.samples.iter_mut().filter(|row| row.location == LocationId(1)).enumerate();
        of_second.for_each(|(number, row)| row.is_busy_wait = number % 10 < of_ten);
        run.findings()
    };
    let found = run("worker wait", 8);
    let finding = one(&found, Kind::BusyWait);
    near(finding.lost, 0.8);
    assert_eq!((cause(finding), finding.sure), ("wait", Sure::Possible));
    assert_eq!(finding.victims.iter().map(|victim| victim.threads).sum::<usize>(), 1);
    // A tenth of the processor time is the least.
    assert!(!has(&run("worker wait", 1), Kind::BusyWait));
    // A loop of a library is not the program's.
    assert!(!has(&run("worker wait libc:spin", 8), Kind::BusyWait));
}
