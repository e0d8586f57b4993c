//! `proust man`: writes the manual page.

use std::process::ExitCode;

use anyhow::Result;
use clap::Command;
use clap_mangen::Man;

use crate::output;

/// Writes the manual page, and after it a part for each subcommand.
///
/// # Errors
/// When it cannot be written.
pub fn run(mut command: Command) -> Result<ExitCode> {
    let mut page = Vec::new();
    command.build();
    Man::new(command.clone()).render(&mut page)?;
    for subcommand in command.get_subcommands().filter(|subcommand| !subcommand.is_hide_set()) {
        let part = Man::new(subcommand.clone());
        page.extend(format!(".SH \"PROUST {}\"\n", subcommand.get_name().to_uppercase()).bytes());
        part.render_synopsis_section(&mut page)?;
        part.render_description_section(&mut page)?;
        part.render_options_section(&mut page)?;
        part.render_extra_section(&mut page)?;
    }
    output::print(&String::from_utf8_lossy(&page))?;
    Ok(ExitCode::SUCCESS)
}
