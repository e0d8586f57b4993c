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
/// before the run did, or after the command had ended.
pub(super) fn is_of_other_run(run: &RunFile, logs: &[LogHarvest]) -> bool {
    let on_host = logs.iter().filter(|log| !log.damage.header && process::host(log) == run.host);
    let begins = on_host.map(|log| {
        let monotonic = log.header.start_ns as f64 - process::monotonic_offset_ns(log) as f64;
        [monotonic / 1e9, log.header.start_unix_ns as f64 / 1e9]
    });
    let Some(first) = begins.min_by(|a, b| a[0].total_cmp(&b[0])) else { return false };
    let begin = [run.start_monotonic_ns as f64 / 1e9, run.start_unix_s];
    // The two clocks are read one after the other.
    const SLACK_S: f64 = 0.01;
    let is_before = (0..2).all(|clock| first[clock] < begin[clock] - SLACK_S);
    let is_behind = run
        .finished
        .is_some_and(|finished| (0..2).all(|clock| first[clock] > begin[clock] + finished.wall_s + SLACK_S));
    is_before || is_behind
}

#[cfg(test)]
mod tests {
    use super::*;

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
