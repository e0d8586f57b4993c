//! Metrics of MPI: a program counts and times its own calls; work and waits are all time in calls but for
//! the begin and the end of MPI; and the efficiencies are products of each other.

use serde_json::Value;

use crate::chance::assert_close;
use crate::mpi::Mpi;
use crate::mpi_findings::{STARVED, recorded};
use crate::recording::{Recorded, list, number};

const COUNTS: [&str; 7] = [
    "mpi_sends",
    "mpi_receives",
    "mpi_sent_bytes",
    "mpi_received_bytes",
    "mpi_collectives",
    "mpi_collective_bytes",
    "mpi_other_calls",
];

/// The sums of metrics over all that `--where` selects.
fn sums(run: &Recorded, metrics: &[&str], selected: &str) -> Vec<f64> {
    let list_of = metrics.join(",");
    let page: Value = run.page("tree", &["--metrics", &list_of, "--where", selected]);
    let root = list(&page, "/contexts").first().cloned().unwrap_or_default();
    metrics.iter().map(|metric| number(&root, &format!("/metrics/{metric}/inclusive"))).collect()
}

fn calls_are_counted(mpi: Mpi) {
    let Some(run) = mpi.record("counts", &["5"]) else { return };
    let run = run.succeeded();
    for rank in 0..2 {
        let is_its = |line: &&str| line.contains(&format!("\"rank\":{rank},"));
        let printed = run.ended.printed();
        let line = printed.lines().find(is_its).expect("the rank's line");
        let truth: Value = serde_json::from_str(line.trim()).expect("JSON");
        let selected = format!("rank={rank}");
        for (metric, found) in COUNTS.iter().zip(sums(&run, &COUNTS, &selected)) {
            // The begin and the end of MPI are the only other calls.
            let untold = if *metric == "mpi_other_calls" { 2.0 } else { 0.0 };
            assert_eq!(found, number(&truth, &format!("/{metric}")) + untold, "{metric} of rank {rank}");
        }
        // The sizes of messages sum to the same, and so do their calls and waits.
        let page: Value = run.page("mpi", &["--where", &selected]);
        let sizes = list(&page, "/message_sizes");
        let sum = |field: &str| sizes.iter().map(|line| number(line, &format!("/{field}"))).sum::<f64>();
        for (field, metric) in [
            ("sends", "mpi_sends"),
            ("receives", "mpi_receives"),
            ("sent_bytes", "mpi_sent_bytes"),
            ("received_bytes", "mpi_received_bytes"),
        ] {
            assert_eq!(sum(field), number(&truth, &format!("/{metric}")), "{field} of rank {rank}");
        }
        let states = list(&page, "/wait_states").iter();
        let is_of_messages =
            |state: &&Value| matches!(state["pattern"].as_str(), Some("late-sender" | "late-receiver"));
        let waited_s: f64 = states.filter(is_of_messages).map(|state| number(state, "/seconds")).sum();
        assert_close("waits by size", sum("waited_s"), waited_s, 1e-6);
        let others = ["MPI_Init", "MPI_Finalize"];
        let is_collective = |line: &Value| {
            let name = line["operation"].as_str().unwrap_or("");
            let collectives = list(&page, "/collectives");
            others.contains(&name) || collectives.iter().any(|of| of["operation"] == name)
        };
        let calls = list(&page, "/operations").iter().filter(|line| !is_collective(line));
        let calls_s: f64 = calls.map(|line| number(line, "/seconds")).sum();
        assert_close("calls by size", sum("seconds"), calls_s, 1e-6);

        let times = sums(&run, &["mpi_s", "mpi_work_s", "mpi_wait_s"], &selected);
        let waits: crate::pages::Operations = run.page("waits", &["--where", &selected]);
        let runtime_s = waits.of("MPI_Init").1 + waits.of("MPI_Finalize").1;
        assert_close("work and waits", times[1] + times[2] + runtime_s, times[0], 1e-6);
        let (own_s, told_s) = (times[0] - runtime_s, number(&truth, "/mpi_s"));
        assert!(own_s <= told_s && own_s >= 0.5 * told_s - 0.01, "{own_s} s of {told_s} s");
    }
    // A function selects calls as well.
    let of_one = sums(&run, &["mpi_sends", "mpi_collectives"], "function=persistent");
    assert_eq!(of_one, [2.0 * 5.0 * 3.0, 0.0]);
    // Of prepared collectives each start counts; not all libraries have them.
    let prepared = sums(&run, &["mpi_collectives"], "function=prepared")[0];
    assert!(prepared == 2.0 * 5.0 * 7.0 || (prepared == 0.0 && matches!(mpi, Mpi::Open)), "{prepared}");
}

#[test]
fn of_open_mpi_as_the_program_counts_them() {
    calls_are_counted(Mpi::Open);
}

#[test]
fn of_mpich_as_the_program_counts_them() {
    calls_are_counted(Mpi::Mpich);
}

/// The efficiencies of a case of the program `findings`: parallel, load balance, serialisation, transfer.
fn efficiencies(mpi: Mpi, case: &str) -> Option<[f64; 4]> {
    let run = recorded(mpi, 2, ("1", case), STARVED)?;
    let page: Value = run.page("mpi", &[]);
    let of = |field: &str| number(&page, &format!("/efficiency/{field}"));
    let products = of("load_balance") * of("communication_efficiency");
    assert_close("parallel efficiency", products, of("parallel_efficiency"), 1e-9);
    let products = of("serialisation_efficiency") * of("transfer_efficiency");
    assert_close("communication efficiency", products, of("communication_efficiency"), 1e-9);
    assert_close("transfer", of("ideal_s") / of("time_s"), of("transfer_efficiency"), 1e-9);
    let wall_s = number(&run.truth(), "/wall_s");
    assert!(of("time_s") >= wall_s && of("time_s") <= wall_s + 0.2, "{} {wall_s}", of("time_s"));
    Some(["parallel_efficiency", "load_balance", "serialisation_efficiency", "transfer_efficiency"].map(of))
}

/// Ranks sleep in these programs, so that even a loaded machine hardly changes who waits for whom.
#[test]
fn efficiencies_tell_a_balanced_program_from_the_others() {
    let mpi = Mpi::Open;
    let Some([parallel, balance, serialisation, transfer]) = efficiencies(mpi, "mpi-serial-chain-repaired")
    else {
        return;
    };
    // Sleeps that end late, on a busy machine, are in none of the first two.
    let found = [parallel, balance, serialisation, transfer];
    assert!(balance > 0.85 && serialisation > 0.75 && transfer > 0.75 && parallel > 0.6, "{found:?}");
    // Two ranks that take turns: each has half of the time, and no network would change that.
    let Some([parallel, balance, serialisation, _]) = efficiencies(mpi, "mpi-serial-chain") else { return };
    assert!((0.35..0.65).contains(&parallel) && balance > 0.85, "chain: {parallel} {balance}");
    assert!((0.4..0.62).contains(&serialisation), "chain: {serialisation}");
    // One of two ranks does all.
    let Some([parallel, balance, serialisation, _]) = efficiencies(mpi, "mpi-imbalance") else { return };
    assert!((0.35..0.65).contains(&parallel) && balance < 0.65, "imbalance: {parallel} {balance}");
    assert!(serialisation > 0.9, "imbalance: {serialisation}");
}
