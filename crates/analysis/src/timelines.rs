//! From the samples of a profile to the timelines of states that the ledger is drawn up from.
//!
//! Between two rows of a thread its clocks say how much wall time and how much CPU time passed, not in which
//! order. The unexplained blocked part comes first and is passive for an unknown reason, the active part last:
//! a thread is sampled while it runs.

use proust_profile::{Location, Profile, SampleRow};

use crate::ledger::{
    Ledger, LedgerError, PassiveReason, Process, Processors, Run, Span, State, Timeline, Windows, Work,
};

/// What one page fault without I/O is taken to cost, ns. The kernel does not tell the time it spent in faults;
/// half to one microsecond is what servers and virtual machines of this decade need for a small page.
const FAULT_NS: u64 = 700;

/// The account of the whole run.
///
/// # Errors
/// When the profile's processes and locations contradict each other.
pub fn ledger(profile: &Profile) -> Result<Ledger, LedgerError> {
    ledger_within(profile, None, &Windows::all())
}

/// The account of the run within `windows`, on so many processors; None = those that the whole run really used,
/// whatever the windows.
///
/// # Errors
/// As [`ledger`].
pub fn ledger_within(
    profile: &Profile,
    processors: Option<u32>,
    windows: &Windows,
) -> Result<Ledger, LedgerError> {
    let run = timelines(profile);
    let processors = match processors {
        Some(total) => Processors::given(&run, total)?,
        None => Processors::measured(&run, &Windows::all())?,
    };
    Ledger::of(&run, &processors, windows)
}

/// The timelines of a profile's locations.
///
/// Waits are not recorded yet, so that no location ever waits here: blocked time is passive.
pub fn timelines(profile: &Profile) -> Run {
    let processes: Vec<Process> = profile
        .processes
        .iter()
        .enumerate()
        .map(|(id, process)| Process {
            parent: parent_of(profile, id).map(|parent| parent as u32),
            rank: process.rank,
            processor_set: Some(0),
            paused: Windows::default(),
            ..Process::new(id as u32, nanoseconds(process.start_s), nanoseconds(process.end_s))
        })
        .collect();
    let timelines = profile
        .locations
        .iter()
        .enumerate()
        .map(|(id, location)| Timeline {
            location: id as u32,
            process: location.process,
            service: location.service,
            spans: spans(location, rows_of(profile, id as u32)),
        })
        .collect();
    Run { processes, timelines, processor_sets: vec![profile.facts.available_processors] }
}

/// The rows of one location; they are sorted by location.
fn rows_of(profile: &Profile, location: u32) -> &[SampleRow] {
    let from = profile.samples.partition_point(|row| row.location < location);
    let to = profile.samples.partition_point(|row| row.location <= location);
    &profile.samples[from..to]
}

/// The process image that a process was started by: the last one of that number that began before it. An image
/// that began by exec continues the image with its own number.
fn parent_of(profile: &Profile, id: usize) -> Option<usize> {
    let child = &profile.processes[id];
    let last_before = |pid: u32| {
        let before = profile.processes.iter().enumerate().filter(|(other, process)| {
            *other != id
                && process.pid == pid
                && process.host == child.host
                && (process.start_s, *other) < (child.start_s, id)
        });
        before.max_by(|a, b| a.1.start_s.total_cmp(&b.1.start_s)).map(|(parent, _)| parent)
    };
    last_before(child.pid).or_else(|| last_before(child.parent_pid))
}

fn spans(location: &Location, rows: &[SampleRow]) -> Vec<Span> {
    let start_ns = nanoseconds(location.start_s);
    let end_ns = nanoseconds(location.end_s).max(start_ns);
    let gaps = gaps(start_ns, end_ns, rows);
    let queued_ns =
        share_out(nanoseconds(location.queued_s), &gaps.iter().map(Gap::queue_claim).collect::<Vec<_>>());
    // Faults cannot have taken more than the thread's whole system time.
    let system_ns: u64 = rows.iter().map(|row| row.system_ns).sum();
    let faults_ns: u64 = rows.iter().map(|row| u64::from(row.minor_faults) * FAULT_NS).sum();
    let fault_ns =
        share_out(faults_ns.min(system_ns), &gaps.iter().map(Gap::fault_claim).collect::<Vec<_>>());

    let mut spans = Vec::with_capacity(gaps.len() * 2 + 1);
    let mut from_ns = start_ns;
    for ((gap, queued_ns), fault_ns) in gaps.iter().zip(queued_ns).zip(fault_ns) {
        let active_ns = (gap.cpu_ns + queued_ns).min(gap.length_ns());
        let begin_ns = gap.end_ns - active_ns;
        if begin_ns > from_ns {
            spans.push(passive(from_ns, begin_ns, gap.context));
        }
        if active_ns > 0 {
            let span = Span::new(begin_ns, gap.end_ns, State::Working(Work::Compute), gap.context);
            spans.push(
                span.with(Work::Measurement, gap.measurement_ns.min(gap.cpu_ns))
                    .with(Work::Delayed, queued_ns)
                    .with(Work::Fault, fault_ns),
            );
        }
        from_ns = gap.end_ns;
    }
    if end_ns > from_ns {
        spans.push(passive(from_ns, end_ns, gaps.last().map_or(0, |gap| gap.context)));
    }
    spans
}

fn passive(start_ns: u64, end_ns: u64, context: u32) -> Span {
    Span::new(start_ns, end_ns, State::Passive(PassiveReason::Unknown), context)
}

/// What passed between two rows of a location.
struct Gap {
    start_ns: u64,
    end_ns: u64,
    cpu_ns: u64,
    measurement_ns: u64,
    switches: u64,
    faults: u64,
    context: u32,
}

impl Gap {
    fn length_ns(&self) -> u64 {
        self.end_ns - self.start_ns
    }

    fn blocked_ns(&self) -> u64 {
        self.length_ns().saturating_sub(self.cpu_ns)
    }

    /// A thread queues after it was woken or displaced: never where it did not switch, and never longer than it
    /// was off the processor.
    fn queue_claim(&self) -> Claim {
        Claim { weight: self.switches, most_ns: self.blocked_ns() }
    }

    fn fault_claim(&self) -> Claim {
        Claim { weight: self.faults, most_ns: self.cpu_ns.saturating_sub(self.measurement_ns) }
    }
}

fn gaps(start_ns: u64, end_ns: u64, rows: &[SampleRow]) -> Vec<Gap> {
    let mut gaps: Vec<Gap> = Vec::with_capacity(rows.len());
    let mut from_ns = start_ns;
    // CPU time that found no place in its own gap: two clocks are never read at the same instant.
    let mut owed_ns = 0;
    for row in rows {
        let to_ns = row.time_ns.clamp(from_ns, end_ns);
        let cpu_ns = (row.cpu_ns + owed_ns).min(to_ns - from_ns);
        owed_ns = row.cpu_ns + owed_ns - cpu_ns;
        gaps.push(Gap {
            start_ns: from_ns,
            end_ns: to_ns,
            cpu_ns,
            measurement_ns: row.measurement_ns,
            switches: u64::from(row.voluntary_switches) + u64::from(row.involuntary_switches),
            faults: u64::from(row.minor_faults),
            context: row.context,
        });
        from_ns = to_ns;
    }
    // What is still owed at the end was spent before: backwards, into the nearest room.
    for gap in gaps.iter_mut().rev() {
        let room_ns = gap.blocked_ns().min(owed_ns);
        gap.cpu_ns += room_ns;
        owed_ns -= room_ns;
    }
    gaps
}

/// What somebody may get of an amount.
struct Claim {
    weight: u64,
    most_ns: u64,
}

/// Shares an amount out by weight, nobody getting more than the most he may; what the weighted ones have no room
/// for goes to the others by their room.
fn share_out(amount_ns: u64, claims: &[Claim]) -> Vec<u64> {
    let mut given: Vec<u64> = vec![0; claims.len()];
    let mut left_ns = amount_ns;
    // Each round fills at least one claim or gives all but the rounding away.
    for round in 0..8 {
        let weight = |index: usize| match (round, &claims[index]) {
            (0..4, claim) => claim.weight,
            (_, claim) => claim.most_ns - given[index],
        };
        let open: Vec<(usize, u64)> = (0..claims.len())
            .filter(|&index| given[index] < claims[index].most_ns && weight(index) > 0)
            .map(|index| (index, weight(index)))
            .collect();
        let weights: u128 = open.iter().map(|&(_, weight)| u128::from(weight)).sum();
        if left_ns == 0 || weights == 0 {
            continue;
        }
        let before_ns = left_ns;
        for (index, weight) in open {
            let part = (u128::from(before_ns) * u128::from(weight) / weights) as u64;
            let part = part.min(claims[index].most_ns - given[index]).min(left_ns);
            given[index] += part;
            left_ns -= part;
        }
    }
    given
}

fn nanoseconds(seconds: f64) -> u64 {
    (seconds.max(0.0) * 1e9).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::Account;

    fn row(time_ms: u64, cpu_ms: u64) -> SampleRow {
        SampleRow { time_ns: time_ms * 1_000_000, cpu_ns: cpu_ms * 1_000_000, ..SampleRow::default() }
    }

    fn location(end_s: f64, queued_s: f64) -> Location {
        Location { end_s, queued_s, ..Location::default() }
    }

    fn states(spans: &[Span]) -> Vec<(u64, bool)> {
        let active = |span: &Span| matches!(span.state, State::Working(_));
        spans.iter().map(|span| (span.length_ns() / 1_000_000, active(span))).collect()
    }

    #[test]
    fn the_blocked_part_comes_first() {
        let spans = spans(&location(0.100, 0.0), &[row(10, 10), row(60, 20), row(90, 30)]);
        assert_eq!(states(&spans), [(10, true), (30, false), (20, true), (30, true), (10, false)]);
    }

    #[test]
    fn queueing_is_active_and_goes_where_the_thread_switched() {
        let mut woken = row(100, 10);
        woken.voluntary_switches = 3;
        let spans = spans(&location(0.200, 0.020), &[row(50, 10), woken, row(200, 100)]);
        assert_eq!(states(&spans), [(40, false), (10, true), (20, false), (30, true), (100, true)]);
        assert_eq!(spans[3].parts.get(Work::Delayed), 20_000_000);
    }

    #[test]
    fn faults_are_an_estimate_within_the_system_time() {
        let mut faulting = row(10, 10);
        faulting.minor_faults = 1000;
        faulting.system_ns = 300_000;
        let spans = spans(&location(0.010, 0.0), &[faulting]);
        assert_eq!(spans[0].parts.get(Work::Fault), 300_000);
    }

    #[test]
    fn time_is_never_invented_or_lost() {
        // More CPU than wall time in one row: the clocks are read one after the other.
        let rows = [row(20, 5), row(30, 12), row(30, 1), row(40, 10)];
        let spans = spans(&location(0.040, 0.5), &rows);
        assert_eq!(spans.iter().map(Span::length_ns).sum::<u64>(), 40_000_000);
        assert!(spans.windows(2).all(|pair| pair[0].end_ns == pair[1].start_ns));
    }

    #[test]
    fn the_ledger_of_two_threads_closes() {
        let thread = |tid| Location { tid, end_s: 1.0, cpu_s: 1.0, ..Location::default() };
        let at = |location, time_ms, cpu_ms| SampleRow { location, ..row(time_ms, cpu_ms) };
        let profile = Profile {
            processes: vec![proust_profile::Process { end_s: 1.0, ..Default::default() }],
            locations: vec![thread(1), thread(2)],
            samples: vec![at(0, 500, 500), at(0, 1000, 500), at(1, 500, 500), at(1, 1000, 0)],
            ..Profile::default()
        };
        let ledger = ledger(&profile).unwrap();
        assert_eq!(ledger.total_ns, 2_000_000_000);
        assert_eq!(ledger.accounts[Account::Compute], 1_500_000_000);
        assert_eq!(ledger.accounts[Account::Serial], 500_000_000);
        assert_eq!(ledger.residual_ns(), 0);
    }

    #[test]
    fn windows_and_given_processors_are_the_ledgers() {
        let at = |location, time_ms, cpu_ms| SampleRow { location, ..row(time_ms, cpu_ms) };
        let location = |tid| Location { tid, end_s: 1.0, ..Location::default() };
        let profile = Profile {
            processes: vec![proust_profile::Process { end_s: 1.0, ..Default::default() }],
            locations: vec![location(1), location(2)],
            samples: vec![at(0, 500, 500), at(0, 1000, 500), at(1, 500, 500), at(1, 1000, 0)],
            ..Profile::default()
        };
        let within = |from_ms: u64, to_ms: u64, processors| {
            let windows = Windows::between(from_ms * 1_000_000, to_ms * 1_000_000);
            let ledger = ledger_within(&profile, processors, &windows).unwrap();
            let ms = |ns: u64| ns / 1_000_000;
            assert_eq!(ledger.residual_ns(), 0);
            (ms(ledger.total_ns), ms(ledger.accounts[Account::Serial]), ms(ledger.beyond_ns))
        };
        // The run's two processors, though only one is busy in the second half.
        assert_eq!(within(400, 1000, None), (1200, 500, 0));
        assert_eq!(within(500, 1000, Some(4)), (2000, 1500, 0));
        assert_eq!(within(0, 1000, Some(1)), (1500, 0, 500));
        // One thread of two has no slots; both have.
        let whole = ledger(&profile).unwrap();
        let one = whole.part(|location| location == 0);
        assert_eq!((one.total_ns, one.residual_ns(), one.is_without_slots()), (1_000_000_000, 0, true));
        let both = whole.part(|_| true);
        assert_eq!((both.total_ns, both.accounts, both.slots), (whole.total_ns, whole.accounts, whole.slots));
    }

    #[test]
    fn images_of_one_process_follow_each_other() {
        let process = |pid, parent_pid, start_s| proust_profile::Process {
            pid,
            parent_pid,
            start_s,
            end_s: 9.0,
            ..Default::default()
        };
        let processes = vec![process(5, 1, 0.0), process(6, 5, 1.0), process(6, 5, 2.0), process(7, 6, 3.0)];
        let profile = Profile { processes, ..Profile::default() };
        let parents: Vec<_> = (0..4).map(|id| parent_of(&profile, id)).collect();
        assert_eq!(parents, [None, Some(0), Some(1), Some(2)]);
    }
}
