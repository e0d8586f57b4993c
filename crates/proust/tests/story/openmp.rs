//! Parallel regions: what the report says of each is what its threads measured themselves, whichever compiler
//! and runtime.

use serde_json::Value;

use crate::chance::assert_close;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record, record_with};

/// The same source by GCC and by Clang; each on its own runtime.
const COMPILERS: [&str; 2] = ["gcc", "clang"];

/// Runs `story` on what each compiler made of the program.
fn by_each(name: &str, seconds: &str, story: impl Fn(&Recorded, &Value)) {
    for compiler in COMPILERS {
        let Some(program) = built(&format!("openmp-regions-{compiler}")) else { continue };
        let run = record(program, &[name, seconds]).succeeded();
        let truth = run.truth();
        println!("{name} by {compiler}: {truth}");
        let notes = run.summary().quality.notes;
        assert!(!notes.iter().any(|note| note.contains("contradict")), "{notes:#?}");
        story(&run, &truth);
    }
}

/// What the threads' own clocks and the hooks' may differ by: a hundredth, and a hundredth of a second. On a
/// busy machine a thread may lose its processor between the two readings, time and again: of the time that
/// threads stood in line for one, a part, or one turn of others.
fn allowed(run: &Recorded, seconds: f64) -> f64 {
    let queued = queued(run);
    0.01 * seconds + 0.01 + queued.min(0.03).max(0.1 * queued)
}

/// How long threads had no processor.
fn queued(run: &Recorded) -> f64 {
    account(run, "preempted") + account(run, "oversubscribed")
}

/// An account holds what the program's clock says, but for the time that threads had no processor meanwhile:
/// that has an account of its own, while for the clock who is woken and does not run yet still waits.
fn assert_account(run: &Recorded, id: &str, true_s: f64) {
    let (found, allowed) = (account(run, id), allowed(run, true_s) + 0.01);
    assert!(
        (true_s - allowed - queued(run)..=true_s + allowed).contains(&found),
        "{id}: {found:.6} found, {true_s:.6} expected, {allowed:.6} allowed between them, {:.6} queued",
        queued(run)
    );
}

fn account(run: &Recorded, id: &str) -> f64 {
    run.summary().ledger.account_s(id)
}

fn regions(run: &Recorded) -> Value {
    run.page("openmp", &[])
}

/// The sum of a field over all regions.
fn of_regions(page: &Value, field: &str) -> f64 {
    list(page, "/regions").iter().map(|region| number(region, &format!("/{field}"))).sum()
}

/// Sites of all regions that are this construct.
fn sites<'a>(page: &'a Value, construct: &'a str) -> impl Iterator<Item = &'a Value> {
    let all = list(page, "/regions").iter().flat_map(|region| list(region, "/sites"));
    all.filter(move |site| site["construct"] == construct)
}

/// Where a thread enters or leaves a region its processor goes on: only the samples around that tell the two
/// parts apart. They are 5 ms apart, drawn; each border is off by half of that (standard deviation), and no
/// border depends on another. Five standard deviations.
fn chance_at_borders_s(page: &Value, cpu_s: f64) -> f64 {
    let visits = |region: &Value| number(region, "/executions") * number(region, "/team_max");
    let borders: f64 = list(page, "/regions").iter().map(|region| 2.0 * visits(region)).sum();
    5.0 * 0.0025 * borders.min(cpu_s / 0.005).sqrt()
}

fn assert_work(run: &Recorded, page: &Value, truth: &Value) {
    let true_s = number(truth, "/work_s");
    assert_close("work in regions", of_regions(page, "work_s"), true_s, allowed(run, true_s));
    let (cpu_s, true_cpu_s) = (of_regions(page, "cpu_s"), number(truth, "/work_cpu_s"));
    // What the collector used in regions is work by the threads' own clocks.
    let own_s = account(run, "measurement");
    let allowed_s = allowed(run, true_cpu_s) + 0.01 + chance_at_borders_s(page, true_cpu_s);
    assert!(
        (true_cpu_s - own_s - allowed_s..=true_cpu_s + allowed_s).contains(&cpu_s),
        "CPU time of work: {cpu_s:.6} found, {true_cpu_s:.6} expected, {own_s:.6} of it measuring, \
         {allowed_s:.6} allowed"
    );
}

#[test]
fn who_has_less_to_do_waits_for_who_has_more() {
    by_each("imbalance", "0.6", |run, truth| {
        let true_s = number(truth, "/wait_s");
        assert_account(run, "barrier", true_s);
        let page = regions(run);
        assert_work(run, &page, truth);
        let waited = of_regions(&page, "imbalance_s") + of_regions(&page, "latency_s");
        assert_close("waits in regions", waited, true_s, allowed(run, true_s));
        let openers: Vec<_> = list(&page, "/regions").iter().map(|region| &region["opener"]).collect();
        assert_eq!(openers, ["imbalance"]);
        run.assert_trustworthy();
        // Whoever did it, it is shown below the region.
        let flat = run.flat();
        let of_region: f64 = flat
            .functions
            .iter()
            .filter(|row| row.function.starts_with("parallel region at regions.c:"))
            .map(|row| row.amount("cpu_s").inclusive)
            .sum();
        // Who waits at the region's end spins for a while, on its processor.
        let (true_cpu_s, slack_s) =
            (number(truth, "/work_cpu_s"), 0.02 * number(truth, "/work_cpu_s") + 0.03);
        assert!(
            (true_cpu_s - slack_s..true_cpu_s + true_s + slack_s).contains(&of_region),
            "CPU time below the region: {of_region} found, {true_cpu_s} of work, {true_s} of waiting"
        );
    });
}

#[test]
fn what_one_thread_does_alone_is_serial() {
    by_each("serial", "0.8", |run, truth| {
        let true_s = number(truth, "/serial_s");
        assert_account(run, "serial", true_s);
        assert_work(run, &regions(run), truth);
    });
}

/// Who looks for work all the time between regions needs its processor for nothing, but not for the wait
/// before.
#[test]
fn who_spins_without_work_is_in_no_region() {
    let Some(program) = built("openmp-regions-gcc") else { return };
    let program = program.to_str().unwrap();
    let arguments = ["OMP_WAIT_POLICY=active", program, "serial", "0.8"];
    let run = record_with(&[] as &[&str], "env", &arguments).succeeded();
    let notes = run.summary().quality.notes;
    assert!(!notes.iter().any(|note| note.contains("contradict")), "{notes:#?}");
    let (page, truth) = (regions(&run), run.truth());
    let true_s = number(&truth, "/work_s");
    assert_close("work in regions", of_regions(&page, "work_s"), true_s, allowed(&run, true_s));
    // Where work ends and looking for more begins the processor goes on: only samples tell them apart.
    let (cpu_s, true_cpu_s) = (of_regions(&page, "cpu_s"), number(&truth, "/work_cpu_s"));
    assert_close("CPU time of work", cpu_s, true_cpu_s, allowed(&run, true_cpu_s) + 0.1 * true_cpu_s);
}

/// What a thread waited without work is told when it has work again: that time is not what telling took.
#[test]
fn waiting_for_work_is_not_taken_for_measuring() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-regions-{compiler}")) else { continue };
        let program = program.to_str().unwrap();
        let run = record("env", &["OMP_WAIT_POLICY=active", program, "alternating", "0.8"]).succeeded();
        let (own_s, cpu_s) = (account(&run, "measurement"), run.flat().total("cpu_s"));
        assert!(own_s < 0.01 * cpu_s + 0.01, "{own_s} of {cpu_s} s of CPU time for measuring");
    }
}

#[test]
fn who_waits_for_a_holder_waits_for_a_lock() {
    for name in ["critical", "lock", "ordered"] {
        by_each(name, "0.4", |run, truth| {
            let true_s = number(truth, "/lock_s");
            assert_account(run, "lock", true_s);
            let page = regions(run);
            assert_close(name, of_regions(&page, "lock_s"), true_s, allowed(run, true_s));
        });
    }
    // Trying again and again is work in a region, as looking at a variable is.
    by_each("tried-lock", "0.4", |run, truth| assert_account(run, "lock", number(truth, "/lock_s")));
}

#[test]
fn the_holder_of_a_critical_section_is_to_blame() {
    by_each("critical", "0.6", |run, _| {
        let page: Value = run.page("locks", &[]);
        let lock = list(&page, "/locks").first().unwrap_or_else(|| panic!("no lock: {page:#}"));
        assert_eq!(lock["kind"], "critical", "{lock:#}");
        let held: f64 = list(lock, "/holders").iter().map(|row| number(row, "/seconds")).sum();
        // Where the section is free nobody holds it any more, but who is woken may have no processor yet.
        assert!(held > 0.8 * number(lock, "/waited_s") - queued(run), "{lock:#}");
    });
}

/// GCC's runtime only: LLVM's tells of no such wait.
#[test]
fn who_waits_for_an_iteration_before_its_own() {
    let Some(program) = built("openmp-regions-gcc") else { return };
    let run = record(program, &["doacross", "0.4"]).succeeded();
    let truth = run.truth();
    let page = regions(&run);
    assert_work(&run, &page, &truth);
    let true_s = number(&truth, "/wait_s");
    let waited: f64 = sites(&page, "omp ordered doacross").map(|site| number(site, "/lost_s")).sum();
    assert_close("waits in the loop", waited, true_s, allowed(&run, true_s));
}

/// The cause of the waiting is what the late thread did, at the line of the program that it did it at; at the
/// end of a region that nobody works after, and of one that another follows.
#[test]
fn who_comes_late_is_to_blame() {
    for name in ["imbalance", "repeated"] {
        by_each(name, "0.6", |run, truth| {
            let waited_s = account(run, "barrier");
            let flat: Value = run.page("flat", &["--metrics", "caused_s"]);
            let work_s: f64 = (list(&flat, "/functions").iter())
                .filter(|row| row["function"] == "work_for")
                .map(|row| number(row, "/metrics/caused_s/inclusive"))
                .sum();
            assert!(
                work_s > 0.7 * waited_s.min(number(truth, "/wait_s")),
                "{work_s} of {waited_s}: {flat:#}"
            );
            // By thread: the one that worked longer, if neither was displaced for long.
            if account(run, "preempted") < 0.1 * waited_s {
                let page: Value = run.page("threads", &[]);
                let of = |row: &Value| number(row, "/caused_s");
                let mut caused: Vec<f64> = list(&page, "/locations").iter().map(of).collect();
                caused.sort_by(f64::total_cmp);
                assert!(caused.last() > Some(&(0.8 * caused.iter().sum::<f64>())), "{page:#}");
            }
        });
    }
}

/// Beside serial code the empty processors are its own; beside a thread that works alone in a region, the
/// region's.
#[test]
fn empty_processors_are_charged_to_who_works_beside_them() {
    by_each("serial", "0.8", |run, truth| {
        let flat: Value = run.page("flat", &["--metrics", "caused_s,serial_s"]);
        let of = |name: &str| -> f64 {
            let rows = list(&flat, "/functions").iter().filter(|row| row["function"] == name);
            rows.map(|row| number(row, "/metrics/caused_s/inclusive")).sum()
        };
        let true_s = number(truth, "/serial_s");
        assert!(of("serial") - of("work_for") > 0.8 * true_s, "{flat:#}");
        assert!(account(run, "narrow") < 0.1 * true_s + 0.03, "{:#?}", run.summary().ledger);
    });
}

/// Beside a team of one the other processor is empty. Regions that are too short to be told alone are in no
/// timeline: beside them it is empty as beside serial code.
#[test]
fn a_processor_is_empty_beside_a_team_of_one() {
    for (name, is_long) in [("long-teams-of-one", true), ("short-teams-of-one", false)] {
        by_each(name, "0.6", |run, truth| {
            let true_s = number(truth, "/narrow_s");
            let (serial_s, narrow_s) = (account(run, "serial"), account(run, "narrow"));
            // Of short regions the program knows what they should take; a thread that loses its processor
            // takes longer.
            let (empty_s, allowed) = (serial_s + narrow_s, allowed(run, true_s) + 0.01);
            assert!(
                (true_s - allowed..=true_s + allowed + queued(run)).contains(&empty_s),
                "{name}: empty processors: {empty_s:.6} found, {true_s:.6} expected, {allowed:.6} allowed \
                 between them, {:.6} queued",
                queued(run)
            );
            // LLVM's runtime gives the processor away between such regions, if others want it; and in which a
            // thread was displaced is long.
            let displaced_s = account(run, "preempted") + account(run, "oversubscribed");
            if is_long && list(&regions(run), "/regions")[0]["runtime"] == "gomp"
                || displaced_s < 0.1 * true_s
            {
                let of_kind_s = if is_long { narrow_s } else { serial_s };
                assert!(of_kind_s > 0.8 * (serial_s + narrow_s), "serial {serial_s}, narrow {narrow_s}");
            }
            run.assert_trustworthy();
        });
    }
}

/// What its barriers take is the runtime's.
#[test]
fn who_works_in_a_team_of_one_waits_for_nobody() {
    for compiler in COMPILERS {
        let Some(program) = built(&format!("openmp-regions-{compiler}")) else { continue };
        for (name, barriers) in [("many", 30_000.0), ("single", 10.0)] {
            let run =
                record(program.clone(), &[name, if name == "many" { "0.3" } else { "0.1" }, "1"]).succeeded();
            let waits: Value = run.page("waits", &[]);
            let of = |account: &str| -> f64 {
                let all = list(&waits, "/operations").iter().filter(|row| row["account"] == account);
                all.map(|row| number(row, "/seconds")).sum()
            };
            assert_eq!(of("barrier"), 0.0, "{name} by {compiler}: {waits:#}");
            assert!(of("runtime") > 0.0, "{waits:#}");
            let page = regions(&run);
            let came: f64 = sites(&page, "omp barrier").map(|site| number(site, "/executions")).sum();
            assert_eq!(came, barriers, "{page:#}");
            run.assert_trustworthy();
        }
    }
}

#[test]
fn what_one_of_a_team_does_the_others_wait_for() {
    by_each("single", "0.4", |run, truth| {
        let true_s = number(truth, "/wait_s");
        assert_account(run, "barrier", true_s);
        assert_work(run, &regions(run), truth);
    });
}

#[test]
fn tasks_are_work_wherever_they_are_done() {
    by_each("tasks", "0.3", |run, truth| {
        let page = regions(run);
        assert_work(run, &page, truth);
        let made: f64 = sites(&page, "omp task").map(|site| number(site, "/executions")).sum();
        assert_eq!(made, 100.0, "{page:#}");
    });
}

#[test]
fn regions_inside_regions() {
    by_each("nested", "0.2", |run, truth| {
        let page = regions(run);
        let inner = list(&page, "/regions").iter().find(|region| number(region, "/executions") == 2.0);
        let inner = inner.unwrap_or_else(|| panic!("no region was executed twice: {page:#}"));
        assert_eq!(number(inner, "/team_max"), 2.0);
        let true_s = number(truth, "/work_s");
        assert_close("work", number(inner, "/work_s"), true_s, allowed(run, true_s));
    });
}

/// The threads of GCC's inner teams end when the region does, some of them just as their process ends: what
/// they know is written all the same.
#[test]
fn threads_that_end_together_with_their_process() {
    let Some(program) = built("openmp-regions-gcc") else { return };
    for _ in 0..12 {
        let run = record(&program, &["nested", "0.2"]).succeeded();
        let page = regions(&run);
        let ends: Vec<f64> =
            sites(&page, "omp parallel end").map(|site| number(site, "/executions")).collect();
        assert!(ends.contains(&4.0) && ends.contains(&2.0), "{page:#}");
    }
}

/// A program whose whole loop over time is one region is resolved into its loops, from one run.
#[test]
fn one_region_around_five_loops() {
    by_each("five-loops", "0.5", |run, truth| {
        let page = regions(run);
        assert_work(run, &page, truth);
        let mut true_parts: Vec<f64> =
            list(truth, "/parts_s").iter().map(|part| part.as_f64().unwrap()).collect();
        true_parts.sort_by(f64::total_cmp);
        let mut parts: Vec<f64> = sites(&page, "omp barrier")
            .filter(|site| number(site, "/executions") >= 20.0)
            .map(|site| number(site, "/work_s"))
            .collect();
        parts.sort_by(f64::total_cmp);
        assert_eq!(parts.len(), 5, "{page:#}");
        for (part, true_part) in parts.iter().zip(&true_parts) {
            assert_close("a loop", *part, *true_part, allowed(run, *true_part));
        }
    });
}

#[test]
fn very_many_regions_need_no_more_room_than_few() {
    by_each("many", "0.3", |run, _| {
        let page = regions(run);
        let region = &list(&page, "/regions")[0];
        assert_eq!(number(region, "/executions"), 30_000.0, "{region:#}");
        let of = |construct: &str| -> f64 {
            sites(&page, construct).map(|site| number(site, "/executions")).sum()
        };
        assert_eq!(of("omp barrier"), 60_000.0, "{region:#}");
        assert_eq!(of("omp critical"), 60_000.0, "{region:#}");
        let logs = std::fs::read_dir(run.dir.join("log")).unwrap();
        let bytes: u64 = logs.map(|file| file.unwrap().metadata().unwrap().len()).sum();
        // So much a second may be told alone, however many there are.
        let wall_s = run.summary().ledger.total_s / 2.0;
        assert!(bytes < (8 << 20) + (wall_s * 2e6) as u64, "{bytes} bytes of logs in {wall_s} s");
    });
}

/// Of barriers that follow each other closely most are not measured. A long wait at one of those is found
/// when the clock is read next, and is recorded where it was: not over the section that came behind it.
#[test]
fn a_long_wait_at_a_barrier_that_was_not_measured_is_before_the_section_behind_it() {
    by_each("seldom-late", "0.2", |run, truth| {
        let page = regions(run);
        let of_barriers =
            |field: &str| -> f64 { sites(&page, "omp barrier").map(|site| number(site, field)).sum() };
        // Visits are drawn: the page says how far the sum may be off.
        let barriers = of_barriers("/time_s") + 2.0 * of_barriers("/error_s");
        let (wait_s, lock_s) = (number(truth, "/wait_s"), number(truth, "/lock_s"));
        println!("{barriers} of {wait_s} s at barriers; {:?}", run.summary().ledger);
        // The program's clocks stand around every wait, on a busy machine with the queues behind them.
        assert!(barriers > 0.6 * (wait_s - queued(run)), "{barriers} of {wait_s}: {page:#}");
        let found_s = account(run, "barrier");
        assert!(found_s > 0.6 * (wait_s - queued(run)), "{found_s} of {wait_s} on the account");
        assert!(account(run, "lock") > 0.6 * (lock_s - queued(run)), "{lock_s}");
    });
}

#[test]
fn a_stripped_program_has_the_same_regions() {
    let Some(program) = built("openmp-regions-stripped") else { return };
    let run = record(program, &["imbalance", "0.4"]).succeeded();
    let truth = run.truth();
    let page = regions(&run);
    assert_work(&run, &page, &truth);
    let true_s = number(&truth, "/wait_s");
    assert_account(&run, "barrier", true_s);
}

#[test]
fn fortran() {
    let Some(program) = built("openmp-fortran") else { return };
    let run = record(program, &["0.3"]).succeeded();
    let truth = run.truth();
    let page = regions(&run);
    let true_s = number(&truth, "/work_s");
    assert_close("work", of_regions(&page, "work_s"), true_s, allowed(&run, true_s));
    let true_s = number(&truth, "/lock_s");
    assert_account(&run, "lock", true_s);
}

/// LLVM's runtime has the entry points of GCC's, too, and tells of itself: nothing may be counted twice.
#[test]
fn a_program_of_gcc_on_the_runtime_of_llvm_is_counted_once() {
    let Some(program) = built("openmp-regions-gcc") else { return };
    let Some(library) = llvm_runtime() else {
        println!("SKIP: there is no libomp.so here");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(library, folder.path().join("libgomp.so.1")).unwrap();
    let path = format!("LD_LIBRARY_PATH={}", folder.path().display());
    let run = record_with(&[] as &[&str], "env", &[path.as_str(), program.to_str().unwrap(), "many", "0.05"])
        .succeeded();
    let page = regions(&run);
    let executions = of_regions(&page, "executions");
    assert_eq!(executions, 5_000.0, "{page:#}");
    assert_eq!(list(&page, "/regions")[0]["runtime"], "ompt");
}

fn llvm_runtime() -> Option<std::path::PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    let llvm = folders.filter(|folder| folder.file_name().to_string_lossy().starts_with("llvm-"));
    llvm.map(|folder| folder.path().join("lib/libomp.so.5")).find(|file| file.exists())
}

/// The page sums up: by site, by thread, and its efficiencies multiply.
#[test]
fn the_page_sums_up() {
    by_each("imbalance", "0.3", |run, _| {
        let page = regions(run);
        for region in list(&page, "/regions") {
            for field in ["/work_s", "/lost_s"] {
                let of_sites: f64 = list(region, "/sites").iter().map(|site| number(site, field)).sum();
                let of_threads: f64 = list(region, "/threads").iter().map(|row| number(row, field)).sum();
                assert_close("sites", of_sites, number(region, field), 1e-6);
                assert_close("threads", of_threads, number(region, field), 1e-6);
            }
        }
        let all = &page["efficiencies"];
        let factors = ["/serialisation", "/load_balance", "/scheduling", "/processors", "/other"];
        let product = factors.map(|name| number(all, name));
        assert_close("efficiency", product.iter().product(), number(all, "/parallel"), 1e-9);
        let ledger = run.summary().ledger.efficiency.expect("a program that computed");
        assert_close("the ledger's efficiency", ledger, number(all, "/parallel"), 1e-9);
        let text = crate::recording::report(&run.dir, "openmp", &[] as &[&str]).printed();
        assert!(text.contains("parallel region at regions.c:"), "{text}");
    });
}

/// The Collector's names for the time of OpenMP's threads are sums of the ledger's accounts, at every place
/// and in all.
#[test]
fn work_and_waiting_by_the_collectors_names_are_the_ledgers() {
    by_each("imbalance", "0.5", |run, _| {
        let metrics = "omp_work_s,omp_wait_s,master_s,runtime_s,unattributed_s,wall_s,compute_s,barrier_s";
        let tree: Value = run.page("tree", &["--metrics", metrics]);
        let amount = |row: &Value, id: &str| {
            row["metrics"][id].as_object().map_or(0.0, |amount| amount["inclusive"].as_f64().unwrap_or(0.0))
        };
        for row in list(&tree, "/contexts") {
            let parts = ["omp_work_s", "omp_wait_s", "runtime_s", "unattributed_s"].map(|id| amount(row, id));
            assert_close("parts", parts.iter().sum(), amount(row, "wall_s"), 1e-6);
            assert!(amount(row, "omp_work_s") >= amount(row, "compute_s") - 1e-9, "{row:#}");
            assert!(amount(row, "omp_wait_s") >= amount(row, "barrier_s") - 1e-9, "{row:#}");
        }
        let program = &list(&tree, "/contexts")[0];
        let threads = run.threads();
        let first = threads.locations.iter().find(|one| one.thread == one.process).unwrap();
        assert_close("master", amount(program, "master_s"), first.wall_s, 1e-6);
        assert!(amount(program, "omp_work_s") > 0.0 && amount(program, "omp_wait_s") > 0.0, "{program:#}");
    });
}
