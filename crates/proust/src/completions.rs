//! `proust completions`: writes what makes a shell ask for completions.

use std::process::ExitCode;

use anyhow::Result;
use clap::Args;
use clap_complete::Shell;
use clap_complete::env::Shells;

use crate::{completing, output};

/// Arguments of `proust completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
The script has the shell call `proust` for what can follow: pages, metrics, runs here, and the
contexts, functions, locks, intervals and findings of a run that was analysed before. It belongs to
this version of `proust`.

Examples:
  proust completions bash > ~/.local/share/bash-completion/completions/proust
  proust completions fish > ~/.config/fish/completions/proust.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Writes the script of a shell.
///
/// # Errors
/// When it cannot be written.
pub fn run(args: &CompletionsArgs) -> Result<ExitCode> {
    output::print(&String::from_utf8_lossy(&script(args.shell)?))?;
    Ok(ExitCode::SUCCESS)
}

fn script(shell: Shell) -> Result<Vec<u8>> {
    let shells = Shells::builtins();
    let shell = shells.completer(&shell.to_string()).expect("all shells of the command line are known");
    let mut script = Vec::new();
    shell.write_registration(completing::ASKED, "proust", "proust", "proust", &mut script)?;
    Ok(script)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use clap::{CommandFactory, ValueEnum};
    use clap_complete::engine::complete;

    use super::*;
    use crate::cli::Cli;

    /// What completes the last of these words.
    fn completed(words: &[&str]) -> Vec<String> {
        let line: Vec<OsString> = ["proust"].iter().chain(words).map(OsString::from).collect();
        let last = line.len() - 1;
        let found = complete(&mut Cli::command(), line, last, None).unwrap();
        found.into_iter().map(|one| one.get_value().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn pages_metrics_orders_and_groupings_complete() {
        assert_eq!(completed(&["report", "tim"]), ["timeline"]);
        assert_eq!(completed(&["report", "degr"]), ["degradation"]);
        assert!(
            completed(&["report", "--metrics", "cpu_s,caused_ba"]).contains(&"cpu_s,caused_barrier_s".into())
        );
        assert!(completed(&["report", "--sort", "na"]).contains(&"name".into()));
        assert_eq!(completed(&["report", "--by", "mod"]), ["module"]);
        assert_eq!(completed(&["diff", "a", "b", "thr"]), ["threads"]);
        assert_eq!(completed(&["export", "flame"]), ["flamegraph"]);
        assert_eq!(completed(&["report", "--where", "thread=1 and func"]), ["thread=1 and function="]);
        assert!(completed(&["explain", "convo"]).contains(&"convoy".into()));
    }

    #[test]
    fn every_shell_has_a_script_that_asks() {
        for shell in Shell::value_variants() {
            let script = String::from_utf8(script(*shell).unwrap()).unwrap();
            assert!(script.contains(completing::ASKED), "{shell}: {script}");
        }
    }
}
