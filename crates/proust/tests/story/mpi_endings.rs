//! Processes of MPI that end, or begin, in other ways than they should: their launcher answers as without the
//! collector, and what they did until then is in the report.

use std::process::Command;

use serde_json::Value;

use crate::command::{Ended, run};
use crate::explained::Except;
use crate::mpi::Mpi;
use crate::pages::Operations;
use crate::recording::{list, number};

/// The program's own lines: launchers add theirs, with numbers of processes and addresses.
fn lines(ended: &Ended) -> Vec<String> {
    let printed = ended.printed();
    let own =
        |line: &&str| ["initialized", "before", "after", "rank"].iter().any(|word| line.starts_with(word));
    let mut lines: Vec<String> = printed.lines().filter(own).map(str::to_owned).collect();
    lines.sort();
    lines
}

/// What launchers pass on of the output of processes that end early, and what they answer, depends on which
/// of several signs they see first.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sure {
    OutputAndCode,
    Code,
    Nothing,
}

/// `barriers`: how many calls of `MPI_Barrier` are in the report at least.
fn assert_ends(mpi: Mpi, how: &str, barriers: u64, sure: Sure) {
    let (Some(launcher), Some(program)) = (mpi.launcher(), mpi.built("endings")) else { return };
    let alone = run(Command::new(&launcher[0]).args(&launcher[1..]).arg(&program).arg(how));
    let Some(recorded) = mpi.record("endings", &[how]) else { return };
    if !matches!(how, "never" | "unfreed") {
        recorded.except(Except::Killed);
    }
    if sure == Sure::OutputAndCode {
        assert_eq!(lines(&recorded.ended), lines(&alone), "{how}: {}", recorded.ended.said());
    }
    if sure != Sure::Nothing {
        assert_eq!(recorded.ended.status.code(), alone.status.code(), "{how}: {}", recorded.ended.said());
    }
    let waits: Operations = recorded.page("waits", &[]);
    assert!(waits.of("MPI_Barrier").0 >= barriers, "{how}: {waits:#?}");
    let page: Value = recorded.page("mpi", &[]);
    let together = list(&page, "/collectives").iter().filter(|row| row["operation"] == "MPI_Barrier");
    let instances: f64 = together.map(|row| number(row, "/instances")).sum();
    // Two ranks call it once for each instance.
    assert!(2.0 * instances >= barriers as f64, "{how}: {page:#}");
    if how == "never" {
        assert!(waits.operations.iter().all(|row| !row.operation.starts_with("MPI_")), "{waits:#?}");
    }
}

fn every_ending(mpi: Mpi) {
    for (how, barriers, sure) in [
        ("never", 0, Sure::OutputAndCode),
        ("before", 0, Sure::OutputAndCode),
        ("unfreed", 2, Sure::OutputAndCode),
        ("abort", 2, Sure::Code),
        ("unfinished", 2, Sure::Nothing),
        ("left", 2, Sure::Nothing),
        ("killed", 2, Sure::Nothing),
        ("after", 2, Sure::Nothing),
    ] {
        assert_ends(mpi, how, barriers, sure);
    }
}

#[test]
fn of_open_mpi() {
    every_ending(Mpi::Open);
}

#[test]
fn of_mpich() {
    every_ending(Mpi::Mpich);
}
