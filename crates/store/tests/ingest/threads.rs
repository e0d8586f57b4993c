//! Threads: weights, tails, ends of every kind, and time whose records are missing.

use crate::synthetic::{LaneBuilder, MS, amounts, expected, header, log, noted, profile_of};
use proust_log::layout::{ChunkHeader, Ending, HEADER_BYTES, LaneHeader, UNIT_BYTES};
use proust_log::records::{Sample, SchedStat, Subject, ThreadBegin, ThreadEnd};
use proust_profile::{LocationId, Metric, Ns, ProcessId};

const LOST: &str = "[lost records]";
const NO_ROOM: &str = "[not recorded: size budget used up]";

fn lane() -> LaneBuilder {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "m", 7, 0x40_0000);
    lane
}

#[test]
fn weights_are_the_advance_of_each_threads_clock() {
    let mut first = lane();
    // The clock does not begin at zero: only its advance counts.
    first.begin(10, 1000, 50).node(1, 0, 1, 0x105).node(2, 1, 1, 0x207);
    first.sample(1010, 55, 2).sample(1020, 65, 2).sample(1030, 66, 1).end(10, 1100, 70);
    let mut second = LaneBuilder::new(1);
    second.begin(11, 1050, 0).node(1, 0, 1, 0x300).sample(1060, 8, 1).end(11, 1070, 9);
    let profile = profile_of(&[log(header(9), &[first, second])], None);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([("f1>f2@m.c:5>:7", 10, 15.0), ("f1>:5", 10, 5.0), ("f3", 11, 9.0)])
    );
    assert_eq!(
        amounts(&profile, Metric::Samples),
        expected([("f1>f2@m.c:5>:7", 10, 2.0), ("f1>:5", 10, 1.0), ("f3", 11, 1.0)])
    );
    let times: Vec<_> = profile
        .locations
        .iter()
        .map(|l| (l.tid, l.start.as_seconds(), l.end.as_seconds(), l.samples))
        .collect();
    assert_eq!(times, [(10, 0.0, 0.1, 3), (11, 0.05, 0.07, 1)]);
    assert_eq!(profile.quality.cpu_residual, 0.0);
    assert_eq!((profile.quality.samples, profile.quality.complete_paths), (4, 1.0));
    assert!((profile.quality.delivered_rate - 4.0 / 0.029).abs() < 1e-6);
    assert_eq!(profile.facts.wall.as_seconds(), 1.0);
    assert_eq!(profile.quality.notes, []);
}

#[test]
fn a_lane_is_used_by_one_thread_after_the_other_and_keeps_its_nodes() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).sample(1010, 5, 1).end(10, 1020, 6);
    // The kernel gives the same id again, and its clock begins anew.
    lane.begin(10, 1030, 1).sample(1040, 8, 1).end(10, 1050, 9);
    lane.begin(12, 1060, 0).node(2, 1, 1, 0x200).sample(1070, 3, 2).end(12, 1080, 3);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    let cpu: Vec<_> = profile.locations.iter().map(|l| (l.tid, l.cpu.as_seconds())).collect();
    assert_eq!(cpu, [(10, 0.006), (10, 0.008), (12, 0.003)]);
    assert_eq!(amounts(&profile, Metric::Cpu)[&("f1>f2".into(), 12)], 3.0);
}

#[test]
fn a_tail_goes_to_the_last_sample_or_to_the_start() {
    let mut lane = lane();
    lane.node(1, 0, 1, 0x100).node(2, 0, 1, 0x200);
    lane.begin(10, 1000, 0).sample(1010, 5, 1).sample(1015, 9, 2).end(10, 1020, 12);
    let begin = ThreadBegin { time_ns: 1030 * MS, tid: 11, start_node: 1, ..Default::default() };
    lane.push(2, &begin).end(11, 1040, 4);
    lane.begin(12, 1050, 0).end(12, 1060, 2);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([("f1", 10, 5.0), ("f2", 10, 7.0), ("f1", 11, 4.0), ("[no call path]", 12, 2.0)])
    );
    assert_eq!(amounts(&profile, Metric::Samples), expected([("f1", 10, 1.0), ("f2", 10, 1.0)]));
    let tails = profile.samples.iter().filter(|row| row.tail && row.processor == u16::MAX).count();
    assert_eq!(tails, 3);
}

#[test]
fn a_killed_process_loses_nothing_that_was_recorded() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).sample(1010, 5, 1).sample(1020, 9, 1);
    lane.header(LaneHeader { tid: 10, last_ns: 1020 * MS, last_cpu_ns: 9 * MS, ..Default::default() });
    let mut header = header(9);
    (header.ending, header.end_ns) = (Ending::Open as u32, 0);
    let profile = profile_of(&[log(header, &[lane])], None);
    assert_eq!(amounts(&profile, Metric::Cpu), expected([("f1", 10, 9.0)]));
    assert_eq!(
        (profile.processes[ProcessId(0)].ending.as_str(), profile.processes[ProcessId(0)].clock_cpu),
        ("open", None)
    );
    let end = Ns::of(20 * MS);
    assert_eq!((profile.locations[LocationId(0)].end, profile.facts.wall), (end, end));
    assert!(noted(&profile, &["open-end", "\"pid\":9},\"threads\":1"]));
}

#[test]
fn a_thread_that_lived_at_the_end_is_closed_by_the_process() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).sample(1010, 5, 1);
    lane.header(LaneHeader {
        tid: 10,
        last_ns: 1010 * MS,
        last_cpu_ns: 5 * MS,
        final_ns: 1500 * MS,
        final_cpu_ns: 8 * MS,
        own_ns: MS,
        overruns: 3,
        ..Default::default()
    });
    // Of another thread: it says nothing of the one whose records are here.
    let mut other = LaneBuilder::new(1);
    other.begin(11, 1000, 0).node(1, 0, 1, 0x200).sample(1010, 5, 1);
    other.header(LaneHeader {
        tid: 99,
        last_ns: 1100 * MS,
        last_cpu_ns: 50 * MS,
        final_ns: 1500 * MS,
        final_cpu_ns: 350 * MS,
        ..Default::default()
    });
    let profile = profile_of(&[log(header(9), &[lane, other])], None);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([("f1", 10, 8.0), ("f2", 11, 5.0), ("[no call path]", 99, 300.0)])
    );
    assert_eq!(amounts(&profile, Metric::Measurement), expected([("f1", 10, 1.0)]));
    assert_eq!(profile.quality.overruns, 3);
    let ends: Vec<f64> = profile.locations.iter().map(|l| l.end.as_seconds()).collect();
    assert_eq!(ends, [0.5, 0.01, 0.5]);
    assert!(noted(&profile, &["last-records-missing", "\"threads\":1"]));
    assert!(noted(&profile, &["silent-threads", "\"threads\":1"]));
}

#[test]
fn time_without_room_in_the_log_has_a_row_of_its_own() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).sample(1010, 5, 1);
    let end = ThreadEnd {
        time_ns: 1500 * MS,
        cpu_ns: 105 * MS,
        unrecorded_samples: 19,
        unrecorded_cpu_ns: 97 * MS,
        tid: 10,
        ..Default::default()
    };
    lane.push(0, &end);
    // Closed by the process: only the header knows.
    let mut closed = LaneBuilder::new(1);
    closed.begin(11, 1000, 0).node(1, 0, 1, 0x200).sample(1010, 5, 1).header(LaneHeader {
        tid: 11,
        last_ns: 1400 * MS,
        last_cpu_ns: 45 * MS,
        final_ns: 1400 * MS,
        final_cpu_ns: 45 * MS,
        unrecorded_samples: 8,
        unrecorded_cpu_ns: 40 * MS,
        ..Default::default()
    });
    // Not even its begin found room.
    let mut silent = LaneBuilder::new(3);
    silent.header(LaneHeader {
        tid: 13,
        last_ns: 1400 * MS,
        last_cpu_ns: 25 * MS,
        final_ns: 1450 * MS,
        final_cpu_ns: 26 * MS,
        unrecorded_cpu_ns: 24 * MS,
        ..Default::default()
    });
    // Ended without room for its end: its time is among that of the threads not recorded.
    let mut ended = LaneBuilder::new(4);
    ended.begin(14, 1000, 0).node(1, 0, 1, 0x200).sample(1010, 5, 1).header(LaneHeader {
        tid: 14,
        last_ns: 1400 * MS,
        last_cpu_ns: 20 * MS,
        unrecorded_cpu_ns: 15 * MS,
        ..Default::default()
    });
    // A path whose node found no room, either.
    let mut nodeless = LaneBuilder::new(2);
    nodeless.begin(12, 1000, 0).sample(1010, 2, 5).end(12, 1020, 2);
    let mut header = header(9);
    header.budget_exhausted = 1;
    // Threads that ended in full lanes.
    (header.lost_thread_ends, header.lost_thread_cpu_ns) = (2, 30 * MS);
    header.process_cpu_end_ns = 250 * MS;
    let profile = profile_of(&[log(header, &[lane, closed, nodeless, silent, ended])], None);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([
            ("f1", 10, 8.0),
            (NO_ROOM, 10, 97.0),
            ("f2", 11, 5.0),
            (NO_ROOM, 11, 40.0),
            (NO_ROOM, 12, 2.0),
            (NO_ROOM, 13, 24.0),
            ("[no call path]", 13, 1.0),
            ("f2", 14, 5.0),
            (NO_ROOM, 0, 30.0),
        ])
    );
    assert_eq!(profile.locations.last().unwrap().name, "[threads not recorded]");
    assert_eq!(profile.quality.dropped, 19 + 8 + 2);
    assert_eq!(profile.quality.unrecorded, Ns::of(191 * MS));
    assert!(noted(&profile, &["samples-unrecorded", "\"samples\":27", "\"cpu_ns\":191", "\"errno\":0"]));
    // 212 ms are in threads, the process has 250.
    assert!((profile.quality.process_residual - 0.152).abs() < 1e-12);
}

/// The bytes of a log, and the offset of the first record with the given kind after `skip` others.
fn offset_of(bytes: &[u8], kind: u8, skip: usize) -> usize {
    let mut at = HEADER_BYTES + size_of::<ChunkHeader>() + size_of::<LaneHeader>();
    let mut left = skip;
    loop {
        let length = usize::from(bytes[at + 1]) * 8;
        assert!(length > 0, "no such record");
        if bytes[at] == kind {
            match left {
                0 => return at,
                _ => left -= 1,
            }
        }
        at += length;
    }
}

#[test]
fn weight_that_spans_lost_records_is_not_the_next_samples() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).node(2, 0, 1, 0x200);
    lane.sample(1010, 5, 1).sample(1020, 11, 2).sample(1030, 18, 1).sample(1040, 26, 1).end(10, 1050, 27);
    let mut bytes = log(header(9), &[lane]);
    // The second sample is damaged.
    let at = offset_of(&bytes, 4, 1);
    bytes[at + 20] ^= 1;
    let profile = profile_of(&[bytes], None);
    assert_eq!(amounts(&profile, Metric::Cpu), expected([("f1", 10, 14.0), (LOST, 10, 13.0)]));
    assert_eq!(amounts(&profile, Metric::Samples), expected([("f1", 10, 3.0)]));
    assert!((1..=64).contains(&profile.quality.damaged_bytes));
    assert_eq!(profile.quality.lost_records, Ns::of(13 * MS));
    assert!(noted(&profile, &["log-damaged", "log/0.plog", "\"cpu_ns\":13"]));
}

#[test]
fn a_lost_node_is_lost_time_and_a_lost_parent_is_a_partial_path() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).node(2, 1, 1, 0x200);
    lane.sample(1010, 5, 1).sample(1020, 11, 2).end(10, 1030, 11);
    let bytes = log(header(9), &[lane]);
    let without = |skip: usize| {
        let mut bytes = bytes.clone();
        let at = offset_of(&bytes, 3, skip);
        bytes[at + 9] ^= 4;
        amounts(&profile_of(&[bytes], None), Metric::Cpu)
    };
    // A gap makes the weight of the first sample after it lost time, too.
    assert_eq!(without(1), expected([(LOST, 10, 11.0)].map(|(p, t, _)| (p, t, 11.0))));
    assert_eq!(without(0), expected([(LOST, 10, 5.0), ("partial>f2", 10, 6.0)]));
}

#[test]
fn a_lost_chunk_is_told_and_its_time_is_not_lost() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100);
    for i in 1..=3000 {
        lane.sample(1000 + i, i, 1);
    }
    lane.end(10, 4100, 3001);
    let mut bytes = log(header(9), &[lane]);
    // The first chunk is one unit long.
    bytes[HEADER_BYTES + UNIT_BYTES] ^= 1;
    let profile = profile_of(&[bytes], None);
    let cpu = amounts(&profile, Metric::Cpu);
    assert_eq!(cpu[&("f1".into(), 10)] + cpu[&(LOST.into(), 10)], 3001.0);
    let present = amounts(&profile, Metric::Samples)[&("f1".into(), 10)];
    // The first sample after the gap carries no weight of its own.
    assert_eq!(cpu[&("f1".into(), 10)], present - 1.0 + 1.0);
    assert!(noted(&profile, &["log-damaged", "\"chunks\":1,\"missing_chunks\":1"]));
}

#[test]
fn a_thread_after_a_gap_with_a_younger_clock_is_another_one() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).sample(1010, 500, 1);
    lane.sample(1011, 500, 1);
    lane.sample(1020, 4, 1).sample(1030, 9, 1).end(11, 1040, 10);
    let mut bytes = log(header(9), &[lane]);
    let at = offset_of(&bytes, 4, 1);
    bytes[at + 20] ^= 1;
    let profile = profile_of(&[bytes], None);
    let tids: Vec<u32> = profile.locations.iter().map(|l| l.tid).collect();
    assert_eq!(tids, [10, 11]);
    assert_eq!(amounts(&profile, Metric::Cpu)[&("f1".into(), 11)], 6.0);
}

#[test]
fn clocks_that_contradict_themselves_are_clamped_and_told() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100);
    lane.sample(1010, 5, 1).sample(1020, 4, 1).sample(1030, 10, 1);
    // More CPU time than time, and a time before the one before.
    lane.sample(1040, 900_000, 1).sample(1035, 900_001, 1).end(10, 1060, 900_003);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    let cpu = amounts(&profile, Metric::Cpu)[&("f1".into(), 10)];
    // 5, nothing, 6, at most 10 (and a slack of 2.2), at most the slack, 2.
    assert!((23.0..=27.5).contains(&cpu), "{cpu}");
    assert_eq!(profile.quality.implausible_records, 3);
    assert!(profile.quality.cpu_residual > 0.9);
    assert!(noted(&profile, &["implausible-records", "\"records\":3"]));
}

#[test]
fn a_cpu_clock_that_goes_back_a_little_adds_nothing() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).sample(1010, 5, 1);
    lane.push(1, &Sample { node: 1, time_ns: 1015 * MS, cpu_ns: 5 * MS - 124, ..Default::default() });
    lane.sample(1020, 9, 1).end(10, 1030, 10);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(profile.quality.implausible_records, 0);
    assert_eq!(amounts(&profile, Metric::Cpu)[&("f1".into(), 10)], 10.0);
}

#[test]
fn what_passed_between_the_two_clocks_is_no_contradiction() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100);
    // The processor stood still for 10 ms after the first clock was read.
    lane.sample(1010, 5, 1).sample(1015, 20, 1).sample(1030, 25, 1).end(10, 1035, 30);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(profile.quality.implausible_records, 0);
    assert_eq!(amounts(&profile, Metric::Cpu)[&("f1".into(), 10)], 30.0);
}

#[test]
fn user_and_system_time_make_up_the_weight() {
    let mut lane = lane();
    lane.begin(10, 1000, 0).node(1, 0, 1, 0x100).node(2, 0, 1, 0x200);
    let sample = |time: u64, node: u32, user_us: u32, system_us: u32, own_ns: u32| Sample {
        time_ns: time * MS,
        cpu_ns: (time - 1000) * MS,
        node,
        own_ns,
        user_us,
        system_us,
        minor_faults: 3,
        major_faults: 2,
        voluntary_switches: 1,
        involuntary_switches: 4,
        processor: 6,
        overruns: 1,
        ..Default::default()
    };
    // Ticks give 4 ms or nothing: the weight is divided as they say, or goes to user time.
    lane.push(0, &sample(1004, 1, 1000, 3000, 20_000)).push(0, &sample(1008, 2, 0, 0, u32::MAX));
    let end = ThreadEnd {
        time_ns: 1012 * MS,
        cpu_ns: 12 * MS,
        system_us: 7,
        own_ns: 5_000_000_000,
        overruns: 2,
        tid: 10,
        ..Default::default()
    };
    lane.push(0, &end);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(amounts(&profile, Metric::User), expected([("f1", 10, 1.0), ("f2", 10, 4.0)]));
    assert_eq!(amounts(&profile, Metric::System), expected([("f1", 10, 3.0), ("f2", 10, 4.0)]));
    // The collector's time is part of the weight, never more.
    let own = amounts(&profile, Metric::Measurement);
    assert_eq!(own, expected([("f1", 10, 0.02), ("f2", 10, 8.0)]));
    for (metric, each) in [
        (Metric::MinorFaults, 3.0),
        (Metric::MajorFaults, 2.0),
        (Metric::VoluntarySwitches, 1.0),
        (Metric::InvoluntarySwitches, 4.0),
    ] {
        assert_eq!(amounts(&profile, metric), expected([("f1", 10, each), ("f2", 10, each)]), "{metric:?}");
    }
    assert_eq!(profile.quality.overruns, 2);
    assert!(profile.samples.iter().filter(|row| !row.tail).all(|row| row.processor == 6));
}

#[test]
fn names_and_queue_times_belong_to_the_thread_that_had_the_id() {
    let mut lane = lane();
    let begin = ThreadBegin { time_ns: 1000 * MS, tid: 10, queued_us: 2000, ..Default::default() };
    lane.push(1, &begin).text(Subject::ThreadName, 10, "first").text(Subject::ThreadName, 10, "main");
    let stat = |ms: u64| SchedStat { queued_ns: ms * MS, ..Default::default() };
    lane.push(0, &stat(3)).push(0, &stat(9)).sample(1050, 1, 0);
    // A thread names others, of which one has an id that is used again later.
    lane.text(Subject::ThreadName, 11, "worker").sample(1200, 2, 0).text(Subject::ThreadName, 12, "late");
    lane.end(10, 1300, 2);
    let mut other = LaneBuilder::new(1);
    other.begin(11, 1010, 0).end(11, 1100, 1).begin(11, 1110, 0).end(11, 1120, 1).begin(12, 1130, 0);
    other.end(12, 1140, 0);
    let profile = profile_of(&[log(header(9), &[lane, other])], None);
    let names: Vec<_> =
        profile.locations.iter().map(|l| (l.tid, l.name.as_str(), l.queued.as_seconds())).collect();
    assert_eq!(names, [(10, "main", 0.007), (11, "worker", 0.0), (11, "", 0.0), (12, "late", 0.0)]);
}
