//! `proust sweep`: one command with several counts of threads or ranks, each of them several times.
//!
//! - [`from_runs`]: sweeps of runs that were recorded one by one
//! - [`axes`]: what is varied, and how a point fills in the command
//! - [`surroundings`]: the environment variables that are set and noted: counts, binding
//! - [`folder`]: the sweep's folder, new or to continue
//! - [`drive`]: one run after the other
//! - [`progress`]: the messages meanwhile
//! - [`mod@described`]: what `ls` and `info` print about sweeps

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

mod axes;
mod described;
mod drive;
mod folder;
mod from_runs;
mod progress;
mod surroundings;

use clap_complete::ArgValueCompleter;
use proust_words::durations::parse_ns;

use axes::Axes;
pub use described::{described, listed};
pub use from_runs::FromRuns;

use crate::completing;
use crate::failure::{USAGE, WrongUsage};
use crate::record::{self, FAILED, RecordOptions};

/// Arguments of `proust sweep`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "\
In the command, and in variables of the environment, {threads}, {ranks} and {NAME} stand for the value
on that axis; where there is one count only, the letter n in such brackets does, too. --threads sets
OMP_NUM_THREADS and RAYON_NUM_THREADS by itself.
Several axes are combined: every value of one with every value of the others. Repetitions are
interleaved (1,2,4,1,2,4,...), so that a slow spell of the machine does not fall on one count alone.

What the runs print goes to DIR/RUN.out and DIR/RUN.err; they read nothing. A sweep that was interrupted
goes on when the same command is given again with the same -o DIR: runs that are done are kept, failed
ones are run anew. More counts and repetitions may be given then.

--from makes a sweep of runs that were recorded one by one, such as batch jobs, and runs nothing. A
run's count is its own: ranks where their number differs, threads of a rank (of the largest team, else
those active at once) where that differs, their product where both do. Runs of equal count are
repetitions. They stay where they are. Runs that failed, or cannot be read, are left out with a note.

Examples:
  proust sweep --threads 1,2,4 -o solve.sweep -- ./solve --size 1000
  proust sweep --ranks 1,2,4 --repeat 5 -- mpirun -n {ranks} ./solve
  proust sweep --threads 1,2 --axis size=100,1000 -- ./solve --size {size}
  proust sweep --from job-256.proust job-8192.proust -o jobs.sweep
  proust report solve.sweep scaling

Exit codes: 0 if every run ended with 0, else that of the first that did not (124: it took too long);
125 if Proust failed, 126 if the command cannot be executed, 127 if it is not found.")]
pub struct SweepArgs {
    /// Counts of threads
    #[arg(
        long,
        value_name = "N,N,...",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=65_536)
    )]
    pub threads: Vec<u32>,
    /// Counts of ranks; the command starts them: mpirun -n {ranks} ...
    #[arg(
        long,
        value_name = "N,N,...",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=1_000_000)
    )]
    pub ranks: Vec<u32>,
    /// Something else that is varied: {NAME} in the command; may be given several times
    #[arg(long = "axis", value_name = "NAME=V,V,...")]
    pub axes: Vec<String>,
    /// Make a sweep of these recorded runs; none is started
    #[arg(long, value_name = "RUN", num_args = 1.., add = ArgValueCompleter::new(completing::folders),
          conflicts_with_all = ["threads", "ranks", "axes", "repeat", "serial", "timeout", "command"])]
    pub from: Vec<PathBuf>,
    /// With --from: the counts of the runs in their order, in place of the runs' own
    #[arg(long, value_name = "N,N,...", value_delimiter = ',', requires = "from",
          value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub count: Vec<u32>,
    /// How often every point is run
    #[arg(
        long,
        value_name = "N",
        default_value_t = 3,
        value_parser = clap::value_parser!(u32).range(1..=1000)
    )]
    pub repeat: u32,
    /// A command that does the same without threads, as a reference; one word, quoted
    #[arg(long, value_name = "CMD")]
    pub serial: Option<String>,
    /// End a run that takes longer than this (s, min, h; seconds without a unit)
    #[arg(long, value_name = "TIME", value_parser = parse_limit)]
    pub timeout: Option<Duration>,
    /// Folder of the sweep: a new one, or one to go on with [default: COMMAND.N.sweep in the current folder]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// What is recorded.
    #[command(flatten)]
    pub options: RecordOptions,
    /// The command to run
    #[arg(trailing_var_arg = true, required_unless_present = "from", value_name = "CMD")]
    pub command: Vec<OsString>,
}

/// A time to wait; seconds where it has no unit.
fn parse_limit(text: &str) -> Result<Duration, String> {
    let ns = parse_ns(text, Some("s")).map_err(|error| error.to_string())?;
    match ns {
        0 => Err(format!("`{text}` is no time to wait; write for example 90s")),
        ns => Ok(Duration::from_nanos(ns)),
    }
}

/// Runs the sweep.
pub fn run(args: &SweepArgs) -> ExitCode {
    match sweep(args) {
        Ok(code) => code,
        Err(error) => {
            message!("{error:#}");
            ExitCode::from(if error.chain().any(|cause| cause.is::<WrongUsage>()) { USAGE } else { FAILED })
        }
    }
}

fn sweep(args: &SweepArgs) -> anyhow::Result<ExitCode> {
    if !args.from.is_empty() {
        from_runs::keep(args)?;
        return Ok(ExitCode::SUCCESS);
    }
    let axes = Axes::of(args)?;
    let file = axes.plan(args)?;
    if let Some(code) = drive::refused(&file) {
        return Ok(code);
    }
    let folder = folder::Folder::open(args, file)?;
    record::watch_for_interrupts();
    drive::all(args, folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_read_with_units() {
        for (text, seconds) in [("90", 90.0), ("90s", 90.0), ("1.5m", 90.0), ("2h", 7200.0)] {
            assert_eq!(parse_limit(text), Ok(Duration::from_secs_f64(seconds)), "{text}");
        }
        for wrong in ["", "s", "-1s", "0", "5d", "nan", "inf"] {
            assert!(parse_limit(wrong).is_err(), "{wrong}");
        }
    }
}
