//! Waits of every kind: what the report says of each thread is what the thread itself measured.

use serde_json::Value;

use crate::pages::Operations;
use crate::programs::built;
use crate::recording::{list, number, record, record_with};
use crate::waited::assert_waits;

/// Seconds of each kind of wait.
const SECONDS: &str = "0.3";

fn assert_every_kind(program: &str) {
    let Some(program) = built(program) else { return };
    // A sample that hits a barrier's own code, where a thread spends 1 ms on the processor, stands for a
    // period: 1 ms, or 4 ms where the kernel's timers have that tick.
    let run = record_with(&["--rate", "1000"], program, &[SECONDS]).succeeded();
    assert_waits(&run, &run.truth(), 0.009);
    run.assert_trustworthy();
}

#[test]
fn of_c() {
    assert_every_kind("waits");
}

#[test]
fn of_rust() {
    assert_every_kind("waits_rust");
}

/// Short waits are summed: their time belongs to who waited, and not to who last waited for long at the same
/// depth of the stack.
#[test]
fn of_two_callers_at_one_depth_of_the_stack() {
    let Some(program) = built("lock_callers") else { return };
    let run = record(program, &["1"]).succeeded();
    let (truth, page) = (run.truth(), run.page::<Value>("waits", &[]));
    let doors = ["short_door", "long_door"];
    let [short_s, long_s] = doors.map(|function| {
        let doors = list(&truth, "/doors").iter().filter(|door| door["function"] == function);
        doors.map(|door| number(door, "/seconds")).sum::<f64>()
    });
    if short_s.min(long_s) < 0.05 {
        println!("SKIP: the two threads hardly ever had both a processor");
        return;
    }
    let [short_told_s, long_told_s] = doors.map(|function| {
        let is_one =
            |site: &&Value| site["operation"] == "pthread_mutex_lock" && site["function"] == function;
        list(&page, "/call_sites").iter().filter(is_one).map(|site| number(site, "/seconds")).sum::<f64>()
    });
    let (share, told) = (short_s / (short_s + long_s), short_told_s / (short_told_s + long_told_s));
    assert!((share - told).abs() < 0.15, "{told} of the time is short_door's, it measured {share}: {page:#}");
}

/// Calls and seconds of those waits of all threads that `is_one` chooses.
fn waited(truth: &Value, is_one: impl Fn(&str, &str) -> bool) -> (f64, f64) {
    let waits = list(truth, "/threads").iter().flat_map(|thread| list(thread, "/waits"));
    let chosen =
        waits.filter(|wait| is_one(wait["kind"].as_str().unwrap(), wait["object"].as_str().unwrap()));
    chosen.fold((0.0, 0.0), |(calls, seconds), wait| {
        (calls + number(wait, "/calls"), seconds + number(wait, "/seconds"))
    })
}

/// Waits that a program calls by name: what counts is the call, whether it had to wait or not.
const BY_NAME: [&str; 17] = [
    "nanosleep",
    "clock_nanosleep",
    "usleep",
    "thrd_sleep",
    "poll",
    "ppoll",
    "select",
    "pselect",
    "epoll_wait",
    "epoll_pwait",
    "sigwait",
    "sigwaitinfo",
    "sigtimedwait",
    "sigsuspend",
    "waitpid",
    "waitid",
    "accept",
];

#[test]
fn by_operation() {
    let Some(program) = built("waits") else { return };
    let run = record(program, &[SECONDS]).succeeded();
    let truth = run.truth();
    let page: Operations = run.page("waits", &[]);
    let assert_same = |what: &str, operations: &[&str], (true_calls, true_s): (f64, f64)| {
        let of = operations.iter().map(|operation| page.of(operation));
        let (calls, seconds) = of.fold((0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
        assert_eq!(calls as f64, true_calls, "calls of {what}: {:#?}", page.operations);
        // A thread's own clock is read outside of the hooks.
        let allowed = 0.01 * true_s + 50e-6 * true_calls + 0.005 + run.ended.stolen_s;
        assert!(
            seconds <= true_s && seconds >= true_s - allowed,
            "{what}: {seconds} s on the page, {true_s} s by the threads' clocks: {:#?}",
            page.operations
        );
    };
    for name in BY_NAME {
        assert_same(name, &[name], waited(&truth, |_, object| object == name));
    }
    assert_same("joins", &["pthread_join", "thrd_join"], waited(&truth, |kind, _| kind == "join"));
    assert_same("barriers", &["pthread_barrier_wait"], waited(&truth, |kind, _| kind == "barrier"));
    let conditions = waited(&truth, |kind, _| kind == "condition");
    assert_same("conditions", &["pthread_cond_wait", "cnd_wait"], conditions);

    let sum: f64 = page.operations.iter().map(|row| row.seconds).sum();
    assert!((sum - page.totals.seconds).abs() < 1e-6, "the operations sum up to {sum} s: {:#?}", page.totals);
    // Who waited is named.
    for function in ["wait_for_mutex", "consume", "wait_for_input", "sleep_in_all_ways"] {
        assert!(page.called_in(function) > 0.0, "{function}: {:#?}", page.call_sites);
    }
}
