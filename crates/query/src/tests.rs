//! Every query on one small profile whose sums can be checked by hand.

mod callers;
mod errors;
mod kinds;
mod parts;
mod summaries;

use proust_profile::{
    Context, ContextId, ContextKind, Function, FunctionId, Location, LocationId, Metric, Module, ModuleId,
    Ns, OperationId, Process, Profile, SampleRow, Unit, Value,
};

use super::*;
use proust_account::ledger::{Account, Ledger, PassiveReason, PassiveRow, Row};

/// Two threads of one process.
///
/// ```text
/// 0 program
/// ├─ 1 main ─┬─ 2 line 10           main thread 1 s
/// │          ├─ 3 work ── 4 line 20   main thread 2 s, worker 3 s
/// │          └─ 5 fact ─┬─ 6 line 30  main thread 1 s
/// │                     └─ 7 fact ─┬─ 8 line 30  main thread 2 s
/// │                                └─ 9 work ── 10 line 20  main thread 4 s
/// └─ 11 start ── 12 work (inlined) ── 13 line 21  worker 7 s
/// ```
fn profile() -> Profile {
    let context = |parent: Option<u32>, kind, function: Option<u32>, line: Option<u32>| Context {
        parent: parent.map(ContextId),
        kind,
        function: function.map(FunctionId),
        file: line.map(|_| "/src/a.c".to_owned()),
        line,
    };
    use ContextKind::{Frame, Inline, Line, Program};
    let contexts = vec![
        context(None, Program, None, None),
        context(Some(0), Frame, Some(0), None),
        context(Some(1), Line, Some(0), Some(10)),
        context(Some(1), Frame, Some(1), Some(11)),
        context(Some(3), Line, Some(1), Some(20)),
        context(Some(1), Frame, Some(2), Some(12)),
        context(Some(5), Line, Some(2), Some(30)),
        context(Some(5), Frame, Some(2), Some(31)),
        context(Some(7), Line, Some(2), Some(30)),
        context(Some(7), Frame, Some(1), Some(32)),
        context(Some(9), Line, Some(1), Some(20)),
        context(Some(0), Frame, Some(3), None),
        context(Some(11), Inline, Some(1), Some(40)),
        context(Some(12), Line, Some(1), Some(21)),
    ];
    let function = |name: &str| Function {
        name: name.into(),
        full_name: format!("app::{name}(int)"),
        module: Some(ModuleId(0)),
        file: Some("/src/a.c".into()),
        line: Some(1),
        ..Function::default()
    };
    let location = |tid, name: &str| Location {
        tid,
        name: name.into(),
        end: Ns::from_seconds(20.0),
        cpu: Ns::from_seconds(10.0),
        ..Location::default()
    };
    let spent = [(2, 0, 1), (4, 0, 2), (4, 1, 3), (6, 0, 1), (8, 0, 2), (10, 0, 4), (13, 1, 7)];
    let samples: Vec<SampleRow> = spent
        .iter()
        .enumerate()
        .map(|(n, &(context, location, seconds))| SampleRow {
            location: LocationId(location),
            context: ContextId(context),
            time_ns: (n as u64 + 1) * 1_000_000_000,
            cpu_ns: seconds * 1_000_000_000,
            processor: n as u16,
            ..SampleRow::default()
        })
        .collect();
    Profile {
        processes: vec![Process { pid: 100, name: "app".into(), ..Process::default() }].into(),
        locations: vec![location(100, "app"), location(101, "worker-0")].into(),
        modules: vec![Module { path: "/bin/app".into(), ..Module::default() }].into(),
        functions: ["main", "work", "fact", "start"].map(function).to_vec().into(),
        contexts: contexts.into(),
        values: spent
            .iter()
            .map(|&(context, location, seconds)| Value {
                context: ContextId(context),
                location: LocationId(location),
                metric: Metric::Cpu,
                amount: seconds * S as u64,
            })
            .collect(),
        samples: samples.into(),
        ..Profile::default()
    }
}

/// One second in the unit of sums.
const S: u128 = 1_000_000_000;

fn select<'p>(profile: &'p Profile, expression: &str) -> Selection<'p> {
    Selection::new(profile, &Filter::parse(&[expression]).unwrap())
}

#[test]
fn inclusive_sums_the_subtree_and_exclusive_takes_in_the_lines() {
    let profile = profile();
    let amounts = Amounts::by_context(&Selection::all(&profile), Metric::Cpu).shown(Unit::SECONDS);
    assert_eq!(amounts.inclusive[0], 20.0);
    assert_eq!((amounts.inclusive[1], amounts.exclusive[1]), (13.0, 1.0));
    assert_eq!((amounts.inclusive[3], amounts.exclusive[3]), (5.0, 5.0));
    assert_eq!((amounts.inclusive[5], amounts.exclusive[5]), (7.0, 1.0));
    assert_eq!((amounts.inclusive[7], amounts.exclusive[7]), (6.0, 2.0));
    assert_eq!((amounts.inclusive[4], amounts.exclusive[4]), (5.0, 5.0));
}

#[test]
fn recursion_counts_once_in_a_functions_inclusive_amount() {
    let profile = profile();
    let amounts = Amounts::by_function(&Selection::all(&profile), Metric::Cpu).shown(Unit::SECONDS);
    assert_eq!(amounts.inclusive, [13.0, 16.0, 7.0, 7.0]);
    assert_eq!(amounts.exclusive, [1.0, 16.0, 3.0, 0.0]);
    assert_eq!(amounts.exclusive.iter().sum::<f64>(), 20.0);
}

#[test]
fn callers_and_callees_sum_to_the_function() {
    let profile = profile();
    let selection = Selection::all(&profile);
    let fact = Neighbours::of(&selection, FunctionId(2), Metric::Cpu);
    assert!(fact.recursive);
    assert_eq!((fact.inclusive, fact.exclusive), (7 * S, 3 * S));
    assert_eq!(
        fact.callers,
        [Neighbour { function: Some(FunctionId(0)), inclusive: 7 * S, exclusive: 3 * S }]
    );
    assert_eq!(
        fact.callees,
        [Neighbour { function: Some(FunctionId(1)), inclusive: 4 * S, exclusive: 4 * S }]
    );
    let work = Neighbours::of(&selection, FunctionId(1), Metric::Cpu);
    let callers: Vec<_> = work.callers.iter().map(|caller| (caller.function, caller.inclusive)).collect();
    assert_eq!(
        callers,
        [(Some(FunctionId(3)), 7 * S), (Some(FunctionId(0)), 5 * S), (Some(FunctionId(2)), 4 * S)]
    );
    let main = Neighbours::of(&selection, FunctionId(0), Metric::Cpu);
    assert_eq!(main.callers, [Neighbour { function: None, inclusive: 13 * S, exclusive: S }]);
    assert_eq!(
        main.exclusive + main.callees.iter().map(|callee| callee.inclusive).sum::<u128>(),
        main.inclusive
    );
}

#[test]
fn bottom_up_folds_direct_recursion() {
    let profile = profile();
    let selection = Selection::all(&profile);
    let tree = BottomUp::new(&selection, 10);
    let amounts = tree.amounts(&selection, Metric::Cpu).shown(Unit::SECONDS);
    let chain = |names: &[u32]| {
        let mut at = None;
        for &name in names {
            at = tree.nodes.iter().position(|node| node.parent == at && node.function == FunctionId(name));
            assert!(at.is_some(), "{names:?}");
        }
        let node = at.unwrap();
        (amounts.inclusive[node], amounts.exclusive[node], tree.nodes[node].recursive)
    };
    assert_eq!(chain(&[1]), (16.0, 16.0, false));
    assert_eq!(chain(&[1, 3]), (7.0, 7.0, false));
    assert_eq!(chain(&[1, 2]), (4.0, 4.0, true));
    assert_eq!(chain(&[1, 2, 0]), (4.0, 4.0, false));
    assert_eq!(chain(&[2]), (7.0, 3.0, true));
    assert_eq!(chain(&[2, 0]), (7.0, 3.0, false));
}

#[test]
fn statistics_include_locations_with_zero() {
    let profile = profile();
    let selection = Selection::all(&profile);
    let by_context = Spread::by_context(&selection, Metric::Cpu);
    let fact = by_context.inclusive[5];
    assert_eq!((fact.locations, fact.sum, fact.mean, fact.min, fact.max), (2, 7.0, 3.5, 0.0, 7.0));
    assert_eq!((fact.min_location, fact.max_location), (Some(LocationId(1)), Some(LocationId(0))));
    assert_eq!((fact.stddev, fact.imbalance()), (3.5, 3.5));
    let alone = by_context.exclusive[5];
    assert_eq!((alone.max, alone.sum, alone.mean), (1.0, 1.0, 0.5));
    let root = by_context.inclusive[0];
    assert_eq!((root.min, root.max, root.stddev), (10.0, 10.0, 0.0));
    let functions = Spread::by_function(&selection, Metric::Cpu);
    let (fact, work) = (functions.inclusive[2], functions.inclusive[1]);
    assert_eq!((fact.max, work.max, work.min), (7.0, 10.0, 6.0));
    assert_eq!((functions.exclusive[2].max, functions.exclusive[0].sum), (3.0, 1.0));
}

#[test]
fn locations_are_found_by_id_position_name_and_handle() {
    let profile = profile();
    for (expression, expected) in [
        ("thread=101", vec![1]),
        ("thread=0", vec![0]),
        ("thread=0..1", vec![0, 1]),
        ("thread=worker*", vec![1]),
        ("thread=t1", vec![1]),
        ("thread!=worker-0", vec![0]),
        ("process=app", vec![0, 1]),
        ("process=100", vec![0, 1]),
        ("process=app and thread=1", vec![1]),
    ] {
        assert_eq!(
            select(&profile, expression).locations(),
            expected.into_iter().map(LocationId).collect::<Vec<_>>(),
            "{expression}"
        );
    }
}

#[test]
fn functions_keep_the_paths_they_are_on() {
    let profile = profile();
    assert_eq!(select(&profile, "function=fact").shown_total(Metric::Cpu), 7.0);
    assert_eq!(select(&profile, "function=fact and function=work").shown_total(Metric::Cpu), 4.0);
    assert_eq!(select(&profile, "function=work and function!=fact").shown_total(Metric::Cpu), 12.0);
    assert_eq!(select(&profile, "function=app::sta*").shown_total(Metric::Cpu), 7.0);
    assert_eq!(select(&profile, "function=f2").shown_total(Metric::Cpu), 7.0);
    assert_eq!(select(&profile, "module=app").shown_total(Metric::Cpu), 20.0);
    assert_eq!(select(&profile, "file=a.c").shown_total(Metric::Cpu), 20.0);
}

#[test]
fn processors_and_time_are_answered_from_the_samples() {
    let profile = profile();
    assert_eq!(select(&profile, "cpu=1,2").shown_total(Metric::Cpu), 5.0);
    assert_eq!(select(&profile, "cpu!=6").shown_total(Metric::Cpu), 13.0);
    let early = select(&profile, "time=..2.5s");
    assert_eq!(early.shown_total(Metric::Cpu), 3.0);
    assert_eq!(early.notes().len(), 1);
    // What a sample at 2 s stands for was before.
    assert_eq!(select(&profile, "time=2s.. and thread=0").shown_total(Metric::Cpu), 7.0);
    assert_eq!(select(&profile, "time=..2s and thread=0").shown_total(Metric::Cpu), 3.0);
}

#[test]
fn what_matches_nothing_says_what_there_is() {
    let profile = profile();
    for (expression, expected) in [
        ("thread=woker-0", &["worker-0"] as &[&str]),
        ("thread=77", &["app (100)", "worker-0 (101)"]),
        ("rank=0", &[]),
        ("function=fakt", &["fact"]),
        ("module=libc.so.6", &["app"]),
        ("cpu=99", &["0", "1", "2", "3", "4", "5", "6"]),
    ] {
        let selection = select(&profile, expression);
        let ScopeNote::NoMatch { value, known, .. } = &selection.notes()[0] else {
            panic!("{expression}: {:?}", selection.notes())
        };
        assert!(expression.ends_with(&format!("={value}")), "{value}");
        assert_eq!([&known.alike[..], &known.first[..]].concat(), expected, "{expression}");
        assert_eq!(selection.shown_total(Metric::Cpu), 0.0);
    }
}

#[test]
fn the_hot_path_ends_where_time_spreads() {
    let profile = profile();
    let selection = Selection::all(&profile);
    let amounts = Amounts::by_context(&selection, Metric::Cpu).inclusive;
    assert_eq!(
        hot_path(selection.forest(), &amounts, ContextId(0), 0.5),
        [ContextId(0), ContextId(1), ContextId(5), ContextId(7), ContextId(9), ContextId(10)]
    );
    // The program is no place: its largest part is named, however little it is.
    let from = |root, threshold| hot_path(selection.forest(), &amounts, root, threshold);
    assert_eq!(from(ContextId::PROGRAM, 0.99), [ContextId(0), ContextId(1)]);
    assert_eq!(from(ContextId(1), 0.99), [ContextId(1)]);
}

/// Of functions as compiled, what was inlined is its caller's.
#[test]
fn functions_as_compiled_have_what_was_inlined_into_them() {
    let profile = profile();
    let amounts =
        |selection: &Selection<'_>| Amounts::by_function(selection, Metric::Cpu).shown(Unit::SECONDS);
    let source = amounts(&Selection::all(&profile));
    let compiled = amounts(&Selection::all(&profile).of_compiled_functions());
    // main, work, fact, start: the worker's 7 s in `work` were inlined into `start`.
    assert_eq!(source.exclusive, [1.0, 16.0, 3.0, 0.0]);
    assert_eq!(compiled.exclusive, [1.0, 9.0, 3.0, 7.0]);
    assert_eq!((source.inclusive[1], compiled.inclusive[1]), (16.0, 9.0));
    assert_eq!((source.inclusive[3], compiled.inclusive[3]), (7.0, 7.0));
    // Statistics over threads agree with the sums.
    let spread = Spread::by_function(&Selection::all(&profile).of_compiled_functions(), Metric::Cpu);
    let sums: Vec<f64> = spread.exclusive.iter().map(|one| one.sum).collect();
    assert_eq!(sums, compiled.exclusive);
    // Errors are those of the same samples.
    let selection = select(&profile, "time=..100s").of_compiled_functions();
    assert_eq!(Amounts::errors_by_function(&selection).exclusive.len(), 4);
}

#[test]
fn a_subtree_is_a_selection_of_its_own() {
    let profile = profile();
    let selection = Selection::all(&profile).under(ContextId(5));
    assert_eq!(selection.shown_total(Metric::Cpu), 7.0);
    let lines = OnPath::lines(&profile, selection.forest()).amounts(&selection, Metric::Cpu);
    assert_eq!(lines.exclusive.into_iter().max(), Some(4 * S));
}

#[test]
fn an_empty_profile_is_answered() {
    let profile = Profile::default();
    let selection = Selection::all(&profile);
    assert_eq!(selection.shown_total(Metric::Cpu), 0.0);
    assert!(OnPath::lines(&profile, selection.forest()).keys.is_empty());
    assert!(BottomUp::new(&selection, 5).nodes.is_empty());
    assert!(Spread::by_context(&selection, Metric::Cpu).inclusive.is_empty());
}

#[test]
fn ten_thousand_frames_of_recursion_are_answered() {
    let mut profile = profile();
    let depth = 10_000;
    for n in 0..depth {
        let parent = if n == 0 { 1 } else { profile.contexts.len() as u32 - 1 };
        let kind = ContextKind::Frame;
        profile.contexts.push(Context {
            parent: Some(ContextId(parent)),
            kind,
            function: Some(FunctionId(2)),
            file: None,
            line: None,
        });
    }
    let leaf = profile.contexts.len() as u32 - 1;
    profile.values.push(Value {
        context: ContextId(leaf),
        location: LocationId(1),
        metric: Metric::Cpu,
        amount: 5 * S as u64,
    });
    let selection = Selection::all(&profile);
    assert_eq!(Amounts::by_function(&selection, Metric::Cpu).shown(Unit::SECONDS).inclusive[2], 12.0);
    assert_eq!(Spread::by_function(&selection, Metric::Cpu).inclusive[2].sum, 12.0);
    let tree = BottomUp::new(&selection, 64);
    let exclusive = tree.amounts(&selection, Metric::Cpu).shown(Unit::SECONDS).exclusive;
    let roots = tree.nodes.iter().zip(exclusive).filter(|(node, _)| node.parent.is_none());
    assert_eq!(roots.map(|(_, amount)| amount).sum::<f64>(), 25.0);
}

/// An account of the profile: the main thread computes 10 s, of it 1 s in the queue, and waits 4 s in `fact`
/// for a lock that the worker holds; the worker computes 10 s, is passive for 5 s in `work`, and 6 s of empty
/// slots are charged to it.
fn account() -> Ledger {
    let s = |seconds: u64| seconds * 1_000_000_000;
    let row = |location, account, context, seconds| Row { location, account, context, ns: s(seconds) };
    let compute = |&(context, location, seconds): &(u32, u32, u64)| {
        row(
            LocationId(location),
            Account::Compute,
            ContextId(context),
            if context == 2 { 0 } else { seconds },
        )
    };
    let spent = [(2, 0, 1), (4, 0, 2), (4, 1, 3), (6, 0, 1), (8, 0, 2), (10, 0, 4), (13, 1, 7)];
    let mut ledger = Ledger { spent: spent.iter().map(compute).collect(), ..Ledger::default() };
    ledger.spent.extend([
        row(LocationId(0), Account::Preempted, ContextId(2), 1),
        row(LocationId(0), Account::Lock, ContextId(8), 4),
    ]);
    ledger.blamed = vec![
        row(LocationId(1), Account::Serial, ContextId(13), 5),
        row(LocationId(1), Account::Lock, ContextId(13), 1),
    ];
    ledger.caused = vec![
        row(LocationId(0), Account::Preempted, ContextId(2), 1),
        row(LocationId(1), Account::Serial, ContextId(13), 5),
        row(LocationId(1), Account::Lock, ContextId(13), 5),
    ];
    ledger.passive = vec![PassiveRow {
        location: LocationId(1),
        reason: PassiveReason::Join,
        context: ContextId(13),
        ns: s(5),
    }];
    ledger
}

#[test]
fn seconds_by_account_are_measures_as_metrics_are() {
    let (profile, account) = (profile(), account());
    let selection = Selection::all(&profile).with_rows(&account);
    let total = |measure| selection.shown_total(measure);
    assert_eq!((total(Measure::Wall), total(Measure::Active)), (29.0, 24.0));
    assert_eq!((total(Measure::Queued), total(Measure::Passive(None))), (1.0, 5.0));
    let caused =
        [Measure::Caused(None), Measure::Account(Account::Serial), Measure::Caused(Some(Account::Lock))];
    assert_eq!(caused.map(total), [11.0, 5.0, 5.0]);
    // Everything lost is caused somewhere.
    assert_eq!((total(Measure::Lost), total(Measure::Empty)), (5.0, 6.0));
    // Recursion counts once, and a wait is where it was waited.
    let lock = Amounts::by_function(&selection, Measure::Account(Account::Lock)).shown(Unit::SECONDS);
    assert_eq!((lock.inclusive, lock.exclusive), (vec![4.0, 0.0, 4.0, 0.0], vec![0.0, 0.0, 4.0, 0.0]));
    let join = Spread::by_function(&selection, Measure::Passive(Some(PassiveReason::Join)));
    assert_eq!((join.inclusive[1].max, join.inclusive[1].max_location), (5.0, Some(LocationId(1))));
    assert_eq!(join.inclusive[1].mean, 2.5);
    // Without a ledger nothing is known.
    assert_eq!(Selection::all(&profile).shown_total(Measure::Wall), 0.0);
}

#[test]
fn accounts_are_restricted_as_cpu_time_is() {
    let (profile, account) = (profile(), account());
    let of = |expression: &str| {
        let selection = select(&profile, expression).with_rows(&account);
        [Measure::Active, Measure::Passive(None), Measure::Caused(None)]
            .map(|measure| selection.shown_total(measure))
    };
    assert_eq!(of("thread=worker-*"), [10.0, 5.0, 10.0]);
    assert_eq!(of("function=fact"), [11.0, 0.0, 0.0]);
    assert_eq!(of("function!=fact and thread=app"), [3.0, 0.0, 1.0]);
    let below = Selection::all(&profile).with_rows(&account).under(ContextId(11));
    assert_eq!((below.shown_total(Measure::Wall), below.shown_total(Measure::Active)), (12.0, 7.0));
}

#[test]
fn operations_are_counted_in_the_range_in_which_they_end() {
    let mut profile = profile();
    profile.operations =
        ["read", "pthread_mutex_lock"].map(proust_ingest::operation_info).into_iter().collect();
    let event = |location, operation, begin_s: u64, end_s: u64| proust_profile::EventRow {
        location,
        context: ContextId(3),
        operation,
        begin_ns: begin_s * 1_000_000_000,
        end_ns: end_s * 1_000_000_000,
        time_ns: (end_s - begin_s) * 1_000_000_000,
        calls: 2,
        bytes: 100,
        ..Default::default()
    };
    profile.events = vec![
        event(LocationId(0), OperationId(0), 0, 2),
        event(LocationId(0), OperationId(1), 2, 4),
        event(LocationId(1), OperationId(0), 1, 3),
    ]
    .into();
    let of = |expression: &str| {
        let selection = select(&profile, expression);
        [Metric::IoCalls, Metric::ReadBytes, Metric::Waits].map(|metric| selection.shown_total(metric))
    };
    assert_eq!(of("time=0s..2s"), [2.0, 100.0, 0.0]);
    assert_eq!(of("time=2s.."), [2.0, 100.0, 2.0]);
    assert_eq!(of("time=0s..2s,2s..4s and thread=app"), [2.0, 100.0, 2.0]);
    // They are on no processor.
    assert_eq!(of("cpu=0..9"), [0.0; 3]);
}
