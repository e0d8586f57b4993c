//! The characteristics of the DVM system against a program's own clocks, in JSON and in the classic layout.

use serde_json::Value;

use crate::chance::assert_close;
use crate::explained::Except;
use crate::mpi::Mpi;
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record, report};

/// What may lie between the program's clock and the mark beside it on a busy machine, as a part of the time.
const BESIDE: f64 = 0.1;

fn interval<'p>(page: &'p Value, name: &str) -> &'p Value {
    let found = list(page, "/intervals")[1..].iter().find(|one| one["name"] == name);
    found.unwrap_or_else(|| panic!("no interval {name}: {page}"))
}

fn of(interval: &Value, characteristic: &str) -> f64 {
    number(interval, &format!("/dvm/{characteristic}_s"))
}

fn jacobi(compiler: &str) -> Option<(Recorded, Value, Value)> {
    let program = built(&format!("jacobi-{compiler}"))?;
    let run = record(&program, &["1.0"]).succeeded();
    let (truth, page) = (run.truth(), run.page("intervals", &[]));
    Some((run, truth, page))
}

/// Laws that hold in each interval of each run.
fn assert_identities(page: &Value) {
    for one in list(page, "/intervals") {
        let name = one["name"].as_str().unwrap_or_default();
        let close = |what: &str, a: f64, b: f64| {
            assert_close(&format!("{name}: {what}"), a, b, 1e-6 * number(one, "/dvm/total_time_s") + 1e-6);
        };
        let processors = number(one, "/dvm/processors");
        close("total", of(one, "total_time"), processors * of(one, "execution_time"));
        close("parts", of(one, "total_time"), of(one, "productive_time") + of(one, "lost_time"));
        let known = |id: &str| one["dvm"][format!("{id}_s")].as_f64().unwrap_or(0.0);
        let lost_s = known("insufficient_parallelism") + known("communication") + known("idle");
        close("lost", of(one, "lost_time"), lost_s);
        let by_pop = number(one, "/dvm/pop/dvm_efficiency");
        close("efficiency", number(one, "/dvm/efficiency"), by_pop);
        for column in ["communication", "synchronization", "variation", "overlap"] {
            let of_all = if column == "variation" { "time_variation" } else { column };
            let rows = one["dvm"]["operations"].as_object().expect("operations");
            let cell = |row: &Value| row[format!("{column}_s")].as_f64();
            let sum: f64 = rows.values().filter_map(cell).sum();
            close(column, sum, known(of_all));
        }
    }
}

#[test]
fn a_jacobi_of_two_threads_has_the_characteristics_that_it_measures() {
    for compiler in ["gcc", "clang"] {
        let Some((run, truth, page)) = jacobi(compiler) else { return };
        assert_identities(&page);
        let [serial_s, io_s, sleep_s] =
            ["serial_s", "io_s", "sleep_s"].map(|field| number(&truth, &format!("/{field}")));
        let threads = |field: &str| -> Vec<f64> {
            list(&truth, &format!("/{field}")).iter().map(|number| number.as_f64().unwrap()).collect()
        };
        let (loops, criticals, barriers) = (threads("loop_s"), threads("critical_s"), threads("barrier_s"));
        let sum = |of: &[f64]| of.iter().sum::<f64>();

        // One thread of two works: half is productive, half is insufficient parallelism.
        let setup = interval(&page, "setup");
        assert_close("setup", of(setup, "productive_time"), serial_s, BESIDE * serial_s);
        assert_close("setup lost", of(setup, "insufficient_parallelism_seq"), serial_s, BESIDE * serial_s);
        assert_close("setup efficiency", number(setup, "/dvm/efficiency"), 0.5, 0.02);
        assert_eq!(of(setup, "communication"), 0.0);

        // The loop: one thread works half as long as the other, and waits for it.
        let iterate = interval(&page, "iterate");
        let whole_s = sum(&loops) + sum(&criticals) + sum(&barriers);
        assert_close("loop", of(iterate, "cpu_time_par"), sum(&loops), BESIDE * whole_s);
        let communication_s = sum(&criticals) + sum(&barriers);
        assert_close("communication", of(iterate, "communication"), communication_s, BESIDE * whole_s);
        let efficiency = sum(&loops) / whole_s;
        assert_close("efficiency", number(iterate, "/dvm/efficiency"), efficiency, BESIDE);
        assert_close("imbalance", of(iterate, "load_imbalance"), loops[0] - loops[1], BESIDE * whole_s);
        // Each of the ten barriers counts once, and so does each of the ten critical sections of a team.
        let rows = &iterate["dvm"]["operations"];
        let steps = number(&truth, "/steps");
        assert_eq!(rows["team_barrier"]["count"].as_f64(), Some(steps), "{rows}");
        assert_eq!(rows["critical"]["count"].as_f64(), Some(steps), "{rows}");
        assert!(rows.get("start_shadow").is_none(), "there is no source for MPI: {rows}");
        let waits = &iterate["dvm"]["each"];
        assert!(waits[1]["communication_s"].as_f64() > waits[0]["communication_s"].as_f64(), "{waits}");

        // One thread writes, and then sleeps while nobody has anything to do.
        let output = interval(&page, "output");
        // What others took of the processor meanwhile is no input or output.
        let found_s = of(output, "io_time");
        assert!(found_s > 0.0 && found_s <= io_s + BESIDE * (io_s + sleep_s), "{found_s} of {io_s}");
        assert_close("passive", of(output, "cpu_time_passive"), sleep_s, BESIDE * sleep_s);
        let calls = output["dvm"]["operations"]["io"]["count"].as_f64();
        assert_eq!(calls, truth["blocks"].as_f64(), "{output}");

        // The whole.
        let all = interval(&page, "jacobi");
        let wall_s = number(&truth, "/wall_s");
        assert_close("wall", of(all, "execution_time"), wall_s, BESIDE * wall_s);
        let productive_s = serial_s + sum(&loops) + io_s + sleep_s;
        assert_close("productive", of(all, "productive_time"), productive_s, BESIDE * 2.0 * wall_s);
        let level_0 = &list(&page, "/intervals")[0];
        assert_close("level 0", of(level_0, "total_time"), number(level_0, "/total_s"), 0.02 * 2.0 * wall_s);
        let file = level_0["file"].as_str().unwrap_or_default();
        assert!(file.ends_with("jacobi.c") && level_0["line"].is_u64(), "main's place: {level_0}");
        drop(run);
    }
}

#[test]
fn the_classic_layout_shows_what_is_asked_for() {
    let Some((run, _, page)) = jacobi("gcc") else { return };
    let shown = |options: &[&str]| {
        let ended = report(&run.dir, "intervals", &[&["--format", "dvm"], options].concat());
        assert!(ended.status.success(), "{}", ended.said());
        ended.printed()
    };
    let whole = shown(&["--level", "0"]);
    assert_eq!(whole.matches("INTERVAL ( LINE= ").count(), 1, "{whole}");
    let efficiency = number(&list(&page, "/intervals")[0], "/dvm/efficiency");
    assert!(whole.contains(&format!("{efficiency:.6}")), "{efficiency}: {whole}");
    assert!(!whole.contains("Execution characteristics") && whole.contains("Team_barrier"), "{whole}");
    let one = shown(&["--level", "0", "--characteristics", "processors", "--ranks", "2"]);
    assert!(one.contains("Npr= 2 (") && !one.contains("Npr= 1 ("), "{one}");
    assert!(!one.contains("Main characteristics") && !one.contains("Remote_access"), "{one}");
    let zeros = shown(&["--zeros", "--characteristics", "operations"]);
    let remote = zeros.lines().find(|line| line.starts_with("Remote_access")).unwrap_or_default();
    assert_eq!(remote.split_whitespace().skip(1).collect::<Vec<_>>(), ["n/a"; 5], "{zeros}");
    // Without a page it is that of the intervals; what makes no sense is refused.
    assert!(report(&run.dir, "summary", &["--format", "dvm"]).status.success());
    for wrong in [
        vec!["intervals", "--format", "dvm-mpi"],
        vec!["flat", "--format", "dvm"],
        vec!["intervals", "--zeros"],
        vec!["intervals", "--format", "dvm", "--ranks", "x"],
    ] {
        let ended = report(&run.dir, wrong[0], &wrong[1..]);
        assert_eq!(ended.status.code(), Some(2), "{wrong:?}: {}", ended.said());
    }
}

/// What lies between a program's clock and the begin or end of its call where others want the processor, in
/// seconds: a few turns of theirs.
const TURNS_S: f64 = 0.1;

fn jacobi_of_ranks(mpi: Mpi, ranks: u32) -> Option<(Recorded, Value, Value)> {
    recorded_jacobi(mpi, ranks, "jacobi")
}

fn recorded_jacobi(mpi: Mpi, ranks: u32, program: &str) -> Option<(Recorded, Value, Value)> {
    let run = mpi.record_ranks(ranks, program, &["1.0"])?.succeeded();
    let (truth, page) = (run.truth(), run.page("intervals", &[]));
    Some((run, truth, page))
}

fn numbers(truth: &Value, field: &str) -> Vec<f64> {
    list(truth, &format!("/{field}")).iter().map(|number| number.as_f64().unwrap()).collect()
}

/// Every column of a row against the begins and ends that the ranks measured.
fn assert_row(one: &Value, row: &str, truth: &Value, of: &str, columns: &[&str]) {
    for column in columns {
        let found = number(one, &format!("/dvm/operations/{row}/{column}_s"));
        let expected = number(truth, &format!("/{of}/{column}_s"));
        assert_close(&format!("{row} {column}"), found, expected, BESIDE * expected + TURNS_S);
    }
}

fn a_jacobi_of_ranks_has_the_characteristics_that_it_measures(mpi: Mpi, program: &str) {
    let Some((run, truth, page)) = recorded_jacobi(mpi, 2, program) else { return };
    assert_identities(&page);
    let (ranks, steps) = (number(&truth, "/ranks"), number(&truth, "/steps"));
    let (setups, loops, io) =
        (numbers(&truth, "setup_s"), numbers(&truth, "loop_s"), numbers(&truth, "io_s"));
    let sum = |of: &[f64]| of.iter().sum::<f64>();

    // All ranks repeat the same work: one of them is productive.
    let setup = interval(&page, "setup");
    let setup_s = sum(&setups);
    assert_close("setup", of(setup, "cpu_time"), setup_s, BESIDE * setup_s);
    let repeated_s = setup_s * (ranks - 1.0) / ranks;
    assert_close("repeated", of(setup, "insufficient_parallelism_seq"), repeated_s, BESIDE * setup_s);
    assert_close("setup efficiency", number(setup, "/dvm/efficiency"), 1.0 / ranks, 0.05);
    assert_eq!(of(setup, "communication"), 0.0);

    // The distributed loop, which is uneven.
    let iterate = interval(&page, "iterate");
    assert_close("loop", of(iterate, "cpu_time_par"), sum(&loops), BESIDE * sum(&loops) + TURNS_S);
    let uneven_s: f64 = loops.iter().map(|own| loops.iter().fold(0.0, |a: f64, &b| a.max(b)) - own).sum();
    assert_close("imbalance", of(iterate, "load_imbalance"), uneven_s, BESIDE * sum(&loops) + TURNS_S);
    let rows = number(&truth, "/rows");
    assert_eq!(iterate["dvm"]["iterations"].as_f64(), Some(rows * steps * ranks), "{iterate}");

    // Each exchange and each reduction counts once, however many ranks take part.
    let count = |one: &Value, row: &str| number(one, &format!("/dvm/operations/{row}/count"));
    for row in ["start_shadow", "wait_shadow", "start_reduction", "wait_reduction"] {
        assert_close(row, count(iterate, row), steps, 1e-6);
        assert_row(iterate, row, &truth, row, &["synchronization", "variation"]);
    }
    assert_close("barriers", count(iterate, "barrier"), 1.0, 1e-6);
    assert_row(iterate, "barrier", &truth, "barrier", &["synchronization", "variation"]);
    // What is computed while the data are under way is with the begin.
    for (row, wait) in [("start_shadow", "wait_shadow"), ("start_reduction", "wait_reduction")] {
        let found = number(iterate, &format!("/dvm/operations/{row}/overlap_s"));
        let expected = number(&truth, &format!("/{wait}/overlap_s"));
        assert_close(&format!("{row} overlap"), found, expected, BESIDE * expected + TURNS_S);
    }
    // Polling ranks that others take the processor from are not communicating.
    let inside_s: f64 = ["start_shadow", "wait_shadow", "start_reduction", "wait_reduction", "barrier"]
        .iter()
        .map(|row| number(&truth, &format!("/{row}/communication_s")))
        .sum();
    let communication_s = of(iterate, "communication");
    assert!(communication_s <= 1.05 * inside_s + TURNS_S, "{communication_s} of {inside_s}");
    assert!(communication_s >= 0.5 * inside_s - TURNS_S, "{communication_s} of {inside_s}");

    // Rank 0 reads and hands on, collects and writes: both are input and output.
    for (name, row) in [("input", "broadcast"), ("output", "gather")] {
        let one = interval(&page, name);
        let operations = one["dvm"]["operations"].as_object().expect("operations");
        let is_there = |row: &str| operations.get(row).is_some_and(|row| row["count"].as_f64() > Some(0.0));
        assert!(is_there("io") && !is_there("broadcast") && !is_there("redistribution"), "{name}: {one}");
        assert_row(one, "io", &truth, row, &["synchronization", "variation"]);
    }
    let of_both = of(interval(&page, "input"), "io_time") + of(interval(&page, "output"), "io_time");
    assert!(of_both > 0.0 && of_both <= 1.05 * sum(&io) + TURNS_S, "{of_both} of {io:?}");

    // The whole, and the other analyzer's numbers.
    let all = interval(&page, "jacobi");
    let wall_s = numbers(&truth, "wall_s").into_iter().fold(0.0, f64::max);
    assert_close("wall", of(all, "execution_time"), wall_s, BESIDE * wall_s);
    let of_mpi = |id: &str| number(iterate, &format!("/dvm/mpi/{id}_s"));
    assert_close("time in MPI", of_mpi("mpi_time"), inside_s, BESIDE * inside_s + TURNS_S);
    let of_all_calls = number(&truth, "/wait_shadow/communication_s");
    assert_close("SendRecv", of_mpi("sendrecv_time"), of_all_calls, BESIDE * of_all_calls + TURNS_S);
    let parts_s = of_mpi("sendrecv_time") + of_mpi("collectiveall_time") + of_mpi("alltoall_time");
    assert_close("Comm", of_mpi("comm_time"), parts_s, 1e-6);
    assert!(of_mpi("comm_time") + of_mpi("t_start") <= of_mpi("mpi_time") + 1e-6);
    let by_collectives: f64 = ["start_reduction", "wait_reduction", "barrier"]
        .iter()
        .map(|row| number(&truth, &format!("/{row}/variation_s")))
        .sum();
    assert_close("Variation", of_mpi("time_variation"), by_collectives, BESIDE * by_collectives + TURNS_S);
    let (all_lost, replicated) =
        (number(iterate, "/dvm/mpi/efficiency"), &iterate["dvm"]["mpi"]["replicated"]);
    let more = of_mpi("mpi_time") / ranks / of_mpi("total_time");
    assert_close("readings", number(replicated, "/efficiency"), all_lost + more, 1e-6);
    assert!(of_mpi("message_span").is_finite());
    let run_s = number(&list(&page, "/intervals")[0], "/dvm/mpi/mpi_time_s");
    assert_close("all calls", run_s, number(&run.page::<Value>("mpi", &[]), "/mpi_s"), 1e-6);
    drop(run);
}

#[test]
fn a_jacobi_of_open_mpi_has_the_characteristics_that_it_measures() {
    a_jacobi_of_ranks_has_the_characteristics_that_it_measures(Mpi::Open, "jacobi");
}

#[test]
fn a_jacobi_in_fortran_of_open_mpi_has_the_characteristics_that_it_measures() {
    a_jacobi_of_ranks_has_the_characteristics_that_it_measures(Mpi::Open, "jacobi-fortran");
}

#[test]
fn a_jacobi_in_fortran_of_mpich_has_the_characteristics_that_it_measures() {
    a_jacobi_of_ranks_has_the_characteristics_that_it_measures(Mpi::Mpich, "jacobi-fortran");
}

#[test]
fn a_jacobi_of_mpich_has_the_characteristics_that_it_measures() {
    a_jacobi_of_ranks_has_the_characteristics_that_it_measures(Mpi::Mpich, "jacobi");
}

/// What is wrong, or not the same on all ranks, is said, and the rest is counted.
fn uneven_marks_of_ranks(mpi: Mpi) {
    let Some(run) = mpi.record("intervals", &["uneven"]) else { return };
    let page: Value = run.page("intervals", &[]);
    let dvm = |name: &str| &interval(&page, name)["dvm"];
    assert_eq!((&dvm("all")["processors"], &dvm("all")["missing"]), (&2.into(), &0.into()));
    assert_eq!((&dvm("of_one")["processors"], &dvm("of_one")["missing"]), (&1.into(), &1.into()));
    assert_eq!(dvm("of_one")["mpi"]["ranks"], serde_json::json!([0]));
    // Once, and twice.
    assert_eq!(dvm("often")["executions"].as_f64(), Some(1.5));
    assert_eq!(interval(&page, "often")["executions"], 3);
    assert_eq!(interval(&page, "open")["unmarked"], 1);
    let whole_s = of(interval(&page, "all"), "execution_time");
    assert!(
        of(interval(&page, "open"), "execution_time") <= whole_s + 1e-6,
        "it ends with the one around it"
    );
    let noted: Vec<(&str, &Value)> = list(&page, "/noted")
        .iter()
        .map(|note| (note["id"].as_str().unwrap_or_default(), &note["intervals"]))
        .collect();
    let of_note = |id: &str| noted.iter().find(|note| note.0 == id).map(|note| note.1.clone());
    assert_eq!(of_note("intervals-partial"), Some(serde_json::json!(["of_one"])), "{noted:?}");
    assert_eq!(of_note("executions-uneven"), Some(serde_json::json!(["often"])), "{noted:?}");
    assert_eq!(of_note("executions-unmarked"), Some(serde_json::json!(["open"])), "{noted:?}");
}

#[test]
fn marks_of_open_mpi_that_are_uneven() {
    uneven_marks_of_ranks(Mpi::Open);
}

#[test]
fn marks_of_mpich_that_are_uneven() {
    uneven_marks_of_ranks(Mpi::Mpich);
}

/// A killed rank has lost the end of its interval; so have the others, which the launcher ends.
fn marks_of_a_killed_rank(mpi: Mpi) {
    let Some(run) = mpi.record("intervals", &["killed"]) else { return };
    run.except(Except::Killed);
    let page: Value = run.page("intervals", &[]);
    let last = interval(&page, "last");
    assert_eq!((&last["executions"], &last["unmarked"]), (&2.into(), &2.into()), "{last}");
    assert_eq!(last["dvm"]["processors"], 2, "{last}");
    // Each was in it for the pause at least.
    assert!(of(last, "execution_time") >= 0.03, "{last}");
    assert!(list(&page, "/noted").iter().any(|note| note["id"] == "executions-unmarked"), "{page}");
}

#[test]
fn marks_of_a_killed_rank_of_open_mpi() {
    marks_of_a_killed_rank(Mpi::Open);
}

#[test]
fn marks_of_a_killed_rank_of_mpich() {
    marks_of_a_killed_rank(Mpi::Mpich);
}

/// Two jobs in one run have a rank 0 each.
fn two_jobs_of(mpi: Mpi) {
    let (Some(launcher), Some(program)) = (mpi.launcher(), mpi.built("intervals")) else { return };
    let job = format!("{} {} uneven", launcher.join(" "), program.display());
    let run = record("sh", &["-c", &format!("{job}; {job}")]);
    let page: Value = run.page("intervals", &[]);
    let dvm = &list(&page, "/intervals")[0]["dvm"];
    assert_eq!(dvm["processors"], 4, "{dvm:#}");
    assert_eq!(dvm["mpi"]["ranks"], serde_json::json!([0, 1, 0, 1]), "{dvm:#}");
    let jobs: Vec<Option<u64>> = list(dvm, "/mpi/jobs").iter().map(Value::as_u64).collect();
    assert!(jobs[0] == jobs[1] && jobs[2] == jobs[3] && jobs[0] != jobs[2], "{jobs:?}");
    // A barrier of two ranks in each.
    let all = interval(&page, "all");
    assert_eq!(number(all, "/dvm/operations/barrier/count"), 2.0, "{all:#}");
}

#[test]
fn two_jobs_of_open_mpi() {
    two_jobs_of(Mpi::Open);
}

#[test]
fn two_jobs_of_mpich() {
    two_jobs_of(Mpi::Mpich);
}

/// The forecast of two ranks beside a run with one: the program's own times say what each must be.
fn forecast_of(mpi: Mpi) {
    let (Some((two, of_two, _)), Some((one, of_one, _))) = (jacobi_of_ranks(mpi, 2), jacobi_of_ranks(mpi, 1))
    else {
        return;
    };
    let serial = one.dir.display().to_string();
    let page: Value = two.page("intervals", &["--serial", &serial]);
    let time = |name: &str, of: &str| number(interval(&page, name), &format!("/one_processor/{of}_s"));
    let (setups, alone) = (numbers(&of_two, "setup_s"), numbers(&of_one, "setup_s"));
    // What both repeated counts once.
    let mean_s = setups.iter().sum::<f64>() / 2.0;
    assert_close("forecast", time("setup", "forecast"), mean_s, BESIDE * mean_s);
    assert_close("serial", time("setup", "serial"), alone[0], BESIDE * alone[0]);
    assert!(interval(&page, "setup")["one_processor"]["sequential_s"].is_null());
    let several = report(&one.dir, "intervals", &["--serial", &two.dir.display().to_string()]);
    assert_eq!(several.status.code(), Some(2), "{}", several.said());
    assert!(several.said().contains("2 processors"), "{}", several.said());
    let elsewhere = report(&two.dir, "flat", &["--serial", &serial]);
    assert_eq!(elsewhere.status.code(), Some(2), "{}", elsewhere.said());
}

#[test]
fn a_forecast_of_open_mpi_beside_a_run_with_one_rank() {
    forecast_of(Mpi::Open);
}

#[test]
fn a_forecast_of_mpich_beside_a_run_with_one_rank() {
    forecast_of(Mpi::Mpich);
}

#[test]
fn the_layout_of_ranks_shows_the_numbers_of_the_json() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some((run, _, page)) = jacobi_of_ranks(mpi, 2) else { continue };
        let ended = report(&run.dir, "intervals", &["--format", "dvm-mpi", "--level", "0"]);
        let shown = ended.printed();
        let of = &list(&page, "/intervals")[0]["dvm"]["mpi"];
        for (name, id) in [
            ("Execution Time", "execution_time"),
            ("Lost Time", "lost_time"),
            ("Communication Time", "comm_time"),
            ("*****SendRecv Time", "sendrecv_time"),
            ("*****CollectiveAll Time", "collectiveall_time"),
            ("Potential Sync.", "potent_sync"),
            ("Time Variation", "time_variation"),
            ("Time of Start", "t_start"),
            ("Message Span", "message_span"),
        ] {
            let line = shown.lines().find(|line| line.starts_with(name));
            let value = line.and_then(|line| line[name.len()..].trim().parse::<f64>().ok());
            let exact = number(of, &format!("/{id}_s"));
            assert!(value.is_some_and(|value| (value - exact).abs() < 1e-6), "{name} {exact}: {shown}");
        }
        let first = report(&run.dir, "intervals", &["--format", "dvm-mpi", "--ranks", "0", "--level", "0"]);
        let first = first.printed();
        assert!(first.contains("Nproc = 0 ( rank 0 )") && !first.contains("Nproc = 1"), "{first}");
        let only = ["--format", "dvm-mpi", "--characteristics", "comparative", "--level", "0"];
        let only = report(&run.dir, "intervals", &only).printed();
        assert!(only.contains("---Comparative") && !only.contains("---Main"), "{only}");
        let some = report(&run.dir, "intervals", &["--format", "dvm", "--ranks", "2", "--level", "0"]);
        let some = some.printed();
        assert!(some.contains("Npr= 2 ( rank 1") && !some.contains("Npr= 1 ("), "{some}");
    }
}

/// A program that calls most functions of MPI: each call is in exactly one row, and each kind in its own.
fn rows_of(mpi: Mpi) {
    let folder = empty_folder();
    let Some(run) = mpi.record("semantics", &[&folder.path().display().to_string()]) else { return };
    let page: Value = run.page("intervals", &[]);
    assert_identities(&page);
    let dvm = &list(&page, "/intervals")[0]["dvm"];
    let rows = dvm["operations"].as_object().expect("operations");
    let count = |row: &str| rows.get(row).and_then(|row| row["count"].as_f64()).unwrap_or(0.0);
    for row in [
        "start_reduction",
        "wait_reduction",
        "start_shadow",
        "redistribution",
        "barrier",
        "broadcast",
        "point_to_point",
        "startup",
        "other",
    ] {
        assert!(count(row) > 0.0, "{row}: {dvm:#}");
    }
    // The beginning and the end, by two ranks.
    assert!(count("startup") >= 4.0, "{dvm:#}");
    // Some calls are made by several threads of a rank at once; of these one counts.
    let of_page: Value = run.page("mpi", &[]);
    let (all_s, by_ranks_s) = (number(&of_page, "/mpi_s"), number(dvm, "/mpi/mpi_time_s"));
    assert!(by_ranks_s <= all_s + 1e-6 && by_ranks_s > 0.0, "{by_ranks_s} of {all_s}");
}

#[test]
fn each_call_of_open_mpi_is_in_one_row() {
    rows_of(Mpi::Open);
}

#[test]
fn each_call_of_mpich_is_in_one_row() {
    rows_of(Mpi::Mpich);
}
