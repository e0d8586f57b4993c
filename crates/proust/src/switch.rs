//! `proust pause`, `resume`, `stop` and `sample`: commands to a run in progress.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Result, bail};
use clap_complete::ArgValueCompleter;
use proust_log::control::{Command, LABEL_BYTES};
use proust_profile::RunFile;

use crate::completing;
use crate::control::{ControlPage, Given};
use crate::record::shell_path;
use crate::runs::named_or_newest;

/// Arguments of `proust pause`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  proust pause solve.1.proust      and later: proust resume solve.1.proust

Every process of the run stops recording, wherever it is; the program itself goes on. What it does until
`proust resume` is in no figure but the account `paused`.")]
pub struct PauseArgs {
    /// Folder of the run [default: the newest one in the current folder]
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completing::folders))]
    pub run: Option<PathBuf>,
}

/// Arguments of `proust resume`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  proust record --start-paused -- ./solve      and when it has read its input: proust resume")]
pub struct ResumeArgs {
    /// Folder of the run [default: the newest one in the current folder]
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completing::folders))]
    pub run: Option<PathBuf>,
}

/// Arguments of `proust stop`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  proust stop solve.1.proust && proust report solve.1.proust

The program goes on without being recorded, and so does what it starts from then on.")]
pub struct StopArgs {
    /// Folder of the run [default: the newest one in the current folder]
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completing::folders))]
    pub run: Option<PathBuf>,
}

/// Arguments of `proust sample`.
#[derive(clap::Args, Debug)]
#[command(after_help = "\
Example:
  proust sample solve.1.proust --label 'after setup' && proust report solve.1.proust samples")]
pub struct SampleArgs {
    /// Folder of the run [default: the newest one in the current folder]
    #[arg(value_name = "RUN", add = ArgValueCompleter::new(completing::folders))]
    pub run: Option<PathBuf>,
    /// What the samples shall be called, at most 48 bytes
    #[arg(long, value_name = "TEXT", default_value = "", value_parser = parse_label)]
    pub label: String,
}

fn parse_label(text: &str) -> Result<String, String> {
    if text.len() > LABEL_BYTES || text.contains('\0') {
        return Err(format!("a label has at most {LABEL_BYTES} bytes"));
    }
    Ok(text.to_owned())
}

/// Runs `proust sample`.
///
/// # Errors
/// As [`pause`], and when the run was stopped.
pub fn sample(args: &SampleArgs) -> Result<ExitCode> {
    let dir = named_or_newest(args.run.as_deref())?;
    let given = in_progress(&dir)?.ask_for_sample(&args.label)?;
    if given == Given::TooLate {
        bail!("recording in {} was stopped for good", dir.display());
    }
    Ok(ExitCode::SUCCESS)
}

/// The control page of a run in progress.
fn in_progress(dir: &std::path::Path) -> Result<ControlPage> {
    if RunFile::read(dir)?.finished.is_some() {
        bail!("the run in {} has ended: nothing is recorded there any more", dir.display());
    }
    ControlPage::open(dir)
}

/// Runs `proust pause`.
///
/// # Errors
/// When there is no such run, or it has ended.
pub fn pause(args: &PauseArgs) -> Result<ExitCode> {
    give(args.run.as_deref(), Command::Pause)
}

/// Runs `proust resume`.
///
/// # Errors
/// As [`pause`], and when the run was stopped.
pub fn resume(args: &ResumeArgs) -> Result<ExitCode> {
    give(args.run.as_deref(), Command::Resume)
}

/// Runs `proust stop`.
///
/// # Errors
/// As [`pause`].
pub fn stop(args: &StopArgs) -> Result<ExitCode> {
    give(args.run.as_deref(), Command::Stop)
}

fn give(run: Option<&std::path::Path>, command: Command) -> Result<ExitCode> {
    let dir = named_or_newest(run)?;
    let given = in_progress(&dir)?.give(command)?;
    let name = shell_path(&dir);
    let said = match (command, given) {
        (_, Given::TooLate) => {
            bail!("recording in {} was stopped for good: it cannot go on", dir.display())
        }
        (Command::Pause, Given::Now) => format!("{name} is paused; to go on: proust resume {name}"),
        (Command::Pause, Given::Already) => format!("{name} was paused already"),
        (Command::Resume, Given::Now) => format!("{name} is recorded again"),
        (Command::Resume, Given::Already) => format!("{name} was not paused"),
        (Command::Stop, Given::Now) => {
            format!("{name} is not recorded any more; to see where the time went: proust report {name}")
        }
        (Command::Stop, Given::Already) => format!("{name} was stopped already"),
        (Command::Sample, _) => String::new(),
    };
    message!("{said}");
    Ok(ExitCode::SUCCESS)
}
