//! Late partners of MPI, and the reasons.

use super::*;
use CauseKind::{Late, Unknown};

/// Of what a location waited, so many milliseconds are charged to what another one did in a context.
fn caused(blame: &Blame, location: u32, (late, context): (u32, u32)) -> f64 {
    let rows = charges(blame).into_iter().filter(|row| row.0 == location);
    rows.filter(|row| (row.1, row.2, row.3) == (Late, late, context)).map(|row| row.4).sum()
}

fn near(found: f64, truth: f64) -> bool {
    (found - truth).abs() <= 0.1
}

#[test]
fn a_late_sender_is_to_blame_for_what_it_does_longer() {
    let mut run = Builder::new(2, 60);
    // Both compute in context 1, the late one also in context 2.
    for at in [5, 10] {
        run.sample(0, 1, at, 5);
        run.sample(1, 1, at, 5);
    }
    for at in 3..=10 {
        run.sample(0, 2, at * 5, 5);
    }
    run.partner((1, 4), (10, 50, 52), 0);
    let (ledger, blame) = run.blame();
    assert_eq!(ledger.with_beyond_ns(Account::MpiPartner), 40 * MS);
    assert!(near(caused(&blame, 1, (0, 2)), 40.0), "{:?}", charges(&blame));
    assert!(charges(&blame).iter().all(|row| row.1 != Unknown));
}

/// Each waits for the one before it; the first one causes all.
#[test]
fn waits_for_waiting_ranks_are_passed_on() {
    let mut run = Builder::new(3, 60);
    for at in 1..=10 {
        run.sample(0, 2, at * 5, 5);
    }
    run.partner((1, 4), (0, 50, 50), 0);
    run.sample(1, 5, 52, 2);
    run.partner((2, 6), (0, 52, 53), 1);
    let (_, blame) = run.blame();
    assert!(near(caused(&blame, 1, (0, 2)), 50.0), "{:?}", charges(&blame));
    assert!(near(caused(&blame, 2, (0, 2)), 50.0), "{:?}", charges(&blame));
    assert!(near(caused(&blame, 2, (1, 5)), 2.0), "{:?}", charges(&blame));
}

/// What was done before both waited for a third one is no reason for being late again.
#[test]
fn comparison_begins_again_where_both_went_on() {
    let mut run = Builder::new(3, 100);
    // Location 0 computes 10 ms more than location 1 in context 2, before both wait for location 2.
    for at in 1..=6 {
        run.sample(2, 1, at * 5, 5);
    }
    run.sample(0, 2, 5, 5);
    run.sample(0, 2, 10, 5);
    run.partner((0, 4), (10, 30, 30), 2);
    run.partner((1, 4), (0, 30, 30), 2);
    // Then location 0 is late in context 3.
    for at in 7..=10 {
        run.sample(0, 3, at * 5, 5);
    }
    run.partner((1, 5), (30, 50, 51), 0);
    let (_, blame) = run.blame();
    assert!(near(caused(&blame, 1, (0, 3)), 20.0), "{:?}", charges(&blame));
    assert!(near(caused(&blame, 1, (0, 2)), 0.0), "{:?}", charges(&blame));
    assert!(near(caused(&blame, 1, (2, 1)), 30.0), "{:?}", charges(&blame));
}
