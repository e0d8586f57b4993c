//! Threads and coroutines with little stack: what the collector takes of it, and that it takes nothing
//! beyond.

use std::process::Command;

use serde_json::Value;

use crate::command::run;
use crate::hostile_arguments::no_call_differs;
use crate::programs::built;
use crate::recording::{empty_folder, list, number, record_with, truth_in};

/// What a handler may take of the stack that it interrupts, beyond what the kernel puts there for any
/// handler.
const HANDLER_BYTES: f64 = 4096.0;

#[test]
fn a_handler_takes_little_of_it() {
    let Some(program) = built("small_stacks") else { return };
    let alone = truth_in(&run(Command::new(&program).arg("0.2")));
    for places in ["/thread_written_bytes", "/coroutine_written_bytes"] {
        assert_eq!(number(&alone, places), 0.0, "nobody else writes there: {alone}");
    }
    let recorded = record_with(&["--rate", "1000"], &program, &["0.5"]).succeeded();
    let truth: Value = recorded.truth();
    println!("{truth}");
    assert_eq!(number(&truth, "/canaries_live"), 1.0, "written beyond a coroutine's stack: {truth}");
    for place in ["/thread_written_bytes", "/coroutine_written_bytes"] {
        let written = number(&truth, place);
        assert!(written > 0.0, "no sample came: {truth}");
        let own = written - number(&truth, "/signal_frame_bytes");
        assert!(own <= HANDLER_BYTES, "{place}: {own} bytes more than the kernel's frame: {truth}");
    }
    // What runs there is seen.
    assert!(recorded.flat().cpu("compute").inclusive > 0.5 * number(&truth, "/cpu_s"));
}

/// A deep call of such a program goes on in pieces from the heap, of which the next may lie anywhere.
#[test]
fn paths_lead_from_one_piece_of_a_split_stack_to_the_next() {
    let Some(program) = built("hostile_split") else { return };
    let recorded = record_with(&["--rate", "1000"], &program, &["pieces"]).succeeded();
    let quality = recorded.summary().quality;
    assert!(quality.samples > 0 && quality.complete_paths >= 0.95, "{quality:#?}");
    // All of it is below the function that the threads begin with, or their maker calls.
    let truth: Value = recorded.truth();
    let cpu_s = number(&truth, "/cpu_s");
    assert!(recorded.flat().cpu("goes_deep").inclusive > 0.9 * cpu_s, "{cpu_s} s");
}

/// Samples have an alternate stack of ours there, of which the program sees nothing: what it asks for, sets
/// and gets back, and where handlers run that it wants on a stack of its own.
#[test]
fn the_stack_that_samples_have_is_not_seen_as_an_alternate_one() {
    let Some(program) = built("hostile_split") else { return };
    let checks = |printed: String| -> Vec<String> {
        printed.lines().filter(|line| line.starts_with("alternate: ")).map(str::to_owned).collect()
    };
    let alone = run(Command::new(&program).arg("alternate"));
    assert!(alone.status.success(), "alone: {}", alone.printed());
    let recorded = record_with(&["--rate", "1000"], &program, &["alternate"]).succeeded();
    assert!(recorded.summary().quality.samples > 0, "no sample came");
    let (alone, recorded) = (checks(alone.printed()), checks(recorded.ended.printed()));
    assert!(alone.len() > 60, "{alone:?}");
    assert_eq!(recorded, alone);
}

/// What the kernel shows as one mapping may be several stacks, or go away in parts.
#[test]
fn nothing_is_taken_of_a_stacks_neighbours() {
    let Some(program) = built("hostile_stacks") else { return };
    for case in ["side_by_side", "side_by_side_with_signals", "goes_away_above"] {
        let alone = run(Command::new(&program).arg(case));
        assert!(alone.status.success(), "alone: {}", alone.printed());
        let recorded = record_with(&["--rate", "1000"], &program, &[case]);
        let said = recorded.ended.printed();
        assert!(recorded.ended.status.success(), "{said}{}", recorded.ended.said());
        if let Some(line) = said.lines().find(|line| line.contains("not possible here")) {
            println!("SKIP: {line}");
        }
    }
}

/// What the collector may take of a caller's stack beyond what the real function takes, in bytes.
const MOST_BYTES: f64 = 1024.0;

/// Calls of all kinds on stacks of 8 and 16 KiB, the first and the second time: what they use more while they
/// are recorded.
#[test]
fn calls_take_little_more_of_a_small_stack() {
    let Some(program) = built("stack_use") else { return };
    for (bytes, kind) in [
        ("8192", "fiber"),
        ("16384", "fiber"),
        ("8192", "alternate"),
        ("16384", "alternate"),
        ("16384", "thread"),
    ] {
        let folder = empty_folder();
        let alone = run(Command::new(&program).args([bytes, kind]).current_dir(folder.path()));
        if alone.status.code() == Some(2) {
            println!("SKIP: no {kind} of {bytes} bytes can be made here");
            continue;
        }
        let alone = truth_in(&alone);
        // Of samples as few as can be: a signal's frame is the kernel's. One that falls into a call all the
        // same does not do so each time.
        let mut too_much = Vec::new();
        for _ in 0..3 {
            let recorded = record_with(&["--rate", "1"], &program, &[bytes, kind]).succeeded();
            let truth: Value = recorded.truth();
            assert_eq!(number(&truth, "/overwritten_bytes"), 0.0, "beyond the {kind}'s stack");
            let calls = list(&truth, "/calls").iter().zip(list(&alone, "/calls"));
            let takes_too_much = |(with, without): &(&Value, &Value)| {
                let more = |time: &str| number(with, time) - number(without, time);
                ["/first", "/second"].into_iter().any(|time| more(time) > MOST_BYTES)
            };
            let said = |(with, without)| format!("{kind} of {bytes}: {with}, alone {without}");
            too_much = calls.filter(takes_too_much).map(said).collect();
            if too_much.is_empty() {
                break;
            }
        }
        assert!(too_much.is_empty(), "{too_much:?}");
    }
}

/// Every hook with arguments of all kinds, and every construct of OpenMP, on small stacks.
#[test]
fn no_hook_takes_more_than_a_kibibyte_of_a_small_stack() {
    no_call_differs(&["--stack", "--seed", "20261123"]);
}
