//! Threads created and ended in every way.

use crate::explained::Except;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

fn assert_threads(run: &Recorded, known_to_the_library: impl Fn(&str) -> bool) {
    let truth = run.truth();
    assert_eq!(number(&truth, "/failed"), 0.0);
    let threads = run.threads();
    for thread in list(&truth, "/threads") {
        let how = thread["how"].as_str().unwrap();
        if !known_to_the_library(how) {
            continue;
        }
        let found = threads.thread(number(thread, "/tid") as u64).cpu_s;
        let cpu_s = number(thread, "/cpu_s");
        // Before the thread's first line of code and after its last reading there are system calls. Who ends
        // by pthread_exit loads the unwinder first, which takes up to 2 ms beside others, recorded or not.
        // The first thread's clock begins with exec, and its recording when the libraries are loaded.
        let outside_s = if ["pthread_exit", "main"].contains(&how) { 0.01 } else { 0.003 };
        let is_near = (found - cpu_s).abs() <= 0.0001 * cpu_s + outside_s;
        assert!(is_near, "{how}: {found} s found, {cpu_s} s burned");
    }
    let listed: Vec<u64> =
        list(&truth, "/threads").iter().map(|thread| number(thread, "/tid") as u64).collect();
    let short: f64 =
        threads.locations.iter().filter(|one| !listed.contains(&one.thread)).map(|one| one.cpu_s).sum();
    let true_short = number(&truth, "/short_threads/cpu_s");
    let count = number(&truth, "/short_threads/count");
    assert!(
        (short - true_short).abs() <= 0.02 * true_short + count * 100e-6,
        "500 short threads: {short} s found, {true_short} s burned"
    );
}

#[test]
fn each_thread_has_its_time_whatever_its_end() {
    let Some(program) = built("threads_any_way") else { return };
    let run = record(program, &["2"]).succeeded();
    assert_threads(&run, |_| true);
    run.assert_trustworthy();
    let named = number(&list(&run.truth(), "/threads")[1], "/tid") as u64;
    assert_eq!(run.threads().thread(named).name, "named-by-itself");
}

#[test]
fn a_thread_the_c_library_does_not_know_does_no_harm() {
    let Some(program) = built("threads_any_way") else { return };
    // A bare clone() shares its creator's thread-local memory: it need not be measured, but must not be
    // disturbed.
    let run = record(program, &["2", "clone"]).succeeded();
    assert_threads(&run, |how| how != "clone");
}

/// A thread that is killed does not get to record its name at its end: it is there from when it was given.
#[test]
fn names_are_known_however_the_process_ends() {
    let Some(program) = built("names") else { return };
    for mode in ["kill", "segv", "exit"] {
        let run = record(&program, &[mode]);
        run.except(Except::Killed);
        let (truth, threads) = (run.truth(), run.threads());
        assert_eq!(list(&truth, "/threads").len(), 5);
        for thread in list(&truth, "/threads") {
            let found = threads.thread(number(thread, "/tid") as u64);
            assert_eq!(found.name, thread["name"].as_str().unwrap(), "{mode}: {threads:#?}");
            assert_eq!(found.program, "names", "{mode}");
        }
    }
}
