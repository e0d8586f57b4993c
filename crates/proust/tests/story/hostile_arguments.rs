//! Arguments that a function refuses, or does not look at: what comes of the call is what came of it alone.

use std::process::Command;

use crate::command::{proust, run};
use crate::programs::{built, folder, has};
use crate::recording::record;

#[test]
fn what_a_function_refuses_is_refused() {
    let Some(program) = built("hostile_arguments") else { return };
    let alone = run(&mut Command::new(&program));
    let recorded = record(&program, &[] as &[&str]).succeeded();
    let (alone, recorded) = (alone.printed(), recorded.ended.printed());
    assert!(alone.contains("execve path 1: errno 14"), "the program does not do what it is for: {alone}");
    let different: Vec<String> = alone
        .lines()
        .zip(recorded.lines())
        .filter(|(alone, recorded)| alone != recorded)
        .map(|(alone, recorded)| format!("alone {alone}, recorded {recorded}"))
        .collect();
    assert!(different.is_empty(), "{}", different.join("\n"));
    assert_eq!(alone.lines().count(), recorded.lines().count());
}

/// A few calls of each hooked function; `tests/fuzz-hooks` makes as many as are wanted.
#[test]
fn a_bad_argument_is_seen_by_the_real_function_alone() {
    no_call_differs(&["--seed", "20261122"]);
}

/// Makes twelve calls of each hooked function with `tests/fuzz-hooks`: none differs from the bare program's.
pub fn no_call_differs(options: &[&str]) {
    let Some(program) = built("hook_fuzz") else { return };
    if !has("python3") || !has("objcopy") {
        println!("SKIP: python3 or objcopy is not installed");
        return;
    }
    let mut command = Command::new(folder().join("../tests/fuzz-hooks"));
    command.args(options).args(["--calls", "12", "--proust"]).arg(proust().get_program());
    let fuzzed = run(command.arg("--program").arg(program));
    let printed = fuzzed.printed();
    for line in printed.lines().filter(|line| line.starts_with("SKIP:")) {
        println!("{line}");
    }
    assert!(fuzzed.status.success(), "{printed}{}", fuzzed.said());
    let last = printed.lines().last().unwrap();
    assert!(last.contains(" 0 differences"), "{last}");
    let calls: f64 =
        last.split(", ").nth(1).and_then(|part| part.split(' ').next()).unwrap().parse().unwrap();
    assert!(calls > 2000.0, "{last}");
}
