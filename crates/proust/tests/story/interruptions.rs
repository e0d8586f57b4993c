//! Ctrl-C and other signals from outside reach the program, and the run is kept.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::command::{Running, proust, start};
use crate::pages::Flat;
use crate::programs::built;
use crate::recording::{empty_folder, number, report};

/// Starts a recording of a program that burns until it is killed; waits until it has told what it burned.
fn burning(program: &Path, dir: &Path) -> (Running, f64) {
    let mut command = proust();
    command.arg("record").arg("-o").arg(dir).arg("--").arg(program).args(["0.5", "until_killed"]);
    let running = start(command.stdin(Stdio::null()));
    let begun = Instant::now();
    loop {
        let printed = running.printed_so_far();
        if let Some(line) = printed.strip_suffix('\n') {
            return (running, number(&serde_json::from_str(line).unwrap(), "/cpu_s"));
        }
        assert!(begun.elapsed() < Duration::from_secs(120), "the program does not start");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn assert_kept(dir: &Path, cpu_s: f64) {
    let ended = report(dir, "flat", &["--format", "json"]);
    assert!(ended.status.success(), "{}", ended.said());
    let flat: Flat = serde_json::from_slice(&ended.stdout).unwrap();
    let found = flat.cpu("burn_cpu").inclusive;
    assert!(found >= 0.8 * cpu_s, "{found} s of {cpu_s} s found: {:#?}", flat.functions);
}

#[test]
fn ctrl_c_ends_the_program_and_keeps_the_run() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let (running, cpu_s) = burning(&program, &dir);
    // What a terminal does: the signal goes to the whole group.
    // SAFETY: signals the group the harness made for this command.
    unsafe { libc::kill(-running.pid(), libc::SIGINT) };
    let ended = running.wait();
    assert_eq!(ended.status.signal(), Some(libc::SIGINT), "{:?}: {}", ended.status, ended.said());
    assert_eq!(ended.said().trim_end().lines().count(), 3, "{}", ended.said());
    assert_kept(&dir, cpu_s);
}

#[test]
fn a_signal_to_proust_alone_is_passed_on() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let (running, cpu_s) = burning(&program, &dir);
    // SAFETY: signals the process this test started.
    unsafe { libc::kill(running.pid(), libc::SIGTERM) };
    let ended = running.wait();
    assert_eq!(ended.status.signal(), Some(libc::SIGTERM), "{:?}: {}", ended.status, ended.said());
    assert_kept(&dir, cpu_s);
}
