//! One time base for all logs.
//!
//! CLOCK_MONOTONIC counts from the boot of its host: logs of one host share it, but for what a time namespace
//! adds. Hosts whose clocks were compared by messages, at the begin and end of MPI, are brought to the clock
//! of rank 0's host by that ([`HostLine`]); others by the difference of their clocks of day.

use std::collections::BTreeMap;

use proust_log::records::{CLOCK_AT_END, CLOCK_REFERENCE, ClockOffset};
use proust_profile::{ClockBasis, HostClock, Ns};

use super::log::LogHarvest;
use super::process;

/// Clocks of computers differ in speed by less than this; what looks like more is an error of a comparison.
const MOST_DRIFT: f64 = 200e-6;

/// From each log's CLOCK_MONOTONIC to nanoseconds since the run's start.
#[derive(Debug)]
pub(super) struct RunClock {
    /// Per log: how far its clock is ahead of its host's, and which host that is.
    logs: Vec<(i128, usize)>,
    hosts: Vec<String>,
    lines: Vec<HostLine>,
    qualities: Vec<HostClock>,
    /// The run's start by the clock that all are brought to.
    origin: i128,
}

/// What is added to a host's clock: at `at_ns` of it `shift_ns`, and `drift` for each nanosecond since.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct HostLine {
    at_ns: i128,
    shift_ns: i128,
    drift: f64,
}

impl HostLine {
    fn at(&self, host_ns: i128) -> i128 {
        let drifted = if self.drift == 0.0 { 0.0 } else { (host_ns - self.at_ns) as f64 * self.drift };
        host_ns + self.shift_ns + drifted as i128
    }
}

/// A comparison of two hosts' clocks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Comparison {
    own_ns: i128,
    reference_ns: i128,
    round_trip_ns: u64,
}

impl Comparison {
    /// What is to be added to the host's clock, between these two.
    fn bounds(&self) -> (i128, i128) {
        let (shift, half) = (self.shift_ns(), i128::from(self.round_trip_ns / 2));
        (shift - half, shift + half)
    }

    fn shift_ns(&self) -> i128 {
        self.reference_ns - self.own_ns
    }
}

/// The line through two comparisons: without drift if both admit that; where they differ by more than clocks
/// do, only the better one counts. Also the error, ns: half of the longer round trip that counts.
fn line(begin: Comparison, end: Option<Comparison>) -> (HostLine, u64) {
    let constant = |one: Comparison| {
        let line = HostLine { at_ns: one.own_ns, shift_ns: one.shift_ns(), drift: 0.0 };
        (line, one.round_trip_ns / 2)
    };
    let Some(end) = end.filter(|end| end.own_ns > begin.own_ns) else { return constant(begin) };
    let (of_begin, of_end) = (begin.bounds(), end.bounds());
    let common = (of_begin.0.max(of_end.0), of_begin.1.min(of_end.1));
    if common.0 <= common.1 {
        let shift_ns = common.0.midpoint(common.1);
        let line = HostLine { at_ns: begin.own_ns, shift_ns, drift: 0.0 };
        return (line, ((common.1 - common.0) / 2) as u64);
    }
    let drift = (end.shift_ns() - begin.shift_ns()) as f64 / (end.own_ns - begin.own_ns) as f64;
    if drift.abs() <= MOST_DRIFT {
        let line = HostLine { at_ns: begin.own_ns, shift_ns: begin.shift_ns(), drift };
        return (line, begin.round_trip_ns.max(end.round_trip_ns) / 2);
    }
    constant(if end.round_trip_ns < begin.round_trip_ns { end } else { begin })
}

/// The comparisons in all logs, by the clocks of hosts.
struct Comparisons<'l> {
    /// The log, the flags, what it says.
    all: Vec<(usize, u16, ClockOffset)>,
    of_logs: &'l [(i128, usize)],
}

impl<'l> Comparisons<'l> {
    fn of(logs: &[LogHarvest], of_logs: &'l [(i128, usize)]) -> Comparisons<'l> {
        let of_log = |(number, log): (usize, &LogHarvest)| -> Vec<(usize, u16, ClockOffset)> {
            let offsets = log.lanes.iter().flat_map(|lane| lane.mpi.clock_offsets());
            offsets.map(|&(flags, offset)| (number, flags, offset)).collect()
        };
        Comparisons { all: logs.iter().enumerate().flat_map(of_log).collect(), of_logs }
    }

    fn references(&self) -> impl Iterator<Item = &(usize, u16, ClockOffset)> {
        self.all.iter().filter(|(_, flags, _)| flags & CLOCK_REFERENCE != 0)
    }

    /// The host of the clock that others were compared with.
    fn reference_host(&self) -> Option<usize> {
        self.references().next().map(|(log, ..)| self.of_logs[*log].1)
    }

    /// Those of a host with the clock of `home`, at the begin or at the end of MPI. What a comparison was
    /// with is the last reference before it.
    fn between(&self, host: usize, home: usize, at_end: u16) -> impl Iterator<Item = Comparison> {
        let is_at = move |flags: u16| flags & CLOCK_AT_END == at_end;
        let of_host = move |(log, flags, _): &&(usize, u16, ClockOffset)| {
            self.of_logs[*log].1 == host && flags & CLOCK_REFERENCE == 0 && is_at(*flags)
        };
        self.all.iter().filter(of_host).filter_map(move |(log, _, offset)| {
            let before = self
                .references()
                .filter(|(_, flags, reference)| is_at(*flags) && reference.own_ns <= offset.reference_ns);
            let (reference, ..) = before.max_by_key(|(.., reference)| reference.own_ns)?;
            (self.of_logs[*reference].1 == home).then(|| Comparison {
                own_ns: i128::from(offset.own_ns) - self.of_logs[*log].0,
                reference_ns: i128::from(offset.reference_ns) - self.of_logs[*reference].0,
                round_trip_ns: offset.round_trip_ns,
            })
        })
    }
}

impl RunClock {
    pub(super) fn of(logs: &[LogHarvest]) -> RunClock {
        let mut names: Vec<String> = logs.iter().map(process::host).collect();
        let first = names.iter().find(|host| !host.is_empty()).cloned().unwrap_or_default();
        for host in names.iter_mut().filter(|host| host.is_empty()) {
            host.clone_from(&first);
        }
        let mut hosts: Vec<String> = Vec::new();
        let of_logs: Vec<(i128, usize)> = (logs.iter().zip(&names))
            .map(|(log, name)| {
                let host = hosts.iter().position(|host| host == name).unwrap_or_else(|| {
                    hosts.push(name.clone());
                    hosts.len() - 1
                });
                (process::monotonic_offset_ns(log).into(), host)
            })
            .collect();
        let comparisons = Comparisons::of(logs, &of_logs);
        let home = comparisons.reference_host().unwrap_or(0);
        let boots = boots(logs, &of_logs);
        let mut lines: Vec<HostLine> = Vec::with_capacity(hosts.len());
        let mut qualities: Vec<HostClock> = Vec::with_capacity(hosts.len());
        for (number, name) in hosts.iter().enumerate() {
            let begin = comparisons.between(number, home, 0).next();
            let end = comparisons.between(number, home, CLOCK_AT_END).last();
            let (basis, line, error_ns) = match begin.or(end) {
                _ if number == home => (ClockBasis::Reference, HostLine::default(), None),
                Some(begin) => {
                    let (line, error_ns) = line(begin, end);
                    (ClockBasis::Messages, line, Some(error_ns))
                }
                None => {
                    let boot = |host: usize| boots.get(&host).copied();
                    let shift_ns = boot(number).zip(boot(home)).map_or(0, |(own, home)| own - home);
                    (ClockBasis::ClockOfDay, HostLine { shift_ns, ..HostLine::default() }, None)
                }
            };
            qualities.push(HostClock {
                host: name.clone(),
                basis,
                shift_ns: in_range(line.shift_ns),
                drift_ppb: (line.drift * 1e9).round() as i64,
                error_ns,
            });
            lines.push(line);
        }
        let mut clock = RunClock { logs: of_logs, hosts, lines, qualities, origin: 0 };
        let starts = |intact_only: bool| {
            let logs = logs.iter().enumerate().filter(move |(_, log)| !(intact_only && log.damage.header));
            logs.map(|(number, log)| clock.common_ns(number, log.start_ns())).min()
        };
        clock.origin = starts(true).or_else(|| starts(false)).unwrap_or(0);
        clock
    }

    /// By the clock that all are brought to.
    fn common_ns(&self, log: usize, time_ns: u64) -> i128 {
        let (offset, host) = self.logs.get(log).copied().unwrap_or_default();
        let host_ns = i128::from(time_ns) - offset;
        self.lines.get(host).map_or(host_ns, |line| line.at(host_ns))
    }

    /// Nanoseconds since the run's start at `time_ns` of log number `log`; 0 before it.
    pub(super) fn since_start_ns(&self, log: usize, time_ns: u64) -> u64 {
        // Beyond 292 years it is damage, and only has to stay in range.
        in_range(self.common_ns(log, time_ns) - self.origin).max(0) as u64
    }

    /// The same at `time_ns` of the first log's host, in the clock of the recorder there.
    pub(super) fn of_host_ns(&self, time_ns: u64) -> u64 {
        let host_ns = i128::from(time_ns);
        let host = self.logs.first().map_or(0, |(_, host)| *host);
        let common_ns = self.lines.get(host).map_or(host_ns, |line| line.at(host_ns));
        in_range(common_ns - self.origin).max(0) as u64
    }

    /// The same as a time.
    pub(super) fn since_start(&self, log: usize, time_ns: u64) -> Ns {
        Ns::of(self.since_start_ns(log, time_ns))
    }

    /// The host of log number `log`.
    pub(super) fn host(&self, log: usize) -> &str {
        self.logs.get(log).and_then(|(_, host)| self.hosts.get(*host)).map_or("", String::as_str)
    }

    /// How the clocks of the hosts were brought to one; empty of a run on one host.
    pub(super) fn qualities(&self) -> &[HostClock] {
        if self.hosts.len() > 1 { &self.qualities } else { &[] }
    }
}

fn in_range(ns: i128) -> i64 {
    ns.clamp(i64::MIN.into(), i64::MAX.into()) as i64
}

/// When each host was booted, by its clock of day. One log of each decides for all of it, so that a step of
/// the clock of day during the run does not move the processes of one host against each other.
fn boots(logs: &[LogHarvest], of_logs: &[(i128, usize)]) -> BTreeMap<usize, i128> {
    let mut boots = BTreeMap::new();
    for (log, (offset, host)) in logs.iter().zip(of_logs).filter(|(log, _)| !log.damage.header) {
        let boot = i128::from(log.header.start_unix_ns) - i128::from(log.header.start_ns) + offset;
        boots.entry(*host).or_insert(boot);
    }
    boots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(own_ns: i128, shift_ns: i128, round_trip_ns: u64) -> Comparison {
        Comparison { own_ns, reference_ns: own_ns + shift_ns, round_trip_ns }
    }

    const S: i128 = 1_000_000_000;

    #[test]
    fn no_drift_is_assumed_where_none_is_seen() {
        let (one, error_ns) = line(at(S, 5_000, 200), Some(at(11 * S, 5_150, 100)));
        assert_eq!((one, error_ns), (HostLine { at_ns: S, shift_ns: 5_100, drift: 0.0 }, 0));
        assert_eq!(one.at(7 * S), 7 * S + 5_100);
        let (one, error_ns) = line(at(S, 5_000, 200), None);
        assert_eq!((one.shift_ns, one.drift, error_ns), (5_000, 0.0, 100));
    }

    #[test]
    fn drift_is_interpolated_as_far_as_clocks_have_any() {
        // 50 µs in 10 s: 5 ppm.
        let (one, error_ns) = line(at(S, -7_000, 1_000), Some(at(11 * S, 43_000, 600)));
        assert!((one.drift - 5e-6).abs() < 1e-12);
        assert_eq!((one.at(S), one.at(6 * S), one.at(11 * S)), (S - 7_000, 6 * S + 18_000, 11 * S + 43_000));
        assert_eq!(error_ns, 500);
        // 4 ms in 10 s is an error of the second one, which took long.
        let (one, error_ns) = line(at(S, -7_000, 1_000), Some(at(11 * S, 4_000_000, 4_000)));
        assert_eq!((one.shift_ns, one.drift, error_ns), (-7_000, 0.0, 500));
        // The second one is the better one.
        let (one, _) = line(at(S, -7_000, 9_000), Some(at(11 * S, 4_000_000, 4_000)));
        assert_eq!((one.shift_ns, one.drift), (4_000_000, 0.0));
        // By its clock it was before: damage.
        let (one, _) = line(at(S, -7_000, 1_000), Some(at(S / 2, 9_000, 100)));
        assert_eq!((one.shift_ns, one.drift), (-7_000, 0.0));
    }

    #[test]
    fn time_never_goes_back() {
        for drift in [-MOST_DRIFT, -1e-6, 3e-6, MOST_DRIFT] {
            let line = HostLine { at_ns: 5_000, shift_ns: -3, drift };
            let times: Vec<i128> = (0..20_000).map(|time_ns| line.at(time_ns)).collect();
            assert!(times.windows(2).all(|pair| pair[0] <= pair[1]));
        }
    }
}
