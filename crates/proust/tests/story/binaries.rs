//! What the report says of binaries that changed after the recording, and whose names are unknown.

use std::fs;

use crate::programs::built;
use crate::recording::{Recorded, empty_folder, record};

/// The page of a run whose binary is not there any more: the seconds are, and a note says why the names are
/// not.
fn assert_nameless(run: &Recorded, module: &str) {
    let flat = run.flat();
    let nameless: f64 = flat
        .functions
        .iter()
        .filter(|row| row.function.starts_with(&format!("{module}+0x")))
        .map(|row| row.amount("cpu_s").exclusive)
        .sum();
    assert!(nameless > 0.97 * flat.total("cpu_s"), "{:#?}", flat.functions);
    let notes = run.summary().quality.notes;
    assert!(notes.iter().any(|note| note.contains(module)), "no note about {module}: {notes:#?}");
}

#[test]
fn a_binary_deleted_before_the_report() {
    let Some(program) = built("recursion") else { return };
    let folder = empty_folder();
    let copy = folder.path().join("deleted");
    fs::copy(program, &copy).unwrap();
    let run = record(&copy, &["1", "20"]).succeeded();
    fs::remove_file(&copy).unwrap();
    assert_nameless(&run, "deleted");
}

#[test]
fn a_binary_replaced_before_the_report() {
    let (Some(program), Some(other)) = (built("recursion"), built("cost_by_argument")) else { return };
    let folder = empty_folder();
    let copy = folder.path().join("replaced");
    fs::copy(program, &copy).unwrap();
    let run = record(&copy, &["1", "20"]).succeeded();
    fs::remove_file(&copy).unwrap();
    fs::copy(other, &copy).unwrap();
    // The names of the new file would be wrong.
    assert_nameless(&run, "replaced");
}

#[test]
fn an_analysed_run_needs_its_binary_no_more() {
    let Some(program) = built("recursion") else { return };
    let folder = empty_folder();
    let copy = folder.path().join("gone");
    fs::copy(program, &copy).unwrap();
    let run = record(&copy, &["1", "20"]).succeeded();
    let before = run.flat().cpu("descend").inclusive;
    assert!(before > 0.5);
    fs::remove_file(&copy).unwrap();
    assert_eq!(run.flat().cpu("descend").inclusive, before);
}
