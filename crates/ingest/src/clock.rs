//! One time base for all logs.
//!
//! CLOCK_MONOTONIC counts from the boot of its host: logs of one host share it, but for what a time namespace
//! adds; logs of others are moved by the difference of the hosts' clocks of day.

use std::collections::BTreeMap;

use super::log::LogHarvest;
use super::process;
use super::seconds::seconds;

/// From each log's CLOCK_MONOTONIC to nanoseconds since the run's start.
#[derive(Debug)]
pub(super) struct RunClock {
    /// Per log: what is added.
    shifts: Vec<i64>,
    /// The same for the clock of the first log's host itself, whatever a time namespace adds.
    of_host: i64,
    /// Per log: its host.
    hosts: Vec<String>,
    host_count: usize,
}

impl RunClock {
    pub(super) fn of(logs: &[LogHarvest]) -> RunClock {
        let mut hosts: Vec<String> = logs.iter().map(process::host).collect();
        let home = hosts.iter().find(|host| !host.is_empty()).cloned().unwrap_or_default();
        for host in hosts.iter_mut().filter(|host| host.is_empty()) {
            host.clone_from(&home);
        }
        let offsets: Vec<i128> = logs.iter().map(|log| process::monotonic_offset_ns(log).into()).collect();
        // One log of each host decides for all of it, so that a step of the clock of day during the run
        // does not move the processes of one host against each other.
        let mut boots: BTreeMap<&str, i128> = BTreeMap::new();
        let intact = logs.iter().zip(&hosts).zip(&offsets).filter(|((log, _), _)| !log.damage.header);
        for ((log, host), offset) in intact {
            let boot = i128::from(log.header.start_unix_ns) - i128::from(log.header.start_ns) + offset;
            boots.entry(host).or_insert(boot);
        }
        let home_boot = boots.get(home.as_str()).copied().unwrap_or(0);
        let to_home = |host: &str| boots.get(host).map_or(0, |boot| boot - home_boot);
        let starts = |intact_only: bool| {
            let logs = logs.iter().zip(&hosts).zip(&offsets);
            let logs = logs.filter(move |((log, _), _)| !(intact_only && log.damage.header));
            logs.map(|((log, host), offset)| i128::from(log.start_ns()) - offset + to_home(host)).min()
        };
        let origin = starts(true).or_else(|| starts(false)).unwrap_or(0);
        let shift = |(host, offset): (&String, &i128)| to_home(host) - origin - offset;
        // Beyond 292 years it is damage, and only has to stay in range.
        let in_range = |shift: i128| shift.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        let shifts = hosts.iter().zip(&offsets).map(shift).map(in_range).collect();
        let of_host = in_range(-origin);
        let host_count = hosts.iter().collect::<std::collections::BTreeSet<_>>().len();
        RunClock { shifts, of_host, hosts, host_count }
    }

    /// Nanoseconds since the run's start at `time_ns` of log number `log`; 0 before it.
    pub(super) fn since_start_ns(&self, log: usize, time_ns: u64) -> u64 {
        let shift = self.shifts.get(log).copied().unwrap_or(0);
        i64::try_from(time_ns).unwrap_or(i64::MAX).saturating_add(shift).max(0) as u64
    }

    /// The same at `time_ns` of the first log's host, in the clock of the recorder there.
    pub(super) fn of_host_ns(&self, time_ns: u64) -> u64 {
        i64::try_from(time_ns).unwrap_or(i64::MAX).saturating_add(self.of_host).max(0) as u64
    }

    /// The same in seconds.
    pub(super) fn since_start_s(&self, log: usize, time_ns: u64) -> f64 {
        seconds(self.since_start_ns(log, time_ns))
    }

    /// The host of log number `log`.
    pub(super) fn host(&self, log: usize) -> &str {
        self.hosts.get(log).map_or("", String::as_str)
    }

    /// Number of hosts.
    pub(super) fn host_count(&self) -> usize {
        self.host_count
    }
}
