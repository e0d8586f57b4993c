//! Threads that runtimes have for themselves raise no number of processors and are not charged.

use serde_json::Value;

use crate::chance::assert_close;
use crate::pages::Summary;
use crate::programs::{built, has};
use crate::recording::{Recorded, list, number, record, report};

/// The kernel's ids of the service threads, and how many of the others there are.
fn services(run: &Recorded) -> (Vec<String>, usize) {
    let page: Value = run.page("threads", &[]);
    let (service, own): (Vec<_>, Vec<_>) =
        list(&page, "/locations").iter().partition(|row| row["service"] == true);
    (service.into_iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect(), own.len())
}

#[test]
fn threads_of_a_runtime_are_shown_and_not_charged() {
    let Some(program) = built("services/main") else { return };
    let run = record(program, &["0.8"]).succeeded();
    let truth = run.truth();
    let (mut names, own) = services(&run);
    names.sort();
    assert_eq!((names.len(), own), (2, 2), "{names:?}");
    assert!(names.contains(&"jemalloc_bg_thd".to_owned()), "{names:?}");
    let summary: Value = run.page("summary", &[]);
    let ledger: Summary = run.summary();
    let computed = |of: &Value| of["compute"].as_f64().unwrap_or(0.0);
    // What they spent is there, once, and the total is without it.
    assert_close("own", ledger.ledger.account_s("compute"), number(&truth, "/own_s"), 0.05);
    let service = &summary["ledger"]["service"];
    assert_eq!(service["threads"], 2);
    assert_close("service", computed(&service["accounts"]), number(&truth, "/service_s"), 0.05);
    assert!(summary["ledger"]["active"].as_u64() <= Some(2), "{summary:#}");
    let text = report(&run.dir, "summary", &[] as &[&str]).printed();
    let line = text.lines().find(|line| line.contains("2 service threads of runtimes, outside of the total"));
    assert!(line.is_some_and(|line| line.contains("compute 0.")), "{text}");
}

/// Rules of the user's are added to those that are built in, and the kept analysis is made anew.
#[test]
fn users_name_threads_of_their_own_runtimes() {
    let Some(program) = built("services/main") else { return };
    let run = record(program, &["0.4"]).succeeded();
    assert_eq!(services(&run), services(&run));
    assert_eq!(services(&run).0.len(), 2);
    let table = run.dir.join("mine.table");
    std::fs::write(&table, "service work in main\n").unwrap();
    let mut command = crate::command::proust();
    command.env("PROUST_WAITS", &table).arg("report").arg(&run.dir).args(["threads", "--format", "json"]);
    let page: Value = serde_json::from_slice(&crate::command::run(&mut command).stdout).unwrap();
    let marked = list(&page, "/locations").iter().filter(|row| row["service"] == true);
    assert_eq!(marked.count(), 3, "{page:#}");
}

/// Two ranks of one thread each have two processors, whatever their library does beside them.
fn two_ranks_make_two_processors(library: &str) {
    let launcher = format!("mpirun.{library}");
    if !has(&launcher) {
        println!("SKIP: {launcher} is not installed");
        return;
    }
    let Some(program) = built(&format!("services/ranks-{library}")) else { return };
    let allow = match library {
        "openmpi" => "--allow-run-as-root --oversubscribe --bind-to none",
        _ => "",
    };
    let command = format!("{launcher} {allow} -n 2 '{}' 0.5", program.display());
    let run = record("sh", &["-c", &command]).succeeded();
    assert_eq!(number(&run.truth(), "/ranks"), 2.0);
    let page: Value = run.page("ledger", &[]);
    let owners = list(&page, "/owners");
    assert_eq!(owners.len(), 2, "{page:#}");
    for owner in owners {
        assert_eq!(owner["processors"], 1, "{page:#}");
    }
    let (total_s, wall_s) = (number(&page, "/ledger/total_s"), number(&page, "/ledger/wall_s"));
    assert_close("2 × T", total_s, 2.0 * wall_s, 1e-6 * wall_s);
    assert_eq!(page["ledger"]["active"], 2, "{page:#}");
    // All threads of a rank but its first are the library's.
    let threads: Value = run.page("threads", &[]);
    for row in list(&threads, "/locations").iter().filter(|row| row["rank"].is_u64()) {
        assert_eq!(row["service"], row["thread"] != row["process"], "{row:#}");
    }
}

#[test]
fn two_ranks_of_open_mpi_make_two_processors() {
    two_ranks_make_two_processors("openmpi");
}

#[test]
fn two_ranks_of_mpich_make_two_processors() {
    two_ranks_make_two_processors("mpich");
}
