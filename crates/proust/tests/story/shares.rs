//! CPU shares 2:2:4:1 through inlined, called, recursive and tail-called code, in main and in created
//! threads.

use serde_json::Value;

use crate::chance::{Share, assert_close, assert_shares, independent};
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

const PARTS: [&str; 5] = ["inlined", "plain", "recursive", "tail_first", "tail_last"];
const SECONDS: &str = "3";

/// The thread's whole CPU time is in the report, and its parts have their true shares. `renamed`: under which
/// name a part is found where debug information is missing.
fn assert_thread(run: &Recorded, thread: &Value, renamed: impl Fn(&str) -> String) {
    let tid = number(thread, "/tid") as u64;
    let flat = run.flat_of_thread(tid);
    let total = flat.total("cpu_s");
    // The clock of the program misses what a thread does after its last reading, the collector what the first
    // thread did before it: the dynamic linker's work, some milliseconds. The exact check of the weights
    // against the clock is the quality page's.
    let cpu_s = number(thread, "/cpu_s");
    assert_close("CPU time of a thread", total, cpu_s, 1e-4 * cpu_s + 0.008);

    let true_total: f64 = PARTS.iter().map(|part| number(thread, &format!("/functions/{part}"))).sum();
    let shares: Vec<Share> = PARTS
        .iter()
        .map(|part| Share {
            name: part.to_string(),
            found: flat.cpu(&renamed(part)).exclusive / total,
            truth: number(thread, &format!("/functions/{part}")) / true_total,
        })
        .collect();
    // On a busy machine ticks are late, and a sample stands for several: so few equal ones would have that
    // error.
    let parts = PARTS.map(|part| flat.cpu(&renamed(part)));
    let equal = independent(&parts.map(|amount| (amount.exclusive / total, amount.exclusive_error / total)));
    assert!(equal > 0.2 * flat.total("samples"), "{equal} of {} samples", flat.total("samples"));
    assert_shares(&format!("thread {tid}"), &shares, flat.total("samples").min(equal));
}

#[test]
fn main_and_created_threads_show_their_true_shares() {
    let Some(program) = built("shares") else { return };
    let run = record(program, &[SECONDS]).succeeded();
    let truth = run.truth();
    for thread in list(&truth, "/threads") {
        assert_thread(&run, thread, str::to_string);
        let name = thread["name"].as_str().unwrap();
        assert_eq!(
            run.threads().thread(number(thread, "/tid") as u64).name,
            name,
            "threads have their names"
        );
    }
    run.assert_trustworthy();
}

#[test]
fn an_inlined_call_is_a_context_of_its_own() {
    let Some(program) = built("shares") else { return };
    let run = record(program, &[SECONDS, "0"]).succeeded();
    let tree = run.tree();
    let ancestors = tree.ancestors();
    let inlined = tree.of("inlined");
    assert!(!inlined.is_empty());
    for context in inlined {
        assert_eq!(context.kind, "inline", "{context:?}");
        let caller =
            ancestors(context).into_iter().find(|above| matches!(above.kind.as_str(), "frame" | "inline"));
        assert!(caller.is_some_and(|caller| caller.is("all_shares")), "{caller:?} is above {context:?}");
    }
    // Its file and line are where it was written.
    let flat = run.flat();
    let row = flat.row("inlined");
    assert!(row.file.as_deref().is_some_and(|file| file.ends_with("shares.cpp")), "{row:?}");
    assert!(row.line.is_some(), "{row:?}");
}

/// No frame of it is left, but the call above names it. On other processors calls are not read, and what it
/// jumped to seems to be called from above.
#[test]
fn a_function_that_ends_in_a_tail_call_is_still_on_the_path() {
    let Some(program) = built("shares") else { return };
    let run = record(program, &[SECONDS, "0"]).succeeded();
    let tree = run.tree();
    assert!(!tree.of("tail_last").is_empty() && !tree.of("tail_first").is_empty());
    let own = run.flat().cpu("tail_last").exclusive;
    let expected = if cfg!(target_arch = "x86_64") { own } else { 0.0 };
    assert_close("tail_last below tail_first", tree.cpu_below("tail_last", "tail_first"), expected, 1e-6);
    assert_close("tail_last below all_shares", tree.cpu_below("tail_last", "all_shares"), own, 1e-6);
}

#[test]
fn recursion_counts_once_in_inclusive_time() {
    let Some(program) = built("shares") else { return };
    let run = record(program, &[SECONDS, "0"]).succeeded();
    let flat = run.flat();
    let recursive = flat.cpu("recursive");
    // It calls nothing but itself.
    assert_close("inclusive time of recursive", recursive.inclusive, recursive.exclusive, 1e-6);
    let total = flat.total("cpu_s");
    assert!(flat.cpu("all_shares").inclusive <= total * 1.000_001);
    assert!(flat.cpu("all_shares").inclusive >= total * 0.97);
    let tree = run.tree();
    let ancestors = tree.ancestors();
    let deepest = tree
        .of("recursive")
        .into_iter()
        .map(|context| 1 + ancestors(context).iter().filter(|above| above.is("recursive")).count())
        .max();
    assert_eq!(deepest, Some(20), "levels of recursion");
}

#[test]
fn dwarf_4_tells_as_much_as_dwarf_5() {
    let Some(program) = built("shares-dwarf4") else { return };
    let run = record(program, &[SECONDS, "0"]).succeeded();
    assert_thread(&run, &list(&run.truth(), "/threads")[0], str::to_string);
    assert!(run.tree().of("inlined").iter().all(|context| context.kind == "inline"));
}

#[test]
fn without_debug_information_inlined_code_belongs_to_its_caller() {
    let Some(program) = built("shares-nodebug") else { return };
    let run = record(program, &[SECONDS, "1"]).succeeded();
    for thread in list(&run.truth(), "/threads") {
        assert_thread(&run, thread, |part| if part == "inlined" { "all_shares".into() } else { part.into() });
    }
    run.assert_trustworthy();
}

#[test]
fn stripped_code_is_shown_by_module_and_offset() {
    let Some(program) = built("shares-stripped") else { return };
    let run = record(program, &[SECONDS, "0"]).succeeded();
    let truth = run.truth();
    let flat = run.flat();
    let mut found: Vec<f64> = flat
        .functions
        .iter()
        .filter(|row| row.function.starts_with("shares-stripped+0x"))
        .map(|row| row.amount("cpu_s").exclusive / flat.total("cpu_s"))
        .collect();
    // The rest is in the C library: the program reads clocks, 2 % of its time on a busy machine.
    assert!(found.iter().sum::<f64>() > 0.95, "{:#?}", flat.functions);
    // The names are gone, the functions are not: by size they are the same.
    let mut parts: Vec<f64> =
        PARTS.iter().map(|part| number(&truth, &format!("/threads/0/functions/{part}"))).collect();
    found.sort_by(|a, b| b.total_cmp(a));
    parts.sort_by(|a, b| b.total_cmp(a));
    let true_total: f64 = parts.iter().sum();
    let shares: Vec<Share> = parts
        .iter()
        .zip(found.iter().chain(std::iter::repeat(&0.0)))
        .enumerate()
        .map(|(place, (part, &found))| Share {
            name: format!("number {place}"),
            found,
            truth: part / true_total,
        })
        .collect();
    assert_shares("stripped", &shares, flat.total("samples"));
    run.assert_trustworthy();
}
