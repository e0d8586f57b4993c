//! `proust completions`: writes completions for a shell.

use std::process::ExitCode;

use anyhow::Result;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::output;

/// Arguments of `proust completions`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  proust completions bash > ~/.local/share/bash-completion/completions/proust
  proust completions fish > ~/.config/fish/completions/proust.fish")]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// Writes completions of this command line.
///
/// # Errors
/// When they cannot be written.
pub fn run(args: &CompletionsArgs, command: Command) -> Result<ExitCode> {
    let script = written(args.shell, command);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

fn written(shell: Shell, mut command: Command) -> Vec<u8> {
    // Zsh completes either words or files there, and folders of runs are longer to type.
    if shell == Shell::Zsh {
        for name in ["report", "diff", "export"] {
            command = command.mut_subcommand(name, |of| {
                of.mut_arg("words", |words| words.value_parser(clap::value_parser!(String)))
            });
        }
    }
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut command, "proust", &mut script);
    script
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;
    use crate::cli::Cli;

    fn script(shell: Shell) -> String {
        String::from_utf8(written(shell, Cli::command())).unwrap()
    }

    #[test]
    fn pages_metrics_and_orders_complete() {
        let bash = script(Shell::Bash);
        let words: Vec<&str> = bash.split([' ', '"']).collect();
        for word in ["degradation", "timeline", "lock_s", "caused_barrier_s"] {
            assert!(words.contains(&word), "{word}");
        }
        for shell in [Shell::Fish, Shell::Zsh] {
            assert!(script(shell).contains("caused_barrier_s"), "{shell}");
        }
    }

    #[test]
    fn zsh_still_completes_folders_of_runs() {
        let zsh = script(Shell::Zsh);
        let words: Vec<&str> = zsh.lines().filter(|line| line.contains("::words")).collect();
        assert_eq!(words.len(), 4, "report, diff, export and explain");
        assert!(words.iter().all(|line| line.contains(":_default'")), "{words:?}");
    }
}
