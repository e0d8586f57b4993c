//! `proust schema`: writes the JSON Schema of all pages.

use std::process::ExitCode;

use anyhow::Result;
use proust_report::json_schema_text;

use crate::output;

/// What stands below the options in help.
pub const HELP: &str = "\
In `$defs` are the pages by the command that writes them, such as `report tree` and `diff flat`; in
`metrics` what columns count, with units.

Example:
  proust schema | jq '.[\"$defs\"] | keys'";

/// Writes it.
///
/// # Errors
/// When it cannot be written.
pub fn run() -> Result<ExitCode> {
    output::print(&json_schema_text())?;
    Ok(ExitCode::SUCCESS)
}
