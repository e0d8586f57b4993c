//! However a program ends: its exit code or signal is passed on, and what was recorded is there.

use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use crate::chance::{assert_share, tick};
use crate::command::run;
use crate::programs::built;
use crate::recording::{number, record, truth_in};

const SECONDS: &str = "0.6";

/// Runs the program alone and recorded: the same status; at most `lost_s` of its CPU time is missing.
fn assert_ending(mode: &str, lost_s: f64) {
    let Some(program) = built("endings") else { return };
    let alone = run(Command::new(&program).args([SECONDS, mode]));
    let recorded = record(&program, &[SECONDS, mode]);
    assert_eq!(
        recorded.ended.status.code(),
        alone.status.code(),
        "{mode}: exit code; {}",
        recorded.ended.said()
    );
    assert_eq!(recorded.ended.status.signal(), alone.status.signal(), "{mode}: signal");
    assert_eq!(truth_in(&alone)["mode"], mode);

    let truth = recorded.truth();
    let pid = number(&truth, "/pid") as u64;
    let found = recorded.threads().cpu_of_process(pid);
    let cpu_s = number(&truth, "/cpu_s");
    // Loading the program, before the collector is there, takes a few milliseconds.
    assert!(found >= cpu_s - lost_s - 0.005, "{mode}: {found} s found, {cpu_s} s burned");
    assert!(found <= cpu_s * 1.02 + 0.02, "{mode}: {found} s found, {cpu_s} s burned");
    let flat = recorded.flat();
    let burned = flat.cpu("burn_cpu").inclusive;
    assert!(burned >= 0.9 * flat.total("cpu_s"), "{mode}: {burned} s in burn_cpu");
}

/// The last sample of each of so many threads.
fn last_samples(threads: f64) -> f64 {
    threads * (2.0 * tick() + 0.001)
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
    assert_ending("exit_group", last_samples(1.0));
}

#[test]
fn by_abort() {
    assert_ending("abort", last_samples(1.0));
}

#[test]
fn by_segmentation_fault() {
    assert_ending("segv", last_samples(1.0));
}

#[test]
fn by_sigkill() {
    assert_ending("kill", last_samples(1.0));
}

#[test]
fn by_sigterm() {
    assert_ending("term", last_samples(1.0));
}

#[test]
fn by_exec_of_another_program() {
    assert_ending("exec", 0.0);
}

#[test]
fn by_exit_from_a_second_thread() {
    assert_ending("thread_exit", last_samples(2.0));
}

#[test]
fn by_immediate_exit_from_a_second_thread() {
    assert_ending("thread__exit", last_samples(2.0));
}

#[test]
fn by_the_last_thread_after_main_has_left() {
    assert_ending("main_pthread_exit", last_samples(1.0));
}

#[test]
fn work_in_an_exit_handler_is_seen() {
    let Some(program) = built("endings") else { return };
    let run = record(program, &["2", "atexit"]).succeeded();
    let flat = run.flat();
    let share = flat.cpu("burn_at_exit").inclusive / flat.total("cpu_s");
    assert_share("half of the work is done at exit", share, 0.5, flat.total("samples"));
}
