//! A program that uses signals itself finds them unchanged.

use std::process::Command;

use crate::chance::{assert_close, assert_share};
use crate::command::run;
use crate::programs::built;
use crate::recording::{number, record, truth_in};

const EXACT: [&str; 7] = [
    "foreign_prof",
    "urgent_raised",
    "urgent_hits",
    "foreign_urgent",
    "urgent_was_default",
    "urgent_is_own",
    "mask_kept",
];

#[test]
fn own_handlers_masks_and_timers_work_as_without_proust() {
    let Some(program) = built("signals") else { return };
    let alone = truth_in(&run(Command::new(&program).arg("2")));
    let recorded = record(&program, &["2"]).succeeded();
    let truth = recorded.truth();
    for field in EXACT {
        assert_eq!(truth[field], alone[field], "{field}");
    }
    let (hits, expected) = (number(&truth, "/prof_hits"), number(&truth, "/prof_expected"));
    // By the timer's own clock, no hit can be too many; two that wait for a processor become one.
    assert!(
        hits >= 0.8 * expected - 2.0 && hits <= expected + 1.0,
        "{hits} hits of the program's own timer, {expected} expected"
    );
}

#[test]
fn paths_go_through_a_signal_handler() {
    let Some(program) = built("signals") else { return };
    let recorded = record(&program, &["4"]).succeeded();
    let truth = recorded.truth();
    let flat = recorded.flat();
    let total = flat.total("cpu_s");
    let share = flat.cpu("compute_in_handler").inclusive / total;
    assert_share(
        "work in the handler",
        share,
        number(&truth, "/functions/compute_in_handler") / number(&truth, "/cpu_s"),
        flat.total("samples"),
    );
    // Above the handler stands what it interrupted.
    let through = recorded.tree().cpu_below("compute_in_handler", "interrupted_by_handler");
    assert!(
        through >= 0.97 * flat.cpu("compute_in_handler").inclusive,
        "{through} s of {share} of {total} s"
    );
}

#[test]
fn a_thread_that_blocks_all_signals_is_sampled_like_any_other() {
    let Some(program) = built("signals") else { return };
    let recorded = record(&program, &["4"]).succeeded();
    let truth = recorded.truth();
    let tid = number(&truth, "/blocked_thread/tid") as u64;
    let cpu_s = number(&truth, "/blocked_thread/cpu_s");
    assert_close("its CPU time", recorded.threads().thread(tid).cpu_s, cpu_s, 1e-4 * cpu_s + 0.002);
    let flat = recorded.flat_of_thread(tid);
    assert!(flat.cpu("all_signals_blocked").inclusive >= 0.95 * cpu_s, "{:#?}", flat.functions);
    // As many samples per second as the rest of the program has.
    let all = recorded.summary().quality.delivered_rate;
    let here = flat.total("samples") / cpu_s;
    assert!(here > 0.5 * all, "{here} samples a second here, {all} in the whole program");
}
