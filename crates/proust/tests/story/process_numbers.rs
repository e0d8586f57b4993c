//! Numbers of processes that are used again: two processes of one run may have the same.

use std::process::Command;

use crate::command::run;
use crate::pages::Threads;
use crate::programs::built;
use crate::recording::{empty_folder, number, page_of};

/// Exit code of the script where the machine does not let it choose a number.
const NOT_HERE: i32 = 77;

#[test]
fn of_which_one_is_used_again() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("run");
    // The next process gets the number after the one that is written there.
    let script = r#"
        last=/proc/sys/kernel/ns_last_pid
        { echo 900 >$last; } 2>/dev/null || exit 77
        "$PROUST" record -o "$RUN" -- sh -c '
            echo 700 >$1; "$2" 0.2 return; echo 700 >$1; "$2" 0.4 exit; echo 700 >$1; "$2" 0.3 kill; exit 0
            ' sh $last "$PROGRAM""#;
    let ended = run(Command::new("unshare")
        .args(["--pid", "--fork", "--mount-proc", "sh", "-c", script])
        .env_remove("PROUST_RUN")
        .env("PROUST", env!("CARGO_BIN_EXE_proust"))
        .env("RUN", &dir)
        .env("PROGRAM", &program));
    if ended.status.code() == Some(NOT_HERE) || ended.said().contains("unshare") {
        println!("SKIP: numbers of processes cannot be chosen here: {}", ended.said());
        return;
    }
    assert!(ended.status.success(), "{:?}: {}", ended.status, ended.said());
    let truths: Vec<serde_json::Value> =
        ended.printed().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let pids: Vec<u64> = truths.iter().map(|truth| number(truth, "/pid") as u64).collect();
    assert_eq!(pids, [701, 701, 701], "{}", ended.printed());
    let threads: Threads = page_of(&dir, "threads", &[]);
    let mut found: Vec<f64> =
        threads.locations.iter().filter(|one| one.process == 701).map(|one| one.cpu_s).collect();
    found.sort_by(f64::total_cmp);
    let mut burned: Vec<f64> = truths.iter().map(|truth| number(truth, "/cpu_s")).collect();
    burned.sort_by(f64::total_cmp);
    assert_eq!(found.len(), 3, "{:#?}", threads.locations);
    for (found, burned) in found.iter().zip(&burned) {
        assert!((found - burned).abs() <= 0.02 + 0.05 * burned, "{found} s found, {burned} s burned");
    }
}
