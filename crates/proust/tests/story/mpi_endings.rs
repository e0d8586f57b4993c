//! Processes of MPI that end, or begin, in other ways than they should: their launcher answers as without the
//! collector, and what they did until then is in the report.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::command::{Ended, run};
use crate::explained::Except;
use crate::mpi::Mpi;
use crate::pages::Operations;
use crate::recording::{list, number, record, report};

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

/// Ranks that are no job are said to be none, on the summary and on page `mpi`.
fn assert_said(launcher: &[String], program: &Path, words: &[&str], code: &str) {
    let mut command = launcher.to_vec();
    command.push(program.display().to_string());
    command.extend(words.iter().map(|&word| word.to_owned()));
    let recorded = record(&command[0], &command[1..]).succeeded();
    assert_eq!(recorded.summary().run.ranks, 2);
    let is_said = |noted: &Value| noted.as_array().is_some_and(|all| all.iter().any(|one| one["id"] == code));
    let (summary, page): (Value, Value) = (recorded.page("summary", &[]), recorded.page("mpi", &[]));
    assert!(is_said(&summary["quality"]["noted"]), "{code}: {:#}", summary["quality"]);
    assert!(is_said(&page["noted"]), "{code}: {page:#}");
    let shown = report::<&str>(&recorded.dir, "mpi", &[]).printed();
    assert!(shown.contains("2 ranks that a launcher started are no job"), "{shown}");
}

/// The program's MPI does not know what another one's launcher gives it, so that each rank has all the work.
#[test]
fn the_launcher_of_another_mpi() {
    for (launching, of) in [(Mpi::Open, Mpi::Mpich), (Mpi::Mpich, Mpi::Open)] {
        let (Some(launcher), Some(program)) = (launching.launcher(), of.built("jacobi")) else { continue };
        assert_said(&launcher, &program, &[], "ranks-alone");
    }
}

#[test]
fn a_program_without_mpi() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let (Some(launcher), Some(program)) = (mpi.launcher(), mpi.built("endings")) else { continue };
        assert_said(&launcher, &program, &["never"], "ranks-without-mpi");
        let job = mpi.record("endings", &["unfreed"]).expect("a launcher");
        let page: Value = job.page("mpi", &[]);
        assert!(list(&page, "/noted").is_empty(), "{page:#}");
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
