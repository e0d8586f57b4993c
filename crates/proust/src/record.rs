//! `proust record`: runs a command under the collector.
//!
//! - [`folder`]: the run's folder and what is in it from the start
//! - [`job`]: ranks that a launcher starts join one run
//! - [`launch`]: starts the command, passes signals on, waits
//! - [`time_limit`]: ends a run that takes too long
//! - [`request_signals`]: signals by which a process is asked for samples, and to pause
//! - [`schedule`]: recording that begins later than the command, or ends earlier
//! - [`stops`]: when its processes were stopped
//! - [`made_code`]: the names of code that processes made at run time
//! - [`stolen`]: the time that the host of a virtual machine took meanwhile
//! - [`closing`]: the messages at the end

use std::path::PathBuf;
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::Context;

mod blocked_signals;
mod child;
mod closing;
mod folder;
mod foreign_marks;
mod job;
mod launch;
mod launcher;
mod made_code;
mod request_signals;
mod schedule;
mod stolen;
mod stops;
mod time_limit;

pub use closing::{Told, processes_of, shell_path};
pub use folder::{RunFolder, make as make_folder};
pub use launch::{Outcome, Setting, asked_to_end, end_like, heed_signals, watch_for_interrupts};

use proust_words::durations::parse_ns;
use proust_words::sizes::parse_bytes;

use crate::failure::USAGE;
use crate::linked_runtime::LinkedRuntime;
use crate::program;
use crate::sanitizers::Sanitizers;
use crate::tick;

/// Exit code: Proust itself failed.
pub const FAILED: u8 = 125;
/// Exit code: the command cannot be executed.
pub const CANNOT_EXECUTE: u8 = 126;
/// Exit code: the command was not found.
pub const NOT_FOUND: u8 = 127;

/// What stands below the options of `proust record` in help.
pub const HELP: &str = "\
Examples:
  proust record -- ./solve --size 1000
  proust record -o before.proust -- mpirun -n 4 ./solve
  proust record --delay 30 --duration 60 -- ./solve     the second minute, roughly

The command's input, output and exit code are its own. Proust exits with 125 if it fails itself,
126 if the command cannot be executed, 127 if it is not found.";

/// Arguments of `proust record` and `proust run`.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct RecordArgs {
    /// Folder of the run; must not exist [default: COMMAND.N.proust in the current folder]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Begin paused: nothing is recorded until `proust resume`
    #[arg(long)]
    pub start_paused: bool,
    /// Begin to record so long after the command's start (30, 500ms, 2min; seconds without a unit)
    #[arg(long, value_name = "TIME", value_parser = parse_delay)]
    pub delay: Option<Duration>,
    /// Record for so long, counted from where recording begins, and let the command go on
    #[arg(long, value_name = "TIME", value_parser = parse_delay, conflicts_with = "start_paused")]
    pub duration: Option<Duration>,
    /// A process that gets this signal takes a sample of itself (page `samples`): USR1, USR2, RTMIN+3 …
    #[arg(long, value_name = "SIG", value_parser = request_signals::parse)]
    pub sample_signal: Option<u32>,
    /// A process that gets this signal pauses its recording, or resumes it; with --start-paused all begin
    /// paused
    #[arg(long, value_name = "SIG", value_parser = request_signals::parse,
          conflicts_with_all = ["delay", "duration"])]
    pub pause_signal: Option<u32>,
    /// Print nothing at the end, unless something went wrong
    #[arg(short, long)]
    pub quiet: bool,
    /// Record call paths, as is always done: for fingers that know `perf record -g`
    #[arg(short = 'g', hide = true)]
    pub call_graph: bool,
    /// What is recorded.
    #[command(flatten)]
    pub options: RecordOptions,
    /// The command to run
    #[arg(trailing_var_arg = true, required = true, value_name = "CMD")]
    pub command: Vec<std::ffi::OsString>,
}

/// Samples per second of processor time and thread, unless said otherwise. In a virtual machine the
/// processor's timer alone takes up to 30 µs a sample: 0.6 % of the time at 200 a second.
const RATE_HZ: u32 = 100;
/// Most space that a run may take on disk, unless said otherwise.
const MAX_SIZE: &str = "1G";
const MAX_SIZE_BYTES: u64 = 1 << 30;

/// What is recorded, and how much of it; the same for one run and for many.
#[derive(clap::Args, Clone, Debug)]
pub struct RecordOptions {
    /// Samples per second of processor time and thread
    #[arg(
        long,
        visible_short_alias = 'F',
        alias = "freq",
        value_name = "HZ",
        default_value_t = RATE_HZ,
        value_parser = clap::value_parser!(u32).range(1..=10_000)
    )]
    pub rate: u32,
    /// Most space the run may take on disk (K, M, G); afterwards only totals are kept
    #[arg(long, value_name = "SIZE", default_value = MAX_SIZE, value_parser = parse_size)]
    pub max_size: u64,
    /// Sources of data to leave out: locks (waits of every kind), io
    #[arg(long, value_name = "SOURCE", value_delimiter = ',', value_enum)]
    pub without: Vec<Source>,
    /// Waits and I/O calls shorter than this are recorded as sums and not one by one (ns, us, ms), or: all
    /// [default: a few times what an uncontended lock takes here]
    #[arg(long, value_name = "TIME", value_parser = parse_threshold)]
    pub sync_threshold: Option<u64>,
    /// Call paths of calls of MPI; off: only from where each is called, not the path that leads there
    #[arg(long, value_name = "on|off", default_value = "on", value_enum, hide_possible_values = true)]
    pub mpi_paths: OnOff,
    /// Compare every call path with a full unwind (slow; for developers)
    #[arg(long, hide = true)]
    pub check_paths: bool,
    /// Deliver samples but record nothing, to measure the cost of delivery (for developers)
    #[arg(long, hide = true)]
    pub empty_handler: bool,
    /// Unwind every call path in full (for developers)
    #[arg(long, hide = true)]
    pub no_memo: bool,
}

impl Default for RecordOptions {
    /// As without any option.
    fn default() -> RecordOptions {
        RecordOptions {
            rate: RATE_HZ,
            max_size: MAX_SIZE_BYTES,
            without: Vec::new(),
            sync_threshold: None,
            mpi_paths: OnOff::On,
            check_paths: false,
            empty_handler: false,
            no_memo: false,
        }
    }
}

/// Whether something is recorded.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum OnOff {
    /// It is.
    On,
    /// It is not.
    Off,
}

/// A source of data beside the samples.
#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Waits: locks, conditions, barriers, joins, sleeps, polls, futexes
    Locks,
    /// I/O: bytes, errors and time of reads, writes, opens
    Io,
}

/// A time from now; seconds where it has no unit.
fn parse_delay(text: &str) -> Result<Duration, String> {
    parse_ns(text, Some("s")).map(Duration::from_nanos).map_err(|error| error.to_string())
}

/// Nanoseconds of `all`, `0`, `500ns`, `10us`, `1.5ms`.
fn parse_threshold(text: &str) -> Result<u64, String> {
    if text == "all" {
        return Ok(0);
    }
    match parse_ns(text, None) {
        Ok(ns) if ns <= 1_000_000_000 => Ok(ns),
        Ok(_) => Err(format!("`{text}` is more than 1 s")),
        Err(error) => Err(format!("{error}; or all")),
    }
}

/// Least size of a run: one process with one thread and a few thousand samples.
const MIN_SIZE_BYTES: u64 = 256 << 10;

/// Bytes of `500M`, `2G`, `262144`.
fn parse_size(text: &str) -> Result<u64, String> {
    let bytes = parse_bytes(text).map_err(|error| error.to_string())?;
    if bytes < MIN_SIZE_BYTES {
        return Err(format!("`{text}` is too small: a run needs at least 256K"));
    }
    Ok(bytes)
}

/// How a recording went.
#[derive(Debug)]
pub enum Attempt {
    /// The command could not be run, which was reported; with this exit code.
    Refused(ExitCode),
    /// It ran and ended so; the messages about its recording, where this process has them.
    Ended(ExitStatus, Option<Told>),
}

/// Records a run; the exit code is the command's.
pub fn run(args: &RecordArgs) -> ExitCode {
    match attempt(args) {
        Attempt::Refused(code) => code,
        Attempt::Ended(status, told) => {
            told.into_iter().for_each(|told| told.tell(args.quiet));
            launch::end_like(status)
        }
    }
}

/// Records a run of the command, if there is such a command.
pub fn attempt(args: &RecordArgs) -> Attempt {
    let refused = |code| Attempt::Refused(ExitCode::from(code));
    if args.sample_signal.is_some() && args.sample_signal == args.pause_signal {
        message!(
            "--sample-signal and --pause-signal are the same signal: choose two. The command was not run."
        );
        return refused(USAGE);
    }
    let found = match program::find(&args.command[0]) {
        Ok(found) => found,
        Err(error) => {
            message!("{error}");
            return refused(if error.is_not_found() { NOT_FOUND } else { CANNOT_EXECUTE });
        }
    };
    if let Some(obstacle) = program::inspect(&found).obstacle() {
        message!("{obstacle} The command was not run.");
        return refused(FAILED);
    }
    if !args.quiet && args.options.rate != RATE_HZ {
        tick::note_of(args.options.rate, !args.options.without.is_empty());
    }
    match record(args, &found, &Setting::default()) {
        Ok((Outcome::Ended(ending, _), told)) => Attempt::Ended(ending, told),
        Ok((Outcome::NotStarted(error), _)) => {
            message!("{} cannot be executed: {error}", found.display());
            refused(if error.kind() == std::io::ErrorKind::NotFound { NOT_FOUND } else { CANNOT_EXECUTE })
        }
        Err(error) => {
            message!("{error:#}");
            refused(FAILED)
        }
    }
}

/// Records a run of the program `found`: its ending and the messages about it, or why it could not be
/// started.
///
/// # Errors
/// If the run's folder cannot be made.
pub fn record(
    args: &RecordArgs,
    found: &std::path::Path,
    setting: &Setting,
) -> anyhow::Result<(Outcome, Option<Told>)> {
    let folder =
        RunFolder::create_or_join(args).context("nothing was recorded and the command was not run")?;
    let sanitizers = Sanitizers::of(found);
    let outcome = launch::run(args, found, &sanitizers, &folder, setting);
    let told = match &outcome {
        Ok(Outcome::Ended(ending, stops)) => {
            if folder.is_in_place() {
                made_code::keep(&folder);
            }
            // The command has run: how it ended counts, whatever became of its recording.
            let runtime = LinkedRuntime::of(found);
            closing::finish(&folder, ending, stops, &sanitizers, runtime).unwrap_or_else(|error| {
                message!("the recording is lost: {error:#}");
                folder.tidy();
                None
            })
        }
        _ => {
            folder.remove();
            None
        }
    };
    Ok((outcome?, told))
}

#[cfg(test)]
mod tests {
    use super::{RecordOptions, parse_delay, parse_size, parse_threshold};
    use clap::Parser;
    use std::time::Duration;

    #[test]
    fn the_default_is_what_a_command_line_without_options_says() {
        #[derive(Parser)]
        struct Line {
            #[command(flatten)]
            options: RecordOptions,
        }
        let line = Line::parse_from(["proust"]);
        assert_eq!(format!("{:?}", line.options), format!("{:?}", RecordOptions::default()));
    }

    #[test]
    fn delays_are_read_with_parts() {
        assert_eq!(parse_delay("2"), Ok(Duration::from_secs(2)));
        assert_eq!(parse_delay("0.25"), Ok(Duration::from_millis(250)));
        assert_eq!(parse_delay("1.5min"), Ok(Duration::from_secs(90)));
        for wrong in ["", "-1", "inf", "NaN", "1e30", "1x"] {
            assert!(parse_delay(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn sizes_are_read_with_units() {
        assert_eq!(parse_size("1G"), Ok(1 << 30));
        assert_eq!(parse_size("500m"), Ok(500 << 20));
        assert_eq!(parse_size("2MiB"), Ok(2 << 20));
        assert_eq!(parse_size("262144"), Ok(256 << 10));
        for wrong in ["", "G", "1X", "-1G", "10K", "99999999999999T", "1.5G"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
    #[test]
    fn thresholds_are_read_with_units() {
        for (text, ns) in [
            ("all", 0),
            ("0", 0),
            ("500ns", 500),
            ("10us", 10_000),
            ("10µs", 10_000),
            ("1ms", 1_000_000),
            ("1.5us", 1_500),
        ] {
            assert_eq!(parse_threshold(text), Ok(ns), "{text}");
        }
        for wrong in ["", "10", "us", "-1us", "1h", "2000ms"] {
            assert!(parse_threshold(wrong).is_err(), "{wrong}");
        }
    }
}
