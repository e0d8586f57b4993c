//! `--where state=`: what threads were doing selects rows of every page.

use serde_json::Value;

use crate::chance::assert_close;
use crate::programs::built;
use crate::recording::{Recorded, list, number, record};

/// Seconds of a measure in all functions, of what is selected.
fn total(run: &Recorded, measure: &str, filter: Option<&str>) -> f64 {
    let mut options = vec!["--metrics", measure];
    options.extend(filter.iter().flat_map(|filter| ["--where", filter]));
    let flat: Value = run.page("flat", &options);
    let of_row = |row: &Value| row.pointer(&format!("/metrics/{measure}/exclusive")).and_then(Value::as_f64);
    list(&flat, "/functions").iter().filter_map(of_row).sum()
}

/// What threads waited in sections is selected by the section's name, by the account's, and by no other.
#[test]
fn sections_are_selected_by_their_names() {
    for compiler in ["gcc", "clang"] {
        let Some(program) = built(&format!("openmp-regions-{compiler}")) else { continue };
        for (case, others) in [("critical", "ordered"), ("ordered", "critical")] {
            let run = record(&program, &[case, "0.4"]).succeeded();
            let lock_s = total(&run, "lock_s", None);
            let by_name_s = total(&run, "wall_s", Some(&format!("state={case}")));
            assert_close(case, by_name_s, lock_s, 0.02 * lock_s + 0.002);
            assert_close("lock", total(&run, "wall_s", Some("state=lock")), lock_s, 1e-6);
            // The program's own clock says so, too, but for the time that who was woken had no processor.
            let true_s = number(&run.truth(), "/lock_s");
            assert!(lock_s <= 1.02 * true_s + 0.02, "{lock_s} of {true_s}");
            assert_close(others, total(&run, "wall_s", Some(&format!("state={others}"))), 0.0, 1e-6);
            let waits: Value = run.page("waits", &["--where", &format!("state={case}")]);
            for operation in list(&waits, "/operations") {
                let name = operation["operation"].as_str().unwrap();
                assert!(name.contains(case), "{operation:#}");
            }
            assert!(!list(&waits, "/operations").is_empty(), "{waits:#}");
        }
    }
}

/// Whatever a thread does it is in one state: all of them are its wall time, and what is left out by `!=` is
/// what is selected by `=`.
#[test]
fn all_states_together_are_all_the_time() {
    let Some(program) = built("stopped") else { return };
    let run = record(program, &["sleep", "0.5"]).succeeded();
    let wall_s = total(&run, "wall_s", None);
    let asleep_s = total(&run, "wall_s", Some("state=sleep"));
    let awake_s = total(&run, "wall_s", Some("state!=sleep"));
    assert_close("asleep", asleep_s, 0.5, 0.05);
    assert_close("both", asleep_s + awake_s, wall_s, 1e-6);
    let timeline: Value = run.page("timeline", &["--where", "state=sleep"]);
    let location = &list(&timeline, "/locations")[0];
    let slept: f64 = (list(location, "/spans").iter())
        .map(|span| {
            assert_eq!(span["passive"], "sleep", "{span:#}");
            number(span, "/end_s") - number(span, "/start_s")
        })
        .sum();
    assert_close("in the timeline", slept, asleep_s, 1e-6);
    // What is written as two clauses must hold both.
    let none_s = total(&run, "wall_s", Some("state=sleep and state=compute"));
    assert_close("nothing is both", none_s, 0.0, 1e-9);
}
