//! The page `intervals`: an account over its threads, what caused losses, and what `--where` makes of it.

use proust_query::Filter;
use proust_report::{Format, PageName, Question, Style, render};
use serde_json::Value;

use crate::dvm::marked;
use crate::example::waiting;

fn page(name: PageName, arguments: &[&str], filter: &str) -> Question {
    Question {
        page: name,
        arguments: arguments.iter().map(|argument| (*argument).to_owned()).collect(),
        filter: if filter.is_empty() { Filter::default() } else { Filter::parse(&[filter]).unwrap() },
        ..Question::default()
    }
}

fn json(question: Question) -> Value {
    let question = Question { format: Format::Json, ..question };
    let rendered = render(&marked(waiting()), &question, &Style::default()).unwrap();
    serde_json::from_str(&rendered.page).unwrap()
}

fn list<'v>(page: &'v Value, field: &str) -> &'v [Value] {
    page[field].as_array().map_or(&[], Vec::as_slice)
}

fn seconds(value: &Value) -> f64 {
    value.as_f64().unwrap_or(0.0)
}

#[test]
fn accounts_over_the_threads_of_an_interval() {
    for width in [80, 120] {
        let question = page(PageName::Intervals, &["sweep"], "");
        let style = Style { width, ..Style::default() };
        let text = render(&marked(waiting()), &question, &style).unwrap().page;
        let table: Vec<&str> = text
            .lines()
            .skip_while(|line| !line.starts_with("Accounts of sweep over its threads"))
            .take_while(|line| !line.is_empty())
            .collect();
        assert!(table.len() > 2, "{text}");
        assert!(table.iter().skip(1).all(|line| line.chars().count() <= width), "{text}");
        insta::assert_snapshot!(format!("accounts_over_threads_{width}_text"), table.join("\n"));
    }
    // The table is the JSON's.
    let page = json(page(PageName::Intervals, &["sweep"], ""));
    let sweep = &list(&page, "intervals")[1];
    for (account, of) in sweep["comparative"].as_object().unwrap() {
        let own = |location: &Value| seconds(&location["accounts"][account]);
        let executing: Vec<f64> = list(sweep, "locations")
            .iter()
            .filter(|location| seconds(&location["executions"]) > 0.0)
            .map(own)
            .collect();
        let least = executing.iter().copied().fold(f64::MAX, f64::min);
        let most = executing.iter().copied().fold(0.0, f64::max);
        let mean = executing.iter().sum::<f64>() / executing.len() as f64;
        for (field, expected) in [("min_s", least), ("max_s", most), ("mean_s", mean)] {
            assert!((seconds(&of[field]) - expected).abs() < 1e-9, "{account} {field}: {of}");
        }
    }
}

#[test]
fn what_is_lost_is_divided_completely() {
    let page = json(page(PageName::Intervals, &[], ""));
    for one in &list(&page, "intervals")[1..] {
        let caused = &one["caused"];
        let parts: f64 = ["inside_s", "before_s", "unknown_s"].iter().map(|of| seconds(&caused[of])).sum();
        assert!((parts - seconds(&one["lost_s"])).abs() < 1e-9, "{one}");
        assert!(seconds(&one["lost_s"]) > 0.0, "{one}");
    }
}

/// The account of `--where interval=` is that of the page of intervals, on all pages that have one.
#[test]
fn the_account_of_intervals_in_scope_is_that_of_the_time_inside() {
    let all = json(page(PageName::Intervals, &[], ""));
    for (label, filter) in [("solve", "interval=solve"), ("sweep", "interval=sweep")] {
        // The first one is the run.
        let row = list(&all, "intervals")[1..].iter().find(|row| row["name"] == label).unwrap();
        for name in [PageName::Summary, PageName::Ledger] {
            let found = json(page(name, &[], filter));
            let ledger = &found["ledger"];
            for field in ["total_s", "productive_s", "lost_s", "efficiency", "processors"] {
                assert_eq!(ledger[field], row[field], "{filter} {field}: {ledger}");
            }
            for account in list(ledger, "accounts") {
                let id = account["id"].as_str().unwrap();
                assert_eq!(seconds(&account["seconds"]), seconds(&row["accounts"][id]), "{filter} {id}");
            }
            assert!(seconds(&ledger["residual_s"]).abs() < 1e-9);
        }
        let threads = json(page(PageName::Threads, &[], filter));
        for location in list(&threads, "locations") {
            let own = list(row, "locations").iter().find(|one| one["handle"] == location["handle"]).unwrap();
            assert_eq!(location["accounts"], own["accounts"], "{filter}");
        }
    }
    // Outside of it, a ledger is that of all, and says so.
    let outside = json(page(PageName::Ledger, &[], "interval!=solve"));
    assert!(outside["noted"].to_string().contains("ledger-of-all-samples"), "{outside}");
}

/// One execution is the time of the one with that number; two such add up to all.
#[test]
fn single_executions_are_selected_by_number() {
    let total = |filter: &str| seconds(&json(page(PageName::Ledger, &[], filter))["ledger"]["total_s"]);
    assert!(total("interval=sweep#1") > 0.0);
    assert_eq!(total("interval=sweep#1"), total("interval=sweep"));
    assert_eq!(total("interval=sweep#2"), 0.0);
    let refused = Filter::parse(&["interval!=sweep#1"]).unwrap_err().to_string();
    assert!(refused.contains("cannot be left out"), "{refused}");
    assert!(Filter::parse(&["interval!=sweep"]).is_ok() && Filter::parse(&["interval=\"a#1\""]).is_ok());
}
