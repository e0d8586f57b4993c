//! Another tool that runtimes of OpenMP tell, too, and runtimes that nobody can listen to.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{proust, run};
use crate::explained::Except;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

const REGIONS: &str = "2000";
const SECONDS: &str = "0.02";

/// What a program with this tool says of it at its end, without Proust.
fn said_alone(tool: &Path, program: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new(program);
    command.args(arguments).env("OMP_TOOL_LIBRARIES", tool);
    of_tool(&run(&mut command).said())
}

/// The line that the tool writes.
fn of_tool(said: &str) -> String {
    said.lines().find(|line| line.starts_with("tool: ")).unwrap_or_else(|| panic!("{said}")).into()
}

/// Records a program with these variables set.
fn record_with_variables(variables: &[String], program: &Path, arguments: &[&str]) -> Recorded {
    let mut all: Vec<&str> = variables.iter().map(String::as_str).collect();
    all.push(program.to_str().unwrap());
    all.extend(arguments);
    record("env", &all).succeeded()
}

fn record_with_tool(tool: &Path, program: &Path) -> Recorded {
    let tool = format!("OMP_TOOL_LIBRARIES={}", tool.display());
    record_with_variables(&[tool], program, &["many", SECONDS])
}

/// The sum of a field over all regions.
fn of_regions(run: &Recorded, field: &str) -> f64 {
    let page: Value = run.page("openmp", &[]);
    list(&page, "/regions").iter().map(|region| number(region, field)).sum()
}

fn executions(run: &Recorded) -> f64 {
    of_regions(run, "/executions")
}

/// How often threads came to sites, by what these are.
fn came(run: &Recorded) -> BTreeMap<String, u64> {
    let page: Value = run.page("openmp", &[]);
    let mut came = BTreeMap::new();
    for site in list(&page, "/regions").iter().flat_map(|region| list(region, "/sites")) {
        let construct = site["construct"].as_str().unwrap().to_owned();
        *came.entry(construct).or_default() += number(site, "/executions") as u64;
    }
    came
}

fn is_noted(run: &Recorded, what: &str) -> bool {
    run.summary().quality.notes.iter().any(|note| note.contains(what))
}

/// The other tool sees what it sees without Proust, finds the words that it gave to threads, regions and
/// tasks, and Proust's own account is what it is without the other one.
#[test]
fn a_tool_that_the_user_names_is_told_as_if_it_were_alone() {
    let Some(tool) = built("libopenmp-tool.so") else { return };
    let programs: [(&str, &[&str]); 6] = [
        ("openmp-regions-clang", &["many", SECONDS]),
        ("openmp-regions-clang", &["nested", SECONDS]),
        ("openmp-regions-clang", &["critical", SECONDS]),
        ("openmp-hostile-clang", &["tasks"]),
        ("openmp-hostile-clang", &["constructs"]),
        ("openmp-hostile-clang", &["changing"]),
    ];
    for (program, arguments) in programs {
        let Some(program) = built(program) else { continue };
        let alone = said_alone(&tool, &program, arguments);
        assert!(alone.ends_with("; 0 wrong"), "{alone}");
        let ours = record(&program, arguments).succeeded();
        if arguments == ["changing"] {
            ours.except(Except::ManyNewThreads);
        }
        let named = [format!("OMP_TOOL_LIBRARIES={}", tool.display())];
        // Ours comes before what the user preloads.
        let preloaded = [format!("LD_PRELOAD={}", tool.display())];
        let ways: &[&[String]] = if arguments == ["tasks"] { &[&named, &preloaded] } else { &[&named] };
        for variables in ways {
            let both = record_with_variables(variables, &program, arguments);
            if arguments == ["changing"] {
                both.except(Except::ManyNewThreads);
            }
            assert_eq!(of_tool(&both.ended.said()), alone);
            assert_eq!((executions(&both), came(&both)), (executions(&ours), came(&ours)));
            assert!(is_noted(&both, "has another tool for OpenMP attached"));
        }
    }
}

#[test]
fn work_beside_another_tool_is_measured_as_without_one() {
    let (Some(program), Some(tool)) = (built("openmp-regions-clang"), built("libopenmp-tool.so")) else {
        return;
    };
    let variable = format!("OMP_TOOL_LIBRARIES={}", tool.display());
    let run = record_with_variables(&[variable], &program, &["imbalance", "0.3"]);
    let true_s = number(&run.truth(), "/work_s");
    let displaced_s = ["preempted", "oversubscribed"].map(|id| run.summary().ledger.account_s(id));
    let allowed_s = 0.01 * true_s + 0.01 + 0.06 * displaced_s.iter().sum::<f64>();
    assert_close("work in regions", of_regions(&run, "/work_s"), true_s, allowed_s);
    run.assert_trustworthy();
}

#[test]
fn a_tool_that_is_not_there_hinders_nobody() {
    let Some(program) = built("openmp-regions-clang") else { return };
    let run = record_with_tool(Path::new("/nowhere/tool.so:relative.so"), &program);
    assert_eq!(executions(&run).to_string(), REGIONS);
    assert!(!is_noted(&run, "tool for OpenMP"));
}

#[test]
fn a_tool_in_the_program_is_told_and_ours_says_so() {
    let Some(program) = built("openmp-own-tool") else { return };
    let run = record(program, &["many", SECONDS]).succeeded();
    assert!(of_tool(&run.ended.said()).starts_with(&format!("tool: {REGIONS} regions,")));
    assert!(is_noted(&run, "has a tool for OpenMP of its own"), "{:#?}", run.summary().quality);
}

/// Where a runtime says that a lock is called from, is in the program: from the first call on.
#[test]
fn a_tool_in_the_program_is_told_where_the_program_calls() {
    let Some(program) = built("openmp-places") else { return };
    let bare = run(&mut Command::new(&program));
    assert!(bare.status.success(), "{}", bare.printed());
    let recorded = record(&program, &[] as &[&str]).succeeded();
    assert_eq!(recorded.ended.printed(), bare.printed());
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
    run.except(Except::OwnCalls);
    assert!(is_noted(&run, said), "{:#?}", run.summary().quality);
    assert_eq!(executions(&run), 0.0);
    let Some(dynamic) = built("openmp-regions-gcc") else { return };
    let ended = crate::command::run(proust().args(["doctor", "--"]).arg(dynamic));
    assert!(!ended.printed().contains("linked into"), "{}", ended.printed());
}
