//! A function's time belongs to its callers by what their calls cost, not by how often they call.

use serde::Deserialize;

use crate::chance::{assert_close, assert_share};
use crate::pages::FlatRow;
use crate::programs::built;
use crate::recording::{number, record};

/// `report callers FUNCTION`.
#[derive(Debug, Deserialize)]
struct Callers {
    callers: Vec<FlatRow>,
    callees: Vec<FlatRow>,
}

fn inclusive(rows: &[FlatRow], function: &str) -> f64 {
    rows.iter()
        .filter(|row| crate::pages::is_function(&row.function, function))
        .map(|row| row.amount("cpu_s").inclusive)
        .sum()
}

#[test]
fn nine_cheap_calls_cost_less_than_a_dear_one() {
    let Some(program) = built("cost_by_argument") else { return };
    let run = record(program, &["4"]).succeeded();
    let truth = run.truth();
    let page: Callers = run.page("callers", &["work"]);
    let cheap = inclusive(&page.callers, "nine_cheap_calls");
    let dear = inclusive(&page.callers, "one_dear_call");
    let flat = run.flat();
    assert_close("what the callers cause", cheap + dear, flat.cpu("work").inclusive, 1e-3);

    let true_cheap = number(&truth, "/callers/nine_cheap_calls");
    let true_dear = number(&truth, "/callers/one_dear_call");
    // 9:100 in time, although 9:1 in calls.
    assert_share(
        "the cheap calls' share of work",
        cheap / (cheap + dear),
        true_cheap / (true_cheap + true_dear),
        flat.total("samples"),
    );
    // Seen from the caller, the same seconds are its callee's.
    let page: Callers = run.page("callers", &["one_dear_call"]);
    assert_close("callee of one_dear_call", inclusive(&page.callees, "work"), dear, 1e-6);
    run.assert_trustworthy();
}
