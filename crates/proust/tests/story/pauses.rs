//! Recording that is switched off and on while the program runs: what is done meanwhile is in no figure but
//! the account `paused`, and the rest is as it is without a pause.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;
use tempfile::TempDir;

use crate::chance::assert_close;
use crate::command::{Ended, Running, proust, run, start};
use crate::pages::{Summary, Threads};
use crate::programs::built;
use crate::recording::{empty_folder, number, page_of, record_with, truth_in};

/// What a thread uses between a command and its next sample, and between two readings of clocks on a busy
/// machine, s.
const UNNOTICED_S: f64 = 0.05;
/// How long it is paused at least.
const PAUSED: Duration = Duration::from_millis(800);

/// A run that was paused once.
struct Paused {
    /// Holds the run.
    _folder: TempDir,
    dir: PathBuf,
    truth: Value,
    /// It was paused at least and at most for so long, s.
    least_s: f64,
    most_s: f64,
}

fn command(name: &str, dir: &Path) -> Ended {
    run(proust().arg(name).arg(dir))
}

/// Waits until the program says that it is there.
fn wait_for(running: &Running, what: &str) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !running.printed_so_far().lines().any(|line| line == what) {
        assert!(Instant::now() < deadline, "it never said `{what}`");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Records a case of the program and pauses it once.
fn paused(case: &str, seconds: &str) -> Option<Paused> {
    let program = built("paused")?;
    let folder = empty_folder();
    let (dir, files) = (folder.path().join("run"), folder.path().join("files"));
    std::fs::create_dir(&files).unwrap();
    let mut record = proust();
    record.arg("record").arg("-o").arg(&dir).arg("--").arg(program).args([case, seconds]).arg(&files);
    let running = start(record.stdin(Stdio::null()));
    wait_for(&running, "ready");
    std::thread::sleep(Duration::from_millis(300));
    let asked = Instant::now();
    assert!(command("pause", &dir).status.success());
    let begun = Instant::now();
    std::fs::write(files.join("pause"), "").unwrap();
    if case != "sleep" {
        wait_for(&running, "paused");
    }
    std::thread::sleep(PAUSED);
    std::fs::write(files.join("resume"), "").unwrap();
    if case != "sleep" {
        wait_for(&running, "back");
    }
    let least_s = begun.elapsed().as_secs_f64();
    assert!(command("resume", &dir).status.success());
    let most_s = asked.elapsed().as_secs_f64();
    let ended = running.wait();
    assert!(ended.status.success(), "{:?}: {}", ended.status, ended.said());
    Some(Paused { _folder: folder, dir, truth: truth_in(&ended), least_s, most_s })
}

impl Paused {
    fn summary(&self) -> Summary {
        page_of(&self.dir, "summary", &[])
    }

    fn threads(&self) -> Threads {
        page_of(&self.dir, "threads", &[])
    }

    fn cpu_s(&self, function: &str) -> f64 {
        page_of::<crate::pages::Flat>(&self.dir, "flat", &[]).cpu(function).exclusive
    }

    /// What holds for every run, paused or not: the accounts are the total, each thread's are its time, and
    /// no processor time is lost but what was used in the pause.
    fn assert_closed(&self) {
        let summary = self.summary();
        assert!(summary.quality.account_residual.abs() < 1e-3, "{:?}", summary.quality);
        assert!(summary.quality.cpu_residual < 1e-3, "{:?}", summary.quality);
        let accounts: f64 = summary.ledger.accounts.iter().map(|account| account.seconds).sum();
        assert_close("the accounts", accounts, summary.ledger.total_s, 1e-6 * summary.ledger.total_s);
        for location in self.threads().locations {
            let active_s: f64 = location.accounts.values().sum();
            let passive_s: f64 = location.passive.values().sum();
            assert_close(
                &location.name,
                active_s + passive_s,
                location.wall_s,
                1e-6 + 1e-6 * location.wall_s,
            );
        }
    }

    /// It was paused as long as the commands say.
    fn assert_length(&self, found_s: f64) {
        let expected = self.least_s - 0.001..=self.most_s + 0.001;
        assert!(expected.contains(&found_s), "{found_s} s found, {expected:?} s by the clock");
    }

    /// What the program used in `wanted` outside of the pause: it calls that shortly before and after it,
    /// too.
    fn assert_wanted(&self) {
        let (found_s, truth_s) = (self.cpu_s("wanted"), number(&self.truth, "/wanted_s"));
        let beside_s = self.most_s - self.least_s;
        let at_the_ends_s = self.least_s - PAUSED.as_secs_f64();
        let expected = truth_s - beside_s - at_the_ends_s - UNNOTICED_S..=truth_s + UNNOTICED_S;
        assert!(expected.contains(&found_s), "{found_s} s in wanted(), {expected:?} s expected");
    }

    fn assert_nothing_unwanted(&self) {
        let (found_s, truth_s) = (self.cpu_s("unwanted"), number(&self.truth, "/unwanted_s"));
        assert!(found_s <= UNNOTICED_S, "{found_s} of {truth_s} s in unwanted()");
    }
}

#[test]
fn what_is_computed_while_paused_is_in_no_figure() {
    let Some(run) = paused("compute", "0.5") else { return };
    run.assert_closed();
    let processors = run.summary().run.processors;
    run.assert_length(run.summary().ledger.account_s("paused") / processors);
    run.assert_wanted();
    run.assert_nothing_unwanted();
}

#[test]
fn a_wait_that_reaches_over_a_pause_is_cut_out_of_it() {
    let Some(run) = paused("lock", "0.5") else { return };
    run.assert_closed();
    let threads = run.threads();
    let waiter = threads
        .locations
        .iter()
        .find(|location| location.account_s("lock") > 0.0)
        .expect("a thread that waits for a lock");
    let off_s = waiter.passive_s("not-recorded");
    run.assert_length(off_s);
    let waited_s = number(&run.truth, "/waited_s");
    assert_close("the wait", waiter.account_s("lock"), waited_s - off_s, 0.02 + 0.02 * waited_s);
    run.assert_nothing_unwanted();
}

#[test]
fn threads_and_children_that_begin_while_paused_are_followed() {
    let Some(run) = paused("threads", "0.6") else { return };
    run.assert_closed();
    run.assert_wanted();
    run.assert_nothing_unwanted();
    let (found_s, truth_s) = (run.cpu_s("born_meanwhile"), number(&run.truth, "/born_s"));
    // It goes on before the command to resume has begun, which takes its time on a busy machine.
    let allowed_s = UNNOTICED_S + 0.05 * truth_s + (run.most_s - run.least_s);
    assert_close("the thread that goes on", found_s, truth_s, allowed_s);
    let summary = run.summary();
    assert_eq!((summary.run.processes, summary.run.threads), (2, 4));
}

#[test]
fn a_process_that_sleeps_all_the_time_was_paused_all_the_same() {
    let Some(run) = paused("sleep", "3") else { return };
    run.assert_closed();
    let off_s: f64 = run.threads().locations.iter().map(|location| location.passive_s("not-recorded")).sum();
    run.assert_length(off_s);
    let asleep_s: f64 = run.threads().locations.iter().map(|location| location.passive_s("sleep")).sum();
    assert_close("the sleep", asleep_s, number(&run.truth, "/wall_s") - off_s, 0.05);
}

#[test]
fn a_delay_and_a_duration_say_what_is_recorded() {
    let Some(program) = built("paused") else { return };
    let run = record_with(&["--delay", "0.7", "--duration", "1"], &program, &["plain", "3"]).succeeded();
    let summary = run.summary();
    // The recorder sleeps at least as long as asked; on a busy machine longer.
    let wall_s = summary.run.wall_s;
    assert!((1.69..2.9).contains(&wall_s), "the record ends before the program: {wall_s} s");
    let paused_s = summary.ledger.account_s("paused") / summary.run.processors;
    assert!((0.65..1.5).contains(&paused_s), "{paused_s} s of delay");
    let cpu_s = run.flat().cpu("wanted").exclusive;
    let truth_s = number(&run.truth(), "/wanted_s");
    assert!(cpu_s > 0.0 && cpu_s < truth_s - 0.1, "{cpu_s} of {truth_s} s");
    assert!(summary.quality.account_residual.abs() < 1e-3, "{:?}", summary.quality);
    assert!(command("info", &run.dir).printed().contains("stopped at"));
}

#[test]
fn who_begins_paused_and_is_never_resumed_has_only_that() {
    let Some(program) = built("paused") else { return };
    let run = record_with(&["--start-paused"], &program, &["plain", "0.3"]).succeeded();
    let summary = run.summary();
    assert_close("paused", summary.ledger.account_s("paused"), summary.ledger.total_s, 1e-6);
    assert_eq!(summary.quality.samples, 0);
    assert_eq!(run.flat().total("cpu_s"), 0.0);
}

#[test]
fn commands_that_cannot_be_carried_out_say_why() {
    let Some(program) = built("paused") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    let missing = command("pause", &dir);
    assert!(!missing.status.success() && missing.said().contains("does not hold a recorded run"));
    let mut record = proust();
    record
        .arg("record")
        .arg("-o")
        .arg(&dir)
        .arg("--")
        .arg(&program)
        .args(["compute", "0.1"])
        .arg(folder.path());
    let running = start(record.stdin(Stdio::null()));
    wait_for(&running, "ready");
    for (name, says) in [
        ("resume", "was not paused"),
        ("pause", "is paused"),
        ("pause", "was paused already"),
        ("stop", "is not recorded any more"),
        ("stop", "was stopped already"),
    ] {
        let ended = command(name, &dir);
        assert!(ended.status.success() && ended.said().contains(says), "{name}: {}", ended.said());
    }
    for name in ["pause", "resume"] {
        let ended = command(name, &dir);
        assert!(!ended.status.success() && ended.said().contains("for good"), "{name}: {}", ended.said());
    }
    std::fs::write(folder.path().join("pause"), "").unwrap();
    std::fs::write(folder.path().join("resume"), "").unwrap();
    assert!(running.wait().status.success());
    let late = command("pause", &dir);
    assert!(!late.status.success() && late.said().contains("has ended"), "{}", late.said());
}
