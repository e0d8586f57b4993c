//! All pages of one run tell the same numbers.

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::{proust, run};
use crate::programs::built;
use crate::recording::{Recorded, empty_folder, list, number, record};

/// Sums of doubles in another order.
const ROUNDING_S: f64 = 1e-6;

/// A measure in all, as a page of places has it: own amounts of all rows.
fn total(rows: &[Value], id: &str) -> f64 {
    rows.iter().filter_map(|row| row["metrics"][id]["exclusive"].as_f64()).sum()
}

fn of_map(map: &Value) -> f64 {
    map.as_object().map_or(0.0, |map| map.values().filter_map(Value::as_f64).sum())
}

fn assert_pages_agree(run: &Recorded) {
    let page = |name: &str| run.page::<Value>(name, &[]);
    let (summary, ledger, threads) = (page("summary"), page("ledger"), page("threads"));
    let (flat, tree, quality) = (page("flat"), page("tree"), page("quality"));
    let close = |what: &str, a: f64, b: f64| assert_close(what, a, b, ROUNDING_S * (1.0 + b.abs()));

    // The account, three times over.
    assert_eq!(summary["ledger"], ledger["ledger"]);
    let locations = list(&ledger, "/locations");
    assert_eq!(locations.len() as f64, number(&summary, "/run/threads"));
    for account in list(&ledger, "/ledger/accounts") {
        let id = account["id"].as_str().unwrap();
        let of = |row: &Value, map: &str| row[map][id].as_f64().unwrap_or(0.0);
        let charged = locations.iter().filter(|row| row["charged"] == true);
        let own: f64 = charged.map(|row| of(row, "accounts") - of(row, "beyond")).sum();
        let slots: f64 = list(&ledger, "/owners").iter().map(|row| of(row, "slots")).sum();
        close(id, own + slots, account["seconds"].as_f64().unwrap());
    }
    let sum: f64 = list(&summary, "/ledger/accounts").iter().map(|row| number(row, "/seconds")).sum();
    close("total", sum + number(&summary, "/ledger/residual_s"), number(&summary, "/ledger/total_s"));

    // Threads, on both pages that list them; each adds up to its life.
    for (a, b) in locations.iter().zip(list(&threads, "/locations")) {
        assert_eq!(
            (&a["thread"], &a["accounts"], &a["passive"]),
            (&b["thread"], &b["accounts"], &b["passive"])
        );
        close("wall", of_map(&b["accounts"]) + of_map(&b["passive"]), number(b, "/wall_s"));
    }

    // What places have sums up to what threads have.
    let of_threads = |field: &str| -> f64 {
        list(&threads, "/locations").iter().map(|row| number(row, &format!("/{field}"))).sum()
    };
    let account_of_threads = |id: &str| -> f64 {
        list(&threads, "/locations").iter().filter_map(|row| row["accounts"][id].as_f64()).sum()
    };
    let functions = list(&flat, "/functions");
    close("CPU time by function", total(functions, "cpu_s"), number(&summary, "/cpu_s"));
    close("CPU time by thread", of_threads("cpu_s"), number(&summary, "/cpu_s"));
    close("samples", of_threads("samples"), number(&quality, "/quality/samples"));
    let root = &list(&tree, "/contexts")[0]["metrics"];
    for id in ["cpu_s", "user_s", "system_s", "samples"] {
        close(id, number(root, &format!("/{id}/inclusive")), total(functions, id));
    }
    for id in ["compute", "io", "barrier", "lock", "runtime", "fault", "preempted", "oversubscribed"] {
        let metric = format!("{id}_s");
        close(&metric, total(functions, &metric), account_of_threads(id));
        close(&metric, root[&metric]["inclusive"].as_f64().unwrap_or(0.0), account_of_threads(id));
    }
    let passive: f64 = list(&threads, "/locations").iter().map(|row| of_map(&row["passive"])).sum();
    close("passive", root["passive_s"]["inclusive"].as_f64().unwrap_or(0.0), passive);

    // Proust's own time is one number.
    let own_s = number(&quality, "/quality/measurement_s");
    close("measurement", number(&summary, "/quality/measurement_s"), own_s);
    close("measurement", account_of_threads("measurement"), own_s);
    close("measurement", of_threads("measurement_s"), own_s);
}

#[test]
fn of_a_program_that_computes() {
    let Some(program) = built("shares") else { return };
    assert_pages_agree(&record(program, &["0.5"]).succeeded());
}

#[test]
fn of_threads_that_wait_for_each_other() {
    let Some(program) = built("waits") else { return };
    assert_pages_agree(&record(program, &["0.1", "mutex", "condition", "barrier", "sleep"]).succeeded());
}

#[test]
fn of_parallel_regions() {
    let Some(program) = built("openmp-regions-gcc") else { return };
    assert_pages_agree(&record(program, &["imbalance", "0.3"]).succeeded());
}

#[test]
fn of_processes_and_pipes() {
    let command = "for i in 1 2 3; do seq 20000 | sort -rn | tail -1; done";
    assert_pages_agree(&record("bash", &["-c", command]).succeeded());
}

#[test]
fn of_a_run_with_service_threads() {
    let Some(program) = built("services/main") else { return };
    assert_pages_agree(&record(program, &["0.3"]).succeeded());
}

/// What is shown depends on the logs alone: neither on which analysis of them it was, nor on how many threads
/// analysed them.
#[test]
fn an_analysis_that_is_made_again_is_the_same_byte_for_byte() {
    let folder = empty_folder();
    let dir = folder.path().join("demo");
    assert!(run(proust().args(["demo", "-o"]).arg(&dir)).status.success());
    let pages = ["summary", "findings", "ledger", "tree", "flat", "threads", "locks", "waits", "timeline"];
    let shown = |threads: &str| -> Vec<String> {
        std::fs::remove_dir_all(dir.join("profile")).unwrap();
        let page = |page: &&str| {
            let mut command = proust();
            command.arg("report").arg(&dir).args([page, "--format", "json"]);
            run(command.env("RAYON_NUM_THREADS", threads)).printed()
        };
        pages.iter().map(page).collect()
    };
    let first = shown("1");
    for threads in ["1", "2", "4", "2"] {
        for (page, (again, first)) in pages.iter().zip(shown(threads).iter().zip(&first)) {
            assert_eq!(again, first, "{page} with {threads} threads");
        }
    }
}
