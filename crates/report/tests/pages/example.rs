//! A run of two threads: the main thread prepares and waits, a worker works; 200 samples a second.

use proust_ingest::operation_info;
use proust_profile::event_metrics::{EVENT_METRICS, Operations, amounts_of_event};
use proust_profile::notes::{ModuleNote, RunNote, Unfollowed, Which};
use proust_profile::{
    Context, ContextId, ContextKind, EventRow, Function, FunctionId, InsideRow, Location, LocationId, Metric,
    Module, ModuleId, Ns, OperationId, Process, ProcessId, Profile, Quality, RegionId, RegionInfo, RunFacts,
    SampleRow, SegmentRow, Target, Value,
};

const PERIOD_NS: u64 = 5_000_000;

/// Wall 3 s. Main thread: 0.5 s in `prepare`, then blocked. Worker, from 0.5 s on: 0.5 s in `flux` inlined
/// into `solve`, 1.5 s in the recursive `refine` below it, of which 0.5 s in `kernel` of the library.
pub fn profile() -> Profile {
    use ContextKind::{Frame, Inline, Line, Program};
    let context = |parent, kind, function, file: &str, line| Context {
        parent,
        kind,
        function,
        file: (!file.is_empty()).then(|| file.to_owned()),
        line: (line > 0).then_some(line),
    };
    let contexts = vec![
        context(None, Program, None, "", 0),
        context(Some(ContextId(0)), Frame, Some(FunctionId(0)), "", 0),
        context(Some(ContextId(1)), Frame, Some(FunctionId(1)), "/src/main.c", 12),
        context(Some(ContextId(2)), Line, Some(FunctionId(1)), "/src/main.c", 31),
        context(Some(ContextId(0)), Frame, Some(FunctionId(2)), "", 0),
        context(Some(ContextId(4)), Inline, Some(FunctionId(3)), "/src/solve.c", 52),
        context(Some(ContextId(5)), Line, Some(FunctionId(3)), "/src/flux.h", 7),
        context(Some(ContextId(4)), Frame, Some(FunctionId(4)), "/src/solve.c", 55),
        context(Some(ContextId(7)), Line, Some(FunctionId(4)), "/src/solve.c", 80),
        context(Some(ContextId(7)), Frame, Some(FunctionId(4)), "/src/solve.c", 82),
        context(Some(ContextId(9)), Line, Some(FunctionId(4)), "/src/solve.c", 80),
        context(Some(ContextId(9)), Frame, Some(FunctionId(5)), "/src/solve.c", 81),
    ];
    let function = |name: &str, module, file: &str, line| Function {
        name: name.into(),
        full_name: format!("{name}(int)"),
        linkage_name: None,
        module: Some(module),
        file: (!file.is_empty()).then(|| file.to_owned()),
        line: (line > 0).then_some(line),
    };
    let functions = vec![
        function("main", ModuleId(0), "/src/main.c", 5),
        function("prepare", ModuleId(0), "/src/main.c", 20),
        function("solve", ModuleId(0), "/src/solve.c", 40),
        function("flux", ModuleId(0), "/src/flux.h", 3),
        function("refine", ModuleId(0), "/src/solve.c", 70),
        function("kernel", ModuleId(1), "", 0),
    ];
    let mut samples = Vec::new();
    // (location, context, from, to) in milliseconds
    for (location, context, from_ms, to_ms) in
        [(0, 3, 0, 500), (1, 6, 500, 1000), (1, 8, 1000, 1500), (1, 10, 1500, 2000), (1, 11, 2000, 2500)]
    {
        let (from, to) = (from_ms * 1_000_000u64, to_ms * 1_000_000u64);
        for n in 1..=(to - from) / PERIOD_NS {
            samples.push(SampleRow {
                location: LocationId(location),
                context: ContextId(context),
                time_ns: from + n * PERIOD_NS,
                cpu_ns: PERIOD_NS,
                user_ns: PERIOD_NS * 9 / 10,
                system_ns: PERIOD_NS / 10,
                measurement_ns: 10_000,
                processor: location as u16,
                voluntary_switches: u32::from(n == 1),
                ..SampleRow::default()
            });
        }
    }
    let mut values: Vec<Value> = Vec::new();
    for (metric, amount) in [
        (Metric::Cpu, 5_000_000),
        (Metric::User, 4_500_000),
        (Metric::System, 500_000),
        (Metric::Samples, 1),
        (Metric::Measurement, 10_000),
    ] {
        for (context, location) in [(3, 0), (6, 1), (8, 1), (10, 1), (11, 1)] {
            values.push(Value {
                context: ContextId(context),
                location: LocationId(location),
                metric,
                amount: amount * 100,
            });
        }
    }
    values.sort_by_key(|value| (value.context, value.location, value.metric));
    let location = |tid, name: &str, start_s, cpu_s, samples| Location {
        process: ProcessId(0),
        tid,
        name: name.into(),
        start: Ns::from_seconds(start_s),
        end: Ns::from_seconds(3.0),
        cpu: Ns::from_seconds(cpu_s),
        measurement: Ns::of(10_000 * samples),
        samples,
        ..Location::default()
    };
    Profile {
        facts: RunFacts {
            dir: "solve.1.proust".into(),
            command: vec!["./solve".into(), "--grid".into(), "a file".into()],
            start_unix_s: 1_790_000_000.5,
            wall: Ns::from_seconds(3.0),
            available_processors: 4,
            asked_rate_hz: 200,
            tick: Ns::from_seconds(0.004),
            host: "node-1".into(),
            outcome: "exit 0".into(),
            ..RunFacts::default()
        },
        quality: Quality {
            samples: 500,
            delivered_rate: 200.0,
            complete_paths: 0.998,
            partial_paths: 1,
            cpu_residual: 0.000_01,
            measurement: Ns::from_seconds(0.005),
            log_bytes: 123_456,
            notes: vec![RunNote::NotFollowed {
                process: Which { name: "solve".into(), pid: 77 },
                children: vec![Unfollowed { pid: 78, program: Some("/home/me/helper".into()) }],
            }],
            ..Quality::default()
        },
        processes: vec![Process {
            pid: 77,
            parent_pid: 1,
            host: "node-1".into(),
            name: "solve".into(),
            executable: "/home/me/solve".into(),
            end: Ns::from_seconds(3.0),
            clock_cpu: Some(Ns::from_seconds(2.5)),
            available_processors: 4,
            ..Process::default()
        }]
        .into(),
        locations: vec![location(77, "solve", 0.0, 0.5, 100), location(78, "worker-0", 0.5, 2.0, 400)].into(),
        modules: vec![
            Module { path: "/home/me/solve".into(), build_id: "ab12".into(), notes: Vec::new() },
            Module {
                path: "/usr/lib/libkernels.so.1".into(),
                build_id: String::new(),
                notes: vec![ModuleNote::NoDebugInfo { path: "/usr/lib/libkernels.so.1".into() }],
            },
        ]
        .into(),
        functions: functions.into(),
        contexts: contexts.into(),
        values,
        samples: samples.into(),
        ..Profile::default()
    }
}

/// The same threads side by side from the start on, with one processor for both: for 0.5 s one of them is too
/// many.
pub fn crowded() -> Profile {
    let mut profile = profile();
    profile.facts.available_processors = 1;
    profile.processes[ProcessId(0)].available_processors = 1;
    profile.locations[LocationId(1)].start = Ns::ZERO;
    profile.samples.edit(|samples| {
        for row in samples.iter_mut().filter(|row| row.location == LocationId(1)) {
            row.time_ns -= 500_000_000;
        }
    });
    profile.check().expect("the example is a profile");
    profile
}

/// The same run with what it waited for: the main thread joins the worker from 0.5 s to 2.8 s, then reads a
/// file for 0.15 s, and has written shortly 20 times. The worker waits from 2.5 s on: 0.25 s for a lock, 0.15
/// s for a socket. While the main thread waits, a signal handler writes 12 times.
pub fn waiting() -> Profile {
    const JOIN: u32 = 0;
    const LOCK: u32 = 1;
    const READ: u32 = 2;
    const WRITE: u32 = 3;
    let mut profile = profile();
    let names = [
        "pthread_join",
        "pthread_mutex_lock",
        "read",
        "write",
        "omp barrier",
        "omp parallel end",
        "omp parallel begin",
        "omp critical",
    ];
    profile.operations = names.map(operation_info).to_vec().into();
    let event = |location, context, operation, begin_ms: u64, end_ms: u64| EventRow {
        location,
        context,
        operation,
        begin_ns: begin_ms * 1_000_000,
        end_ns: end_ms * 1_000_000,
        time_ns: (end_ms - begin_ms) * 1_000_000,
        calls: 1,
        cpu_clock_ns: Some(if location == LocationId(0) { 500_000_000 } else { 2_000_000_000 }),
        ..EventRow::default()
    };
    let read = |row, target, bytes| EventRow { target, bytes, object: 5, ..row };
    let short = EventRow {
        time_ns: 2_000_000,
        calls: 20,
        errors: 1,
        summed: true,
        cpu_clock_ns: None,
        ..event(LocationId(0), ContextId(3), OperationId(WRITE), 2950, 2990)
    };
    profile.events = vec![
        EventRow { object: 78, ..event(LocationId(0), ContextId(1), OperationId(JOIN), 500, 2800) },
        read(event(LocationId(0), ContextId(3), OperationId(READ), 2800, 2950), Target::File, 4 << 20),
        read(short, Target::File, 8192),
        EventRow { object: 0x1000, ..event(LocationId(1), ContextId(8), OperationId(LOCK), 2500, 2750) },
        read(event(LocationId(1), ContextId(11), OperationId(READ), 2750, 2900), Target::Socket, 512),
    ]
    .into();
    // A signal handler writes while the main thread waits for the other one.
    profile.inside = vec![InsideRow {
        location: LocationId(0),
        context: ContextId(1),
        outer: OperationId(JOIN),
        operation: OperationId(WRITE),
        begin_ns: 700_000_000,
        end_ns: 1_900_000_000,
        time_ns: 3_400_000,
        longest_ns: 1_100_000,
        calls: 12,
        errors: 2,
        bytes: 640,
    }];
    in_a_region(&mut profile);
    let operations = Operations::of(&profile);
    for row in profile.events.iter() {
        let amounts = amounts_of_event(operations.nature(row.operation), &row);
        for (metric, amount) in EVENT_METRICS.into_iter().zip(amounts) {
            let key = (row.context, row.location, metric);
            let known =
                profile.values.iter_mut().find(|value| (value.context, value.location, value.metric) == key);
            match known {
                Some(value) => value.amount += amount,
                None if amount == 0 => {}
                None => profile.values.push(Value { context: key.0, location: key.1, metric, amount }),
            }
        }
    }
    profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    profile.check().expect("the example is a profile");
    profile
}

/// `solve` is a parallel region of two threads that is executed 100 times, with a barrier and a critical
/// section inside; the main thread worked a third of what the worker did.
fn in_a_region(profile: &mut Profile) {
    const MS: u64 = 1_000_000;
    let (barrier, end, begin, critical) = (4, 5, 6, 7);
    let segment = |location, operation, context, [work_ms, wait_ms, latency_ms]: [u64; 3]| SegmentRow {
        location,
        region: RegionId(0),
        operation,
        context,
        executions: 100,
        contended: if operation == OperationId(critical) { 30 } else { 0 },
        work_ns: work_ms * MS,
        wait_ns: wait_ms * MS,
        latency_ns: latency_ms * MS,
        team_min: 2,
        team_max: 2,
        ..SegmentRow::default()
    };
    profile.regions =
        vec![RegionInfo { process: ProcessId(0), context: ContextId(4), parent: None, told: false }].into();
    profile.segments = vec![
        segment(LocationId(0), OperationId(barrier), ContextId(6), [600, 1250, 50]),
        segment(LocationId(0), OperationId(end), ContextId(4), [50, 20, 20]),
        segment(LocationId(0), OperationId(begin), ContextId(4), [0, 5, 0]),
        segment(LocationId(1), OperationId(barrier), ContextId(6), [1800, 50, 50]),
        segment(LocationId(1), OperationId(end), ContextId(4), [60, 10, 10]),
        segment(LocationId(1), OperationId(begin), ContextId(4), [0, 15, 0]),
        segment(LocationId(1), OperationId(critical), ContextId(8), [0, 250, 0]),
    ];
}
