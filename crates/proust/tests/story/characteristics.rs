//! The characteristics of the DVM system against a program's own clocks, in JSON and in the classic layout.

use serde_json::Value;

use crate::chance::assert_close;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record, report};

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
        for column in ["communication", "synchronization"] {
            let rows = one["dvm"]["operations"].as_object().expect("operations");
            let cell = |row: &Value| row[format!("{column}_s")].as_f64();
            let sum: f64 = rows.values().filter_map(cell).sum();
            close(column, sum, known(column));
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
        assert_close("output", of(output, "io_time"), io_s, BESIDE * (io_s + sleep_s));
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
