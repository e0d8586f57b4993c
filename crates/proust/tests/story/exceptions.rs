//! C++ exceptions through 60 frames: they arrive, and the time of throwing is seen.

use crate::chance::assert_share;
use crate::programs::built;
use crate::recording::{number, record};

#[test]
fn exceptions_pass_and_their_cost_is_seen() {
    let Some(program) = built("exceptions") else { return };
    // The program fails unless every exception was caught and every frame cleaned up.
    let run = record(program, &["3"]).succeeded();
    let truth = run.truth();
    let flat = run.flat();
    let total = flat.total("cpu_s");
    let all = number(&truth, "/functions/before_throw") + number(&truth, "/throwing_s");
    assert_share(
        "work before the throw",
        flat.cpu("before_throw").exclusive / total,
        number(&truth, "/functions/before_throw") / all,
        flat.total("samples"),
    );
    // Samples inside the C++ runtime's unwinder belong to the frame that threw.
    let tree = run.tree();
    let throwing = number(&truth, "/throwing_s") / all;
    let ancestors = tree.ancestors();
    let below_frame: f64 = tree
        .of("frame")
        .into_iter()
        .filter(|context| !ancestors(context).iter().any(|above| above.is("frame")))
        .map(|context| context.cpu().inclusive)
        .sum();
    let below_frame = below_frame / total - flat.cpu("before_throw").inclusive / total;
    assert!(below_frame > 0.7 * throwing, "{below_frame} of {throwing} is below the throwing frames");
    run.assert_trustworthy();
}
