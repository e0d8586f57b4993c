//! How the command ended, in words.

use proust_profile::RunFile;
use proust_profile::facts::NOT_ENDED;

/// Names of the signals that end programs, by number on Linux (x86-64 and aarch64).
const SIGNALS: [(i32, &str); 20] = [
    (1, "SIGHUP"),
    (2, "SIGINT"),
    (3, "SIGQUIT"),
    (4, "SIGILL"),
    (5, "SIGTRAP"),
    (6, "SIGABRT"),
    (7, "SIGBUS"),
    (8, "SIGFPE"),
    (9, "SIGKILL"),
    (10, "SIGUSR1"),
    (11, "SIGSEGV"),
    (12, "SIGUSR2"),
    (13, "SIGPIPE"),
    (14, "SIGALRM"),
    (15, "SIGTERM"),
    (16, "SIGSTKFLT"),
    (24, "SIGXCPU"),
    (25, "SIGXFSZ"),
    (26, "SIGVTALRM"),
    (31, "SIGSYS"),
];

/// `exit N`, `signal N (NAME)`, [`NOT_ENDED`], or `unknown`.
pub(super) fn outcome(run: Option<&RunFile>) -> String {
    if run.is_some_and(|run| run.finished.is_none()) {
        return NOT_ENDED.into();
    }
    let finished = run.and_then(|run| run.finished);
    match finished.map(|finished| (finished.signal, finished.exit_code)) {
        Some((Some(signal), _)) => match SIGNALS.iter().find(|(number, _)| *number == signal) {
            Some((_, name)) => format!("signal {signal} ({name})"),
            None => format!("signal {signal}"),
        },
        Some((None, Some(code))) => format!("exit {code}"),
        _ => "unknown".into(),
    }
}
