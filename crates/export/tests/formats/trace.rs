//! Trace events: sorted, nested, closed.

use std::collections::BTreeMap;

use proust_export::Format;
use serde_json::Value;

use crate::schema::errors;
use crate::{example, json, list};

/// Chrome has a document of its trace events and no schema: the rules for those that are used here.
const SCHEMA: &str = include_str!("schema/trace-events.json");

#[test]
fn events_are_valid_by_the_document() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let file = json(&example::profile(), Format::ChromeTrace);
    assert_eq!(errors(&schema, &file), [] as [String; 0]);
    let begin = list(&file, "traceEvents").iter().position(|event| event["ph"] == "B").expect("a slice");
    for (field, wrong) in
        [("ph", Value::from("Z")), ("ts", "soon".into()), ("tid", 1.5.into()), ("name", Value::Null)]
    {
        let mut changed = file.clone();
        changed["traceEvents"][begin][field] = wrong;
        assert_ne!(errors(&schema, &changed), [] as [String; 0], "{field}");
    }
}

/// Checks a trace; for each thread the µs in which any slice is open.
pub fn checked(file: &Value) -> BTreeMap<u64, f64> {
    let mut tracks: BTreeMap<u64, (f64, Vec<String>, f64, f64)> = BTreeMap::new();
    for event in list(file, "traceEvents") {
        let tid = event["tid"].as_u64().unwrap();
        assert!(event["pid"].is_u64());
        if event["ph"] == "M" {
            assert!(["process_name", "thread_name"].contains(&event["name"].as_str().unwrap()));
            assert!(event["args"]["name"].as_str().is_some_and(|name| !name.is_empty()), "{event}");
            continue;
        }
        let (last, open, begun, busy) = tracks.entry(tid).or_default();
        let ts = event["ts"].as_f64().unwrap();
        assert!(ts >= *last, "{event} comes after {last}");
        *last = ts;
        match event["ph"].as_str().unwrap() {
            "B" => {
                if open.is_empty() {
                    *begun = ts;
                }
                open.push(event["name"].as_str().unwrap().to_owned());
            }
            "E" => {
                assert!(open.pop().is_some(), "an end without a begin: {event}");
                if open.is_empty() {
                    *busy += ts - *begun;
                }
            }
            other => panic!("{other}"),
        }
    }
    assert!(tracks.values().all(|(_, open, _, _)| open.is_empty()), "slices are open: {tracks:?}");
    tracks.into_iter().map(|(tid, (_, _, _, busy))| (tid, busy)).collect()
}

#[test]
fn slices_are_sorted_nested_and_closed() {
    let profile = example::profile();
    let file = json(&profile, Format::ChromeTrace);
    let busy = checked(&file);
    assert_eq!(busy.keys().copied().collect::<Vec<_>>(), [77, 78]);
    // A thread's track is covered from its begin to its end: 0.1 s.
    for (tid, us) in busy {
        assert!((us - 1e5).abs() < 1.0, "{tid}: {us}");
    }
    let names: Vec<&str> =
        list(&file, "traceEvents").iter().filter_map(|event| event["name"].as_str()).collect();
    for name in ["main", "<[u8; 4] as Sum>::sum", "step[3]", "größe λ\u{202e}<&>"] {
        assert!(names.contains(&name), "{name}: {names:?}");
    }
}
