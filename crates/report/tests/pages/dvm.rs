//! The classic layouts, parsed back and compared with the JSON.

use std::collections::BTreeMap;

use proust_profile::{
    Context, ContextId, ContextKind, ExecutionRow, IntervalContext, IntervalInfo, IntervalWork, LocationId,
    Profile,
};
use proust_report::{
    Block, Classic, Format, Layout, PageName, Question, Reference, References, ReportError, Style, render,
};
use serde_json::Value;

use crate::example::{crowded, profile, waiting};
use crate::messaging::messaging;

/// A run with two intervals: `solve` of the first thread, and in it `sweep`, by each thread for itself.
pub fn marked(mut profile: Profile) -> Profile {
    let info = |name: &str, parent, work| IntervalInfo {
        parent,
        name: name.into(),
        file: Some("/src/main.c".into()),
        line: Some(30),
        work,
        ..IntervalInfo::default()
    };
    profile.intervals =
        vec![info("solve", None, IntervalWork::Plain), info("sweep", Some(0), IntervalWork::Parallel)];
    let row = |location, interval, begin_ms: u64, end_ms: u64| ExecutionRow {
        location: LocationId(location),
        interval,
        begin_ns: begin_ms * 1_000_000,
        end_ns: end_ms * 1_000_000,
        iterations: u64::from(interval) * 50,
        ..ExecutionRow::default()
    };
    profile.executions = vec![row(0, 0, 100, 2_900), row(0, 1, 200, 480), row(1, 1, 510, 1_900)];
    // In the tree they are below the program, without any time of their own.
    for interval in 0..2 {
        let context = profile.contexts.push_and_get_key(Context {
            parent: Some(ContextId(0)),
            kind: ContextKind::Interval,
            function: None,
            file: None,
            line: None,
        });
        profile.interval_contexts.push(IntervalContext { context, interval });
    }
    profile
}

fn shown(profile: &Profile, question: Question) -> Result<String, ReportError> {
    let question = Question { page: PageName::Intervals, ..question };
    render(profile, &question, &Style::default()).map(|rendered| rendered.page)
}

fn json(profile: &Profile) -> Value {
    let page = shown(profile, Question { format: Format::Json, ..Question::default() }).unwrap();
    serde_json::from_str(&page).unwrap()
}

fn classic(profile: &Profile, zeros: bool) -> String {
    let blocks = vec![Block::Main, Block::Comparative, Block::Processors, Block::Operations];
    let classic = Classic { blocks, zeros, ..Classic::default() };
    shown(profile, Question { classic: Some(classic), ..Question::default() }).unwrap()
}

/// A number as printed; None = not known.
type Cell = Option<f64>;

/// An interval as printed.
#[derive(Debug, Default)]
struct Parsed {
    head: String,
    /// How many processors executed it, and of how many; empty = all did.
    executed_by: Vec<Cell>,
    main: BTreeMap<String, Cell>,
    pop: BTreeMap<String, Cell>,
    operations: BTreeMap<String, Vec<Cell>>,
    comparative: BTreeMap<String, Vec<Cell>>,
    /// By operation: the lines of least, most and mean.
    cells: BTreeMap<String, Vec<Vec<Cell>>>,
    each: Vec<BTreeMap<String, Cell>>,
}

fn cell(word: &str) -> Cell {
    if word == "n/a" { None } else { Some(word.parse().unwrap_or_else(|_| panic!("a number: {word}"))) }
}

fn numbers(text: &str) -> Vec<Cell> {
    text.split_whitespace().map(cell).collect()
}

/// The name at the begin of a line, without what shows its depth, and what follows it.
fn name_of(line: &str) -> (String, &str) {
    let line = line.trim_start_matches(['*', '-', ' ']);
    let (name, rest) = line.split_once(' ').unwrap_or((line, ""));
    (name.to_owned(), rest.trim())
}

fn parse(text: &str) -> Vec<Parsed> {
    let mut all: Vec<Parsed> = Vec::new();
    let mut block = "";
    let mut operation = String::new();
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with("INTERVAL (") {
            all.push(Parsed { head: line.into(), ..Parsed::default() });
            continue;
        }
        let one = all.last_mut().expect("an interval first");
        if let Some(rest) = line.strip_prefix("Executed by ") {
            one.executed_by = numbers(&rest.replace("of", "").replace("processors", ""));
            continue;
        }
        if let Some(title) = line.strip_prefix("--- ") {
            block = match title.split_whitespace().next() {
                Some("Main") => "main",
                Some("POP") => "pop",
                Some("Comparative") => "comparative",
                Some("Execution") => "each",
                _ => panic!("{line}"),
            };
            continue;
        }
        if line.starts_with(' ') && line.contains("Nop") {
            block = "operations";
            continue;
        }
        if line.starts_with(' ') && line.contains("Communication") && line.contains("Npr") {
            block = "cells";
            continue;
        }
        match block {
            "main" => {
                let (name, rest) = name_of(line);
                let (value, parts) = rest.split_once('(').unwrap_or((rest, ""));
                one.main.insert(name, cell(value.trim()));
                for part in parts.trim_end_matches(')').split(',').filter(|part| part.contains(' ')) {
                    if let Some((name, number)) = part.trim().split_once(' ')
                        && !part.contains("may contain")
                    {
                        one.main.insert(name.into(), cell(number));
                    }
                }
            }
            "pop" if !line.starts_with("Efficiency ") => {
                let (name, rest) = name_of(line);
                one.pop.insert(name, cell(rest));
            }
            "pop" => {}
            "operations" => {
                let (name, rest) = name_of(line);
                one.operations.insert(name, numbers(rest));
            }
            "comparative" if line.starts_with(' ') => {}
            "comparative" => {
                let (name, rest) = name_of(line);
                one.comparative.insert(name, numbers(rest));
            }
            "cells" => {
                let words: Vec<&str> = line.split_whitespace().collect();
                let is_first = !line.starts_with(' ');
                if is_first {
                    operation = words[0].to_owned();
                }
                let rest: Vec<Cell> =
                    words[usize::from(is_first) + 1..].iter().map(|word| cell(word)).collect();
                one.cells.entry(operation.clone()).or_default().push(rest);
            }
            "each" if line.starts_with("Npr=") => one.each.push(BTreeMap::new()),
            "each" => {
                let (name, rest) = name_of(line);
                one.each.last_mut().expect("a processor").insert(name, cell(rest));
            }
            _ => panic!("{line}"),
        }
    }
    all
}

#[track_caller]
fn assert_same(what: &str, printed: Cell, json: &Value) {
    match (printed, json.as_f64()) {
        (Some(printed), Some(exact)) => {
            assert!((printed - exact).abs() <= 5.1e-7 * 1.0_f64.max(exact), "{what}: {printed}, {exact}");
        }
        (printed, exact) => assert_eq!(printed, exact, "{what}"),
    }
}

/// The field of a printed name.
fn field(name: &str) -> String {
    let id = match name {
        "Seq" => "insufficient_parallelism_seq",
        "Par" => "insufficient_parallelism_par",
        "I/O_time" => "io_time",
        "Parallel_loop_iteration" => return "iterations".into(),
        "Efficiency" | "Processors" => return name.to_lowercase(),
        name => return format!("{}_s", name.to_lowercase()),
    };
    format!("{id}_s")
}

fn compare(profile: &Profile) {
    let json = json(profile);
    let parsed = parse(&classic(profile, true));
    let intervals = json["intervals"].as_array().unwrap();
    assert_eq!(parsed.len(), intervals.len());
    for (printed, interval) in parsed.iter().zip(intervals) {
        let dvm = &interval["dvm"];
        let head = &printed.head;
        assert!(head.contains(&format!("LEVEL={} ", interval["level"])), "{head}");
        assert!(head.contains(interval["kind"].as_str().unwrap()), "{head}");
        assert!(head.ends_with(&format!("NAME= {}", interval["name"].as_str().unwrap())), "{head}");
        let (here, missing) = (dvm["processors"].as_f64().unwrap(), dvm["missing"].as_f64().unwrap());
        let executed_by = if missing > 0.0 { vec![Some(here), Some(here + missing)] } else { Vec::new() };
        assert_eq!(printed.executed_by, executed_by, "{head}");
        assert_eq!(printed.main.len(), 17, "{printed:?}");
        for (name, &value) in &printed.main {
            assert_same(name, value, &dvm[field(name)]);
        }
        for (name, &value) in &printed.pop {
            assert_same(name, value, &dvm["pop"][name.to_lowercase()]);
        }
        assert_eq!(printed.comparative.len(), 19);
        for (name, values) in &printed.comparative {
            let id = field(name);
            let over = &dvm["comparative"][id.trim_end_matches("_s")];
            if values.len() == 1 {
                assert!(over.is_null(), "{name}: {over}");
                continue;
            }
            for (value, of) in values.iter().zip(["min", "min_at", "max", "max_at", "mean"]) {
                let exact = over[of].as_f64().map(|number| match name.as_str() {
                    "Processors" | "Parallel_loop_iteration" => number.round_ties_even(),
                    _ => number,
                });
                assert_same(&format!("{name} {of}"), *value, &Value::from(exact));
            }
        }
        assert_eq!(printed.each.len(), dvm["processors"].as_u64().unwrap() as usize);
        for (values, each) in printed.each.iter().zip(dvm["each"].as_array().unwrap()) {
            assert_eq!(values.len(), 18, "{values:?}");
            values.iter().for_each(|(name, &value)| assert_same(name, value, &each[field(name)]));
        }
        for (name, row) in &printed.operations {
            let id = if name == "I/O" { "io".to_owned() } else { name.to_lowercase() };
            let exact = &dvm["operations"][&id];
            let count = exact["count"].as_f64().map(|count| (count - 1e-6).ceil());
            assert_same(name, row[0], &Value::from(count));
            let columns = ["communication", "synchronization", "variation", "overlap"];
            for (value, column) in row[1..].iter().zip(columns) {
                assert_same(&format!("{name} {column}"), *value, &exact[format!("{column}_s")]);
            }
            let known = columns.iter().filter(|column| !exact["comparative"][**column].is_null());
            let mins: f64 = known.map(|column| exact["comparative"][*column]["min"].as_f64().unwrap()).sum();
            // Of each column that is known the amount and the processor.
            let printed_mins: f64 = {
                let mut sum = 0.0;
                let mut line = printed.cells[name][0].iter();
                while let Some(value) = line.next() {
                    if let Some(value) = value {
                        sum += value;
                        line.next();
                    }
                }
                sum
            };
            assert!((mins - printed_mins).abs() < 3e-6, "{name}: {mins} {printed_mins}");
        }
    }
}

#[test]
fn the_classic_layout_has_the_numbers_of_the_json() {
    for profile in [profile(), waiting(), crowded(), messaging()] {
        compare(&profile);
        compare(&marked(profile));
    }
}

#[test]
fn without_zeros_lines_are_left_out_and_none_is_changed() {
    let profile = marked(waiting());
    let (all, some) = (classic(&profile, true), classic(&profile, false));
    let (all, some) = (parse(&all), parse(&some));
    for (all, some) in all.iter().zip(&some) {
        assert!(some.comparative.len() < all.comparative.len(), "{some:?}");
        for (name, values) in &some.comparative {
            assert_eq!(values, &all.comparative[name]);
        }
        for (name, row) in &some.operations {
            assert_eq!(row, &all.operations[name]);
        }
        assert!(!some.operations.contains_key("Remote_access"), "no source: {some:?}");
        assert_eq!(all.operations["Remote_access"], [None; 5]);
    }
}

#[test]
fn threads_that_follow_one_another_are_one_processor() {
    let json = json(&marked(profile()));
    let [run, solve, sweep] = [0, 1, 2].map(|at| json["intervals"][at]["dvm"].clone());
    // The first thread works up to 0.5 s, and the second from then on.
    assert_eq!((run["processors"].as_u64(), solve["processors"].as_u64()), (Some(1), Some(1)));
    let each = sweep["each"].as_array().unwrap();
    assert_eq!((each.len(), each[0]["threads"].as_array().unwrap().len()), (1, 2));
    // 0.2 to 0.48 s, and 0.51 to 1.9 s.
    assert_eq!(each[0]["execution_time_s"].as_f64().map(|s| (s * 1e6).round()), Some(1_670_000.0));
    assert_eq!((&sweep["iterations"], &run["iterations"]), (&100.0.into(), &100.0.into()));
    assert_eq!(
        (&run["insufficient_parallelism_s"], &run["may_contain_replicated"]),
        (&Value::Null, &false.into())
    );
}

#[test]
fn the_layout_of_ranks_needs_ranks() {
    let of_mpi = |profile: &Profile| {
        let classic = Classic { layout: Layout::DvmMpi, ..Classic::default() };
        shown(profile, Question { classic: Some(classic), ..Question::default() })
    };
    assert!(matches!(of_mpi(&profile()), Err(ReportError::Usage(_))));
    let mut ranked = marked(profile());
    ranked.processes[proust_profile::ProcessId(0)].rank = Some(0);
    let text = of_mpi(&ranked).unwrap();
    let json = json(&ranked);
    let mpi = &json["intervals"][0]["dvm"]["mpi"];
    let line = |name: &str| {
        let line =
            text.lines().find(|line| line.starts_with(name)).unwrap_or_else(|| panic!("{name}: {text}"));
        cell(line[name.len()..].trim())
    };
    assert_same("execution", line("Execution Time"), &mpi["execution_time_s"]);
    assert_same("total", line("Total Time"), &mpi["total_time_s"]);
    assert_same("idle", line("---Idle Time"), &mpi["idle_time_s"]);
    // What happens inside of MPI is not recorded.
    for (name, of) in [("---MPI Time", "mpi_time_s"), ("*****SendRecv Time", "sendrecv_time_s")] {
        assert_eq!(line(name), None);
        assert!(mpi[of].is_null());
    }
}

/// By hand: a message that is sent 300 ms after its receive began, and a barrier at which one rank is 280 ms
/// early.
#[test]
fn calls_of_mpi_are_in_their_rows() {
    let json = json(&messaging());
    let dvm = &json["intervals"][0]["dvm"];
    let near = |what: &Value, truth: f64| {
        assert!((what.as_f64().unwrap_or(f64::NAN) - truth).abs() < 1e-6, "{what} is not {truth}: {dvm:#}");
    };
    let row = |id: &str| dvm["operations"][id].clone();
    near(&row("point_to_point")["count"], 1.0);
    near(&row("point_to_point")["communication_s"], 0.32);
    near(&row("point_to_point")["synchronization_s"], 0.3);
    near(&row("barrier")["count"], 1.0);
    near(&row("barrier")["communication_s"], 0.3);
    near(&row("barrier")["synchronization_s"], 0.28);
    near(&row("startup")["communication_s"], 0.2);
    assert!(row("startup")["synchronization_s"].is_null(), "{dvm:#}");
    for column in ["communication", "synchronization", "variation", "overlap"] {
        let rows = dvm["operations"].as_object().unwrap();
        let sum: f64 = rows.values().filter_map(|row| row[format!("{column}_s")].as_f64()).sum();
        let of_all = if column == "variation" { "time_variation_s".into() } else { format!("{column}_s") };
        near(&dvm[of_all], sum);
    }
    let mpi = &dvm["mpi"];
    for (of, truth) in [
        ("mpi_time_s", 0.82),
        ("sendrecv_time_s", 0.32),
        ("collectiveall_time_s", 0.3),
        ("alltoall_time_s", 0.0),
        ("comm_time_s", 0.62),
        ("potent_sync_s", 0.58),
        ("time_variation_s", 0.0),
        ("t_start_s", 0.0),
        ("message_span_s", 0.01),
        ("lost_time_s", 0.82),
        ("productive_time_s", 0.58),
    ] {
        near(&mpi[of], truth);
    }
    // Of two ranks half of the time in MPI is that of one.
    near(&mpi["replicated"]["productive_time_s"], 0.58 + 0.41);
    near(&mpi["replicated"]["efficiency"], 0.99 / 1.4);
}

/// Where partners are not known, potential values are not, and the times still are.
#[test]
fn without_partners_potential_values_are_not_known() {
    let mut profile = messaging();
    for row in &mut profile.exchanges {
        (row.matched, row.unmatched) = (0, row.matched);
    }
    let dvm = json(&profile)["intervals"][0]["dvm"].clone();
    let barrier = &dvm["operations"]["barrier"];
    assert!(barrier["synchronization_s"].is_null() && barrier["variation_s"].is_null(), "{barrier}");
    assert!(barrier["communication_s"].is_f64() && barrier["count"].is_f64(), "{barrier}");
    assert!(dvm["mpi"]["potent_sync_s"].is_null() && dvm["mpi"]["message_span_s"].is_null());
    assert!(dvm["mpi"]["mpi_time_s"].is_f64());
}

#[test]
fn equal_ranks_of_two_jobs_are_two_processors() {
    let mut profile = messaging();
    for (process, job) in profile.processes.iter_mut().zip(["one", "two"]) {
        process.rank = Some(0);
        process.environment = vec![format!("PMIX_NAMESPACE={job}")];
    }
    let dvm = json(&profile)["intervals"][0]["dvm"].clone();
    assert_eq!(dvm["processors"], 2, "{dvm:#}");
    assert_eq!(dvm["mpi"]["ranks"], serde_json::json!([0, 0]));
    assert_eq!(dvm["mpi"]["jobs"], serde_json::json!([0, 1]));
    let jobs: Vec<&Value> = dvm["each"].as_array().unwrap().iter().map(|each| &each["job"]).collect();
    assert_eq!(jobs, [0, 1]);
}

#[test]
fn forecasts_stand_beside_real_runs() {
    let run = marked(waiting());
    let serial = Reference::of(&marked(profile()), "one.proust", "--serial").unwrap();
    let mut renamed = marked(profile());
    renamed.intervals[1].name = "other".into();
    let sequential = Reference::of(&renamed, "seq.proust", "--sequential").unwrap();
    let references = References { serial: Some(serial), sequential: Some(sequential) };
    let asked = |question| Question { references: references.clone(), ..question };
    let page = shown(&run, asked(Question { format: Format::Json, ..Question::default() })).unwrap();
    let page: Value = serde_json::from_str(&page).unwrap();
    let alone = json(&marked(profile()));
    for (at, one) in page["intervals"].as_array().unwrap().iter().enumerate() {
        let of = &one["one_processor"];
        assert_eq!(of["forecast_s"], one["dvm"]["productive_time_s"]);
        assert_eq!(of["serial_s"], alone["intervals"][at]["dvm"]["execution_time_s"]);
        let expected = if at == 2 { &Value::Null } else { &of["serial_s"] };
        assert_eq!(&of["sequential_s"], expected, "{one}");
    }
    let notes: Vec<&str> =
        page["noted"].as_array().unwrap().iter().filter_map(|note| note["id"].as_str()).collect();
    assert!(notes.contains(&"intervals-not-in-reference"), "{notes:?}");
    assert!(notes.contains(&"forecast-is-no-measurement"), "{notes:?}");
    assert!(json(&run)["intervals"][0].get("one_processor").is_none());
    // In text and in the classic layout the same three times.
    let text = shown(&run, asked(Question::default())).unwrap();
    assert!(text.contains("On one processor") && text.contains("seq.proust"), "{text}");
    let classic = Some(Classic::default());
    let classic = shown(&run, asked(Question { classic, ..Question::default() })).unwrap();
    let lines = |name: &str| classic.lines().filter(|line| line.starts_with(name)).count();
    assert_eq!((lines("Forecast"), lines("Run_on_one_processor"), lines("Sequential_build")), (3, 3, 3));
    assert!(classic.lines().any(|line| line.starts_with("Sequential_build") && line.ends_with("n/a")));
}

#[test]
fn a_run_on_several_processors_is_no_reference() {
    let refused = Reference::of(&messaging(), "two.proust", "--serial").unwrap_err();
    let said = refused.to_string();
    assert!(said.contains("two.proust ran on 2 processors") && said.contains("--serial"), "{said}");
}

/// Each decision on the way to the critical part stands with its numbers, level by level.
#[test]
fn conclusions_are_drawn_level_by_level() {
    let profile = marked(waiting());
    let text = shown(&profile, Question::default()).unwrap();
    let page = json(&profile);
    let critical = page["critical"].as_array().unwrap();
    assert!(!critical.is_empty() && text.contains("Conclusions"), "{text}");
    let flat: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for at in critical {
        let one = &page["intervals"][at.as_u64().unwrap() as usize];
        let head = format!("level {}, {}:", one["level"], one["name"].as_str().unwrap());
        assert!(flat.contains(&head), "{head}: {text}");
        for step in one["dvm"]["advice"].as_array().unwrap() {
            let words: Vec<&str> = step["text"].as_str().unwrap().split_whitespace().collect();
            assert!(flat.contains(&words.join(" ")), "{step}: {text}");
            // The amounts that decided are there as numbers, too.
            assert!(step.as_object().unwrap().len() > 2, "{step}");
        }
    }
}
