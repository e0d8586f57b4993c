//! Fortran's procedures have their names and shares.

use crate::chance::{Share, assert_shares};
use crate::programs::built;
use crate::recording::{number, record};

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
