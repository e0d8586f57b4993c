//! Asking the report for a part: by thread, processor, module, function; sorted; cut.

use serde_json::Value;

use crate::chance::assert_close;
use crate::pages::{Flat, is_function};
use crate::programs::built;
use crate::recording::{Recorded, list, number, record, report};

fn recorded() -> Option<Recorded> {
    Some(record(built("shares")?, &["1", "2"]).succeeded())
}

fn flat_where(run: &Recorded, condition: &str) -> Flat {
    run.page("flat", &["--where", condition])
}

#[test]
fn parts_sum_to_the_whole() {
    let Some(run) = recorded() else { return };
    let total = run.flat().total("cpu_s");
    let by_thread: f64 = run
        .threads()
        .locations
        .iter()
        .map(|location| flat_where(&run, &format!("thread={}", location.thread)).total("cpu_s"))
        .sum();
    assert_close("threads", by_thread, total, 1e-6 * total);
    // SAFETY: takes no pointer.
    let processors = unsafe { libc::sysconf(libc::_SC_NPROCESSORS_CONF) };
    let by_processor: f64 =
        (0..processors).map(|number| flat_where(&run, &format!("cpu={number}")).total("cpu_s")).sum();
    // What follows a thread's last sample belongs to no processor: a tick or two of each thread.
    assert_close("processors", by_processor, total, 0.05 * total);
    let pid = run.threads().locations[0].process;
    assert_close("process", flat_where(&run, &format!("process={pid}")).total("cpu_s"), total, 1e-6 * total);
    assert_close("another process", flat_where(&run, "process=1").total("cpu_s"), 0.0, 0.0);
}

#[test]
fn a_function_or_module_alone() {
    let Some(run) = recorded() else { return };
    let whole = run.flat().cpu("recursive").exclusive;
    let alone = flat_where(&run, "function=recursive");
    assert_close("recursive", alone.cpu("recursive").exclusive, whole, 1e-6);
    assert_close("what is not recursive", alone.cpu("plain").exclusive, 0.0, 0.0);
    let module = flat_where(&run, "module=shares");
    assert!(module.total("cpu_s") >= 0.95 * run.flat().total("cpu_s"), "{:#?}", module.functions);
}

/// A thread's own clock and count, which are no sums over contexts, give what is derived of these.
#[test]
fn derived_metrics() {
    let Some(run) = recorded() else { return };
    let page: Value = run.page("threads", &["--define", "rate=samples/cpu_s"]);
    let computing = list(&page, "/locations").iter().filter(|location| number(location, "/cpu_s") > 0.0);
    let mut checked = 0;
    for location in computing {
        let rate = number(location, "/metrics/rate/inclusive");
        let own = number(location, "/samples") / number(location, "/cpu_s");
        assert_close("samples a second", rate, own, 1e-6 * own);
        checked += 1;
    }
    assert!(checked > 1, "{page:#}");
    let wrong = report(&run.dir, "flat", &["--define", "x=cpu_s+read_bytes"]);
    assert_eq!(wrong.status.code(), Some(2));
    let said = wrong.said();
    assert!(said.contains("`cpu_s` is in seconds (s) and `read_bytes` in bytes"), "{said}");
    let elsewhere = report(&run.dir, "quality", &["--define", "x=cpu_s/wall_s"]);
    assert_eq!(elsewhere.status.code(), Some(2));
    assert!(elsewhere.said().contains("use tree, callers, flat, lines, threads"), "{}", elsewhere.said());
}

/// What every function of the program is in, and nothing of the C library is below.
#[test]
fn flat_by_module() {
    let Some(run) = recorded() else { return };
    let page: Value = run.page("flat", &["--by", "module"]);
    let rows = list(&page, "/rows");
    let program = rows.iter().find(|row| row["name"] == "shares").expect("the program is a module");
    let total = number(&page, "/totals/cpu_s/exclusive");
    assert!(number(program, "/metrics/cpu_s/exclusive") >= 0.95 * total, "{program}");
    let own = |row: &Value| row.pointer("/metrics/cpu_s/exclusive").and_then(Value::as_f64).unwrap_or(0.0);
    let rest = page.pointer("/rest/cpu_s/exclusive").and_then(Value::as_f64).unwrap_or(0.0);
    assert_close("sum", rows.iter().map(own).sum::<f64>() + rest, total, 1e-6 * total);
}

#[test]
fn sorted_and_cut() {
    let Some(run) = recorded() else { return };
    let flat: Flat = run.page("flat", &["--sort", "cpu_s", "--limit", "2"]);
    assert_eq!(flat.functions.len(), 2, "{:#?}", flat.functions);
    assert!(is_function(&flat.functions[0].function, "recursive") || flat.cpu("all_shares").inclusive > 0.0);
    let text = report(&run.dir, "flat", &["--limit", "2"]);
    assert!(text.status.success());
    assert!(
        text.printed().contains("all_shares") || text.printed().contains("recursive"),
        "{}",
        text.printed()
    );
}

#[test]
fn statistics_over_threads() {
    let Some(run) = recorded() else { return };
    for statistic in ["max", "mean", "imbalance", "min"] {
        let page: Value = run.page("flat", &["--metrics", &format!("cpu_s:{statistic}")]);
        assert!(page.to_string().contains(&format!("\"over\":\"{statistic}\"")), "{page:#}");
    }
}

#[test]
fn wrong_questions_get_an_answer_that_helps() {
    let Some(run) = recorded() else { return };
    for options in [&["--where", "colour=blue"][..], &["--metrics", "joy"], &["--sort", "beauty"]] {
        let ended = report(&run.dir, "flat", options);
        assert_eq!(ended.status.code(), Some(2), "{options:?}: {}", ended.said());
        let word = options[1].split('=').next().unwrap();
        assert!(ended.said().contains(word), "{}", ended.said());
    }
}

#[test]
fn all_pages_say_the_same_numbers() {
    let Some(run) = recorded() else { return };
    let threads: f64 = run.threads().locations.iter().map(|location| location.cpu_s).sum();
    assert_close("flat", run.flat().total("cpu_s"), threads, 1e-4 * threads);
    let root: f64 = run
        .tree()
        .contexts
        .iter()
        .filter(|context| context.parent.is_none())
        .map(|one| one.cpu().inclusive)
        .sum();
    assert_close("tree", root, threads, 1e-4 * threads);

    for location in run.threads().locations {
        assert_eq!(location.rank, None);
        let sum: f64 = location.accounts.values().chain(location.passive.values()).sum();
        assert_close("a thread's seconds", sum, location.wall_s, 0.001 * location.wall_s + 1e-4);
    }
}

#[test]
fn the_ledger_closes() {
    let Some(run) = recorded() else { return };
    let summary = run.summary();
    let ledger = summary.ledger;
    let sum = |chosen: &dyn Fn(&crate::pages::Account) -> bool| -> f64 {
        ledger.accounts.iter().filter(|one| chosen(one)).map(|one| one.seconds).sum()
    };
    let allowed = 0.001 * ledger.total_s;
    let passive = sum(&|one| one.id == "asleep" || one.id == "paused");
    assert_close("all accounts", sum(&|_| true), ledger.total_s, allowed);
    assert_close("productive", sum(&|one| one.class == "productive"), ledger.productive_s, 1e-6);
    assert_close("unattributed", sum(&|one| one.id == "unattributed"), ledger.unattributed_s, 1e-6);
    let rest = ledger.productive_s + ledger.unattributed_s + passive;
    assert_close("lost", ledger.lost_s, ledger.total_s - rest, allowed);
    let efficiency = ledger.productive_s / (ledger.total_s - passive);
    assert_close("efficiency", ledger.efficiency.expect("a program that computed"), efficiency, 0.001);
    assert!(summary.quality.account_residual <= 0.001);
    // What Proust itself costs is known, and little.
    let computed = run.flat().total("cpu_s");
    assert!(summary.quality.measurement_s > 0.0);
    assert!(summary.quality.measurement_s < 0.02 * computed, "{:#?}", summary.quality);
}
