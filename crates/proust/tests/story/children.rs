//! Forked children that have nothing to record but that they were there: no file each, and nothing of them is
//! lost.

use std::collections::BTreeSet;
use std::process::Command;

use crate::command::run;
use crate::programs::built;
use crate::recording::{Recorded, number, record};

/// Logs that a run has.
fn logs(run: &Recorded) -> usize {
    std::fs::read_dir(run.dir.join("log")).expect("a folder of logs").count()
}

/// Process images that the run tells of, and what they used: CPU seconds in all.
fn images(run: &Recorded) -> (usize, f64) {
    let threads = run.threads();
    (threads.locations.len(), threads.locations.iter().map(|location| location.cpu_s).sum())
}

fn processes(run: &Recorded) -> usize {
    run.threads().locations.iter().map(|location| location.process).collect::<BTreeSet<_>>().len()
}

/// What `record` says that it recorded.
fn said_images(run: &Recorded) -> usize {
    let said = run.ended.said();
    let words: Vec<&str> = said.split_whitespace().collect();
    let at = words.iter().position(|&word| word == "recorded").expect("a line with a number");
    words[at + 1].parse().unwrap_or_else(|_| panic!("{said}"))
}

const CHILDREN: usize = 60;

/// Records that many children in this case, each of which has `each` images.
fn record_case(case: &str, each: usize) -> Option<Recorded> {
    let program = built("brief_children")?;
    let alone = run(Command::new(&program).args([case, "5"]));
    assert!(alone.status.success(), "{case} alone: {}{}", alone.printed(), alone.said());
    let run = record(program, &[case, &CHILDREN.to_string()]);
    assert!(run.ended.status.success(), "{case}: {}{}", run.ended.printed(), run.ended.said());
    let truth = run.truth();
    assert_eq!(number(&truth, "/as_expected"), CHILDREN as f64, "{case}: {truth:#}");
    assert_eq!(images(&run).0, CHILDREN * each + 1, "{case}");
    assert_eq!(said_images(&run), CHILDREN * each + 1, "{case}");
    let quality: serde_json::Value = run.page("quality", &[]);
    assert_eq!(quality["quality"]["unfollowed_processes"], 0, "{case}");
    Some(run)
}

/// On a busy machine a child may begin so late that its clock has to be asked for, in a log of its own.
const FEW: usize = CHILDREN / 6;

#[test]
fn children_that_only_end_have_no_file() {
    for (case, each) in [("exits", 1), ("returns", 1), ("killed", 1)] {
        let Some(run) = record_case(case, each) else { return };
        assert!(logs(&run) <= 1 + FEW, "{case}: {} logs", logs(&run));
    }
}

#[test]
fn children_that_load_another_image_leave_its_log_alone() {
    let Some(run) = record_case("execs", 2) else { return };
    assert!(logs(&run) <= 1 + CHILDREN + FEW, "{} logs", logs(&run));
    assert_eq!(processes(&run), CHILDREN + 1);
    let names: BTreeSet<_> =
        run.threads().locations.iter().map(|location| location.program.clone()).collect();
    assert!(names.contains("true") && names.contains("brief_children"), "{names:?}");
}

#[test]
fn children_of_such_children_are_there_too() {
    let Some(run) = record_case("forks", 2) else { return };
    // A child that waits for its own has something to record.
    assert!(logs(&run) <= 1 + CHILDREN + FEW, "{} logs", logs(&run));
}

#[test]
fn a_child_that_computes_is_sampled() {
    let Some(run) = record_case("burns", 1) else { return };
    let burned = number(&run.truth(), "/cpu_s");
    let of_children: f64 = images(&run).1 - run.threads().cpu_of_process(number(&run.truth(), "/pid") as u64);
    assert!(of_children > 0.95 * burned && of_children < 1.05 * burned, "{of_children} of {burned} s");
    let function = run.flat().total("cpu_s");
    assert!(function > 0.95 * burned, "{function} of {burned} s are in functions");
    run.assert_trustworthy();
}

#[test]
fn a_child_that_has_something_to_record_records_it() {
    for case in ["fails", "writes", "raw", "names"] {
        let Some(run) = record_case(case, 1) else { return };
        assert_eq!(logs(&run), 1 + CHILDREN, "{case}");
    }
    // Its own timer may end it before ours expires.
    record_case("handles", 1);
}

#[test]
fn a_child_that_makes_others_in_its_memory_has_a_log() {
    for case in ["vforks", "threads"] {
        let Some(program) = built("brief_children") else { return };
        let run = record(program, &[case, "20"]).succeeded();
        assert_eq!(processes(&run), 21, "{case}");
    }
}

/// Short-lived children are what shells are made of.
#[test]
fn a_shells_loop_leaves_few_files_and_every_process() {
    const TIMES: usize = 300;
    let script = format!(
        "i=0; while [ $i -lt {TIMES} ]; do i=$((i + 1)); ( : ); done
         i=0; while [ $i -lt {TIMES} ]; do i=$((i + 1)); /bin/true; done"
    );
    for shell in ["bash", "dash"] {
        if run(Command::new("sh").args(["-c", &format!("command -v {shell}")])).status.code() != Some(0) {
            println!("SKIP: no {shell} here");
            continue;
        }
        let alone = run(Command::new(shell).args(["-c", &script]));
        let run = record(shell, &["-c", &script]).succeeded();
        let (images, cpu_s) = images(&run);
        // The shell, children that end, and children that become another image.
        // Some shells load programs in their own memory: there is no image between.
        assert!([1 + 2 * TIMES, 1 + 3 * TIMES].contains(&images), "{shell}: {images}");
        assert_eq!(processes(&run), 1 + 2 * TIMES, "{shell}");
        assert!(logs(&run) <= 1 + TIMES + TIMES / 6, "{shell}: {} logs", logs(&run));
        // What is loaded before the collector is not seen, and its own work is.
        let bare_s = alone.cpu_s;
        assert!(
            cpu_s > 0.1 * bare_s && cpu_s < 3.0 * bare_s + 0.1,
            "{shell}: {cpu_s} s recorded, {bare_s} s bare"
        );
    }
}
