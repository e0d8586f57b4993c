//! Operations: from records to rows, to metrics, to the ledger.

use crate::synthetic::{LaneBuilder, MS, amounts, expected, header, log, noted, path, profile_of};
use proust_account::accounted;
use proust_account::ledger::{Account, PassiveReason};
use proust_log::layout::{Ending, LaneHeader, WAIT_PASSED};
use proust_log::operations::{Operation, Target};
use proust_log::records::{
    EVENT_LEFT, EVENT_PARTIAL, EVENT_TARGET_SHIFT, Event, Inside, Note, NoteCode, Release,
    SAMPLE_IN_OPERATION, Sample, Sum,
};
use proust_profile::{EventRow, LocationId, Metric, Ns, OperationId, Profile};

fn lane() -> LaneBuilder {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "m", 7, 0x40_0000).node(1, 0, 1, 0x105).node(2, 1, 1, 0x207).node(3, 1, 1, 0x309);
    lane
}

fn name(profile: &Profile, event: &EventRow) -> String {
    profile.operations[event.operation].name.clone()
}

fn nth(profile: &Profile, number: usize) -> EventRow {
    profile.events.iter().nth(number).unwrap()
}

/// Function called, its caller, begin, end and time in milliseconds.
fn told(profile: &Profile) -> Vec<(String, String, u64, u64, u64)> {
    let row = |event: EventRow| {
        let (begin, end, time) = (event.begin_ns / MS, event.end_ns / MS, event.time_ns / MS);
        (name(profile, &event), path(profile, event.context), begin, end, time)
    };
    profile.events.iter().map(row).collect()
}

fn row(operation: &str, caller: &str, begin: u64, end: u64, time: u64) -> (String, String, u64, u64, u64) {
    (operation.into(), caller.into(), begin, end, time)
}

#[test]
fn operations_become_rows_with_callers_and_metrics() {
    let mut lane = lane();
    lane.begin(10, 1000, 5);
    lane.event(Operation::MutexLock, (1010, 1030), 12, 2);
    lane.sum(Operation::MutexLock, (1000, 1040), 6, 3).sample(1040, 20, 1);
    lane.event_on(Operation::Read, Target::Pipe, (1045, 1055), 0, 3);
    lane.sum(Operation::Write, (1056, 1058), 1, 2).end(10, 1060, 30);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(
        told(&profile),
        [
            row("pthread_mutex_lock", "f1>f2@m.c:5>:7", 10, 30, 20),
            row("pthread_mutex_lock", "f1>f3@m.c:5>:9", 0, 40, 6),
            row("read", "f1>f3@m.c:5>:9", 45, 55, 10),
            row("write", "f1>f2@m.c:5>:7", 56, 58, 1),
        ]
    );
    let names: Vec<_> = profile.operations.iter().map(|operation| operation.name.as_str()).collect();
    assert_eq!(names, ["pthread_mutex_lock", "read", "write"]);
    // The CPU clock is counted from the thread's begin.
    let clocks: Vec<_> = profile.events.iter().map(|event| event.cpu_clock_ns).collect();
    assert_eq!(clocks, [Some(7 * MS), None, None, None]);
    assert_eq!((nth(&profile, 2).target.id(), nth(&profile, 0).object), ("pipe", 0x1000));
    assert_eq!(profile.quality.events, 22);
    let of = |metric| amounts(&profile, metric);
    assert_eq!(of(Metric::Waits), expected([("f1>f2@m.c:5>:7", 10, 1.0), ("f1>f3@m.c:5>:9", 10, 10.0)]));
    assert_eq!(of(Metric::IoCalls), expected([("f1>f3@m.c:5>:9", 10, 1.0), ("f1>f2@m.c:5>:7", 10, 10.0)]));
    assert_eq!(of(Metric::IoErrors), expected([("f1>f2@m.c:5>:7", 10, 1.0)]));
    assert_eq!(of(Metric::ReadBytes), expected([("f1>f3@m.c:5>:9", 10, 100.0)]));
    assert_eq!(of(Metric::WrittenBytes), expected([("f1>f2@m.c:5>:7", 10, 1000.0)]));
    // Operations take no CPU time from the samples.
    assert_eq!(amounts(&profile, Metric::Cpu), expected([("f1>:5", 10, 25.0)]));
}

#[test]
fn the_ledger_of_operations() {
    let mut lane = lane();
    lane.begin(10, 1000, 0);
    // 20 ms in a lock, 10 ms of 30 in a pipe read on the processor, 5 ms of short file writes.
    lane.event(Operation::MutexLock, (1010, 1030), 10, 2);
    lane.event_on(Operation::Read, Target::Pipe, (1030, 1060), 20, 3);
    lane.sum(Operation::Write, (1060, 1090), 5, 2);
    let inside = Sample { time_ns: 1090 * MS, cpu_ns: 50 * MS, node: 2, ..Default::default() };
    lane.push(SAMPLE_IN_OPERATION, &inside).sample(1100, 60, 1).end(10, 1100, 60);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(profile.samples.iter().filter(|row| row.in_operation).count(), 1);
    let ledger = accounted::ledger(&profile).unwrap();
    let one = &ledger.locations[0];
    let ms = |account: Account| one.accounts[account] / MS;
    assert_eq!((ms(Account::Lock), ms(Account::Io), ms(Account::Compute)), (20, 15, 45));
    assert_eq!((one.passive[PassiveReason::Pipe] / MS, one.passive.sum_ns() / MS), (20, 20));
    assert_eq!(ledger.residual_ns(), 0);
}

/// Their time is the outer ones': nothing else of the profile is different with them.
#[test]
fn operations_inside_others_are_rows_of_their_own_and_on_no_account() {
    let profile = |with_inside: bool| {
        let mut lane = lane();
        lane.begin(10, 1000, 0);
        lane.event(Operation::SignalSuspend, (1010, 1050), 10, 2);
        if with_inside {
            let inside = |node, since: u64, until: u64, calls| Inside {
                since_ns: since * MS,
                until_ns: until * MS,
                ns: 5 * MS,
                longest_ns: 2 * MS,
                bytes: 7,
                calls,
                errors: 1,
                node,
                ..Inside::default()
            };
            let (poll, outer) = (Operation::Poll as u16, Operation::SignalSuspend as u16);
            lane.push_head(poll, outer, &inside(3, 1012, 1040, 4));
            // Its caller is not known: it is the last one of the outer operation.
            lane.push_head(Operation::Write as u16, outer, &inside(0, 1013, 1020, 2));
            // Ended before it began, and more time than there was.
            lane.push_head(poll, outer, &inside(2, 1040, 1030, 1));
            lane.push_head(poll, outer, &inside(2, 1040, 1042, 1));
        }
        lane.sample(1060, 20, 1).end(10, 1100, 60);
        profile_of(&[log(header(9), &[lane])], None)
    };
    let (with, without) = (profile(true), profile(false));
    let rows: Vec<_> = with
        .inside
        .iter()
        .map(|row| {
            let name = |id: OperationId| with.operations[id].name.as_str();
            let (time, longest) = (row.time_ns / MS, row.longest_ns / MS);
            (name(row.outer), name(row.operation), path(&with, row.context), row.calls, time, longest)
        })
        .collect();
    let [here, there] = ["f1>f3@m.c:5>:9", "f1>f2@m.c:5>:7"].map(str::to_owned);
    assert_eq!(
        rows,
        [
            ("sigsuspend", "poll", here, 4, 5, 2),
            ("sigsuspend", "write", there.clone(), 2, 5, 2),
            ("sigsuspend", "poll", there, 1, 2, 2),
        ]
    );
    assert_eq!(told(&with), told(&without));
    let amounts = |profile: &Profile| {
        [Metric::Waits, Metric::IoCalls, Metric::WrittenBytes, Metric::Cpu]
            .map(|metric| amounts(profile, metric))
    };
    assert_eq!(amounts(&with), amounts(&without));
    let ledger = |profile: &Profile| accounted::ledger(profile).unwrap();
    assert_eq!(ledger(&with).residual_ns(), 0);
    assert_eq!(ledger(&with).accounts, ledger(&without).accounts);
}

#[test]
fn a_caller_that_was_not_looked_for_is_the_last_one_of_its_kind() {
    let mut lane = lane();
    lane.begin(10, 1000, 0);
    lane.sum(Operation::Write, (1000, 1005), 1, 0).sample(1005, 5, 1);
    lane.sum(Operation::Write, (1005, 1010), 1, 2).sample(1010, 10, 1);
    lane.sum(Operation::Write, (1010, 1015), 1, 0)
        .sum(Operation::Read, (1010, 1015), 1, 0)
        .sample(1015, 15, 1);
    // An operation that was told alone has its own caller or none.
    lane.event(Operation::Write, (1016, 1018), 0, 0).end(10, 1020, 18);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    let callers: Vec<_> =
        told(&profile).into_iter().map(|(operation, caller, ..)| (operation, caller)).collect();
    let pair = |operation: &str, caller: &str| (operation.to_owned(), caller.to_owned());
    assert_eq!(
        callers,
        [
            pair("write", "[no call path]"),
            pair("write", "f1>f2@m.c:5>:7"),
            pair("write", "f1>f2@m.c:5>:7"),
            pair("read", "[no call path]"),
            pair("write", "[no call path]"),
        ]
    );
}

#[test]
fn flags_and_partial_paths() {
    let mut lane = lane();
    lane.begin(10, 1000, 0);
    let event = Event { begin_ns: 1001 * MS, end_ns: 1002 * MS, node: 2, error: 11, ..Default::default() };
    let head = EVENT_LEFT | EVENT_PARTIAL | (Target::Socket as u16) << EVENT_TARGET_SHIFT;
    lane.push_head(Operation::Receive as u16, head, &event).end(10, 1010, 5);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    let row = &nth(&profile, 0);
    assert_eq!((row.left, row.errors, row.target.id()), (true, 1, "socket"));
    assert_eq!(path(&profile, row.context), "partial>f1>f2@m.c:5>:7");
}

/// A process that was killed with one thread in a wait while another still worked.
fn killed(waiting: LaneHeader) -> Profile {
    let mut first = lane();
    first.begin(10, 1000, 0).event(Operation::ConditionWait, (1010, 1015), 10, 3);
    first.header(LaneHeader { tid: 10, last_ns: 1000 * MS, ..waiting });
    let mut second = LaneBuilder::new(1);
    second.begin(11, 1000, 0).node(1, 0, 1, 0x300).sample(1400, 400, 1);
    second.header(LaneHeader { tid: 11, last_ns: 1400 * MS, last_cpu_ns: 400 * MS, ..Default::default() });
    let mut header = header(9);
    (header.ending, header.end_ns) = (Ending::Open as u32, 0);
    profile_of(&[log(header, &[first, second])], None)
}

#[test]
fn a_thread_that_was_killed_in_a_wait_was_in_it_to_the_end() {
    let header = LaneHeader {
        wait_operation: Operation::ConditionWait as u32,
        wait_since_ns: 1020 * MS,
        wait_object: 0x77,
        ..Default::default()
    };
    let profile = killed(header);
    // Its caller was not known; the last wait of its kind had one.
    assert_eq!(told(&profile)[1], row("pthread_cond_wait", "f1>f3@m.c:5>:9", 20, 400, 380));
    let open = &nth(&profile, 1);
    assert_eq!(
        (open.open, open.object, profile.locations[LocationId(0)].end.as_seconds()),
        (true, 0x77, 0.4)
    );
    let ledger = accounted::ledger(&profile).unwrap();
    assert_eq!(ledger.locations[0].passive[PassiveReason::Condition], 385 * MS);
    // With its node it is its own.
    let profile = killed(LaneHeader { wait_node: 2, ..header });
    assert_eq!(told(&profile)[1].1, "f1>f2@m.c:5>:7");
    // What has been recorded is not open any more.
    let profile = killed(LaneHeader { wait_since_ns: 1010 * MS, ..header });
    assert_eq!((profile.events.len(), profile.quality.implausible_records), (1, 0));
    // The last clock that was read says how much CPU time there was.
    assert_eq!(
        [profile.locations[LocationId(0)].cpu, profile.locations[LocationId(0)].end].map(Ns::as_seconds),
        [0.01, 0.015]
    );
}

#[test]
fn a_wait_that_was_over_when_the_thread_was_killed_is_as_long_as_it_was() {
    let header = LaneHeader {
        wait_operation: Operation::MutexLock as u32 | WAIT_PASSED,
        wait_since_ns: 1020 * MS,
        wait_passed_ns: 700_000,
        wait_node: 2,
        wait_object: 0x77,
        ..Default::default()
    };
    let profile = killed(header);
    let wait = &nth(&profile, 1);
    assert_eq!((wait.begin_ns, wait.time_ns, wait.object), (20 * MS, 700_000, 0x77));
    assert!(!wait.open && profile.quality.implausible_records == 0, "{wait:?}");
    assert_eq!(path(&profile, wait.context), "f1>f2@m.c:5>:7");
    assert_eq!(profile.locations[LocationId(0)].end.as_seconds(), 0.0207);
    // It was recorded just before.
    let profile = killed(LaneHeader { wait_since_ns: 1010 * MS, ..header });
    assert_eq!((profile.events.len(), profile.quality.implausible_records), (1, 0));
    // No operation, and later than anything that is known.
    for damaged in [
        LaneHeader { wait_operation: 0xffff | WAIT_PASSED, ..header },
        LaneHeader { wait_since_ns: u64::MAX - 5, ..header },
    ] {
        let profile = killed(damaged);
        assert_eq!((profile.events.len(), profile.quality.implausible_records), (1, 1));
    }
}

#[test]
fn what_contradicts_the_threads_other_records_is_clamped_or_dropped_and_counted() {
    let mut lane = lane();
    lane.begin(10, 1000, 50);
    lane.event(Operation::Join, (1010, 1020), 60, 1);
    // Overlaps the one before; ends before it begins; lies before the thread; is no operation.
    lane.event(Operation::Join, (1015, 1030), 0, 1).event(Operation::Join, (1050, 1040), 0, 1);
    lane.event(Operation::Join, (900, 950), 0, 1);
    lane.push(9999, &Event { begin_ns: 1031 * MS, end_ns: 1032 * MS, ..Default::default() });
    // A clock that goes back, and one ahead of the time that passed.
    lane.event(Operation::Join, (1040, 1041), 55, 1).event(Operation::Join, (1042, 1043), 999, 1);
    // More time than lies between, more errors than calls; nothing at all.
    let sum = Sum { since_ns: 1050 * MS, until_ns: 1060 * MS, ns: u64::MAX, ..Default::default() };
    lane.push(Operation::Write as u16, &Sum { calls: 2, errors: 5, ..sum });
    lane.push(Operation::Write as u16, &sum).end(10, 1100, 70);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(
        told(&profile),
        [
            row("pthread_join", "f1>:5", 10, 20, 10),
            row("pthread_join", "f1>:5", 20, 30, 10),
            row("pthread_join", "f1>:5", 40, 41, 1),
            row("pthread_join", "f1>:5", 42, 43, 1),
            row("write", "[no call path]", 50, 60, 10),
        ]
    );
    let clocks: Vec<_> = profile.events.iter().map(|event| event.cpu_clock_ns).collect();
    assert_eq!(clocks, [Some(10 * MS), None, None, None, None]);
    assert_eq!(nth(&profile, 4).errors, 2);
    assert_eq!(profile.quality.implausible_records, 8);
}

/// As a virtual machine's CPU clock does now and then, by some hundred nanoseconds.
#[test]
fn a_cpu_clock_that_goes_back_a_little_stands_still() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).event(Operation::Join, (1010, 1020), 5, 1);
    let event = Event { node: 1, begin_ns: 1030 * MS, end_ns: 1040 * MS, ..Default::default() };
    lane.push(Operation::Join as u16, &Event { cpu_ns: 5 * MS - 124, ..event });
    lane.event(Operation::Join, (1050, 1060), 6, 1).end(10, 1100, 10);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    let clocks: Vec<_> = profile.events.iter().map(|event| event.cpu_clock_ns).collect();
    assert_eq!(clocks, [Some(5 * MS), Some(5 * MS), Some(6 * MS)]);
    assert_eq!(profile.quality.implausible_records, 0);
}

#[test]
fn operations_before_the_first_sample_of_a_thread_whose_begin_was_lost() {
    let mut lane = lane();
    // Its CPU clock is not known yet, and then begins with the first one that is.
    lane.event(Operation::Join, (1010, 1020), 0, 2).sample(1040, 600, 1).sample(1050, 605, 1);
    lane.end(10, 1060, 606);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(amounts(&profile, Metric::Cpu), expected([("f1>:5", 10, 6.0)]));
    assert_eq!((profile.locations[LocationId(0)].start.as_seconds(), profile.events.len()), (0.01, 1));
    assert_eq!(profile.quality.implausible_records, 0);
}

#[test]
fn what_found_no_room_and_what_was_told_in_sums_is_said() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).sample(1005, 5, 1);
    lane.push(NoteCode::Coarsened as u16, &Note { time_ns: 1006 * MS, value: 250_000 });
    lane.push(NoteCode::CallsSummed as u16, &Note { time_ns: 1008 * MS, value: 1007 * MS });
    lane.end(10, 1010, 10);
    lane.header(LaneHeader {
        unrecorded_operations: 7,
        unrecorded_operation_ns: 1_500 * MS,
        ..Default::default()
    });
    let mut header = header(9);
    header.budget_exhausted = 1;
    let profile = profile_of(&[log(header, &[lane])], None);
    assert_eq!((profile.quality.dropped, profile.quality.events), (7, 0));
    // Operations are no samples: the rate is that of samples.
    assert!((profile.quality.delivered_rate - 1.0 / 0.01).abs() < 1e-6);
    assert!(noted(&profile, &["operations-unrecorded", "\"operations\":7,\"time_ns\":1500000000"]));
    assert!(noted(&profile, &["waits-in-sums", "\"below_ns\":250000"]), "{:?}", profile.quality.notes);
    let after_ns = format!("\"after_ns\":{}", 1007 * MS - header.start_ns);
    assert!(noted(&profile, &["calls-summed", &after_ns]), "{:?}", profile.quality.notes);
}

#[test]
fn releases_become_rows_with_the_place_of_acquisition() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(4, 0, 1, 0x40b);
    let release = Release {
        time_ns: 1030 * MS,
        object: 0x1000,
        held_ns: 20 * MS,
        weight_ns: 20 * MS,
        since_ns: 1010 * MS,
        node: 2,
        site: 4,
        ..Default::default()
    };
    lane.push(Operation::MutexUnlock as u16, &release);
    // A short section that stands for others, of which nothing but the length is known.
    let short = Release { time_ns: 1040 * MS, held_ns: 5000, weight_ns: 200_000, ..Default::default() };
    lane.push_head(Operation::FutexWake as u16, EVENT_PARTIAL, &Release { node: 3, ..short });
    // Before the thread; no release at all; more weight and a later begin than can be.
    lane.push(Operation::MutexUnlock as u16, &Release { time_ns: 900 * MS, ..release });
    lane.push(Operation::MutexLock as u16, &Release { time_ns: 1045 * MS, ..release });
    let absurd = Release { time_ns: 1050 * MS, weight_ns: u64::MAX, since_ns: 1060 * MS, ..release };
    lane.push(Operation::MutexUnlock as u16, &absurd).end(10, 1100, 50);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    let rows: Vec<_> = (profile.releases.iter())
        .map(|row| {
            let site = row.site.map(|site| path(&profile, site)).unwrap_or_default();
            let name = profile.operations[row.operation].name.as_str();
            (name, path(&profile, row.context), site, row.time_ns / MS, row.held_ns, row.weight_ns)
        })
        .collect();
    let (by, at) = ("f1>f2@m.c:5>:7".to_owned(), "f4>:11".to_owned());
    assert_eq!(
        rows,
        [
            ("pthread_mutex_unlock", by.clone(), at.clone(), 30, 20 * MS, 20 * MS),
            ("futex(FUTEX_WAKE)", "partial>f1>f3@m.c:5>:9".into(), String::new(), 40, 5000, 200_000),
            ("pthread_mutex_unlock", by, at, 50, 20 * MS, 20 * MS),
        ]
    );
    let since: Vec<_> = profile.releases.iter().map(|row| row.since_ns.map(|ns| ns / MS)).collect();
    assert_eq!(since, [Some(10), None, None]);
    assert_eq!(profile.quality.implausible_records, 3);
    // They are no operations, and take no time.
    assert_eq!((profile.events.len(), profile.quality.events), (0, 0));
}
