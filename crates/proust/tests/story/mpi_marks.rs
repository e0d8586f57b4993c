//! Intervals that ranks mark by messages to themselves and by `MPI_Pcontrol`, in C and Fortran, under both
//! MPIs, against the ranks' own clocks.

use serde_json::Value;

use crate::chance::assert_close;
use crate::marks::{agreed, intervals};
use crate::mpi::Mpi;
use crate::recording::{Recorded, list, number};

/// Records two ranks of a program that marks itself; the page of its intervals.
fn marked(mpi: Mpi, program: &str, source: &str) -> Option<(Recorded, Value)> {
    let run = mpi.record(program, &["1.0"])?.succeeded();
    assert_eq!(number(&run.truth(), "/wrong"), 0.0, "{mpi:?}: {}", run.ended.printed());
    let page = agreed(&run);
    for one in intervals(&page) {
        let file = one["file"].as_str().unwrap_or_default();
        assert!(file.ends_with(source) && one["line"].is_u64(), "{mpi:?}: {one}");
    }
    Some((run, page))
}

fn called<'p>(page: &'p Value, name: &str, id: Option<i64>) -> &'p Value {
    let is_it = |one: &&Value| one["name"] == name && one["id"].as_i64() == id;
    intervals(page).iter().find(is_it).unwrap_or_else(|| panic!("no {name} {id:?}: {page}"))
}

#[test]
fn messages_to_itself_and_pcontrol_mark_intervals() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some((run, page)) = marked(mpi, "marks", "mpi/marks.c") else { continue };
        let line = |name, id| number(called(&page, name, id), "/line");
        assert!(line("solve", Some(7)) < line("step", Some(-2)), "{page}");
        // Begun at one line or at another one, by which half comes last.
        let of_many = intervals(&page).iter().filter(|one| one["id"] == 40_000);
        let executions: Vec<f64> = of_many.map(|one| number(one, "/executions")).collect();
        assert_eq!((executions.len(), executions.iter().sum::<f64>()), (2, 6.0), "{page}");
        let around = &page["intervals"][called(&page, "step", Some(-2))["parent"].as_u64().unwrap() as usize];
        assert_eq!(around["name"], "solve");
        called(&page, "no number", None);
        for name in ["by all", "by these"] {
            let one = called(&page, name, None);
            let of = |account: &str| number(one, &format!("/accounts/{account}"));
            let share = of("replicated") / (of("replicated") + of("compute"));
            assert!((share - 0.5).abs() < 1e-3, "{mpi:?}: {share} of {name}: {one}");
        }
        assert_eq!(number(called(&page, "interval", Some(77)), "/executions"), 8.0, "{mpi:?}");
        // What marks is no message, and level 0 pauses.
        let waits: Value = run.page("waits", &[]);
        let calls = |name: &str| {
            let rows = list(&waits, "/operations").iter().filter(|row| row["operation"] == name);
            rows.map(|row| number(row, "/calls")).sum::<f64>()
        };
        assert_eq!(["MPI_Ssend", "MPI_Sendrecv", "MPI_Waitall"].map(calls)[..2], [0.0, 0.0], "{waits}");
        let flat: Value = run.page("flat", &[]);
        let rows = list(&flat, "/functions").iter().filter(|row| row["function"] == "unwanted");
        let unwanted_s: f64 = rows.map(|row| number(row, "/metrics/cpu_s/inclusive")).sum();
        assert!(unwanted_s < 0.1, "{mpi:?}: {unwanted_s} of 0.4 s");
        let samples: Value = run.page("samples", &[]);
        let marked = list(&samples, "/samples").iter().filter(|sample| sample["reason"] == "mark");
        assert_eq!(marked.count(), 2, "{samples}");
        // Each rank ended interval 9, which it had not begun.
        let quality: Value = run.page("quality", &[]);
        let notes = list(&quality, "/quality/noted").iter().filter(|note| note["id"] == "marks-unmatched");
        let places: Vec<&Value> = notes.flat_map(|note| list(note, "/places")).collect();
        assert_eq!(places.len(), 2, "{quality}");
        assert!(places.iter().all(|place| place["name"] == "interval" && place["number"] == 9), "{quality}");
        let is_placed = |place: &&Value| {
            place["file"].as_str().is_some_and(|file| file.ends_with("mpi/marks.c"))
                && number(place, "/line") > 0.0
        };
        assert!(places.iter().all(is_placed), "{quality}");
    }
}

#[test]
fn messages_to_itself_mark_intervals_in_fortran() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some((run, _)) = marked(mpi, "marks-fortran", "mpi/marks.f90") else { continue };
        let flat: Value = run.page("flat", &[]);
        let rows = list(&flat, "/functions").iter();
        let rows = rows.filter(|row| row["function"].as_str().is_some_and(|name| name.contains("unwanted")));
        let unwanted_s: f64 = rows.map(|row| number(row, "/metrics/cpu_s/inclusive")).sum();
        assert!(unwanted_s < 0.1, "{mpi:?}: {unwanted_s} of 0.4 s");
    }
}

/// What a rank reads of its time in MPI while it runs is what its own clock has around its calls.
#[test]
fn a_rank_reads_how_long_it_was_in_mpi() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some(run) = mpi.record("elapsed", &["0.5"]) else { continue };
        let printed = run.succeeded().ended.printed();
        let ranks: Vec<Value> = printed.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        assert_eq!(ranks.len(), 2, "{mpi:?}: {printed}");
        for rank in &ranks {
            let (own_s, elapsed_s) = (number(rank, "/own_s"), number(rank, "/elapsed_s"));
            assert!(own_s > 0.05, "{mpi:?}: {rank}");
            assert_close(&format!("{mpi:?}"), elapsed_s, own_s, 0.01 + 0.05 * own_s);
        }
    }
}
