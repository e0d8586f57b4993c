//! Waits for other ranks: as long as the program says, of the right pattern, and caused by the late rank in
//! the function in which it was late.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::chance::assert_close;
use crate::command::run;
use crate::explained::Except;
use crate::mpi::Mpi;
use crate::recording::{Recorded, empty_folder, list, number, page_of, truth_in};
use crate::tier;

/// A pattern of the program `late`.
struct Case {
    /// The program's name of it, but for hyphens that of its function.
    name: &'static str,
    ranks: u32,
    /// Proust's name.
    pattern: &'static str,
    late_rank: u64,
}

const CASES: [Case; 16] = [
    Case { name: "late-sender", ranks: 2, pattern: "late-sender", late_rank: 0 },
    Case { name: "late-receiver", ranks: 2, pattern: "late-receiver", late_rank: 1 },
    Case { name: "barrier", ranks: 3, pattern: "wait-at-barrier", late_rank: 2 },
    Case { name: "alltoall", ranks: 3, pattern: "wait-at-n-to-n", late_rank: 1 },
    Case { name: "bcast", ranks: 3, pattern: "late-broadcast", late_rank: 1 },
    Case { name: "reduce", ranks: 2, pattern: "early-reduce", late_rank: 1 },
    Case { name: "waitall", ranks: 2, pattern: "late-sender", late_rank: 1 },
    Case { name: "ibarrier", ranks: 3, pattern: "wait-at-barrier", late_rank: 0 },
    Case { name: "sendrecv", ranks: 2, pattern: "late-sender", late_rank: 0 },
    // Each rank waits for the one before it, and the first one is the cause of all.
    Case { name: "chain", ranks: 3, pattern: "late-sender", late_rank: 0 },
    // The last one waits iterations after the first one was late.
    Case { name: "earlier", ranks: 3, pattern: "late-sender", late_rank: 0 },
    Case { name: "probed", ranks: 2, pattern: "late-sender", late_rank: 0 },
    Case { name: "matched-probe", ranks: 2, pattern: "late-sender", late_rank: 0 },
    Case { name: "matched-later", ranks: 2, pattern: "late-sender", late_rank: 0 },
    Case { name: "isendrecv", ranks: 2, pattern: "late-sender", late_rank: 0 },
    Case { name: "prepared", ranks: 3, pattern: "wait-at-n-to-n", late_rank: 0 },
];

/// How long a late rank sleeps in each of four rounds.
const DELAY_S: &str = "0.2";

fn text<'v>(value: &'v Value, field: &str) -> &'v str {
    value[field].as_str().unwrap_or("")
}

fn seconds(value: &Value) -> f64 {
    number(value, "/seconds")
}

fn sum_s<'v>(values: impl Iterator<Item = &'v Value>) -> f64 {
    values.map(seconds).sum()
}

fn check(case: &Case, run: &Recorded) {
    let (name, truth): (&str, Value) = (case.name, run.truth());
    let page: Value = run.page("mpi", &[]);
    let function = name.replace('-', "_");
    let (true_s, others_s) = (number(&truth, "/all_s"), number(&truth, "/others_s"));
    let tolerance_s = (0.05 * true_s).max(0.02);

    let states = list(&page, "/wait_states");
    let sites =
        || states.iter().flat_map(|state| list(state, "/sites").iter().map(move |site| (state, site)));
    let is_here = |site: &Value| text(site, "function") == function;
    let of_pattern =
        |(state, site): &(&Value, &Value)| text(state, "pattern") == case.pattern && is_here(site);
    let found_s = sum_s(sites().filter(|one| of_pattern(one)).map(|(_, site)| site));
    assert_close(name, found_s, true_s, tolerance_s);
    let other_s = sum_s(sites().filter(|one| !of_pattern(one)).map(|(_, site)| site));
    let most_s = (0.05 * true_s).max(others_s + 0.02);
    assert!(
        other_s <= most_s,
        "{name}: {other_s} s in other patterns, {others_s} s by the program: {page:#}"
    );

    let causes = list(&page, "/causes");
    let caused_s = |is: &dyn Fn(&Value) -> bool| {
        let victims = causes.iter().filter(|cause| is(cause)).flat_map(|cause| list(cause, "/victims"));
        sum_s(victims.filter(|victim| is_here(victim)))
    };
    let is_late =
        |cause: &Value| text(cause, "function") == "dawdle" && cause["rank"].as_u64() == Some(case.late_rank);
    let (late_s, all_s) = (caused_s(&is_late), caused_s(&|_| true));
    assert_close(&format!("{name}: causes"), all_s, found_s, 0.001);
    // Ranks that poll may keep others from running on their way here.
    let queued_s = caused_s(&|cause| text(cause, "kind") == "displaced" && !is_late(cause));
    assert!(
        late_s >= 0.9 * (found_s - queued_s) && late_s >= 0.6 * found_s,
        "{name}: {late_s} of {found_s} s are caused by the late rank: {page:#}"
    );

    // Whatever rank it is, its delay is on the critical path, in each of four rounds.
    let activities = list(&page, "/critical_path/activities").iter();
    let on_path_s = sum_s(activities.filter(|activity| text(activity, "function") == "dawdle"));
    let slept_s = 4.0 * DELAY_S.parse::<f64>().unwrap();
    assert!(on_path_s >= 0.98 * slept_s, "{name}: {on_path_s} of {slept_s} s are on the path: {page:#}");

    assert_costs(case, &truth, &page);
    assert_identities(name, run, &page);
}

/// Who is waited for directly has short-term costs; what others pass on is a long-term cost of the first one.
fn assert_costs(case: &Case, truth: &Value, page: &Value) {
    let name = case.name;
    let of = |field: &str| number(page, &format!("/delay_costs/{field}"));
    let delays = list(page, "/delay_costs/delays");
    let sum_of = |field: &str, is: &dyn Fn(&Value) -> bool| -> f64 {
        let rows = delays.iter().filter(|delay| is(delay));
        rows.map(|delay| number(delay, &format!("/{field}"))).sum()
    };
    let waited_s = sum_s(list(page, "/wait_states").iter());
    assert_close(&format!("{name}: short term"), sum_of("short_term_s", &|_| true), of("direct_s"), 1e-6);
    assert_close(&format!("{name}: long term"), sum_of("long_term_s", &|_| true), of("indirect_s"), 1e-6);
    assert_close(&format!("{name}: costs"), of("direct_s") + of("indirect_s"), waited_s, 1e-6);

    let passed_on = matches!(name, "chain" | "earlier");
    let all_s = number(truth, "/all_s");
    let long_s = if passed_on { number(truth, "/waited_s/2") } else { 0.0 };
    let is_late = |delay: &Value| {
        text(delay, "function") == "dawdle"
            && delay["rank"].as_u64() == Some(case.late_rank)
            && text(&delay["waited_in"], "function") == name.replace('-', "_")
    };
    let tolerance_s = (0.1 * all_s).max(0.03);
    assert_close(
        &format!("{name}: short term of the late one"),
        sum_of("short_term_s", &is_late),
        all_s - long_s,
        tolerance_s,
    );
    assert_close(
        &format!("{name}: long term of the late one"),
        sum_of("long_term_s", &is_late),
        long_s,
        tolerance_s,
    );
}

/// The critical path is as long as MPI lasted, whichever way it is divided.
fn assert_path(name: &str, page: &Value) {
    let of = |field: &str| number(page, &format!("/critical_path/{field}"));
    let sum_of = |table: &str| sum_s(list(page, &format!("/critical_path/{table}")).iter());
    let length_s = of("length_s");
    assert_close(&format!("{name}: the path"), length_s, number(page, "/efficiency/time_s"), 1e-6);
    assert_close(&format!("{name}: ranks on the path"), sum_of("ranks"), length_s, 1e-6);
    assert_close(&format!("{name}: activities on the path"), sum_of("activities"), length_s, 1e-6);
    let parts = ["activities_s", "imbalance_s", "other_code_s", "off_path_s"];
    let impact_s: f64 = parts.iter().map(|part| of(&format!("impact/{part}"))).sum();
    let ranks = number(page, "/ranks");
    assert_close(&format!("{name}: time of all ranks"), impact_s, ranks * length_s, 1e-6);
    assert!(parts.iter().all(|part| of(&format!("impact/{part}")) > -1e-6), "{name}: {page:#}");
    let costs_s: f64 =
        list(page, "/critical_path/activities").iter().map(|activity| number(activity, "/cost_s")).sum();
    assert_close(
        &format!("{name}: costs"),
        costs_s,
        of("impact/imbalance_s") + of("impact/other_code_s"),
        1e-6,
    );
}

/// What must hold of every page, whatever waited for whom.
fn assert_identities(name: &str, run: &Recorded, page: &Value) {
    assert_path(name, page);
    let of = |field: &str| number(page, &format!("/{field}"));
    let parts_s = of("partner_s") + of("transfer_s") + of("io_s") + of("runtime_s");
    assert_close(&format!("{name}: parts"), parts_s, of("mpi_s"), 1e-6);
    let sum_of = |table: &str, field: &str| -> f64 {
        list(page, &format!("/{table}")).iter().map(|row| number(row, &format!("/{field}"))).sum()
    };
    assert_close(&format!("{name}: calls"), sum_of("operations", "seconds"), of("mpi_s"), 1e-6);
    assert_close(
        &format!("{name}: waits of calls"),
        sum_of("operations", "partner_s"),
        of("partner_s"),
        1e-6,
    );
    assert_close(&format!("{name}: patterns"), sum_of("wait_states", "seconds"), of("partner_s"), 1e-6);
    assert_close(&format!("{name}: causes"), sum_of("causes", "seconds"), of("partner_s"), 0.01);
    // The ledger has the same waits.
    let ledger: Value = run.page("ledger", &[]);
    let accounts = list(&ledger, "/ledger/accounts").iter();
    let partner = accounts.filter(|account| account["id"] == "mpi-partner").map(seconds).sum::<f64>();
    assert_close(&format!("{name}: ledger"), partner, of("partner_s"), 0.01 * of("partner_s") + 0.01);
    assert_eq!(list(page, "/unmatched").len(), 0, "{name}: {page:#}");
    assert_eq!(number(page, "/matching/violations"), 0.0, "{name}");
    assert_eq!(number(page, "/matching/contradictions"), 0.0, "{name}");
}

fn waits(mpi: Mpi) {
    for (_, case) in CASES.iter().enumerate().filter(|(place, _)| tier::takes(place + mpi as usize, 2)) {
        let Some(run) = mpi.record_ranks(case.ranks, "late", &[case.name, DELAY_S]) else { return };
        let run = run.succeeded();
        if run.truth()["lacks"] == case.name {
            eprintln!("SKIP: {} has no functions for `{}`", mpi.name(), case.name);
            continue;
        }
        check(case, &run);
    }
}

#[test]
fn open_mpi_has_the_programmed_waits_with_their_causes() {
    waits(Mpi::Open);
}

#[test]
fn mpich_has_the_programmed_waits_with_their_causes() {
    waits(Mpi::Mpich);
}

/// Of calls only their sites: waits and causes are the same, and nothing is known of what called those.
#[test]
fn without_paths_calls_keep_their_sites() {
    let case = &CASES[0];
    for mpi in [Mpi::Open, Mpi::Mpich] {
        for (paths, below_main) in [("on", 4.0), ("off", 0.0)] {
            let arguments = [case.name, DELAY_S];
            let Some(run) = mpi.record_ranks_with(&["--mpi-paths", paths], case.ranks, "late", &arguments)
            else {
                continue;
            };
            let run = run.succeeded();
            check(case, &run);
            let sends = |selected: &str| {
                let page: Value = run.page("tree", &["--metrics", "mpi_sends", "--where", selected]);
                let root = list(&page, "/contexts").first().cloned().unwrap_or_default();
                number(&root, "/metrics/mpi_sends/inclusive")
            };
            // One in each of four rounds.
            assert_eq!(sends("function=late_sender"), 4.0, "{paths}");
            assert_eq!(sends("function=main"), below_main, "{paths}");
        }
    }
}

/// Everything that a program sends is received: in all kinds of sends, receives, requests, persistent ones,
/// probes, communicators within and between groups, and collectives. Some receives fail, which may have taken
/// messages: what is received after that from the same rank, under the same tag, is not matched, and all else
/// is, by several threads as well.
fn all_are_matched(mpi: Mpi) {
    let folder = crate::recording::empty_folder();
    let Some(run) = mpi.record("semantics", &[&folder.path().display().to_string()]) else { return };
    let run = run.succeeded();
    let page: Value = run.page("mpi", &[]);
    let mut unmatched = list(&page, "/unmatched").iter();
    let is_behind_failure =
        |row: &Value| text(row, "reason") == "behind-gap" && text(row, "part") != "collective";
    assert!(unmatched.all(is_behind_failure), "{:#} {:#}", page["unmatched"], page["matching"]);
    // Four receives fail, each with a few others in its channel; threads alone receive 1200 messages later.
    let behind: f64 = list(&page, "/unmatched").iter().map(|row| number(row, "/count")).sum();
    assert!(behind < 100.0, "{:#}", page["unmatched"]);
    // Its polling loops alone send as many.
    assert!(number(&page, "/matching/messages") > 100_000.0, "{:#}", page["matching"]);
    for field in ["contradictions", "violations", "untraced_calls", "unknown_requests"] {
        assert_eq!(number(&page, &format!("/matching/{field}")), 0.0, "{field}: {:#}", page["matching"]);
    }
    let messages: f64 = list(&page, "/matrix").iter().map(|pair| number(pair, "/messages")).sum();
    assert_eq!(messages, number(&page, "/matching/messages"));
}

#[test]
fn open_mpi_has_a_partner_for_every_message() {
    all_are_matched(Mpi::Open);
}

#[test]
fn mpich_has_a_partner_for_every_message() {
    all_are_matched(Mpi::Mpich);
}

/// Without the log of a rank no wait is made up: what it was a part of is counted, with the reason.
#[test]
fn what_a_missing_rank_was_a_part_of_is_not_matched() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some(run) = mpi.record_ranks(3, "late", &["chain", "0.05"]) else { continue };
        let run = run.succeeded();
        run.except(Except::DamagedLog);
        let of_rank = |one: &crate::pages::Location| one.rank == Some(1) && one.thread == one.process;
        let pid = run.threads().locations.iter().find(|one| of_rank(one)).map(|one| one.process);
        let prefix = format!("{}-", pid.expect("rank 1 is in the report"));
        let logs = fs::read_dir(run.dir.join("log")).expect("the folder of logs").flatten();
        let of_process = |log: &fs::DirEntry| log.file_name().to_string_lossy().starts_with(&prefix);
        let removed = logs.filter(of_process).map(|log| fs::remove_file(log.path()).expect("a log")).count();
        assert!(removed > 0);

        let page: Value = run.page("mpi", &[]);
        let unmatched = |rank: u64, part: &str| -> f64 {
            let rows = list(&page, "/unmatched").iter();
            let is_it = |row: &&Value| {
                row["rank"] == rank && text(row, "part") == part && text(row, "reason") == "not-recorded"
            };
            rows.filter(is_it).map(|row| number(row, "/count")).sum()
        };
        // In each of four rounds rank 0 sends to rank 1, and rank 1 to rank 2; all meet three times.
        assert_eq!((unmatched(0, "send"), unmatched(2, "receive")), (4.0, 4.0), "{page:#}");
        for rank in [0, 2] {
            assert!(unmatched(rank, "collective") >= 12.0, "{page:#}");
        }
        assert_eq!(list(&page, "/wait_states").len(), 0, "{page:#}");
        assert_eq!(number(&page, "/matching/messages"), 0.0, "{page:#}");
    }
}

/// A later job adds nothing to an earlier one's run: MPICH gives all its jobs one name.
#[test]
fn a_later_job_is_refused_the_folder_of_an_earlier_one() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let Some(launcher) = mpi.launcher() else { continue };
        let folder = empty_folder();
        let dir = folder.path().join("run");
        let record = || {
            let mut command = Command::new(&launcher[0]);
            command.args(&launcher[1..]).arg(env!("CARGO_BIN_EXE_proust")).args(["record", "-o"]).arg(&dir);
            run(command.args(["--", "sleep", "0.1"]))
        };
        let logs = || std::fs::read_dir(dir.join("log")).unwrap().count();
        let first = record();
        assert!(first.status.success(), "{}", first.said());
        assert_eq!(logs(), 2);
        let later = record();
        assert!(!later.status.success(), "{}", later.said());
        assert!(later.said().contains("holds another run (sleep 0.1)"), "{}", later.said());
        assert_eq!(logs(), 2);
    }
}

/// The launcher starts a recorder for each rank, and all of them record one run.
#[test]
fn ranks_with_a_recorder_each_are_matched_too() {
    for mpi in [Mpi::Open, Mpi::Mpich] {
        let (Some(launcher), Some(program)) = (mpi.launcher(), mpi.built("late")) else { continue };
        let folder = empty_folder();
        let dir = folder.path().join("run");
        let mut command = Command::new(&launcher[0]);
        command.args(&launcher[1..]).arg(env!("CARGO_BIN_EXE_proust")).args(["record", "-o"]).arg(&dir);
        let ended = run(command.arg("--").arg(program).args(["late-sender", DELAY_S]));
        assert!(ended.status.success(), "{}", ended.said());
        let page: Value = page_of(&dir, "mpi", &[]);
        assert_eq!(list(&page, "/unmatched").len(), 0, "{page:#}");
        let true_s = number(&truth_in(&ended), "/all_s");
        let of_pattern = |state: &&Value| text(state, "pattern") == "late-sender";
        let waited_s = sum_s(list(&page, "/wait_states").iter().filter(of_pattern));
        assert_close(mpi.name(), waited_s, true_s, (0.05 * true_s).max(0.02));
    }
}
