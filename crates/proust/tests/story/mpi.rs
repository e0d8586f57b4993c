//! Programs of MPI: how stories start their ranks, and that MPI does under the collector what it does
//! without.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::command::{Ended, proust, run};
use crate::pages::Operations;
use crate::programs::{built, has};
use crate::recording::{Recorded, empty_folder, page_of, record, record_with};

/// A library, by Debian's name of it.
#[derive(Clone, Copy, Debug)]
pub enum Mpi {
    Open,
    Mpich,
}

impl Mpi {
    pub fn name(self) -> &'static str {
        match self {
            Mpi::Open => "openmpi",
            Mpi::Mpich => "mpich",
        }
    }

    /// What starts two ranks; None, said as `SKIP:`, where it is not installed.
    pub fn launcher(self) -> Option<Vec<String>> {
        self.launcher_of(2)
    }

    fn launcher_of(self, ranks: u32) -> Option<Vec<String>> {
        let launcher = format!("mpirun.{}", self.name());
        if !has(&launcher) {
            println!("SKIP: {launcher} is not installed");
            return None;
        }
        let options: &[&str] = match self {
            Mpi::Open => &["--allow-run-as-root", "--oversubscribe", "--bind-to", "none"],
            Mpi::Mpich => &[],
        };
        let ranks = ranks.to_string();
        let words = [launcher.as_str()].into_iter().chain(options.iter().copied()).chain(["-n", &ranks]);
        Some(words.map(str::to_owned).collect())
    }

    /// The program of this name for this library.
    pub fn built(self, name: &str) -> Option<PathBuf> {
        built(&format!("mpi/{name}-{}", self.name()))
    }

    /// Records two ranks of a program.
    pub fn record(self, name: &str, arguments: &[&str]) -> Option<Recorded> {
        self.record_ranks(2, name, arguments)
    }

    /// Records so many ranks of a program.
    pub fn record_ranks(self, ranks: u32, name: &str, arguments: &[&str]) -> Option<Recorded> {
        self.record_ranks_with(&[], ranks, name, arguments)
    }

    /// Records so many ranks of a program with these options.
    pub fn record_ranks_with(
        self,
        options: &[&str],
        ranks: u32,
        name: &str,
        arguments: &[&str],
    ) -> Option<Recorded> {
        let mut command = self.launcher_of(ranks)?;
        command.push(self.built(name)?.display().to_string());
        command.extend(arguments.iter().map(|&argument| argument.to_owned()));
        Some(record_with(options, &command[0], &command[1..]))
    }
}

/// What each rank wrote.
fn written(folder: &Path) -> [String; 2] {
    [0, 1].map(|rank| fs::read_to_string(folder.join(format!("rank-{rank}"))).unwrap_or_default())
}

fn assert_same(how: &str, ended: &Ended, found: &[String; 2], alone: &[String; 2]) {
    assert!(ended.status.success(), "{how}: {:?}: {}", ended.status, ended.said());
    for (found, alone) in found.iter().zip(alone) {
        let differs = found.lines().zip(alone.lines()).find(|(one, other)| one != other);
        assert!(found == alone, "{how}: {differs:?}, {} and {} bytes", found.len(), alone.len());
    }
}

/// Two ranks of a program write the same without the collector, where all of the launcher is recorded, and
/// where each rank is recorded by itself.
fn assert_unchanged(mpi: Mpi, program: &[PathBuf], last: &str) {
    let Some(launcher) = mpi.launcher() else { return };
    let start = |folder: &Path, before_rank: &[String]| {
        let mut words = launcher.clone();
        words.extend_from_slice(before_rank);
        words.extend(program.iter().map(|word| word.display().to_string()));
        words.push(folder.display().to_string());
        words
    };
    let alone_in = |folder: &Path| {
        let words = start(folder, &[]);
        let ended = run(Command::new(&words[0]).args(&words[1..]));
        assert!(ended.status.success(), "alone: {:?}: {}", ended.status, ended.said());
        written(folder)
    };
    let folder = empty_folder();
    let alone = alone_in(folder.path());
    for lines in &alone {
        assert!(!lines.contains("WRONG") && lines.lines().last() == Some(last), "alone: {lines}");
    }
    assert_eq!(alone_in(folder.path()), alone, "it does not always do the same alone");

    let whole = empty_folder();
    let words = start(whole.path(), &[]);
    let recorded = record(&words[0], &words[1..]);
    assert_same("the launcher recorded", &recorded.ended, &written(whole.path()), &alone);
    assert_eq!(recorded.page::<Operations>("waits", &[]).of("MPI_Finalize").0, 2);

    let each = empty_folder();
    let dir = each.path().join("run");
    let command = proust();
    let proust = command.get_program().display().to_string();
    let before = [&proust, "record", "-o", &dir.display().to_string(), "--"].map(str::to_owned);
    let words = start(each.path(), &before);
    let mut command = Command::new(&words[0]);
    command.args(&words[1..]).env_remove("PROUST_RUN").env("NO_COLOR", "1");
    assert_same("each rank recorded", &run(&mut command), &written(each.path()), &alone);
    assert_eq!(page_of::<Operations>(&dir, "waits", &[]).of("MPI_Finalize").0, 2);
}

fn semantics(mpi: Mpi) {
    let Some(program) = mpi.built("semantics") else { return };
    assert_unchanged(mpi, &[program], "end");
}

#[test]
fn open_mpi_does_the_same() {
    semantics(Mpi::Open);
}

#[test]
fn mpich_does_the_same() {
    semantics(Mpi::Mpich);
}

/// A tool that wraps functions is called as before, and its own calls are recorded.
fn with_a_tool(mpi: Mpi) {
    let Some(program) = mpi.built("tool") else { return };
    assert_unchanged(mpi, &[program], "end");
}

#[test]
fn open_mpi_does_the_same_with_another_tool() {
    with_a_tool(Mpi::Open);
}

#[test]
fn mpich_does_the_same_with_another_tool() {
    with_a_tool(Mpi::Mpich);
}

/// A library that uses MPI is loaded for itself alone, as interpreters load modules.
fn loaded(mpi: Mpi) {
    let (Some(loader), Some(library)) =
        (built("mpi/loader"), built(&format!("mpi/libsemantics-{}.so", mpi.name())))
    else {
        return;
    };
    assert_unchanged(mpi, &[loader, library], "end");
}

#[test]
fn open_mpi_does_the_same_when_a_loaded_library_uses_it() {
    loaded(Mpi::Open);
}

#[test]
fn mpich_does_the_same_when_a_loaded_library_uses_it() {
    loaded(Mpi::Mpich);
}

fn fortran(mpi: Mpi) {
    let Some(program) = mpi.built("fortran") else { return };
    assert_unchanged(mpi, &[program], "finalize 0");
}

#[test]
fn open_mpi_does_the_same_in_fortran() {
    fortran(Mpi::Open);
}

#[test]
fn mpich_does_the_same_in_fortran() {
    fortran(Mpi::Mpich);
}
