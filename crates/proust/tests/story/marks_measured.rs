//! What is known of marked intervals while and after they run: what a thread's time went into, by the
//! program's own clocks; millions of executions a second; idle threads.

use serde_json::Value;

use crate::chance::assert_close;
use crate::marks::{BESIDE_S, agrees, intervals};
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// What the program reads of its own accounts while it runs is what its own clocks have.
fn agrees_elapsed(run: &Recorded) {
    let truth = run.truth();
    for (account, both) in truth["elapsed"].as_object().expect("accounts") {
        let (own_s, elapsed_s) = (number(both, "/own_s"), number(both, "/elapsed_s"));
        assert_close(account, elapsed_s, own_s, 0.01 + 0.05 * own_s.abs());
    }
}

#[test]
fn a_thread_reads_what_its_time_went_into() {
    let Some(program) = built("marked-parts") else { return };
    let run = record(&program, &["elapsed", "0.6"]).succeeded();
    agrees_elapsed(&run);
    // What only the analysis can know is not known.
    let truth = run.truth();
    assert_eq!(number(&truth, "/elapsed/barrier/elapsed_s"), -1.0);
    assert!(number(&truth, "/elapsed/io/own_s") > 0.1, "{truth}");
    for language in ["marks-cpp", "marks-fortran", "marks-rust"] {
        let Some(program) = built(language) else { continue };
        agrees_elapsed(&record(&program, &["0.5"]).succeeded());
    }
}

/// Ten million executions as fast as the thread can mark: each is counted, with its iterations.
#[test]
fn ten_million_executions_are_all_counted() {
    let Some((run, page)) = agrees("marked-parts", &["tight"]) else { return };
    let of = |name: &str| intervals(&page).iter().find(|one| one["name"] == name).expect("an interval");
    let tight = of("tight");
    assert_eq!((number(tight, "/executions"), number(tight, "/iterations")), (1e7, 2e7));
    assert!(number(tight, "/recorded") < 1e7, "{tight}");
    let location = &list(tight, "/locations")[0];
    let (time_s, least_s, most_s) =
        (number(location, "/time_s"), number(location, "/min_s"), number(location, "/max_s"));
    assert!(time_s < number(of("all"), "/execution_s"), "{tight}");
    assert!(least_s <= time_s / 1e7 && time_s / 1e7 <= most_s, "{location}");
    let rate = 2e7 / number(&run.truth(), "/intervals/all/time_s");
    println!("{rate:.0} marks a second");
    let quality = run.page::<Value>("quality", &[]).to_string();
    assert!(!quality.contains("marks were not recorded"), "{quality}");
}

/// Of a million executions not all are recorded alone. Some sleep for a moment and a few for long: neither
/// stands for the others, which do not.
#[test]
fn summed_executions_have_their_own_accounts() {
    let Some((run, page)) = agrees("marked-parts", &["mixed"]) else { return };
    let mixed = intervals(&page).iter().find(|one| one["name"] == "mixed").expect("an interval");
    assert!(number(mixed, "/recorded") < 0.9e6, "{mixed}");
    let location = &list(mixed, "/locations")[0];
    let passive_s = number(location, "/passive_s");
    // All that sleeps is in them: the interval around them, which is one execution, is exact.
    let all = intervals(&page).iter().find(|one| one["name"] == "all").expect("an interval");
    let of_all_s = number(&list(all, "/locations")[0], "/passive_s");
    assert_close("passive", passive_s, of_all_s, 0.03 * of_all_s);
    // By its own clock, the thread sleeps until it has a processor again.
    let slept_s = number(&run.truth(), "/slept_s");
    let queued = ["preempted", "oversubscribed"].map(|id| location["accounts"][id].as_f64().unwrap_or(0.0));
    let queued_s: f64 = queued.iter().sum();
    assert!(passive_s <= slept_s + 0.01, "{passive_s} s of {slept_s} s: {location}");
    assert!(passive_s + queued_s >= 0.95 * slept_s - 0.01, "{passive_s} s of {slept_s} s: {location}");
    // What they did and that they slept is all of their time.
    let time_s = number(location, "/time_s");
    let sum_s = number(location, "/active_s") + number(location, "/passive_s");
    assert_close("active and passive", sum_s, time_s, 0.01 * time_s);
    let summary: Value = run.page("summary", &["--where", "interval=mixed"]);
    let accounts = list(&summary, "/ledger/accounts").iter();
    let sum_s: f64 = accounts.map(|account| number(account, "/seconds")).sum();
    assert_close("the summary", sum_s, number(mixed, "/total_s"), 1e-6);
}

/// Threads that do nothing count in a region and in an operation, as they do in a marked interval.
#[test]
fn idle_threads_count_in_operations() {
    let Some(program) = built("marked-parts") else { return };
    let run = record(&program, &["parts", "0.6"]).succeeded();
    let truth = run.truth();
    let page: Value = run.page("intervals", &["--intervals", "operations"]);
    let lock = list(&page, "/places").iter().find(|place| place["name"] == "pthread_mutex_lock");
    let lock = lock.expect("the wait for the lock");
    assert_eq!(lock["windowed"], true, "{lock}");
    // Meanwhile the thread that holds it computes: the slots of both are in the window.
    let time_s = number(&truth, "/intervals/locked/time_s");
    assert_close("wall", number(lock, "/wall_s"), time_s, BESIDE_S + 0.1 * time_s);
    let of = |account: &str| lock["accounts"][account].as_f64().unwrap_or(0.0);
    assert_close("waiting", of("lock"), time_s, BESIDE_S + 0.1 * time_s);
    if number(lock, "/processors") >= 2.0 {
        let works = of("compute") + of("preempted") + of("oversubscribed");
        assert!(works > 0.3 * time_s, "{lock}");
        let slots_s = number(lock, "/processors") * number(lock, "/wall_s");
        assert_close("slots", number(lock, "/total_s"), slots_s, 1e-3 * slots_s + 1e-6);
    }
    // Short operations that have no begin and end of their own are said to have none.
    let writes = list(&page, "/places").iter().find(|place| place["name"] == "write").expect("writes");
    assert_eq!(number(writes, "/executions"), 30.0, "{writes}");
    assert!(number(writes, "/recorded") <= 30.0);
}

/// What a thread's record has no room for is counted, and noted with what to do.
#[test]
fn what_is_beyond_the_limits_is_counted() {
    let Some(program) = built("marks_limits") else { return };
    let run = record(&program, &["20000"]).succeeded();
    let page: Value = run.page("intervals", &[]);
    let count = number(&run.truth(), "/count");
    let noted = list(&page, "/noted");
    let note =
        |id: &str| noted.iter().find(|note| note["id"] == id).unwrap_or_else(|| panic!("no {id}: {page}"));
    let deep = note("intervals-too-deep");
    assert_eq!((number(deep, "/executions"), number(deep, "/most")), (count - 128.0, 128.0));
    let unmatched = note("marks-unmatched");
    let places = list(unmatched, "/places");
    assert_eq!((places.len() as f64, number(unmatched, "/others")), (16.0, count - 16.0));
    assert!(places.iter().all(|place| place["count"] == 1), "{unmatched}");
    // Each depth is an interval, and one is that of every program.
    let many = note("intervals-too-many");
    let recorded = 8192.0 - 128.0 - 1.0;
    assert_eq!((number(many, "/executions"), number(many, "/most")), (count - recorded, 8192.0));
    let executions = |name: &str| -> f64 {
        let named = list(&page, "/intervals").iter().filter(|one| one["name"] == name);
        named.map(|one| number(one, "/executions")).sum()
    };
    assert_eq!((executions("nested"), executions("numbered"), executions("usual")), (128.0, recorded, 1.0));
}
