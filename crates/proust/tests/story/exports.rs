//! Exports of recorded programs: what other tools read sums to what the run has.

use serde_json::Value;

use crate::command::{proust, run};
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// An export to standard output.
fn exported(run_of: &Recorded, format: &str, options: &[&str]) -> Vec<u8> {
    let ended = run(proust().arg("export").arg(&run_of.dir).arg(format).args(options));
    assert!(ended.status.success(), "{format}: {}", ended.said());
    ended.stdout
}

/// CPU time of the run by the thread clocks, s.
fn cpu_s(run_of: &Recorded) -> f64 {
    let page: Value = run_of.page("threads", &[]);
    list(&page, "/locations").iter().map(|row| number(row, "/cpu_s")).sum()
}

fn is_near(found: f64, expected: f64) -> bool {
    // Nanoseconds are rounded once for each row.
    (found - expected).abs() <= 1e-6 + 1e-9 * expected
}

#[test]
fn every_export_has_the_run_s_cpu_time() {
    let Some(program) = built("shares") else { return };
    let recorded = record(program, &["1"]).succeeded();
    let expected = cpu_s(&recorded);
    let folded = String::from_utf8(exported(&recorded, "folded", &[])).unwrap();
    let lines: Vec<(&str, f64)> = folded
        .lines()
        .map(|line| line.rsplit_once(' ').map(|(path, n)| (path, n.parse::<f64>().unwrap())).unwrap())
        .collect();
    let sum: f64 = lines.iter().map(|(_, ns)| ns / 1e9).sum();
    assert!(is_near(sum, expected), "folded: {sum} of {expected}");
    assert!(lines.iter().all(|(path, _)| path.starts_with("shares;")), "{folded}");
    assert!(folded.contains(";main;"), "{folded}");
    let samples = String::from_utf8(exported(&recorded, "folded", &["--metric", "samples"])).unwrap();
    let samples: u64 =
        samples.lines().map(|line| line.rsplit_once(' ').unwrap().1.parse::<u64>().unwrap()).sum();
    assert_eq!(samples, number(&recorded.page("quality", &[]), "/quality/samples") as u64);
    let speedscope: Value = serde_json::from_slice(&exported(&recorded, "speedscope", &[])).unwrap();
    let sum: f64 =
        list(&speedscope, "/profiles").iter().map(|thread| number(thread, "/endValue") / 1e9).sum();
    assert!(is_near(sum, expected), "speedscope: {sum} of {expected}");
    let firefox: Value = serde_json::from_slice(&exported(&recorded, "firefox", &[])).unwrap();
    let weights = list(&firefox, "/threads").iter().flat_map(|thread| list(thread, "/samples/weight"));
    let sum: f64 = weights.map(|weight| weight.as_f64().unwrap() / 1e3).sum();
    assert!(is_near(sum, expected), "firefox: {sum} of {expected}");
    let picture = String::from_utf8(exported(&recorded, "flamegraph", &[])).unwrap();
    assert!(picture.contains(&format!("cpu_s: {expected:.3} s in all")), "{expected}: {}", &picture[..600]);
    assert!(exported(&recorded, "pprof", &[]).starts_with(&[0x1f, 0x8b]), "gzip");
}

#[test]
fn a_trace_shows_who_waited_when() {
    let Some(program) = built("waits") else { return };
    let recorded = record(program, &["0.3", "mutex", "three-holders", "condition", "barrier"]).succeeded();
    let trace: Value = serde_json::from_slice(&exported(&recorded, "chrome-trace", &[])).unwrap();
    // By the tracks: how long each thread waited for locks.
    let mut open: Vec<(u64, f64, String)> = Vec::new();
    let mut waited_s = 0.0;
    for event in list(&trace, "/traceEvents") {
        match event["ph"].as_str().unwrap() {
            "B" => open.push((
                event["tid"].as_u64().unwrap(),
                number(event, "/ts"),
                event["name"].as_str().unwrap().into(),
            )),
            "E" => {
                let (tid, begun, name) = open.pop().expect("a slice that is open");
                assert_eq!(Some(tid), event["tid"].as_u64(), "tracks do not mix");
                waited_s += if name == "lock" { (number(event, "/ts") - begun) / 1e6 } else { 0.0 };
            }
            _ => {}
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let page: Value = recorded.page("threads", &[]);
    let of = |row: &Value| row.pointer("/accounts/lock").and_then(Value::as_f64).unwrap_or(0.0);
    let expected: f64 = list(&page, "/locations").iter().map(of).sum();
    // Parts without a place, such as measurement, are on accounts of their own there.
    assert!(expected > 0.1 && (waited_s / expected - 1.0).abs() < 0.05, "{waited_s} of {expected}");
}

#[test]
fn a_part_of_a_run_and_a_file() {
    let Some(program) = built("shares") else { return };
    let recorded = record(program, &["0.5"]).succeeded();
    let path = recorded.dir.join("part.folded");
    let ended = run(proust()
        .arg("export")
        .arg(&recorded.dir)
        .args(["folded", "-o"])
        .arg(&path)
        .args(["--where", "function=main"]));
    assert!(ended.status.success() && ended.stdout.is_empty(), "{}", ended.said());
    let folded = std::fs::read_to_string(&path).unwrap();
    assert!(!folded.is_empty() && folded.lines().all(|line| line.contains(";main")), "{folded}");
    let ended = run(proust().arg("export").arg(&recorded.dir).args(["folded", "-o", "/nowhere/x"]));
    assert_eq!(ended.status.code(), Some(1));
    assert!(ended.said().contains("/nowhere/x"), "{}", ended.said());
}

#[test]
fn processes_are_listed_with_their_programs_and_parents() {
    let Some(program) = built("endings") else { return };
    let script = format!("'{0}' 0.3 return; '{0}' 0.1 return; exit 0", program.display());
    let recorded = record("sh", &["-c", &script]);
    let page: Value = recorded.page("processes", &[]);
    let rows = list(&page, "/processes");
    let named = |name: &str| -> Vec<&Value> { rows.iter().filter(|row| row["program"] == name).collect() };
    let shells = named("sh");
    let first = shells.iter().find(|row| row["origin"] == "image").expect("the shell");
    let children = named("endings");
    assert_eq!(children.len(), 2, "{page:#}");
    for child in &children {
        assert_eq!(child["arguments"][2], "return");
        assert_eq!(child["parent"], first["process"], "{page:#}");
        assert!(child["parent_handle"].is_string(), "{page:#}");
    }
    // By CPU time: the longer one first; and the whole is that of the threads.
    assert_eq!(children[0]["arguments"][1], "0.3");
    let sum: f64 = rows.iter().map(|row| number(row, "/cpu_s")).sum();
    assert!(is_near(sum, cpu_s(&recorded)), "{sum}");
    let programs = list(&page, "/programs");
    let sum_of_programs: f64 = programs.iter().map(|row| number(row, "/cpu_s")).sum();
    assert!(is_near(sum_of_programs, sum), "{sum_of_programs}");
    assert_eq!(programs[0]["program"], "endings");
    let text = run(proust().arg("report").arg(&recorded.dir).arg("processes")).printed();
    assert!(text.contains("endings 0.3 return"), "{text}");
}
