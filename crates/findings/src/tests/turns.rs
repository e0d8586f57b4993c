use super::super::Sure;
use super::*;

/// Two threads, of which each works until the other one may: `second_ms` of each round are the second one's,
/// who waits where `waits` says; the first one waits for it or does not.
fn rounds(first_ms: u64, second_ms: u64, first_waits: bool) -> Vec<Finding> {
    let mut run = Builder::new(2, 1200);
    let round_ms = first_ms + second_ms;
    for round in 0..1200 / round_ms {
        let at_ms = round * round_ms;
        let between_ms = at_ms + first_ms;
        run.work(0, "main ask", (at_ms, between_ms));
        run.during(1, "serve next", Operation::ConditionWait, (at_ms, between_ms));
        run.work(1, "serve answer", (between_ms, at_ms + round_ms));
        match first_waits {
            true => run.during(0, "main result", Operation::ConditionWait, (between_ms, at_ms + round_ms)),
            false => run.during(0, "main pause", Operation::ClockNanoSleep, (between_ms, at_ms + round_ms)),
        };
    }
    run.findings()
}

#[test]
fn threads_that_wait_for_each_other_work_by_turns() {
    let found = rounds(14, 6, true);
    let finding = one(&found, Kind::WorkByTurns);
    // All of the run, as if there had been a second processor: it never used one.
    near(finding.lost, 1.2);
    // The longer wait is for the longer turn.
    assert_eq!((cause(finding), finding.sure), ("next", Sure::Possible));
    assert!(finding.high <= Ns::from_seconds(0.67), "{finding:#?}");
    // One that waits for a twentieth of the time is fed by the other.
    assert!(!has(&rounds(57, 3, true), Kind::WorkByTurns));
    // One that sleeps waits for nobody.
    assert!(!has(&rounds(14, 6, false), Kind::WorkByTurns));
    // Too seldom to be anybody's way of working.
    assert!(!has(&rounds(140, 60, true), Kind::WorkByTurns));
}

#[test]
fn threads_that_are_joined_before_the_next_begins_work_by_turns() {
    // Fifty threads of 15 ms, one after the other; or in pairs.
    let run = |at_once: u32| {
        let mut run = Builder::new(52, 1000);
        for turn in 0..50 {
            let (id, at_ms) = (1 + turn, u64::from(turn / at_once) * 16);
            run.work(id, "start draw", (at_ms, at_ms + 15));
            let location = &mut run.profile.locations[LocationId(id)];
            (location.start, location.end) = (Ns::of(at_ms * MS), Ns::of((at_ms + 15) * MS));
            run.during(0, "main each", Operation::Join, (at_ms, at_ms + 15));
            run.work(0, "main each", (at_ms + 15, at_ms + 16));
        }
        run.work(0, "main use", (800, 1000)).work(51, "helper use", (800, 1000));
        run.findings()
    };
    let found = run(1);
    let finding = one(&found, Kind::WorkByTurns);
    near(finding.lost, 0.75);
    assert_eq!(cause(finding), "each");
    assert!(!found.iter().any(|one| one.kind == Kind::SerialPhase && cause(one) == "draw"), "{found:#?}");
    assert!(!has(&run(2), Kind::WorkByTurns), "{:#?}", run(2));
}

#[test]
fn threads_that_never_work_at_once_do_so_one_at_a_time() {
    // Main waits for all; the second one works `beside_ms` beside the first, and the rest after it.
    let run = |beside_ms: u64| {
        let mut run = Builder::new(3, 1000);
        run.during(0, "main end", Operation::Join, (0, 999)).object = 7;
        run.work(0, "main sum", (999, 1000));
        run.work(1, "worker solve", (0, 500));
        run.work(2, "worker solve", (0, beside_ms.min(500)));
        run.during(2, "worker enter", Operation::SemaphoreWait, (beside_ms.min(499), 500));
        run.work(2, "worker solve", (500, 999));
        run.findings()
    };
    let found = run(0);
    let finding = one(&found, Kind::OneAtATime);
    near(finding.lost, 0.999);
    assert_eq!((cause(finding), finding.sure), ("enter", Sure::Possible), "not where main waits");
    assert!(finding.high >= Ns::from_seconds(0.5), "two processors take half of the time: {finding:#?}");
    // Working at once for a moment makes a run of two processors, but nothing parallel.
    assert!(has(&run(8), Kind::OneAtATime));
    assert!(!has(&run(499), Kind::OneAtATime));
}

/// Main waits for the first worker's end, and goes on a moment before the second, which was kept from work.
#[test]
fn who_was_kept_from_work_is_named_and_not_who_waited_for_an_end() {
    let mut run = Builder::new(3, 1000);
    run.during(0, "main end", Operation::Join, (0, 500)).object = 7;
    run.work(0, "main end", (500, 501));
    run.during(0, "main end", Operation::Join, (501, 999)).object = 8;
    run.work(0, "main sum", (999, 1000));
    run.work(1, "worker solve", (0, 500));
    run.during(2, "worker enter", Operation::SemaphoreWait, (0, 501));
    run.work(2, "worker solve", (501, 999));
    assert_eq!(cause(one(&run.findings(), Kind::OneAtATime)), "enter");
}

/// Workers that ask again and again whether they may, as SQLite does for its database, and sleep meanwhile.
#[test]
fn workers_that_sleep_until_another_has_worked_are_named_where_they_sleep() {
    let mut run = Builder::new(3, 1000);
    for (worker, times) in [(7, (0, 600)), (8, (600, 999))] {
        run.during(0, "main end", Operation::Join, times).object = worker;
    }
    run.work(0, "main sum", (999, 1000));
    run.work(1, "worker solve", (0, 600)).work(2, "worker solve", (600, 999));
    for at_ms in (0..600).step_by(60) {
        run.during(2, "worker begin", Operation::Sleep, (at_ms, at_ms + 60));
    }
    let found = run.findings();
    assert_eq!(cause(one(&found, Kind::OneAtATime)), "begin", "{found:#?}");
}

#[test]
fn processes_that_are_awaited_before_the_next_is_started_work_one_at_a_time() {
    let run = |at_once: u64| {
        let mut run = Builder::new(41, 1000);
        let process = run.profile.processes[ProcessId(0)].clone();
        run.profile.processes = vec![process; 41].into();
        for child in 0..40 {
            let (id, at_ms) = (child as u32 + 1, child / at_once * at_once * 20);
            let process = &mut run.profile.processes[ProcessId(id)];
            (process.pid, process.parent_pid) = (id, 0);
            run.profile.locations[LocationId(id)].process = ProcessId(id);
            run.work(id, "main convert", (at_ms, at_ms + 19));
            let location = &mut run.profile.locations[LocationId(id)];
            (location.start, location.end) = (Ns::of(at_ms * MS), Ns::of((at_ms + 19) * MS));
            if child % at_once == 0 {
                run.during(0, "main each", Operation::WaitProcess, (at_ms, at_ms + 19));
                run.work(0, "main each", (at_ms + 19, at_ms + 20));
            }
        }
        run.findings()
    };
    let found = run(1);
    assert_eq!(cause(one(&found, Kind::OneAtATime)), "each");
    assert!(!has(&run(2), Kind::OneAtATime));
}

#[test]
fn a_pool_of_one_works_one_at_a_time_and_a_thread_for_all_of_the_work_does_not() {
    let run = |times: u64| {
        let mut run = Builder::new(2, 1000);
        let each_ms = 1000 / times;
        for at_ms in (0..times).map(|time| time * each_ms) {
            run.work(1, "worker render", (at_ms, at_ms + each_ms - 1));
            run.during(0, "main await", Operation::ConditionWait, (at_ms, at_ms + each_ms - 1));
            run.work(0, "main await", (at_ms + each_ms - 1, at_ms + each_ms));
        }
        run.findings()
    };
    assert_eq!(cause(one(&run(25), Kind::OneAtATime)), "await");
    assert!(!has(&run(2), Kind::OneAtATime));
}

#[test]
fn what_ends_a_time_in_which_none_works_is_named() {
    // Every round ends with a wait on a condition that times out.
    let run = |waits_ms: u64| {
        let mut run = Builder::new(2, 1000);
        for round in 0..10 {
            let at_ms = round * 100;
            run.work(0, "main solve", (at_ms, at_ms + 100 - waits_ms));
            run.work(1, "helper solve", (at_ms, at_ms + 100 - waits_ms));
            for (id, path) in [(0, "main pace"), (1, "helper rest")] {
                run.during(id, path, Operation::ConditionTimedWait, (at_ms + 100 - waits_ms, at_ms + 100));
            }
        }
        run.findings()
    };
    let found = run(40);
    let finding = one(&found, Kind::UnexplainedWait);
    near(finding.lost, 0.72);
    assert_eq!((cause(finding), finding.account.as_str()), ("pace", "asleep"));
    assert!(!has(&run(5), Kind::UnexplainedWait));
}

/// The path of a thread that begins with a closure goes on where the closure is written, in `main`.
#[test]
fn threads_that_begin_with_a_closure_live_in_turn_like_others() {
    let mut run = Builder::new(21, 1000);
    for turn in 0..20 {
        let (id, at_ms) = (1 + turn, u64::from(turn) * 50);
        run.work(id, "main frame frame::{{closure}} draw", (at_ms, at_ms + 45));
        let location = &mut run.profile.locations[LocationId(id)];
        location.tid = 100 + id;
        (location.start, location.end) = (Ns::of(at_ms * MS), Ns::of((at_ms + 45) * MS));
        run.during(0, "main frame", Operation::Join, (at_ms, at_ms + 45));
        run.work(0, "main show", (at_ms + 45, at_ms + 50));
    }
    let found = run.findings();
    let finding = one(&found, Kind::WorkByTurns);
    near(finding.lost, 0.9);
    assert_eq!(cause(finding), "frame");
}
