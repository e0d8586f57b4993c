//! Locations of which there are samples only.

use super::*;
use crate::accounted::{ledger, ledger_within};
use crate::ledger::PartKind;
use crate::ledger::Windows;
use proust_profile::{ContextId, LocationId, Ns, ProcessId};

fn states(spans: &[Span]) -> Vec<(u64, bool)> {
    let active = |span: &Span| matches!(span.state, State::Working(_));
    spans.iter().map(|span| (span.length_ns() / MS, active(span))).collect()
}

#[test]
fn the_blocked_part_comes_first() {
    let spans = spans_within(&location(100, 0), &[row(10, 10), row(60, 20), row(90, 30)], &[]);
    assert_eq!(states(&spans), [(10, true), (30, false), (20, true), (30, true), (10, false)]);
}

#[test]
fn queueing_is_active_and_goes_where_the_thread_switched() {
    let mut woken = row(100, 10);
    woken.voluntary_switches = 3;
    let rows = [uncounted(50, 10), woken, uncounted(200, 100)];
    let spans = spans_within(&location(200, 20), &rows, &[]);
    assert_eq!(states(&spans), [(40, false), (10, true), (20, false), (30, true), (100, true)]);
    assert_eq!(spans[3].parts.get(PartKind::Delayed), 20 * MS);
}

/// Both halves look alike; what was queued is known to be of the first one, and not to be of the second.
#[test]
fn what_was_queued_until_the_scheduler_was_asked_is_placed_there() {
    let asked = |row: SampleRow, ms: u32| SampleRow { queued_us: 1000 * ms, voluntary_switches: 2, ..row };
    let delayed = |rows: &[SampleRow], queued_ms| -> Vec<u64> {
        let spans = spans_within(&location(200, queued_ms), rows, &[]);
        let of = |from, to| {
            let within = spans.iter().filter(|span| (from..to).contains(&(span.start_ns / MS)));
            within.map(|span| span.parts.get(PartKind::Delayed) / MS).sum()
        };
        vec![of(0, 100), of(100, 200)]
    };
    let (first, second) = (row(100, 40), row(200, 40));
    let nothing_read = [first, second].map(|row| SampleRow { voluntary_switches: 2, ..row });
    assert_eq!(delayed(&nothing_read, 40), [20, 20]);
    assert_eq!(delayed(&[asked(first, 40), asked(second, 0)], 40), [40, 0]);
    assert_eq!(delayed(&[asked(first, 10), asked(second, 30)], 40), [10, 30]);
    // Time after the last reading, or without room before it, is anywhere.
    assert_eq!(delayed(&[asked(first, 40), nothing_read[1]], 50), [45, 5]);
    assert_eq!(delayed(&[asked(first, 80), asked(second, 0)], 80), [60, 20]);
}

#[test]
fn who_was_displaced_and_never_blocked_was_runnable() {
    // Nothing was read of the run queue. In the second row the thread also blocked: that is not known.
    let displaced = SampleRow { involuntary_switches: 2, voluntary_switches: 0, ..row(50, 30) };
    let blocked = SampleRow { involuntary_switches: 2, voluntary_switches: 1, ..row(100, 40) };
    let spans = spans_within(&location(100, 0), &[displaced, blocked], &[]);
    assert_eq!(lengths(&spans), [(50, COMPUTE), (10, UNKNOWN), (40, COMPUTE)]);
    assert_eq!(spans[0].parts.get(PartKind::Delayed), 20 * MS);
    // The delay read beyond that is elsewhere.
    let spans = spans_within(&location(100, 25), &[displaced, blocked], &[]);
    assert_eq!(lengths(&spans), [(50, COMPUTE), (5, UNKNOWN), (45, COMPUTE)]);
}

#[test]
fn from_who_never_switched_the_processor_was_stolen() {
    let constant = SampleRow { voluntary_switches: 0, ..row(50, 30) };
    let spans = spans_within(&location(100, 10), &[constant, row(100, 30)], &[]);
    // A thread that never switched was not in the run queue: the delay that was read belongs to the second
    // row.
    assert_eq!(lengths(&spans), [(50, COMPUTE), (10, UNKNOWN), (40, COMPUTE)]);
    assert_eq!(spans[0].parts.get(PartKind::Delayed), 20 * MS);
    assert_eq!(spans[2].parts.get(PartKind::Delayed), 10 * MS);
}

/// Two threads of which the first computed for 30 ms, was blocked or not for 10 ms in the first row, and for
/// as long in the second, in which it did not switch; the second thread slept but for 5 ms of its 100. All
/// off time in ms, and whether it was runnable.
fn off_time(stolen_ms: Option<u64>) -> [(u64, u64); 2] {
    let constant = |row| SampleRow { voluntary_switches: 0, ..row };
    let of = |location, row: SampleRow| SampleRow { location, ..row };
    let samples = vec![
        of(LocationId(0), row(20, 10)),
        of(LocationId(0), constant(row(50, 20))),
        of(LocationId(1), row(100, 5)),
    ];
    let threads = [(50, 30), (100, 5)]
        .map(|(end_ms, cpu_ms)| Location { cpu: Ns::of(cpu_ms * MS), ..location(end_ms, 0) });
    let mut profile = profile(threads.into(), samples, vec![]);
    profile.facts.stolen = stolen_ms.map(|ms| Ns::of(ms * MS));
    let run = timelines(&profile);
    [0, 1].map(|thread| {
        let spans = &run.timelines[thread].spans;
        let passive = spans.iter().filter(|span| span.state == State::Passive(PassiveReason::Unknown));
        let queued_ns: u64 = spans.iter().map(|span| span.parts.get(PartKind::Delayed)).sum();
        (passive.map(Span::length_ns).sum::<u64>() / MS, queued_ns / MS)
    })
}

#[test]
fn what_was_stolen_goes_to_who_computed_and_never_more_than_was_stolen() {
    // What is certain needs no count.
    assert_eq!(off_time(None), [(10, 10), (95, 0)]);
    assert_eq!(off_time(Some(10)), [(10, 10), (95, 0)]);
    // Of 7 ms more, six parts of seven are the first thread's: it computed six times as much.
    assert_eq!(off_time(Some(17)), [(4, 16), (94, 1)]);
    // Its room is full then.
    assert_eq!(off_time(Some(40)), [(0, 20), (75, 20)]);
}

#[test]
fn faults_are_an_estimate_within_the_system_time() {
    let mut faulting = row(10, 10);
    faulting.minor_faults = 1000;
    faulting.system_ns = 300_000;
    let spans = spans_within(&location(10, 0), &[faulting], &[]);
    assert_eq!(spans[0].parts.get(PartKind::Fault), 300_000);
}

#[test]
fn time_is_never_invented_or_lost() {
    // More CPU than wall time in one row: the clocks are read one after the other.
    let rows = [row(20, 5), row(30, 12), row(30, 1), row(40, 10)];
    let spans = spans_within(&location(40, 500), &rows, &[]);
    assert_eq!(spans.iter().map(Span::length_ns).sum::<u64>(), 40 * MS);
}

#[test]
fn time_of_lost_records_is_measured_but_nobody_knows_its_use() {
    let lost = SampleRow { context: ContextId(4), tail: true, ..row(20, 20) };
    let spans = spans_within(&location(30, 0), &[row(10, 10), lost, row(30, 10)], &[]);
    let unattributed = State::Working(Work::Unattributed);
    assert_eq!(lengths(&spans), [(10, COMPUTE), (10, unattributed), (10, COMPUTE)]);
}

#[test]
fn the_ledger_of_two_threads_closes() {
    let thread = |tid| Location { tid, cpu: Ns::of(1000 * MS), ..location(1000, 0) };
    let at = |location, time_ms, cpu_ms| SampleRow { location, ..row(time_ms, cpu_ms) };
    let samples = vec![
        at(LocationId(0), 500, 500),
        at(LocationId(0), 1000, 500),
        at(LocationId(1), 500, 500),
        at(LocationId(1), 1000, 0),
    ];
    let ledger = ledger(&profile(vec![thread(1), thread(2)], samples, vec![])).unwrap();
    assert_eq!(ledger.total_ns, 2_000_000_000);
    assert_eq!(ledger.accounts[Account::Compute], 1_500_000_000);
    assert_eq!(ledger.accounts[Account::Serial], 500_000_000);
    assert_eq!(ledger.residual_ns(), 0);
}

#[test]
fn windows_and_given_processors_are_the_ledgers() {
    let at = |location, time_ms, cpu_ms| SampleRow { location, ..row(time_ms, cpu_ms) };
    let location = |tid| Location { tid, ..location(1000, 0) };
    let samples = vec![
        at(LocationId(0), 500, 500),
        at(LocationId(0), 1000, 500),
        at(LocationId(1), 500, 500),
        at(LocationId(1), 1000, 0),
    ];
    let profile = profile(vec![location(1), location(2)], samples, vec![]);
    let within = |from_ms: u64, to_ms: u64, processors| {
        let windows = Windows::between(from_ms * MS, to_ms * MS);
        let ledger = ledger_within(&profile, processors, &windows).unwrap();
        let ms = |ns: u64| ns / MS;
        assert_eq!(ledger.residual_ns(), 0);
        (ms(ledger.total_ns), ms(ledger.accounts[Account::Serial]), ms(ledger.beyond_ns))
    };
    // The run's two processors, though only one is busy in the second half.
    assert_eq!(within(400, 1000, None), (1200, 500, 0));
    assert_eq!(within(500, 1000, Some(4)), (2000, 1500, 0));
    assert_eq!(within(0, 1000, Some(1)), (1000, 0, 500));
    // One thread of two has no slots; both have.
    let whole = ledger(&profile).unwrap();
    let one = whole.part(|location| location == LocationId(0));
    assert_eq!((one.total_ns, one.residual_ns(), one.is_without_slots()), (1_000_000_000, 0, true));
    let both = whole.part(|_| true);
    assert_eq!((both.total_ns, both.accounts, both.slots), (whole.total_ns, whole.accounts, whole.slots));
}

#[test]
fn images_of_one_process_follow_each_other() {
    let process = |pid, parent_pid, start| proust_profile::Process {
        pid,
        parent_pid,
        start: Ns::new(start),
        end: Ns::new(9),
        ..Default::default()
    };
    let processes = vec![process(5, 1, 0), process(6, 5, 1), process(6, 5, 2), process(7, 6, 3)];
    let profile = Profile { processes: processes.into(), ..Profile::default() };
    let parents: Vec<_> = (0..4).map(|id| Parents::of(&profile).of_image(ProcessId(id))).collect();
    assert_eq!(parents, [None, Some(ProcessId(0)), Some(ProcessId(1)), Some(ProcessId(2))]);
}
