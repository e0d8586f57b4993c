//! A run of two threads whose functions have names that break formats.

use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, IntervalContext, IntervalInfo, Location,
    LocationId, Metric, Module, ModuleId, Ns, Process, ProcessId, Profile, RunFacts, SampleRow, Value,
};

/// Names of the functions, by id.
pub const NAMES: [&str; 4] = ["main", "<[u8; 4] as Sum>::sum", "a\"b\\c\nd\te", "größe λ\u{202e}<&>"];

/// `main` calls the second function, in it an inlined call of the third, and below an interval the fourth.
pub fn profile() -> Profile {
    use ContextKind::{Frame, Inline, Interval, Line, Program};
    let context = |parent, kind, function: Option<u32>, line| Context {
        parent: Some(ContextId(parent)),
        kind,
        function: function.map(FunctionId),
        file: Some("/src/a \"b\";c.rs".into()),
        line,
    };
    let root = Context { parent: None, kind: Program, function: None, file: None, line: None };
    let contexts = vec![
        root,
        context(0, Frame, Some(0), None),
        context(1, Frame, Some(1), Some(12)),
        context(2, Line, Some(1), Some(31)),
        context(2, Inline, Some(2), Some(33)),
        context(4, Line, Some(2), Some(7)),
        context(1, Interval, None, Some(14)),
        context(6, Frame, Some(3), Some(15)),
        context(6, Line, Some(0), Some(16)),
    ];
    let functions = NAMES.map(|name| Function {
        name: name.into(),
        full_name: format!("{name}()"),
        linkage_name: (name == "main").then(|| "main".into()),
        module: Some(ModuleId(0)),
        file: Some("/src/a \"b\";c.rs".into()),
        line: Some(3),
    });
    // (thread, context, samples, nanoseconds of each); the last has neither path nor samples.
    let parts =
        [(0, 3, 3, 5_000_001), (0, 5, 2, 4_999_999), (0, 7, 4, 5_000_000), (1, 8, 5, 1), (1, 0, 1, 777)];
    let mut samples = Vec::new();
    let mut values: Vec<Value> = Vec::new();
    for (location, context, count, cpu_ns) in parts {
        let (location, context) = (LocationId(location), ContextId(context));
        for _ in 0..count {
            let n = samples.len() as u64 + 1;
            samples.push(SampleRow {
                location,
                context,
                time_ns: n * 5_000_000,
                cpu_ns,
                tail: context == ContextId::PROGRAM,
                ..SampleRow::default()
            });
        }
        let taken = if context == ContextId::PROGRAM { 0 } else { count };
        for (metric, amount) in [(Metric::Cpu, count * cpu_ns), (Metric::Samples, taken)] {
            values.push(Value { context, location, metric, amount });
        }
    }
    values.sort_by_key(|value| (value.context, value.location, value.metric));
    let location = |tid, name: &str| Location {
        process: ProcessId(0),
        tid,
        name: name.into(),
        end: Ns::from_seconds(0.1),
        ..Location::default()
    };
    Profile {
        facts: RunFacts {
            command: vec!["./so;lve".into(), "--x=\"<&>\"".into()],
            start_unix_s: 1_790_000_000.5,
            wall: Ns::from_seconds(0.1),
            asked_rate_hz: 200,
            available_processors: 2,
            ..RunFacts::default()
        },
        processes: vec![Process {
            pid: 77,
            parent_pid: 1,
            name: "so;lve".into(),
            arguments: vec!["./so;lve".into(), "--x=\"<&>\"".into()],
            end: Ns::from_seconds(0.1),
            available_processors: 2,
            ..Process::default()
        }]
        .into(),
        locations: vec![location(77, "so;lve"), location(78, "")].into(),
        modules: vec![Module { path: "/home/me/so;lve".into(), ..Module::default() }].into(),
        functions: functions.to_vec().into(),
        contexts: contexts.into(),
        intervals: vec![IntervalInfo { name: "step".into(), number: Some(3), ..IntervalInfo::default() }],
        interval_contexts: vec![IntervalContext { context: ContextId(6), interval: 0 }],
        samples: samples.into(),
        values,
        ..Profile::default()
    }
}
