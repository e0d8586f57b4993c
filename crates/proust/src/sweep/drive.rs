//! One run after the other.

use std::ffi::OsString;
use std::fs::File;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitCode, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result};
use proust_profile::SweepFile;
use proust_profile::sweep_file::{PointOutcome, SweepPoint};
use proust_report::Worded;
use proust_words::{counted, verb};

use super::SweepArgs;
use super::folder::Folder;
use super::progress::Shown;
use crate::program;
use crate::record::{
    self, CANNOT_EXECUTE, FAILED, NOT_FOUND, Outcome, RecordArgs, Setting, asked_to_end, shell_path,
};

/// Exit code: a run took too long, as `timeout` has it.
const TIMED_OUT: u8 = 124;

/// The exit code where a command of the sweep cannot be run at all, which is reported before anything is run.
pub fn refused(file: &SweepFile) -> Option<ExitCode> {
    let mut looked_at: Vec<&str> = Vec::new();
    for point in &file.points {
        let name = point.command[0].as_str();
        if looked_at.contains(&name) {
            continue;
        }
        looked_at.push(name);
        match program::find(name.as_ref()) {
            Err(error) => {
                message!("{error}");
                return Some(ExitCode::from(if error.is_not_found() { NOT_FOUND } else { CANNOT_EXECUTE }));
            }
            Ok(found) => {
                if let Some(obstacle) = program::inspect(&found).obstacle() {
                    message!("{obstacle} The command was not run.");
                    return Some(ExitCode::from(FAILED));
                }
            }
        }
    }
    None
}

/// Executes the remaining runs.
///
/// # Errors
/// When the results cannot be written.
pub fn all(args: &SweepArgs, mut folder: Folder) -> Result<ExitCode> {
    for note in &folder.file.notes {
        message!("note: {}", note.text());
    }
    let mut first_failure = None;
    let shown = Shown::new(&folder.file);
    for at in 0..folder.file.points.len() {
        if folder.file.points[at].outcome == PointOutcome::Done {
            continue;
        }
        shown.begin(&folder.file, at);
        let name = folder.name_for(&folder.file.points[at]);
        let ended = one(args, &folder.dir, &name, &folder.file.points[at]);
        if let Some(signal) = asked_to_end() {
            // The signal reached the run, too: its work until then is no measurement.
            remove(&folder.dir, &name);
            shown.end();
            return Ok(interrupted(&folder, signal));
        }
        let ended = ended?;
        first_failure = first_failure.or(ended.failure);
        let point = &mut folder.file.points[at];
        (point.outcome, point.failure, point.wall_s) = (ended.outcome, ended.why, ended.wall_s);
        point.dir = ended.wall_s.is_some().then(|| name.clone());
        folder.file.write(&folder.dir)?;
        shown.ended(&folder.file, at, &folder.dir.join(&name));
    }
    shown.end();
    let failed = folder.file.points.iter().filter(|point| point.outcome != PointOutcome::Done).count();
    let done = folder.file.done().count();
    let failures = if failed == 0 {
        String::new()
    } else {
        format!("; {failed} failed: the same command again runs {} anew", verb(failed, "it", "them"))
    };
    message!("{} done in {}{failures}", counted(done, "run"), folder.dir.display());
    if done > 0 {
        message!("to see how it scales: proust report {} scaling", shell_path(&folder.dir));
    }
    Ok(first_failure.map_or(ExitCode::SUCCESS, ExitCode::from))
}

/// How a run of a sweep ended.
struct Ended {
    outcome: PointOutcome,
    why: Option<String>,
    wall_s: Option<f64>,
    /// Exit code of the sweep, if this is its first failure.
    failure: Option<u8>,
}

impl Ended {
    fn failed(why: String, code: u8) -> Ended {
        Ended { outcome: PointOutcome::Failed, why: Some(why), wall_s: None, failure: Some(code) }
    }
}

fn one(args: &SweepArgs, dir: &Path, name: &str, point: &SweepPoint) -> Result<Ended> {
    let command: Vec<OsString> = point.command.iter().map(OsString::from).collect();
    let found = match program::find(&command[0]) {
        Ok(found) => found,
        Err(error) => return Ok(Ended::failed(error.to_string(), NOT_FOUND)),
    };
    let record = RecordArgs {
        output: Some(dir.join(name)),
        options: args.options.clone(),
        command,
        ..RecordArgs::default()
    };
    let [output, errors] = streams(dir, name);
    let create =
        |path: &PathBuf| File::create(path).with_context(|| format!("{} cannot be written", path.display()));
    let setting = Setting {
        environment: point.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        streams: Some((create(&output)?, create(&errors)?)),
        limit: args.timeout,
    };
    let (outcome, told) = match record::record(&record, &found, &setting) {
        Ok(ended) => ended,
        Err(error) => return Ok(Ended::failed(format!("{error:#}"), FAILED)),
    };
    let status = match outcome {
        Outcome::Ended(status, _) => status,
        Outcome::NotStarted(error) => {
            return Ok(Ended::failed(format!("cannot be executed: {error}"), CANNOT_EXECUTE));
        }
    };
    let wall_s = told.as_ref().map(|told| told.wall_s);
    let too_long = |limit: &Duration| wall_s.is_some_and(|wall_s| wall_s >= limit.as_secs_f64());
    if !status.success()
        && let Some(limit) = args.timeout.filter(too_long)
    {
        let why = format!("took longer than {} s and was ended", limit.as_secs_f64());
        return Ok(Ended {
            outcome: PointOutcome::TimedOut,
            why: Some(why),
            wall_s,
            failure: Some(TIMED_OUT),
        });
    }
    Ok(match told {
        None => Ended::failed("its recording is lost".into(), FAILED),
        Some(told) if status.success() && told.processes == 0 => {
            Ended { wall_s, ..Ended::failed("nothing of it was recorded".into(), FAILED) }
        }
        Some(_) if status.success() => {
            Ended { outcome: PointOutcome::Done, why: None, wall_s, failure: None }
        }
        Some(_) => {
            let (why, code) = how(status);
            Ended { wall_s, ..Ended::failed(why, code) }
        }
    })
}

/// How a command failed, and the exit code that says so.
fn how(status: ExitStatus) -> (String, u8) {
    match (status.code(), status.signal()) {
        (Some(code), _) => (format!("ended with exit code {code}"), code as u8),
        (None, Some(signal)) => (format!("was ended by signal {signal}"), 128_u8.wrapping_add(signal as u8)),
        (None, None) => ("ended in an unknown way".into(), FAILED),
    }
}

/// Where a run's output and errors go.
pub fn streams(dir: &Path, name: &str) -> [PathBuf; 2] {
    ["out", "err"].map(|kind| dir.join(format!("{name}.{kind}")))
}

fn remove(dir: &Path, name: &str) {
    // Whatever cannot be removed is in the way of nothing: the next attempt gets another name.
    let _ = std::fs::remove_dir_all(dir.join(name));
    for path in streams(dir, name) {
        let _ = std::fs::remove_file(path);
    }
}

fn interrupted(folder: &Folder, signal: libc::c_int) -> ExitCode {
    message!(
        "interrupted; {} of {} done {} kept in {}: the same command again with -o {} goes on",
        folder.file.done().count(),
        counted(folder.file.points.len(), "run"),
        verb(folder.file.done().count(), "is", "are"),
        folder.dir.display(),
        shell_path(&folder.dir)
    );
    record::end_like(ExitStatus::from_raw(signal))
}
