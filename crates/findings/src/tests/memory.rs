//! Page faults: the threads that touched it, and when.

use super::super::{Kind, Sure};
use super::{Builder, MS, cause, has, near, one};
use proust_log::operations::Operation;
use proust_profile::{FunctionId, LocationId, Module, ModuleId, Ns, ProcessId};

#[test]
fn memory_that_one_thread_touches_for_all_is_told() {
    let mut run = Builder::new(3, 1000);
    run.work_with(0, "main fill", (0, 200), 60, 50_000);
    run.work(1, "worker use", (200, 1000)).work(2, "worker use", (200, 1000));
    let found = run.findings();
    let finding = one(&found, Kind::FirstTouch);
    near(finding.lost, 0.12 / 2.0);
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
    near(finding.lost, 0.12);
    // A program has to touch what it needs.
    assert_eq!((cause(finding), finding.sure), ("fill", Sure::Possible));
    assert!(!has(&run(1_000), Kind::FaultStartup));
}

#[test]
fn memory_that_is_touched_anew_all_the_time_is_told() {
    let run = |peak_bytes: Option<u64>| {
        let mut run = Builder::new(1, 1000);
        run.profile.processes[ProcessId(0)].peak_resident_bytes = peak_bytes;
        for at_ms in (0..1000).step_by(20) {
            run.work_with(0, "main step", (at_ms, at_ms + 12), 60, 3_000);
            run.work(0, "main use", (at_ms + 12, at_ms + 20));
        }
        run.findings()
    };
    // 150 000 pages, of which a few were ever there at once.
    let found = run(Some(16 << 20));
    let finding = one(&found, Kind::FaultChurn);
    near(finding.lost, 0.36);
    assert_eq!((cause(finding), finding.sure), ("step", Sure::Likely));
    // All of them were there at the end: each was touched for the first time.
    assert!(!has(&run(Some(150_000 * 4096)), Kind::FaultChurn));
    assert_eq!(one(&run(None), Kind::FaultChurn).sure, Sure::Possible);
}

/// Who gives it back can keep it; who touches it cannot know.
#[test]
fn memory_that_a_function_gives_back_each_time_is_that_functions() {
    let run = |giving_ms: u64| {
        let mut run = Builder::new(1, 1000);
        run.profile.processes[ProcessId(0)].peak_resident_bytes = Some(16 << 20);
        for at_ms in (0..1000).step_by(20) {
            run.work_with(0, "main step", (at_ms, at_ms + 12), 60, 3_000);
            if giving_ms > 0 && at_ms % 100 == 0 {
                run.work(0, "main reset libc:madvise", (at_ms + 12, at_ms + 12 + giving_ms));
            }
            run.work(0, "main use", (at_ms + 12 + giving_ms, at_ms + 20));
        }
        run.findings()
    };
    let found = run(6);
    let finding = one(&found, Kind::FaultChurn);
    near(finding.lost, 0.36);
    assert_eq!(cause(finding), "reset");
    assert_eq!(finding.victims.first().and_then(|one| one.place.function.as_deref()), Some("step"));
    assert_eq!(cause(one(&run(0), Kind::FaultChurn)), "step");
}

#[test]
fn faults_of_loading_are_nobodys_and_those_of_many_processes_are_not_added_up() {
    // The loader and the C library's start touch memory before the program does.
    let mut run = Builder::new(1, 1000);
    run.work_with(0, "libc:start libc:load", (0, 400), 60, 50_000).work(0, "main use", (400, 1000));
    assert_eq!(run.findings(), []);
    let run = |processes: u32| {
        let mut run = Builder::new(processes, 1000);
        let process = run.profile.processes[ProcessId(0)].clone();
        run.profile.processes = vec![process; processes as usize].into();
        for id in 0..processes {
            run.profile.processes[ProcessId(id)].pid = id + 1;
            run.profile.processes[ProcessId(id)].parent_pid = u32::from(id > 0);
            run.profile.locations[LocationId(id)].process = ProcessId(id);
            let at_ms = u64::from(id) * 1000 / u64::from(processes);
            let length_ms = 1000 / u64::from(processes);
            run.work_with(id, "main fill", (at_ms, at_ms + length_ms / 5), 60, 40_000 / processes);
            run.work(id, "main use", (at_ms + length_ms / 5, at_ms + length_ms));
        }
        run.findings()
    };
    assert!(has(&run(1), Kind::FaultStartup));
    assert!(!run(20).iter().any(|finding| finding.account == "fault"), "{:#?}", run(20));
}

/// A worker of Python unpickles what it gets for so long.
#[test]
fn time_in_handing_data_to_other_processes_is_named_where_the_pool_is_used() {
    let run = |exchange_ms: u64| {
        let mut run = Builder::new(2, 1000);
        for (name, file) in [("get", "queues.py"), ("map", "pool.py"), ("_bootstrap", "process.py")] {
            let id = run.function(name);
            let file = format!("/usr/lib/python3.11/multiprocessing/{file}");
            run.profile.functions[FunctionId(id)].file = Some(file);
        }
        run.work(0, "main score_all map", (0, 20));
        run.during(0, "main score_all map", Operation::ConditionWait, (20, 1000));
        run.work(1, "main _bootstrap get loads", (0, exchange_ms));
        run.work(1, "main _bootstrap get score", (exchange_ms, 1000));
        let at = run.function("score");
        run.profile.functions[FunctionId(at)].file = Some("/src/a.py".into());
        run.findings()
    };
    let found = run(400);
    let finding = one(&found, Kind::ProcessExchange);
    near(finding.lost, 0.42);
    assert_eq!((cause(finding), finding.sure), ("score_all", Sure::Possible));
    assert!(!has(&run(80), Kind::ProcessExchange));
}

/// A process that was forked for a pool has the path of the one that forked it above its own.
#[test]
fn what_a_process_of_a_pool_does_is_not_done_where_it_was_forked() {
    let mut run = Builder::new(1, 1000);
    run.profile.processes[ProcessId(0)].peak_resident_bytes = Some(16 << 20);
    for (name, file) in [("BaseProcess._bootstrap", "process.py"), ("worker", "pool.py")] {
        let id = run.function(name);
        let file = format!("/usr/lib/python3.11/multiprocessing/{file}");
        run.profile.functions[FunctionId(id)].file = Some(file);
    }
    let worker = "main divide BaseProcess._bootstrap worker";
    for at_ms in (0..1000).step_by(20) {
        run.work_with(0, &format!("{worker} job load"), (at_ms, at_ms + 14), 60, 3_000);
        run.work(0, &format!("{worker} libc:munmap"), (at_ms + 14, at_ms + 20));
    }
    assert_eq!(cause(one(&run.findings(), Kind::FaultChurn)), "load");
}

/// Threads that work unevenly, in the program's own code and in a library's.
#[test]
fn what_a_library_does_is_possible_at_most() {
    let run = |file: &str| {
        let mut run = Builder::new(3, 1000);
        let id = run.function("evaluate");
        run.profile.functions[FunctionId(id)].file = Some(file.into());
        run.during(0, "main", Operation::Join, (0, 1000));
        run.work(1, "evaluate", (0, 400)).work(2, "evaluate", (0, 1000));
        for (id, end_ms) in [(1, 400), (2, 1000)] {
            run.profile.locations[LocationId(id)].end = Ns::of(end_ms * MS);
        }
        let found = run.findings();
        (found[0].sure, found[0].unnamed)
    };
    assert_eq!(run("/src/a.py"), (Sure::Certain, false));
    assert_eq!(run("/usr/lib/python3.11/concurrent/futures/thread.py"), (Sure::Possible, true));
}

#[test]
fn objects_that_ranks_pickle_for_each_other_are_named_where_they_are_sent() {
    let run = |exchange_ms: u64, called: &str| {
        let mut run = Builder::new(2, 1000);
        run.profile.modules.push(Module {
            path: "/usr/lib/python3/dist-packages/mpi4py/MPI.cpython-311-x86_64-linux-gnu.so".into(),
            ..Module::default()
        });
        let id = run.function("allgather");
        run.profile.functions[FunctionId(id)].module = Some(ModuleId(2));
        for rank in 0..2 {
            run.work(rank, &format!("main all_points allgather {called}"), (0, exchange_ms));
            run.work(rank, "main move", (exchange_ms, 1000));
        }
        run.findings()
    };
    let found = run(300, "libc:PyList_New");
    let finding = one(&found, Kind::ProcessExchange);
    near(finding.lost, 0.6);
    assert_eq!((cause(finding), finding.sure), ("all_points", Sure::Possible));
    assert!(!has(&run(100, "libc:PyList_New"), Kind::ProcessExchange));
    assert!(!has(&run(300, "libc:MPI_Allgatherv libc:opal_progress"), Kind::ProcessExchange));
}
