//! How the amounts of one context are spread over threads and processes.

use proust_profile::{Process, ProcessId};
use proust_query::Metrics;
use proust_report::{Across, Column, Format, PageName, Question, Style, render};
use serde_json::Value;

use crate::example::{profile, waiting};

fn question(argument: Option<&str>, over: Across, metrics: &str, format: Format) -> Question {
    Question {
        page: PageName::Tree,
        arguments: argument.map(str::to_owned).into_iter().collect(),
        columns: Column::parse_list(metrics, &Metrics::default()).unwrap(),
        over: Some(over),
        format,
        ..Question::default()
    }
}

#[test]
fn as_text() {
    let style = Style { width: 80, ..Style::default() };
    let shown = |argument, over, metrics| {
        render(&waiting(), &question(argument, over, metrics, Format::Text), &style).unwrap().page
    };
    insta::assert_snapshot!("tree_over_locations_text", shown(None, Across::Locations, "wall_s"));
    insta::assert_snapshot!("tree_below_over_processes_text", shown(Some("c7"), Across::Processes, ""));
}

/// A host has what its processes have, whichever way these are numbered.
#[test]
fn hosts_are_sums_of_their_processes() {
    let mut profile = waiting();
    let first = profile.processes.raw[0].clone();
    let process = |pid, host: &str| Process { pid, host: host.into(), ..first.clone() };
    profile.processes = vec![process(1, "far"), process(2, "near")].into();
    profile.locations.raw[1].process = ProcessId(1);
    let of = |over| -> Value {
        let question = question(None, over, "cpu_s", Format::Json);
        serde_json::from_str(&render(&profile, &question, &Style::default()).unwrap().page).unwrap()
    };
    let (hosts, processes) = (of(Across::Hosts), of(Across::Processes));
    let amounts = |page: &Value| -> Vec<Value> {
        page["locations"].as_array().unwrap().iter().map(|place| place["inclusive"].clone()).collect()
    };
    assert_eq!(amounts(&hosts), amounts(&processes));
    let handles: Vec<&Value> =
        hosts["locations"].as_array().unwrap().iter().map(|place| &place["handle"]).collect();
    assert_eq!((handles, &hosts["over"]), (vec![&"far".into(), &"near".into()], &"hosts".into()));
    assert!(hosts["locations"][0]["process"].is_null());
    profile.processes.raw[1].host = "far".into();
    let question = question(None, Across::Hosts, "cpu_s", Format::Json);
    let page = render(&profile, &question, &Style::default()).unwrap().page;
    let one: Value = serde_json::from_str(&page).unwrap();
    assert_eq!(one["locations"].as_array().unwrap().len(), 1);
    assert_eq!(one["locations"][0]["inclusive"], hosts["statistics"]["sum"]);
}

/// The page flat has the same statistics, computed another way.
#[test]
fn statistics_are_those_of_the_columns() {
    let profile = profile();
    for context in ["c0", "c3", "c7"] {
        let page = |question: &Question| -> Value {
            serde_json::from_str(&render(&profile, question, &Style::default()).unwrap().page).unwrap()
        };
        let over = page(&question(Some(context), Across::Locations, "cpu_s", Format::Json));
        let columns = "cpu_s,cpu_s:min|max|mean|stddev|imbalance";
        let tree = page(&Question {
            over: None,
            ..question(Some(context), Across::Locations, columns, Format::Json)
        });
        let row = &tree["contexts"][0]["metrics"];
        for (here, there) in [
            ("sum", "cpu_s"),
            ("min", "cpu_s:min"),
            ("max", "cpu_s:max"),
            ("mean", "cpu_s:mean"),
            ("stddev", "cpu_s:stddev"),
            ("imbalance", "cpu_s:imbalance"),
        ] {
            let (here, there) = (over["statistics"][here].as_f64(), row[there]["inclusive"].as_f64());
            assert!((here.unwrap() - there.unwrap()).abs() < 1e-9, "{context} {here:?} {there:?}");
        }
        let places = over["locations"].as_array().unwrap();
        let sum = |which: &str| places.iter().map(|place| place[which].as_f64().unwrap()).sum::<f64>();
        assert!((sum("inclusive") - row["cpu_s"]["inclusive"].as_f64().unwrap()).abs() < 1e-9);
        assert!((sum("exclusive") - row["cpu_s"]["exclusive"].as_f64().unwrap_or(0.0)).abs() < 1e-9);
        assert!(places.iter().any(|place| place["inclusive"] == over["statistics"]["max"]));
    }
}

#[test]
fn one_metric_only() {
    let asked = question(None, Across::Locations, "cpu_s,user_s", Format::Text);
    let error = render(&profile(), &asked, &Style::default()).unwrap_err().to_string();
    assert!(error.contains("one metric"), "{error}");
}

/// A count has no unit beside it, and every thread is in one range.
#[test]
fn ranges_of_counts() {
    let text = render(
        &waiting(),
        &question(None, Across::Locations, "waits", Format::Text),
        &Style { width: 80, ..Style::default() },
    );
    let text = text.unwrap().page;
    assert!(text.contains("\nHow many have how much\n"), "{text}");
    let asked = question(None, Across::Locations, "waits", Format::Json);
    let page: Value =
        serde_json::from_str(&render(&waiting(), &asked, &Style::default()).unwrap().page).unwrap();
    let counts = page["histogram"].as_array().unwrap().iter().map(|bin| bin["count"].as_u64().unwrap());
    assert_eq!(counts.sum::<u64>(), page["locations"].as_array().unwrap().len() as u64);
}
