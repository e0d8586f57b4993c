//! Every second of every recording is explained. [`crate::recording::Recorded`] asks for it when it goes
//! away, so that no story can forget it; where it cannot hold, a story names the exception.

use std::path::Path;

use crate::chance::assert_close;
use crate::pages::{Summary, Threads};
use crate::recording::page_of;

/// The only reasons why seconds of a recording may stay without an explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Except {
    /// The story damaged the log: what was in it is gone.
    DamagedLog,
    /// The space for the log was used up: of what came later only totals are known.
    FullLog,
    /// A signal or a system call of the program's own ended it: how long its threads queued for a processor
    /// since that was last asked for is not known.
    Killed,
    /// Very many threads are made at once: on a busy machine their first steps wait, long and unseen, for the
    /// kernel's lock on the memory of the process, whose holder has no processor.
    ManyNewThreads,
    /// The program, or a runtime that is linked into it, waits by system calls of its own, which nobody sees.
    OwnCalls,
}

/// Of the total, what may be measured and yet belong to no account.
const UNATTRIBUTED: f64 = 0.01;
/// Of the locations' wall time, what they may have been blocked for an unknown reason.
const UNKNOWN: f64 = 0.01;
/// What a busy machine adds to that whatever the length of a run, for each thread and for each process:
/// blocked in page faults, while the program is loaded, in the kernel's own locks; in the run queue since
/// that was last asked for, where the end of the process ends a thread.
const UNKNOWN_OF_THREAD_S: f64 = 0.004;
/// And for each program that wants a processor beside them: a turn, for which who queues at the end was not
/// seen to queue.
const TURN_S: f64 = 0.004;
const UNKNOWN_OF_PROCESS_S: f64 = 0.05;

/// Fails unless the account of a run closes, and all of it has a reason.
pub fn assert_explained(dir: &Path, except: Option<Except>) {
    let summary: Summary = page_of(dir, "summary", &[]);
    let threads: Threads = page_of(dir, "threads", &[]);
    let (ledger, quality) = (&summary.ledger, &summary.quality);

    assert!(quality.account_residual <= 0.001, "the account does not close: {ledger:#?} {quality:#?}");
    let accounts: f64 = ledger.accounts.iter().map(|account| account.seconds).sum();
    assert_close("all accounts", accounts, ledger.total_s, 0.001 * ledger.total_s + 1e-6);
    for location in &threads.locations {
        let sum: f64 = location.accounts.values().chain(location.passive.values()).sum();
        assert_close(
            &format!("accounts and passive time of thread {}", location.thread),
            sum,
            location.wall_s,
            0.001 * location.wall_s + 1e-5,
        );
    }
    if except.is_some() {
        return;
    }

    let unattributed = ledger.unattributed_s;
    assert!(
        unattributed <= UNATTRIBUTED * ledger.total_s,
        "{unattributed} s of {} s are on no account: {ledger:#?} {quality:#?}",
        ledger.total_s
    );
    let wall: f64 = threads.locations.iter().map(|location| location.wall_s).sum();
    let unknown: f64 = threads.locations.iter().map(|location| location.passive_s("unknown")).sum();
    let allowed = UNKNOWN * wall
        + (UNKNOWN_OF_THREAD_S + TURN_S * busy()) * threads.locations.len() as f64
        + UNKNOWN_OF_PROCESS_S * summary.run.processes as f64;
    assert!(
        unknown <= allowed,
        "blocked for an unknown reason: {unknown} s, {allowed} s allowed: {:#?}",
        threads.locations.iter().filter(|location| location.passive_s("unknown") > 0.001).collect::<Vec<_>>()
    );
}

/// How many programs want each processor of this machine, averaged over the last minute.
fn busy() -> f64 {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: f64 = load.split_whitespace().next().and_then(|one| one.parse().ok()).unwrap_or(0.0);
    load / std::thread::available_parallelism().map_or(1.0, |processors| processors.get() as f64)
}
