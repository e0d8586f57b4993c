//! A sweep: many runs of one command, which can be interrupted, gone on with, and fail one by one.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{Ended, proust, run, start};
use crate::recording::{empty_folder, list, report};

fn sweep(dir: &Path, options: &[&str], command: &[&str]) -> Command {
    let mut sweep = proust();
    for name in ["OMP_NUM_THREADS", "RAYON_NUM_THREADS", "OMP_PROC_BIND"] {
        sweep.env_remove(name);
    }
    sweep.args(["sweep", "-o"]).arg(dir).args(options).arg("--").args(command).stdin(Stdio::null());
    sweep
}

fn noted(dir: &Path) -> Value {
    serde_json::from_slice(&fs::read(dir.join("sweep.json")).unwrap()).unwrap()
}

fn outcomes(dir: &Path) -> Vec<String> {
    let file = noted(dir);
    list(&file, "/points").iter().map(|point| point["outcome"].as_str().unwrap().to_owned()).collect()
}

fn code(ended: &Ended) -> i32 {
    ended.status.code().unwrap_or_else(|| panic!("{:?}: {}", ended.status, ended.said()))
}

#[test]
fn every_run_is_an_ordinary_one_with_its_counts() {
    let folder = empty_folder();
    let dir = folder.path().join("s");
    let script = "echo $OMP_NUM_THREADS $RAYON_NUM_THREADS $MINE $0";
    let mut command = sweep(&dir, &["--threads", "1,2", "--repeat", "2"], &["sh", "-c", script, "x{n}"]);
    let ended =
        run(command.env("MINE", "of-{threads}").env("OMP_NUM_THREADS", "7").env("OMP_PROC_BIND", "close"));
    assert_eq!(code(&ended), 0, "{}", ended.said());
    assert!(ended.stdout.is_empty() && ended.said().contains("OMP_NUM_THREADS=7"), "{}", ended.said());
    let file = noted(&dir);
    assert_eq!(file["binding"]["variables"]["OMP_PROC_BIND"], "close");
    assert!(!file["binding"]["affinity"].as_str().unwrap().is_empty());
    let points = list(&file, "/points");
    let values: Vec<&str> = points.iter().map(|point| point["values"][0].as_str().unwrap()).collect();
    assert_eq!(values, ["1", "2", "1", "2"], "repetitions are interleaved");
    for point in points {
        let (n, name) = (point["values"][0].as_str().unwrap(), point["dir"].as_str().unwrap());
        let said = fs::read_to_string(dir.join(format!("{name}.out"))).unwrap();
        assert_eq!(said.trim(), format!("{n} {n} of-{n} x{n}"));
        let page = report(&dir.join(name), "summary", &["--format", "json"]);
        assert!(page.status.success(), "{}", page.said());
    }
}

#[test]
fn a_failed_run_loses_no_other_and_is_run_anew() {
    let folder = empty_folder();
    let (dir, witness) = (folder.path().join("s"), folder.path().join("repaired"));
    let script = format!("[ $OMP_NUM_THREADS != 2 ] || [ -e '{}' ] || exit 5", witness.display());
    let again = || run(&mut sweep(&dir, &["--threads", "1,2,4", "--repeat", "1"], &["sh", "-c", &script]));
    let ended = again();
    assert_eq!(code(&ended), 5, "{}", ended.said());
    assert!(
        ended.said().contains("exit code 5") && ended.said().contains("threads-2.1.err"),
        "{}",
        ended.said()
    );
    assert_eq!(outcomes(&dir), ["done", "failed", "done"]);
    let kept = fs::metadata(dir.join("threads-1.1/run.json")).unwrap().modified().unwrap();
    fs::write(&witness, "").unwrap();
    let ended = again();
    assert_eq!(code(&ended), 0, "{}", ended.said());
    assert!(ended.said().contains("2 runs kept"), "{}", ended.said());
    assert_eq!(outcomes(&dir), ["done", "done", "done"]);
    assert_eq!(fs::metadata(dir.join("threads-1.1/run.json")).unwrap().modified().unwrap(), kept);
}

#[test]
fn more_counts_and_repetitions_may_come_later_but_no_other_command() {
    let folder = empty_folder();
    let dir = folder.path().join("s");
    assert_eq!(code(&run(&mut sweep(&dir, &["--threads", "1", "--repeat", "1"], &["true"]))), 0);
    let ended = run(&mut sweep(&dir, &["--threads", "1,2", "--repeat", "2"], &["true"]));
    assert!(ended.said().contains("1 run kept"), "{}", ended.said());
    assert_eq!(outcomes(&dir), ["done"; 4]);
    let ended = run(&mut sweep(&dir, &["--threads", "1"], &["false"]));
    assert_eq!(code(&ended), 125);
    assert!(ended.said().contains("another command (true)"), "{}", ended.said());
    let ended = run(&mut sweep(&dir, &["--axis", "a=1"], &["true", "{a}"]));
    assert_eq!(code(&ended), 125, "{}", ended.said());
    assert_eq!(outcomes(&dir), ["done"; 4]);
    let other = folder.path().join("other");
    fs::create_dir(&other).unwrap();
    let ended = run(&mut sweep(&other, &["--threads", "1"], &["true"]));
    assert!(code(&ended) == 125 && ended.said().contains("holds no sweep"), "{}", ended.said());
    assert_eq!(fs::read_dir(&other).unwrap().count(), 0);
}

#[test]
fn a_run_that_takes_too_long_is_ended_with_all_it_started() {
    let folder = empty_folder();
    let (dir, mark) = (folder.path().join("s"), folder.path().join("alive"));
    let script = format!("(trap '' TERM; sleep 100; touch '{}') & wait", mark.display());
    let begun = Instant::now();
    let options = ["--threads", "1", "--repeat", "1", "--timeout", "0.5s"];
    let ended = run(&mut sweep(&dir, &options, &["sh", "-c", &script]));
    assert_eq!(code(&ended), 124, "{}", ended.said());
    assert!(begun.elapsed() < Duration::from_secs(90), "nobody ended it");
    assert_eq!(outcomes(&dir), ["timed-out"]);
}

#[test]
fn ctrl_c_keeps_what_is_done() {
    let folder = empty_folder();
    let (dir, mark) = (folder.path().join("s"), folder.path().join("second"));
    let script = format!("[ $OMP_NUM_THREADS = 1 ] || {{ touch '{}'; sleep 60; }}", mark.display());
    let running = start(&mut sweep(&dir, &["--threads", "1,2", "--repeat", "1"], &["sh", "-c", &script]));
    let begun = Instant::now();
    while !mark.exists() {
        assert!(begun.elapsed() < Duration::from_secs(120), "the second run does not begin");
        std::thread::sleep(Duration::from_millis(20));
    }
    // SAFETY: signals the group the harness made for this command.
    unsafe { libc::kill(-running.pid(), libc::SIGINT) };
    let ended = running.wait();
    assert_eq!(ended.status.signal(), Some(libc::SIGINT), "{:?}: {}", ended.status, ended.said());
    assert!(ended.said().contains("1 of 2 runs done is kept"), "{}", ended.said());
    assert_eq!(outcomes(&dir), ["done", "pending"]);
    assert!(dir.join("threads-1.1/run.json").exists() && !dir.join("threads-2.1").exists());
}

#[test]
fn what_cannot_be_run_is_told_before_anything_is() {
    let folder = empty_folder();
    let dir = folder.path().join("s");
    let ended = run(&mut sweep(&dir, &["--threads", "1"], &["there-is-no-such-program"]));
    assert_eq!(code(&ended), 127, "{}", ended.said());
    let ended = run(&mut sweep(&dir, &["--ranks", "1,2"], &["true"]));
    assert_eq!(code(&ended), 2, "{}", ended.said());
    assert!(ended.said().contains("{n}"), "{}", ended.said());
    let ended = run(&mut sweep(&dir, &["--threads", "1", "--serial", "'"], &["true"]));
    assert_eq!(code(&ended), 2, "{}", ended.said());
    assert!(!dir.exists());
}

#[test]
fn ls_and_info_know_sweeps() {
    let folder = empty_folder();
    let dir = folder.path().join("s");
    run(&mut sweep(
        &dir,
        &["--threads", "1,2", "--repeat", "1", "--serial", "true"],
        &["sh", "-c", "exit $((OMP_NUM_THREADS - 1))"],
    ));
    let ls = run(proust().arg("ls").arg(folder.path()));
    assert!(ls.status.success() && ls.printed().contains("2 of 3"), "{}{}", ls.printed(), ls.said());
    let info = run(proust().arg("info").arg(&dir));
    assert!(info.status.success(), "{}", info.said());
    for part in ["serial", "threads-1.1", "exit code 1", "affinity"] {
        assert!(info.printed().contains(part), "{part}: {}", info.printed());
    }
}
