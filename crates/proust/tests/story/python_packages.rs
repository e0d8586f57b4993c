//! Packages of Python from its index, which bring runtimes along under names of their own.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::command::run;
use crate::programs::folder;
use crate::recording::{list, number, record};

/// The Python that `tests/all` installs packages for.
fn python() -> Option<PathBuf> {
    let python = folder().join("../target/python-packages/bin/python");
    let works = python.exists()
        && Command::new(&python)
            .args(["-c", "import sklearn, sys; sys.exit(0)"])
            .output()
            .is_ok_and(|output| output.status.success());
    if works {
        return Some(python);
    }
    println!("SKIP: scikit-learn is not installed in target/python-packages (tests/all does that, with pip)");
    None
}

#[test]
fn scikit_learn_computes_the_same_on_as_many_threads() {
    let Some(python) = python() else { return };
    let script = folder().join("runtimes/fit.py");
    let variables = ["OMP_NUM_THREADS=2", "OPENBLAS_NUM_THREADS=1"];
    let words: Vec<_> =
        variables.iter().map(Into::into).chain([python.into_os_string(), script.into_os_string()]).collect();
    let bare = run(Command::new("env").args(&words));
    assert!(bare.status.success(), "{}", bare.said());
    assert!(bare.printed().contains("threads 2"), "{}", bare.printed());
    let recorded = record("env", &words).succeeded();
    assert_eq!(recorded.ended.printed(), bare.printed());
    let page: Value = recorded.page("openmp", &[]);
    let regions = list(&page, "/regions");
    let executions: f64 = regions.iter().map(|region| number(region, "/executions")).sum();
    assert!(regions.len() >= 5 && executions > 500.0, "{} regions, {executions} times", regions.len());
}
