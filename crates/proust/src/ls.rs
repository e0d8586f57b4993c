//! `proust ls`: lists the runs and sweeps in a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proust_profile::facts::NOT_ENDED;
use proust_profile::notes::Gap;
use proust_profile::{Ns, RunFile};
use proust_report::{Align, Table, duration, gaps_text, middle, utc};
use proust_store::{Run, StoreError};
use proust_words::{counted, verb};

use crate::runs::{FoundRun, Unreadable, runs_in, sweeps_in, unreadable_in};
use crate::{output, sweep, terminal};

/// Arguments of `proust ls`.
#[derive(Args, Debug)]
#[command(after_help = "\
The CPU time is known once a run has been analysed, which its first `proust report` does;
until then it is shown as `-`.

Example:
  proust ls results")]
pub struct LsArgs {
    /// The folder
    #[arg(default_value = ".")]
    pub folder: PathBuf,
}

/// Lists runs.
///
/// # Errors
/// When the folder cannot be read.
pub fn run(args: &LsArgs) -> Result<ExitCode> {
    let runs = runs_in(&args.folder)?;
    let sweeps = sweeps_in(&args.folder)?;
    for Unreadable { dir, why } in unreadable_in(&args.folder)? {
        message!("note: {} is left out: {why}", dir.display());
    }
    if !sweeps.is_empty() {
        let text = sweep::listed(&sweeps, &terminal::style());
        output::print(&(text + if runs.is_empty() { "" } else { "\n" }))?;
        if runs.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if runs.is_empty() {
        message!("there is no run in {}; record one with `proust record -- CMD`", args.folder.display());
        return Ok(ExitCode::SUCCESS);
    }
    let style = terminal::style();
    // The longest names may not push everything else out of the window.
    let longest = (style.width / 3).max(20);
    let mut unknown = 0;
    let mut notes = Vec::new();
    let mut table = Table::new([
        ("run", Align::Left),
        ("started (UTC)", Align::Left),
        ("wall", Align::Right),
        ("CPU", Align::Right),
        ("ended with", Align::Left),
        ("command", Align::Left),
    ]);
    for run in &runs {
        let name = run.dir.to_string_lossy();
        let cpu = match analysed(run) {
            Ok(None) => {
                unknown += 1;
                None
            }
            Ok(Some(analysed)) => {
                if !analysed.gaps.is_empty() {
                    notes.push(gaps_text(&name, &analysed.gaps));
                } else if analysed.start_unix_s != run.file.start_unix_s {
                    notes.push(format!("run.json in {name} belongs to another run than its profile"));
                }
                Some(analysed.cpu_s)
            }
            Err(error) => {
                notes.push(format!("the CPU time of {name} is not known: {error}"));
                None
            }
        };
        table.row(vec![
            middle(&run.name(), longest, style.unicode).into(),
            utc(run.file.start_unix_s).trim_end_matches(" UTC").into(),
            run.file.finished.map_or("-".into(), |finished| duration(finished.wall_s)).into(),
            cpu.map_or("-".into(), duration).into(),
            outcome(&run.file).into(),
            run.file.command.join(" ").into(),
        ]);
    }
    output::print(&table.render(&style))?;
    for note in notes {
        message!("note: {note}");
    }
    if unknown > 0 {
        message!(
            "{} {} not analysed yet, so that the CPU time is not known (-): `proust report RUN` \
             does it",
            counted(unknown, "run"),
            verb(unknown, "is", "are")
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// What is listed of a run's analysis.
struct Analysed {
    cpu_s: f64,
    /// What is missing in its data.
    gaps: Vec<Gap>,
    start_unix_s: f64,
}

/// What is listed of a run that has been analysed before: a list must not start analyses.
fn analysed(run: &FoundRun) -> Result<Option<Analysed>, StoreError> {
    let run = Run::open(&run.dir)?;
    if !run.is_analysed() {
        return Ok(None);
    }
    let profile = run.definitions()?;
    Ok(Some(Analysed {
        cpu_s: profile.locations.iter().map(|location| location.cpu).sum::<Ns>().as_seconds(),
        gaps: Gap::all_of(&profile.quality),
        start_unix_s: profile.facts.start_unix_s,
    }))
}

/// How a run ended, in a few words.
pub fn outcome(file: &RunFile) -> String {
    match file.finished.map(|finished| (finished.exit_code, finished.signal)) {
        Some((_, Some(signal))) => format!("signal {signal}"),
        Some((Some(code), None)) => format!("exit {code}"),
        Some((None, None)) => "unknown".into(),
        None => NOT_ENDED.into(),
    }
}
