//! `proust info`: all that is known of a run, or of a sweep's runs.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap_complete::ArgValueCompleter;
use proust_profile::facts::ending;
use proust_profile::run_file::RunFileError;
use proust_profile::{Profile, RunFile, SweepFile};
use proust_report::{Align, Cell, Paint, Style, Table, bytes, duration, utc, wrapped};
use proust_report::{Worded, module_notes};

use crate::{analysis_notes, completing, output, progress, runs, sweep, terminal};

/// Arguments of `proust info`.
#[derive(Args, Debug)]
#[command(after_help = "Example:\n  proust info solve.1.proust")]
pub struct InfoArgs {
    /// Folder of the run or sweep [default: the newest in the current folder]
    #[arg(add = ArgValueCompleter::new(completing::folders))]
    pub dir: Option<PathBuf>,
}

/// Prints all that is known of a run.
///
/// # Errors
/// When the run cannot be read.
pub fn run(args: &InfoArgs) -> Result<ExitCode> {
    let dir = runs::named_or_newest(args.dir.as_deref())?;
    if SweepFile::is_in(&dir) {
        output::print(&sweep::described(&dir, &SweepFile::read(&dir)?, &terminal::style()))?;
        return Ok(ExitCode::SUCCESS);
    }
    let run = progress::open(&dir)?;
    let profile = run.definitions()?;
    let style = terminal::style();
    let mut text = facts(profile, run.file(), &style);
    text.push_str(&processes(profile, &style));
    text.push_str(&modules(profile, &style));
    analysis_notes::print(&run);
    output::print(&text)?;
    Ok(ExitCode::SUCCESS)
}

fn facts(profile: &Profile, file: Result<&RunFile, &RunFileError>, style: &Style) -> String {
    let facts = &profile.facts;
    let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
    let mut fact =
        |name: &str, value: String| table.row(vec![Cell::painted(Paint::Faint, name), value.into()]);
    fact("folder", facts.dir.clone());
    fact("command", facts.command.join(" "));
    fact("started", utc(facts.start_unix_s));
    fact("end", ending(&facts.outcome));
    fact("wall", duration(facts.wall.as_seconds()));
    fact("host", facts.host.clone());
    fact("processors", format!("{} available", facts.available_processors));
    if let Some(stolen) = facts.stolen {
        let stolen = duration(stolen.as_seconds());
        fact("stolen", format!("{stolen} by the host of the virtual machine, if it is one"));
    }
    fact("sampling", format!("{} a second of CPU time asked", facts.asked_rate_hz));
    fact("clock", format!("CLOCK_MONOTONIC; kernel tick {}", duration(facts.tick.as_seconds())));
    fact("logs", bytes(profile.quality.log_bytes));
    let mut notes = Vec::new();
    match file {
        Err(RunFileError::Missing { path }) => notes.push(format!(
            "{} is gone: what only the recorder knew (its version, limits and notes) is not known",
            path.display()
        )),
        Err(error) => notes.push(error.to_string()),
        Ok(_) => {}
    }
    if let Ok(file) = file {
        let governors = match file.governors.is_empty() {
            true => "not shown by this machine".to_owned(),
            false => file.governors.join(", "),
        };
        fact("governor", governors);
        fact("recorded by", format!("proust {}", file.version));
        fact("most on disk", bytes(file.budget_bytes));
        if let Some(key) = &file.job_key {
            fact("job", key.clone());
        }
        notes.extend(file.notes.iter().map(Worded::text));
    }
    notes.extend(profile.quality.notes.iter().map(Worded::text));
    let mut text = style.paint(Paint::Strong, "Run") + "\n" + &table.render(style);
    if !notes.is_empty() {
        text.push_str(&format!("\n{}\n", style.paint(Paint::Strong, "Notes")));
    }
    for note in notes {
        text.push_str(&wrapped(&note, 1, style.width));
    }
    text
}

fn processes(profile: &Profile, style: &Style) -> String {
    let mut text = format!("\n{}\n", style.paint(Paint::Strong, "Processes"));
    for (id, process) in profile.processes.iter().enumerate() {
        let threads = profile.locations.iter().filter(|location| location.process.index() == id).count();
        let rank = process.rank.map(|rank| format!(", rank {rank}")).unwrap_or_default();
        text.push_str(&format!(
            " p{id}  {} {}{rank} on {}: {}\n",
            process.name,
            process.pid,
            process.host,
            process.arguments.join(" ")
        ));
        let mut table = Table::new([("", Align::Left), ("", Align::Left)]);
        let mut fact = |name: &str, value: String| {
            table.row(vec![Cell::painted(Paint::Faint, format!("    {name}")), value.into()])
        };
        fact("executable", process.executable.clone());
        fact("parent", process.parent_pid.to_string());
        fact("began by", format!("{} at {}", process.origin, duration(process.start.as_seconds())));
        fact("ended by", format!("{} at {}", process.ending, duration(process.end.as_seconds())));
        fact(
            "CPU clock",
            process.clock_cpu.map_or_else(|| "not read at its end".into(), |cpu| duration(cpu.as_seconds())),
        );
        fact("threads", threads.to_string());
        let quota = process.quota_milli.map_or_else(String::new, |milli| {
            format!(", {:.3} of them at once by its control group", f64::from(milli) / 1000.0)
        });
        fact("processors", format!("{} ({}{quota})", process.available_processors, process.processors));
        for variable in &process.environment {
            fact("environment", variable.clone());
        }
        text.push_str(&table.render(style));
    }
    text
}

fn modules(profile: &Profile, style: &Style) -> String {
    let mut table = Table::new([("build-id", Align::Left), ("path", Align::Left)]);
    for module in &profile.modules {
        let id = if module.build_id.is_empty() { "none" } else { &module.build_id };
        table.row(vec![id.into(), Cell::from(module.path.clone()).with_tail(module_notes(&module.notes))]);
    }
    format!("\n{}\n", style.paint(Paint::Strong, "Modules")) + &table.render(style)
}
