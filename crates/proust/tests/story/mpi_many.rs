//! Very many short calls of MPI: those that need no partner are summed by their callers, and once most of the
//! size that logs may have is used, so are all others. Each call counts, and nothing takes longer.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::mpi::Mpi;
use crate::recording::{list, number};

fn log_bytes(run: &Path) -> u64 {
    let logs = fs::read_dir(run.join("log")).unwrap();
    logs.map(|log| log.unwrap().metadata().unwrap().len()).sum()
}

/// Calls of an operation by a function, or by all; how many, and how long they took.
fn calls(page: &Value, operation: &str, function: Option<&str>) -> (u64, f64) {
    let rows = list(page, "/operations").iter().filter(|row| {
        row["operation"] == operation && function.is_none_or(|function| row["function"] == function)
    });
    rows.fold((0, 0.0), |(calls, seconds), row| {
        (calls + row["calls"].as_u64().unwrap(), seconds + number(row, "/seconds"))
    })
}

fn accesses_are_summed(mpi: Mpi) {
    const CALLS: u64 = 400_000;
    let Some(run) = mpi.record("many", &["accesses", &CALLS.to_string()]) else { return };
    let run = run.succeeded();
    let page: Value = run.page("mpi", &[]);
    let mut all_s = 0.0;
    for operation in ["MPI_Put", "MPI_Win_flush"] {
        for function in ["put_one", "put_two"] {
            let (times, seconds) = calls(&page, operation, Some(function));
            // Of two ranks.
            assert_eq!(times, 2 * CALLS / 4, "{operation} in {function}: {page:#}");
            all_s += seconds;
        }
    }
    let loop_s = number(&run.truth(), "/seconds");
    assert!(all_s > 0.0 && all_s < 2.0 * 1.5 * loop_s, "{all_s} s in calls, a loop took {loop_s} s");
    // One by one they would take 24 bytes each.
    let bytes = log_bytes(&run.dir);
    assert!(bytes < 2 * CALLS * 8, "{bytes} bytes of logs");
}

#[test]
fn accesses_of_open_mpi_are_summed_by_their_callers() {
    accesses_are_summed(Mpi::Open);
}

#[test]
fn accesses_of_mpich_are_summed_by_their_callers() {
    accesses_are_summed(Mpi::Mpich);
}

fn what_needs_no_other_rank_is_timed(mpi: Mpi) {
    const CALLS: u64 = 200_000;
    let Some(run) = mpi.record("many", &["local", &CALLS.to_string()]) else { return };
    let run = run.succeeded();
    let page: Value = run.page("mpi", &[]);
    let truth = run.truth();
    for operation in ["MPI_Pack", "MPI_Unpack"] {
        let (times, seconds) = calls(&page, operation, Some("pack_and_unpack"));
        assert_eq!(times, CALLS, "{operation}: {page:#}");
        // Of two ranks, where the loop has both calls.
        let loop_s = number(&truth, "/packing_s");
        assert!(seconds > 0.0 && seconds < 2.0 * 1.5 * loop_s, "{operation}: {seconds} s of {loop_s} s");
    }
    let (times, seconds) = calls(&page, "MPI_Reduce_local", Some("add_up"));
    assert_eq!(times, 2 * truth["sums"].as_u64().unwrap(), "{page:#}");
    // The other rank adds up as much. Between two calls others may have had the processor for long.
    let [wall_s, cpu_s] = ["/adding_s", "/adding_cpu_s"].map(|time| number(&truth, time));
    assert!(seconds > 0.9 * cpu_s && seconds < 6.0 * wall_s, "{seconds} s, {cpu_s} of {wall_s} s in a rank");
    for (operation, times) in [("MPI_Alloc_mem", 4), ("MPI_Free_mem", 4)] {
        assert_eq!(calls(&page, operation, None).0, times, "{operation}: {page:#}");
    }
}

#[test]
fn what_needs_no_other_rank_is_timed_under_open_mpi() {
    what_needs_no_other_rank_is_timed(Mpi::Open);
}

#[test]
fn what_needs_no_other_rank_is_timed_under_mpich() {
    what_needs_no_other_rank_is_timed(Mpi::Mpich);
}

fn a_log_that_is_nearly_full_has_sums(mpi: Mpi) {
    const CALLS: u64 = 1_000_000;
    // One by one they would take 48 MB.
    let options = ["--max-size", "12M"];
    let calls_each = CALLS.to_string();
    let Some(run) = mpi.record_ranks_with(&options, 2, "many", &["messages", &calls_each]) else { return };
    let run = run.succeeded();
    // The account closes, and all of it has a reason: nothing is missing.
    assert_eq!(run.summary().quality.dropped, 0);
    assert!(log_bytes(&run.dir) <= 12 << 20);
    let page: Value = run.page("mpi", &[]);
    let (times, seconds) = calls(&page, "MPI_Send", None);
    assert_eq!(times, 2 * CALLS, "{page:#}");
    let block_s: Vec<f64> =
        list(&run.truth(), "/block_s").iter().map(|block| block.as_f64().unwrap()).collect();
    let all_s: f64 = block_s.iter().sum();
    assert!(seconds > 0.0 && seconds < 2.0 * 1.5 * all_s, "{seconds} s in calls, of {all_s} s of loops");
    let notes = run.summary().quality.notes;
    assert!(notes.iter().any(|note| note.contains("--max-size")), "{notes:#?}");
    let until_s = number(&page, "/matching/matched_until_s");
    assert!(until_s > 0.0 && until_s < run.summary().run.wall_s, "{until_s}");
    // Calls that are summed take no longer than those that were recorded before.
    let late_s = block_s[5..].iter().copied().fold(f64::INFINITY, f64::min);
    assert!(late_s <= 2.0 * block_s[0], "{block_s:?}");
}

#[test]
fn a_log_of_open_mpi_that_is_nearly_full_has_sums() {
    a_log_that_is_nearly_full_has_sums(Mpi::Open);
}

#[test]
fn a_log_of_mpich_that_is_nearly_full_has_sums() {
    a_log_that_is_nearly_full_has_sums(Mpi::Mpich);
}
