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
pub fn run(args: &CompletionsArgs, mut command: Command) -> Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "proust", &mut script);
    output::print(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}
