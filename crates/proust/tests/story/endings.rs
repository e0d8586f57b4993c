//! However a program ends: its exit code or signal is passed on, and what was recorded is there.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

use crate::chance::{assert_share, tick};
use crate::command::{proust, run, start};
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{empty_folder, number, record, report, truth_in};

const SECONDS: &str = "0.6";

/// A busy machine may keep a sample waiting; one attempt of so many without such a wait is enough.
const ATTEMPTS: usize = 3;

/// Runs the program alone and recorded: the same status; of its CPU time at most the last sample of so many
/// threads is missing.
fn assert_ending(mode: &str, last_samples: f64) {
    let Some(program) = built("endings") else { return };
    let alone = run(Command::new(&program).args([SECONDS, mode]));
    assert_eq!(truth_in(&alone)["mode"], mode);
    let complete = (0..ATTEMPTS).any(|_| {
        let recorded = record(&program, &[SECONDS, mode]);
        if last_samples > 0.0 {
            recorded.except(Except::Killed);
        }
        assert_eq!(recorded.ended.status.code(), alone.status.code(), "{mode}: {}", recorded.ended.said());
        assert_eq!(
            recorded.ended.status.signal(),
            alone.status.signal(),
            "{mode}: {}",
            recorded.ended.said()
        );

        let truth = recorded.truth();
        let found = recorded.threads().cpu_of_process(number(&truth, "/pid") as u64);
        let cpu_s = number(&truth, "/cpu_s");
        assert!(found <= cpu_s * 1.02 + 0.02, "{mode}: {found} s found, {cpu_s} s burned");
        let flat = recorded.flat();
        let burned = flat.cpu("burn_cpu").inclusive;
        assert!(burned >= 0.9 * flat.total("cpu_s"), "{mode}: {burned} s in burn_cpu");
        // Loading the program, before the collector is there, takes a few milliseconds.
        let missing = cpu_s - found - 0.005;
        println!("{mode}: {found} s found, {cpu_s} s burned, {} samples", flat.total("samples"));
        missing <= last_samples * last_sample_s(found / flat.total("samples"))
    });
    assert!(complete, "{mode}: in {ATTEMPTS} attempts more than the last sample was lost");
}

/// The longest a last sample may be. Distances are drawn: hardly one of a thousand is longer than three times
/// the mean. And a tick may pass until one that is due comes.
fn last_sample_s(mean_interval: f64) -> f64 {
    3.4 * mean_interval + tick()
}

#[test]
fn by_return() {
    assert_ending("return", 0.0);
}

#[test]
fn by_exit() {
    assert_ending("exit", 0.0);
}

#[test]
fn by_immediate_exit() {
    assert_ending("_exit", 0.0);
    assert_ending("_Exit", 0.0);
}

#[test]
fn by_quick_exit() {
    assert_ending("quick_exit", 0.0);
}

#[test]
fn by_the_system_call() {
    assert_ending("exit_group", 1.0);
}

#[test]
fn by_abort() {
    assert_ending("abort", 1.0);
}

#[test]
fn by_segmentation_fault() {
    assert_ending("segv", 1.0);
}

#[test]
fn by_sigkill() {
    assert_ending("kill", 1.0);
}

#[test]
fn by_sigterm() {
    assert_ending("term", 1.0);
}

#[test]
fn by_exec_of_another_program() {
    assert_ending("exec", 0.0);
}

#[test]
fn by_exit_from_a_second_thread() {
    assert_ending("thread_exit", 2.0);
}

#[test]
fn by_immediate_exit_from_a_second_thread() {
    assert_ending("thread__exit", 2.0);
}

#[test]
fn by_the_last_thread_after_main_has_left() {
    assert_ending("main_pthread_exit", 1.0);
}

#[test]
fn a_first_thread_that_has_left_is_not_found_again() {
    // Long enough for the search for unseen threads, which comes twice a second.
    let Some(program) = built("endings") else { return };
    let run = record(program, &["2.5", "main_pthread_exit"]);
    let truth = run.truth();
    let found = run.threads().cpu_of_process(number(&truth, "/pid") as u64);
    let cpu_s = number(&truth, "/cpu_s");
    assert!(found <= cpu_s * 1.01 + 0.01, "{found} s found, {cpu_s} s burned");
    assert!(found >= cpu_s * 0.98 - 0.02, "{found} s found, {cpu_s} s burned");
}

#[test]
fn work_in_an_exit_handler_is_seen() {
    let Some(program) = built("endings") else { return };
    let run = record(program, &["2", "atexit"]).succeeded();
    let flat = run.flat();
    let share = flat.cpu("burn_at_exit").inclusive / flat.total("cpu_s");
    assert_share("half of the work is done at exit", share, 0.5, flat.total("samples"));
}

#[test]
fn a_run_that_goes_on_says_so_until_it_ends() {
    let folder = empty_folder();
    let (dir, gate) = (folder.path().join("run"), folder.path().join("gate"));
    let waits = format!("echo begun; while [ ! -e '{}' ]; do sleep 0.02; done", gate.display());
    let mut command = proust();
    command.arg("record").arg("-o").arg(&dir).args(["--", "sh", "-c", &waits]);
    let running = start(&mut command);
    while !running.printed_so_far().contains("begun") {
        std::thread::sleep(Duration::from_millis(10));
    }
    let said = |page: &str| report(&dir, page, &[] as &[&str]).printed();
    let before = said("summary");
    assert!(before.contains("not ended: it still runs"), "{before}");
    std::fs::write(&gate, "").expect("a file");
    assert!(running.wait().status.success());
    let after = said("summary");
    assert!(after.contains("ended with exit 0") && !after.contains("still runs"), "{after}");
}
