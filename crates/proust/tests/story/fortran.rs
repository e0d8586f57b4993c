//! Fortran's procedures have their names and shares.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::chance::{Share, assert_shares};
use crate::mpi::Mpi;
use crate::programs::built;
use crate::recording::{list, number, record};

#[test]
fn module_contained_and_recursive_procedures() {
    let Some(program) = built("burn") else { return };
    let run = record(program, &["3"]).succeeded();
    let truth = run.truth();
    let flat = run.flat();
    let procedures = ["module_procedure", "contained_procedure", "recursive_procedure"];
    let true_total: f64 = procedures.iter().map(|name| number(&truth, &format!("/functions/{name}"))).sum();
    let shares: Vec<Share> = procedures
        .iter()
        .map(|name| Share {
            name: name.to_string(),
            found: flat.cpu(name).exclusive / flat.total("cpu_s"),
            truth: number(&truth, &format!("/functions/{name}")) / true_total,
        })
        .collect();
    assert_shares("procedures", &shares, flat.total("samples"));
    let row = flat.row("contained_procedure");
    assert!(row.file.as_deref().is_some_and(|file| file.ends_with("burn.f90")), "{row:?}");
    run.assert_trustworthy();
}

/// The library's layer for Fortran calls MPI for the program, whose call it is.
fn calls_of_mpi_are_where_the_program_makes_them(mpi: Mpi) {
    let Some(run) = mpi.record("jacobi-fortran", &["0.3"]) else { return };
    let page: Value = run.succeeded().page("mpi", &[]);
    let calls = list(&page, "/operations");
    let of = |operation: &str| -> BTreeSet<&str> {
        let rows = calls.iter().filter(|row| row["operation"] == operation);
        rows.map(|row| row["function"].as_str().unwrap_or("")).collect()
    };
    let places = [
        ("MPI_Isend", "exchange"),
        ("MPI_Waitall", "exchange"),
        ("MPI_Bcast", "input"),
        ("MPI_Iallreduce", "iterate"),
        ("MPI_Wait", "iterate"),
        ("MPI_Finalize", "jacobi"),
    ];
    for (operation, function) in places {
        assert_eq!(of(operation), BTreeSet::from([function]), "{operation}: {calls:#?}");
    }
    let is_here = |row: &Value| row["file"].as_str().is_some_and(|file| file.ends_with("jacobi.f90"));
    assert!(calls.iter().all(is_here), "{calls:#?}");
    // What a rank reads and writes, code without a name in Fortran's library does: for the program.
    let nameless = page.to_string().matches("libgfortran").count();
    assert_eq!(nameless, 0, "{page:#}");
}

#[test]
fn calls_of_open_mpi_are_where_the_program_makes_them() {
    calls_of_mpi_are_where_the_program_makes_them(Mpi::Open);
}

#[test]
fn calls_of_mpich_are_where_the_program_makes_them() {
    calls_of_mpi_are_where_the_program_makes_them(Mpi::Mpich);
}
