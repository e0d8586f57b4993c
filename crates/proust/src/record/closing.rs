//! The end of a recording: the notes and messages.

use std::fs::{self, File};
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{SystemTime, UNIX_EPOCH};

use proust_ingest::processes_in;
use proust_log::control::RUN_VARIABLE;
use proust_log::layout::{EXTENSION, LOG_FOLDER};
use proust_profile::notes::RunNote;
use proust_profile::run_file::{Finished, RunFile, Stop};
use proust_report::bytes;
use proust_words::counted;

use super::RunFolder;
use crate::control::ControlPage;
use crate::linked_runtime::LinkedRuntime;
use crate::message;
use crate::sanitizers::Sanitizers;

/// The messages about a run that has ended.
#[derive(Debug)]
pub struct Told {
    /// Seconds from the start to the end of the command.
    pub wall_s: f64,
    /// Processes that left a log; 0 = nothing was recorded.
    pub processes: u64,
    /// The run's folder, as the user will want to name it.
    pub dir: PathBuf,
    lines: Vec<String>,
}

impl Told {
    /// Prints the three lines; to a user who wants to hear only of failures, none if all went well.
    pub fn tell(&self, is_quiet: bool) {
        if is_quiet && self.processes > 0 {
            return;
        }
        // In one piece: no output of the program's children gets in between.
        message::block(&self.lines.iter().map(|line| format!("proust: {line}\n")).collect::<String>());
    }
}

/// Notes how the command ended; the messages about it, which one process of a job prints.
pub fn finish(
    folder: &RunFolder,
    status: &ExitStatus,
    stops: &[Stop],
    sanitizers: &Sanitizers,
    runtime: Option<LinkedRuntime>,
) -> anyhow::Result<Option<Told>> {
    if !folder.created {
        return Ok(None);
    }
    let wall_s = folder.start.elapsed().as_secs_f64();
    if !folder.is_in_place() {
        anyhow::bail!("{} was removed or replaced while the command ran", folder.shown.display());
    }
    let mut run = RunFile::read(&folder.path)?;
    let sum = Recorded::of(&folder.path);
    run.finished = Some(Finished {
        end_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64(),
        wall_s,
        exit_code: status.code(),
        signal: status.signal(),
        stolen_s: folder.stolen.so_far_s(),
        throttled_s: folder.throttled.so_far_s(),
        logs: Some(sum.logs),
    });
    run.stops = stops.to_vec();
    run.pauses = ControlPage::open(&folder.path).and_then(|page| page.pauses()).unwrap_or_default();
    if sanitizers.are_there() {
        run.notes.push(RunNote::Sanitizers { sanitizers: sanitizers.names() });
    }
    run.notes.extend(runtime.map(LinkedRuntime::note));
    let survivors: Vec<String> = processes_of(&folder.path).into_iter().map(|(_, name)| name).collect();
    if !survivors.is_empty() {
        run.notes.push(RunNote::StillRunning { processes: survivors.clone() });
    }
    run.write(&folder.path)?;
    folder.tidy();
    let how = match (status.code(), status.signal()) {
        (Some(code), _) => format!("ended with exit code {code}"),
        (None, Some(signal)) => format!("was ended by signal {signal}"),
        _ => "ended".to_owned(),
    };
    let command = run.command.first().map_or("the command", |word| word);
    let mut lines = vec![format!("{command} {how} after {wall_s:.2} s")];
    lines.push(if !folder.path.join(LOG_FOLDER).is_dir() {
        format!(
            "nothing is left of the recording: {} was removed while the command ran",
            folder.shown.join(LOG_FOLDER).display()
        )
    } else if sum.processes == 0 {
        "nothing was recorded: no process loaded the collector; `proust doctor -- CMD` may tell why"
            .to_owned()
    } else {
        let lives_on = if survivors.is_empty() {
            String::new()
        } else {
            format!("; still running: {}", survivors.join(", "))
        };
        // Page processes counts them alike; a process may have had several.
        let noun = if sum.processes == 1 { "process" } else { "process image" };
        format!("recorded {}, {} of logs{lives_on}", counted(sum.processes, noun), bytes(sum.bytes))
    });
    lines.push(format!("to see where the time went: proust report {}", shell_path(&folder.shown)));
    Ok(Some(Told { wall_s, processes: sum.processes, dir: folder.shown.clone(), lines }))
}

/// What there is of logs; a process that called exec counts for each image.
#[derive(Default)]
struct Recorded {
    logs: u64,
    processes: u64,
    bytes: u64,
}

impl Recorded {
    fn of(folder: &Path) -> Recorded {
        let mut sum = Recorded::default();
        let entries = fs::read_dir(folder.join(LOG_FOLDER)).into_iter().flatten().flatten();
        for entry in entries.filter(|entry| entry.path().extension().is_some_and(|e| e == EXTENSION)) {
            sum.logs += 1;
            sum.processes += processes_in(&entry.path()).unwrap_or(1);
            sum.bytes += entry.metadata().map_or(0, |metadata| metadata.len());
        }
        sum
    }
}

/// Room for most environments, so that each is read at once.
const ENVIRONMENT_BYTES: usize = 64 << 10;

/// Processes of the run that are still there, by number, as `name (pid)`. They are known by their
/// environment: a process that was forked or has called exec a moment ago may have no log yet.
pub fn processes_of(folder: &Path) -> Vec<(u32, String)> {
    let entry = [RUN_VARIABLE.as_bytes(), b"=", folder.as_os_str().as_encoded_bytes()].concat();
    let mut environment = Vec::with_capacity(ENVIRONMENT_BYTES);
    let mut found: Vec<(u32, String)> = fs::read_dir("/proc")
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|process| {
            let pid: u32 = process.file_name().to_str()?.parse().ok()?;
            environment.clear();
            File::open(process.path().join("environ")).ok()?.read_to_end(&mut environment).ok()?;
            environment.split(|&byte| byte == 0).find(|&variable| variable == entry)?;
            let name = fs::read_to_string(process.path().join("comm")).ok()?;
            Some((pid, format!("{} ({pid})", name.trim())))
        })
        .filter(|&(pid, _)| pid != std::process::id())
        .collect();
    found.sort();
    found
}

/// A path as it can be typed.
pub fn shell_path(path: &Path) -> String {
    proust_report::shell_word(&path.to_string_lossy())
}
