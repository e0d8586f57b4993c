//! Messages on standard error: progress, notes, errors. A reader that is gone, or a full disk behind
//! `2>FILE`, must not end a command, least of all one that records another program.

use std::fmt::Arguments;
use std::io::{self, Write};

/// Prints a line on standard error, after the name of this program.
macro_rules! message {
    ($($text:tt)*) => { $crate::message::line(format_args!($($text)*)) };
}

/// Prints a line on standard error, after the name of this program.
pub fn line(text: Arguments<'_>) {
    // In one piece: no output of other processes gets in between.
    block(&format!("proust: {text}\n"));
}

/// Prints lines on standard error as they are.
pub fn block(text: &str) {
    // There is no other place where a failure could be reported.
    let _ = io::stderr().lock().write_all(text.as_bytes());
}
