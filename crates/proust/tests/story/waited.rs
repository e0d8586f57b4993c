//! What threads waited for, by their own clocks, beside what the report says.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::pages::{Location, Threads};
use crate::recording::{Recorded, list, number};

/// What a wait may be off whatever its length, and with each call: the machine is loaded.
const SLACK_S: f64 = 0.002;
const SLACK_OF_CALL_S: f64 = 50e-6;
/// Of the time that a thread queued for a processor, what may count as waiting: it comes anywhere, also
/// within calls that never wait, and between the end of a wait and the moment when that is noticed.
const OF_QUEUE: f64 = 0.2;
/// Of the length of waits, what the report may be off.
const SHARE: f64 = 0.01;

/// Barriers, conditions and channels that are made of a lock and something else: their own clock does not
/// tell the two apart. On a busy machine it happens that who holds that lock has no processor.
const MADE_OF_A_LOCK: [&str; 2] = ["barrier", "channel"];
/// Of the time in them, what may be waiting for the lock.
const IN_THE_LOCK: f64 = 0.1;

/// Channels are passive; for which reason depends on how they are made.
const ANY_REASON: &str = "any reason";

/// The account or the passive reason that a program's wait has.
fn counts_as(wait: &Value) -> &str {
    let field = |name: &str| wait[name].as_str().unwrap_or_else(|| panic!("no {name} in {wait}"));
    match (field("account"), field("kind"), field("object")) {
        (account @ ("lock" | "barrier"), ..) => account,
        (_, _, "sigsuspend") => "pause",
        (_, "condvar", _) => "condition",
        (_, "process", _) => "wait",
        (_, "scope", _) => "join",
        (_, "channel", _) => ANY_REASON,
        (_, kind, _) => kind,
    }
}

/// Seconds and calls of one kind.
#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    seconds: f64,
    calls: f64,
}

/// A thread's waits by account and passive reason.
fn truth_by_reason(thread: &Value) -> BTreeMap<&str, Sum> {
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    for wait in list(thread, "/waits") {
        let sum = sums.entry(counts_as(wait)).or_default();
        sum.seconds += number(wait, "/seconds");
        sum.calls += number(wait, "/calls");
    }
    sums
}

/// A thread that became another program is two locations.
fn found_by_reason(locations: &[&Location]) -> BTreeMap<String, f64> {
    let mut sums = BTreeMap::new();
    for location in locations {
        let waits =
            location.accounts.iter().filter(|(account, _)| matches!(account.as_str(), "lock" | "barrier"));
        for (reason, seconds) in waits.chain(&location.passive) {
            *sums.entry(reason.clone()).or_default() += seconds;
        }
    }
    sums
}

/// Fails unless the report says of every thread what the thread itself does. `more_s`: what else may be off
/// in each of its reasons, beside what the host of a virtual machine took: nobody knows from which thread.
pub fn assert_waits(run: &Recorded, truth: &Value, more_s: f64) {
    let threads = run.threads();
    let all = list(truth, "/threads");
    let made_of_a_lock: &[&str] = if truth["program"] == "waits_rust" { &MADE_OF_A_LOCK } else { &[] };
    let more_s = more_s + run.ended.stolen_s;
    let of = |thread| wrong_waits(&threads, thread, more_s, made_of_a_lock);
    let wrong: Vec<String> = all.iter().flat_map(of).collect();
    assert!(wrong.is_empty(), "{} of {} threads' waits:\n{}", wrong.len(), all.len(), wrong.join("\n"));
}

fn wrong_waits(threads: &Threads, thread: &Value, more_s: f64, made_of_a_lock: &[&str]) -> Vec<String> {
    let tid = number(thread, "/tid") as u64;
    let name = thread["name"].as_str().unwrap_or_default();
    let locations: Vec<&Location> = threads.locations.iter().filter(|one| one.thread == tid).collect();
    if locations.is_empty() {
        return vec![format!("{name} ({tid}) is not in the report")];
    }
    let (truth, found) = (truth_by_reason(thread), found_by_reason(&locations));
    // A woken thread queues for a processor before its own clock sees the end of the wait.
    let queued: f64 =
        locations.iter().map(|one| one.account_s("oversubscribed") + one.account_s("preempted")).sum();
    let is_made_of_a_lock =
        |wait: &&Value| made_of_a_lock.contains(&wait["kind"].as_str().unwrap_or_default());
    let made_s: f64 =
        list(thread, "/waits").iter().filter(is_made_of_a_lock).map(|wait| number(wait, "/seconds")).sum();
    let more_locked =
        found.get("lock").copied().unwrap_or_default() - truth.get("lock").map_or(0.0, |sum| sum.seconds);
    let in_the_lock = more_locked.clamp(0.0, IN_THE_LOCK * made_s);
    let calls: f64 = truth.values().map(|sum| sum.calls).sum();
    let mut wrong = Vec::new();
    let mut compare = |reason: &str, true_s: f64, found_s: f64, calls: f64| {
        let slack = SHARE * true_s + SLACK_S + SLACK_OF_CALL_S * calls + OF_QUEUE * queued + more_s;
        let found_s = if reason == "lock" { found_s - in_the_lock } else { found_s };
        if found_s > true_s + slack || found_s + queued + in_the_lock < true_s - slack {
            wrong.push(format!(
                "{name} ({tid}), {reason}: {found_s:.6} s in the report, {true_s:.6} s by its own clock, \
                 {slack:.6} s allowed; it queued for {queued:.6} s; all of it: {found:?} {truth:?}"
            ));
        }
    };
    let passive = |(reason, _): &(&String, &f64)| !matches!(reason.as_str(), "lock" | "barrier" | "unknown");
    if truth.contains_key(ANY_REASON) {
        let is_passive = |(reason, _): &(&&str, &Sum)| !matches!(**reason, "lock" | "barrier");
        let true_s = truth.iter().filter(is_passive).map(|(_, sum)| sum.seconds).sum();
        let found_s = found.iter().filter(passive).map(|(_, seconds)| seconds).sum();
        compare("passive", true_s, found_s, calls);
    } else {
        for (reason, found_s) in found.iter().filter(passive) {
            let sum = truth.get(reason.as_str()).copied().unwrap_or_default();
            compare(reason, sum.seconds, *found_s, sum.calls);
        }
        let is_missing = |reason: &str| !matches!(reason, "lock" | "barrier") && !found.contains_key(reason);
        for (reason, sum) in truth.iter().filter(|(reason, _)| is_missing(reason)) {
            compare(reason, sum.seconds, 0.0, sum.calls);
        }
    }
    for account in ["lock", "barrier"] {
        let sum = truth.get(account).copied().unwrap_or_default();
        compare(account, sum.seconds, found.get(account).copied().unwrap_or_default(), sum.calls);
    }
    wrong
}
