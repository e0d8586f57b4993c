//! Waits that go wrong or end as nobody expects: the program does what it does alone, and its waits are in
//! the report.

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::run;
use crate::explained::Except;
use crate::pages::Operations;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record, truth_in};
use crate::waited::assert_waits;

const SECONDS: &str = "0.4";

/// Records a case, of which the program itself says that all went as it should.
fn recorded(case: &str) -> Option<(Recorded, Value)> {
    let run = record(built("hostile_waits")?, &[SECONDS, case]);
    let truth = run.truth();
    assert_eq!(truth["case"], case);
    assert_eq!(number(&truth, "/unexpected"), 0.0, "{}", run.ended.said());
    Some((run, truth))
}

fn assert_case(case: &str) {
    assert_case_with(case, 0.0);
}

/// `more_s`: what the waits may be off beyond the usual.
fn assert_case_with(case: &str, more_s: f64) {
    let Some((run, truth)) = recorded(case) else { return };
    let run = run.succeeded();
    assert_waits(&run, &truth, more_s);
}

#[test]
fn for_a_lock_whose_owner_died() {
    assert_case("robust");
}

#[test]
fn for_a_lock_that_its_owner_takes_twice() {
    assert_case("recursive");
}

#[test]
fn for_a_lock_that_its_owner_may_not_take_twice() {
    assert_case("checking");
}

#[test]
fn between_two_processes() {
    assert_case("shared");
}

#[test]
fn for_a_lock_that_lends_priority() {
    assert_case("inherited");
}

#[test]
fn for_a_lock_that_somebody_tried_to_destroy() {
    assert_case("destroyed");
}

#[test]
fn for_a_lock_that_another_thread_unlocks() {
    assert_case("foreign");
}

#[test]
fn for_a_lock_that_is_held_when_the_process_ends() {
    // Who is still waiting is so until the process is gone, a moment after it said how long.
    assert_case_with("holding", 0.02);
}

#[test]
fn that_cancellation_ends() {
    assert_case("cancelled");
}

#[test]
fn that_a_jump_ends() {
    // When a wait was left shows when the thread does the next thing that is seen: a sample, or another wait.
    assert_case_with("jumps", 0.06);
}

#[test]
fn in_signal_handlers() {
    assert_case("handlers");
}

#[test]
fn in_a_forked_child() {
    assert_case("forked");
}

#[test]
fn when_main_returns() {
    assert_case_with("returns", 0.02);
}

#[test]
fn when_main_leaves() {
    assert_case_with("leaves", 0.02);
}

#[test]
fn for_threads_that_wait_for_threads() {
    assert_case("joins");
}

#[test]
fn for_a_thread_that_ends_the_process() {
    assert_case_with("joined-at-exit", 0.02);
}

#[test]
fn that_sigkill_ends() {
    let Some((run, truth)) = recorded("killed") else { return };
    assert_eq!(run.ended.status.signal(), Some(libc::SIGKILL), "{}", run.ended.said());
    run.except(Except::Killed);
    assert_waits(&run, &truth, 0.02);
    // Who was waiting when it ended is named.
    let page: Operations = run.page("waits", &[]);
    for (function, kind) in [("worker_without_work", "condition"), ("lock_it", "mutex")] {
        let waits = list(&truth, "/threads").iter().flat_map(|thread| list(thread, "/waits"));
        let seconds: f64 =
            waits.filter(|wait| wait["kind"] == kind).map(|wait| number(wait, "/seconds")).sum();
        assert_close(function, page.called_in(function), seconds, 0.05 * seconds + 0.02);
    }
}

/// The end of a wait for a lock that was not long is recorded later: who is killed with the lock, too, has
/// waited for it.
#[test]
fn that_sigkill_ends_with_the_lock_held() {
    let Some((run, truth)) = recorded("killed-holding") else { return };
    let run = run.succeeded();
    run.except(Except::Killed);
    let waits = list(&truth, "/threads").iter().filter(|thread| thread["name"] == "wanting");
    let waited: Vec<f64> = waits
        .flat_map(|thread| list(thread, "/waits"))
        .map(|wait| number(wait, "/seconds"))
        // Where it was free by the time that the thread came to it, there was no wait.
        .filter(|&seconds| seconds > 100e-6)
        .collect();
    assert!(!waited.is_empty(), "{truth}");
    let page: Value = run.page("waits", &[]);
    let locks = list(&page, "/operations").iter().find(|row| row["operation"] == "pthread_mutex_lock");
    let calls = locks.map_or(0.0, |row| number(row, "/calls"));
    println!("{} waits, {calls} found", waited.len());
    assert!(calls >= waited.len() as f64, "{calls} of {}: {page:#}", waited.len());
    let (seconds, found) = (waited.iter().sum::<f64>(), number(locks.expect("calls"), "/seconds"));
    assert_close("seconds in the lock", found, seconds, 0.1 * seconds + 100e-6 * calls);
}

/// What the collector may add to the memory of a program, whatever it waits for.
const MEMORY_KIB: f64 = 32.0 * 1024.0;
/// A million waits, each told alone, would be more than 100 MB.
const LOG_BYTES: u64 = 32 << 20;

fn log_bytes(dir: &Path) -> u64 {
    std::fs::read_dir(dir.join("log")).unwrap().map(|log| log.unwrap().metadata().unwrap().len()).sum()
}

#[test]
fn for_a_million_locks() {
    let Some(program) = built("hostile_waits") else { return };
    let alone = truth_in(&run(Command::new(&program).args(["0", "million"])));
    let Some((run, truth)) = recorded("million") else { return };
    let run = run.succeeded();
    let (with, without) = (number(&truth, "/peak_kib"), number(&alone, "/peak_kib"));
    let notes = run.summary().quality.notes;
    assert!(notes.iter().any(|note| note.contains("recorded as sums")), "{notes:#?}");
    println!("{with} KiB, {without} KiB alone; {} bytes of logs", log_bytes(&run.dir));
    assert!(with <= without + MEMORY_KIB, "{with} KiB of memory, {without} KiB alone");
    assert!(log_bytes(&run.dir) <= LOG_BYTES, "{} bytes of logs", log_bytes(&run.dir));
    // The hooks of a million waits are between the program's clocks and the collector's.
    assert_waits(&run, &truth, 0.5);
}
