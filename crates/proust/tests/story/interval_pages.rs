//! What is inside of marked intervals, page by page and in comparisons, against the program's own counts and
//! clocks; and that an interval and the rest are the whole.

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{proust, run};
use crate::marks::{BESIDE_S, intervals};
use crate::mpi::Mpi;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, page_of, record, record_with};

/// A page of what a filter selects.
fn of(run: &Recorded, page: &str, filter: &str, options: &[&str]) -> Value {
    run.page(page, &[&["--where", filter], options].concat())
}

/// Inclusive processor time of a function, s.
fn cpu_of(page: &Value, function: &str) -> f64 {
    let rows = list(page, "/functions").iter().filter(|row| row["function"] == function);
    rows.map(|row| number(row, "/metrics/cpu_s/inclusive")).sum()
}

/// Calls of an operation, and the bytes that it moved.
fn calls_of(page: &Value, operation: &str) -> (f64, f64) {
    let rows = list(page, "/operations").iter().filter(|row| row["operation"] == operation);
    rows.fold((0.0, 0.0), |(calls, bytes), row| {
        (calls + number(row, "/calls"), bytes + row["bytes"].as_f64().unwrap_or(0.0))
    })
}

fn account(page: &Value, pointer: &str, id: &str) -> f64 {
    let rows = list(page, pointer).iter().filter(|row| row["id"] == id);
    rows.map(|row| number(row, "/seconds")).sum()
}

fn recorded(program: &str, case: &str) -> Option<Recorded> {
    Some(record(&built(program)?, &[case, "0.6"]).succeeded())
}

/// The second execution is selected by its number, all by the name. At 1 kHz a sample on each border is well
/// within the bound.
#[test]
fn pages_of_an_interval_have_what_the_program_did_in_it() {
    let Some(program) = built("marked-parts") else { return };
    let run = record_with(&["--rate", "1000"], program, &["parts", "0.6"]).succeeded();
    let truth = run.truth();
    let parts = list(&truth, "/parts");
    let sum = |of: &[Value], field: &str| of.iter().map(|part| number(part, field)).sum::<f64>();
    let cases = [
        ("interval=part", parts),
        ("interval=part[5]", parts),
        ("interval=part[5]#1", &parts[..1]),
        ("interval=part#2", &parts[1..2]),
        ("interval=part#3,part#1", parts),
    ];
    for (filter, parts) in cases {
        // Of the last case all but the second execution.
        let parts: Vec<Value> = match filter {
            "interval=part#3,part#1" => vec![parts[0].clone(), parts[2].clone()],
            _ => parts.to_vec(),
        };
        let (cpu_s, time_s) = (sum(&parts, "/cpu_s"), sum(&parts, "/time_s"));
        let flat = of(&run, "flat", filter, &[]);
        // Samples count where they end, and one lies on each border.
        let slack_s = 0.02 * parts.len() as f64 + 0.05 * cpu_s;
        assert_close(filter, cpu_of(&flat, "part_work"), cpu_s, slack_s);
        let io = of(&run, "io", filter, &[]);
        assert_eq!(calls_of(&io, "write"), (sum(&parts, "/writes"), sum(&parts, "/bytes")), "{filter}: {io}");
        let waits = of(&run, "waits", filter, &[]);
        assert_eq!(calls_of(&waits, "nanosleep").0, sum(&parts, "/sleeps"), "{filter}: {waits}");
        // The account of the time inside is that of the page of intervals, and sums to its own total.
        for page in ["ledger", "summary"] {
            let page = of(&run, page, filter, &[]);
            let total_s = number(&page, "/ledger/total_s");
            let slots_s = number(&page, "/ledger/processors") * time_s;
            assert_close(filter, total_s, slots_s, BESIDE_S * parts.len() as f64 + 0.02 * slots_s);
            let rows = list(&page, "/ledger/accounts");
            let accounts: f64 = rows.iter().map(|row| number(row, "/seconds")).sum();
            assert_close(filter, accounts, total_s, 1e-6);
            let compute_s = account(&page, "/ledger/accounts", "compute");
            assert_close(filter, compute_s, cpu_s, BESIDE_S + 0.1 * cpu_s);
        }
        let tree = of(&run, "tree", filter, &[]);
        let root = number(&list(&tree, "/contexts")[0], "/metrics/cpu_s/inclusive");
        assert_close(filter, root, cpu_s, slack_s + BESIDE_S);
        // Its own time, and that of the function that computes for it.
        let callers: Value = run.page("callers", &["part_work", "--where", filter]);
        let inclusive_s = number(&callers, "/functions/0/metrics/cpu_s/inclusive");
        assert_close(filter, inclusive_s, cpu_of(&flat, "part_work"), 1e-6);
        let locks = of(&run, "locks", filter, &[]);
        assert!(number(&locks, "/waited_s") < 0.01, "{filter}: {locks}");
        let timeline = of(&run, "timeline", filter, &[]);
        let active_s: f64 = list(&timeline, "/locations").iter().map(|row| number(row, "/active_s")).sum();
        assert!(active_s > 0.9 * cpu_s - BESIDE_S && active_s < time_s + BESIDE_S, "{filter}: {active_s}");
        let processes = of(&run, "processes", filter, &[]);
        let cpu: f64 = list(&processes, "/processes").iter().map(|row| number(row, "/cpu_s")).sum();
        assert_close(filter, cpu, root, 1e-6);
        let threads = of(&run, "threads", filter, &[]);
        let own: f64 = list(&threads, "/locations").iter().map(|row| number(row, "/wall_s")).sum();
        assert!((own - time_s).abs() < BESIDE_S * parts.len() as f64 + 0.05 * time_s, "{filter}: {threads}");
    }
}

/// `interval=NAME` and `interval!=NAME` are all there is.
#[test]
fn an_interval_and_the_rest_are_the_whole() {
    let Some(run) = recorded("marked-parts", "parts") else { return };
    let flat = |filter: &[&str]| -> f64 {
        let page: Value = run.page("flat", filter);
        let own =
            |row: &Value| row.pointer("/metrics/cpu_s/exclusive").map_or(0.0, |own| own.as_f64().unwrap());
        list(&page, "/functions").iter().map(own).sum()
    };
    let whole = flat(&[]);
    let parts: f64 =
        ["interval=part", "interval!=part"].iter().map(|filter| flat(&["--where", filter])).sum();
    assert_close("CPU time", parts, whole, 1e-6);
    for (page, operation) in [("io", "write"), ("waits", "nanosleep")] {
        let all = calls_of(&run.page(page, &[]), operation);
        let inside = calls_of(&of(&run, page, "interval=part", &[]), operation);
        let outside = calls_of(&of(&run, page, "interval!=part", &[]), operation);
        assert_eq!((inside.0 + outside.0, inside.1 + outside.1), all, "{operation}");
    }
    // Of the executions, one by one.
    let all = calls_of(&of(&run, "io", "interval=part", &[]), "write");
    let each = (1..=3).map(|n| calls_of(&of(&run, "io", &format!("interval=part#{n}"), &[]), "write"));
    assert_eq!(each.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1)), all);
    // The marked ones, and what is outside of all, are the whole run's account of the main thread.
    let page: Value = run.page("intervals", &[]);
    let of_main = |one: &Value| number(&list(one, "/locations")[0], "/time_s");
    let inside_s: f64 = intervals(&page).iter().map(of_main).sum();
    let run_s = number(&page["intervals"][0], "/execution_s");
    assert!(inside_s < run_s, "{page}");
}

#[test]
fn the_wait_for_a_lock_is_in_the_interval_that_waits() {
    let Some(run) = recorded("marked-parts", "parts") else { return };
    let truth_s = number(&run.truth(), "/intervals/locked/time_s");
    let lock_s = |filter: &str| account(&of(&run, "ledger", filter, &[]), "/ledger/accounts", "lock");
    assert_close("in it", lock_s("interval=locked"), truth_s, BESIDE_S + 0.1 * truth_s);
    assert!(lock_s("interval=part") < 0.01);
    let locks = of(&run, "locks", "interval=locked", &[]);
    assert_close("page locks", number(&locks, "/waited_s"), truth_s, BESIDE_S + 0.1 * truth_s);
    // The findings of an interval are those with their causes or losses in it.
    let found = |filter: &[&str]| -> usize {
        let page: Value = run.page("summary", filter);
        list(&page, "/findings").len()
    };
    let none = found(&["--where", "interval=part"]);
    let here = found(&["--where", "interval=locked"]);
    assert!(here <= found(&[]) && none <= found(&[]), "{here} {none}");
}

/// All that is lost in an interval has a cause, here or elsewhere, or is said to have none.
#[test]
fn what_was_lost_is_divided_completely() {
    for case in ["late", "idle", "workers", "replicated", "nested", "parts"] {
        let program = if case == "parts" { "marked-parts" } else { "marks" };
        let Some(run) = recorded(program, case) else { return };
        let page: Value = run.page("intervals", &[]);
        for one in intervals(&page) {
            let caused = &one["caused"];
            let of = |field: &str| number(caused, field);
            let sum_s = of("/inside_s") + of("/before_s") + of("/unknown_s");
            assert_close(case, sum_s, number(one, "/lost_s"), 1e-6 + 1e-6 * sum_s);
            let before: f64 = list(caused, "/before").iter().map(|one| number(one, "/seconds")).sum();
            assert_close(case, before, of("/before_s"), 1e-9 + 1e-9 * before);
        }
    }
}

/// Two runs, of which one interval takes twice as long in the second one.
#[test]
fn a_comparison_of_intervals_finds_the_one_that_changed() {
    let Some(program) = built("marked-parts") else { return };
    let folder = empty_folder();
    for (name, longer) in [("a", "1"), ("b", "2.5")] {
        let mut command = proust();
        command.current_dir(folder.path()).args(["record", "-o", name, "--"]);
        let ended = run(command.arg(&program).args(["changes", "0.5", longer]));
        assert!(ended.status.success(), "{}", ended.said());
    }
    let diff = |options: &[&str]| {
        let ended = run(proust().current_dir(folder.path()).args(["diff", "a", "b"]).args(options));
        assert!(ended.status.success(), "{}", ended.said());
        ended
    };
    let page = |page: &str, filter: &str| -> Value {
        let options = [page, "--where", filter, "--format", "json", "--metrics", "cpu_s"];
        serde_json::from_slice(&diff(&options).stdout).unwrap()
    };
    let total = |page: &Value| -> (f64, f64) { (number(page, "/total/a"), number(page, "/total/b")) };
    let (summary, steady) = (page("summary", "interval=changed"), page("summary", "interval=steady"));
    assert_eq!(summary["where"], "interval=changed");
    let (a_s, b_s) = total(&summary);
    assert!((0.3..0.6).contains(&a_s) && b_s > 2.0 * a_s, "{a_s} {b_s}");
    assert_eq!(summary["total"]["verdict"], "more", "{summary}");
    let compute = list(&summary, "/ledger/accounts").iter().find(|row| row["id"] == "compute").unwrap();
    assert!(number(compute, "/seconds/b") > 2.0 * number(compute, "/seconds/a"), "{compute}");
    assert_ne!(steady["total"]["verdict"], "more", "{steady}");
    let (a_s, b_s) = total(&steady);
    assert!((b_s - a_s).abs() < 0.1, "{a_s} {b_s}");
    // By number, by execution, by time, in all pages; each says its filter.
    let (a_s, b_s) = total(&page("summary", "interval=changed[3]#1"));
    assert!(b_s > 1.8 * a_s, "{a_s} {b_s}");
    for id in ["flat", "tree", "ledger", "threads"] {
        let page = page(id, "interval=changed");
        assert_eq!(page["where"], "interval=changed", "{id}");
        assert!(page.to_string().contains("changed") || id != "flat", "{page}");
    }
    let whole: Value =
        serde_json::from_slice(&diff(&["--format", "json", "--metrics", "cpu_s"]).stdout).unwrap();
    assert!(whole["where"].is_null());
    let early = page("summary", "time=0s..0.3s");
    assert!(total(&early).1 < 0.4, "{early}");
    let text = diff(&["--where", "interval=changed"]).printed();
    assert!(text.contains("only where interval=changed"), "{text}");
    let nothing =
        run(proust().current_dir(folder.path()).args(["diff", "a", "b", "--where", "interval=none"]));
    assert!(!nothing.status.success() || nothing.said().contains("no interval"), "{}", nothing.said());
}

/// In a comparison every page of a run and that of two have the same amounts.
#[test]
fn a_filter_of_a_comparison_is_that_of_a_report() {
    let Some(program) = built("marked-parts") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("a");
    let mut command = proust();
    command.args(["record", "-o"]).arg(&dir).arg("--").arg(program).args(["parts", "0.4"]);
    assert!(run(&mut command).status.success());
    for filter in ["interval=part", "interval=part#2", "state=lock", "thread=0", "function=part_work"] {
        let report: Value = page_of(&dir, "flat", &["--where", filter]);
        let mut command = proust();
        command.arg("diff").args([&dir, &dir]).args(["flat", "--where", filter]);
        let ended = run(command.args(["--format", "json", "--metrics", "cpu_s"]));
        assert!(ended.status.success(), "{filter}: {}", ended.said());
        let diff: Value = serde_json::from_slice(&ended.stdout).unwrap();
        let sum = |page: &Value, field: &str| -> f64 {
            let rows = list(page, "/functions").iter();
            rows.filter_map(|row| row.pointer(field).and_then(Value::as_f64)).sum()
        };
        let expected = sum(&report, "/metrics/cpu_s/exclusive");
        assert_close(filter, sum(&diff, "/metrics/cpu_s/exclusive/a"), expected, 1e-6 + 1e-3 * expected);
    }
}

/// Regions of OpenMP are those of the interval that opens them.
#[test]
fn regions_of_an_interval_are_its_own() {
    let Some(program) = built("marks-example-phases") else { return };
    let run = record::<&str>(&program, &[]).succeeded();
    let regions = |filter: &[&str]| -> (f64, f64) {
        let page: Value = run.page("openmp", filter);
        let rows = list(&page, "/regions").iter();
        rows.fold((0.0, 0.0), |(executions, work_s), row| {
            (executions + number(row, "/executions"), work_s + number(row, "/work_s"))
        })
    };
    let whole = regions(&[]);
    assert_eq!(whole.0, 6.0);
    let levels = ["interval=sweep[0]", "interval=sweep[1]"].map(|filter| regions(&["--where", filter]));
    assert_eq!([levels[0].0, levels[1].0], [3.0, 3.0]);
    assert_close("work", levels[0].1 + levels[1].1, whole.1, 1e-6);
    assert!(levels[1].1 > 1.3 * levels[0].1, "level 1 has twice the iterations: {levels:?}");
    assert_eq!(regions(&["--where", "interval=setup"]).0, 0.0);
    assert_close("solve", regions(&["--where", "interval=solve"]).1, whole.1, 1e-6);
    // The efficiencies are those of the account of the interval.
    for filter in ["interval=setup", "interval=solve"] {
        let total_s = number(&of(&run, "ledger", filter, &[]), "/ledger/total_s");
        let of_regions_s = number(&of(&run, "openmp", filter, &[]), "/efficiencies/total_s");
        assert_close(filter, of_regions_s, total_s, 1e-6);
        assert!(total_s < 0.9 * number(&run.page::<Value>("ledger", &[]), "/ledger/total_s"), "{filter}");
    }
}

/// Sweeps have intervals among their places, by name and number.
#[test]
fn scaling_and_degradation_know_intervals() {
    let Some(program) = built("marks-example-phases") else { return };
    let folder = empty_folder();
    let dir = folder.path().join("s");
    let mut command = proust();
    command.env_remove("OMP_NUM_THREADS").args(["sweep", "-o"]).arg(&dir);
    let ended = run(command.args(["--threads", "1,2", "--repeat", "2", "--"]).arg(program));
    assert!(ended.status.success(), "{}", ended.said());
    let scaling: Value = page_of(&dir, "scaling", &[]);
    let degradation: Value = page_of(&dir, "degradation", &[]);
    for (page, pointer) in [(&scaling, "/places"), (&degradation, "/regions")] {
        for label in ["setup", "solve", "sweep[0]", "sweep[1]"] {
            let is_it = |place: &&Value| place["kind"] == "interval" && place["name"] == label;
            assert!(list(page, pointer).iter().any(|place| is_it(&place)), "{label}: {page}");
        }
    }
    // The time of an interval with each count is that which its runs have.
    let solve = list(&degradation, "/regions").iter().find(|one| one["name"] == "solve").unwrap();
    assert_eq!(list(solve, "/times").len(), 2, "{solve}");
}

/// Calls of MPI in an interval, and those outside of it, are all calls.
#[test]
fn calls_of_mpi_are_those_of_the_interval() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some(run) = mpi.record("intervals", &["uneven"]) else { continue };
        let run = run.succeeded();
        let calls = |filter: &[&str], operation: &str| -> (f64, f64) {
            let page: Value = run.page("mpi", filter);
            let rows = list(&page, "/operations").iter().filter(|row| row["operation"] == operation);
            rows.fold((0.0, 0.0), |(calls, seconds), row| {
                (calls + number(row, "/calls"), seconds + number(row, "/seconds"))
            })
        };
        // Each of the two ranks, once.
        assert_eq!(calls(&["--where", "interval=all"], "MPI_Barrier").0, 2.0, "{mpi:?}");
        assert_eq!(calls(&["--where", "interval=of_one"], "MPI_Barrier").0, 0.0, "{mpi:?}");
        assert_eq!(calls(&["--where", "interval=all"], "MPI_Finalize").0, 0.0, "{mpi:?}");
        for operation in ["MPI_Barrier", "MPI_Init", "MPI_Finalize"] {
            let whole = calls(&[], operation);
            let inside = calls(&["--where", "interval=all"], operation);
            let outside = calls(&["--where", "interval!=all"], operation);
            assert_eq!(inside.0 + outside.0, whole.0, "{mpi:?} {operation}");
            assert_close(operation, inside.1 + outside.1, whole.1, 1e-6);
        }
        // Each rank has its own slots in the account of an interval.
        let ledger: Value = run.page("ledger", &["--where", "interval=all"]);
        let page: Value = run.page("intervals", &[]);
        let all = intervals(&page).iter().find(|one| one["name"] == "all").unwrap();
        assert_close("total", number(&ledger, "/ledger/total_s"), number(all, "/total_s"), 1e-6);
        assert_eq!(list(&ledger, "/owners").len(), 2, "{ledger}");
    }
}
