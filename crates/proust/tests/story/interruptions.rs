//! Ctrl-C and other signals from outside reach the program, and the run is kept.

use std::os::unix::process::ExitStatusExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::command::{Running, proust, start};
use crate::programs::built;
use crate::recording::{empty_folder, report};

/// Starts a recording of a program that would burn for minutes, and waits until it has burned for a while.
fn burning(program: &std::path::Path, dir: &std::path::Path) -> Running {
    let mut command = proust();
    command.arg("record").arg("-o").arg(dir).arg("--").arg(program).args(["200", "return"]);
    let running = start(command.stdin(Stdio::null()));
    let begun = Instant::now();
    while !dir.join("log").exists() {
        assert!(begun.elapsed() < Duration::from_secs(60), "no log appeared in {}", dir.display());
        std::thread::sleep(Duration::from_millis(20));
    }
    std::thread::sleep(Duration::from_millis(1500));
    running
}

fn assert_kept(dir: &std::path::Path) {
    let ended = report(dir, "flat", &["--format", "json"]);
    assert!(ended.status.success(), "{}", ended.said());
    let flat: crate::pages::Flat = serde_json::from_slice(&ended.stdout).unwrap();
    // On a busy machine the program has had at least a tenth of the time.
    assert!(flat.cpu("burn_cpu").inclusive > 0.15, "{:#?}", flat.functions);
}

#[test]
fn ctrl_c_ends_the_program_and_keeps_the_run() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let running = burning(&program, &dir);
    // What a terminal does: the signal goes to the whole group.
    // SAFETY: signals the group the harness made for this command.
    unsafe { libc::kill(-running.pid(), libc::SIGINT) };
    let ended = running.wait();
    assert_eq!(ended.status.signal(), Some(libc::SIGINT), "{:?}: {}", ended.status, ended.said());
    assert_eq!(ended.said().trim_end().lines().count(), 3, "{}", ended.said());
    assert_kept(&dir);
}

#[test]
fn a_signal_to_proust_alone_is_passed_on() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let running = burning(&program, &dir);
    // SAFETY: signals the process this test started.
    unsafe { libc::kill(running.pid(), libc::SIGTERM) };
    let ended = running.wait();
    assert_eq!(ended.status.signal(), Some(libc::SIGTERM), "{:?}: {}", ended.status, ended.said());
    assert_kept(&dir);
}
