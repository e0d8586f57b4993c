//! Marks that programs carry for other tools, by the interfaces' own public files, against the programs' own
//! clocks.

use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{proust, run};
use crate::marks::{agrees, intervals};
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record};

/// Whether a thread of the run has this name.
fn has_thread(run: &Recorded, name: &str) -> bool {
    let threads: Value = run.page("threads", &[]);
    list(&threads, "/locations").iter().any(|thread| thread["name"] == name)
}

/// The file in which each interval begins.
fn begin_in(page: &Value, file: &str) -> bool {
    let is_in = |one: &Value| one["file"].as_str().is_some_and(|path| path.ends_with(file));
    intervals(page).iter().all(|one| is_in(one) && one["line"].is_u64())
}

/// Each end too many is noted with its own line; the sources mark these lines.
fn reports_ends_too_many(run: &Recorded, file: &str) {
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../programs/foreign").join(file);
    let source = std::fs::read_to_string(source).expect("the source");
    let lines = (1..).zip(source.lines()).filter(|(_, line)| line.contains("/* one too many */"));
    let expected: Vec<u64> = lines.map(|(number, _)| number).collect();
    assert!(!expected.is_empty());
    let quality: Value = run.page("quality", &[]);
    let notes = list(&quality, "/quality/noted").iter().filter(|note| note["id"] == "marks-unmatched");
    let places: Vec<&Value> = notes.flat_map(|note| list(note, "/places")).collect();
    let mut found: Vec<u64> = places.iter().filter_map(|place| place["line"].as_u64()).collect();
    found.sort_unstable();
    assert_eq!(found, expected, "{places:?}");
    let is_whole = |place: &&Value| {
        let is_here = place["file"].as_str().is_some_and(|path| path.ends_with(file));
        is_here && number(place, "/count") == 1.0
    };
    assert!(places.iter().all(is_whole), "{places:?}");
}

#[test]
fn ranges_of_nvtx_are_intervals() {
    let Some((run, page)) = agrees("foreign-nvtx", &["0.6"]) else { return };
    assert!(begin_in(&page, "foreign/nvtx.c"), "{page}");
    assert!(has_thread(&run, "solver thread"));
    let by_name = |name: &str| intervals(&page).iter().find(|one| one["name"] == name).expect("an interval");
    let around = |name: &str| &page["intervals"][by_name(name)["parent"].as_u64().unwrap() as usize]["name"];
    assert_eq!((around("solver: inner"), around("solver: registered")), (&"step".into(), &"started".into()));
    reports_ends_too_many(&run, "nvtx.c");
}

#[test]
fn tasks_and_frames_of_itt_are_intervals() {
    let Some((run, page)) = agrees("foreign-itt", &["0.6"]) else { return };
    assert!(begin_in(&page, "foreign/itt.c"), "{page}");
    assert!(has_thread(&run, "solver thread"));
    let paused_s = number(&page["intervals"][0], "/accounts/paused");
    assert_close("paused", paused_s, number(&run.truth(), "/paused_s"), 0.05);
    reports_ends_too_many(&run, "itt.c");
}

#[test]
fn regions_and_kernels_of_kokkos_are_intervals() {
    let Some((run, page)) = agrees("foreign-kokkos", &["0.6"]) else { return };
    assert!(begin_in(&page, "foreign/kokkos.cpp"), "{page}");
    let kind = |name: &str| {
        let one = intervals(&page).iter().find(|one| one["name"] == name);
        one.map(|one| one["kind"].clone()).expect("an interval")
    };
    assert_eq!(["step", "sweep", "sum", "section"].map(kind), ["COMB", "PAR", "PAR", "SEQ"]);
    reports_ends_too_many(&run, "kokkos.cpp");
}

#[test]
fn a_program_switches_recording_by_openmps_control_of_tools() {
    let Some(program) = built("foreign-control-tool") else { return };
    let run = record(&program, &["0.6"]).succeeded();
    let truth = run.truth();
    if number(&truth, "/threads") < 2.0 {
        println!("SKIP: the runtime of OpenMP gave one thread");
        return;
    }
    assert_eq!(truth["answers"], serde_json::json!([0, 0, 0, 0]));
    let flat: Value = run.page("flat", &[]);
    let inclusive = |function: &str| {
        let rows = list(&flat, "/functions").iter().filter(|row| row["function"] == function);
        rows.map(|row| number(row, "/metrics/cpu_s/inclusive")).sum::<f64>()
    };
    assert_close("recorded", inclusive("recorded"), number(&truth, "/recorded_s"), 0.06);
    assert!(inclusive("unrecorded") < 0.03, "{flat}");
}

#[test]
fn another_tool_of_the_users_keeps_its_place() {
    let said = |variables: &[(&str, &str)]| {
        let folder = empty_folder();
        let mut command = proust();
        command.args(["record", "-o"]).arg(folder.path().join("run")).arg("--");
        command.args(["sh", "-c", "echo \"$NVTX_INJECTION64_PATH $KOKKOS_TOOLS_LIBS\""]);
        run(command.envs(variables.iter().copied())).printed()
    };
    let both = said(&[("NVTX_INJECTION64_PATH", "/opt/theirs.so"), ("KOKKOS_TOOLS_LIBS", "/opt/other.so")]);
    assert_eq!(both.trim(), "/opt/theirs.so /opt/other.so");
    let ours = said(&[("NVTX_INJECTION64_PATH", "/elsewhere/libproust_collector.so")]);
    assert!(!ours.contains("/elsewhere/") && ours.contains("/run/libproust_collector.so"), "{ours}");
}

#[test]
fn without_proust_the_programs_are_as_they_were() {
    for name in ["foreign-nvtx", "foreign-itt", "foreign-kokkos"] {
        let Some(program) = built(name) else { continue };
        let ended = run(Command::new(&program).arg("0.06"));
        assert_eq!((ended.status.code(), ended.said()), (Some(0), String::new()), "{name}");
    }
}
