//! `proust doctor` tells beforehand what can be recorded of a program.

use std::process::Command;

use crate::command::{Ended, proust, run};
use crate::pages::Summary;
use crate::programs::built;
use crate::recording::{empty_folder, page_of};

fn doctor(program: &std::path::Path) -> Ended {
    run(proust().args(["doctor", "--"]).arg(program))
}

#[test]
fn a_static_program_fails() {
    let Some(program) = built("endings-static") else { return };
    let ended = doctor(&program);
    assert_eq!(ended.status.code(), Some(1), "{}", ended.printed());
    assert!(ended.printed().contains("FAILS") && ended.printed().contains("Link it dynamically"));
}

#[test]
fn sanitizers_are_named_beforehand_and_in_the_run() {
    for (name, sanitizer) in [
        ("sanitized-address", "AddressSanitizer"),
        ("sanitized-address-static", "AddressSanitizer"),
        ("sanitized-thread", "ThreadSanitizer"),
        ("sanitized-undefined", "UndefinedBehaviorSanitizer"),
        ("sanitized-leak", "LeakSanitizer"),
        ("sanitized-memory", "MemorySanitizer"),
    ] {
        let Some(program) = built(name) else { continue };
        let ended = doctor(&program);
        assert!(ended.status.success() && ended.printed().contains(sanitizer), "{}", ended.printed());
        // What the run time itself waits for is not explained: no story of the account.
        let folder = empty_folder();
        let dir = folder.path().join("run");
        let ended = run(proust().args(["record", "-o"]).arg(&dir).arg("--").arg(&program));
        assert!(ended.status.success(), "{name}: {}", ended.said());
        let summary: Summary = page_of(&dir, "summary", &[]);
        let notes = summary.quality.notes;
        assert!(notes.iter().any(|note| note.contains(sanitizer)), "{name}: {notes:#?}");
    }
    let Some(program) = built("endings") else { return };
    assert!(!doctor(&program).printed().contains("anitizer"));
}

#[test]
fn limits_of_the_shell_are_told() {
    let said = |limit: &str| {
        let command = format!("{limit}; exec \"$0\" doctor");
        run(Command::new("sh").args(["-c", &command, env!("CARGO_BIN_EXE_proust")]).env("NO_COLOR", "1"))
            .printed()
    };
    assert!(said("ulimit -f 8").contains("ulimit -f leaves 4 KiB"), "{}", said("ulimit -f 8"));
    assert!(said("ulimit -v 200000").contains("ulimit -v leaves"), "{}", said("ulimit -v 200000"));
    assert!(!said(":").contains("ulimit"), "{}", said(":"));
}

#[test]
fn interpreters_are_said_to_show_themselves() {
    let ended = run(proust().args(["doctor", "--", "perl"]));
    if ended.printed().contains("was not found") {
        println!("SKIP: perl is not installed");
        return;
    }
    assert!(ended.printed().contains("functions of the interpreter"), "{}", ended.printed());
}
