//! Standard output: the result only. Pictures go into files.

use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use anyhow::{Context, Result};

/// So much is written at once.
const PIECE_BYTES: usize = 1 << 16;

/// Writes the result of a command.
///
/// # Errors
/// When it cannot be written; a broken pipe among them.
pub fn print(text: &str) -> io::Result<()> {
    print_with(|out| out.write_all(text.as_bytes()))
}

/// As [`print()`], for a result that is written piece by piece.
///
/// # Errors
/// When it cannot be written; a broken pipe among them.
pub fn print_with(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    // Standard output itself hands on each line.
    let mut out = BufWriter::with_capacity(PIECE_BYTES, io::stdout().lock());
    write(&mut out)?;
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
