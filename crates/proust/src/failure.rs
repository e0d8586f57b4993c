//! How a failure is reported, and which exit code it gets.

use std::io;
use std::process::ExitCode;

use proust_compare::diff::LimitError;
use proust_query::FilterError;
use proust_report::ReportError;

/// Exit code: the command line is wrong.
pub const USAGE: u8 = 2;
/// Exit code: the data are incomplete, under `--strict`.
pub const INCOMPLETE: u8 = 3;
/// Exit code: a limit of `diff --fail-if` is exceeded.
pub const EXCEEDED: u8 = 4;

/// The command line is wrong in a way that the parser of options cannot know.
#[derive(Debug)]
pub struct WrongUsage(pub String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// Reports a failure on standard error; its exit code.
pub fn tell(error: &anyhow::Error) -> ExitCode {
    let broken_pipe = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if error.chain().any(|cause| cause.downcast_ref::<io::Error>().is_some_and(broken_pipe)) {
        // The reader has seen enough (`proust report | head`): nothing went wrong.
        return ExitCode::SUCCESS;
    }
    message!("{}", in_words(error));
    ExitCode::from(if is_usage(error) { USAGE } else { 1 })
}

/// An error with its causes. Many name theirs already: a message is not repeated.
fn in_words(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_usage(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause.is::<WrongUsage>()
            || cause.is::<FilterError>()
            || cause.is::<LimitError>()
            || matches!(cause.downcast_ref::<ReportError>(), Some(ReportError::Usage(_)))
    })
}
