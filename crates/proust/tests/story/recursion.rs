//! Recursion 300 and 3000 frames deep.

use crate::chance::{assert_close, assert_share};
use crate::programs::built;
use crate::recording::{number, record};

fn assert_recursion(depth: usize) {
    let Some(program) = built("recursion") else { return };
    let run = record(program, &["3", &depth.to_string()]).succeeded();
    let truth = run.truth();
    let flat = run.flat();
    let total = flat.total("cpu_s");
    let samples = flat.total("samples");

    // However many frames of it a path holds, a second counts once.
    let descend = flat.cpu("descend");
    assert!(descend.inclusive <= total * 1.000_001, "{descend:?} of {total} s");
    assert!(descend.inclusive >= total * 0.97, "{descend:?} of {total} s");
    // What is left is the reading of the clock, some samples in a thousand.
    assert_close(
        "descend and bottom",
        descend.inclusive,
        descend.exclusive + flat.cpu("bottom").inclusive,
        0.04 * total,
    );
    let true_bottom = number(&truth, "/functions/bottom") / number(&truth, "/inclusive/descend");
    assert_share("bottom", flat.cpu("bottom").exclusive / total, true_bottom, samples);

    // The path of the bottom holds every frame.
    let tree = run.tree();
    let ancestors = tree.ancestors();
    let frames: Vec<usize> = tree
        .of("bottom")
        .into_iter()
        .map(|context| ancestors(context).iter().filter(|above| above.is("descend")).count())
        .collect();
    assert!(!frames.is_empty() && frames.iter().all(|&frames| frames == depth), "{frames:?}");
    let quality = run.summary().quality;
    assert!(quality.complete_paths >= 0.99, "{quality:#?}");
    run.assert_trustworthy();
}

#[test]
fn three_hundred_frames_deep() {
    assert_recursion(300);
}

#[test]
fn three_thousand_frames_deep() {
    assert_recursion(3000);
}
