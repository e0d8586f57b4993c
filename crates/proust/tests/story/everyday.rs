//! The small things of every day: the newest run, lists, help, the demonstration.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::command::{Ended, proust, run};
use crate::programs::built;
use crate::recording::{empty_folder, record, report};

fn succeeds(command: &mut Command) -> Ended {
    let ended = run(command);
    assert!(ended.status.success(), "{command:?}: {:?}: {}", ended.status, ended.said());
    assert!(!ended.stdout.is_empty(), "{command:?} says nothing");
    ended
}

#[test]
fn the_newest_run_of_the_current_folder_is_taken_and_named() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let program = program.to_str().unwrap();
    for _ in 0..2 {
        let ended = run(proust().args(["record", "--", program, "0.1", "exit"]).current_dir(folder.path()));
        assert_eq!(ended.status.code(), Some(41), "{}", ended.said());
    }
    let ended = succeeds(proust().args(["report", "flat"]).current_dir(folder.path()));
    assert!(ended.printed().contains("burn_cpu"), "{}", ended.printed());
    let mut runs: Vec<String> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    runs.sort();
    assert_eq!(runs.len(), 2, "two runs, two folders: {runs:?}");
    let all = ended.said() + &ended.printed();
    assert!(runs.iter().any(|name| all.contains(name)), "it says which run it took: {all}");
    let listed = succeeds(proust().arg("ls").current_dir(folder.path())).printed();
    assert!(runs.iter().all(|name| listed.contains(name)), "{listed}");
}

#[test]
fn a_run_tells_about_itself() {
    let run = record("sh", &["-c", "exit 3"]);
    let summary = run.summary();
    assert_eq!(summary.run.command, ["sh", "-c", "exit 3"]);
    assert!(summary.run.wall_s > 0.0 && summary.run.start_unix_s > 1.7e9);
    assert!(summary.run.available_processors >= 1.0 && summary.run.processors >= 1.0);
    assert!(summary.run.processes >= 1 && summary.run.threads >= 1 && summary.run.ranks == 0);
    assert!(summary.run.dir.ends_with("run"), "{}", summary.run.dir);
    let info = succeeds(proust().arg("info").arg(&run.dir)).printed();
    assert!(info.contains("exit 3"), "{info}");
}

#[test]
fn help_is_at_hand() {
    succeeds(proust().arg("--help"));
    succeeds(proust().arg("--version"));
    succeeds(proust().args(["record", "--help"]));
    succeeds(proust().arg("doctor"));
    succeeds(proust().args(["explain", "compute"]));
    succeeds(proust().args(["completions", "bash"]));
    succeeds(proust().arg("man"));
}

#[test]
fn an_ordinary_user_records_and_reports() {
    let Some(program) = built("endings") else { return };
    // SAFETY: takes nothing, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        return;
    }
    // The other stories run as root here: this one as nobody, with nothing but a folder of its own.
    let folder = empty_folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let (own_proust, own_program) = (folder.path().join("proust"), folder.path().join("endings"));
    fs::copy(env!("CARGO_BIN_EXE_proust"), &own_proust).unwrap();
    fs::copy(program, &own_program).unwrap();
    let as_nobody = |arguments: &[&str]| {
        run(Command::new("setpriv")
            .args(["--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs"])
            .arg(&own_proust)
            .args(arguments)
            .env("HOME", "/nonexistent")
            .current_dir(folder.path()))
    };
    let ended = as_nobody(&["record", "-o", "run", "--", "./endings", "0.5", "return"]);
    assert_eq!(ended.status.code(), Some(40), "{}", ended.said());
    let ended = as_nobody(&["report", "run", "flat"]);
    assert!(ended.status.success(), "{}", ended.said());
    assert!(ended.printed().contains("burn_cpu"), "{}", ended.printed());
}

#[test]
fn every_page_is_readable_text() {
    let Some(program) = built("shares") else { return };
    let run = record(program, &["1"]).succeeded();
    for page in ["summary", "tree", "callers", "flat", "threads", "quality"] {
        let ended = report(&run.dir, page, &[] as &[&str]);
        assert!(ended.status.success(), "{page}: {}", ended.said());
        let text = ended.printed();
        assert!(text.lines().count() >= 3, "{page}: {text}");
        assert!(!text.contains('\x1b'), "{page} has colours although it is no terminal: {text}");
        assert!(!text.contains("NaN") && !text.contains("inf "), "{page}: {text}");
    }
}

#[test]
fn the_demonstration_records_and_reports() {
    let folder = empty_folder();
    let ended = succeeds(proust().args(["demo", "-o", "run"]).current_dir(folder.path()));
    assert!(ended.printed().contains("compute"), "{}", ended.printed());
    let summary = ["report", "run", "--format", "json"];
    let summary = succeeds(proust().args(summary).current_dir(folder.path()));
    let summary: Value = serde_json::from_str(&summary.printed()).expect("JSON");
    let findings = summary["findings"].as_array().expect("findings");
    assert!(!findings.is_empty(), "three unequal threads and two serial parts lose something");
    for finding in findings {
        let file = finding["cause"]["file"].as_str().unwrap_or_default();
        assert!(file.ends_with("demo/src/workload.rs"), "the place is not the program's: {finding:#}");
    }
}
