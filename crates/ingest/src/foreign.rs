//! Files that were put into a run's folder from elsewhere: a log of another run, or its `run.json`.

use proust_log::layout::{EXTENSION, FileHeader, LOG_FOLDER};
use proust_profile::RunFile;

use super::log::LogHarvest;
use super::process;

/// How many names a process tries at most for its log, where others have taken them.
const NAMES_TRIED: u64 = 1000;

/// The process whose log this is, if its name says another one. A log is called `PID-START.plog`, the start
/// in nanoseconds; a name of any other form says nothing.
pub(super) fn owner(name: &str, header: &FileHeader) -> Option<u32> {
    let name = name.strip_prefix(LOG_FOLDER)?.strip_prefix('/')?;
    let (pid, start) = name.strip_suffix(EXTENSION)?.strip_suffix('.')?.split_once('-')?;
    let (pid, start_ns): (u32, u64) = (pid.parse().ok()?, start.parse().ok()?);
    let is_its_own =
        pid == header.pid && (header.start_ns..=header.start_ns + NAMES_TRIED).contains(&start_ns);
    (!is_its_own).then_some(header.pid)
}

/// Whether `run` was written for other processes than these: by both clocks the first one on its host began
/// before the run did, or after the command had ended, when there were logs already.
pub(super) fn is_of_other_run(run: &RunFile, logs: &[LogHarvest]) -> bool {
    let on_host = logs.iter().filter(|log| !log.damage.header && process::host(log) == run.host);
    let begins = on_host.map(|log| {
        let monotonic = log.header.start_ns as f64 - process::monotonic_offset_ns(log) as f64;
        [monotonic / 1e9, log.header.start_unix_ns as f64 / 1e9]
    });
    begins.min_by(|a, b| a[0].total_cmp(&b[0])).is_some_and(|first_s| contradicts(run, first_s))
}

/// The same of the instant at which the first process began, on CLOCK_MONOTONIC and by the clock of day, s.
fn contradicts(run: &RunFile, first_s: [f64; 2]) -> bool {
    if run.start_monotonic_ns == 0 {
        return false;
    }
    let begin_s = [run.start_monotonic_ns as f64 / 1e9, run.start_unix_s];
    // The two clocks are read one after the other, and runs may follow each other within some milliseconds.
    const SLACK_S: f64 = 0.002;
    let is_before = (0..2).all(|clock| first_s[clock] < begin_s[clock] - SLACK_S);
    let is_behind = |after_s: f64| (0..2).all(|clock| first_s[clock] > begin_s[clock] + after_s + SLACK_S);
    let had_logs = run.finished.filter(|finished| finished.logs.is_some_and(|logs| logs > 0));
    is_before || had_logs.is_some_and(|finished| is_behind(finished.wall_s))
}

#[cfg(test)]
mod tests {
    use proust_profile::run_file::Finished;

    use super::*;

    #[test]
    fn a_run_file_fits_processes_that_began_while_its_command_ran() {
        let finished = |logs| Finished { wall_s: 5.0, logs: Some(logs), ..Finished::default() };
        let run = |logs| RunFile {
            start_monotonic_ns: 100_000_000_000,
            start_unix_s: 9000.0,
            finished: Some(finished(logs)),
            ..RunFile::default()
        };
        assert!(!contradicts(&run(1), [100.001, 9000.001]));
        assert!(contradicts(&run(1), [99.0, 8999.0]), "of an earlier run");
        assert!(contradicts(&run(1), [106.0, 9006.0]), "of a later one");
        assert!(!contradicts(&run(1), [106.0, 9001.0]), "the clock of day was set");
        assert!(!contradicts(&run(0), [106.0, 9006.0]), "a process that its command left behind");
        assert!(!contradicts(&RunFile { finished: None, ..run(1) }, [106.0, 9006.0]));
    }

    #[test]
    fn a_name_says_whose_log_it_is() {
        let header = FileHeader { pid: 7, start_ns: 100, ..FileHeader::default() };
        for (name, expected) in [
            ("log/7-100.plog", None),
            // Names were taken.
            ("log/7-103.plog", None),
            ("log/8-100.plog", Some(7)),
            ("log/7-99.plog", Some(7)),
            ("log/7-99999.plog", Some(7)),
            ("log/7.plog", None),
            ("log/copy-of-7-100.plog", None),
        ] {
            assert_eq!(owner(name, &header), expected, "{name}");
        }
    }
}
