//! Time in the kernel is shown beside time in the program, and belongs to the functions that caused it.

use crate::chance::{assert_close, assert_share};
use crate::programs::built;
use crate::recording::{number, record};

#[test]
fn user_and_system_seconds() {
    let Some(program) = built("syscalls") else { return };
    let run = record(program, &["3"]).succeeded();
    let truth = run.truth();
    let flat = run.flat();
    let total = flat.total("cpu_s");
    for function in ["reads_zeros", "asks_for_parent", "computes"] {
        assert_share(
            function,
            flat.cpu(function).inclusive / total,
            number(&truth, &format!("/inclusive/{function}")) / number(&truth, "/cpu_s"),
            flat.total("samples"),
        );
    }
    // getrusage divides by ticks as well: it is no better than a few hundredths.
    let (user, system) = (flat.total("user_s"), flat.total("system_s"));
    assert_close("user and system", user + system, total, 0.02 * total + 0.02);
    assert_close("system time", system, number(&truth, "/system_s"), 0.1 * total);
    let computes = flat.row("computes");
    let reads = flat.row("reads_zeros");
    assert!(
        computes.amount("system_s").inclusive < 0.15 * computes.amount("cpu_s").inclusive,
        "{computes:?}"
    );
    assert!(reads.amount("system_s").inclusive > 0.7 * reads.amount("cpu_s").inclusive, "{reads:?}");
}
