//! `proust`: where every second of a parallel program's processor time went, and which line lost it.
//!
//! One file for each subcommand. Exit codes: 0 ok, 1 error, 2 wrong usage, 3 incomplete data under
//! `--strict`, 4 a limit of `diff --fail-if` exceeded; `record` and `sweep` pass on the program's own.

#[macro_use]
mod message;

mod analysis_notes;
mod cli;
mod clock;
mod completing;
mod completions;
mod control;
mod control_group;
mod demo;
mod dictionary;
mod diff;
mod doctor;
mod explain;
mod export;
mod failure;
mod gaps;
mod habits;
mod info;
mod linked_runtime;
mod ls;
mod man;
mod merge;
mod output;
mod program;
mod progress;
mod record;
mod report;
mod run;
mod runs;
mod sanitizers;
mod schema;
mod sweep;
mod switch;
mod symbol_table;
mod terminal;
mod tick;

use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use clap_complete::CompleteEnv;

use cli::{Cli, Command};

fn main() -> ExitCode {
    // A shell asks; the process ends with the answer.
    CompleteEnv::with_factory(Cli::command).var(completing::ASKED).complete();
    let cli = Cli::try_parse().unwrap_or_else(|error| habits::with_tip(error).exit());
    if let Some(bytes) = cli.memory.or_else(|| control_group::memory_bytes().map(|bytes| bytes / 4)) {
        proust_store::limit_memory(bytes);
    }
    let result = match cli.command {
        Command::Run(args) => return run::run(&args),
        Command::Record(args) => return record::run(&args),
        Command::Sweep(args) => return sweep::run(&args),
        Command::DemoWorkload => demo::workload(),
        Command::Pause(args) => switch::pause(&args),
        Command::Resume(args) => switch::resume(&args),
        Command::Stop(args) => switch::stop(&args),
        Command::Sample(args) => switch::sample(&args),
        Command::Report(args) => report::run(&args),
        Command::Export(args) => export::run(&args),
        Command::Diff(args) => diff::run(&args),
        Command::Ls(args) => ls::run(&args),
        Command::Info(args) => info::run(&args),
        Command::Merge(args) => merge::run(&args),
        Command::Doctor(args) => doctor::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Demo(args) => demo::run(&args),
        Command::Completions(args) => completions::run(&args),
        Command::Schema => schema::run(),
        Command::Man => man::run(Cli::command()),
    };
    result.unwrap_or_else(|error| failure::tell(&error))
}
