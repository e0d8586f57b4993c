//! Clocks that are not what they seem: the clock of day set during a run, processes that count from another
//! beginning.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use proust_log::layout::FileHeader;
use zerocopy::{FromBytes, IntoBytes};

use crate::chance::assert_close;
use crate::command::run;
use crate::pages::{Summary, Threads};
use crate::programs::built;
use crate::recording::{number, page_of, record, truth_in};

/// Says in a log that the clock of day was so far off when its process began.
fn set_clock(log: &Path, seconds: i64) {
    let mut bytes = fs::read(log).unwrap();
    let (mut header, _) = FileHeader::read_from_prefix(&bytes).unwrap();
    header.start_unix_ns = header.start_unix_ns.checked_add_signed(seconds * 1_000_000_000).unwrap();
    header.check = header.check_of_facts();
    bytes[..size_of::<FileHeader>()].copy_from_slice(header.as_bytes());
    fs::write(log, bytes).unwrap();
}

/// Logs of a run, the eldest first.
fn logs(dir: &Path) -> Vec<PathBuf> {
    let mut logs: Vec<PathBuf> =
        fs::read_dir(dir.join("log")).unwrap().map(|log| log.unwrap().path()).collect();
    let start_ns = |log: &PathBuf| FileHeader::read_from_prefix(&fs::read(log).unwrap()).unwrap().0.start_ns;
    logs.sort_by_key(start_ns);
    logs
}

/// No program of a story may set the machine's clock, which is everybody's. What a process's log knows of the
/// clock of day is one reading at its start; so a run in which the clock was set is one whose logs disagree
/// about it.
#[test]
fn a_clock_of_day_that_is_set_moves_no_process() {
    let Some(program) = built("endings") else { return };
    let command = format!("'{0}' 0.2 return; '{0}' 0.3 return; '{0}' 0.2 return; exit 0", program.display());
    let recorded = record("sh", &["-c", &command]).succeeded();
    for steps in [[0, 3600, -86_400, 1], [-1_000_000, 0, 0, 1_000_000]] {
        let copy = recorded.dir.with_extension("copy");
        assert!(Command::new("cp").arg("-a").arg(&recorded.dir).arg(&copy).status().unwrap().success());
        let logs = logs(&copy);
        assert_eq!(logs.len(), steps.len());
        for (log, seconds) in logs.iter().zip(steps) {
            set_clock(log, seconds);
        }
        let (set, plain): (Summary, Summary) = (page_of(&copy, "summary", &[]), recorded.summary());
        assert_eq!(set.run.wall_s, plain.run.wall_s);
        assert_eq!(set.ledger.total_s, plain.ledger.total_s);
        let (set, plain): (Threads, Threads) = (page_of(&copy, "threads", &[]), recorded.threads());
        for (set, plain) in set.locations.iter().zip(&plain.locations) {
            assert_eq!((set.process, set.wall_s, set.cpu_s), (plain.process, plain.wall_s, plain.cpu_s));
            assert_eq!((&set.accounts, &set.passive), (&plain.accounts, &plain.passive));
        }
        fs::remove_dir_all(copy).unwrap();
    }
}

/// A time namespace counts CLOCK_MONOTONIC from another beginning.
#[test]
fn a_process_whose_clock_has_another_beginning_is_where_it_was() {
    let Some(program) = built("endings") else { return };
    let unshare = ["--time", "--monotonic", "100000", "--boottime", "100000", "--fork"];
    if !run(Command::new("unshare").args(unshare).arg("true")).status.success() {
        println!("SKIP: no time namespace can be made here");
        return;
    }
    let command = format!(
        "'{0}' 0.2 return; unshare {1} '{0}' 0.3 return; '{0}' 0.1 return; exit 0",
        program.display(),
        unshare.join(" ")
    );
    let recorded = record("sh", &["-c", &command]).succeeded();
    let summary = recorded.summary();
    // `record` begins before the run and ends after it; where it queues for a processor, the program does so,
    // too.
    let around_s = 0.1 + 0.05 * recorded.ended.wall_s;
    assert_close("wall time", summary.run.wall_s, recorded.ended.wall_s, around_s);
    let threads = recorded.threads();
    for line in recorded.ended.printed().lines() {
        let truth: serde_json::Value = serde_json::from_str(line).unwrap();
        let found = threads.cpu_of_process(number(&truth, "/pid") as u64);
        assert_close("CPU time", found, number(&truth, "/cpu_s"), 0.02 + 0.05 * found);
    }
    assert_eq!(truth_in(&recorded.ended)["mode"], "return");
}
