//! Who came late to a barrier, and why.

use super::*;
use CauseKind::{HandOver, Late, Unknown};

/// Thread 0 computes 20 ms and comes last, the other ones 5 ms, many times. Contexts: 1 what all do, 2 what
/// only the late one does, 3 the barrier of the late one, 4 that of the others.
fn rounds(run: &mut Builder, threads: u32, rounds: u64) {
    for round in 0..rounds {
        let begin = round * 20;
        for thread in 0..threads {
            run.sample(thread, 1, begin + 5, 5);
        }
        run.sample(0, 2, begin + 20, 15);
        // The last one's call is short.
        let last = run.wait(Operation::Barrier, 0, 3, 0x10, (begin + 20, begin + 20));
        (last.end_ns, last.time_ns) = (last.begin_ns + 5_000, 5_000);
        for thread in 1..threads {
            let early = run.wait(Operation::Barrier, thread, 4, 0x10, (begin + 5, begin + 20));
            (early.end_ns, early.time_ns) = (early.end_ns + 4_000, early.time_ns + 4_000);
        }
    }
}

#[test]
fn the_late_one_is_to_blame_for_what_it_does_longer() {
    let mut run = Builder::new(3, 101);
    rounds(&mut run, 3, 5);
    let (_, blame) = run.blame();
    let early: Vec<_> = told(&blame).into_iter().filter(|row| row.0 == 1).collect();
    let late: f64 = early.iter().filter(|row| (row.1, row.2, row.3) == (Late, 0, 2)).map(|row| row.4).sum();
    assert!((74.9..=75.1).contains(&late), "{early:?}");
    // From when the last one came it is the barrier's own time.
    assert!(early.iter().any(|row| row.1 == HandOver && (0.01..0.05).contains(&row.4)), "{early:?}");
    assert!(told(&blame).iter().all(|row| row.1 != Unknown), "{early:?}");
}

#[test]
fn of_two_phases_only_that_with_the_difference_is_to_blame() {
    // Both do 10 ms of what is in context 1; the late one also 10 ms of context 2, and both 2 ms of context
    // 5, in another order.
    let mut run = Builder::new(2, 300);
    for round in 0..10 {
        let at = round * 24;
        for (context, end, length) in [(1, 10, 10), (2, 20, 10), (5, 22, 2)] {
            run.sample(0, context, at + end, length);
        }
        for (context, end, length) in [(5, 2, 2), (1, 12, 10)] {
            run.sample(1, context, at + end, length);
        }
        let last = run.wait(Operation::Barrier, 0, 3, 0x10, (at + 22, at + 22));
        (last.end_ns, last.time_ns) = (last.begin_ns + 5_000, 5_000);
        run.wait(Operation::Barrier, 1, 4, 0x10, (at + 12, at + 22));
        run.wait(Operation::Sleep, 0, 6, 0, (at + 23, at + 24));
        run.wait(Operation::Sleep, 1, 6, 0, (at + 23, at + 24));
    }
    let (_, blame) = run.blame();
    let on = |context| -> f64 {
        let rows = told(&blame).into_iter().filter(|row| row.0 == 1 && row.3 == context);
        rows.map(|row| row.4).sum()
    };
    assert!(on(2) > 98.0, "{:?}", told(&blame));
}

#[test]
fn who_wakes_the_others_came_last_where_the_last_one_does_not_wait() {
    let mut run = Builder::new(2, 60);
    run.sample(0, 2, 30, 30);
    run.sample(1, 1, 10, 10);
    let class = run.wait(Operation::Barrier, 1, 4, 0x10, (10, 30));
    class.end_ns += 1000;
    class.time_ns += 1000;
    let wake = run.unlock(0, 2, 0x10, 30, 0);
    wake.operation = number(Operation::FutexWake);
    let (_, blame) = run.blame();
    assert_eq!(told(&blame)[1], (1, Late, 0, 2, 20.0));
}

#[test]
fn a_late_one_that_waited_itself_passes_it_on() {
    // Thread 1 is late for the barrier as it waited 20 ms for a lock that thread 0 held.
    let mut run = Builder::new(3, 60);
    run.sample(0, 1, 30, 30);
    run.lock(1, 2, 0x20, (5, 25));
    run.unlock(0, 1, 0x20, 25, 25);
    run.sample(1, 5, 30, 10);
    run.sample(2, 5, 10, 10);
    let last = run.wait(Operation::Barrier, 1, 3, 0x10, (30, 30));
    (last.end_ns, last.time_ns) = (last.begin_ns + 5_000, 5_000);
    run.wait(Operation::Barrier, 2, 4, 0x10, (10, 30));
    let (_, blame) = run.blame();
    let of_barrier: Vec<_> = told(&blame).into_iter().filter(|row| row.0 == 2).collect();
    let passed_on = of_barrier.iter().find(|row| row.1 == CauseKind::Holder).unwrap();
    assert_eq!((passed_on.2, passed_on.3), (0, 1));
    assert!(passed_on.4 > 19.0, "{of_barrier:?}");
}

#[test]
fn a_barrier_of_which_only_one_waiter_is_known_has_no_known_cause() {
    let mut run = Builder::new(2, 60);
    run.sample(0, 2, 30, 30);
    run.wait(Operation::Barrier, 1, 4, 0x10, (10, 30));
    let (_, blame) = run.blame();
    assert_eq!(told(&blame), [(1, Unknown, 1, 4, 20.0)]);
}
