//! Runs that were recorded one by one, as batch jobs are, are a sweep: by counts that nobody gave.

use std::path::Path;

use serde_json::Value;

use crate::command::{Ended, proust, run};
use crate::programs::built;
use crate::recording::{empty_folder, list, number};

fn page(words: &[&str], folder: &Path) -> Value {
    let ended = report(words, folder);
    assert!(ended.status.success(), "{words:?}: {}", ended.said());
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{words:?}: {error}"))
}

fn report(words: &[&str], folder: &Path) -> Ended {
    run(proust().current_dir(folder).arg("report").args(words).args(["--format", "json"]))
}

fn record(folder: &Path, name: &str, threads: u32, command: &[&str]) -> Ended {
    let mut record = proust();
    record.current_dir(folder).env("OMP_NUM_THREADS", threads.to_string());
    run(record.args(["record", "-o", name, "--"]).args(command))
}

fn counts(page: &Value) -> Vec<(u64, u64)> {
    let row = |row: &Value| (row["count"].as_u64().unwrap(), row["runs"].as_u64().unwrap());
    list(page, "/curve").iter().map(row).collect()
}

/// The count is the size of the teams that the program was given, repetitions are runs of equal count, and
/// all numbers are those of the sweep that is made of the runs, wherever it is read from.
#[test]
fn runs_of_different_teams_are_a_sweep_over_threads() {
    let Some(program) = built("openmp-scaling-gcc") else { return };
    let (folder, program) = (empty_folder(), program.to_string_lossy().into_owned());
    let here = folder.path();
    for (name, threads) in [("one", 1), ("two", 2), ("again", 1), ("three", 3)] {
        let ended = record(here, name, threads, &[&program, "serial", "0.1"]);
        assert!(ended.status.success(), "{}", ended.said());
    }
    let runs = ["one", "two", "again", "three"];
    let scaling = page(&[&runs[..], &["scaling"]].concat(), here);
    assert_eq!(counts(&scaling), [(1, 2), (2, 1), (3, 1)]);
    assert_eq!(scaling["sweep"]["axes"][0]["name"], "threads");
    // Each run's wall time is that of its own summary.
    let wall_s = |name: &str| number(&page(&[name, "summary"], here), "/run/wall_s");
    let (one, again) = (wall_s("one"), wall_s("again"));
    assert!((number(&scaling, "/curve/0/wall_s") - (one + again) / 2.0).abs() < 1e-9, "{one} {again}");
    assert!((number(&scaling, "/curve/2/wall_s") - wall_s("three")).abs() < 1e-9);

    let made = run(proust().current_dir(here).args(["sweep", "-o", "jobs", "--from"]).args(runs));
    assert!(made.status.success(), "{}", made.said());
    for name in ["scaling", "degradation"] {
        let of_runs = page(&[&runs[..], &[name]].concat(), here);
        let of_sweep = page(&["jobs", name], here);
        for part in ["curve", "places", "regions"] {
            assert_eq!(of_runs.get(part), of_sweep.get(part), "{name}: {part}");
        }
    }
    // They may be moved together.
    let moved = here.join("moved");
    std::fs::create_dir(&moved).unwrap();
    for name in runs.iter().chain(&["jobs"]) {
        std::fs::rename(here.join(name), moved.join(name)).unwrap();
    }
    assert_eq!(counts(&page(&["jobs"], &moved)), [(1, 2), (2, 1), (3, 1)]);
    // The user's own counts stand in for those.
    let given = page(&["one", "again", "two", "--count", "8,8,16"], &moved);
    assert_eq!(counts(&given), [(8, 2), (16, 1)]);
}

/// As many ranks as were started; a shell and the launcher around them are not counted.
#[test]
fn jobs_of_different_size_are_a_sweep_over_ranks() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    for ranks in [1, 3] {
        let each = format!("OMPI_COMM_WORLD_RANK=$n OMPI_COMM_WORLD_SIZE={ranks} '{}'", program.display());
        let all = format!("for n in $(seq 0 {}); do {each} 0.05 return >/dev/null & done; wait", ranks - 1);
        let ended = record(folder.path(), &format!("job-{ranks}"), 1, &["sh", "-c", &all]);
        assert!(ended.status.success(), "{}", ended.said());
    }
    let scaling = page(&["job-1", "job-3", "scaling"], folder.path());
    assert_eq!(counts(&scaling), [(1, 1), (3, 1)]);
    assert_eq!(scaling["sweep"]["axes"][0]["name"], "ranks");
}

#[test]
fn runs_that_are_no_sweep_are_refused_with_what_to_do() {
    let folder = empty_folder();
    let here = folder.path();
    let sh = |name: &str, script: &str| record(here, name, 1, &["sh", "-c", script]);
    assert!(sh("a", "true").status.success() && sh("b", "true").status.success());
    assert!(!sh("failed", "exit 3").status.success());
    assert!(record(here, "other", 1, &["true"]).status.success());
    std::fs::create_dir(here.join("empty")).unwrap();
    for (words, expected) in [
        (&["a", "b", "scaling"][..], "have 1 thread"),
        (&["a", "other", "scaling"][..], "a is a run of sh and other one of true"),
        (&["a", "./a", "scaling"][..], "one folder"),
        (&["a", "missing", "scaling"][..], "no folder missing"),
        (&["a", "empty", "scaling"][..], "holds no run"),
        (&["a", "b", "tree"][..], "proust diff a b tree"),
        (&["a", "b", "scalin"][..], "did you mean `scaling`?"),
        (&["a", "b", "--count", "1,2,3"][..], "3 counts for 2 runs"),
        (&["a", "scaling"][..], "proust report a RUN... scaling"),
        (&["failed", "a", "--count", "1,2"][..], "only run that can be compared"),
    ] {
        let ended = report(words, here);
        assert!(!ended.status.success() && ended.said().contains(expected), "{words:?}: {}", ended.said());
    }
    // A run that failed, and one whose profile and logs are damaged, are left out, and that is said.
    let with_failed = page(&["a", "failed", "b", "--count", "1,2,2"], here);
    assert_eq!(counts(&with_failed), [(1, 1), (2, 1)]);
    assert_eq!(with_failed["sweep"]["failures"][0]["run"], "failed");
    std::fs::write(here.join("failed/run.json"), "{").unwrap();
    let with_damaged = page(&["a", "failed", "b", "--count", "1,2,2"], here);
    let notes = with_damaged["notes"].to_string();
    assert!(notes.contains("failed is left out") && notes.contains("damaged"), "{notes}");
}
