//! Instances of C++ templates: two instances are two functions, with the shares that the program measured.

use std::path::Path;

use crate::chance::{Share, assert_close, assert_shares};
use crate::command::{proust, run};
use crate::pages::{Amount, Flat};
use crate::programs::built;
use crate::recording::{Recorded, number, record, report};

const SECONDS: &str = "2";
const INSTANCES: [&str; 4] = [
    "solve<float>",
    "solve<double>",
    "grid::Field<std::string>::smooth",
    "grid::Field<std::vector<double>>::smooth",
];

/// The row of exactly this name, of which there is one.
fn row(flat: &Flat, name: &str) -> Amount {
    let rows: Vec<_> = flat.functions.iter().filter(|row| row.function == name).collect();
    let names: Vec<&str> = flat.functions.iter().map(|row| row.function.as_str()).collect();
    assert_eq!(rows.len(), 1, "{name} in {names:?}");
    rows[0].amount("cpu_s")
}

fn assert_instances(program: impl AsRef<Path>) -> Recorded {
    let run = record(program.as_ref(), &[SECONDS]).succeeded();
    let (truth, flat) = (run.truth(), run.flat());
    let seconds = |name: &str| number(&truth["functions"], &format!("/{name}"));
    let true_total: f64 = INSTANCES.iter().map(|name| seconds(name)).sum();
    let total: f64 = INSTANCES.iter().map(|name| row(&flat, name).exclusive).sum();
    let shares: Vec<Share> = INSTANCES
        .iter()
        .map(|name| Share {
            name: (*name).to_owned(),
            found: row(&flat, name).exclusive / total,
            truth: seconds(name) / true_total,
        })
        .collect();
    assert_shares("instances", &shares, flat.total("samples"));
    run
}

#[test]
fn each_instance_has_its_own_name_and_share() {
    let Some(program) = built("instances") else { return };
    let run = assert_instances(program);
    // The tree shows them, too, each where it was called.
    let tree = run.tree();
    for name in INSTANCES {
        let contexts: Vec<_> = tree.contexts.iter().filter(|context| context.name == name).collect();
        assert!(!contexts.is_empty(), "{name}");
    }
}

#[test]
fn without_debug_information_instances_are_told_from_symbols() {
    let Some(program) = built("instances-nodebug") else { return };
    assert_instances(program);
}

#[test]
fn a_bare_name_selects_all_instances_and_a_whole_one_its_own() {
    let Some(program) = built("instances") else { return };
    let run = record(program, &["1"]).succeeded();
    let whole = run.flat();
    let selected = |filter: &str| -> Flat { run.page("flat", &["--where", filter]) };
    let of = |flat: &Flat| flat.functions.iter().map(|row| row.amount("cpu_s").exclusive).sum::<f64>();
    let (float, double) = (row(&whole, "solve<float>"), row(&whole, "solve<double>"));
    let all = of(&selected("function=solve"));
    assert_close("all instances", all, float.exclusive + double.exclusive, 1e-6);
    assert_close("one instance", of(&selected("function=solve<float>")), float.exclusive, 1e-6);
    assert_close("in quotes", of(&selected("function=\"solve<float>\"")), float.exclusive, 1e-6);
    let rows = row(&whole, "grid::Field<std::vector<double>>::smooth");
    let named = "function=Field<std::vector<double>>::smooth";
    assert_close("a member", of(&selected(named)), rows.exclusive, 1e-6);
    let both = rows.exclusive + row(&whole, "grid::Field<std::string>::smooth").exclusive;
    for all in ["function=smooth", "function=grid::Field::smooth", "function=\"smooth\""] {
        assert_close(all, of(&selected(all)), both, 1e-6);
    }
    let callers = report(&run.dir, "callers", &["solve"]);
    let text = callers.printed();
    assert!(text.contains("solve<float>") && text.contains("solve<double>"), "{text}");
}

#[test]
fn narrow_pages_tell_instances_apart() {
    let Some(program) = built("instances") else { return };
    let recorded = record(program, &["1"]).succeeded();
    for page in ["flat", "tree"] {
        let ended = run(proust().arg("report").arg(&recorded.dir).arg(page).env("COLUMNS", "80"));
        let text = ended.printed();
        for name in ["solve<float>", "solve<double>", "grid::Field<std::string>::smooth"] {
            assert!(text.contains(name), "{page}: no {name}:\n{text}");
        }
        let lines = text.lines().filter(|line| !line.trim_start().starts_with(['!', 'N']));
        let widest = lines.map(|line| line.chars().count()).max();
        assert!(widest <= Some(80), "{page} is {widest:?} columns wide:\n{text}");
    }
}
