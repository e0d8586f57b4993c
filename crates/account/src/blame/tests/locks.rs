//! The holders of the lock.

use super::*;
use crate::ledger::Window;
use CauseKind::{HandOver, Holder, Unknown};
use proust_profile::{ContextId, LocationId, OperationId};

#[test]
fn the_holder_is_to_blame_and_not_who_waits() {
    let mut run = Builder::new(2, 100);
    run.lock(1, 2, 0x10, (10, 30));
    run.unlock(0, 1, 0x10, 30, 25);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(1, Holder, 0, 1, 20.0)]);
    let cause = blame.rows[0].cause;
    assert_eq!((cause.site, cause.lock), (Some(ContextId(9)), Some(0)));
    let lock = &blame.locks[0];
    assert_eq!((lock.kind.id(), lock.site, lock.object, lock.objects), ("mutex", ContextId(2), 0x10, 1));
    assert_eq!((lock.holds, lock.held_ns, lock.longest_hold_ns), (1, 25 * MS, 25 * MS));
    let waits = &blame.lock_waits[0];
    assert_eq!((waits.lock, waits.location, waits.context, waits.waits), (0, LocationId(1), ContextId(2), 1));
    assert_eq!((blame.lock_waits.len(), waits.longest_ns), (1, 20 * MS));
}

#[test]
fn three_holders_in_a_row_share_the_wait_by_overlap() {
    let mut run = Builder::new(4, 100);
    run.lock(3, 4, 0x10, (10, 40));
    run.unlock(0, 1, 0x10, 15, 0);
    run.unlock(1, 2, 0x10, 25, 10);
    run.unlock(2, 3, 0x10, 40, 15);
    // Another lock has nothing to do with it.
    run.unlock(0, 5, 0x20, 30, 5);
    let (_, blame) = run.blame();
    let expected = [(3, Holder, 0, 1, 5.0), (3, Holder, 1, 2, 10.0), (3, Holder, 2, 3, 15.0)];
    assert_eq!(charges(&blame), expected);
}

#[test]
fn what_nobody_held_is_hand_over() {
    let mut run = Builder::new(3, 100);
    // The lock is free from 20 on; the second one gets it at 25, and the first one gets it at 42.
    run.lock(2, 3, 0x10, (10, 42));
    run.lock(1, 2, 0x10, (12, 25));
    run.unlock(0, 1, 0x10, 20, 20);
    run.unlock(1, 2, 0x10, 40, 20).since_ns = Some(25 * MS);
    let (_, blame) = run.blame();
    let expected = [
        (1, Holder, 0, 1, 8.0),
        (1, HandOver, 1, 2, 5.0),
        (2, Holder, 0, 1, 10.0),
        (2, Holder, 1, 2, 15.0),
        (2, HandOver, 2, 3, 7.0),
    ];
    assert_eq!(charges(&blame), expected);
}

#[test]
fn without_a_release_the_holder_is_not_known() {
    let mut run = Builder::new(2, 100);
    run.lock(1, 2, 0x10, (10, 90)).open = true;
    run.unlock(0, 1, 0x20, 30, 25);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(1, Unknown, 1, 2, 80.0)]);
}

#[test]
fn who_gives_up_waited_for_who_lets_it_go_later() {
    let mut run = Builder::new(2, 100);
    run.wait(Operation::MutexTimedLock, 1, 2, 0x10, (10, 20)).errors = 1;
    run.unlock(0, 1, 0x10, 50, 45);
    // The next one was held by a location that acquired it after that.
    run.wait(Operation::MutexTimedLock, 1, 2, 0x20, (60, 70)).errors = 1;
    run.unlock(0, 3, 0x20, 90, 5);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(1, Holder, 0, 1, 10.0), (1, Unknown, 1, 2, 10.0)]);
}

#[test]
fn a_wait_that_ends_without_the_lock_was_for_who_had_it_all_the_time() {
    let mut run = Builder::new(2, 100);
    // Woken for nothing at 20 and 30.
    for times in [(10, 20), (20, 30), (30, 50)] {
        run.lock(1, 2, 0x10, times);
    }
    run.unlock(0, 1, 0x10, 50, 45);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(1, Holder, 0, 1, 40.0)]);
}

/// A runtime says so after it has released a lock; who gets it may be faster.
#[test]
fn a_release_that_is_recorded_a_moment_late_is_that_of_the_holder() {
    let mut run = Builder::new(3, 100);
    // It acquires the lock a moment after the wait began, since it was handed over then.
    run.lock(1, 2, 0x10, (10, 30));
    run.unlock(0, 1, 0x10, 31, 0).since_ns = Some(11 * MS);
    // A reader that joins near the end of another one's wait did not cause it, nor did the next owner.
    run.lock(1, 2, 0x20, (40, 60));
    run.unlock(0, 1, 0x20, 90, 0).since_ns = Some(59 * MS);
    run.lock(1, 2, 0x30, (70, 80));
    run.unlock(2, 1, 0x30, 90, 0).since_ns = Some(81 * MS);
    let (_, blame) = run.blame();
    let expected = [(1, Holder, 0, 1, 19.0), (1, HandOver, 1, 2, 1.0), (1, Unknown, 1, 2, 30.0)];
    assert_eq!(charges(&blame), expected);
}

#[test]
fn sampled_releases_share_by_weight() {
    let mut run = Builder::new(4, 100);
    run.lock(3, 4, 0x10, (10, 40));
    // Of many short sections three are recorded: two of the one, one of the other.
    for (location, context, time_ms) in [(0, 1, 12), (0, 1, 20), (1, 2, 33)] {
        let release = run.unlock(location, context, 0x10, time_ms, 0);
        (release.held_ns, release.weight_ns) = (50_000, 200_000);
    }
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(3, Holder, 0, 1, 20.0), (3, Holder, 1, 2, 10.0)]);
    assert_eq!((blame.locks[0].holds, blame.locks[0].held_ns), (12, 600_000));
}

#[test]
fn a_long_section_among_short_ones_has_its_own_time() {
    let mut run = Builder::new(4, 100);
    run.lock(3, 4, 0x10, (10, 40));
    run.unlock(0, 1, 0x10, 30, 10);
    let release = run.unlock(1, 2, 0x10, 35, 0);
    (release.held_ns, release.weight_ns) = (50_000, 200_000);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(3, Holder, 0, 1, 10.0), (3, Holder, 1, 2, 20.0)]);
}

#[test]
fn a_short_wait_without_a_release_is_like_those_next_to_it() {
    let mut run = Builder::new(3, 100);
    run.lock(2, 3, 0x10, (10, 11));
    for (location, context, time_ms) in [(0, 1, 5), (1, 2, 15), (2, 3, 16), (1, 2, 17), (1, 2, 18)] {
        let release = run.unlock(location, context, 0x10, time_ms, 0);
        (release.held_ns, release.weight_ns) = (50_000, 200_000);
    }
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(2, Holder, 0, 1, 0.25), (2, Holder, 1, 2, 0.75)]);
}

#[test]
fn a_holder_that_waits_itself_keeps_the_charge() {
    let mut run = Builder::new(3, 100);
    run.lock(2, 3, 0x10, (10, 40));
    run.lock(1, 2, 0x20, (15, 35));
    run.unlock(1, 2, 0x10, 40, 35);
    run.unlock(0, 1, 0x20, 35, 30);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(1, Holder, 0, 1, 20.0), (2, Holder, 1, 2, 30.0)]);
}

#[test]
fn short_waits_are_shared_by_the_locks_that_were_let_go_meanwhile() {
    let mut run = Builder::new(4, 100);
    let sum = run.lock(3, 4, 0, (10, 50));
    (sum.summed, sum.time_ns, sum.calls) = (true, 8 * MS, 400);
    run.unlock(0, 1, 0x10, 20, 6);
    run.unlock(1, 2, 0x20, 30, 2);
    run.unlock(1, 3, 0x20, 80, 30);
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame), [(3, Holder, 0, 1, 6.0), (3, Holder, 1, 2, 2.0)]);
    // Without any release the holder is not known.
    let mut run = Builder::new(2, 100);
    let sum = run.lock(1, 4, 0, (10, 50));
    (sum.summed, sum.time_ns, sum.calls) = (true, 8 * MS, 400);
    assert_eq!(charges(&run.blame().1), [(1, Unknown, 1, 4, 8.0)]);
}

#[test]
fn slots_that_are_empty_for_a_wait_have_its_cause() {
    // One works with the lock held, then sleeps with it held; the other waits all the time.
    let mut run = Builder::new(2, 40);
    run.sample(0, 1, 20, 20);
    run.wait(Operation::Sleep, 0, 2, 0, (20, 40));
    run.lock(1, 3, 0x10, (0, 30));
    run.unlock(0, 1, 0x10, 15, 0);
    run.unlock(0, 5, 0x10, 30, 15);
    let (ledger, blame) = run.blame();
    assert_eq!((ledger.accounts[Account::Lock] / MS, ledger.accounts[Account::Serial]), (40, 0));
    let of = |section: u32| -> u64 {
        let rows = blame.rows.iter().filter(|row| row.slots && row.cause.section == Some(ContextId(section)));
        rows.map(|row| row.ns).sum()
    };
    // The number of a wait's empty slots is known, and not when they were empty.
    assert_eq!((of(1), of(5)), (5 * MS, 5 * MS));
    // Asleep for two thirds of the second section.
    let asleep = blame.rows.iter().find(|row| row.slots && row.cause.context == ContextId(2)).unwrap();
    assert_eq!((asleep.cause.section, asleep.ns), (Some(ContextId(5)), 10 * MS / 3));
}

#[test]
fn a_range_of_time_takes_its_part_of_the_holders() {
    let mut run = Builder::new(3, 100);
    run.lock(2, 3, 0x10, (10, 40));
    run.unlock(0, 1, 0x10, 20, 20);
    run.unlock(1, 2, 0x10, 40, 20);
    let profile = run.profile();
    let windows: Windows = [Window::new(15 * MS, 25 * MS)].into_iter().collect();
    assert_eq!(charges(&blame_of(&profile, &windows).1), [(2, Holder, 0, 1, 5.0), (2, Holder, 1, 2, 5.0)]);
}

#[test]
fn locks_of_one_kind_and_place_are_one_line() {
    let mut run = Builder::new(2, 100);
    for n in 0..5 {
        run.lock(1, 2, 0x10 + n, (10 * n, 10 * n + 5));
        run.unlock(0, 1, 0x10 + n, 10 * n + 5, 5);
    }
    run.wait(Operation::MutexLock, 1, 3, 0x99, (80, 85));
    let (_, blame) = run.blame();
    let lines: Vec<_> = blame.locks.iter().map(|lock| (lock.site, lock.objects)).collect();
    assert_eq!(lines, [(ContextId(2), 5), (ContextId(3), 1)]);
    assert_eq!(blame.lock_waits.iter().map(|row| row.waits).collect::<Vec<_>>(), [5, 1]);
}

#[test]
fn the_waker_of_a_passive_wait_is_the_last_one_during_it() {
    let mut run = Builder::new(2, 100);
    run.wait(Operation::ConditionWait, 1, 2, 0x10, (10, 40));
    run.wait(Operation::ConditionWait, 1, 2, 0x10, (50, 60));
    for time_ms in [20, 39] {
        let wake = run.unlock(0, if time_ms == 20 { 3 } else { 1 }, 0x10, time_ms, 0);
        (wake.operation, wake.weight_ns) = (OperationId(number(Operation::ConditionSignal)), 0);
    }
    let (ledger, blame) = run.blame();
    let rows: Vec<_> =
        blame.wakers.iter().map(|row| (row.context, row.waker, row.waits, row.ns / MS)).collect();
    assert_eq!(
        rows,
        [(ContextId(2), None, 1, 10), (ContextId(2), Some((LocationId(0), ContextId(1))), 1, 30)]
    );
    assert_eq!((ledger.accounts[Account::Lock], blame.rows.len()), (0, 0));
}

#[test]
fn readers_that_hold_it_together_share_the_wait() {
    // All have it from 0 on; they leave at 10, 20, 40 ms.
    let mut run = Builder::new(4, 100);
    run.lock(3, 4, 0x10, (0, 40));
    for (location, context, time_ms) in [(0, 1, 10), (1, 2, 20), (2, 3, 40)] {
        run.unlock(location, context, 0x10, time_ms, time_ms).since_ns = Some(1);
    }
    let (_, blame) = run.blame();
    let expected = [(3, 0, 10.0 / 3.0), (3, 1, 10.0 / 3.0 + 5.0), (3, 2, 10.0 / 3.0 + 25.0)];
    for (row, (waiter, holder, ms)) in charges(&blame).iter().zip(expected) {
        assert_eq!((row.0, row.1, row.2), (waiter, Holder, holder), "{:?}", charges(&blame));
        assert!((row.4 - ms).abs() < 0.001, "{:?}", charges(&blame));
    }
}

#[test]
fn the_holder_is_to_blame_for_what_it_did_while_it_held_the_lock() {
    // It computes in 5 and 6 while it has the lock, sleeps in 7, and computes in 8 before and after.
    let mut run = Builder::new(2, 100);
    run.sample(0, 8, 10, 10);
    run.sample(0, 5, 20, 10);
    run.sample(0, 6, 30, 5);
    run.wait(Operation::Sleep, 0, 7, 0, (30, 45));
    run.unlock(0, 1, 0x10, 46, 36).since_ns = Some(10 * MS);
    run.sample(0, 8, 60, 14);
    run.lock(1, 2, 0x10, (10, 46));
    let (_, blame) = run.blame();
    let found: Vec<_> = charges(&blame).iter().map(|row| (row.1, row.3, row.4)).collect();
    assert_eq!(found, [(Holder, 5, 14.0), (Holder, 6, 7.0), (Holder, 7, 15.0)]);
    assert!(blame.rows.iter().all(|row| row.cause.section == Some(ContextId(1))));
}

#[test]
fn of_very_many_sections_in_turn_each_lock_has_its_share() {
    // Two locks are released in turn, so often that only some releases are looked at.
    let mut run = Builder::new(3, 4000);
    let sum = run.lock(2, 4, 0, (0, 3000));
    (sum.summed, sum.time_ns, sum.calls) = (true, 1000 * MS, 400);
    for round in 0..1024 {
        run.unlock(0, 1, 0x10, 2 * round + 1, 1);
        run.unlock(1, 2, 0x20, 2 * round + 2, 1);
    }
    let (_, blame) = run.blame();
    let of = |context| charges(&blame).iter().filter(|row| row.3 == context).map(|row| row.4).sum::<f64>();
    assert!((400.0..=600.0).contains(&of(1)) && (400.0..=600.0).contains(&of(2)), "{:?}", charges(&blame));
}
