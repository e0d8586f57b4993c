//! Paths without the frames by which the system and languages' runtimes begin threads and call closures.

use crate::synthetic::{self, LaneBuilder, amounts, assert_consistent, expected, header, log};
use proust_ingest::{CallPaths, Counter, LogBytes, Making, ingest_logs, ingest_logs_by};
use proust_log::records::{SAMPLE_PARTIAL, Sample};
use proust_profile::{Metric, Profile, Spool};
use proust_structure::{ModuleRequest, ModuleStructure};

const LIBC: &str = "/lib/x86_64-linux-gnu/libc.so.6";
const PROGRAM: &str = "/home/me/program";

/// Functions of the C library and of the program, by the number that stands in the address.
fn symbols(module: &ModuleRequest, addresses: &[u64]) -> ModuleStructure {
    let mut structure = synthetic::names(module, addresses);
    for function in &mut structure.functions {
        let name = match function.name.as_str() {
            "f1" => "clone3",
            "f2" => "start_thread",
            "f3" => "__madvise",
            "f4" => "core::ops::function::FnOnce::call_once",
            "f5" => "work",
            "f6" => "closure",
            _ => continue,
        };
        (function.name, function.full_name) = (name.into(), name.into());
    }
    structure
}

/// A thread with three samples: in the program's function; in the C library's at the thread's end; in a
/// closure that the function calls through the standard library. And one in what calls the closure.
fn profile(paths: CallPaths) -> Profile {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, LIBC, 7, 0x40_0000).module(2, PROGRAM, 8, 0x50_0000);
    lane.begin(10, 1000, 0);
    lane.node(1, 0, 1, 0x151).node(2, 1, 1, 0x242).node(3, 2, 2, 0x507).node(4, 2, 1, 0x303);
    lane.node(5, 3, 2, 0x409).node(6, 5, 2, 0x60a);
    lane.sample(1010, 1, 3).sample(1020, 3, 4).sample(1030, 7, 6).sample(1040, 15, 5).end(10, 1050, 15);
    let bytes = log(header(9), &[lane]);
    let logs = [LogBytes::alone("log/0.plog", Ok(&bytes))];
    let making = Making { paths, symbols: &symbols, spool: &Spool::default() };
    let profile = ingest_logs_by(making, "run", &logs, None, &Counter::default()).expect("a profile");
    assert_consistent(&profile);
    profile
}

#[test]
fn what_begins_a_thread_or_calls_a_closure_is_left_out_above_the_programs_functions() {
    let call = "core::ops::function::FnOnce::call_once";
    let site = |file: &str, line: u32| format!("@{file}.c:{line}");
    assert_eq!(
        amounts(&profile(CallPaths::User), Metric::Cpu),
        expected([
            ("work>:7", 10, 1.0),
            // Nothing of the program is below: the frames say what the thread does there.
            (&format!("clone3>start_thread{}>__madvise{}>:3", site(LIBC, 0x51), site(LIBC, 0x42)), 10, 2.0),
            // The closure is called from the line that led to it.
            (&format!("work>closure{}>:10", site(PROGRAM, 7)), 10, 4.0),
            // Time in an entrance itself.
            (&format!("work>{call}{}>:9", site(PROGRAM, 7)), 10, 8.0),
        ])
    );
}

/// Go's runtime ends the chain of frames where a goroutine begins, so that the unwinder does not see the end.
#[test]
fn a_path_that_begins_a_goroutine_is_complete() {
    let names = |module: &ModuleRequest, addresses: &[u64]| {
        let mut structure = synthetic::names(module, addresses);
        for function in &mut structure.functions {
            let name = match function.name.as_str() {
                "f1" => "runtime.goexit.abi0",
                "f2" => "main.main.func1",
                _ => "main.other",
            };
            (function.name, function.full_name) = (name.into(), name.into());
        }
        structure
    };
    let partial = |time_ns: u64, cpu_ns: u64, node: u32| Sample {
        time_ns: time_ns * 1_000_000,
        cpu_ns: cpu_ns * 1_000_000,
        node,
        ..Sample::default()
    };
    let mut lane = LaneBuilder::new(0);
    lane.module(1, PROGRAM, 7, 0x40_0000).begin(10, 1000, 0);
    lane.node(1, 0, 1, 0x101).node(2, 1, 1, 0x202).node(3, 0, 1, 0x303);
    lane.push(SAMPLE_PARTIAL, &partial(1010, 1, 2)).push(SAMPLE_PARTIAL, &partial(1020, 3, 3));
    lane.end(10, 1020, 3);
    let bytes = log(header(9), &[lane]);
    let logs = [LogBytes::alone("log/0.plog", Ok(&bytes))];
    let profile = ingest_logs("run", &logs, None, &names, &Counter::default()).expect("a profile");
    assert_consistent(&profile);
    assert_eq!(
        amounts(&profile, Metric::Cpu),
        expected([("main.main.func1>:2", 10, 1.0), ("partial>main.other>:3", 10, 2.0)])
    );
    assert_eq!((profile.quality.partial_paths, profile.quality.complete_paths), (1, 0.5));
    let partial: Vec<bool> = profile.samples.iter().map(|row| row.partial).collect();
    assert_eq!(partial, [false, true]);
}

#[test]
fn experts_see_all_frames() {
    let profile = profile(CallPaths::Expert);
    let paths: Vec<String> = amounts(&profile, Metric::Cpu).into_keys().map(|(path, _)| path).collect();
    assert!(paths.iter().all(|path| path.starts_with("clone3>start_thread")), "{paths:?}");
    assert!(paths.iter().any(|path| path.contains("call_once") && path.contains(">closure")), "{paths:?}");
}

#[test]
fn a_log_of_nothing_but_entrances_does_no_harm() {
    const DEEP: u32 = 200_000;
    let mut lane = LaneBuilder::new(0);
    lane.module(1, LIBC, 7, 0x40_0000).begin(10, 1000, 0);
    (1..=DEEP).for_each(|id| {
        lane.node(id, id - 1, 1, 0x100);
    });
    lane.sample(1010, 1, DEEP).end(10, 1050, 1);
    let bytes = log(header(9), &[lane]);
    let logs = [LogBytes::alone("log/0.plog", Ok(&bytes))];
    let profile = ingest_logs("run", &logs, None, &symbols, &Counter::default());
    assert_eq!(profile.expect("a profile").contexts.len(), DEEP as usize + 1);
}
