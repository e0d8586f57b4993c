//! `proust run`: records a command and shows where its time went.

use std::process::ExitCode;

use proust_report::Question;

use crate::record::{self, Attempt, FAILED, RecordArgs};
use crate::{failure, report};

/// What stands below the options in help.
pub const HELP: &str = "\
The summary follows the command's own output on standard output. To keep them apart, use
`proust record -- CMD` and then `proust report`.

Examples:
  proust run -- ./solve --size 1000
  proust run -o before.proust -- make -j4

The exit code is the command's, as of `proust record`.";

/// Records a run and shows its summary; the exit code is the command's.
pub fn run(args: &RecordArgs) -> ExitCode {
    let (status, told) = match record::attempt(args) {
        Attempt::Refused(code) => return code,
        Attempt::Ended(status, told) => (status, told),
    };
    record::heed_signals();
    let mut reported = ExitCode::SUCCESS;
    if let Some(told) = told {
        told.tell(args.quiet);
        if told.processes > 0 {
            let question = Question { dir: told.dir.to_string_lossy().into_owned(), ..Question::default() };
            reported = match report::show(&told.dir, &question) {
                Ok(()) => ExitCode::SUCCESS,
                Err(error) => failure::tell(&error),
            };
        }
    }
    if status.success() && reported != ExitCode::SUCCESS {
        return ExitCode::from(FAILED);
    }
    record::end_like(status)
}
