//! What Speedscope's schema asks of a file.

use proust_export::Format;
use serde_json::Value;

use crate::schema::errors;
use crate::{cpu_ns, example, json, list};

/// Speedscope's own schema, as its package on npm has it (1.25.0, MIT: see the licence beside it).
const SCHEMA: &str = include_str!("schema/speedscope.json");

#[test]
fn it_is_valid_by_speedscope_s_own_schema() {
    let schema: Value = serde_json::from_str(SCHEMA).expect("JSON");
    let mut file = json(&example::profile(), Format::Speedscope);
    assert_eq!(errors(&schema, &file), [] as [String; 0]);
    // The schema does say something.
    let whole = file.clone();
    file["profiles"][0]["unit"] = "furlongs".into();
    assert!(!errors(&schema, &file).is_empty());
    file = whole.clone();
    file["profiles"][0].as_object_mut().unwrap().remove("weights");
    assert!(!errors(&schema, &file).is_empty());
    file = whole;
    file["shared"]["frames"][0]["name"] = 7.into();
    assert!(!errors(&schema, &file).is_empty());
}

/// The constraints of the schema on a file of sampled profiles; the sum of all weights.
pub fn checked(file: &Value) -> u64 {
    assert_eq!(file["$schema"], "https://www.speedscope.app/file-format-schema.json");
    let frames = list(&file["shared"], "frames");
    for frame in frames {
        assert!(frame["name"].as_str().is_some_and(|name| !name.is_empty()), "{frame}");
        assert!(frame.get("file").is_none_or(Value::is_string), "{frame}");
        assert!(frame.get("line").is_none_or(|line| line.as_u64().is_some()), "{frame}");
    }
    let profiles = list(file, "profiles");
    let active = file["activeProfileIndex"].as_u64().unwrap() as usize;
    assert!(active < profiles.len().max(1));
    let mut all = 0;
    for profile in profiles {
        assert_eq!(profile["type"], "sampled");
        assert!(
            ["none", "nanoseconds", "microseconds", "milliseconds", "seconds", "bytes"]
                .contains(&profile["unit"].as_str().unwrap())
        );
        assert!(profile["name"].is_string());
        let (samples, weights) = (list(profile, "samples"), list(profile, "weights"));
        assert_eq!(samples.len(), weights.len());
        for sample in samples {
            for frame in sample.as_array().unwrap() {
                assert!((frame.as_u64().unwrap() as usize) < frames.len());
            }
        }
        let sum: u64 = weights.iter().map(|weight| weight.as_u64().unwrap()).sum();
        let (start, end) = (profile["startValue"].as_u64().unwrap(), profile["endValue"].as_u64().unwrap());
        assert_eq!(end - start, sum);
        all += sum;
    }
    all
}

#[test]
fn it_meets_the_schema_and_sums_to_the_run() {
    let profile = example::profile();
    let file = json(&profile, Format::Speedscope);
    assert_eq!(checked(&file), cpu_ns(&profile));
    let names: Vec<&str> =
        list(&file["shared"], "frames").iter().map(|frame| frame["name"].as_str().unwrap()).collect();
    assert_eq!(
        names.iter().filter(|name| **name == "main").count(),
        1,
        "a frame for each function: {names:?}"
    );
    assert!(names.contains(&"<[u8; 4] as Sum>::sum") && names.contains(&"a\"b\\c d e"), "{names:?}");
    let threads: Vec<&str> =
        list(&file, "profiles").iter().map(|profile| profile["name"].as_str().unwrap()).collect();
    assert_eq!(threads, ["so;lve 77", "so;lve 78"]);
    // Outermost first.
    let first = &list(&file["profiles"][0], "samples")[0];
    let path: Vec<&str> =
        first.as_array().unwrap().iter().map(|n| names[n.as_u64().unwrap() as usize]).collect();
    assert_eq!(path, ["main", "<[u8; 4] as Sum>::sum"]);
}
