//! Calls of MPI by scripts of Python: each is of the line that made it, though the native stack is the same
//! for all of them.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::mpi::Mpi;
use crate::python::{few_interpreters, script};
use crate::recording::{list, record_with};

const TIMES: u64 = 301;

fn calls_are_of_their_lines(mpi: Mpi, library: &str) {
    for python in few_interpreters() {
        let Some(mut command) = mpi.launcher() else { return };
        command.push(python.path.display().to_string());
        command.extend([script("mpi_lines.py"), library.to_owned(), TIMES.to_string()]);
        let run = record_with(&["--check-paths"], &command[0], &command[1..]).succeeded();
        let text = String::from_utf8_lossy(&run.ended.stdout);
        let mut truth: BTreeMap<(String, u64), u64> = BTreeMap::new();
        for line in text.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let [name, line, calls] = words[..] else { continue };
            let number = |word: &str| word.parse::<u64>().expect("a number");
            *truth.entry((name.to_owned(), number(line))).or_default() += 2 * number(calls);
        }
        let all: u64 = truth.values().sum();
        assert_eq!((truth.len(), all), (7, 2 * TIMES * 12), "{text}");
        let page: Value = run.page("mpi", &[]);
        let mut found: BTreeMap<(String, u64), u64> = BTreeMap::new();
        for row in list(&page, "/operations").iter().filter(|row| row["operation"] == "MPI_Barrier") {
            let (name, line) = (row["function"].as_str(), row["line"].as_u64());
            let place = (name.unwrap_or_default().to_owned(), line.unwrap_or_default());
            *found.entry(place).or_default() += row["calls"].as_u64().unwrap();
        }
        assert_eq!(found, truth, "{}: {page:#}", python.path.display());
        let checks = run.quality().quality;
        assert!(checks.paths_compared >= all, "{checks:?}");
        assert_eq!(checks.path_mismatches, 0, "{checks:?}");
    }
}

#[test]
fn calls_of_open_mpi_are_of_their_lines() {
    calls_are_of_their_lines(Mpi::Open, "libmpi.so.40");
}

#[test]
fn calls_of_mpich_are_of_their_lines() {
    calls_are_of_their_lines(Mpi::Mpich, "libmpich.so.12");
}
