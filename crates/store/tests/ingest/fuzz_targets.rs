//! What the fuzz targets assert, of a log and of damaged copies: they build and hold without a fuzzer, too.

#[path = "../../../../fuzz/src/lib.rs"]
mod asserted;
use crate::synthetic::{LaneBuilder, header, log};

#[test]
fn what_the_fuzz_targets_assert_holds_for_a_log_and_its_damaged_copies() {
    let mut lane = LaneBuilder::new(0);
    lane.module(1, "/home/me/program", 7, 0x40_0000).begin(10, 1000, 0);
    lane.node(1, 0, 1, 0x101).node(2, 1, 1, 0x202);
    lane.sample(1010, 1, 2).sample(1020, 3, 1).sample(1030, 7, 2).end(10, 1040, 9);
    let bytes = log(header(9), &[lane]);
    asserted::check(&bytes);
    // Most of a log is room for what was not recorded.
    let written: Vec<usize> = (0..bytes.len()).filter(|&at| bytes[at] != 0).collect();
    assert!(written.len() > 100, "{}", written.len());
    for at in written {
        for flipped in [1, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flipped;
            asserted::check(&damaged);
        }
    }
}
