//! A signal asks a process for a sample, or pauses and resumes it; a program that uses the signal itself
//! keeps it.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{proust, run, start};
use crate::pages::Summary;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, page_of, record_with, truth_in};

const BOTH: [&str; 4] = ["--sample-signal", "USR1", "--pause-signal", "SIGUSR2"];

fn of_kind(samples: &Value, kind: &str) -> usize {
    list(samples, "/samples").iter().filter(|sample| sample["reason"] == kind).count()
}

fn notes_of_use(run: &Recorded) -> usize {
    let quality: Value = run.page("quality", &[]);
    let notes = list(&quality, "/quality/notes").iter().map(|note| note.as_str().unwrap_or_default());
    notes.filter(|note| note.contains("the signal requests nothing there")).count()
}

#[test]
fn what_is_done_between_two_signals_is_in_no_figure() {
    let Some(program) = built("paused") else { return };
    let folder = empty_folder();
    let (dir, files) = (folder.path().join("run"), folder.path().join("files"));
    std::fs::create_dir(&files).unwrap();
    let mut command = proust();
    command.arg("record").args(BOTH).arg("-o").arg(&dir).arg("--").arg(program);
    let running = start(command.args(["compute", "0.5"]).arg(&files).stdin(Stdio::null()));
    let wait_for = |what: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while !running.printed_so_far().lines().any(|line| line == what) {
            assert!(Instant::now() < deadline, "it never said `{what}`");
            std::thread::sleep(Duration::from_millis(2));
        }
    };
    // `record` passes these two on to the command.
    // SAFETY: a plain system call.
    let send = |signal| assert_eq!(unsafe { libc::kill(running.pid(), signal) }, 0);
    // The signal passes through `record`: when the command has it is seen by the samples of the run.
    let wait_for_sample = |kind: &str| {
        let deadline = Instant::now() + Duration::from_secs(60);
        while of_kind(&page_of(&dir, "samples", &[]), kind) == 0 {
            assert!(Instant::now() < deadline, "no sample of kind `{kind}`");
            std::thread::sleep(Duration::from_millis(20));
        }
    };
    wait_for("ready");
    std::thread::sleep(Duration::from_millis(300));
    send(libc::SIGUSR1);
    let asked = Instant::now();
    send(libc::SIGUSR2);
    wait_for_sample("pause");
    let begun = Instant::now();
    std::fs::write(files.join("pause"), "").unwrap();
    wait_for("paused");
    std::thread::sleep(Duration::from_millis(600));
    std::fs::write(files.join("resume"), "").unwrap();
    wait_for("back");
    let least_s = begun.elapsed().as_secs_f64();
    send(libc::SIGUSR2);
    wait_for_sample("resume");
    let most_s = asked.elapsed().as_secs_f64();
    send(libc::SIGUSR1);
    let ended = running.wait();
    assert!(ended.status.success(), "{}", ended.said());
    let truth = truth_in(&ended);
    let samples: Value = page_of(&dir, "samples", &[]);
    let counts = ["signal", "pause", "resume", "asked"].map(|kind| of_kind(&samples, kind));
    assert_eq!(counts, [2, 1, 1, 0], "{samples}");
    let summary: Summary = page_of(&dir, "summary", &[]);
    let paused_s = summary.ledger.account_s("paused") / summary.run.processors;
    assert!((least_s - 0.001..most_s + 0.001).contains(&paused_s), "{paused_s} of {least_s}..{most_s} s");
    assert!(summary.quality.account_residual.abs() < 1e-3, "{:?}", summary.quality);
    let flat: crate::pages::Flat = page_of(&dir, "flat", &[]);
    let (unwanted_s, truth_s) = (flat.cpu("unwanted").exclusive, number(&truth, "/unwanted_s"));
    assert!(unwanted_s <= 0.02 && truth_s > 0.06, "{unwanted_s} of {truth_s} s in unwanted()");
    let (wanted_s, truth_s) = (flat.cpu("wanted").exclusive, number(&truth, "/wanted_s"));
    assert!(wanted_s > 0.06 && wanted_s < 1.1 * truth_s + 0.02, "{wanted_s} of {truth_s} s in wanted()");
}

#[test]
fn a_program_that_knows_nothing_of_them_notices_nothing() {
    let Some(program) = built("asked_by_signal") else { return };
    let run = record_with(&BOTH, &program, &["nothing"]).succeeded();
    let said = run.ended.printed();
    let expected = "actions default default\nsleep ended in time\npoll ended in time\n\
                    semaphore Connection timed out in time\nactions default default\n";
    assert_eq!(said, expected);
    let samples: Value = run.page("samples", &[]);
    // Signals that a process has not yet received when the next of their number is sent are one.
    let counts = ["signal", "pause", "resume"].map(|kind| of_kind(&samples, kind));
    assert!((4..=10).contains(&counts[0]) && counts[1].abs_diff(counts[2]) <= 1, "{counts:?} {samples}");
    assert_eq!(notes_of_use(&run), 0);
}

#[test]
fn a_program_that_uses_the_signal_keeps_it() {
    let Some(program) = built("asked_by_signal") else { return };
    for (case, noted) in [("handler", 2), ("ignored", 2), ("waits", 2), ("fork", 2)] {
        let bare = run(std::process::Command::new(&program).arg(case));
        let run = record_with(&BOTH, &program, &[case]).succeeded();
        assert_eq!(run.ended.printed(), bare.printed(), "{case}");
        let samples: Value = run.page("samples", &[]);
        assert_eq!(of_kind(&samples, "signal") + of_kind(&samples, "pause"), 0, "{case}: {samples}");
        assert_eq!(notes_of_use(&run), noted, "{case}");
    }
}

/// A signal that arrives while a new image has no handler yet waits until it has one: of the command itself,
/// and of what it starts. Without the collector such a signal ends them.
#[test]
fn a_signal_that_comes_early_ends_nothing() {
    // Ever later after the fork: before the exec, during it, and when the new image runs.
    let script = "killed=0; i=0; while [ $i -lt 60 ]; do sleep 0.05 & j=0; \
                  while [ $j -lt $((i*40)) ]; do j=$((j+1)); done; kill -USR1 $!; \
                  wait $! || killed=$((killed+1)); i=$((i+1)); done; echo killed $killed";
    let run = record_with(&BOTH, "sh", &["-c", script]).succeeded();
    assert_eq!(run.ended.printed(), "killed 0\n");
    // And the command, from its first instant on; `record` passes the signal on to it.
    for _ in 0..5 {
        let folder = empty_folder();
        let mut command = proust();
        command.arg("record").args(BOTH).arg("-o").arg(folder.path().join("run"));
        let running = start(command.args(["--", "sleep", "0.3"]).stdin(Stdio::null()));
        let deadline = Instant::now() + Duration::from_secs(60);
        let children = format!("/proc/{0}/task/{0}/children", running.pid());
        let child = loop {
            let found = std::fs::read_to_string(&children).unwrap_or_default();
            if let Some(pid) = found.split_whitespace().next().and_then(|pid| pid.parse().ok()) {
                break pid;
            }
            assert!(Instant::now() < deadline, "no command");
            std::hint::spin_loop();
        };
        for _ in 0..20 {
            // SAFETY: a plain system call; it fails where the process is over.
            unsafe { libc::kill(child, libc::SIGUSR1) };
            std::thread::sleep(Duration::from_millis(1));
        }
        let ended = running.wait();
        assert!(ended.status.success(), "{:?}: {}", ended.status, ended.said());
    }
    // The new image has none of them blocked.
    let blocked = record_with(&BOTH, "grep", &["SigBlk", "/proc/self/status"]).succeeded();
    assert_eq!(blocked.ended.printed(), "SigBlk:\t0000000000000000\n");
}

#[test]
fn a_run_that_begins_paused_is_resumed_by_the_signal() {
    let script = "kill -USR2 $$; i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; kill -USR2 $$";
    let options = ["--start-paused", "--pause-signal", "USR2"];
    let run = record_with(&options, "sh", &["-c", script]).succeeded();
    let samples: Value = run.page("samples", &[]);
    assert_eq!(["pause", "resume"].map(|kind| of_kind(&samples, kind)), [2, 1], "{samples}");
    let summary = run.summary();
    let ledger = &summary.ledger;
    let queued_s = ledger.account_s("preempted") + ledger.account_s("oversubscribed");
    assert!(ledger.account_s("compute") > 0.3 * (ledger.total_s - queued_s), "{ledger:?}");
    assert!(ledger.account_s("paused") > 0.0, "{ledger:?}");
}

#[test]
fn signals_that_cannot_be_used_are_refused_before_anything_runs() {
    let folder = empty_folder();
    let marker = folder.path().join("ran");
    for (signal, why) in [
        ("KILL", "no program can handle it"),
        ("SIGSTOP", "no program can handle it"),
        ("URG", "to take samples"),
        ("RTMAX", "to take samples"),
        ("SEGV", "faults"),
        ("NOSUCH", "there is no signal"),
    ] {
        for option in ["--sample-signal", "--pause-signal"] {
            let mut command = proust();
            command.arg("record").args([option, signal]).arg("--").arg("touch").arg(&marker);
            let refused = run(command.current_dir(folder.path()));
            assert_eq!(refused.status.code(), Some(2), "{option} {signal}: {}", refused.said());
            assert!(refused.said().contains(why), "{option} {signal}: {}", refused.said());
        }
    }
    let mut command = proust();
    command
        .arg("record")
        .args(["--sample-signal", "USR1", "--pause-signal", "10", "--", "touch"])
        .arg(&marker);
    let refused = run(command.current_dir(folder.path()));
    assert_eq!(refused.status.code(), Some(2), "{}", refused.said());
    assert!(refused.said().contains("the same signal"), "{}", refused.said());
    assert!(!marker.exists(), "the command has run");
}
