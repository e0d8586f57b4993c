//! Beside other work, threads lose most of their time where all have reached a barrier and one does not get a
//! processor to go on: that is not waiting for one another.

use serde_json::Value;

use crate::load::Load;
use crate::programs::built;
use crate::recording::{list, number, record};

/// Time in the run queue from which on the shares mean something, s.
const ENOUGH_S: f64 = 0.4;

#[test]
fn what_other_work_takes_at_barriers_is_on_its_account() {
    let _load = Load::begin(std::thread::available_parallelism().map_or(2, usize::from));
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-queued-{compiler}")) else { continue };
        let run = record(program, &["1"]).succeeded();
        let truth = run.truth();
        let of_threads = list(&truth, "/queued_s");
        let queued_s: f64 = of_threads.iter().filter_map(Value::as_f64).sum();
        if queued_s < ENOUGH_S {
            println!("SKIP: the threads had to wait for processors for {queued_s} s only");
            continue;
        }
        let ledger: Value = run.page("ledger", &[]);
        let accounts = list(&ledger, "/ledger/accounts").iter();
        let found = accounts.filter(|row| row["id"] == "preempted" || row["id"] == "oversubscribed");
        let found_s: f64 = found.map(|row| number(row, "/seconds")).sum();
        println!("{compiler}: {found_s:.3} of {queued_s:.3} s");
        // What a thread queues while the other one has not arrived either is the time of a wait. Of threads
        // that work equally long that is about half.
        assert!(found_s > 0.2 * queued_s, "{found_s} of {queued_s}: {ledger:#}");
        assert!(found_s < 1.1 * queued_s + 0.1, "{found_s} of {queued_s}: {ledger:#}");
        // The page of regions has it there, too, and not as scheduling.
        let openmp: Value = run.page("openmp", &[]);
        let of = |field: &str| number(&openmp, &format!("/efficiencies/{field}"));
        assert!((of("processors_s") - found_s).abs() < 1e-6, "{openmp:#}");
    }
}
