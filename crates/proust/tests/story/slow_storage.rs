//! A run's folder on storage as it is across a network: slow, without reservation, with a quota; or that may
//! only be read.

use std::path::Path;
use std::process::Command;

use crate::command::{Ended, run};
use crate::hooked::COLLECTOR;
use crate::pages::{Summary, Threads};
use crate::programs::{built, folder, has};
use crate::recording::{empty_folder, number, truth_in};

/// Exit code where the file system cannot be mounted.
const NOT_HERE: i32 = 77;
/// Of each answer.
const DELAY_S: &str = "0.003";

/// Records `programs/endings` into a run on such a file system and asks for two pages; None, said as SKIP,
/// where there is none.
fn recorded(quota_bytes: &str, reserves: &str, arguments: &str) -> Option<(Ended, Threads, Summary)> {
    let program = built("endings")?;
    if !has("python3") || !has("unshare") {
        println!("SKIP: python3 or unshare is not installed");
        return None;
    }
    let place = empty_folder();
    let (disk, threads, summary) =
        (place.path().join("disk"), place.path().join("threads"), place.path().join("summary"));
    std::fs::create_dir(&disk).unwrap();
    let script = r#"
        "$PROUST" record -o "$DISK/run" -- "$PROGRAM" $ARGUMENTS
        code=$?
        cp -r "$DISK/run" "$COPY" && "$PROUST" report "$DISK/run" threads --format json >"$THREADS" &&
            "$PROUST" report "$COPY" summary --format json >"$SUMMARY" || exit 78
        exit $code"#;
    let ended = run(Command::new("unshare")
        .args(["--mount", "python3"])
        .arg(folder().join("slow_files.py"))
        .arg(&disk)
        .args([DELAY_S, quota_bytes, reserves, "sh", "-c", script])
        .env("PROUST", env!("CARGO_BIN_EXE_proust"))
        .env("PROGRAM", &program)
        .env("ARGUMENTS", arguments)
        .env("DISK", &disk)
        .env("COPY", place.path().join("copy"))
        .env("THREADS", &threads)
        .env("SUMMARY", &summary)
        .env("XDG_CACHE_HOME", place.path()));
    if ended.status.code() == Some(NOT_HERE) || ended.said().contains("unshare") {
        println!("SKIP: no file system of a story's own here: {}", ended.said());
        return None;
    }
    assert_eq!(ended.status.code(), Some(40), "{}", ended.said());
    let page = |path: &Path| std::fs::read(path).unwrap();
    let threads = serde_json::from_slice(&page(&threads)).unwrap();
    let summary = serde_json::from_slice(&page(&summary)).unwrap();
    Some((ended, threads, summary))
}

/// All CPU time of the program is in the report.
fn assert_complete((ended, threads, _): &(Ended, Threads, Summary)) {
    let truth = truth_in(ended);
    let (found, burned) = (threads.cpu_of_process(number(&truth, "/pid") as u64), number(&truth, "/cpu_s"));
    assert!(
        (found - burned).abs() <= 0.02 + 0.02 * burned,
        "{found} s found, {burned} s burned: {}",
        ended.said()
    );
}

#[test]
fn that_is_slow_costs_no_data() {
    let Some(seen) = recorded("1000000000", "1", "0.5 return") else { return };
    assert_complete(&seen);
    assert!(seen.2.quality.samples > 20, "{:#?}", seen.2.quality);
}

#[test]
fn that_reserves_nothing_costs_no_data() {
    let Some(seen) = recorded("1000000000", "0", "0.5 return") else { return };
    assert_complete(&seen);
    assert!(seen.2.quality.samples > 20, "{:#?}", seen.2.quality);
}

#[test]
fn that_has_a_quota_keeps_the_totals() {
    // The collector's own library and the first pages of a log fit, and not much more.
    let quota_bytes = COLLECTOR.len() + 150_000;
    let Some(seen) = recorded(&quota_bytes.to_string(), "1", "0.5 return") else { return };
    assert_complete(&seen);
}
