//! Which process launched a job's ranks, and when it began: what was recorded before is not of that job.
//!
//! Launchers may give all their jobs one name, as hydra does, which starts the ranks of MPICH.

use std::fs;
use std::time::{SystemTime, UNIX_EPOCH};

use proust_profile::run_file::LauncherProcess;
use rustix::param::clock_ticks_per_second;

use crate::clock::since_boot_ns;

/// Ancestors that are looked at: scripts around a rank are few.
const MOST_ANCESTORS: usize = 64;
/// By so much the clock of day may have been moved since a run began.
const CLOCK_SLACK_S: f64 = 1.0;
/// By so much the clocks of day of two hosts may differ.
const HOSTS_SLACK_S: f64 = 60.0;

/// The process that launched this one's rank.
#[derive(Clone, Copy, Debug)]
pub struct Launcher {
    /// Which.
    pub process: LauncherProcess,
    /// It did not begin before, by the clock of day.
    pub earliest_unix_s: f64,
    /// It had begun then: the kernel counts the begins of processes in ticks.
    pub latest_unix_s: f64,
}

/// A run that is found: which process launched its ranks, and its begin and end by the clock of day.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// Whether it was begun on this host.
    pub is_of_this_host: bool,
    /// The launcher on the host on which it was begun; None where that is not known.
    pub launcher: Option<LauncherProcess>,
    /// When it was begun.
    pub start_unix_s: f64,
    /// When it ended; None = it goes on, or its recorder was killed.
    pub end_unix_s: Option<f64>,
}

impl Recorded {
    /// Whether the launcher starts ranks of a later job. On the run's host the launcher of its own job began
    /// before it, and a job may have several there; on another host it may begin a little later.
    pub fn is_before(&self, launcher: &Launcher) -> bool {
        let is_after = |time_s: f64, slack_s: f64| launcher.earliest_unix_s > time_s + slack_s;
        if !self.is_of_this_host {
            return self.end_unix_s.is_some_and(|end_s| is_after(end_s, HOSTS_SLACK_S));
        }
        if self.launcher == Some(launcher.process) {
            return false;
        }
        let is_at_end = self.end_unix_s.is_some_and(|end_s| launcher.latest_unix_s > end_s);
        is_after(self.start_unix_s, CLOCK_SLACK_S)
            || self.end_unix_s.is_some_and(|end_s| is_after(end_s, 0.0))
            || self.launcher.is_some() && is_at_end
    }
}

/// The launcher of this rank: the nearest ancestor without the variable that numbers ranks. None where that
/// cannot be read.
pub fn of_rank(rank_variable: &str) -> Option<Launcher> {
    let mut pid = std::os::unix::process::parent_id();
    for _ in 0..MOST_ANCESTORS {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        let (parent, start_ticks) = parent_and_start(&stat)?;
        if !names(&fs::read(format!("/proc/{pid}/environ")).ok()?, rank_variable) {
            let ticks_per_s = clock_ticks_per_second();
            let age_s = since_boot_ns() as f64 / 1e9 - start_ticks as f64 / ticks_per_s as f64;
            let now_s = SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs_f64();
            let earliest_unix_s = now_s - age_s;
            return (ticks_per_s > 0).then_some(Launcher {
                process: LauncherProcess { pid, start_ticks },
                earliest_unix_s,
                latest_unix_s: earliest_unix_s + 1.0 / ticks_per_s as f64,
            });
        }
        pid = parent;
    }
    None
}

/// The parent and the begin, in ticks since the boot (proc(5), fields 4 and 22). The name of a program may
/// hold parentheses and spaces.
fn parent_and_start(stat: &str) -> Option<(u32, u64)> {
    let (_, behind_name) = stat.rsplit_once(')')?;
    let mut words = behind_name.split_ascii_whitespace();
    let parent = words.nth(1)?.parse().ok()?;
    Some((parent, words.nth(17)?.parse().ok()?))
}

/// Whether an environment has a variable.
fn names(environment: &[u8], variable: &str) -> bool {
    environment
        .split(|&byte| byte == 0)
        .any(|entry| entry.strip_prefix(variable.as_bytes()).is_some_and(|rest| rest.starts_with(b"=")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parent_and_begin_are_read_behind_any_name() {
        let stat = "77 (a) b (c)) S 12 77 77 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 4711 9 9 9";
        assert_eq!(parent_and_start(stat), Some((12, 4711)));
        assert_eq!(parent_and_start("77 (a) S 12"), None);
        assert_eq!(parent_and_start(""), None);
    }

    #[test]
    fn a_variable_is_found_by_its_whole_name() {
        let environment = b"A=1\0PMI_RANK=0\0OLD_PMI_RANK=1\0";
        assert!(names(environment, "PMI_RANK") && names(environment, "A"));
        assert!(!names(environment, "PMI") && !names(environment, "RANK") && !names(b"", "A"));
    }

    /// The test's own parent has no such variable: it is the launcher, and began before now.
    #[test]
    fn a_launcher_began_before_its_ranks() {
        let now_s = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs_f64();
        let launcher = of_rank("NO_LAUNCHER_SETS_THIS").unwrap();
        assert_eq!(launcher.process.pid, std::os::unix::process::parent_id());
        assert!(launcher.process.start_ticks > 0);
        assert!(launcher.earliest_unix_s <= now_s + 0.02 && launcher.earliest_unix_s > 0.0, "{launcher:?}");
        assert!(launcher.latest_unix_s > launcher.earliest_unix_s);
    }

    /// One of another process than the run's own.
    fn began(earliest_unix_s: f64) -> Launcher {
        let process = LauncherProcess { pid: 8, start_ticks: 3 };
        Launcher { process, earliest_unix_s, latest_unix_s: earliest_unix_s + 0.01 }
    }

    #[test]
    fn what_began_before_the_launcher_is_another_job() {
        let here = Recorded {
            is_of_this_host: true,
            launcher: Some(LauncherProcess { pid: 7, start_ticks: 3 }),
            start_unix_s: 100.0,
            end_unix_s: Some(100.2),
        };
        assert!(!here.is_before(&began(99.9)) && !here.is_before(&began(100.1)));
        assert!(here.is_before(&began(100.3)));
        let open = Recorded { end_unix_s: None, ..here };
        assert!(!open.is_before(&began(100.9)) && open.is_before(&began(101.1)));
        let elsewhere = Recorded { is_of_this_host: false, ..here };
        assert!(!elsewhere.is_before(&began(130.0)) && elsewhere.is_before(&began(170.0)));
        assert!(!Recorded { end_unix_s: None, ..elsewhere }.is_before(&began(170.0)));
    }

    #[test]
    fn of_launchers_that_began_in_the_tick_of_the_end_the_own_one_is_known() {
        let own = began(100.195);
        let run = Recorded {
            is_of_this_host: true,
            launcher: Some(own.process),
            start_unix_s: 100.0,
            end_unix_s: Some(100.2),
        };
        assert!(!run.is_before(&own) && !run.is_before(&began(102.0)));
        let other = Some(LauncherProcess { pid: 7, start_ticks: 3 });
        assert!(Recorded { launcher: other, ..run }.is_before(&own));
        assert!(!Recorded { launcher: other, ..run }.is_before(&began(100.18)));
        // Nothing is known of the run's launcher: that it began in the same tick is possible.
        assert!(!Recorded { launcher: None, ..run }.is_before(&own));
    }
}
