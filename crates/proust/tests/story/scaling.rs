//! What becomes slower with more threads is found, named to the line, with what to do; what does not is not.
//! Whatever else runs on the machine: what cannot be told for sure has to be called so.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde_json::Value;

use crate::command::{Ended, proust, run};
use crate::programs::{built, folder};
use crate::recording::{self, empty_folder, list, number};

const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// Runs a case with these counts; again with the same folder: only what is missing.
fn sweep(dir: &Path, program: &Path, case: &str, seconds: &str, counts: &str, repeat: &str) {
    let mut command = proust();
    command.args(["sweep", "--threads", counts, "--repeat", repeat, "-o"]).arg(dir).arg("--").arg(program);
    let ended = run(command.args([case, seconds]).stdin(Stdio::null()));
    assert!(ended.status.success(), "{case}: {}", ended.said());
}

fn report(dir: &Path, page: &str, options: &[&str]) -> Ended {
    recording::report(dir, page, options)
}

fn page(dir: &Path, name: &str, options: &[&str]) -> Value {
    let ended = report(dir, name, &[options, &["--format", "json"]].concat());
    assert!(ended.status.success(), "{name}: {}", ended.said());
    serde_json::from_slice(&ended.stdout).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn scaling_program(compiler: &str) -> Option<PathBuf> {
    built(&format!("openmp-scaling-{compiler}"))
}

/// The line of the work-sharing construct in `construct_inside`, from its source.
fn line_of_the_construct() -> u64 {
    let source = fs::read_to_string(folder().join("openmp/scaling.c")).unwrap();
    let inside = source.find("static void construct_inside").expect("the function");
    let construct = inside + source[inside..].find("#pragma omp for").expect("the construct");
    source[..construct].lines().count() as u64 + 1
}

fn region<'p>(page: &'p Value, id: &Value) -> &'p Value {
    list(page, "/regions").iter().find(|region| region["id"] == *id).expect("the region is a row")
}

/// Numbers of a page that hold whatever the program did.
fn assert_laws(page: &Value) {
    for region in list(page, "/regions") {
        for time in list(region, "/times") {
            let degraded = time["verdict"] == "degraded";
            let time_s = number(time, "/corrected_s");
            assert!(time_s <= number(time, "/time_s"), "{region:#}");
            assert_eq!(number(time, "/strength_s"), if degraded { time_s } else { 0.0 }, "{region:#}");
            // Threads are told of regions and their sites, and none takes longer than its region.
            for thread in list(time, "/threads") {
                assert!(number(thread, "/corrected_s") <= number(thread, "/time_s"), "{region:#}");
            }
            let speedup = number(&region["times"][0], "/corrected_s") / time_s;
            let first = number(&region["times"][0], "/count");
            assert!(time_s == 0.0 || (number(time, "/speedup") - first * speedup).abs() < 1e-9, "{region:#}");
            let efficiency = number(time, "/speedup") / number(time, "/count");
            assert!((number(time, "/efficiency") - efficiency).abs() < 1e-9, "{region:#}");
            assert!(number(time, "/loss_s") <= time_s, "{region:#}");
            let count = &time["count"];
            let sets = ["/ranks", "/oversubscribed_ranks"].map(|set| list(region, set).contains(count));
            assert_eq!(sets[0] || sets[1], degraded, "{region:#}");
        }
        for child in list(region, "/children") {
            assert_eq!(super::scaling::region(page, child)["parent"], region["id"]);
        }
    }
}

/// What all runs with a count took in their region, by their own clocks.
fn own_times(dir: &Path, count: u32) -> Vec<f64> {
    let file = |repetition: u32| dir.join(format!("threads-{count}.{repetition}.out"));
    let said = (1..).map_while(|repetition| fs::read_to_string(file(repetition)).ok());
    said.map(|said| number(&serde_json::from_str(&said).unwrap(), "/region_s")).collect()
}

fn most(times: &[f64]) -> f64 {
    times.iter().copied().fold(0.0, f64::max)
}

fn least(times: &[f64]) -> f64 {
    times.iter().copied().fold(f64::INFINITY, f64::min)
}

#[test]
fn a_construct_too_deep_in_the_nest_is_named_to_the_line() {
    for compiler in COMPILERS {
        let Some(program) = scaling_program(compiler) else { continue };
        let folder = empty_folder();
        let dir = folder.path().join("s");
        let mut found = None;
        // On a busy machine repetitions may overlap: more of them decide.
        for repeat in [3, 8, 12] {
            sweep(&dir, &program, "inner", "0.004", "1,2", &repeat.to_string());
            let page = page(&dir, "degradation", &[]);
            assert_laws(&page);
            found = list(&page, "/findings").iter().find_map(|finding| {
                let path = list(finding, "/path");
                let end = region(&page, &path[path.len() - 1]);
                let is_it = finding["advice"]["id"] == "move-outwards" && end["minimal_rank"] == 2;
                (is_it && end["kind"] == "segment").then(|| finding.clone())
            });
            if found.is_some() {
                break;
            }
        }
        let Some(found) = found else {
            let [one, two] = [1, 2].map(|count| own_times(&dir, count));
            let slower = least(&two) > 1.3 * most(&one);
            let page = page(&dir, "degradation", &[]);
            let is_doubt = list(&page, "/regions").iter().any(|r| r["class"] == "inconclusive")
                || list(&page, "/findings").iter().any(|f| f["advice"]["id"] == "quiet-machine");
            assert!(!slower || is_doubt, "{compiler}: not found, and {two:?} after {one:?}");
            println!("SKIP: {compiler}: here its own clocks say {two:?} after {one:?}");
            continue;
        };
        let (line, expected) = (found["line"].as_u64().unwrap(), line_of_the_construct());
        // A compiler puts a loop's barrier on the construct, or on a line of the loops right around it.
        assert!((expected - 3..=expected + 3).contains(&line), "{compiler}: line {line}, not {expected}");
        let waits: f64 =
            ["imbalance", "release-latency"].iter().map(|c| number(&found, &format!("/more/{c}"))).sum();
        let all: f64 = found["more"].as_object().unwrap().values().filter_map(Value::as_f64).sum();
        assert!(waits > 0.5 * all, "{found:#}");
    }
}

#[test]
fn what_scales_and_what_stays_as_it_is_is_not_flagged() {
    for compiler in COMPILERS {
        let Some(program) = scaling_program(compiler) else { continue };
        for case in ["outer", "control", "serial"] {
            let folder = empty_folder();
            let dir = folder.path().join("s");
            sweep(&dir, &program, case, "0.3", "1,2", "3");
            let page = page(&dir, "degradation", &[]);
            assert_laws(&page);
            // On a busy machine two threads may take longer than one. Then that is the reason.
            let [one, two] = [1, 2].map(|count| own_times(&dir, count));
            for finding in list(&page, "/findings") {
                let is_slower = most(&two) > least(&one);
                assert!(
                    is_slower && finding["advice"]["id"] == "quiet-machine",
                    "{case} by {compiler}: {two:?} after {one:?}: {finding:#}"
                );
            }
        }
    }
}

#[test]
fn counters_in_one_cache_line_are_work_inflation() {
    let Some(program) = scaling_program("gcc") else { return };
    let mut slower = Vec::new();
    for case in ["sharing", "apart"] {
        let folder = empty_folder();
        let dir = folder.path().join("s");
        sweep(&dir, &program, case, "0.3", "1,2", "3");
        slower.push(least(&own_times(&dir, 2)) > 1.2 * most(&own_times(&dir, 1)));
        let page = page(&dir, "degradation", &[]);
        let advised = list(&page, "/findings").iter().any(|f| f["advice"]["id"] == "share-less-memory");
        println!("{case}: slower by its own clocks: {:?}, found: {advised}", slower.last());
        if case == "apart" {
            assert!(!advised, "{:#}", page["findings"]);
        } else if slower[0] && !advised {
            // Other programs may be the reason, which is then said.
            let is_doubt = list(&page, "/regions").iter().any(|region| region["class"] == "inconclusive");
            assert!(is_doubt, "{:#}", page["regions"]);
        }
    }
    if !slower[0] {
        println!("SKIP: two processors that share a first-level cache do not mind who writes to a line");
    }
}

#[test]
fn losses_add_up_over_the_tree_and_over_accounts_in_every_format() {
    let Some(program) = scaling_program("gcc") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    sweep(&dir, &program, "serial", "0.1", "1,2,4", "2");
    let page = page(&dir, "scaling", &[]);
    let places = list(&page, "/places");
    for place in places {
        for (at, row) in list(place, "/counts").iter().enumerate() {
            let excess: f64 = list(row, "/accounts").iter().map(|account| number(account, "/excess_s")).sum();
            assert!((excess - number(row, "/excess_s")).abs() < 1e-6, "{place:#}");
            let is_part = |other: &&Value| other["parent"] == place["id"] && other["kind"] != "line";
            let parts: f64 =
                places.iter().filter(is_part).map(|part| number(part, &format!("/counts/{at}/loss"))).sum();
            if place["kind"] != "line" {
                let whole = number(row, "/loss");
                assert!((number(row, "/own_loss") + parts - whole).abs() < 1e-6, "{place:#}");
            }
        }
    }
    // Half of the work is done by one thread alone: that is what grows.
    let alone = places.iter().find(|place| place["name"] == "alone").expect("the serial function");
    let largest = &alone["counts"][0]["accounts"][0];
    assert!(["serial", "preempted"].contains(&largest["id"].as_str().unwrap()), "{alone:#}");
    let csv = report(&dir, "scaling", &["--format", "csv"]).printed();
    let program_row = csv.lines().nth(1).unwrap().to_owned();
    let excess = number(&places[0], "/counts/0/excess_s").to_string();
    assert!(program_row.contains(&excess), "{program_row} has no {excess}");
    let text = report(&dir, "scaling", &[]).printed();
    assert!(text.contains("oversubscribed") && text.contains("the program"), "{text}");
    let pictures = [("scaling", "Speedup"), ("degradation", "Region"), ("summary", "Processor time")];
    for (name, heading) in pictures {
        let file = folder.path().join(format!("{name}.svg"));
        let ended = report(&dir, name, &["--svg", file.to_str().unwrap()]);
        assert!(ended.status.success(), "{}", ended.said());
        let picture = fs::read_to_string(&file).unwrap();
        assert!(picture.starts_with("<svg") && picture.contains(heading), "{picture}");
    }
}

#[test]
fn what_cannot_be_compared_is_told() {
    let Some(program) = scaling_program("gcc") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    sweep(&dir, &program, "control", "0.05", "2", "1");
    for name in ["scaling", "degradation"] {
        let ended = report(&dir, name, &[]);
        assert_eq!(ended.status.code(), Some(2), "{}", ended.said());
        assert!(ended.said().contains("same count (2)"), "{}", ended.said());
        let ended = report(&dir.join("threads-2.1"), name, &[]);
        assert!(ended.status.code() == Some(2) && ended.said().contains("is no sweep"), "{}", ended.said());
    }
    let ended = report(&dir, "summary", &[]);
    assert!(ended.printed().contains("only one run is done"), "{}{}", ended.printed(), ended.said());
    let ended = report(&dir, "tree", &[]);
    assert!(ended.status.code() == Some(2) && ended.said().contains("threads-2.1 tree"), "{}", ended.said());
    sweep(&dir, &program, "control", "0.05", "1,2", "2");
    // A run of a version that is not known any more is left out, and the others are compared.
    let file = dir.join("threads-1.2/run.json");
    let mut other: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    other["schema"] = 77.into();
    fs::write(&file, other.to_string()).unwrap();
    fs::remove_dir_all(dir.join("threads-1.2/profile")).ok();
    let ended = report(&dir, "degradation", &["--paper"]);
    assert!(ended.status.success(), "{}", ended.said());
    let said = ended.printed();
    assert!(said.contains("threads-1.2 is left out") && said.contains("schema 77"), "{said}");
    assert!(said.contains("the original definition"), "{said}");
}

#[test]
fn without_debug_information_functions_still_compare() {
    let Some(program) = built("openmp-regions-stripped") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    sweep(&dir, &program, "imbalance", "0.1", "1,2", "2");
    let page = page(&dir, "scaling", &[]);
    let noted =
        list(&page, "/notes").iter().any(|note| note.as_str().unwrap().contains("no debug information"));
    assert!(noted && !list(&page, "/places").is_empty(), "{:#}", page["notes"]);
}

#[test]
fn other_inputs_are_other_work() {
    let Some(program) = built("openmp-regions-gcc") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    let mut command = proust();
    // How often regions are opened depends on the seconds asked for, which here depend on the number of
    // threads.
    command.args(["sweep", "--threads", "1,2", "--repeat", "2", "-o"]).arg(&dir).arg("--").arg(&program);
    let ended = run(command.args(["many", "0.{threads}"]).stdin(Stdio::null()));
    assert!(ended.status.success(), "{}", ended.said());
    let page = page(&dir, "degradation", &[]);
    assert!(!list(&page, "/disagreements").is_empty(), "{:#}", page["notes"]);
}

/// With weak scaling a count's expected cost is that many times the one of one thread, which changes nothing
/// but what is expected.
#[test]
fn a_problem_that_grows_with_the_count_may_cost_more() {
    let Some(program) = scaling_program("gcc") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    let mut command = proust();
    command.args(["sweep", "--threads", "1,2", "--repeat", "2", "-o"]).arg(&dir).arg("--").arg(&program);
    let ended = run(command.args(["control", "0.{n}"]).stdin(Stdio::null()));
    assert!(ended.status.success(), "{}", ended.said());
    let (strong, weak) = (page(&dir, "scaling", &[]), page(&dir, "scaling", &["--weak"]));
    assert_eq!((&strong["sweep"]["scaling"], &weak["sweep"]["scaling"]), (&"strong".into(), &"weak".into()));
    let of = |page: &Value, what: &str| number(page, what);
    let expected_s =
        |page: &Value| of(page, "/places/0/counts/0/cost_s") - of(page, "/places/0/counts/0/excess_s");
    assert!((expected_s(&weak) - 2.0 * expected_s(&strong)).abs() < 1e-6, "{weak:#}");
    let speedup = "/curve/1/speedup";
    assert!((of(&weak, speedup) - 2.0 * of(&strong, speedup)).abs() < 1e-6, "{weak:#}");
    // The work is twice as much, and known as that whatever else ran: computation takes no more than twice
    // the time, but for what two processors that share their parts take from each other.
    let computed = |page: &Value| number(page, "/curve/1/computation_scaling");
    assert!(computed(&weak) > 0.5 && computed(&strong) < 0.75, "{:#}", weak["curve"]);
}

#[test]
fn of_several_axes_one_is_the_count_and_the_others_are_chosen() {
    let Some(program) = scaling_program("gcc") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    let mut command = proust();
    command.args(["sweep", "--threads", "1,2", "--axis", "size=0.05,0.1", "--repeat", "1", "-o"]).arg(&dir);
    let ended = run(command.arg("--").arg(&program).args(["control", "{size}"]).stdin(Stdio::null()));
    assert!(ended.status.success(), "{}", ended.said());
    let small = page(&dir, "scaling", &[]);
    let noted = |page: &Value, what: &str| {
        list(page, "/notes").iter().any(|note| note.as_str().unwrap_or_default().contains(what))
    };
    assert!(noted(&small, "size=0.1"), "{:#}", small["notes"]);
    let large = page(&dir, "scaling", &["size=0.1"]);
    assert!(!noted(&large, "size=0.05"), "{:#}", large["notes"]);
    for page in [&small, &large] {
        assert_eq!(list(page, "/curve").len(), 2, "{page:#}");
        assert_eq!(number(page, "/curve/0/runs"), 1.0, "{page:#}");
    }
    let wrong = report(&dir, "scaling", &["size=7"]);
    assert!(wrong.status.code() == Some(2) && wrong.said().contains("size=0.05|0.1"), "{}", wrong.said());
    let compare = |point: &str| run(proust().arg("diff").args([&dir, &dir]).args(["--at", point]));
    assert!(compare("threads=2,size=0.1").status.success());
    let open = compare("threads=2");
    assert!(open.status.code() == Some(2) && open.said().contains("size=0.1"), "{}", open.said());
}
