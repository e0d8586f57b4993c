//! The layout of the analyzer of MPI traces, parsed back and compared with the JSON; and calls of MPI in
//! their rows.

use std::collections::BTreeMap;

use proust_profile::Profile;
use proust_query::Filter;
use proust_report::{Block, Classic, Format, Layout, Question, ReportError};
use serde_json::Value;

use crate::dvm::{ALL_BLOCKS, Cell, assert_same, blocks_and_zeros, cell, json, marked, shown};
use crate::example::profile;
use crate::messaging::messaging;

/// An interval in the layout of the analyzer of MPI traces.
#[derive(Debug, Default)]
struct ParsedMpi {
    head: String,
    main: BTreeMap<String, Cell>,
    comparative: BTreeMap<String, Vec<Cell>>,
    /// By rank.
    each: BTreeMap<u32, BTreeMap<String, Cell>>,
}

fn parse_mpi(text: &str) -> Vec<ParsedMpi> {
    let mut all: Vec<ParsedMpi> = Vec::new();
    let (mut block, mut rank) = ("", 0);
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        if line.starts_with("Interval (") {
            all.push(ParsedMpi { head: line.into(), ..ParsedMpi::default() });
            continue;
        }
        let one = all.last_mut().expect("an interval first");
        match line.trim() {
            "---Main Characteristics---" => block = "main",
            "---Comparative Characteristics---" => block = "comparative",
            "---Execution Characteristics---" => block = "each",
            titles if titles.starts_with("Tmin") => {
                let words: Vec<&str> = titles.split_whitespace().collect();
                assert_eq!(words, ["Tmin", "Nproc", "Tmax", "Nproc", "Tmid"]);
            }
            of if of.starts_with("Nproc = ") => {
                rank = of.split_whitespace().nth(2).unwrap().parse().unwrap();
                one.each.insert(rank, BTreeMap::new());
            }
            of => {
                let words: Vec<&str> = of.split_whitespace().collect();
                let is_number = |word: &&str| *word == "n/a" || word.parse::<f64>().is_ok();
                let numbers = words.iter().rev().take_while(|word| is_number(word)).count();
                let (name, values) = words.split_at(words.len() - numbers);
                let name = name.join(" ").trim_start_matches(['-', '*', ' ']).to_owned();
                let values: Vec<Cell> = values.iter().map(|word| cell(word)).collect();
                match block {
                    "comparative" => assert!(one.comparative.insert(name, values).is_none(), "{line}"),
                    "main" => assert!(one.main.insert(name, values[0]).is_none(), "{line}"),
                    "each" => {
                        let of_rank = one.each.get_mut(&rank).expect("a rank first");
                        assert!(of_rank.insert(name, values[0]).is_none(), "{line}");
                    }
                    _ => panic!("{line}"),
                }
            }
        }
    }
    all
}

fn of_mpi(profile: &Profile, classic: Classic, level: Option<usize>) -> Vec<ParsedMpi> {
    let classic = Some(Classic { layout: Layout::DvmMpi, ..classic });
    parse_mpi(&shown(profile, Question { classic, level, ..Question::default() }).unwrap())
}

/// The field of a name that the analyzer of MPI traces prints.
fn field_of_mpi(name: &str) -> &'static str {
    match name {
        "Execution Time" => "execution_time_s",
        "Total Time" => "total_time_s",
        "Productive Time" => "productive_time_s",
        "Parallelization Efficiency" => "efficiency",
        "Message Span" => "message_span_s",
        "Lost Time" => "lost_time_s",
        "Idle Time" => "idle_time_s",
        "Communication Time" => "comm_time_s",
        "MPI Time" => "mpi_time_s",
        "Potential Sync." => "potent_sync_s",
        "Time Variation" => "time_variation_s",
        "Time of Start" => "t_start_s",
        "SendRecv Time" => "sendrecv_time_s",
        "CollectiveAll Time" => "collectiveall_time_s",
        "AllToAll Time" => "alltoall_time_s",
        "CPU Time" => "cpu_time_s",
        _ => panic!("no field of {name}"),
    }
}

#[test]
fn the_layout_of_ranks_has_all_the_numbers_of_the_json() {
    let mut unmatched = messaging();
    for row in &mut unmatched.exchanges {
        (row.matched, row.unmatched) = (0, row.matched);
    }
    for profile in [messaging(), marked(messaging()), unmatched] {
        let json = json(&profile);
        let intervals = json["intervals"].as_array().unwrap();
        let parsed = of_mpi(&profile, blocks_and_zeros(true), None);
        assert_eq!(parsed.len(), intervals.len());
        for (printed, interval) in parsed.iter().zip(intervals) {
            let mpi = &interval["dvm"]["mpi"];
            let level = format!("Level={} ", interval["level"]);
            assert!(printed.head.contains(&level), "{}", printed.head);
            assert_eq!(printed.main.len(), 18, "{printed:#?}");
            for (name, &value) in &printed.main {
                let exact = match name.as_str() {
                    "Processors" => Value::from(mpi["ranks"].as_array().unwrap().len()),
                    "MPI of one in N productive" => mpi["replicated"]["productive_time_s"].clone(),
                    "Efficiency with it" => mpi["replicated"]["efficiency"].clone(),
                    name => mpi[field_of_mpi(name)].clone(),
                };
                assert_same(name, value, &exact);
            }
            assert_eq!(printed.comparative.len(), 6, "{printed:#?}");
            for (name, values) in &printed.comparative {
                let over = &mpi["comparative"][field_of_mpi(name).trim_end_matches("_s")];
                if values.len() == 1 {
                    assert!(values[0].is_none() && over.is_null(), "{name}: {values:?} {over}");
                    continue;
                }
                for (value, of) in values.iter().zip(["min", "min_at", "max", "max_at", "mean"]) {
                    assert_same(&format!("{name} {of}"), *value, &over[of]);
                }
            }
            // Of the ranks there are no numbers of their own in JSON: they sum to those that are there.
            let ranks: Vec<u64> =
                mpi["ranks"].as_array().unwrap().iter().map(|rank| rank.as_u64().unwrap()).collect();
            let of_ranks: Vec<u64> = printed.each.keys().map(|&rank| rank.into()).collect();
            assert_eq!(of_ranks, ranks);
            for name in printed.each.values().next().unwrap().keys() {
                let values: Vec<Cell> = printed.each.values().map(|each| each[name]).collect();
                let sum = values.iter().copied().sum::<Option<f64>>();
                match (sum, mpi[field_of_mpi(name)].as_f64()) {
                    (Some(sum), Some(exact)) => assert!((sum - exact).abs() < 2e-6, "{name}: {sum} {exact}"),
                    (sum, exact) => assert_eq!(sum, exact, "{name}"),
                }
            }
        }
    }
}

#[test]
fn the_layout_of_ranks_takes_the_options() {
    let profile = marked(messaging());
    let all = of_mpi(&profile, blocks_and_zeros(true), None);
    // Without zeros lines of ranks are left out, and none is changed.
    for (all, some) in all.iter().zip(of_mpi(&profile, blocks_and_zeros(false), None)) {
        assert_eq!((&all.main, &all.comparative), (&some.main, &some.comparative));
        for (rank, of) in &some.each {
            assert!(of.len() < all.each[rank].len(), "{some:#?}");
            assert!(of.iter().all(|(name, value)| all.each[rank][name] == *value));
            assert!(of.values().all(|value| *value != Some(0.0)), "{of:?}");
        }
    }
    // Down to a level.
    let heads = |level| of_mpi(&profile, blocks_and_zeros(true), Some(level)).len();
    assert_eq!((heads(0), heads(1), heads(2)), (1, 2, 3));
    // Only some ranks, which are printed as they are numbered.
    let ranks = |text: &str| Some(Classic::parse_ranks(text).unwrap());
    let of_some = |text| {
        let classic = Classic { ranks: ranks(text), ..blocks_and_zeros(true) };
        let one = of_mpi(&profile, classic, Some(0)).remove(0);
        one.each.into_keys().collect::<Vec<u32>>()
    };
    assert_eq!(
        (of_some("0"), of_some("1"), of_some("0-7"), of_some("5")),
        (vec![0], vec![1], vec![0, 1], vec![])
    );
    // Only some blocks.
    for block in ALL_BLOCKS {
        let one = of_mpi(&profile, Classic { blocks: vec![block], ..Classic::default() }, Some(0)).remove(0);
        assert_eq!(!one.main.is_empty(), block == Block::Main, "{block:?}");
        assert_eq!(!one.comparative.is_empty(), block == Block::Comparative, "{block:?}");
        assert_eq!(!one.each.is_empty(), block == Block::Processors, "{block:?}");
    }
}

#[test]
fn the_layout_of_ranks_is_refused_for_a_range_of_time() {
    let filter = Filter::parse(&["time=0.1s.."]).unwrap();
    let classic = Some(Classic { layout: Layout::DvmMpi, ..Classic::default() });
    let refused = shown(&messaging(), Question { classic, filter, ..Question::default() }).unwrap_err();
    assert!(refused.to_string().contains("sums over the whole run"), "{refused}");
    // As data what is not known is null, and a note says so.
    let filter = Filter::parse(&["time=0.1s.."]).unwrap();
    let page = shown(&messaging(), Question { format: Format::Json, filter, ..Question::default() }).unwrap();
    let page: Value = serde_json::from_str(&page).unwrap();
    let dvm = &page["intervals"][0]["dvm"];
    assert!(dvm["mpi"]["mpi_time_s"].is_null() && dvm["synchronization_s"].is_null(), "{dvm:#}");
    assert!(dvm["communication_s"].is_f64(), "{dvm:#}");
    let noted = page["noted"].as_array().unwrap();
    assert!(noted.iter().any(|note| note["id"] == "operations-of-whole-run"), "{noted:?}");
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
    // Nothing is marked, so that both ranks may do the same: the efficiency is an upper bound, and says so.
    assert!(dvm["may_contain_replicated"] == true && dvm["insufficient_parallelism_s"].is_null(), "{dvm:#}");
    let text = shown(&messaging(), Question { classic: Some(Classic::default()), ..Question::default() });
    assert!(text.unwrap().contains("(may contain replicated work)"));
    // Where and when each location executed it.
    for location in json["intervals"][0]["locations"].as_array().unwrap() {
        let (begin, end) = (location["begin_s"].as_f64().unwrap(), location["end_s"].as_f64().unwrap());
        assert!(begin < end && (end - begin - location["time_s"].as_f64().unwrap()).abs() < 1e-6);
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
