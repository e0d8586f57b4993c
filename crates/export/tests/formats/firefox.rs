//! The structure that the Firefox Profiler expects: its fields, tables of equal lengths, positions that
//! exist.

use proust_export::Format;
use serde_json::Value;

use crate::schema::errors;
use crate::{cpu_ns, example, json, list};

/// The Firefox Profiler has no schema but the types of its source. This one of our own has what its document
/// of the processed format says of version 48.
const SCHEMA: &str = include_str!("schema/firefox.json");

#[test]
fn it_is_valid_by_the_documented_types() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let file = json(&example::profile(), Format::Firefox);
    assert_eq!(errors(&schema, &file), [] as [String; 0]);
    // The schema does say something.
    for (place, wrong) in [
        ("/meta/preprocessedProfileVersion", Value::from(1)),
        ("/meta/categories/0/color", "mauve".into()),
        ("/threads/0/pid", 7.into()),
        ("/threads/0/samples/weightType", "pounds".into()),
        ("/threads/0/stackTable/prefix/0", "none".into()),
        ("/threads/0/frameTable/line/0", 1.5.into()),
    ] {
        let mut changed = file.clone();
        *changed.pointer_mut(place).unwrap_or_else(|| panic!("{place} is not there")) = wrong;
        assert_ne!(errors(&schema, &changed), [] as [String; 0], "{place}");
    }
}

/// The length of a table, which all its columns have.
fn length(table: &Value) -> usize {
    let length = table["length"].as_u64().expect("a length") as usize;
    for (name, column) in table.as_object().unwrap() {
        if let Some(column) = column.as_array() {
            assert_eq!(column.len(), length, "{name}");
        }
    }
    length
}

/// Positions in a column that must be below a limit; null where nothing is known.
fn assert_below(table: &Value, column: &str, limit: usize) {
    for cell in list(table, column) {
        if let Some(position) = cell.as_i64() {
            assert!(position == -1 || (position as usize) < limit, "{column}: {position} of {limit}");
        } else {
            assert!(cell.is_null(), "{column}: {cell}");
        }
    }
}

/// Checks a file; the sum of its weights, ms.
pub fn checked(file: &Value) -> f64 {
    let meta = &file["meta"];
    assert_eq!(meta["preprocessedProfileVersion"], 48);
    assert!(meta["version"].is_u64() && meta["interval"].as_f64().unwrap() > 0.0);
    assert!(meta["startTime"].as_f64().unwrap() > 1e12, "milliseconds since 1970");
    let categories = list(meta, "categories");
    assert!(categories.iter().all(|category| !list(category, "subcategories").is_empty()));
    let mut sum = 0.0;
    for thread in list(file, "threads") {
        let strings = list(thread, "stringArray");
        assert!(strings.iter().all(Value::is_string));
        let tables = ["frameTable", "funcTable", "stackTable", "resourceTable", "nativeSymbols", "markers"];
        let [frames, funcs, stacks, resources, _, _] = tables.map(|table| length(&thread[table]));
        let samples = length(&thread["samples"]);
        assert_below(&thread["samples"], "stack", stacks);
        assert_below(&thread["stackTable"], "frame", frames);
        assert_below(&thread["stackTable"], "category", categories.len());
        assert_below(&thread["frameTable"], "func", funcs);
        assert_below(&thread["funcTable"], "name", strings.len());
        assert_below(&thread["funcTable"], "fileName", strings.len());
        assert_below(&thread["funcTable"], "resource", resources);
        assert_below(&thread["resourceTable"], "name", strings.len());
        assert_below(&thread["resourceTable"], "lib", list(file, "libs").len());
        for (row, prefix) in list(&thread["stackTable"], "prefix").iter().enumerate() {
            assert!(prefix.is_null() || (prefix.as_u64().unwrap() as usize) < row, "a prefix stands before");
        }
        let times: Vec<f64> =
            list(&thread["samples"], "time").iter().map(|time| time.as_f64().unwrap()).collect();
        assert!(times.is_sorted(), "samples in the order of time");
        assert_eq!(times.len(), samples);
        assert!(thread["pid"].is_string() && thread["tid"].is_u64() && thread["isMainThread"].is_boolean());
        sum += list(&thread["samples"], "weight").iter().map(|weight| weight.as_f64().unwrap()).sum::<f64>();
    }
    sum
}

#[test]
fn tables_fit_together_and_weights_sum_to_the_run() {
    let profile = example::profile();
    let file = json(&profile, Format::Firefox);
    let sum = checked(&file);
    assert!((sum - cpu_ns(&profile) as f64 / 1e6).abs() < 1e-6, "{sum}");
    let thread = &file["threads"][0];
    let strings = list(thread, "stringArray");
    let named = |name: &str| strings.iter().any(|text| text == name);
    assert!(named("<[u8; 4] as Sum>::sum") && named("größe λ\u{202e}<&>") && named("step[3]"), "{strings:?}");
    // The line that was executed, and the declaration's.
    assert!(list(&thread["frameTable"], "line").contains(&31.into()));
    assert!(list(&thread["funcTable"], "lineNumber").contains(&3.into()));
}
