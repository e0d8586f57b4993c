//! Operations inside others of the same thread: number and time are known, and they are no time of their own.

use serde_json::Value;

use crate::chance::assert_close;
use crate::mpi::Mpi;
use crate::pages::Operations;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record, report};

/// What a page says was inside calls of an operation from a function.
fn inside<'p>(page: &'p Value, operation: &str, function: &str) -> Vec<&'p Value> {
    let is_it = |row: &&Value| row["operation"] == operation && row["function"] == function;
    list(page, "/inside").iter().filter(is_it).collect()
}

/// Calls, errors, bytes and seconds of those of this name.
fn of(rows: &[&Value], name: &str) -> [f64; 4] {
    let rows: Vec<&&Value> = rows.iter().filter(|row| row["inside"] == name).collect();
    ["calls", "errors", "bytes", "seconds"]
        .map(|field| rows.iter().map(|row| number(row, &format!("/{field}"))).sum())
}

#[test]
fn what_a_handler_calls_is_inside_the_wait_that_it_interrupts() {
    let Some(program) = built("inside") else { return };
    let run = record(&program, &[] as &[&str]).succeeded();
    let (truth, page) = (run.truth(), run.page::<Value>("waits", &[]));
    for function in ["wait_here", "wait_there"] {
        let rows = inside(&page, "sigsuspend", function);
        let expected = truth[function].as_object().expect("operations");
        assert_eq!(rows.len(), expected.len(), "what else was inside {function}: {rows:#?}");
        for (name, own) in expected {
            let found = of(&rows, name);
            for (at, field) in ["calls", "errors", "bytes"].iter().enumerate() {
                let own = number(own, &format!("/{field}"));
                assert_eq!(found[at], own, "{field} of {name} in {function}: {rows:#?}");
            }
            assert_close(&format!("{name} in {function}"), found[3], number(own, "/seconds"), 0.02);
        }
    }
    // A call that was left by a jump is not counted, and seldom is the next one: where its frame was is not
    // always overwritten.
    let left = inside(&page, "sigsuspend", "wait_elsewhere");
    let [polls, ..] = of(&left, "poll");
    let own = number(&truth, "/wait_elsewhere/poll/calls");
    assert!(left.len() == 1 && (0.8 * own..=own).contains(&polls), "{polls} of {own}: {left:#?}");
    // The time is the outer one's, and no second time anybody's.
    let waits: Operations = run.page("waits", &[]);
    let (calls, outer_s) = waits.of("sigsuspend");
    assert_eq!((calls, waits.operations.len()), (60, 1), "{:?}", waits.operations);
    assert_close("the waits", outer_s, number(&truth, "/outer_s"), 0.02);
    assert_close("all of the page", waits.totals.seconds, outer_s, 1e-9);
    let inside_s: f64 = list(&page, "/inside").iter().map(|row| number(row, "/seconds")).sum();
    assert!(inside_s <= outer_s, "{inside_s} s inside {outer_s} s");
    let text = report(&run.dir, "waits", &[] as &[&str]).printed();
    assert!(text.contains("Inside") && text.contains("sigsuspend \u{2190} wait_here"), "{text}");
    // A filter by function selects what its waits had inside them.
    let of_one: Value = run.page("waits", &["--where", "function=wait_there"]);
    assert_eq!(inside(&of_one, "sigsuspend", "wait_there").len(), 2);
    assert!(inside(&of_one, "sigsuspend", "wait_here").is_empty());
}

fn inside_calls_of(mpi: Mpi) {
    let folder = empty_folder();
    let path = folder.path().join("file").display().to_string();
    let Some(run) = mpi.record("inside", &[&path]) else { return };
    let run: Recorded = run.succeeded();
    for line in run.ended.printed().lines().filter(|line| line.starts_with('{')) {
        let truth: Value = serde_json::from_str(line).expect("JSON");
        let own = |field: &str| number(&truth, &format!("/{field}"));
        let page: Value = run.page("mpi", &["--where", &format!("rank={}", own("rank"))]);
        let [sleeps, _, _, slept_s] = of(&inside(&page, "MPI_Allreduce", "reduce"), "usleep");
        assert_eq!(sleeps, own("sleeps"), "{page:#}");
        assert_close("sleeps", slept_s, own("slept_s"), 0.02);
        let stored = inside(&page, "MPI_File_write_at", "store");
        // Which function it writes by is the library's own business.
        let bytes: f64 = stored.iter().map(|row| number(row, "/bytes")).sum();
        assert_eq!(bytes, own("written_bytes"), "{stored:#?}");
        // No more than the calls took.
        let all_s: f64 = list(&page, "/inside").iter().map(|row| number(row, "/seconds")).sum();
        assert!(all_s <= number(&page, "/mpi_s") + 1e-6, "{all_s} s inside {} s", page["mpi_s"]);
        let reduced = list(&page, "/operations").iter().filter(|line| line["operation"] == "MPI_Allreduce");
        let reduced_s: f64 = reduced.map(|line| number(line, "/seconds")).sum();
        assert_close("reductions", reduced_s, own("reduced_s"), 0.02);
        let waits: Operations = run.page("waits", &["--where", &format!("rank={}", own("rank"))]);
        assert_eq!(waits.of("usleep"), (0, 0.0), "a sleep inside a call of MPI is that call's");
    }
}

#[test]
fn of_open_mpi() {
    inside_calls_of(Mpi::Open);
}

#[test]
fn of_mpich() {
    inside_calls_of(Mpi::Mpich);
}
