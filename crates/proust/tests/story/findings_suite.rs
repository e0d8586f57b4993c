//! Programs without a fault and with one, by which findings are judged (`tests/findings-suite`). Six of
//! them here.

use std::process::Command;

use crate::command::{proust, run};
use crate::programs::{folder, has};

/// What the script printed, if it can run here and said that all is well.
fn passed(options: &[&str]) -> Option<String> {
    if !has("python3") {
        println!("SKIP: python3 is not installed");
        return None;
    }
    let mut command = Command::new(folder().join("../tests/findings-suite"));
    let judged = run(command.args(options).arg("--proust").arg(proust().get_program()));
    let printed = judged.printed();
    for line in printed.lines().filter(|line| line.starts_with("SKIP:")) {
        println!("{line}");
    }
    assert!(judged.status.success(), "{printed}{}", judged.said());
    (!printed.starts_with("SKIP:")).then_some(printed)
}

#[test]
fn the_judge_tells_right_from_wrong() {
    let Some(printed) = passed(&["--self-test"]) else { return };
    assert!(printed.lines().last().unwrap().ends_with("checks, 0 failed"), "{printed}");
}

#[test]
fn three_programs_without_a_fault_and_three_with_one() {
    let Some(printed) = passed(&["--six"]) else { return };
    let last = printed.lines().last().unwrap();
    let judged: u32 = last.split(' ').next().and_then(|number| number.parse().ok()).unwrap();
    let skipped = printed.lines().filter(|line| line.starts_with("SKIP:")).count();
    assert_eq!(judged as usize + skipped, 6, "{printed}");
}
