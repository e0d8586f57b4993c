//! The profile of pprof, read by its definition.

use std::io::Read;

use proust_export::Format;

use crate::definition;
use crate::protobuf::Fields;
use crate::{cpu_ns, example, exported};

/// Checks a file as pprof's own reader does; for each sample type its name, unit and sum.
pub fn checked(file: &[u8]) -> Vec<(String, String, u64)> {
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).expect("gzip");
    let profile = Fields::of(&bytes);
    assert_eq!(definition::errors("Profile", &profile), [] as [String; 0]);
    let strings = profile.texts(6);
    assert_eq!(strings[0], "", "the first string is empty");
    let text = |number: u64| strings[number as usize];
    let ids = |field: u64| -> Vec<u64> { profile.messages(field).iter().map(|row| row.number(1)).collect() };
    let (mappings, locations, functions) = (ids(3), ids(4), ids(5));
    for ids in [&mappings, &locations, &functions] {
        assert!(ids.iter().enumerate().all(|(n, &id)| id == n as u64 + 1), "numbers are unique, none is 0");
    }
    for function in profile.messages(5) {
        assert!(!text(function.number(2)).is_empty(), "a function has a name");
        let _ = (text(function.number(3)), text(function.number(4)));
    }
    for location in profile.messages(4) {
        assert!(location.number(2) == 0 || mappings.contains(&location.number(2)));
        let lines = location.messages(4);
        assert!(!lines.is_empty() && lines.iter().all(|line| functions.contains(&line.number(1))));
    }
    let kinds = profile.messages(1);
    let mut sums = vec![0; kinds.len()];
    for sample in profile.messages(2) {
        assert!(!sample.numbers(1).is_empty() && sample.numbers(1).iter().all(|id| locations.contains(id)));
        let values = sample.numbers(2);
        assert_eq!(values.len(), kinds.len());
        sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        for label in sample.messages(3) {
            assert!(!text(label.number(1)).is_empty());
            assert!(label.number(2) == 0 || label.number(3) == 0, "a text or a number");
        }
    }
    let named = |kind: &Fields<'_>| (text(kind.number(1)).to_owned(), text(kind.number(2)).to_owned());
    let default = text(profile.number(14));
    assert!(kinds.iter().any(|kind| named(kind).0 == default), "{default}");
    kinds.iter().map(named).zip(sums).map(|((name, unit), sum)| (name, unit, sum)).collect()
}

#[test]
fn it_is_consistent_and_sums_to_the_run() {
    let profile = example::profile();
    let taken = profile.samples.iter().filter(|row| !row.tail).count() as u64;
    let sums = checked(&exported(&profile, Format::Pprof));
    let expected = [
        ("samples".to_owned(), "count".to_owned(), taken),
        ("cpu".to_owned(), "nanoseconds".to_owned(), cpu_ns(&profile)),
    ];
    assert_eq!(sums, expected);
}

#[test]
fn a_field_that_is_not_defined_is_noticed() {
    // Field 30, and a name as a number.
    assert_eq!(definition::errors("Profile", &Fields::of(&[0xf0, 0x01, 0x05])), ["Profile has no field 30"]);
    assert!(!definition::errors("Profile", &Fields::of(&[0x30, 0x05])).is_empty());
}

/// `go tool pprof -raw` prints a row of amounts for each sample.
#[test]
fn go_s_pprof_opens_it() {
    let folder = std::env::temp_dir().join(format!("proust-pprof-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("example.pb.gz");
    let profile = example::profile();
    std::fs::write(&file, exported(&profile, Format::Pprof)).unwrap();
    let mut command = std::process::Command::new("go");
    let command =
        command.args(["tool", "pprof", "-raw"]).arg(&file).env("HOME", &folder).current_dir(&folder);
    let ended = command.output();
    let text = match &ended {
        Ok(ended) if ended.status.success() => String::from_utf8(ended.stdout.clone()).unwrap(),
        Ok(ended) if !String::from_utf8_lossy(&ended.stderr).contains("no such tool") => {
            panic!("{}", String::from_utf8_lossy(&ended.stderr))
        }
        _ => {
            println!("SKIP: `go tool pprof` is not installed");
            return;
        }
    };
    std::fs::remove_dir_all(&folder).unwrap();
    let rows =
        text.lines().skip_while(|line| *line != "Samples:").skip(2).take_while(|line| *line != "Locations");
    let amounts = rows.filter_map(|row| row.split_once(':')).filter_map(|(amounts, _)| {
        let amounts: Result<Vec<u64>, _> = amounts.split_whitespace().map(str::parse).collect();
        // Labels stand in rows of their own.
        amounts.ok().filter(|amounts| amounts.len() == 2)
    });
    let sum_ns: u64 = amounts.map(|amounts| amounts[1]).sum();
    assert_eq!(sum_ns, cpu_ns(&profile), "{text}");
    assert!(text.contains("samples/count cpu/nanoseconds") || text.contains("cpu/nanoseconds"), "{text}");
    assert!(text.contains("größe λ"), "{text}");
}
