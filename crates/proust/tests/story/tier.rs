//! How much of a long matrix of cases a run of the stories tries.
//!
//! `tests/all` has to end within 45 minutes: it takes a fixed part of each matrix, in which every value of
//! every dimension occurs. `tests/nightly` sets `PROUST_TEST_TIER=nightly` and takes all of it.

/// Whether all cases are wanted.
pub fn is_nightly() -> bool {
    std::env::var_os("PROUST_TEST_TIER").is_some_and(|tier| tier == "nightly")
}

/// Whether the case is tried whose places along the matrix's dimensions sum up to `place`; of neighbours one
/// in `of` is, in every tier.
pub fn takes(place: usize, of: usize) -> bool {
    is_nightly() || place.is_multiple_of(of)
}

/// All of `ways` in which the case at `place` of a list may be tried, or one of them, in turn.
pub fn in_turn<T>(ways: Vec<T>, place: usize) -> Vec<T> {
    let count = ways.len().max(1);
    ways.into_iter()
        .enumerate()
        .filter(|(way, _)| takes(place % count + count - way, count))
        .map(|(_, way)| way)
        .collect()
}

#[test]
fn each_way_has_its_turn() {
    if !is_nightly() {
        let turns = [0, 1, 2].map(|place| in_turn(vec!["gcc", "clang"], place));
        assert_eq!(turns, [["gcc"], ["clang"], ["gcc"]]);
        assert_eq!(in_turn(vec!["gcc"], 7), ["gcc"]);
    }
    assert!(in_turn(Vec::<u8>::new(), 3).is_empty());
    assert!(takes(6, 3));
}
