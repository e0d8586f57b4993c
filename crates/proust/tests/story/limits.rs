//! What the collector takes of a process is not missing when the program comes near its limits, or sets them
//! itself.

use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::{proust, run};
use crate::explained::Except;
use crate::pages::Threads;
use crate::programs::built;
use crate::recording::{empty_folder, number, page_of, record_with, truth_in};

/// Runs cases alone and recorded; what they check of themselves holds both times.
fn hold(cases: &[&str]) {
    // Each operation is told, so that the log grows.
    hold_at(&["--sync-threshold", "all"], cases);
}

fn hold_at(options: &[&str], cases: &[&str]) {
    let Some(program) = built("hostile_limits") else { return };
    for case in cases {
        let folder = empty_folder();
        let alone = run(Command::new(&program).arg(case).current_dir(folder.path()));
        assert!(alone.status.success(), "alone: {}", alone.printed());
        let recorded = record_with(options, &program, &[case]);
        // Where there is no more to be had, the log says so, and goes on with totals.
        recorded.except(Except::FullLog);
        let said = recorded.ended.printed();
        assert!(
            recorded.ended.status.success() && !said.contains("WRONG"),
            "{said}{}",
            recorded.ended.said()
        );
        if let Some(line) = said.lines().find(|line| line.contains("not possible here")) {
            println!("SKIP: {line}");
        }
    }
}

#[test]
fn of_the_address_space_are_the_programs() {
    hold(&["address_space", "little_more"]);
}

#[test]
fn of_locked_memory_are_the_programs() {
    hold(&["locked_memory", "locked_future"]);
}

#[test]
fn a_hole_that_the_program_left_stays_one() {
    hold(&["growing_stack"]);
}

#[test]
fn barriers_and_keys_are_those_of_the_program() {
    hold(&["barriers", "keys"]);
}

/// A plugin's unwind tables are the collector's own, since it may be unloaded: they must not take a mapping
/// for each.
#[test]
fn plugins_that_come_and_go_leave_no_mappings() {
    hold_at(&["--rate", "1000"], &["many_plugins"]);
}

/// Twelve thousand threads at once: there are as many as without, and mappings and memory for them come to
/// little.
#[test]
fn thousands_of_threads_at_once() {
    const THREADS: f64 = 12_000.0;
    let Some(program) = built("hostile_limits") else { return };
    let alone: Value = truth_in(&run(Command::new(&program).args(["live", "12000"])));
    if number(&alone, "/threads") < THREADS {
        println!("SKIP: this machine has no room for so many threads: {alone}");
        return;
    }
    let recorded = record_with(&[] as &[&str], &program, &["live", "12000"]).succeeded();
    recorded.except(Except::ManyNewThreads);
    let truth = recorded.truth();
    assert_eq!(number(&truth, "/threads"), THREADS, "{truth}");
    let more = |what: &str| number(&truth, what) - number(&alone, what);
    assert!(more("/mappings") < 0.02 * THREADS, "{truth} beside {alone}");
    assert!(more("/resident_kib") < 14.0 * THREADS, "{truth} beside {alone}");
    assert_eq!(recorded.summary().run.threads, 12_001);
}

/// The kernel counts timers among the signals that may be pending for a user. A program that uses up all of
/// them sees what it sees alone; its threads get no timer then, and are measured without samples.
#[test]
fn of_pending_signals_are_the_programs() {
    // SAFETY: reads the user's number only.
    if unsafe { libc::geteuid() } != 0 {
        println!(
            "SKIP: other programs of this user have signals pending, and only root can take another one"
        );
        return;
    }
    // A user of whom nothing else runs.
    const NOBODY_ELSE: u32 = 54_321;
    let Some(program) = built("hostile_limits") else { return };
    let may_be_entered = |path: &Path| {
        path.ancestors().skip(1).all(|above| above.metadata().is_ok_and(|m| m.permissions().mode() & 1 == 1))
    };
    if ![program.as_path(), Path::new(env!("CARGO_BIN_EXE_proust"))].iter().all(|path| may_be_entered(path)) {
        println!("SKIP: another user may not enter the folders of what is tested");
        return;
    }
    let folder = empty_folder();
    chown(folder.path(), Some(NOBODY_ELSE), Some(NOBODY_ELSE)).unwrap();
    let by_user = |command: &mut Command| {
        run(command.uid(NOBODY_ELSE).gid(NOBODY_ELSE).env("HOME", folder.path()).current_dir(folder.path()))
    };
    let alone = by_user(Command::new(&program).arg("pending_signals"));
    assert!(alone.status.success(), "alone: {}{}", alone.printed(), alone.said());
    let dir = folder.path().join("run");
    let recorded =
        by_user(proust().args(["record", "-o"]).arg(&dir).arg("--").arg(&program).arg("pending_signals"));
    let said = recorded.printed();
    assert!(recorded.status.success() && !said.contains("WRONG"), "{said}{}", recorded.said());
    let quality: Value = page_of(&dir, "quality", &[]);
    assert_eq!(number(&quality, "/quality/untimed_threads"), 4.0, "{quality}");
    let threads: Threads = page_of(&dir, "threads", &[]);
    assert_eq!(threads.locations.len(), 5);
    // Each computed for 0.1 s by its own clock; what that clock does not have is its begin and end.
    for thread in &threads.locations {
        assert!(thread.cpu_s > 0.095, "{thread:?}");
    }
}

/// A recording shows what its user's programs do: nobody else reads it, whatever mask of permissions the user
/// has.
#[test]
fn a_run_is_its_owners_alone() {
    let Some(program) = built("endings") else { return };
    for mask in ["000", "022", "777"] {
        let folder = empty_folder();
        let dir = folder.path().join("run");
        let script = "umask $0; exec \"$@\"";
        let ended = run(Command::new("sh")
            .args(["-c", script, mask, env!("CARGO_BIN_EXE_proust"), "record", "-o"])
            .arg(&dir)
            .arg("--")
            .arg(&program)
            .args(["0.05", "return"])
            .env_remove("PROUST_RUN"));
        assert_eq!(ended.status.code(), Some(40), "{}", ended.said());
        let mut all = vec![dir.clone()];
        while let Some(path) = all.pop() {
            let metadata = path.metadata().unwrap();
            let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
            assert_eq!(metadata.permissions().mode() & 0o7777, wanted, "{path:?} under the mask {mask}");
            if metadata.is_dir() {
                all.extend(path.read_dir().unwrap().map(|entry| entry.unwrap().path()));
            }
        }
    }
}
