//! The command line.

use clap::{Parser, Subcommand};
use proust_words::sizes::parse_bytes;

use crate::{
    completions, demo, diff, doctor, explain, export, info, ls, merge, record, report, run, schema, sweep,
    switch,
};

/// Where did my processors' time go, and which line of my program lost it?
#[derive(Debug, Parser)]
#[command(
    name = "proust",
    version,
    max_term_width = 100,
    disable_help_subcommand = true,
    after_help = "\
Examples:
  proust demo                      see what it does, in ten seconds
  proust run -- ./solve            record a program, and show where its time went
  proust record -- ./solve         only record it
  proust report                    where the time of the newest run went

Exit codes: 0 ok, 1 error, 2 wrong usage, 3 incomplete data (only with --strict),
4 a limit of `diff --fail-if` exceeded;
`record` and `sweep` pass on the exit code of the program, or 125, 126, 127 when it could not be run."
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Memory that an analysis may use (K, M, G); what is more is put into a file in the run's folder
    /// [default: a quarter of the machine's]
    #[arg(long, value_name = "SIZE", global = true, value_parser = parse_bytes)]
    pub memory: Option<u64>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Record a program, and show where its time went
    #[command(after_help = run::HELP)]
    Run(record::RecordArgs),
    /// Run a program and record where its time goes
    #[command(after_help = record::HELP)]
    Record(record::RecordArgs),
    /// Switch recording off in a run that goes on
    Pause(switch::PauseArgs),
    /// Switch recording on again
    Resume(switch::ResumeArgs),
    /// End recording for good; the program goes on
    Stop(switch::StopArgs),
    /// Note what each process of a run has used and holds, under a label
    Sample(switch::SampleArgs),
    /// Show where the time of a run went
    Report(report::ReportArgs),
    /// Write a run in the format of another tool: flame graph, speedscope, pprof, Firefox, Perfetto
    Export(export::ExportArgs),
    /// Compare two runs, or repetitions of both: what changed, and what is noise
    Diff(diff::DiffArgs),
    /// Run a program with several counts of threads or ranks, each several times
    Sweep(sweep::SweepArgs),
    /// List the runs in a folder
    Ls(ls::LsArgs),
    /// Tell all that is known of a run: processes, hosts, modules, clocks
    Info(info::InfoArgs),
    /// Put together what hosts recorded to discs of their own
    Merge(merge::MergeArgs),
    /// Check what can be recorded on this machine, and of a program
    Doctor(doctor::DoctorArgs),
    /// Explain a word of the reports
    Explain(explain::ExplainArgs),
    /// Record a program that ships inside Proust, and show its report
    Demo(demo::DemoArgs),
    /// Write completions for a shell
    Completions(completions::CompletionsArgs),
    /// Write the JSON Schema of all pages
    #[command(after_help = schema::HELP)]
    Schema,
    /// Write the manual page
    #[command(after_help = "Example:\n  proust man > proust.1 && man ./proust.1")]
    Man,
    /// The program that `demo` records
    #[command(hide = true)]
    DemoWorkload,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The parser takes `{n}` in help for the end of a line.
    #[test]
    fn no_help_has_a_word_that_is_made_a_line_break() {
        for subcommand in Cli::command().get_subcommands() {
            let texts = [subcommand.get_after_help(), subcommand.get_long_about(), subcommand.get_about()];
            let of_arguments =
                subcommand.get_arguments().flat_map(|arg| [arg.get_help(), arg.get_long_help()]);
            for text in texts.into_iter().chain(of_arguments).flatten() {
                assert!(!text.to_string().contains("{n}"), "{}: {text}", subcommand.get_name());
            }
        }
    }

    #[test]
    fn every_help_has_an_example() {
        for subcommand in Cli::command().get_subcommands().filter(|command| !command.is_hide_set()) {
            let help = subcommand.clone().render_long_help().to_string();
            assert!(help.contains("Example"), "{} --help shows no example", subcommand.get_name());
        }
    }
}
