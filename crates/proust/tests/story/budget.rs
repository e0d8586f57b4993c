//! What a recording may take: the rate asked for, the size of the logs, a disk that is full.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::Command;

use proust_log::layout::FileHeader;
use serde_json::Value;
use zerocopy::FromBytes;

use crate::chance::assert_close;
use crate::command::{Ended, run};
use crate::explained::Except;
use crate::mpi::Mpi;
use crate::programs::built;
use crate::recording::{empty_folder, list, number, record_with, truth_in};

#[test]
fn a_quarter_of_the_rate_gives_a_quarter_of_the_samples() {
    let Some(program) = built("shares") else { return };
    let rate = |asked: &str| {
        let run = record_with(&["--rate", asked], &program, &["2", "0"]).succeeded();
        run.assert_trustworthy();
        run.summary().quality.delivered_rate
    };
    let (few, many) = (rate("25"), rate("100"));
    // Distances are drawn: of 50 and of 200 samples, five standard deviations are 36 % and 18 %.
    assert!(few > 0.0 && few <= 34.0, "{few} samples a second of the 25 asked for");
    // A busy machine delivers fewer than asked, never more.
    assert!(many <= 118.0 && many > few, "{many} samples a second of the 100 asked for");
}

#[test]
fn a_full_log_keeps_the_totals() {
    let Some(program) = built("deep_and_shallow") else { return };
    // Hardly a path repeats: more than this is used up in a moment.
    let run = record_with(&["--max-size", "256K", "--rate", "1000"], program, &["4"]).succeeded();
    run.except(Except::FullLog);
    let truth = run.truth();
    let bytes: u64 = std::fs::read_dir(run.dir.join("log"))
        .unwrap()
        .map(|log| log.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes <= 256 * 1024, "{bytes} bytes of logs");
    let threads = run.threads();
    let found: f64 = threads.locations.iter().map(|location| location.cpu_s).sum();
    let cpu_s = number(&truth, "/cpu_s");
    assert_close("CPU time", found, cpu_s, 0.01 * cpu_s + 0.01);
    let quality = run.summary().quality;
    assert!(quality.notes.iter().any(|note| note.contains("max-size")), "{:#?}", quality.notes);
}

#[test]
fn a_full_disk_is_not_the_programs_trouble() {
    let Some(program) = built("endings") else { return };
    let folder = empty_folder();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let disk = folder.path().join("disk");
    std::fs::create_dir(&disk).unwrap();
    // A disk of the story's own, gone with the shell; the recorded command fills it before its program
    // starts.
    let script = r#"
        mount -t tmpfs -o size=32m none "$DISK" 2>/dev/null || exit 77
        "$PROUST" record -o "$DISK/run" -- sh -c '
            cat /dev/zero >"$DISK/filling" 2>/dev/null; "$PROGRAM" 0.5 return'
        code=$?
        "$PROUST" report "$DISK/run" summary >&2 || exit 78
        exit $code"#;
    let ended: Ended = run(Command::new("unshare")
        .args(["--mount", "sh", "-c", script])
        .env("DISK", &disk)
        .env("PROUST", env!("CARGO_BIN_EXE_proust"))
        .env("PROGRAM", &program));
    if ended.status.code() == Some(77) || ended.status.code() == Some(1) && ended.said().contains("unshare") {
        println!("SKIP: a small disk cannot be mounted here");
        return;
    }
    assert_eq!(ended.status.code(), Some(40), "{}", ended.said());
    assert_eq!(truth_in(&ended)["mode"], "return");
}

/// Of two ranks one writes a log that is as long as the run's may be altogether before the other one begins.
/// Their launcher polls meanwhile, and has as many samples where the processors are busy.
fn each_rank_has_its_share(mpi: Mpi) {
    let Some(mut command) = mpi.launcher() else { return };
    let (Some(hungry), Some(modest)) = (built("deep_and_shallow"), built("endings")) else { return };
    let (hungry, modest) = (hungry.display(), modest.display());
    let others = format!("sleep 5; exec '{modest}' 0.5 return");
    let ranks = format!("case $OMPI_COMM_WORLD_RANK$PMI_RANK in 0) exec '{hungry}' 6;; *) {others};; esac");
    command.extend(["sh", "-c", &ranks].map(str::to_owned));
    let most_bytes: usize = 768 << 10;
    let run = record_with(&["--max-size", "768K", "--rate", "1000"], &command[0], &command[1..]);
    run.except(Except::FullLog);
    let page: Value = run.page("processes", &[]);
    let ranks: Vec<u64> = list(&page, "/processes")
        .iter()
        .filter(|process| !process["rank"].is_null())
        .map(|process| process["process"].as_u64().unwrap())
        .collect();
    let logs = std::fs::read_dir(run.dir.join("log")).unwrap().map(|log| log.unwrap().path());
    let is_of_rank = |log: &PathBuf| {
        let name = log.file_name().unwrap().to_string_lossy();
        ranks.iter().any(|pid| name.starts_with(&format!("{pid}-")))
    };
    let logs: Vec<Vec<u8>> = logs.filter(is_of_rank).map(|log| std::fs::read(log).unwrap()).collect();
    assert!(logs.len() >= 2, "{page:#}");
    let is_full =
        |log: &&Vec<u8>| FileHeader::read_from_prefix(log.as_slice()).unwrap().0.budget_exhausted != 0;
    let full: Vec<usize> = logs.iter().filter(is_full).map(Vec::len).collect();
    assert_eq!(full.len(), 1, "{full:?}: {}", run.ended.said());
    assert!(full[0] <= most_bytes / 2, "{full:?}");
    // Nearly all of it: a log grows by a quarter.
    assert!(full[0] >= most_bytes / 3, "{full:?}");
}

#[test]
fn each_rank_of_open_mpi_has_its_share_of_the_size() {
    each_rank_has_its_share(Mpi::Open);
}

#[test]
fn each_rank_of_mpich_has_its_share_of_the_size() {
    each_rank_has_its_share(Mpi::Mpich);
}
