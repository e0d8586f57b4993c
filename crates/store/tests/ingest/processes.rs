//! Processes: images, forks, children that were not followed, ranks, hosts, modules, paths, facts.

use std::collections::BTreeSet;
use std::sync::Mutex;

use crate::synthetic::{
    LaneBuilder, MS, amounts, assert_consistent, expected, header, log, names, noted, profile_of,
};
use proust_ingest::{Counter, IngestError, LogBytes, ingest_logs};
use proust_log::layout::{Ending, FileHeader, Origin};
use proust_log::records::{Child, ModuleEnd, Note, NoteCode, SAMPLE_PARTIAL, Sample, Subject, ThreadBegin};
use proust_profile::facts::NOT_ENDED;
use proust_profile::notes::RunNote;
use proust_profile::run_file::{Finished, SCHEMA};
use proust_profile::{
    ContextId, ContextKind, FunctionId, LocationId, Metric, ModuleId, Ns, ProcessId, RunFile,
};
use proust_structure::{ModuleRequest, ModuleStructure};

/// A lane with one thread, `tid`, that spent 10 ms from `time` on in function 1 of module `m`.
fn busy(tid: u32, time: u64) -> LaneBuilder {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "m", 7, 0x40_0000).node(1, 0, 1, 0x100);
    lane.begin(tid, time, 0).sample(time + 10, 10, 1).end(tid, time + 10, 10);
    lane
}

#[test]
fn exec_keeps_the_pid_and_is_two_entries() {
    let before = FileHeader {
        ending: Ending::Exec as u32,
        end_ns: 1100 * MS,
        process_cpu_end_ns: 11 * MS,
        ..header(9)
    };
    let after = FileHeader {
        start_ns: 1101 * MS,
        process_cpu_start_ns: 12 * MS,
        process_cpu_end_ns: 32 * MS,
        end_ns: 1200 * MS,
        ..header(9)
    };
    let mut shell = busy(9, 1000);
    shell.text(Subject::Executable, 0, "/bin/sh").text(Subject::Argument, 1, "-c");
    shell.text(Subject::Argument, 0, "sh").text(Subject::Host, 0, "here").text(Subject::Variable, 0, "A=1");
    let mut program = busy(9, 1101);
    program.text(Subject::Argument, 0, "./solve");
    // The file names say nothing of the order.
    let profile = profile_of(&[log(after, &[program]), log(before, &[shell])], None);
    let processes: Vec<_> = profile
        .processes
        .iter()
        .map(|p| {
            let times = [p.start, p.end, p.clock_cpu.unwrap()].map(Ns::as_seconds);
            (p.pid, p.name.as_str(), p.ending.as_str(), times)
        })
        .collect();
    assert_eq!(processes, [(9, "sh", "exec", [0.0, 0.1, 0.011]), (9, "solve", "exit", [0.101, 0.2, 0.02])]);
    assert_eq!(profile.processes[ProcessId(0)].arguments, ["sh", "-c"]);
    assert_eq!(
        (profile.processes[ProcessId(0)].executable.as_str(), profile.processes[ProcessId(1)].host.as_str()),
        ("/bin/sh", "here")
    );
    assert_eq!(profile.locations.iter().map(|l| l.process).collect::<Vec<_>>(), [ProcessId(0), ProcessId(1)]);
    // 20 of 31 ms are in threads; each process differs by itself: 1 of 11, 10 of 20.
    assert!((profile.quality.process_residual - 11.0 / 31.0).abs() < 1e-12);
    assert_eq!(profile.quality.cpu_residual, 0.0);
}

#[test]
fn an_image_that_was_not_followed_is_named() {
    let before = FileHeader { ending: Ending::Exec as u32, ..header(9) };
    let mut shell = busy(9, 1000);
    shell.text(Subject::Executable, 0, "/bin/sh").text(Subject::ExecTarget, 9, "/bin/static-tool");
    let profile = profile_of(&[log(before, &[shell])], None);
    assert!(noted(&profile, &["replaced-unseen", "\"sh\"", "\"/bin/static-tool\""]));
}

#[test]
fn forks_are_followed_and_what_was_not_is_told() {
    let fork = FileHeader { origin: Origin::Fork as u32, parent_pid: 9, start_ns: 1010 * MS, ..header(20) };
    let mut parent = busy(9, 1000);
    parent.text(Subject::Executable, 0, "/usr/bin/make");
    for pid in [20, 21, 22] {
        parent.push(1, &Child { time_ns: 1005 * MS, pid, reserved: 0 });
    }
    let profile = profile_of(&[log(header(9), &[parent]), log(fork, &[busy(20, 1010)])], None);
    assert_eq!(profile.processes[ProcessId(1)].origin, "fork");
    assert_eq!(profile.processes[ProcessId(1)].parent_pid, 9);
    assert!(noted(&profile, &["not-followed", "\"make\",\"pid\":9", "\"pid\":21", "\"pid\":22"]));
    assert_eq!(profile.quality.unfollowed_processes, 2);
    // One context for both processes: what they share is one program.
    let f1 = ("f1".to_owned(), 9);
    assert_eq!(amounts(&profile, Metric::Cpu).get(&f1), Some(&10.0));
    assert_eq!(profile.contexts.len(), 2);
    assert_eq!(profile.modules.len(), 1);
}

#[test]
fn a_ranks_children_are_of_its_rank_and_not_ranks_of_their_own() {
    let rank = |pid: u32, rank: &str, size: &str| {
        let mut lane = busy(pid, 1000);
        lane.text(Subject::Variable, 0, format!("OMPI_COMM_WORLD_RANK={rank}"));
        lane.text(Subject::Variable, 0, format!("OMPI_COMM_WORLD_SIZE={size}"));
        log(header(pid), &[lane])
    };
    let launcher = log(header(5), &[busy(5, 1000)]);
    let profile = profile_of(
        &[launcher, rank(6, "0", "2"), rank(7, "1", "2"), rank(8, "1", "2"), rank(9, "3", "0")],
        None,
    );
    let ranks: Vec<_> = profile.processes.iter().map(|p| (p.pid, p.rank)).collect();
    assert_eq!(ranks, [(5, None), (6, Some(0)), (7, Some(1)), (8, Some(1)), (9, None)]);
    assert_eq!(profile.ranks(), 2);
}

#[test]
fn times_of_other_hosts_are_aligned_by_the_clock_of_day() {
    let unix = |s: u64| s * 1_000_000_000;
    let here = FileHeader { start_unix_ns: unix(1_700_000_000), ..header(9) };
    // Booted 500 s earlier; started 30 ms after the first.
    let there = FileHeader {
        start_ns: 501_030 * MS,
        end_ns: 501_090 * MS,
        start_unix_ns: unix(1_700_000_000) + 30 * MS,
        available_processors: 3,
        ..header(10)
    };
    let mut near = busy(9, 1000);
    near.text(Subject::Host, 0, "near");
    let mut far = busy(10, 501_040);
    far.text(Subject::Host, 0, "far");
    let profile = profile_of(&[log(there, &[far]), log(here, &[near])], None);
    let hosts: Vec<_> = profile.processes.iter().map(|p| (p.host.as_str(), p.start.as_seconds())).collect();
    assert_eq!(hosts, [("near", 0.0), ("far", 0.03)]);
    assert_eq!(profile.locations[LocationId(1)].start.as_seconds(), 0.04);
    assert_eq!((profile.facts.host.as_str(), profile.facts.available_processors), ("near", 5));
    assert!(noted(&profile, &["several-hosts", "\"hosts\":2"]));
}

#[test]
fn a_process_in_a_time_namespace_is_where_it_was() {
    let first = FileHeader { start_unix_ns: 1_700_000_000_000_000_000, ..header(9) };
    // Its clock is 100 000 s ahead, and the clock of day was set meanwhile.
    let ahead =
        FileHeader { start_ns: 100_001_010 * MS, end_ns: 100_001_090 * MS, start_unix_ns: 7, ..header(10) };
    let (mut plain, mut other) = (busy(9, 1000), busy(10, 100_001_020));
    plain.text(Subject::Host, 0, "here");
    other.text(Subject::Host, 0, "here").text(Subject::MonotonicOffset, 0, "100000000000000");
    let profile = profile_of(&[log(first, &[plain]), log(ahead, &[other])], None);
    assert_eq!(profile.processes.iter().map(|p| p.start.as_seconds()).collect::<Vec<_>>(), [0.0, 0.01]);
    assert_eq!(profile.locations[LocationId(1)].start.as_seconds(), 0.02);
    assert!(!noted(&profile, &["several-hosts", "\"hosts\":2"]));
}

/// One process was linked with it, the other opened it later: the dynamic linker knows a link, the kernel the
/// file.
#[test]
fn a_library_that_two_processes_know_by_other_paths_is_one_module() {
    let of = |pid: u32, path: &str| {
        let mut lane = LaneBuilder::new(0);
        lane.module(1, path, 7, 0x7000_0000).node(1, 0, 1, 0x105);
        lane.begin(pid, 1000, 0).sample(1010, 10, 1).end(pid, 1010, 10);
        log(header(pid), &[lane])
    };
    let logs = [of(9, "/usr/lib/libmpi.so.40.30.4"), of(10, "/lib/libmpi.so.40")];
    let profile = profile_of(&logs, None);
    let modules: Vec<&str> = profile.modules.iter().map(|module| module.path.as_str()).collect();
    assert_eq!(modules, ["/lib/libmpi.so.40"]);
    assert_eq!(profile.functions.len(), 1);
}

#[test]
fn a_module_loaded_again_is_the_same_module_and_another_build_is_not() {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "plugin", 7, 0x7000_0000).node(1, 0, 1, 0x105).begin(9, 1000, 0).sample(1010, 5, 1);
    lane.push(0, &ModuleEnd { id: 1, ..Default::default() });
    // Another plug-in at the same address, then the first one again, then a new build of it.
    lane.module(2, "other", 8, 0x7000_0000).node(2, 0, 2, 0x105).sample(1020, 10, 2);
    lane.module(3, "plugin", 7, 0x7000_0000).node(3, 0, 3, 0x105).sample(1030, 15, 3);
    lane.module(4, "plugin", 9, 0x7000_0000).node(4, 0, 4, 0x106).sample(1040, 21, 4);
    // Never sampled: not a module of the profile.
    lane.module(5, "unused", 1, 0x1000);
    lane.end(9, 1041, 21);
    let asked = Mutex::new(Vec::new());
    let asking = |module: &ModuleRequest, addresses: &[u64]| -> ModuleStructure {
        let id = module.build_id.clone().unwrap_or_default();
        asked.lock().unwrap().push((module.path.display().to_string(), id, addresses.to_vec()));
        names(module, addresses)
    };
    let bytes = log(header(9), &[lane]);
    let logs = [LogBytes::alone("log/9.plog", Ok(&bytes))];
    let profile = ingest_logs("run", &logs, None, &asking, &Counter::default()).unwrap();
    assert_consistent(&profile);
    let modules: Vec<_> = profile.modules.iter().map(|m| (m.path.as_str(), m.build_id.as_str())).collect();
    assert_eq!(modules, [("plugin", "07070707"), ("other", "08080808"), ("plugin", "09090909")]);
    let mut asked = asked.into_inner().unwrap();
    asked.sort();
    let expected: Vec<(String, Vec<u8>, Vec<u64>)> = vec![
        ("other".into(), vec![8; 4], vec![0x105]),
        ("plugin".into(), vec![7; 4], vec![0x105]),
        ("plugin".into(), vec![9; 4], vec![0x106]),
    ];
    assert_eq!(asked, expected);
    let by_module: Vec<_> = profile.functions.iter().map(|f| f.module.unwrap()).collect();
    assert_eq!(by_module, [ModuleId(0), ModuleId(1), ModuleId(2)]);
    let f1_of_first = profile.contexts.iter().position(|c| c.function == Some(FunctionId(0))).unwrap();
    let cpu_ns: u64 = profile
        .values
        .iter()
        .filter(|v| {
            v.metric == Metric::Cpu
                && profile.contexts[v.context].parent == Some(ContextId::from_index(f1_of_first))
        })
        .map(|v| v.amount)
        .sum();
    assert_eq!(cpu_ns, 10_000_000);
}

#[test]
fn paths_become_frames_inlined_calls_and_lines() {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "a", 1, 0x1000).module(2, "b", 2, 0x9000);
    // f1 calls f2 from line 3 and from line 4; f3 is inlined in f2 at line 99 of it and executes line 6.
    lane.node(1, 0, 1, 0x103).node(2, 1, 2, 0x2_0306).node(3, 0, 1, 0x104).node(4, 3, 2, 0x2_0306);
    // Another return address in line 3: the same context.
    lane.node(5, 0, 1, 0x103).node(6, 5, 2, 0x2_0306);
    // Code outside all modules, called from f1, calls a module whose record is lost.
    lane.node(7, 1, 0, 0xdead_beef).node(8, 7, 33, 0x10);
    lane.begin(9, 1000, 0);
    for (i, node) in [2, 4, 6, 7, 8, 1].into_iter().enumerate() {
        lane.sample(1010 + i as u64 * 10, (i as u64 + 1) * 10, node);
    }
    lane.end(9, 1100, 60);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([
            ("f1>f2@a.c:3>f3(inlined)@b.c:99>:6", 9, 20.0),
            ("f1>f2@a.c:4>f3(inlined)@b.c:99>:6", 9, 10.0),
            ("f1>[code outside all modules]@a.c:3", 9, 10.0),
            ("f1>[code outside all modules]@a.c:3>[code of a module whose record was lost]", 9, 10.0),
            ("f1>:3", 9, 10.0),
        ])
    );
    let line = profile.contexts.iter().find(|c| c.kind == ContextKind::Line).unwrap();
    assert_eq!((line.file.as_deref(), line.line), (Some("b.c"), Some(6)));
    assert_eq!(profile.functions[line.function.unwrap()].name, "f3");
}

#[test]
fn paths_without_an_upper_end_stand_apart_and_are_counted() {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "m", 7, 0).node(1, 0, 1, 0x100).begin(9, 1000, 0).sample(1010, 10, 1);
    let partial = Sample { time_ns: 1020 * MS, cpu_ns: 13 * MS, node: 1, ..Default::default() };
    lane.push(SAMPLE_PARTIAL, &partial).sample(1030, 20, 0).end(9, 1030, 20);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([("f1", 9, 10.0), ("partial>f1", 9, 3.0), ("[no call path]", 9, 7.0)])
    );
    assert_eq!(profile.quality.partial_paths, 1);
    assert!((profile.quality.complete_paths - 2.0 / 3.0).abs() < 1e-12);
    assert!(profile.samples.iter().nth(1).unwrap().partial);
    assert!(noted(&profile, &["partial-paths", "\"paths\":1,\"of\":3"]));
}

#[test]
fn a_run_without_samples_still_knows_its_cpu_time() {
    let mut lane = LaneBuilder::new(0);
    lane.begin(9, 1000, 1).end(9, 1003, 3);
    let profile = profile_of(&[log(header(9), &[lane])], None);
    assert_eq!(amounts(&profile, Metric::Cpu), expected([("[no call path]", 9, 2.0)]));
    assert_eq!((profile.quality.samples, profile.quality.delivered_rate), (0, 0.0));
    assert!(noted(&profile, &["no-samples", "\"cpu_s\":0.002"]));
    // Not even a thread.
    let profile = profile_of(&[log(header(9), &[])], None);
    assert_eq!((profile.contexts.len(), profile.locations.len(), profile.processes.len()), (1, 0, 1));
}

#[test]
fn the_runs_facts_come_from_its_file() {
    let run = RunFile {
        schema: SCHEMA,
        command: vec!["./solve".into(), "-n".into()],
        start_unix_s: 12.5,
        asked_rate_hz: 100,
        notes: vec![RunNote::StillRunning { processes: vec!["server".into()] }],
        finished: Some(Finished { signal: Some(11), ..Finished::default() }),
        ..RunFile::default()
    };
    let bytes = log(header(9), &[busy(9, 1000)]);
    let profile = profile_of(std::slice::from_ref(&bytes), Some(&run));
    assert_eq!(profile.facts.command, ["./solve", "-n"]);
    assert_eq!(
        (profile.facts.start_unix_s, profile.facts.asked_rate_hz, profile.facts.tick.as_seconds()),
        (12.5, 100, 0.004)
    );
    assert_eq!(profile.facts.outcome, "signal 11 (SIGSEGV)");
    assert_eq!(profile.quality.notes, run.notes);
    let exited =
        RunFile { finished: Some(Finished { exit_code: Some(3), ..Finished::default() }), ..run.clone() };
    assert_eq!(profile_of(std::slice::from_ref(&bytes), Some(&exited)).facts.outcome, "exit 3");
    let going_on = RunFile { finished: None, ..run };
    let profile = profile_of(std::slice::from_ref(&bytes), Some(&going_on));
    assert_eq!(profile.facts.outcome, NOT_ENDED);
    assert!(noted(&profile, &["\"unfinished\""]));
    assert_eq!(profile_of(&[bytes], None).facts.outcome, "unknown");
}

#[test]
fn what_the_collector_noted_is_told_in_words() {
    let mut lane = LaneBuilder::new(0);
    let found = ThreadBegin { time_ns: 1000 * MS, tid: 9, ..Default::default() };
    lane.push(3, &found).text(Subject::Executable, 0, "/opt/server");
    for (code, value) in [
        (NoteCode::TimerRefused, 11),
        (NoteCode::SignalShared, 27),
        (NoteCode::RequestSignalUsed, 12),
        (NoteCode::ExecFailed, 2),
        (NoteCode::EnvironmentMended, 0),
        (NoteCode::SignalGivenUp, 0),
        (NoteCode::Unloadable, 2),
    ] {
        lane.push(code as u16, &Note { time_ns: 0, value });
    }
    lane.push(999, &Note::default()).end(9, 1010, 1);
    let profile = profile_of(
        &[log(FileHeader { unmeasured_threads: 4, storage_failed: 1, ..header(9) }, &[lane])],
        None,
    );
    let gaps = &profile.quality;
    assert_eq!((gaps.unmeasured_threads, gaps.untimed_threads, gaps.late_threads), (4, 1, 1));
    assert_eq!((gaps.unfollowed_processes, gaps.open_processes, gaps.unfinished), (1, 0, false));
    for words in [
        ["found-running", "\"server\",\"pid\":9},\"threads\":1"],
        ["timer-refused", "\"errno\":11"],
        ["signal-shared", "\"signal\":27"],
        ["request-signal-used", "\"signal\":12"],
        ["signal-given-up", "server"],
        ["exec-failed", "\"errno\":2"],
        ["without-collector", "\"programs\":1,\"reason\":\"other-library\""],
        ["environment-not-mended", "server"],
        ["unmeasured-threads", "\"threads\":4"],
        ["samples-unrecorded", "\"errno\":1"],
    ] {
        assert!(noted(&profile, &words), "{words:?} in {:#?}", profile.quality.notes);
    }
}

#[test]
fn a_log_that_cannot_be_read_is_a_note_and_none_is_an_error() {
    let good = log(header(9), &[busy(9, 1000)]);
    let mut other_version = good.clone();
    other_version[8] = 99;
    let read = |logs: &[LogBytes<'_>]| ingest_logs("run", logs, None, &names, &Counter::default());
    let good = LogBytes::alone("log/1.plog", Ok(&good));
    let gone = LogBytes::alone("log/2.plog", Err("permission denied"));
    let short = LogBytes::alone("log/3.plog", Ok(&[0; 100]));
    let newer = LogBytes::alone("log/4.plog", Ok(&other_version));
    let profile = read(&[gone, good, short, newer]).unwrap();
    for words in
        [["log/2.plog", "permission denied"], ["log/3.plog", "100 bytes"], ["log/4.plog", "version 99"]]
    {
        assert!(noted(&profile, &words), "{words:?}");
    }
    let names: BTreeSet<u32> = profile.processes.iter().map(|p| p.pid).collect();
    assert_eq!(names, BTreeSet::from([9]));
    let error = |logs: &[LogBytes<'_>]| read(logs).unwrap_err();
    assert!(matches!(error(&[]), IngestError::NothingRecorded { .. }));
    assert!(error(&[gone, short]).to_string().contains("none of its 2 logs can be read"));
    assert!(matches!(error(&[short, newer]), IngestError::OtherVersion { found: 99, .. }));
}
