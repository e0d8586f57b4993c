//! Standard output: the result only. Pictures go into files.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// Writes the result of a command.
///
/// # Errors
/// When it cannot be written; a broken pipe among them.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Writes a picture into the file that the user named, and says so.
///
/// # Errors
/// When it cannot be written.
pub fn picture(path: &Path, picture: &str) -> Result<()> {
    fs::write(path, picture)
        .with_context(|| format!("the picture cannot be written to {}", path.display()))?;
    message!("the picture is in {}", path.display());
    Ok(())
}
