//! Bad input gets a clear error, and nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use serde_json::Value;

use crate::command::{proust, run};
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{empty_folder, list, number, record, report, truth_in};

#[test]
fn an_existing_folder_is_never_overwritten() {
    let folder = empty_folder();
    let dir = folder.path().join("run");
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("thesis.txt"), "three years of work").unwrap();
    let witness = folder.path().join("witness");
    let ended = run(proust().arg("record").arg("-o").arg(&dir).args(["--", "touch"]).arg(&witness));
    assert_eq!(ended.status.code(), Some(125), "{}", ended.said());
    assert!(ended.said().contains(dir.to_str().unwrap()), "{}", ended.said());
    assert!(!witness.exists(), "the program ran although nothing could be recorded");
    assert_eq!(fs::read_to_string(dir.join("thesis.txt")).unwrap(), "three years of work");
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[test]
fn a_folder_that_cannot_be_made() {
    let folder = empty_folder();
    let witness = folder.path().join("witness");
    // Not even root can make a folder there.
    for dir in ["/proc/run", "/dev/null/run"] {
        let ended = run(proust().args(["record", "-o", dir, "--", "touch"]).arg(&witness));
        assert_eq!(ended.status.code(), Some(125), "{}", ended.said());
        assert!(ended.said().contains(dir), "{}", ended.said());
        assert!(!witness.exists(), "the program ran although nothing could be recorded");
    }
}

fn assert_static_is_recognised(program: &str) {
    let Some(program) = built(program) else { return };
    let recorded = record(&program, &["0.2", "exit"]);
    assert_eq!(recorded.ended.status.code(), Some(125), "{}", recorded.ended.said());
    assert!(recorded.ended.said().contains("static"), "{}", recorded.ended.said());
    assert!(recorded.ended.stdout.is_empty(), "recognised before the start");
}

#[test]
fn a_static_program() {
    assert_static_is_recognised("endings-static");
}

#[test]
fn a_static_position_independent_program() {
    assert_static_is_recognised("endings-static-pie");
}

#[test]
fn a_static_child_is_named() {
    let (Some(program), Some(other)) = (built("endings-static"), built("endings")) else { return };
    let command = format!("'{}' 0.2 return; '{}' 0.2 return", program.display(), other.display());
    let recorded = record("sh", &["-c", &command]);
    assert_eq!(recorded.ended.status.code(), Some(40));
    let notes = recorded.summary().quality.notes;
    assert!(notes.iter().any(|note| note.contains("endings-static")), "{notes:#?}");
    // The same as data: one child of the shell was not followed.
    let page = recorded.page::<Value>("summary", &[]);
    let not_followed: Vec<&Value> =
        list(&page, "/quality/noted").iter().filter(|note| note["id"] == "not-followed").collect();
    let [note] = not_followed[..] else { panic!("{page:#}") };
    assert_eq!(note["grade"], "caution");
    assert_eq!(list(note, "/children").len(), 1);
    assert!(note["children"][0]["program"].as_str().unwrap().contains("endings-static"), "{note:#}");
    assert!(number(note, "/children/0/pid") > 0.0 && number(note, "/process/pid") > 0.0, "{note:#}");
}

#[test]
fn a_child_with_a_cleared_environment_is_followed_or_named() {
    let Some(program) = built("endings") else { return };
    let recorded = record("env", &["-i", program.to_str().unwrap(), "0.5", "return"]);
    assert_eq!(recorded.ended.status.code(), Some(40));
    let truth = recorded.truth();
    let found = recorded.threads().cpu_of_process(number(&truth, "/pid") as u64);
    let notes = recorded.summary().quality.notes;
    assert!(
        found >= number(&truth, "/cpu_s") - 0.01 || notes.iter().any(|note| note.contains("endings")),
        "{found} s found, and no note: {notes:#?}"
    );
}

#[test]
fn a_setuid_program() {
    let Some(program) = built("endings") else { return };
    // SAFETY: takes nothing, changes nothing.
    if unsafe { libc::geteuid() } != 0 {
        println!("SKIP: a setuid program of another user can only be made by root");
        return;
    }
    let folder = empty_folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let privileged = folder.path().join("privileged");
    fs::copy(program, &privileged).unwrap();
    fs::set_permissions(&privileged, fs::Permissions::from_mode(0o4755)).unwrap();
    let own = folder.path().join("proust");
    fs::copy(env!("CARGO_BIN_EXE_proust"), &own).unwrap();
    let ended = run(Command::new("setpriv")
        .args(["--reuid=65534", "--regid=65534", "--clear-groups"])
        .arg(&own)
        .arg("record")
        .arg("-o")
        .arg(folder.path().join("run"))
        .arg("--")
        .arg(&privileged)
        .args(["0.2", "return"])
        .env("HOME", folder.path())
        .current_dir(folder.path()));
    assert_eq!(ended.status.code(), Some(125), "{}", ended.said());
    assert!(ended.said().contains("setuid"), "{}", ended.said());
}

#[test]
fn a_command_that_is_not_there() {
    for command in ["no-such-command-anywhere", "./no/such/file"] {
        let recorded = record(command, &[] as &[&str]);
        assert_eq!(recorded.ended.status.code(), Some(127), "{}", recorded.ended.said());
        assert!(recorded.ended.said().contains(command), "{}", recorded.ended.said());
        assert!(!recorded.dir.exists(), "an empty run was left behind");
    }
}

#[test]
fn a_command_that_cannot_be_executed() {
    let folder = empty_folder();
    let file = folder.path().join("text");
    fs::write(&file, "not a program\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o644)).unwrap();
    for path in [file.as_path(), folder.path()] {
        let recorded = record(path, &[] as &[&str]);
        assert_eq!(recorded.ended.status.code(), Some(126), "{}", recorded.ended.said());
        assert!(recorded.ended.said().contains(path.to_str().unwrap()), "{}", recorded.ended.said());
    }
}

#[test]
fn a_script_is_a_command_like_any_other() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    for (name, first_line) in [("with-shebang", "#!/bin/sh\n"), ("without-shebang", "")] {
        let script = folder.path().join(name);
        fs::write(&script, format!("{first_line}'{}' 0.3 return\nexit 9\n", program.display())).unwrap();
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
        let recorded = record(&script, &[] as &[&str]);
        assert_eq!(recorded.ended.status.code(), Some(9), "{name}: {}", recorded.ended.said());
        let truth = recorded.truth();
        let found = recorded.threads().cpu_of_process(number(&truth, "/pid") as u64);
        assert!(found >= number(&truth, "/cpu_s") - 0.01, "{name}: {found} s of {truth}");
    }
}

#[test]
fn a_run_without_a_single_sample() {
    let recorded = record("true", &[] as &[&str]).succeeded();
    for page in ["summary", "tree", "callers", "flat", "threads", "quality"] {
        for format in ["text", "json"] {
            let ended = report(&recorded.dir, page, &["--format", format]);
            assert!(ended.status.success(), "{page} as {format}: {}", ended.said());
            assert!(!ended.stdout.is_empty(), "{page} as {format} says nothing");
        }
    }
    assert!(recorded.summary().quality.samples <= 2);
}

#[test]
fn a_truncated_log_yields_what_is_intact() {
    let Some(program) = built("endings") else { return };
    let recorded = record(program, &["3", "exit"]);
    recorded.except(Except::DamagedLog);
    let truth = truth_in(&recorded.ended);
    let logs: Vec<_> =
        fs::read_dir(recorded.dir.join("log")).unwrap().map(|entry| entry.unwrap().path()).collect();
    assert!(!logs.is_empty());
    for log in &logs {
        let file = fs::OpenOptions::new().write(true).open(log).unwrap();
        let length = file.metadata().unwrap().len();
        // Its last chunk may be half empty, the more so on a busy machine, where fewer samples come than were
        // asked for.
        file.set_len(length / 4).unwrap();
    }
    let ended = report(&recorded.dir, "summary", &["--format", "json"]);
    // Incomplete data is an error under --strict only.
    assert!(ended.status.success(), "{}", ended.said());
    let found = recorded.threads().cpu_of_process(number(&truth, "/pid") as u64);
    assert!(found <= number(&truth, "/cpu_s") + 0.01);
    let strict = report(&recorded.dir, "summary", &["--strict"]);
    assert_eq!(strict.status.code(), Some(3), "{}", strict.said());
}

#[test]
fn what_is_not_a_run_is_said_so() {
    let folder = empty_folder();
    for dir in [folder.path().to_path_buf(), folder.path().join("nowhere")] {
        let ended = report(&dir, "summary", &[] as &[&str]);
        assert_eq!(ended.status.code(), Some(1), "{}", ended.said());
        assert!(ended.said().contains(dir.to_str().unwrap()), "{}", ended.said());
        assert!(ended.stdout.is_empty());
    }
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    for arguments in
        [&["record"][..], &["record", "--rate", "fast", "--", "true"], &["remember"], &["report", "--bogus"]]
    {
        let ended = run(proust().args(arguments));
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}: {}", ended.said());
        assert!(!ended.stderr.is_empty());
    }
}
