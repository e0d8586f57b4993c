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
    // The kernel tells a thread's own time from its own by what its ticks met, and on a busy machine they
    // meet what they like: so each function has what the program itself was told of it, and not what it
    // really is.
    for function in ["reads_zeros", "asks_for_parent", "computes"] {
        let row = flat.row(function);
        let (system, cpu) = (row.amount("system_s").inclusive, row.amount("cpu_s").inclusive);
        assert_close(function, system, number(&truth, &format!("/system/{function}")), 0.1 * cpu + 0.04);
    }
}
