//! `proust ls`: lists the runs and sweeps in a folder.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use proust_analysis::store;
use proust_analysis::words::{counted, verb};
use proust_profile::facts::NOT_ENDED;
use proust_profile::tables::PROFILE_FOLDER;
use proust_profile::{Metric, RunFile};
use proust_report::{Align, Table, duration, middle, utc};

use crate::runs::{FoundRun, runs_in, sweeps_in};
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
    if !sweeps.is_empty() {
        let text = sweep::listed(&sweeps, &terminal::style());
        output::print(&(text + if runs.is_empty() { "" } else { "\n" }))?;
        if runs.is_empty() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    if runs.is_empty() {
        eprintln!(
            "proust: there is no run in {}; record one with `proust record -- CMD`",
            args.folder.display()
        );
        return Ok(ExitCode::SUCCESS);
    }
    let style = terminal::style();
    // The longest names may not push everything else out of the window.
    let longest = (style.width / 3).max(20);
    let mut unknown = 0;
    let mut table = Table::new([
        ("run", Align::Left),
        ("started (UTC)", Align::Left),
        ("wall", Align::Right),
        ("CPU", Align::Right),
        ("ended with", Align::Left),
        ("command", Align::Left),
    ]);
    for run in &runs {
        let cpu = cpu(run);
        unknown += usize::from(cpu.is_none());
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
    if unknown > 0 {
        eprintln!(
            "proust: {} {} not analysed yet, so that the CPU time is not known (-): `proust report RUN` does it",
            counted(unknown, "run"),
            verb(unknown, "is", "are")
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// CPU seconds of a run that has been analysed before: a list must not start analyses.
fn cpu(run: &FoundRun) -> Option<f64> {
    if !run.dir.join(PROFILE_FOLDER).exists() {
        return None;
    }
    let profile = store::open_without_samples(&run.dir, &mut |_| ()).ok()?;
    Some(profile.values.iter().filter(|value| value.metric == Metric::Cpu).map(|value| value.amount).sum())
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
