//! The first minute: one command that records and reports, the habits of other tools, wrong command lines.

use std::fs::File;
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::command::{proust, run, start};
use crate::programs::built;
use crate::recording::{empty_folder, record, record_with};

#[test]
fn run_records_and_reports() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let ended = run(proust()
        .args(["run", "-o", "run", "--"])
        .arg(&program)
        .args(["0.3", "exit"])
        .current_dir(&folder));
    assert_eq!(ended.status.code(), Some(41), "the command's own code: {}", ended.said());
    assert!(
        ended.printed().contains("burn_cpu") && ended.printed().contains("compute"),
        "{}",
        ended.printed()
    );
    assert!(ended.said().contains("recorded 1 process"), "{}", ended.said());
    assert!(folder.path().join("run/run.json").exists());
    // The page is the one that `report` shows of the run.
    let again = run(proust().args(["report", "run"]).current_dir(&folder)).printed();
    assert!(ended.printed().ends_with(&again), "{}\n{again}", ended.printed());
    let refused = run(proust().args(["run", "--", "./nothing-here"]).current_dir(&folder));
    assert_eq!(refused.status.code(), Some(127), "{}", refused.said());
    assert!(refused.stdout.is_empty(), "{}", refused.printed());
}

#[test]
fn quiet_says_nothing_unless_something_went_wrong() {
    let folder = empty_folder();
    let quietly = |options: &[&str], command: &[&str]| {
        let mut proust = proust();
        run(proust.arg("record").args(options).arg("--").args(command).current_dir(&folder))
    };
    for options in [["-q", "-g"].as_slice(), &["--quiet", "-F", "100"], &["-qF", "9999"]] {
        let ended = quietly(options, &["true"]);
        assert!(ended.status.success() && ended.stderr.is_empty(), "{options:?}: {}", ended.said());
    }
    let failed = quietly(&["-q"], &["./nothing-here"]);
    assert_eq!(failed.status.code(), Some(127));
    assert!(failed.said().contains("nothing-here"), "{}", failed.said());
}

/// Samples a second that come at the kernel's ticks: a CPU timer fires at most once in one.
fn ticks_a_second() -> f64 {
    let mut tick = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure lives until after the call.
    assert_eq!(unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut tick) }, 0);
    1e9 / tick.tv_nsec as f64
}

#[test]
fn a_rate_beyond_the_ticks_is_noted_at_once() {
    let folder = empty_folder();
    let noted = |options: &[&str]| {
        let ended = run(proust().arg("record").args(options).args(["--", "true"]).current_dir(&folder));
        assert!(ended.status.success(), "{}", ended.said());
        ["threads that compute get 10000", "10000 samples a second were asked for; while waits"]
            .map(|text| ended.said().contains(text))
    };
    let is_beyond = ticks_a_second() < 10_000.0;
    assert_eq!(noted(&["-F", "10000"]), [is_beyond && cfg!(target_arch = "x86_64"), false]);
    assert_eq!(noted(&["-F", "10000", "--without", "io"]), [false, is_beyond]);
    assert_eq!(noted(&["-F", "50"]), [false, false]);
}

/// Samples are due by the thread's own clock: a busy machine changes nothing.
#[cfg(target_arch = "x86_64")]
#[test]
fn a_thread_that_computes_gets_the_rate_that_was_asked_for() {
    let Some(program) = built("shares") else { return };
    let asked = (6.0 * ticks_a_second()).min(10_000.0);
    let delivered = |options: &[&str]| {
        let rate = format!("{asked:.0}");
        let options: Vec<&str> = ["--rate", &rate].iter().chain(options).copied().collect();
        let run = record_with(&options, &program, &["2", "0"]).succeeded();
        run.summary()
    };
    let usual = delivered(&[]).quality.delivered_rate;
    assert!(usual > 0.5 * asked && usual < 1.1 * asked, "{usual} of {asked} a second");
    let unasked = record(&program, &["2", "0"]).succeeded();
    let rate = unasked.summary().quality.delivered_rate;
    assert_eq!(unasked.page::<Value>("quality", &[])["run"]["asked_rate_hz"], 100);
    assert!(rate > 50.0 && rate < 130.0, "{rate} a second where no rate was asked for");
    // At most one a tick, while the thread computes and while others have its processor.
    let at_ticks = delivered(&["--without", "io"]);
    let a_second = at_ticks.quality.samples as f64 / at_ticks.run.wall_s;
    assert!(a_second < 1.1 * ticks_a_second(), "{a_second} a second at ticks only");
}

#[test]
fn a_reader_that_is_gone_is_no_failure() {
    let run_here = record("sh", &["-c", "exit 5"]);
    let dir = run_here.dir.to_str().unwrap();
    let proust = env!("CARGO_BIN_EXE_proust");
    let folder = empty_folder();
    // (a shell's command line, its exit code)
    for (line, code) in [
        (format!("{proust} report {dir} | head -c 1 >/dev/null; exit ${{PIPESTATUS[0]}}"), 0),
        (format!("{proust} explain | true; exit ${{PIPESTATUS[0]}}"), 0),
        (format!("{proust} report {dir} >&-"), 0),
        (format!("{proust} report {dir} 2>&-"), 0),
        (format!("{proust} record -- sh -c 'sleep 0.3; exit 5' 2>&1 | true; exit ${{PIPESTATUS[0]}}"), 5),
        (format!("{proust} record -- sh -c 'exit 5' 2>/dev/full"), 5),
        (format!("{proust} record -- sh -c 'exit 5' >&- 2>&-"), 5),
        (format!("{proust} record -- ./nothing-here 2>/dev/full"), 127),
        (format!("{proust} run -q -- sh -c 'exit 5' | true; exit ${{PIPESTATUS[0]}}"), 5),
        (format!("{proust} nonsense 2>/dev/full"), 2),
        (format!("{proust} report {dir} >/dev/full"), 1),
    ] {
        let ended = run(Command::new("bash").args(["-c", &line]).current_dir(&folder));
        assert_eq!(ended.status.code(), Some(code), "{line}: {}", ended.said());
        assert!(!ended.said().contains("panicked"), "{line}: {}", ended.said());
    }
}

#[test]
fn a_run_that_is_still_recording_says_so() {
    let folder = empty_folder();
    let (input, gate) = pipe();
    let dir = folder.path().join("run");
    let mut command = proust();
    command.arg("record").arg("-o").arg(&dir).args(["--", "sh", "-c", "echo ready; read line"]);
    let recording = start(command.stdin(Stdio::from(input)));
    while !recording.printed_so_far().contains("ready") {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    let ended = run(proust().arg("report").arg(&dir));
    assert!(ended.status.success(), "{}", ended.said());
    assert!(ended.said().contains("is still being recorded: sh ("), "{}", ended.said());
    drop(gate);
    recording.wait();
    let ended = run(proust().arg("report").arg(&dir));
    assert!(ended.status.success() && !ended.said().contains("still being recorded"), "{}", ended.said());
}

fn pipe() -> (File, File) {
    use std::os::fd::FromRawFd;
    let mut ends = [0; 2];
    // SAFETY: two descriptors have room, and each gets one owner.
    unsafe {
        assert_eq!(libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC), 0);
        (File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))
    }
}

/// Command lines that are wrong, and the whole answer to each.
#[test]
fn wrong_command_lines_get_the_way_out() {
    let folder = empty_folder();
    std::fs::write(folder.path().join("a-file"), "no run").unwrap();
    let recorded = run(proust().args(["record", "-q", "-o", "run", "--", "true"]).current_dir(&folder));
    assert!(recorded.status.success(), "{}", recorded.said());
    let lines: &[&[&str]] = &[
        &["record", "--raet", "100", "--", "ls"],
        &["record", "--ouput", "x", "--", "ls"],
        &["record", "-p", "1"],
        &["record", "--pid", "1", "--", "ls"],
        &["record", "-e", "cycles", "--", "ls"],
        &["record", "-a", "--", "ls"],
        &["record", "--call-graph", "dwarf", "--", "ls"],
        &["record", "-x", "--", "ls"],
        &["record"],
        &["record", "-F", "0", "--", "ls"],
        &["record", "-o", "run", "--", "ls"],
        &["run", "--", "./nothing-here"],
        &["sh", "-c", "exit 0"],
        &["flat"],
        &["reprot"],
        &["report", "run", "flt"],
        &["report", "foo"],
        &["report", "a-file"],
        &["report", "run", "--where", "thread=a or thread=b"],
        &["report", "run", "--where", "function==x"],
        &["report", "run", "--where", "thread=a && rank=1"],
        &["report", "run", "--where", "thraed=1"],
        &["report", "run", "flat", "--sort", "cpuu_s"],
        &["export", "run"],
        &["export", "run", "specdscope", "-o", "x"],
        &["export", "run", "firefox", "--metric", "lock_s"],
        &["explain", "serail"],
        &["sweep", "--theads", "1,2", "--", "ls"],
        &["diff", "run"],
    ];
    let mut answers = String::new();
    for line in lines {
        let ended = run(proust().args(*line).current_dir(&folder).env("COLUMNS", "100"));
        assert!(!ended.status.success() && ended.stdout.is_empty(), "{line:?}: {}", ended.printed());
        let code = ended.status.code().expect("an exit code");
        answers.push_str(&format!("$ proust {}   [{code}]\n{}\n", line.join(" "), ended.said()));
    }
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "nothing was recorded or written: {left:?}");
    insta::assert_snapshot!("wrong_command_lines", answers);
}
