//! Standard output: the result only.

use std::io::{self, Write};

/// Writes the result of a command.
///
/// # Errors
/// When it cannot be written; a broken pipe among them.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}
