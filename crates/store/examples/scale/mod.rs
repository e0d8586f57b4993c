//! Whole analyses of synthetic runs, in processes of their own with a limit of memory.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, ExitStatus};
use std::time::Instant;

use proust_ingest::{CallPaths, Stage, from_binaries};
use proust_store::{Run, WaitRules, limit_memory};

use crate::resources::{memory_mb, processor_s};

/// Bytes of all files in a folder and those below it.
pub fn bytes_in(dir: &Path) -> u64 {
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let bytes =
        |path: &Path| if path.is_dir() { bytes_in(path) } else { path.metadata().map_or(0, |m| m.len()) };
    entries.map(|entry| bytes(&entry.path())).sum()
}

pub fn open(dir: &Path) -> Result<Run, Box<dyn Error>> {
    Ok(Run::open_by(dir, CallPaths::User, Box::new(from_binaries()), WaitRules::standard())?)
}

/// Analyses the run and prints what each stage took, and the most memory until its end.
pub fn analyse(dir: &Path, allowed_mb: u64) -> Result<(), Box<dyn Error>> {
    if allowed_mb > 0 {
        limit_memory(allowed_mb * 1_000_000);
    }
    let (begin, mut last_mb, mut stage) = (Instant::now(), 0, None);
    let mut since_s = processor_s();
    let run = open(dir)?;
    run.analyse(&mut |progress| {
        last_mb = last_mb.max(memory_mb("RssAnon:"));
        if stage != Some(progress.stage) {
            report(stage, since_s, last_mb);
            (stage, since_s) = (Some(progress.stage), processor_s());
        }
    })?;
    let wall_s = begin.elapsed().as_secs_f64();
    report(stage, since_s, last_mb);
    println!("  in all {:.2} s of processors, {wall_s:.2} s, {last_mb} MB", processor_s());
    Ok(())
}

/// What a stage took, and the most memory until its end.
fn report(stage: Option<Stage>, since_s: f64, last_mb: u64) {
    if let Some(stage) = stage {
        println!("  {stage:?}: {:.2} s of processors, {last_mb} MB", processor_s() - since_s);
    }
}

/// Has this program analyse the run in another process (its words: `analyse DIR MB`), which may have so many
/// MB of memory: RLIMIT_DATA, which counts all but mapped files. 0: no limit.
pub fn analyse_within(dir: &Path, data_mb: u64) -> Result<ExitStatus, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let mut analysis = Command::new(if data_mb > 0 { Path::new("prlimit") } else { &own });
    if data_mb > 0 {
        analysis.arg(format!("--data={}", data_mb * 1_000_000)).arg(&own);
    }
    Ok(analysis.arg("analyse").arg(dir).arg(data_mb.to_string()).status()?)
}
