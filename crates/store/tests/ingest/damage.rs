//! Whatever is damaged: no panic, and every account of CPU time still agrees with every other.

use crate::synthetic::{LaneBuilder, MS, assert_consistent, header, log, names};
use proptest::prelude::*;
use proust_account::accounted;
use proust_account::ledger::{Account, IoAs};
use proust_ingest::{Counter, LogBytes, ingest_logs};
use proust_log::layout::{FileHeader, HEADER_BYTES, LaneHeader};
use proust_log::operations::{Operation, Target};
use proust_log::records::{
    Child, Event, Execution, ExecutionSum, Inside, Interval, Node, Note, Region, Release, Sample, SchedStat,
    Segments, Stay, Subject, Sum, ThreadBegin, ThreadEnd, Trials, Unmatched,
};
use proust_profile::{Quality, RunFacts};

/// A log with all kinds of records: three lanes, threads that follow each other, one that never ends.
fn rich() -> Vec<u8> {
    let mut lanes = Vec::new();
    for number in 0..3_u32 {
        let mut lane = LaneBuilder::new(number);
        lane.module(number + 1, "m", 7, 0x1000).text(Subject::Host, 0, "h").text(Subject::Argument, 0, "a");
        for thread in 0..3_u64 {
            let tid = 10 + number;
            let start = 1000 + thread * 100;
            lane.begin(tid, start, 0).text(Subject::ThreadName, tid, "t").text(Subject::ThreadName, 11, "u");
            for i in 1..=12_u64 {
                let id = (thread * 12 + i) as u32;
                lane.node(id, id - 1, 1 + id % 4, 0x100 * u64::from(id % 5 + 1) + 3);
                let at = start + i * 5;
                lane.event(Operation::MutexLock, (at - 5, at - 4), 0, id);
                lane.event_on(Operation::Read, Target::Pipe, (at - 4, at - 3), i * 3 - 2, id);
                let release = Release {
                    time_ns: at * MS - MS * 9 / 2,
                    object: 0x1000,
                    held_ns: i * MS,
                    weight_ns: i * MS,
                    node: id,
                    site: 1,
                    ..Default::default()
                };
                lane.push(Operation::MutexUnlock as u16, &release);
                lane.sum(Operation::Write, (at - 3, at - 1), 1, if i % 2 == 0 { id } else { 0 });
                lane.push(
                    (i % 5) as u16,
                    &Sample {
                        time_ns: (start + i * 5) * MS,
                        cpu_ns: i * 3 * MS,
                        node: id,
                        own_ns: 5000,
                        user_us: 2000,
                        system_us: 1000,
                        minor_faults: 1,
                        processor: 2,
                        ..Default::default()
                    },
                );
            }
            lane.push(0, &SchedStat { queued_ns: thread * MS, ..Default::default() });
            lane.push(1, &Child { pid: 77, ..Default::default() }).push(1, &Note::default());
            if number != 2 || thread != 2 {
                lane.end(tid, start + 70, 40);
            }
        }
        lane.header(LaneHeader {
            tid: if number == 2 { 12 } else { 0 },
            last_ns: 1270 * MS,
            last_cpu_ns: 40 * MS,
            final_ns: 1300 * MS,
            final_cpu_ns: 41 * MS,
            unrecorded_cpu_ns: MS,
            wait_operation: Operation::ConditionWait as u32,
            wait_since_ns: 1280 * MS,
            wait_node: 3,
            unrecorded_operations: 4,
            ..Default::default()
        });
        lanes.push(lane);
    }
    log(FileHeader { process_cpu_end_ns: 400 * MS, ..header(9) }, &lanes)
}

/// Reads logs that may be damaged in any way; an error is fine, a contradiction is not.
fn read(logs: &[&[u8]]) {
    let logs: Vec<LogBytes<'_>> = logs.iter().map(|bytes| LogBytes::alone("log/x.plog", Ok(bytes))).collect();
    if let Ok(profile) = ingest_logs("run", &logs, None, &names, &Counter::default()) {
        assert_consistent(&profile);
        assert!(profile.quality.delivered_rate.is_finite());
        // Whatever the records say, every nanosecond is on one account.
        if let Ok(ledger) = accounted::ledger(&profile) {
            assert_eq!(ledger.residual_ns(), 0);
            // Whatever was lost has a cause.
            let caused: u64 = ledger.caused.iter().map(|row| row.ns).sum();
            let lost = ledger.lost_ns(IoAs::Productive) + ledger.beyond.lost_ns(IoAs::Productive);
            assert_eq!(caused + ledger.accounts[Account::Idle], lost);
        }
        // What is not finite could not be kept.
        let text = serde_json::to_string(&(&profile.facts, &profile.quality)).unwrap();
        let kept = serde_json::from_str::<(RunFacts, Quality)>(&text);
        let is_kept = kept.is_ok_and(|(facts, quality)| {
            let optional = |facts: &RunFacts| (facts.stolen.is_some(), facts.throttled.is_some());
            optional(&facts) == optional(&profile.facts) && quality.notes.len() == profile.quality.notes.len()
        });
        assert!(is_kept, "{text}");
    }
}

#[test]
fn an_intact_log_and_every_truncation_of_it() {
    let bytes = rich();
    read(&[&bytes]);
    // Coprime to the record sizes: meets every phase of them.
    for length in (0..bytes.len()).step_by(211) {
        read(&[&bytes[..length], &bytes]);
    }
}

/// Any record with any numbers, all checks right: what a collector with defects, or chance, might write.
#[derive(Clone, Debug)]
enum Anything {
    Begin(u16, ThreadBegin),
    End(ThreadEnd),
    Node(Node),
    Sample(u16, Sample),
    Stat(SchedStat),
    Event(u16, u16, Event),
    Sum(u16, u16, Sum),
    Inside(u16, u16, Inside),
    Release(u16, u16, Release),
    Region(u16, Region),
    Stay(u16, u16, Stay),
    Interval(u16, Interval),
    Execution(u16, Execution),
    ExecutionSum(ExecutionSum),
    Unmatched(Unmatched),
    Segments(u16, Segments),
    Text(u32, String),
}

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(u64::MAX), any::<u64>(), (900..1200_u64).prop_map(|ms| ms * MS), 0..200 * MS]
}

fn small() -> impl Strategy<Value = u32> {
    prop_oneof![0..6_u32, any::<u32>(), Just(u32::MAX), Just(u32::MAX - 1)]
}

fn anything() -> impl Strategy<Value = Anything> {
    prop_oneof![
        (any::<u16>(), number(), number(), small(), small(), any::<u32>()).prop_map(
            |(origin, time_ns, cpu_ns, tid, start_node, queued_us)| {
                let parent_tid = 0;
                Anything::Begin(
                    origin,
                    ThreadBegin { time_ns, cpu_ns, tid, parent_tid, start_node, queued_us },
                )
            }
        ),
        (proptest::array::uniform6(number()), small(), any::<[u32; 6]>()).prop_map(
            |(numbers, tid, counts)| {
                Anything::End(ThreadEnd {
                    time_ns: numbers[0],
                    cpu_ns: numbers[1],
                    own_ns: numbers[2],
                    overruns: numbers[3],
                    unrecorded_samples: numbers[4],
                    unrecorded_cpu_ns: numbers[5],
                    user_us: counts[0],
                    system_us: counts[1],
                    minor_faults: counts[2],
                    major_faults: counts[3],
                    voluntary_switches: counts[4],
                    involuntary_switches: counts[5],
                    tid,
                    closed_by_other: 0,
                })
            }
        ),
        (small(), small(), small(), number()).prop_map(|(id, parent, module, address)| {
            Anything::Node(Node { id, parent, module, reserved: 0, address })
        }),
        (0..8_u16, number(), number(), small(), any::<[u32; 4]>(), any::<[u16; 5]>()).prop_map(
            |(flags, time_ns, cpu_ns, node, large, counts)| {
                Anything::Sample(
                    flags,
                    Sample {
                        time_ns,
                        cpu_ns,
                        node,
                        own_ns: large[0],
                        user_us: large[1],
                        system_us: large[2],
                        minor_faults: large[3],
                        major_faults: counts[0],
                        voluntary_switches: counts[1],
                        involuntary_switches: counts[2],
                        processor: counts[3],
                        overruns: counts[4],
                        region: large[3] % 5,
                        ..Default::default()
                    },
                )
            }
        ),
        (operation(), any::<u16>(), proptest::array::uniform6(number()), small(), any::<u32>()).prop_map(
            |(operation, head, numbers, node, error)| {
                let event = Event {
                    begin_ns: numbers[0],
                    end_ns: numbers[1],
                    cpu_ns: numbers[2],
                    object: numbers[3],
                    object2: numbers[4],
                    bytes: numbers[5],
                    node,
                    error,
                    region: error % 5,
                    ..Default::default()
                };
                Anything::Event(operation, head, event)
            }
        ),
        (operation(), any::<u16>(), proptest::array::uniform4(number()), small(), small(), any::<u32>())
            .prop_map(|(operation, head, numbers, node, calls, errors)| {
                let sum = Sum {
                    since_ns: numbers[0],
                    until_ns: numbers[1],
                    ns: numbers[2],
                    bytes: numbers[3],
                    calls,
                    errors,
                    node,
                    region: calls % 5,
                    ..Default::default()
                };
                Anything::Sum(operation, head, sum)
            }),
        (
            (operation(), operation()),
            proptest::array::uniform5(number()),
            proptest::array::uniform5(small()),
        )
            .prop_map(|((operation, outer), numbers, [calls, errors, node, region, interval])| {
                let [since_ns, until_ns, ns, bytes, longest_ns] = numbers;
                let inside = Inside {
                    since_ns,
                    until_ns,
                    ns,
                    bytes,
                    longest_ns,
                    calls,
                    errors,
                    node,
                    region,
                    interval,
                    reserved: 0,
                };
                Anything::Inside(operation, outer, inside)
            }),
        (operation(), any::<u16>(), proptest::array::uniform5(number()), small(), small()).prop_map(
            |(operation, head, numbers, node, site)| {
                let [time_ns, object, held_ns, weight_ns, since_ns] = numbers;
                let release = Release {
                    time_ns,
                    object,
                    held_ns,
                    weight_ns,
                    since_ns,
                    node,
                    site,
                    ..Release::default()
                };
                Anything::Release(operation, head, release)
            }
        ),
        (0..4_u16, proptest::array::uniform5(small())).prop_map(
            |(origin, [id, node, parent, body, interval])| {
                Anything::Region(origin, Region { id, node, parent, body, interval, reserved: 0 })
            }
        ),
        (0..4_u16, proptest::array::uniform5(small()), any::<i64>()).prop_map(
            |(kind, [id, parent, node, region, line], number)| {
                let interval = Interval { id, parent, node, region, number, line, degree: line };
                Anything::Interval(kind, interval)
            }
        ),
        (0..8_u16, proptest::array::uniform3(number()), small()).prop_map(
            |(flags, [begin_ns, end_ns, iterations], interval)| {
                let execution = Execution { begin_ns, end_ns, iterations, interval, reserved: 0 };
                Anything::Execution(flags, execution)
            }
        ),
        (proptest::array::uniform5(number()), any::<u64>(), small()).prop_map(
            |([since_ns, until_ns, ns, min_ns, max_ns], executions, interval)| {
                let iterations = executions;
                Anything::ExecutionSum(ExecutionSum {
                    since_ns,
                    until_ns,
                    ns,
                    min_ns,
                    max_ns,
                    executions,
                    iterations,
                    interval,
                    reserved: 0,
                })
            }
        ),
        (number(), any::<i64>(), proptest::array::uniform4(small())).prop_map(
            |(time_ns, number, [id, node, line, count])| {
                Anything::Unmatched(Unmatched { time_ns, number, id, node, line, count })
            }
        ),
        (any::<[u16; 2]>(), proptest::array::uniform3(number()), small()).prop_map(
            |([number, team], [fork_ns, begin_ns, end_ns], region)| {
                Anything::Stay(number, team, Stay { fork_ns, begin_ns, end_ns, region, interval: 0 })
            }
        ),
        (operation(), proptest::array::uniform5(number()), small(), small(), any::<u64>()).prop_map(
            |(operation, numbers, region, node, executions)| {
                let [since_ns, until_ns, work_ns, wait_ns, latency_ns] = numbers;
                let segments = Segments {
                    since_ns,
                    until_ns,
                    work_ns,
                    wait_ns,
                    latency_ns,
                    executions,
                    unmeasured: work_ns,
                    wait_error_ns: until_ns,
                    known: region,
                    last: node,
                    contended: node,
                    region,
                    node,
                    team_min: 9,
                    team_max: executions as u16,
                    spreads: region,
                    spread_ns: wait_ns,
                    iterations: executions,
                    added_ns: wait_ns,
                    added_error_ns: executions,
                    added_behind_ns: work_ns,
                    trials: Trials {
                        count: until_ns,
                        visits: wait_ns,
                        more_ns: executions as i64,
                        visits2: executions,
                        more_ns2: since_ns,
                        product: latency_ns as i64,
                    },
                    ..Default::default()
                };
                Anything::Segments(operation, segments)
            }
        ),
        number().prop_map(|queued_ns| Anything::Stat(SchedStat { queued_ns, ..Default::default() })),
        (small(), "\\PC{0,20}").prop_map(|(id, text)| Anything::Text(id, text)),
    ]
}

fn operation() -> impl Strategy<Value = u16> {
    let known = (0..Operation::ALL.len()).prop_map(|at| Operation::ALL[at] as u16);
    prop_oneof![4 => known, 1 => any::<u16>()]
}

fn file_header() -> impl Strategy<Value = FileHeader> {
    (proptest::array::uniform6(number()), proptest::array::uniform6(small())).prop_map(|(large, numbers)| {
        FileHeader {
            start_ns: large[0],
            start_unix_ns: large[1],
            process_cpu_start_ns: large[2],
            process_cpu_end_ns: large[3],
            end_ns: large[4],
            lost_thread_cpu_ns: large[5],
            ending: numbers[0],
            lost_thread_ends: numbers[1].into(),
            skipped_samples: numbers[2].into(),
            online_processors: numbers[3],
            available_processors: numbers[4],
            budget_exhausted: numbers[5],
            peak_resident_kib: large[0],
            ..header(9)
        }
    })
}

fn lane_header() -> impl Strategy<Value = LaneHeader> {
    let open = (operation(), number(), small(), any::<u32>());
    (proptest::array::uniform10(number()), small(), open).prop_map(|(large, tid, open)| LaneHeader {
        tid,
        last_ns: large[0],
        last_cpu_ns: large[1],
        final_ns: large[2],
        final_cpu_ns: large[3],
        unrecorded_samples: large[4],
        unrecorded_cpu_ns: large[5],
        own_ns: large[6],
        overruns: large[7],
        unrecorded_operations: large[8],
        unrecorded_operation_ns: large[9],
        wait_released_ns: large[0],
        region: tid % 5,
        wait_operation: open.0.into(),
        wait_since_ns: open.1,
        wait_node: open.2,
        wait_target: open.3,
        ..Default::default()
    })
}

proptest! {

    #[test]
    fn flipped_bytes(
        changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..40),
        in_header: bool,
    ) {
        let mut bytes = rich();
        let length = bytes.len();
        for (at, value) in changes {
            let at = if in_header { at.index(400) } else { HEADER_BYTES + at.index(length - HEADER_BYTES) };
            bytes[at] = value;
        }
        read(&[&bytes]);
        let intact = rich();
        read(&[&intact, &bytes]);
    }

    #[test]
    fn any_numbers_behind_good_checks(
        header in file_header(),
        lanes in proptest::collection::vec(
            (proptest::collection::vec(anything(), 0..40), lane_header()), 0..3
        ),
    ) {
        let mut built = Vec::new();
        for (number, (records, header)) in lanes.into_iter().enumerate() {
            let mut lane = LaneBuilder::new(number as u32);
            lane.module(1, "m", 7, 0x1000);
            for record in &records {
                match record {
                    Anything::Begin(origin, begin) => lane.push(*origin, begin),
                    Anything::End(end) => lane.push(0, end),
                    Anything::Node(node) => lane.push(0, node),
                    Anything::Sample(flags, sample) => lane.push(*flags, sample),
                    Anything::Stat(stat) => lane.push(0, stat),
                    Anything::Event(operation, head, event) => lane.push_shaped(*operation, *head, event),
                    Anything::Sum(operation, head, sum) => lane.push_shaped(*operation, *head, sum),
                    Anything::Inside(operation, outer, inside) => lane.push_head(*operation, *outer, inside),
                    Anything::Release(operation, head, release) => {
                        lane.push_shaped(*operation, *head, release)
                    }
                    Anything::Region(origin, region) => lane.push(*origin, region),
                    Anything::Stay(number, team, stay) => lane.push_shaped(*number, *team, stay),
                    Anything::Interval(kind, interval) => lane.push(*kind, interval),
                    Anything::Execution(flags, execution) => lane.push_shaped(*flags, 0, execution),
                    Anything::ExecutionSum(sum) => lane.push(0, sum),
                    Anything::Unmatched(unmatched) => lane.push(0, unmatched),
                    Anything::Segments(operation, segments) => lane.push(*operation, segments),
                    Anything::Text(id, text) => lane.text(Subject::ThreadName, *id, text),
                };
            }
            lane.header(header);
            built.push(lane);
        }
        read(&[&log(header, &built)]);
    }
}
