//! Serial phases, long tasks, idle pools, late threads.

use proust_log::operations::Operation;
use proust_profile::{ContextId, LocationId, ModuleId, Ns, ProcessId, Target};

use super::super::{Kind, Sure};
use super::{Builder, MS, cause, has, near, one};

#[test]
fn who_works_alone_first_is_a_serial_phase() {
    let mut run = Builder::new(3, 1000);
    run.work(0, "main prepare", (0, 400));
    run.during(0, "main", Operation::Join, (400, 1000));
    run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
    let found = run.findings();
    let finding = one(&found, Kind::SerialPhase);
    near(finding.lost, 0.4);
    assert_eq!((cause(finding), finding.account.as_str()), ("prepare", "serial"));
    assert_eq!(finding.sure, Sure::Certain);
    assert!(!has(&found, Kind::LongTask) && !has(&found, Kind::IdlePool));
}

#[test]
fn a_helper_that_many_call_is_not_the_phase() {
    // The second time a library calls it, as a future does.
    for prepare in ["main prepare burn", "main prepare libc:get burn"] {
        let mut run = Builder::new(3, 1000);
        run.work(0, prepare, (0, 400));
        run.during(0, "main", Operation::Join, (400, 1000));
        run.work(1, "worker solve burn", (400, 1000)).work(2, "worker solve burn", (400, 1000));
        let line =
            100 * run.profile.functions.iter().position(|function| function.name == "prepare").unwrap();
        let found = run.findings();
        let finding = one(&found, Kind::SerialPhase);
        assert_eq!(cause(finding), "prepare");
        // The line in it that calls the helper, or the library.
        assert_eq!(finding.cause.line, Some(line as u32 + 7), "{prepare}");
    }
}

#[test]
fn each_thing_that_is_done_alone_is_a_phase_of_its_own() {
    let mut run = Builder::new(4, 1600);
    // Two of one thread, one of another, and a parallel part between them.
    run.work(0, "main generate", (0, 300)).work(0, "main sum", (300, 600));
    run.during(0, "main", Operation::Join, (600, 1600));
    run.work(1, "worker solve", (600, 1200)).work(2, "worker solve", (600, 1200));
    run.work(3, "sorter sort", (1200, 1600));
    let found = run.findings();
    let phases: Vec<_> = found.iter().filter(|one| one.kind == Kind::SerialPhase).collect();
    let named: Vec<_> = phases.iter().map(|finding| (cause(finding), finding.lost)).collect();
    assert_eq!(named.len(), 3, "{named:?}");
    for (function, lost) in [("sort", 0.4), ("generate", 0.3), ("sum", 0.3)] {
        near(named.iter().find(|(name, _)| *name == function).unwrap().1, lost);
    }
}

#[test]
fn where_no_function_has_a_name_the_thread_is_named() {
    let mut run = Builder::new(3, 1000);
    run.profile.processes[ProcessId(0)].name = "server".into();
    run.profile.locations[LocationId(0)].name = "loader".into();
    run.work(0, "libc:jit", (0, 400));
    run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
    let found = run.findings();
    let place = &one(&found, Kind::SerialPhase).cause;
    assert_eq!(
        (place.function.as_deref(), place.thread.as_deref(), place.process.as_deref()),
        (None, Some("loader"), Some("server"))
    );
}

#[test]
fn a_standard_library_is_known_by_its_source_and_not_by_a_prefix() {
    let found = |function: &str, file: &str| {
        let mut run = Builder::new(3, 1000);
        run.work(0, "main read map_or_else", (0, 400));
        run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
        // As inlined functions without linkage names are: no path before the name.
        let functions = &mut run.profile.functions;
        functions.iter_mut().find(|one| one.name == function).unwrap().file = Some(file.into());
        cause(one(&run.findings(), Kind::SerialPhase)).to_owned()
    };
    assert_eq!(found("map_or_else", "/rustc/0123abcd/library/core/src/option.rs"), "read");
    // Called through the library it is the program's again.
    assert_eq!(found("read", "/usr/include/c++/12/bits/stl_algo.h"), "map_or_else");
}

#[test]
fn executables_among_the_systems_libraries_are_programs() {
    let mut run = Builder::new(3, 1000);
    run.profile.modules[ModuleId(0)].path = "/usr/lib/postgresql/15/bin/postgres".into();
    run.work(0, "main prepare", (0, 400));
    run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
    assert_eq!(cause(one(&run.findings(), Kind::SerialPhase)), "prepare");
}

/// Steps of `length_ms`, each with two new threads, of which one has `part` as much to do as the other.
fn steps(length_ms: u64, part: f64) -> Builder {
    let count = 1000 / length_ms;
    let mut run = Builder::new(1 + 2 * count as u32, 1000);
    for step in 0..count {
        let (short, long, at_ms) = (1 + 2 * step as u32, 2 + 2 * step as u32, step * length_ms);
        let short_ms = (length_ms as f64 * part) as u64;
        for (id, end_ms) in [(short, at_ms + short_ms), (long, at_ms + length_ms)] {
            run.work(id, "worker task", (at_ms, end_ms));
            let location = &mut run.profile.locations[LocationId(id)];
            (location.start, location.end) = (Ns::of(at_ms * MS), Ns::of(end_ms * MS));
        }
    }
    run.during(0, "main", Operation::Join, (0, 1000));
    run
}

#[test]
fn threads_alike_for_each_step_have_a_long_task_together() {
    // However short the steps are.
    for length_ms in [100, 20, 10] {
        let found = steps(length_ms, 0.5).findings();
        let finding = one(&found, Kind::LongTask);
        near(finding.lost, 0.5);
        assert_eq!(cause(finding), "task");
    }
    // However little more one of them has to do, since it has at each step.
    assert_eq!(one(&steps(100, 0.65).findings(), Kind::LongTask).sure, Sure::Certain);
}

#[test]
fn steps_that_are_nearly_even_have_no_long_task() {
    assert!(!has(&steps(10, 0.8).findings(), Kind::LongTask));
}

#[test]
fn a_worker_of_a_pool_that_gets_all_the_tasks_has_no_long_one() {
    let mut run = Builder::new(3, 1000);
    run.during(0, "main", Operation::Join, (0, 1000));
    for turn in 0..94 {
        let at_ms = turn * 10;
        run.work(1, "worker task", (at_ms, at_ms + 5));
        run.during(1, "worker wait", Operation::ConditionWait, (at_ms + 5, at_ms + 10));
        run.during(2, "worker wait", Operation::ConditionWait, (at_ms, at_ms + 10));
    }
    // Two processors are used, if only for a while.
    run.work(1, "worker task", (940, 1000)).work(2, "worker task", (940, 1000));
    for id in [1, 2] {
        run.profile.locations[LocationId(id)].end = Ns::of(1000 * MS);
    }
    let found = run.findings();
    assert!(!has(&found, Kind::LongTask) && has(&found, Kind::IdlePool), "{found:#?}");
}

#[test]
fn closures_are_alike_where_they_do_the_same() {
    let run = |theirs: &str| {
        let mut run = Builder::new(3, 1000);
        run.during(0, "main", Operation::Join, (0, 1000));
        run.work(1, "step::{{closure}} task", (0, 400)).work(2, theirs, (0, 1000));
        run.profile.locations[LocationId(1)].end = Ns::of(400 * MS);
        run.profile.locations[LocationId(2)].end = Ns::of(1000 * MS);
        run.findings()
    };
    assert!(has(&run("step::{{closure}}#2 task"), Kind::LongTask));
    let found = run("step::{{closure}} store");
    assert!(!has(&found, Kind::LongTask) && has(&found, Kind::SerialPhase), "{found:#?}");
}

#[test]
fn who_waits_once_for_the_whole_run_is_parked_and_who_waits_for_an_answer_is_no_pool() {
    // A server and its client answer each other; a helper of the server waits for its whole life.
    let answers = |again: bool| {
        let mut run = Builder::new(3, 1300);
        // Two processors are used, if only for a while.
        run.work(0, "main serve", (1200, 1300)).work(1, "client ask", (1200, 1300));
        for turn in 0..120 {
            let at_ms = turn * 10;
            run.work(0, "main serve", (at_ms, at_ms + 5));
            run.during(0, "main wait", Operation::EpollWait, (at_ms + 5, at_ms + 10));
            run.during(1, "client wait", Operation::EpollWait, (at_ms, at_ms + 5));
            run.work(1, "client ask", (at_ms + 5, at_ms + 10));
            if again {
                run.during(2, "helper idle", Operation::ConditionWait, (at_ms, at_ms + 10));
            }
        }
        if !again {
            run.during(2, "helper idle", Operation::ConditionWait, (0, 1200));
        }
        run.findings()
    };
    assert!(!has(&answers(false), Kind::IdlePool), "{:#?}", answers(false));
    // A helper that asks for work again and again could have had some.
    assert!(has(&answers(true), Kind::IdlePool));
}

#[test]
fn one_of_several_alike_that_goes_on_alone_has_the_long_task() {
    let run = |first_ms: u64, second_ms: u64| {
        let mut run = Builder::new(3, 1000);
        run.during(0, "main", Operation::Join, (0, 1000));
        run.work(1, "worker task", (0, first_ms)).work(2, "worker task", (0, second_ms));
        run.profile.locations[LocationId(1)].end = Ns::of(first_ms * MS);
        run.profile.locations[LocationId(2)].end = Ns::of(second_ms * MS);
        run.findings()
    };
    let found = run(400, 1000);
    let finding = one(&found, Kind::LongTask);
    near(finding.lost, 0.6);
    assert_eq!((cause(finding), finding.sure), ("task", Sure::Certain));
    assert!(!has(&run(1000, 1000), Kind::LongTask));
    // A processor that is shared with others outside of a virtual machine may be so slow for once.
    assert_eq!(one(&run(650, 1000), Kind::LongTask).sure, Sure::Likely);
}

#[test]
fn who_has_the_last_task_of_a_pool_is_possibly_a_fault() {
    // Five tasks for two threads, or two of which one is four times as long.
    let run = |second_ms: u64| {
        let mut run = Builder::new(3, 1000);
        run.during(0, "main", Operation::Join, (0, 1000));
        run.work(1, "worker task", (0, second_ms)).work(2, "worker task", (0, 1000));
        run.during(1, "worker take", Operation::ConditionWait, (second_ms, 1000));
        for id in [1, 2] {
            run.profile.locations[LocationId(id)].end = Ns::of(1000 * MS);
        }
        let found = run.findings();
        let finding = one(&found, Kind::LongTask);
        // It takes one task after the other.
        assert_eq!(cause(finding), "task");
        finding.sure
    };
    assert_eq!((run(690), run(250)), (Sure::Possible, Sure::Certain));
}

#[test]
fn threads_of_a_library_that_do_something_else_are_no_measure() {
    // Of one library's threads two compress, and two read and write a little.
    let mut run = Builder::new(5, 1000);
    run.during(0, "main", Operation::Join, (0, 1000));
    run.work(1, "thread compress", (0, 850)).work(2, "thread compress", (0, 1000));
    run.work(3, "thread read", (0, 30)).work(4, "thread write", (0, 30));
    for id in 1..5 {
        run.profile.locations[LocationId(id)].end = Ns::of(1000 * MS);
    }
    let found = run.findings();
    assert!(!has(&found, Kind::LongTask), "{found:#?}");
}

#[test]
fn who_is_late_for_want_of_a_processor_has_no_long_task() {
    // Both have 400 ms to do; one of them does not get a processor for the first 600 ms.
    let mut run = Builder::new(3, 1000);
    run.during(0, "main", Operation::Join, (0, 1000));
    run.work(1, "worker task", (0, 400)).work(2, "worker task", (600, 1000));
    run.profile.locations[LocationId(1)].end = Ns::of(400 * MS);
    run.profile.locations[LocationId(2)].queued = Ns::of(600 * MS);
    let found = run.findings();
    assert!(!has(&found, Kind::LongTask), "{found:#?}");
}

#[test]
fn who_does_the_serial_tasks_without_a_processor_has_no_long_task() {
    // The second one gets no processor for 600 ms, and the first one takes tasks meanwhile.
    let mut run = Builder::new(3, 1000);
    run.during(0, "main", Operation::Join, (0, 1000));
    run.work(1, "worker task", (0, 1000)).work(2, "worker task", (0, 400));
    run.profile.locations[LocationId(1)].end = Ns::of(1000 * MS);
    run.profile.locations[LocationId(2)].end = Ns::of(1000 * MS);
    run.profile.locations[LocationId(2)].queued = Ns::of(600 * MS);
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
    near(finding.lost, 1.0);
    assert_eq!(cause(finding), "produce");
    assert_eq!(finding.victims[0].place.function.as_deref(), Some("wait"));
    assert_eq!((finding.sure, finding.small), (Sure::Likely, false));
    assert!(!has(&run(12, 12), Kind::IdlePool));
    let found = run(12, 10);
    let small = one(&found, Kind::IdlePool);
    near(small.lost, 0.2);
    assert_eq!(
        (small.sure, small.small),
        (Sure::Possible, true),
        "8 % of the run, as in every parallel program"
    );
}

#[test]
fn a_chain_of_threads_is_not_parallel_and_has_no_serial_phase() {
    // A compiler whose front end and back end are threads: the one works when the other has.
    let run = |together_ms: u64| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main parse", (0, 600));
        run.during(0, "main wait", Operation::ConditionWait, (600, 1000 - together_ms));
        run.work(0, "main emit", (1000 - together_ms, 1000)).work(1, "back optimise", (600, 1000));
        run.findings()
    };
    assert!(!has(&run(8), Kind::SerialPhase), "{:#?}", run(8));
    assert!(has(&run(200), Kind::SerialPhase));
}

#[test]
fn a_phase_that_comes_once_is_surely_a_fault_where_it_is_large() {
    let run = |alone_ms: u64| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main fill", (0, alone_ms));
        run.work(0, "main solve", (alone_ms, 1000)).work(1, "begin solve", (alone_ms, 1000));
        one(&run.findings(), Kind::SerialPhase).sure
    };
    assert_eq!((run(150), run(300)), (Sure::Possible, Sure::Certain));
}

#[test]
fn a_barrier_waits_for_what_each_does_in_turn() {
    // Whoever is first at a barrier waits; both are late as often. `even`: nobody has more to do.
    let run = |larger_ms: u64| {
        let mut run = Builder::new(2, 2000);
        for time in 0..20 {
            let (at_ms, late) = (time * 100, (time % 2) as u32);
            let early = 1 - late;
            run.work(late, "worker piece", (at_ms, at_ms + larger_ms));
            run.work(early, "worker piece", (at_ms, at_ms + 50));
            let all_ms = at_ms + larger_ms.max(50);
            run.during(early, "worker meet", Operation::Barrier, (at_ms + 50, all_ms + 1)).object = 0x10;
            run.during(late, "worker meet", Operation::Barrier, (at_ms + larger_ms, all_ms + 1)).object =
                0x10;
            run.work(0, "worker rest", (all_ms + 1, at_ms + 100));
            run.work(1, "worker rest", (all_ms + 1, at_ms + 100));
        }
        run.findings()
    };
    let found = run(95);
    let finding = one(&found, Kind::LateWork);
    near(finding.lost, 0.9);
    assert_eq!((cause(finding), finding.account.as_str()), ("piece", "barrier"));
    assert_eq!(finding.victims[0].place.function.as_deref(), Some("meet"));
    assert!(!has(&found, Kind::LateThread) && !has(&found, Kind::UnexplainedWait), "{found:#?}");
    assert!(!has(&run(52), Kind::LateWork), "{:#?}", run(52));
}

/// Once is no rule, but half of the run is much.
#[test]
fn who_is_late_once_for_a_considerable_part_of_the_run_is_possible() {
    let run = |waited_ms: u64| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main other", (0, 1000 - waited_ms)).work(1, "worker large", (0, 1000));
        run.during(0, "main meet", Operation::Barrier, (1000 - waited_ms, 1000)).object = 0x10;
        run.during(1, "worker meet", Operation::Barrier, (1000, 1000)).object = 0x10;
        run.findings()
    };
    let found = run(500);
    let finding = one(&found, Kind::LateThread);
    assert_eq!((cause(finding), finding.sure), ("large", Sure::Possible));
    assert!(!has(&run(90), Kind::LateThread));
}

#[test]
fn a_barrier_waits_for_who_has_more_to_do() {
    let run = |late_ms: u64, early_ms: u64, queued: f64| {
        let mut run = Builder::new(2, 1000);
        for time in 0..10 {
            let at_ms = time * 100;
            run.work(0, "main small", (at_ms, at_ms + early_ms));
            run.work(1, "worker large", (at_ms + 99 - late_ms, at_ms + 99));
            run.during(0, "main meet", Operation::Barrier, (at_ms + early_ms, at_ms + 100)).object = 0x10;
            run.during(1, "worker meet", Operation::Barrier, (at_ms + 99, at_ms + 100)).object = 0x10;
        }
        run.profile.locations[LocationId(1)].queued = Ns::from_seconds(queued);
        run.findings()
    };
    let found = run(99, 40, 0.0);
    let finding = one(&found, Kind::LateThread);
    near(finding.lost, 0.59);
    assert_eq!((cause(finding), finding.account.as_str()), ("large", "barrier"));
    assert!(!has(&found, Kind::UnexplainedWait), "{found:#?}");
    // It has as much to do, but was in the run queue.
    let found = run(40, 40, 0.59);
    assert!(!has(&found, Kind::LateThread));
    let finding = one(&found, Kind::UnexplainedWait);
    near(finding.lost, 0.61);
    assert_eq!((cause(finding), finding.account.as_str()), ("meet", "barrier"));
    assert_eq!(finding.sure, Sure::Possible);
    let parts = finding.evidence[2..].iter().map(|figure| Ns::from_seconds(figure.amount.in_unit()));
    near(parts.sum(), 0.61);
    // It has more to do, and others had its processor for a part of the time.
    let found = run(90, 40, 0.2);
    assert_eq!(one(&found, Kind::LateThread).sure, Sure::Possible, "{found:#?}");
    // A tenth of the total is the least.
    assert!(!has(&run(90, 90, 0.09), Kind::UnexplainedWait));
}

/// At the end of a region one waits in the function that opened it, and the other in what was made of the
/// region: now this one is late, now that.
#[test]
fn the_end_of_a_region_is_one_place_whoever_waits() {
    let mut run = Builder::new(2, 1000);
    for time in 0..10 {
        let at_ms = time * 100;
        let [late, early] = if time % 2 == 0 { [0, 1] } else { [1, 0] };
        let waits_in = ["main meet", "worker region"][early as usize];
        run.work(late, "main large", (at_ms, at_ms + 99)).work(early, "main small", (at_ms, at_ms + 40));
        run.during(early, waits_in, Operation::Barrier, (at_ms + 40, at_ms + 100)).object = 0x10;
        run.during(late, waits_in, Operation::Barrier, (at_ms + 99, at_ms + 100)).object = 0x10;
    }
    for path in ["main meet", "worker region"] {
        let context = ContextId(run.path(path));
        run.profile.contexts[context].line = Some(55);
    }
    let found = run.findings();
    let of_barrier: Vec<_> = found.iter().filter(|one| one.account == "barrier").collect();
    let [finding] = of_barrier[..] else { panic!("{found:#?}") };
    near(finding.lost, 0.59);
    assert_eq!((cause(finding), finding.kind), ("large", Kind::LateWork));
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
    assert!(finding.lost.as_seconds() > 0.9 * 20.0 * 0.059, "{finding:#?}");
}

/// A process forks two that do the same, one of them for longer, and awaits both.
#[test]
fn a_process_of_a_pool_that_goes_on_alone_has_a_long_task_and_is_awaited_where_the_work_is_divided() {
    let run = |origin: &str| {
        let mut run = Builder::new(3, 1000);
        let process = run.profile.processes[ProcessId(0)].clone();
        run.profile.processes = vec![process; 3].into();
        for (id, location) in run.profile.locations.iter_mut().enumerate() {
            (location.process, location.tid) = (ProcessId(id as u32), id as u32 + 1);
        }
        for (id, process) in run.profile.processes.iter_mut().enumerate() {
            (process.pid, process.parent_pid) = (id as u32 + 1, u32::from(id > 0));
            process.origin = if id > 0 { origin.into() } else { "image".into() };
        }
        run.work(1, "worker compare", (0, 1000)).work(2, "worker compare", (0, 300));
        run.during(2, "worker", Operation::Read, (300, 1000)).target = Target::Pipe;
        run.during(0, "main divide", Operation::Read, (0, 996)).target = Target::Pipe;
        run.work(0, "main divide", (996, 1000));
        run.findings()
    };
    let found = run("fork");
    let finding = one(&found, Kind::LongTask);
    near(finding.lost, 0.7);
    let awaited = finding.awaited.as_ref().and_then(|place| place.function.as_deref());
    assert_eq!((cause(finding), awaited), ("compare", Some("divide")));
    // What are programs of their own may do anything.
    assert!(!has(&run("image"), Kind::LongTask));
}

/// A thread reads half of the work, alone, before it lets the others begin.
#[test]
fn a_serial_phase_names_where_others_are_given_what_they_go_on_with() {
    let run = |unlocked_ms: u64| {
        let mut run = Builder::new(3, 1000);
        run.work(0, "main read_all read_one", (0, 400));
        run.unlock(0, "main read_all put", 1, 100, 1);
        run.unlock(0, "main read_all put", 1, unlocked_ms, 1);
        run.during(0, "main", Operation::Join, (400, 1000));
        run.work(1, "worker solve", (400, 1000)).work(2, "worker solve", (400, 1000));
        let found = run.findings();
        let finding = one(&found, Kind::SerialPhase);
        finding.handed_over.as_ref().map(|place| (place.function.clone().unwrap(), place.line))
    };
    let (function, line) = run(400).unwrap();
    assert_eq!((&*function, line.is_some()), ("read_all", true));
    assert_eq!(run(200), None);
}
