//! What people type who know other tools: a command line that was not understood gets the way out.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use proust_report::PageName;

use crate::program;

/// Options of other recorders, and what to do here instead.
const OF_OTHERS: &[(&[&str], &str)] = &[
    (
        &["-p", "--pid", "-t", "--tid", "--attach"],
        "a process that runs already cannot be recorded: start it with `proust record -- CMD`; --delay, \
         --duration and --start-paused select a part of its time",
    ),
    (
        &["-a", "--all-cpus", "-C", "--cpu"],
        "only a command is recorded, with all that it starts: `proust record -- CMD`",
    ),
    (
        &["-e", "--event", "-c", "--count"],
        "samples are taken by processor time, `--rate HZ` of them a second; waits and I/O are recorded, too",
    ),
    (
        &["--call-graph", "--stack-size"],
        "call paths are always recorded, with the compiler's tables or with frame pointers",
    ),
    (&["-i", "--input"], "the folder of a run is named without an option: `proust report RUN`"),
    (
        &["--stdio", "--tui", "--gtk"],
        "text is the default; `--format json` and `--format csv` are for programs",
    ),
    (&["-n", "--repeat", "-r"], "`proust sweep --repeat N -- CMD` records a command several times"),
];

/// Subcommands that take a command and its options.
const WITH_COMMAND: [&str; 4] = ["record", "run", "sweep", "doctor"];

/// The error with a tip that helps.
pub fn with_tip(mut error: clap::Error) -> clap::Error {
    let subcommand = std::env::args().nth(1).filter(|word| WITH_COMMAND.contains(&word.as_str()));
    match tip(&error, subcommand.as_deref()) {
        Some(tip) => {
            error.remove(ContextKind::SuggestedArg);
            error.remove(ContextKind::SuggestedSubcommand);
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
        }
        // The parser's own advice, to put `--` before it, would make a command of a misspelt option.
        None if subcommand.is_some() => drop(error.remove(ContextKind::Suggested)),
        None => {}
    }
    error
}

fn tip(error: &clap::Error, subcommand: Option<&str>) -> Option<String> {
    let text = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => Some(text.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::UnknownArgument => {
            let option = text(ContextKind::InvalidArg)?;
            let known = OF_OTHERS.iter().find(|(options, _)| options.contains(&option));
            if let Some((_, tip)) = known {
                return Some((*tip).to_owned());
            }
            let is_like_another = error.get(ContextKind::SuggestedArg).is_some();
            let subcommand = subcommand.filter(|_| !is_like_another)?;
            Some(format!("options of the command stand behind it: `proust {subcommand} -- CMD {option}`"))
        }
        ErrorKind::InvalidSubcommand => {
            let word = text(ContextKind::InvalidSubcommand)?;
            if PageName::from_id(word).is_some() {
                return Some(format!("it is a page: `proust report {word}`"));
            }
            program::find(word.as_ref()).ok()?;
            Some(format!("to record the program: `proust run -- {word}`"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    /// Otherwise the parser accepts it, and nobody sees the tip.
    #[test]
    fn no_option_of_others_is_one_of_record() {
        let command = Cli::command();
        let record = command.find_subcommand("record").unwrap();
        for option in OF_OTHERS.iter().flat_map(|(options, _)| *options) {
            let is_known = record.get_arguments().any(|arg| {
                arg.get_long().is_some_and(|long| *option == format!("--{long}"))
                    || arg.get_short().is_some_and(|short| *option == format!("-{short}"))
            });
            assert!(!is_known, "{option}");
        }
    }
}
