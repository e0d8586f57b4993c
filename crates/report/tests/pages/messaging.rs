//! A run of two ranks that wait for each other, and its page `mpi`.

use proust_ingest::operation_info;
use proust_profile::{
    ClockBasis, CommunicatorInfo, Context, ContextId, ContextKind, EventRow, ExchangeRow, Function,
    FunctionId, GatheringRow, HostClock, IdealNetwork, Location, LocationId, MessagePart, MessageQuality, Ns,
    OperationId, PartnerWaitRow, Process, ProcessId, Profile, RunFacts, SampleRow, TrafficRow, TransferRow,
    UnmatchedReason, UnmatchedRow, WaitPattern,
};
use proust_report::{Format, PageName, Question, Style, render};

const MS: u64 = 1_000_000;
const INIT: u32 = 0;
const SEND: u32 = 1;
const RECEIVE: u32 = 2;
const BARRIER: u32 = 3;

/// Both begin MPI until 100 ms. Rank 0 prepares until 400 ms, sends until 410 ms, and waits at a barrier
/// until 700 ms; rank 1 receives until 410 ms, solves until 690 ms, and is the last at the barrier.
pub fn messaging() -> Profile {
    let context = |parent, function, line| Context {
        parent: Some(ContextId(parent)),
        kind: ContextKind::Frame,
        function: Some(FunctionId(function)),
        file: Some("/src/ranks.c".into()),
        line: Some(line),
    };
    let function = |name: &str, line| Function {
        name: name.into(),
        file: Some("/src/ranks.c".into()),
        line: Some(line),
        ..Function::default()
    };
    let event = |location, operation, context, (begin_ms, end_ms): (u64, u64), bytes| EventRow {
        location: LocationId(location),
        operation: OperationId(operation),
        context: ContextId(context),
        begin_ns: begin_ms * MS,
        end_ns: end_ms * MS,
        time_ns: (end_ms - begin_ms) * MS,
        calls: 1,
        bytes,
        ..EventRow::default()
    };
    let mut samples = Vec::new();
    for (location, context, from_ms, to_ms) in [(0, 2, 100, 400), (1, 3, 410, 690)] {
        samples.extend((from_ms / 5 + 1..=to_ms / 5).map(|n| SampleRow {
            location: LocationId(location),
            context: ContextId(context),
            time_ns: n * 5 * MS,
            cpu_ns: 5 * MS,
            processor: location as u16,
            ..SampleRow::default()
        }));
    }
    let wait = |location, operation, context, (begin_ms, until_ms): (u64, u64), pattern, late_context| {
        PartnerWaitRow {
            location: LocationId(location),
            context: ContextId(context),
            operation: OperationId(operation),
            begin_ns: begin_ms * MS,
            until_ns: until_ms * MS,
            pattern,
            late: LocationId(1 - location),
            late_context: ContextId(late_context),
            misordered_ns: if pattern == WaitPattern::LateSender { 30 * MS } else { 0 },
            bytes: if pattern == WaitPattern::LateSender { 4096 } else { 0 },
        }
    };
    let transfer =
        |location, operation, (begin_ms, end_ms): (u64, u64), (sent, received): (u64, u64)| TransferRow {
            location: LocationId(location),
            context: ContextId(1),
            operation: OperationId(operation),
            begin_ns: begin_ms * MS,
            end_ns: end_ms * MS,
            sends: sent.min(1) as u32,
            receives: received.min(1) as u32,
            sent_bytes: sent,
            received_bytes: received,
            ..TransferRow::default()
        };
    let process =
        |rank| Process { pid: 10 + rank, rank: Some(rank), end: Ns::of(700 * MS), ..Process::default() };
    let location = |process| Location {
        process: ProcessId(process),
        end: Ns::of(700 * MS),
        cpu: Ns::of(if process == 0 { 300 * MS } else { 280 * MS }),
        ..Location::default()
    };
    let exchange = |location, operation, (time_ms, partner_ms): (u64, u64), more: fn(&mut ExchangeRow)| {
        let mut row = ExchangeRow {
            location: LocationId(location),
            context: ContextId(1),
            operation: OperationId(operation),
            calls: 1,
            time_ns: time_ms * MS,
            partner_ns: partner_ms * MS,
            shares: 0.5,
            ..ExchangeRow::default()
        };
        more(&mut row);
        row
    };
    let mut profile = Profile {
        facts: RunFacts { wall: Ns::of(700 * MS), available_processors: 2, ..RunFacts::default() },
        processes: vec![process(0), process(1)].into(),
        locations: vec![location(0), location(1)].into(),
        functions: vec![function("main", 3), function("prepare", 20), function("solve", 40)].into(),
        contexts: vec![
            Context { parent: None, kind: ContextKind::Program, function: None, file: None, line: None },
            context(0, 0, 3),
            context(1, 1, 8),
            context(1, 2, 9),
        ]
        .into(),
        operations: ["MPI_Init", "MPI_Send", "MPI_Recv", "MPI_Barrier"].map(operation_info).to_vec().into(),
        events: vec![
            event(0, INIT, 1, (0, 100), 0),
            event(0, SEND, 1, (400, 410), 4096),
            event(0, BARRIER, 1, (410, 700), 0),
            event(1, INIT, 1, (0, 100), 0),
            event(1, RECEIVE, 1, (100, 410), 4096),
            event(1, BARRIER, 1, (690, 700), 0),
        ]
        .into(),
        samples: samples.into(),
        communicators: vec![CommunicatorInfo {
            id: 1,
            size: 2,
            is_world: true,
            is_known: true,
            recorded: 2,
            messages: 1,
            bytes: 4096,
            members: vec![0, 1],
            ..CommunicatorInfo::default()
        }],
        transfers: vec![
            transfer(0, SEND, (400, 410), (4096, 0)),
            transfer(1, RECEIVE, (100, 410), (0, 4096)),
        ]
        .into(),
        traffic: vec![TrafficRow { from: ProcessId(0), to: ProcessId(1), messages: 1, bytes: 4096 }],
        exchanges: vec![
            exchange(0, INIT, (100, 0), |_| ()),
            exchange(0, SEND, (10, 0), |row| row.matched = 1),
            exchange(0, BARRIER, (290, 280), |row| (row.matched, row.later_begins_ns) = (1, 280 * MS)),
            exchange(1, INIT, (100, 0), |_| ()),
            exchange(1, RECEIVE, (310, 300), |row| {
                (row.matched, row.later_begins_ns, row.late_sends_ns) = (1, 300 * MS, 300 * MS);
                (row.received, row.spans_ns) = (1, (10 * MS) as f64);
            }),
            exchange(1, BARRIER, (10, 0), |row| row.matched = 1),
        ],
        gatherings: vec![GatheringRow {
            communicator: 0,
            operation: OperationId(BARRIER),
            instances: 1,
            bytes: 0,
        }],
        unmatched: vec![UnmatchedRow {
            process: ProcessId(0),
            part: MessagePart::Send,
            reason: UnmatchedReason::Missing,
            count: 2,
        }],
        partner_waits: vec![
            wait(0, BARRIER, 1, (410, 690), WaitPattern::Barrier, 1),
            wait(1, RECEIVE, 1, (100, 400), WaitPattern::LateSender, 1),
        ]
        .into(),
        ..Profile::default()
    };
    profile.quality.messages = Some(MessageQuality {
        messages: 1,
        violations: 1,
        largest_violation_ns: 3000,
        matched_until_ns: Some(700 * MS),
        ideal: Some(IdealNetwork {
            time_ns: 800 * MS,
            ideal_ns: Some(600 * MS),
            outside: vec![(ProcessId(0), 200 * MS), (ProcessId(1), 500 * MS)],
        }),
        ..MessageQuality::default()
    });
    profile.quality.clocks = vec![
        HostClock {
            host: "near".into(),
            basis: ClockBasis::Reference,
            shift_ns: 0,
            drift_ppb: 0,
            error_ns: None,
        },
        HostClock {
            host: "far".into(),
            basis: ClockBasis::Messages,
            shift_ns: -7_000_000,
            drift_ppb: 1500,
            error_ns: Some(2000),
        },
        HostClock {
            host: "away".into(),
            basis: ClockBasis::ClockOfDay,
            shift_ns: 5,
            drift_ppb: 0,
            error_ns: None,
        },
    ];
    profile.check().expect("the example is a profile");
    profile
}

fn shown(format: Format) -> String {
    let question = Question { page: PageName::Mpi, format, ..Question::default() };
    render(&messaging(), &question, &Style::default()).unwrap().page
}

#[test]
fn ranks_that_wait() {
    insta::assert_snapshot!("messaging_mpi_text", shown(Format::Text));
    insta::assert_snapshot!("messaging_mpi_csv", shown(Format::Csv));
    let value: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    insta::assert_json_snapshot!("messaging_mpi_json", value);
}

/// The run's first process is the launcher, and of what rank 1 did no call path is known.
#[test]
fn code_without_a_function_is_named_with_the_ranks_own_program() {
    let mut profile = messaging();
    let samples: Vec<SampleRow> = profile.samples.iter().collect();
    let unknown = |row: SampleRow| if row.context == ContextId(3) { ContextId(0) } else { row.context };
    profile.samples =
        Vec::from_iter(samples.into_iter().map(|row| SampleRow { context: unknown(row), ..row })).into();
    for (id, name) in [(0, "mpirun"), (1, "waves")] {
        profile.processes[ProcessId(id)].name = name.into();
    }
    let question = Question { page: PageName::Mpi, ..Question::default() };
    let page = render(&profile, &question, &Style::default()).unwrap().page;
    let delays = page.split("Delay costs").nth(1).unwrap().split("Critical path").next().unwrap();
    assert!(delays.contains("waves") && !delays.contains("mpirun"), "{page}");
}

/// Half of what rank 0 prepares is prepared below `solve`, which calls it on line 9 as well, and the barrier
/// is called from there: the tables show no call paths, so each place stands there once, with the whole.
#[test]
fn a_place_that_is_reached_on_two_paths_is_one_row() {
    let mut profile = messaging();
    let below = |parent, context: Context| Context { parent: Some(parent), ..context };
    let prepare = below(ContextId(3), profile.contexts[ContextId(2)].clone());
    let main = below(ContextId(3), profile.contexts[ContextId(1)].clone());
    profile.contexts.extend([prepare, main]);
    let samples: Vec<SampleRow> = profile.samples.iter().collect();
    let moved = |row: SampleRow| match row.context == ContextId(2) && row.time_ns > 250 * MS {
        true => SampleRow { context: ContextId(4), ..row },
        false => row,
    };
    profile.samples = Vec::from_iter(samples.into_iter().map(moved)).into();
    let events: Vec<EventRow> = profile.events.iter().collect();
    let moved = |row: EventRow| match row.operation == OperationId(BARRIER) && row.location == LocationId(1) {
        true => EventRow { context: ContextId(5), ..row },
        false => row,
    };
    profile.events = Vec::from_iter(events.into_iter().map(moved)).into();
    profile.check().unwrap();
    let shown = |format| {
        let question = Question { page: PageName::Mpi, format, ..Question::default() };
        render(&profile, &question, &Style::default()).unwrap().page
    };
    let value: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    let rows = |list: &serde_json::Value, key: &str, name: &str| {
        list.as_array().unwrap().iter().filter(|row| row[key] == name).count()
    };
    assert_eq!(rows(&value["operations"], "operation", "MPI_Barrier"), 2, "{value:#}");
    assert_eq!(rows(&value["causes"], "function", "prepare"), 2, "{value:#}");
    let text = shown(Format::Text);
    let section = |title: &str| -> Vec<String> {
        let lines = text.lines().skip_while(|line| !line.starts_with(title));
        lines.skip(1).take_while(|line| !line.is_empty()).map(str::to_owned).collect()
    };
    let only = |title: &str, word: &str| {
        let found: Vec<String> = section(title).into_iter().filter(|line| line.contains(word)).collect();
        assert_eq!(found.len(), 1, "{title}: {found:?} in {text}");
        found[0].split_whitespace().map(str::to_owned).collect::<Vec<String>>()
    };
    assert_eq!(&only("Calls", "MPI_Barrier")[..3], ["0.300", "0.280", "2"]);
    assert_eq!(only("Causes", "prepare")[0], "0.300");
    assert_eq!(only("Delay costs", "prepare")[0], "0.300");
    assert_eq!(only("Critical path", "prepare")[0], "0.300");
}

/// The launcher lives longer than the ranks, so the head of a page has another wall time than its ledger.
#[test]
fn the_wall_time_of_the_ledger_is_the_ranks() {
    let mut profile = messaging();
    profile.facts.wall = Ns::from_seconds(1.5);
    let question = Question { page: PageName::Summary, ..Question::default() };
    let page = render(&profile, &question, &Style::default()).unwrap().page;
    assert!(page.contains(" wall 1.500 s") && page.contains(" wall of the ranks;"), "{page}");
}

/// By hand: 300 + 280 ms of waits, caused by what the other rank did meanwhile.
#[test]
fn waits_and_causes_are_those_of_the_example() {
    let page: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    let near = |value: &serde_json::Value, truth: f64| {
        assert!((value.as_f64().unwrap() - truth).abs() < 1e-3, "{value} is not {truth}: {page:#}");
    };
    near(&page["partner_s"], 0.58);
    near(&page["mpi_s"], 0.82);
    near(&page["runtime_s"], 0.2);
    near(&page["transfer_s"], 0.04);
    let causes = page["causes"].as_array().unwrap();
    let of = |function: &str, rank: u64| {
        let is_it = |cause: &&serde_json::Value| cause["function"] == function && cause["rank"] == rank;
        causes.iter().filter(is_it).filter_map(|cause| cause["seconds"].as_f64()).sum::<f64>()
    };
    near(&of("prepare", 0).into(), 0.3);
    near(&of("solve", 1).into(), 0.28);
}

/// By hand: rank 1 from its end at 700 ms back to 400 ms, when the message that it waited for was sent; from
/// there rank 0 back to the begin of MPI.
#[test]
fn the_critical_path_is_that_of_the_example() {
    let page: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    let path = &page["critical_path"];
    let near = |value: &serde_json::Value, truth: f64| {
        assert!((value.as_f64().unwrap() - truth).abs() < 1e-9, "{value} is not {truth}: {path:#}");
    };
    near(&path["length_s"], 0.6);
    near(&path["ranks"][0]["seconds"], 0.3);
    let activity = |function: &str, operation: Option<&str>| {
        let is_it =
            |one: &&serde_json::Value| one["function"] == function && one["operation"].as_str() == operation;
        path["activities"].as_array().unwrap().iter().find(is_it).cloned().unwrap()
    };
    near(&activity("prepare", None)["seconds"], 0.3);
    near(&activity("prepare", None)["mean_s"], 0.15);
    near(&activity("solve", None)["seconds"], 0.28);
    near(&activity("main", Some("MPI_Recv"))["seconds"], 0.01);
    near(&activity("main", Some("MPI_Barrier"))["seconds"], 0.01);
    near(&path["impact"]["total_s"], 1.2);
    // Each rank waits for work that it never does itself.
    near(&path["impact"]["imbalance_s"], 0.0);
    near(&path["impact"]["other_code_s"], 0.58);
}

/// A part of a run has no path of its own: the page says so.
#[test]
fn the_critical_path_is_never_selected() {
    let shown = |filter: &[&str], format: Format| {
        let filter = proust_query::Filter::parse(filter).unwrap();
        let question = Question { page: PageName::Mpi, format, filter, ..Question::default() };
        render(&messaging(), &question, &Style::default()).unwrap().page
    };
    let json = |filter: &[&str]| -> serde_json::Value {
        serde_json::from_str(&shown(filter, Format::Json)).unwrap()
    };
    let (whole, part) = (json(&[]), json(&["rank=1"]));
    assert_eq!(
        (&whole["critical_path"]["ignores_where"], &part["critical_path"]["ignores_where"]),
        (&false.into(), &true.into())
    );
    assert_eq!(whole["critical_path"]["activities"], part["critical_path"]["activities"]);
    let sentence = "--where does not select it";
    assert!(shown(&["rank=1"], Format::Text).contains(sentence));
    assert!(!shown(&[], Format::Text).contains(sentence));
}

/// By hand: rank 1 receives for 310 ms and waits for 300 of these, rank 0 sends for 10; both are late since
/// they work, so all costs are short-term ones of those two.
#[test]
fn sizes_and_delay_costs_are_those_of_the_example() {
    let page: serde_json::Value = serde_json::from_str(&shown(Format::Json)).unwrap();
    let near = |value: &serde_json::Value, truth: f64| {
        assert!((value.as_f64().unwrap() - truth).abs() < 1e-9, "{value} is not {truth}: {page:#}");
    };
    let sizes = page["message_sizes"].as_array().unwrap();
    assert_eq!(sizes.len(), 1, "{sizes:#?}");
    for (field, truth) in [
        ("from_bytes", 4096.0),
        ("below_bytes", 32768.0),
        ("sends", 1.0),
        ("receives", 1.0),
        ("sent_bytes", 4096.0),
        ("received_bytes", 4096.0),
        ("seconds", 0.32),
        ("waited_s", 0.3),
    ] {
        near(&sizes[0][field], truth);
    }
    let costs = &page["delay_costs"];
    near(&costs["direct_s"], 0.58);
    near(&costs["indirect_s"], 0.0);
    let delays = costs["delays"].as_array().unwrap();
    let of = |function: &str| {
        delays.iter().find(|delay| delay["function"] == function && delay["operation"].is_null()).unwrap()
    };
    near(&of("prepare")["seconds"], 0.3);
    assert!(of("prepare")["since"].is_null() && of("prepare")["rank"] == 0);
    // Besides 280 ms of that, rank 1 was in its receive for 10 ms, in which rank 0 sent.
    near(&of("solve")["short_term_s"], 0.28 * 280.0 / 290.0);
    assert_eq!(
        (of("solve")["rank"].as_u64(), of("solve")["since"]["function"].as_str()),
        (Some(1), Some("main"))
    );
}
