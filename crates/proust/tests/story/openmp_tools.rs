//! Who else is told by runtimes of OpenMP, and runtimes that nobody can listen to: both are said.

use std::path::Path;

use serde_json::Value;

use crate::command::{proust, run};
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

const REGIONS: &str = "2000";
const SECONDS: &str = "0.02";

/// Records a program with this variable set.
fn record_with_tool(tool: &Path, program: &Path) -> Recorded {
    let tool = format!("OMP_TOOL_LIBRARIES={}", tool.display());
    record("env", &[tool.as_str(), program.to_str().unwrap(), "many", SECONDS]).succeeded()
}

fn executions(run: &Recorded) -> f64 {
    let page: Value = run.page("openmp", &[]);
    list(&page, "/regions").iter().map(|region| number(region, "/executions")).sum()
}

fn is_noted(run: &Recorded, what: &str) -> bool {
    run.summary().quality.notes.iter().any(|note| note.contains(what))
}

#[test]
fn a_tool_that_the_user_names_is_told_and_ours_says_so() {
    let (Some(program), Some(tool)) = (built("openmp-regions-clang"), built("libopenmp-tool.so")) else {
        return;
    };
    let run = record_with_tool(&tool, &program);
    assert!(run.ended.said().contains(&format!("tool: {REGIONS} regions")), "{}", run.ended.said());
    assert!(is_noted(&run, "has a tool for OpenMP that was given to it"), "{:#?}", run.summary().quality);
    assert_eq!(executions(&run), 0.0);
}

#[test]
fn a_tool_that_is_not_there_hinders_nobody() {
    let Some(program) = built("openmp-regions-clang") else { return };
    let run = record_with_tool(Path::new("/nowhere/tool.so:relative.so"), &program);
    assert_eq!(executions(&run).to_string(), REGIONS);
    assert!(!is_noted(&run, "has a tool for OpenMP"));
}

#[test]
fn a_tool_in_the_program_is_told_and_ours_says_so() {
    let Some(program) = built("openmp-own-tool") else { return };
    let run = record(program, &["many", SECONDS]).succeeded();
    assert!(run.ended.said().contains(&format!("tool: {REGIONS} regions")), "{}", run.ended.said());
    assert!(is_noted(&run, "has a tool for OpenMP of its own"), "{:#?}", run.summary().quality);
}

/// GCC's runtime asks nobody: a tool changes nothing.
#[test]
fn the_runtime_of_gcc_needs_no_tool() {
    let (Some(program), Some(tool)) = (built("openmp-regions-gcc"), built("libopenmp-tool.so")) else {
        return;
    };
    let run = record_with_tool(&tool, &program);
    assert_eq!(executions(&run).to_string(), REGIONS);
}

#[test]
fn a_runtime_that_is_linked_in_is_recognised() {
    let Some(program) = built("openmp-static-runtime") else { return };
    let said = "GCC's runtime of OpenMP is linked into the program";
    let ended = run(proust().args(["doctor", "--"]).arg(&program));
    assert!(ended.printed().contains(said), "{}", ended.printed());
    let run = record(&program, &["imbalance", "0.2"]).succeeded();
    run.except(Except::LinkedRuntime);
    assert!(is_noted(&run, said), "{:#?}", run.summary().quality);
    assert_eq!(executions(&run), 0.0);
    let Some(dynamic) = built("openmp-regions-gcc") else { return };
    let ended = crate::command::run(proust().args(["doctor", "--"]).arg(dynamic));
    assert!(!ended.printed().contains("linked into"), "{}", ended.printed());
}
