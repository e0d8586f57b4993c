//! What locks, waits, signals, I/O, cancellation, exceptions and fork do is the same with and without Proust:
//! return codes, errors, order of events.

use std::process::Command;

use crate::command::{Ended, run};
use crate::programs::built;
use crate::recording::record;

/// A hook that goes wrong once in a while is more likely to be seen.
const TIMES: usize = 3;

/// The lines that differ, both ways; whole outputs of hundreds of lines help nobody.
fn difference(alone: &str, other: &str) -> String {
    let missing =
        alone.lines().filter(|line| !other.lines().any(|one| one == *line)).map(|line| format!("- {line}"));
    let added =
        other.lines().filter(|line| !alone.lines().any(|one| one == *line)).map(|line| format!("+ {line}"));
    missing.chain(added).take(20).collect::<Vec<_>>().join("\n")
}

/// A program that hangs or crashes has said which case came before.
fn assert_same(how: &str, alone: &Ended, other: &Ended) {
    let (expected, printed) = (alone.printed(), other.printed());
    assert!(
        printed == expected && other.status.code() == alone.status.code(),
        "{how}: {:?}, alone {:?}; last line: {:?}; lines that differ:\n{}\n{}",
        other.status,
        alone.status,
        printed.lines().last(),
        difference(&expected, &printed),
        other.said()
    );
}

fn assert_unchanged(name: &str, at_least: usize) {
    let Some(program) = built(name) else { return };
    let alone = run(&mut Command::new(&program));
    let printed = alone.printed();
    assert!(alone.status.success(), "{name} itself: {:?}:\n{}", alone.status, wrong_lines(&printed));
    assert!(printed.lines().count() >= at_least, "{name} stopped early: {:?}", printed.lines().last());
    for time in 2..=TIMES {
        assert_same(&format!("{name} alone, run {time}"), &alone, &run(&mut Command::new(&program)));
    }
    for time in 1..=TIMES {
        let recorded = record(&program, &[] as &[&str]);
        assert_same(&format!("{name} recorded, run {time}"), &alone, &recorded.ended);
    }
}

fn wrong_lines(printed: &str) -> String {
    printed.lines().filter(|line| line.contains("WRONG")).collect::<Vec<_>>().join("\n")
}

#[test]
fn of_the_c_library() {
    assert_unchanged("semantics", 700);
}

#[test]
fn of_the_cpp_library() {
    assert_unchanged("semantics-cpp", 90);
}
