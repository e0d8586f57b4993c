//! The signals by which a user may ask a process for a sample, or to pause and to resume.
//!
//! Our handler takes the place of the signal's default action. So only signals may be chosen that nobody but
//! users and programs sends, and that nothing else is done with.

use proust_words::nearest::nearest;

/// Names of signals, their numbers, and what speaks against them.
const SIGNALS: [(&str, i32, Option<&str>); 31] = {
    const FAULT: Option<&str> = Some("the kernel sends it for faults of the program");
    const ENDS: Option<&str> = Some("it is there to end programs");
    const JOBS: Option<&str> =
        Some("shells stop and continue programs by it, or the kernel reports children");
    const KERNEL: Option<&str> = Some("the kernel sends it, too");
    const NEVER: Option<&str> = Some("no program can handle it");
    const OURS: Option<&str> = Some("Proust uses it to take samples");
    [
        ("HUP", libc::SIGHUP, ENDS),
        ("INT", libc::SIGINT, ENDS),
        ("QUIT", libc::SIGQUIT, ENDS),
        ("ILL", libc::SIGILL, FAULT),
        ("TRAP", libc::SIGTRAP, FAULT),
        ("ABRT", libc::SIGABRT, FAULT),
        ("BUS", libc::SIGBUS, FAULT),
        ("FPE", libc::SIGFPE, FAULT),
        ("KILL", libc::SIGKILL, NEVER),
        ("USR1", libc::SIGUSR1, None),
        ("SEGV", libc::SIGSEGV, FAULT),
        ("USR2", libc::SIGUSR2, None),
        ("PIPE", libc::SIGPIPE, KERNEL),
        ("ALRM", libc::SIGALRM, KERNEL),
        ("TERM", libc::SIGTERM, ENDS),
        ("STKFLT", libc::SIGSTKFLT, OURS),
        ("CHLD", libc::SIGCHLD, JOBS),
        ("CONT", libc::SIGCONT, JOBS),
        ("STOP", libc::SIGSTOP, NEVER),
        ("TSTP", libc::SIGTSTP, JOBS),
        ("TTIN", libc::SIGTTIN, JOBS),
        ("TTOU", libc::SIGTTOU, JOBS),
        ("URG", libc::SIGURG, OURS),
        ("XCPU", libc::SIGXCPU, KERNEL),
        ("XFSZ", libc::SIGXFSZ, KERNEL),
        ("VTALRM", libc::SIGVTALRM, KERNEL),
        ("PROF", libc::SIGPROF, KERNEL),
        ("WINCH", libc::SIGWINCH, KERNEL),
        ("IO", libc::SIGIO, KERNEL),
        ("PWR", libc::SIGPWR, None),
        ("SYS", libc::SIGSYS, FAULT),
    ]
};

/// The first and the last real-time signal, as the C library numbers them for programs.
const REAL_TIME: (i32, i32) = (34, 64);
/// Names that a message about an unknown one suggests.
const SUGGESTED: &str = "choose USR1, USR2, PWR, or RTMIN (34) to RTMIN+29 (63)";

/// Reads `USR1`, `SIGUSR1`, `10`, `RTMIN+3`; in any case of letters.
pub fn parse(text: &str) -> Result<u32, String> {
    let word = text.trim().to_ascii_uppercase();
    let word = word.strip_prefix("SIG").unwrap_or(&word);
    let number = match number(word) {
        Some(number) => number,
        None => {
            let alike = nearest(word, SIGNALS.iter().map(|(name, ..)| *name), 1);
            let meant = alike.first().map(|name| format!(", perhaps {name}")).unwrap_or_default();
            return Err(format!("there is no signal `{text}`{meant}; {SUGGESTED}"));
        }
    };
    let against = match number {
        64 => Some("Proust uses it to take samples where the program uses SIGURG"),
        32 | 33 => Some("the C library uses it"),
        _ => SIGNALS.iter().find(|(_, known, _)| *known == number).and_then(|(_, _, against)| *against),
    };
    match against {
        Some(why) => Err(format!("signal {number} cannot be used: {why}; {SUGGESTED}")),
        None => u32::try_from(number).map_err(|error| error.to_string()),
    }
}

fn number(word: &str) -> Option<i32> {
    let last = REAL_TIME.1;
    let real_time = |number: Option<i32>| number.filter(|number| (REAL_TIME.0..=last).contains(number));
    if let Ok(number) = word.parse::<i32>() {
        return (1..=last).contains(&number).then_some(number);
    }
    if let Some(rest) = word.strip_prefix("RTMIN") {
        let above: i32 = if rest.is_empty() { 0 } else { rest.strip_prefix('+')?.parse().ok()? };
        return real_time(above.checked_add(REAL_TIME.0));
    }
    if let Some(rest) = word.strip_prefix("RTMAX") {
        let below: i32 = if rest.is_empty() { 0 } else { rest.strip_prefix('-')?.parse().ok()? };
        return real_time(last.checked_sub(below));
    }
    SIGNALS.iter().find(|(name, ..)| *name == word).map(|(_, number, _)| *number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_have_names_and_numbers() {
        for (text, number) in [
            ("USR1", 10),
            ("SIGUSR1", 10),
            ("usr2", 12),
            ("12", 12),
            ("RTMIN", 34),
            ("SIGRTMIN+3", 37),
            ("rtmax-1", 63),
            ("PWR", 30),
        ] {
            assert_eq!(parse(text), Ok(number), "{text}");
        }
    }

    #[test]
    fn signals_that_mean_something_else_are_refused_with_the_reason() {
        for (text, why) in [
            ("KILL", "no program can handle it"),
            ("SIGSTOP", "no program can handle it"),
            ("URG", "take samples"),
            ("64", "take samples"),
            ("RTMAX", "take samples"),
            ("32", "the C library"),
            ("SEGV", "faults"),
            ("INT", "end programs"),
            ("CHLD", "children"),
            ("PROF", "the kernel sends it"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(why) && error.contains("choose USR1"), "{text}: {error}");
        }
        for text in
            ["", "USR", "SIG", "0", "-1", "65", "RTMIN-1", "RTMIN+31", "RTMAX+1", "USR1 USR2", "9999999999"]
        {
            let error = parse(text).unwrap_err();
            assert!(error.contains("there is no signal"), "{text}: {error}");
        }
        assert!(parse("USR3").unwrap_err().contains("perhaps USR"));
    }
}
