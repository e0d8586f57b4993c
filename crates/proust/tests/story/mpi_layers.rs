//! Calls of MPI that a layer for another language makes: they are where the program called, with the time
//! that it measures itself.

use serde_json::Value;

use crate::chance::assert_close;
use crate::mpi::Mpi;
use crate::recording::{Recorded, list, number};

/// Operation, function that calls it, and seconds that all ranks were in it by the program's clock; None: not
/// measured.
type Call<'c> = (&'c str, &'c str, Option<f64>);

/// The calls of a run are these, made in this file.
fn assert_calls(run: &Recorded, file: &str, calls: &[Call]) {
    let page: Value = run.page("mpi", &[]);
    let is_here = |row: &&Value| row["file"].as_str().is_some_and(|path| path.ends_with(file));
    for &(operation, function, seconds) in calls {
        let rows: Vec<&Value> =
            list(&page, "/operations").iter().filter(|row| row["operation"] == operation).collect();
        assert!(!rows.is_empty(), "{operation}: {page:#}");
        assert!(rows.iter().all(|row| row["function"] == function), "{operation}: {rows:#?}");
        assert!(rows.iter().all(is_here), "{operation}: {rows:#?}");
        if let Some(seconds) = seconds {
            let found: f64 = rows.iter().map(|row| number(row, "/seconds")).sum();
            // Between the program's clock and the hook's a rank may lose its processor.
            let ledger = run.summary().ledger;
            let queued = ledger.account_s("preempted") + ledger.account_s("oversubscribed");
            assert_close(operation, found, seconds, 0.02 * seconds + 0.01 + 0.2 * queued);
        }
    }
}

/// The bindings for C++ are inline functions of the library's headers.
fn bindings_for_cpp(mpi: Mpi) {
    let Some(run) = mpi.record("bindings", &["0.4"]) else { return };
    let run = run.succeeded();
    let truth = run.truth();
    let seconds = |name: &str| Some(number(&truth, name));
    assert_calls(
        &run,
        "bindings.cpp",
        &[
            ("MPI_Sendrecv", "exchange", seconds("/exchange_s")),
            ("MPI_Allreduce", "add_up", seconds("/add_up_s")),
            ("MPI_Waitall", "exchange_later", None),
            ("MPI_Isend", "exchange_later", None),
            ("MPI_Reduce", "main", None),
            ("MPI_Finalize", "main", None),
        ],
    );
}

#[test]
fn open_mpis_bindings_for_cpp() {
    bindings_for_cpp(Mpi::Open);
}

#[test]
fn mpichs_bindings_for_cpp() {
    bindings_for_cpp(Mpi::Mpich);
}

/// The first thread of a parallel region calls by the layer for Fortran.
fn fortran_in_a_parallel_region(mpi: Mpi) {
    let Some(run) = mpi.record("region", &["0.4"]) else { return };
    let run = run.succeeded();
    let truth = run.truth();
    let seconds = Some(number(&truth, "/exchange_s"));
    assert_calls(&run, "region.f90", &[("MPI_Sendrecv", "exchange", seconds)]);
}

#[test]
fn open_mpis_fortran_in_a_parallel_region() {
    fortran_in_a_parallel_region(Mpi::Open);
}

#[test]
fn mpichs_fortran_in_a_parallel_region() {
    fortran_in_a_parallel_region(Mpi::Mpich);
}
