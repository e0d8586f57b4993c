//! Constructs of parallel regions.

mod serial;
mod tasks;

use proust_profile::{
    ContextId, ContextKind, FunctionId, LocationId, Ns, OperationId, ProcessId, RegionId, RegionInfo,
    SegmentRow,
};

use super::super::{Finding, Kind, Sure};
use super::{Builder, MS, cause, has, near, one};
use proust_log::operations::Operation;

/// A thread's work and wait at a site: times, ms of work, ms of waiting, of that ms of latency.
type Amounts = (u64, u64, u64, u64);

impl Builder {
    /// A region below a path, in another one or not.
    fn region(&mut self, path: &str, parent: Option<u32>) -> u32 {
        let context = self.path(path);
        self.profile.regions.push(RegionInfo {
            process: ProcessId(0),
            context: ContextId(context),
            parent: parent.map(RegionId),
            told: false,
        });
        self.profile.regions.len() as u32 - 1
    }

    fn segment(
        &mut self,
        region: u32,
        location: u32,
        operation: Operation,
        path: &str,
        of: Amounts,
    ) -> &mut SegmentRow {
        let (context, operation) = (self.path(path), self.number(operation));
        self.profile.segments.push(SegmentRow {
            location: LocationId(location),
            region: RegionId(region),
            operation: OperationId(operation),
            context: ContextId(context),
            executions: of.0,
            work_ns: of.1 * MS,
            wait_ns: of.2 * MS,
            latency_ns: of.3 * MS,
            team_min: 2,
            team_max: 2,
            ..SegmentRow::default()
        });
        self.profile.segments.last_mut().unwrap()
    }

    /// Segments of both threads.
    fn both(&mut self, region: u32, operation: Operation, path: &str, of: [Amounts; 2]) {
        for (location, of) in of.into_iter().enumerate() {
            self.segment(region, location as u32, operation, path, of);
        }
    }
}

/// Two threads that work in turns with waiting in a barrier, so that the run has as much of both.
fn half_waiting(work_ms: u64) -> Builder {
    let mut run = Builder::new(2, 1000);
    for thread in 0..2 {
        run.work(thread, "main region loop", (0, work_ms));
        run.during(thread, "main region loop", Operation::OmpBarrier, (work_ms, 1000));
    }
    run
}

#[test]
fn a_construct_that_waits_as_long_as_it_works_is_too_deep() {
    let run = |times: u64, work_ms: u64| {
        let mut run = half_waiting(500);
        let region = run.region("main region", None);
        let amounts = (times, work_ms, 500, 100);
        run.both(region, Operation::OmpBarrier, "main region loop", [amounts; 2]);
        run.findings()
    };
    let found = run(500_000, 500);
    let finding = one(&found, Kind::OmpDeepConstruct);
    near(finding.lost, 1.0);
    assert_eq!((cause(finding), finding.account.as_str()), ("loop", "barrier"));
    // Each time there is a millisecond to do.
    assert!(!has(&run(500, 500), Kind::OmpDeepConstruct));
    assert!(!has(&run(5_000, 500), Kind::OmpDeepConstruct));
    // A thread that waits much longer than a barrier takes waits for another.
    let mut rare = half_waiting(500);
    let region = rare.region("main region", None);
    rare.both(region, Operation::OmpBarrier, "main region loop", [(1_500, 1, 500, 1); 2]);
    assert!(!has(&rare.findings(), Kind::OmpDeepConstruct));
}

#[test]
fn what_the_runtime_takes_to_divide_the_work_is_lost_too() {
    let run = |divides: bool| {
        let leaf =
            if divides { "main region loop __kmpc_for_static_init_4" } else { "main region loop part" };
        let mut run = Builder::new(2, 1000);
        for thread in 0..2 {
            run.work(thread, leaf, (0, 800));
            run.during(thread, "main region loop", Operation::OmpBarrier, (800, 1000));
        }
        let region = run.region("main region", None);
        run.both(region, Operation::OmpBarrier, "main region loop", [(500_000, 800, 200, 100); 2]);
        run.findings()
    };
    // A fifth of the time is too little, with the runtime's four fifths it is all.
    assert!(!has(&run(false), Kind::OmpDeepConstruct));
    near(one(&run(true), Kind::OmpDeepConstruct).lost, 2.0);
}

#[test]
fn a_loop_that_is_divided_by_count_though_iterations_differ() {
    let run = |small_ms: u64, queued: bool, asked: u64| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main region loop", (0, 900));
        run.work(1, "main region loop", (0, small_ms));
        run.during(1, "main region", Operation::OmpRegionEnd, (900.min(small_ms + 1), 900));
        let region = run.region("main region", None);
        let small_work_ms = if queued { 900 } else { small_ms };
        run.both(
            region,
            Operation::OmpRegionEnd,
            "main region",
            [(10, 900, 0, 0), (10, small_work_ms, 900 - small_work_ms, 0)],
        );
        if asked > 0 {
            run.both(region, Operation::OmpDispatch, "main region", [(asked, 0, 0, 0); 2]);
        }
        run.findings()
    };
    let found = run(300, false, 0);
    let finding = one(&found, Kind::OmpUnevenLoop);
    near(finding.lost, 0.6);
    assert_eq!(cause(finding), "region");
    assert!(!has(&found, Kind::LateThread), "{found:#?}");
    for (small_ms, queued, asked) in [(850, false, 0), (300, true, 0), (300, false, 100)] {
        assert!(!has(&run(small_ms, queued, asked), Kind::OmpUnevenLoop), "{small_ms} {queued} {asked}");
    }
    // One alone worked: that is no question of dividing.
    assert!(!has(&run(4, false, 0), Kind::OmpUnevenLoop));
}

#[test]
fn a_loop_that_is_handed_out_in_two_chunks_though_one_takes_longer() {
    let run = |asked: u64, iterations: u64| {
        let mut run = Builder::new(2, 1000);
        for time in 0..10 {
            let (long, at_ms) = (time % 2, u64::from(time) * 100);
            run.work(long, "main region loop", (at_ms, at_ms + 99));
            run.work(1 - long, "main region loop", (at_ms, at_ms + 30));
            run.during(1 - long, "main region", Operation::OmpRegionEnd, (at_ms + 30, at_ms + 99));
        }
        let region = run.region("main region", None);
        run.both(region, Operation::OmpRegionEnd, "main region", [(10, 645, 345, 0); 2]);
        for location in 0..2 {
            let of = (asked, 0, 0, 0);
            let row = run.segment(region, location, Operation::OmpDispatch, "main region", of);
            row.iterations = iterations;
        }
        run.findings()
    };
    let found = run(20, 32);
    let finding = one(&found, Kind::OmpLargeChunks);
    near(finding.lost, 0.69);
    assert_eq!((cause(finding), finding.sure), ("region", Sure::Likely));
    assert!(!has(&found, Kind::LateWork), "{found:#?}");
    // A guided schedule: some chunks, the first of them large.
    assert!(has(&run(100, 3200), Kind::OmpLargeChunks));
    // Ten chunks of an iteration each time; and sections, of which no numbers are known.
    assert!(!has(&run(100, 32), Kind::OmpLargeChunks));
    assert!(!has(&run(20, 0), Kind::OmpLargeChunks));
}

/// The thread that opened a region waits for the others in the function around it, at a line beside the
/// region's; where that function became a part of its caller, at the line that calls it.
#[test]
fn an_uneven_loop_is_one_finding_wherever_its_end_is_waited_for() {
    for lines_between in [1, 40] {
        uneven_loop_declared_behind_the_wait(lines_between);
    }
}

fn uneven_loop_declared_behind_the_wait(lines_between: u32) {
    let mut run = Builder::new(2, 1000);
    let region = run.region("main region", None);
    let caller = run.path("main wait");
    run.profile.contexts[ContextId(caller)].kind = ContextKind::Line;
    run.profile.contexts[ContextId(caller)].function = run.profile.contexts[ContextId(1)].function;
    for time in 0..10 {
        let (at_ms, end) = (time * 100, Operation::OmpRegionEnd);
        run.work(0, "main region loop", (at_ms, at_ms + 30)).work(1, "main region loop", (at_ms, at_ms + 90));
        let event = run.during(0, "main", end, (at_ms + 30, at_ms + 90));
        (event.object, event.context) = (0x10, ContextId(caller));
        run.during(1, "main region", end, (at_ms + 90, at_ms + 91)).object = 0x10;
    }
    let line = run.profile.contexts[ContextId(caller)].line;
    let outlined = run.function("region");
    let declared = line.map(|line| line + lines_between);
    run.profile.functions[FunctionId(outlined)].line = declared;
    // A region's call has the line of its construct.
    let context = run.profile.regions[RegionId(region)].context;
    run.profile.contexts[context].line = declared;
    let amounts = [(10, 300, 600, 0), (10, 900, 10, 10)];
    run.both(region, Operation::OmpRegionEnd, "main region", amounts);
    let found = run.findings();
    assert!(has(&found, Kind::OmpUnevenLoop) && !has(&found, Kind::LateThread), "{found:#?}");
}

/// Where iterations are handed out and a thread loses its processor, the other does more of them, and still
/// waits for it.
#[test]
fn who_does_most_of_a_loop_and_waits_at_its_end_got_no_larger_part() {
    let run = |waits_ms: [u64; 2]| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main region loop", (0, 900));
        run.work(1, "main region loop", (0, 300));
        let region = run.region("main region", None);
        let amounts = [(10, 900, waits_ms[0], 0), (10, 300, waits_ms[1], 0)];
        run.both(region, Operation::OmpRegionEnd, "main region", amounts);
        run.findings()
    };
    assert!(has(&run([0, 100]), Kind::OmpUnevenLoop));
    assert!(!has(&run([100, 0]), Kind::OmpUnevenLoop));
}

#[test]
fn asking_for_iterations_all_the_time() {
    let run = |requests: u64| {
        let mut run = Builder::new(2, 1000);
        let region = run.region("main region", None);
        for thread in 0..2 {
            run.work(thread, "main region loop", (0, 600));
            run.work(thread, "main region libc:GOMP_loop_dynamic_next", (600, 1000));
            run.segment(region, thread, Operation::OmpDispatch, "main region loop", (requests, 0, 390, 0));
            run.segment(region, thread, Operation::OmpRegionEnd, "main region", (1, 1000, 0, 0));
        }
        run.findings()
    };
    let found = run(1_000_000);
    let finding = one(&found, Kind::OmpSmallChunks);
    near(finding.lost, 0.8);
    assert!(!has(&run(20_000), Kind::OmpSmallChunks));
}

#[test]
fn a_critical_section_in_a_hot_loop() {
    let run = |times: u64| {
        let mut run = Builder::new(2, 1000);
        let region = run.region("main region", None);
        for thread in 0..2 {
            run.work(thread, "main region add", (0, 500));
            run.during(thread, "main region add", Operation::OmpCritical, (500, 1000));
            run.segment(region, thread, Operation::OmpCritical, "main region add", (times, 0, 500, 0))
                .contended = times / 2;
            run.segment(region, thread, Operation::OmpRegionEnd, "main region", (1, 500, 0, 0));
        }
        run.findings()
    };
    let found = run(100_000);
    let finding = one(&found, Kind::OmpHotCritical);
    near(finding.lost, 1.0);
    assert_eq!(cause(finding), "add");
    assert!(!has(&run(100), Kind::OmpHotCritical));
}

#[test]
fn teams_inside_teams_are_told_instead_of_a_crowd() {
    let run = |inner: u32| {
        let mut run = Builder::new(8, 1000);
        for at_ms in (0..1000).step_by(4) {
            for turn in 0..2 {
                run.work((at_ms as u32 / 4 * 2 + turn) % 8, "main outer inner solve", (at_ms, at_ms + 4));
            }
        }
        for row in &mut run.samples {
            row.involuntary_switches = 1;
        }
        for location in &mut run.profile.locations {
            location.queued = Ns::from_seconds(0.75);
        }
        let outer = run.region("main outer", None);
        let region = run.region("main outer inner", Some(outer));
        run.both(outer, Operation::OmpRegionEnd, "main outer", [(1, 0, 0, 0); 2]);
        for thread in 0..8 {
            run.segment(region, thread, Operation::OmpRegionEnd, "main outer inner", (1, 1000, 0, 0))
                .team_max = inner;
        }
        run.findings()
    };
    let found = run(4);
    let finding = one(&found, Kind::OmpNestedTeams);
    assert!(finding.lost > Ns::of(5000 * MS), "{finding:#?}");
    assert_eq!(cause(finding), "inner");
    assert!(!has(&found, Kind::Oversubscription));
    let found = run(1);
    assert!(!has(&found, Kind::OmpNestedTeams) && has(&found, Kind::Oversubscription));
}

#[test]
fn a_loop_outside_of_regions_has_a_team_of_one() {
    let run = |inside: bool| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main region start", (0, 20)).work(1, "main region start", (0, 20));
        run.work(0, if inside { "main region loop solve" } else { "main loop solve" }, (20, 1000));
        let event = run.during(
            0,
            if inside { "main region loop" } else { "main loop" },
            Operation::OmpBarrier,
            (999, 1000),
        );
        (event.summed, event.calls) = (true, 50);
        let region = run.region("main region", None);
        run.both(region, Operation::OmpRegionEnd, "main region", [(1, 20, 0, 0); 2]);
        run.findings()
    };
    let found = run(false);
    let finding = one(&found, Kind::OmpTeamOfOne);
    assert!((0.9..1.0).contains(&finding.lost.as_seconds()), "{finding:#?}");
    assert_eq!(cause(finding), "loop");
    assert!(!has(&found, Kind::SerialPhase), "{found:#?}");
    assert!(!has(&run(true), Kind::OmpTeamOfOne));
}

#[test]
fn a_region_that_a_condition_keeps_to_one_thread() {
    let run = |times: u64, outer_team: u32| {
        let mut run = Builder::new(2, 1000);
        run.work(0, "main region start", (0, 200)).work(1, "main region start", (0, 200));
        run.work(0, "main shade", (200, 1000));
        let region = run.region("main region", None);
        run.both(region, Operation::OmpRegionEnd, "main region", [(1, 200, 0, 0); 2]);
        let parent = (outer_team > 1).then_some(region);
        let alone = run.region("main shade", parent);
        run.segment(alone, 0, Operation::OmpRegionEnd, "main shade", (times, 800, 0, 0)).team_max = 1;
        run.findings()
    };
    let found = run(40, 1);
    let finding = one(&found, Kind::OmpTeamOfOne);
    near(finding.lost, 0.8);
    assert_eq!((cause(finding), finding.sure), ("shade", Sure::Likely));
    assert!(!has(&found, Kind::SerialPhase) && !has(&found, Kind::LongTask), "{found:#?}");
    // Each time only some microseconds of work: a team might cost more.
    assert_eq!(one(&run(100_000, 1), Kind::OmpTeamOfOne).sure, Sure::Possible);
    // A region inside another one has one thread unless a program asks for more.
    assert!(!has(&run(40, 2), Kind::OmpTeamOfOne));
}

#[test]
fn of_a_function_with_a_team_of_one_only_the_loop_counts() {
    // The function has a long serial part, far from the loop, which hardly takes any time.
    let mut run = Builder::new(2, 1000);
    run.work(0, "main region start", (0, 20)).work(1, "main region start", (0, 20));
    run.work(0, "main generate", (20, 900)).work(0, "main zero", (900, 940));
    let at = run.path("main zero") as usize;
    run.profile.contexts[ContextId::from_index(at)].line = Some(400);
    let event = run.during(0, "main zero", Operation::OmpBarrier, (939, 940));
    (event.summed, event.calls) = (true, 50);
    // Both are inlined: what is known of them is a line in `main`.
    for (function, line) in [("generate", 300), ("zero", 400)] {
        let at = run.path(&format!("main {function}")) as usize;
        let context = &mut run.profile.contexts[ContextId::from_index(at)];
        (context.kind, context.function, context.line) = (ContextKind::Line, None, Some(line));
    }
    let region = run.region("main region", None);
    run.both(region, Operation::OmpRegionEnd, "main region", [(1, 20, 0, 0); 2]);
    let found = run.findings();
    near(one(&found, Kind::OmpTeamOfOne).lost, 0.039);
    assert!(one(&found, Kind::SerialPhase).lost > Ns::of(800 * MS), "{found:#?}");
}

/// What is near the loop's end in the source, but was executed after it or in a region, is not the loop.
#[test]
fn only_what_comes_before_its_end_is_a_loop() {
    let mut run = Builder::new(2, 1000);
    run.work(0, "main region start", (0, 20)).work(1, "main region start", (0, 20));
    run.work(0, "main zero", (20, 60)).work(0, "main generate", (60, 900));
    run.work(0, "main region near", (900, 1000)).work(1, "main region near", (900, 1000));
    run.during(0, "main end", Operation::OmpBarrier, (60, 61));
    for (function, line) in [("zero", 395), ("end", 400), ("generate", 402), ("region", 410)] {
        let at = run.path(&format!("main {function}")) as usize;
        let context = &mut run.profile.contexts[ContextId::from_index(at)];
        context.line = Some(line);
        if function != "region" {
            (context.kind, context.function) = (ContextKind::Line, None);
        }
    }
    let region = run.region("main region", None);
    run.both(region, Operation::OmpRegionEnd, "main region", [(1, 120, 0, 0); 2]);
    let found = run.findings();
    assert!(one(&found, Kind::OmpTeamOfOne).lost < Ns::of(45 * MS), "{found:#?}");
    assert!(one(&found, Kind::SerialPhase).lost > Ns::of(800 * MS), "{found:#?}");
}

/// Two threads of a team, and two others, on two processors. Those of the team wait half of the time.
fn beside_others(spinning: bool) -> Vec<Finding> {
    let mut run = Builder::new(4, 1000);
    for at_ms in (0..1000).step_by(8) {
        run.work(2, "helper", (at_ms, at_ms + 4)).work(3, "helper", (at_ms, at_ms + 4));
        for thread in 0..2 {
            // A sample in a wait shows that it was on a processor there.
            let path =
                if at_ms < 500 || !spinning { "main region loop" } else { "main region libc:GOMP_barrier" };
            if at_ms < 500 || spinning {
                run.work(thread, path, (at_ms + 4, at_ms + 8));
            }
        }
    }
    for thread in 0..2 {
        run.during(thread, "main region loop", Operation::OmpBarrier, (500, 1000));
        run.profile.locations[LocationId(thread)].queued = Ns::from_seconds(0.3);
        run.profile.locations[LocationId::from_index(thread as usize + 2)].queued = Ns::from_seconds(0.5);
    }
    for row in &mut run.samples {
        row.involuntary_switches = 1;
    }
    let region = run.region("main region", None);
    run.both(region, Operation::OmpBarrier, "main region loop", [(5_000, 300, 500, 5); 2]);
    run.findings()
}

#[test]
fn waiting_on_processors_that_others_need() {
    let found = beside_others(true);
    let finding = one(&found, Kind::OmpSpinningWaits);
    assert!((0.3..0.7).contains(&finding.lost.as_seconds()), "{finding:#?}");
    assert!(!has(&beside_others(false), Kind::OmpSpinningWaits));
}

#[test]
fn sleeping_for_a_moment_again_and_again() {
    let run = |latency_ms: u64, spinning: bool| {
        let mut run = Builder::new(2, 1000);
        for thread in 0..2 {
            run.work(thread, "main region loop", (0, 500));
            if spinning {
                run.work(thread, "main region libc:GOMP_barrier", (500, 1000));
            }
            run.during(thread, "main region loop", Operation::OmpBarrier, (500, 1000));
        }
        let rows = run.samples.len() as u32;
        for row in &mut run.samples {
            row.voluntary_switches = if spinning { 1 } else { 10_000 / rows };
        }
        let region = run.region("main region", None);
        run.both(region, Operation::OmpBarrier, "main region loop", [(10_000, 500, 500, latency_ms); 2]);
        run.findings()
    };
    let found = run(400, false);
    let finding = one(&found, Kind::OmpSleepingWaits);
    near(finding.lost, 0.8);
    assert!(!has(&run(10, false), Kind::OmpSleepingWaits));
    assert!(!has(&run(400, true), Kind::OmpSleepingWaits));
}

#[test]
fn who_comes_late_where_work_is_handed_out_is_possibly_to_blame() {
    let run = |has_tasks: bool| {
        let mut run = Builder::new(2, 1000);
        let region = run.region("main region", None);
        for time in 0..10 {
            let at_ms = time * 100;
            run.work(0, "main region small", (at_ms, at_ms + 40));
            run.work(1, "main region large", (at_ms, at_ms + 99));
            let barrier = Operation::OmpBarrier;
            run.during(0, "main region meet", barrier, (at_ms + 40, at_ms + 100)).object = 0x10;
            run.during(1, "main region meet", barrier, (at_ms + 99, at_ms + 100)).object = 0x10;
        }
        run.both(region, Operation::OmpRegionEnd, "main region", [(1, 400, 0, 0), (1, 990, 0, 0)]);
        if has_tasks {
            run.both(region, Operation::OmpTask, "main region", [(40, 400, 0, 0), (99, 990, 0, 0)]);
        }
        one(&run.findings(), Kind::LateThread).sure
    };
    assert_eq!((run(false), run(true)), (Sure::Likely, Sure::Possible));
}
