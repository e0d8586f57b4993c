//! In a terminal: Ctrl-Z stops the program, the shell takes it back to the foreground, Ctrl-C ends it.

use std::ffi::OsString;
use std::process::Command;

use crate::command::run;
use crate::programs::{built, folder, has};
use crate::recording::{empty_folder, report};

#[test]
fn job_control_is_as_without_proust() {
    let Some(program) = built("endings") else { return };
    if !has("python3") {
        println!("SKIP: the terminal is made by python3, which is not installed");
        return;
    }
    let place = empty_folder();
    let dir = place.path().join("run");
    let in_terminal = |before: &[OsString]| {
        let script = folder().join("zoo/terminal.py");
        run(Command::new("python3").arg(script).args(before).arg(&program).args(["0.3", "until_killed"]))
    };
    let alone = in_terminal(&[]);
    assert!(alone.status.success(), "{}", alone.said());
    assert!(alone.printed().contains("status: 130"), "{}", alone.printed());
    let recorded = in_terminal(&[
        env!("CARGO_BIN_EXE_proust").into(),
        "record".into(),
        "-o".into(),
        dir.clone().into(),
        "--".into(),
    ]);
    assert_eq!(recorded.printed(), alone.printed(), "{}", recorded.said());
    assert!(report(&dir, "summary", &[] as &[&str]).status.success());
}
