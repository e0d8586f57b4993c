//! Metrics that users derive. What is true of the example is known by its construction: 200 samples a second
//! of CPU time, and a tenth of it in the kernel.

use proust_profile::{ContextId, LocationId, Metric, Profile, Value as Amount};
use proust_query::Metrics;
use proust_report::{Across, Column, Format, PageName, Question, Sort, Style, render};
use serde_json::Value;

use crate::example::{profile, waiting};

fn question(page: PageName, definitions: &[&str], metrics: &str, sort: Option<&str>) -> Question {
    let known = Metrics::defined(definitions.iter().copied()).unwrap();
    Question {
        page,
        columns: Column::parse_list(metrics, &known).unwrap(),
        sort: sort.map(|key| Sort::parse(key, &known).unwrap()),
        metrics: known,
        ..Question::default()
    }
}

fn page(profile: &Profile, question: Question, format: Format) -> String {
    let style = Style { width: 80, ..Style::default() };
    render(profile, &Question { format, ..question }, &style).unwrap().page
}

fn json(profile: &Profile, question: Question) -> Value {
    serde_json::from_str(&page(profile, question, Format::Json)).unwrap()
}

/// The example, and bytes that two contexts of the worker read.
fn reading() -> Profile {
    let mut profile = profile();
    for (context, amount) in [(6, 1_000), (10, 5_000)] {
        let (context, location) = (ContextId(context), LocationId(1));
        profile.values.push(Amount { context, location, metric: Metric::ReadBytes, amount });
    }
    profile.values.sort_by_key(|value| (value.context, value.location, value.metric));
    profile
}

/// What a test sums up itself: of a context, or of it and all below.
fn amount(profile: &Profile, metric: Metric, context: u64, below: bool) -> f64 {
    let is_below = |mut id: ContextId| loop {
        match profile.contexts[id].parent {
            _ if u64::from(id.0) == context => return true,
            Some(parent) if below => id = parent,
            _ => return false,
        }
    };
    let values = profile.values.iter().filter(|value| value.metric == metric && is_below(value.context));
    metric.unit().shown(values.map(|value| u128::from(value.amount)).sum())
}

#[test]
fn rates_and_ratios_are_the_same_everywhere_and_no_sums() {
    let definitions = ["rate=samples/cpu_s", "kernel=system_s/cpu_s"];
    for name in [PageName::Flat, PageName::Tree, PageName::Callers, PageName::Lines, PageName::Threads] {
        let page = json(&profile(), question(name, &definitions, "", None));
        let heads = page["metrics"].as_array().unwrap();
        let head = |id: &str| heads.iter().find(|head| head["id"] == id).unwrap();
        assert_eq!((&head("rate")["unit"], &head("kernel")["unit"]), (&"count/s".into(), &"ratio".into()));
        assert_eq!(head("rate")["expression"], "samples/cpu_s");
        let rows = ["functions", "contexts", "callers", "lines", "locations"];
        let rows = rows.iter().find_map(|rows| page[rows].as_array()).unwrap();
        let (mut with, mut without) = (0, 0);
        for row in rows {
            let of = |id: &str, which: &str| row["metrics"][id].get(which).map_or(Some(0.0), Value::as_f64);
            for which in ["inclusive", "exclusive"] {
                if of("cpu_s", which) == Some(0.0) {
                    assert_eq!((of("rate", which), of("kernel", which)), (None, None), "{name:?} {row}");
                    without += 1;
                } else {
                    let (rate, kernel) = (of("rate", which).unwrap(), of("kernel", which).unwrap());
                    assert!((rate - 200.0).abs() < 1e-6 && (kernel - 0.1).abs() < 1e-9, "{name:?} {row}");
                    with += 1;
                }
            }
        }
        let has_empty = matches!(name, PageName::Flat | PageName::Tree);
        assert!(with > 2 && (!has_empty || without > 0), "{name:?} {with} {without}");
        if let Some(total) = page["totals"].get("rate") {
            assert!((total["inclusive"].as_f64().unwrap() - 200.0).abs() < 1e-6);
        }
    }
}

#[test]
fn inclusive_values_are_computed_of_inclusive_ones() {
    let profile = reading();
    let page = json(&profile, question(PageName::Tree, &["reads=read_bytes/cpu_s"], "reads", None));
    let mut different = 0;
    for row in page["contexts"].as_array().unwrap() {
        let value = row["metrics"]["reads"]["inclusive"].as_f64().unwrap();
        let of = |metric| amount(&profile, metric, row["id"].as_u64().unwrap(), true);
        let expected = of(Metric::ReadBytes) / of(Metric::Cpu);
        assert!((value - expected).abs() <= 1e-9 * expected.abs(), "{row}");
        different += usize::from(value > 0.0);
    }
    assert!(different > 3);
    // What it is computed of is there, too, and text shows what was asked for.
    assert!(page["metrics"].as_array().unwrap().iter().any(|head| head["id"] == "read_bytes"));
}

#[test]
fn rows_are_sorted_by_what_is_derived_and_those_without_it_are_last() {
    let sorted =
        question(PageName::Flat, &["reads=read_bytes/cpu_s"], "cpu_s,reads", Some("reads:exclusive"));
    let page = json(&reading(), sorted);
    let rows = page["functions"].as_array().unwrap();
    let names: Vec<&str> = rows.iter().map(|row| row["function"].as_str().unwrap()).collect();
    // refine reads 5000 bytes in 1 s, flux 1000 in 0.5 s; kernel and prepare none; the others have no time.
    assert_eq!(names[..2], ["refine", "flux"]);
    let values = rows.iter().map(|row| {
        row["metrics"]["reads"]
            .get("exclusive")
            .map_or(0.0, |value| value.as_f64().unwrap_or(f64::NEG_INFINITY))
    });
    let values: Vec<f64> = values.collect();
    assert!(values.is_sorted_by(|a, b| a >= b) && values.last() == Some(&f64::NEG_INFINITY), "{values:?}");
    assert_eq!((values[0], values[1]), (5_000.0, 2_000.0));
    let cut = json(
        &reading(),
        Question {
            limit: Some(2),
            ..question(PageName::Flat, &["reads=read_bytes/cpu_s"], "reads", Some("reads"))
        },
    );
    // Of what the metric is computed of the first one.
    assert_eq!(cut["cut"]["rows"], 4);
    assert!(cut["cut"]["amount"].is_number());
}

#[test]
fn statistics_are_over_the_threads_that_have_a_value() {
    let list = "reads:min|max|mean|stddev";
    let tree = json(&reading(), question(PageName::Tree, &["reads=read_bytes/cpu_s"], list, None));
    let of = |context: usize, which: &str| &tree["contexts"][context]["metrics"][format!("reads:{which}")];
    // The main thread has 0.5 s and reads nothing, the worker reads 6000 bytes in 2 s.
    assert_eq!((&of(0, "max")["inclusive"], &of(0, "max")["location"]), (&3_000.0.into(), &"t1".into()));
    assert_eq!((&of(0, "min")["inclusive"], &of(0, "mean")["inclusive"]), (&0.0.into(), &1_500.0.into()));
    let solve = tree["contexts"].as_array().unwrap().iter().find(|row| row["id"] == 4).unwrap();
    // In solve only the worker was.
    assert_eq!(solve["metrics"]["reads:mean"]["inclusive"], 3_000.0);
    assert_eq!(solve["metrics"]["reads:min"]["inclusive"], 3_000.0);
    assert_eq!(solve["metrics"]["reads:stddev"]["inclusive"], 0.0);

    let over = |argument: &str| {
        let asked = question(PageName::Tree, &["reads=read_bytes/cpu_s"], "reads", None);
        let arguments = vec![argument.to_owned()];
        json(&reading(), Question { arguments, over: Some(Across::Locations), ..asked })
    };
    let whole = over("c0");
    assert_eq!((&whole["statistics"]["mean"], &whole["statistics"]["sum"]), (&1_500.0.into(), &Value::Null));
    let solve = over("c4");
    let values: Vec<&Value> =
        solve["locations"].as_array().unwrap().iter().map(|place| &place["inclusive"]).collect();
    assert_eq!(values, [&Value::Null, &3_000.0.into()]);
    assert_eq!(solve["statistics"]["count"], 1);
    let text = page(
        &reading(),
        Question {
            arguments: vec!["c4".into()],
            over: Some(Across::Locations),
            ..question(PageName::Tree, &["reads=read_bytes/cpu_s"], "reads", None)
        },
        Format::Text,
    );
    assert!(text.contains("1 thread has no value, since a divisor is zero"), "{text}");
    assert!(text.contains("How many have how much, bytes/s\n"), "{text}");
}

#[test]
fn as_text_and_csv() {
    let text = |name| page(&reading(), question(name, &["reads=read_bytes/cpu_s"], "", None), Format::Text);
    insta::assert_snapshot!("derived_flat_text", text(PageName::Flat));
    insta::assert_snapshot!("derived_tree_text", text(PageName::Tree));
    insta::assert_snapshot!("derived_threads_text", text(PageName::Threads));
    let csv =
        page(&reading(), question(PageName::Flat, &["reads=read_bytes/cpu_s"], "reads", None), Format::Csv);
    let main = csv.lines().find(|line| line.contains(",main,")).unwrap();
    // Main itself has no time: its exclusive field is empty.
    assert!(csv.starts_with("handle,function,file,line,module,reads inclusive,reads exclusive,"), "{csv}");
    assert!(main.split(',').nth(6).unwrap().is_empty() && !csv.contains("NaN"), "{csv}");
}

/// Each metric orders threads: not only CPU time does.
#[test]
fn threads_are_sorted_by_any_metric() {
    let profile = waiting();
    let handles = |key: &str| -> Vec<String> {
        let page = json(&profile, question(PageName::Threads, &[], "", Some(key)));
        let rows = page["locations"].as_array().unwrap();
        rows.iter().map(|row| row["handle"].as_str().unwrap().to_owned()).collect()
    };
    let page = json(&profile, question(PageName::Threads, &[], "", None));
    let locations = page["locations"].as_array().unwrap();
    for key in ["cpu_s", "wall_s", "passive_s", "waits"] {
        // Summed up from the rows, or the values, of the threads.
        let of = |handle: &str| {
            let row = locations.iter().find(|row| row["handle"] == handle).unwrap();
            match key {
                "passive_s" => {
                    row["passive"].as_object().unwrap().values().map(|s| s.as_f64().unwrap()).sum()
                }
                "waits" => {
                    let is_of = |value: &&Amount| format!("t{}", value.location) == handle;
                    let values = profile.values.iter().filter(is_of);
                    let waits = values.filter(|value| value.metric == Metric::Waits);
                    waits.map(|value| value.amount as f64).sum()
                }
                field => row[field].as_f64().unwrap(),
            }
        };
        let sorted = handles(key);
        let amounts: Vec<f64> = sorted.iter().map(|handle| of(handle)).collect();
        assert!(amounts.is_sorted_by(|a, b| a >= b), "{key}: {sorted:?} {amounts:?}");
    }
    assert_ne!(handles("cpu_s"), handles("passive_s"));
}
