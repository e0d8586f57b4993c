//! Late arrivals at a barrier, and the reasons.

use super::*;
use CauseKind::{HandOver, Late, Unknown};
use proust_profile::{ContextId, OperationId};

/// Thread 0 computes 20 ms and arrives last, the other ones 5 ms, many times. Contexts: 1 what all do, 2 what
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
    let early: Vec<_> = charges(&blame).into_iter().filter(|row| row.0 == 1).collect();
    let late: f64 = early.iter().filter(|row| (row.1, row.2, row.3) == (Late, 0, 2)).map(|row| row.4).sum();
    assert!((74.9..=75.1).contains(&late), "{early:?}");
    // From the last arrival on it is the barrier's own time.
    assert!(early.iter().any(|row| row.1 == HandOver && (0.01..0.05).contains(&row.4)), "{early:?}");
    assert!(charges(&blame).iter().all(|row| row.1 != Unknown), "{early:?}");
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
        let rows = charges(&blame).into_iter().filter(|row| row.0 == 1 && row.3 == context);
        rows.map(|row| row.4).sum()
    };
    assert!(on(2) > 98.0, "{:?}", charges(&blame));
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
    wake.operation = OperationId(number(Operation::FutexWake));
    let (_, blame) = run.blame();
    assert_eq!(charges(&blame)[1], (1, Late, 0, 2, 20.0));
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
    let of_barrier: Vec<_> = charges(&blame).into_iter().filter(|row| row.0 == 2).collect();
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
    assert_eq!(charges(&blame), [(1, Unknown, 1, 4, 20.0)]);
}

/// Milliseconds of waiting at synchronisations that are charged to a context of a location.
fn on(blame: &Blame, location: u32, context: u32) -> f64 {
    let rows =
        charges(blame).into_iter().filter(|row| row.1 == Late && (row.2, row.3) == (location, context));
    rows.map(|row| row.4).sum()
}

#[test]
fn what_was_done_before_a_region_is_no_cause_of_waiting_in_it() {
    // Context 1 is serial, 2 what both do in the region, 3 what the first one does besides.
    let mut run = Builder::new(2, 1001);
    let region = run.region(5);
    for round in 0..20 {
        let at = round * 50;
        for (context, end, length) in [(1, 40, 40), (2, 44, 4), (3, 48, 4)] {
            run.sample(0, context, at + end, length);
        }
        run.sample(1, 2, at + 44, 4);
        run.stay(0, region, at + 40, at + 48);
        run.stay(1, region, at + 40, at + 44);
        run.wait(Operation::OmpRegionEnd, 1, 5, 0x10, (at + 44, at + 48));
    }
    run.blocks_between_samples();
    let (_, blame) = run.blame();
    assert_eq!((on(&blame, 0, 1), on(&blame, 0, 2)), (0.0, 0.0), "{:?}", charges(&blame));
    assert!(on(&blame, 0, 3) > 79.9, "{:?}", charges(&blame));
}

#[test]
fn one_late_for_different_reasons_at_two_sites_of_a_team_is_late_at_each_for_its_own() {
    let mut run = Builder::new(2, 1001);
    let region = run.region(5);
    for round in 0..20 {
        let at = round * 50;
        run.sample(0, 1, at + 10, 10);
        run.wait(Operation::OmpBarrier, 1, 6, 0x10, (at, at + 10));
        run.sample(0, 2, at + 50, 40);
        run.wait(Operation::OmpBarrier, 1, 7, 0x10, (at + 11, at + 50));
    }
    run.stay(0, region, 0, 1000);
    run.stay(1, region, 0, 1000);
    let (_, blame) = run.blame();
    for row in charges(&blame).iter().filter(|row| row.1 == Late) {
        let rows =
            blame.rows.iter().filter(|one| one.cause.context == ContextId(row.3) && one.cause.kind == Late);
        let site = if row.3 == 1 { 6 } else { 7 };
        assert!(rows.clone().all(|one| one.context == ContextId(site)), "{:?}", blame.rows);
    }
    assert!(on(&blame, 0, 1) > 199.0 && on(&blame, 0, 2) > 779.0, "{:?}", charges(&blame));
}

#[test]
fn two_that_come_late_together_share_what_the_others_waited() {
    // The last two are so short at the barrier that they are in sums.
    let mut run = Builder::new(4, 401);
    for round in 0..20 {
        let at = round * 20;
        for (location, length) in [(0, 2), (1, 7), (2, 12), (3, 12)] {
            run.sample(location, 1, at + length.min(2), length.min(2));
            if length > 2 {
                run.sample(location, 2, at + length, length - 2);
            }
        }
        run.wait(Operation::Barrier, 0, 3, 0x10, (at + 2, at + 12));
        run.wait(Operation::Barrier, 1, 3, 0x10, (at + 7, at + 12));
    }
    run.short_wait(2, 3, (12, 392));
    run.short_wait(3, 3, (12, 392));
    let (_, blame) = run.blame();
    // 10 and 5 ms, twenty times.
    for late in [2, 3] {
        assert!((149.0..=151.0).contains(&on(&blame, late, 2)), "{:?}", charges(&blame));
    }
    assert_eq!(on(&blame, 1, 2), 0.0);
}

#[test]
fn who_was_not_known_to_wait_once_begins_anew_like_the_others() {
    // Thread 0 is late by 5 ms of context 2, but every second time no thread waits for another.
    let mut run = Builder::new(2, 801);
    for round in 0..20 {
        let at = round * 40;
        for thread in 0..2 {
            run.sample(thread, 1, at + 10, 10);
        }
        run.sample(0, 2, at + 15, 5);
        run.wait(Operation::Barrier, 1, 4, 0x10, (at + 10, at + 15));
        // The second half of the round is as long for both, and spent on something else by each.
        run.sample(0, 5, at + 35, 20);
        run.sample(1, 6, at + 35, 20);
        for thread in 0..2 {
            let both = run.wait(Operation::Barrier, thread, 4, 0x10, (at + 35, at + 35));
            both.end_ns += 2_000;
            both.time_ns += 2_000;
        }
    }
    run.short_wait(0, 4, (15, 795));
    let (_, blame) = run.blame();
    assert!(on(&blame, 0, 2) > 99.0 && on(&blame, 0, 5) == 0.0, "{:?}", charges(&blame));
}

#[test]
fn small_differences_of_few_samples_are_not_certain() {
    // Thread 0 does 10 ms more of context 2 in each round; of context 1 both do the same, but the samples say
    // otherwise now and then.
    let mut run = Builder::new(2, 2001);
    for round in 0..30 {
        let at = round * 60;
        let seen = if round % 3 == 0 { 5 } else { 4 };
        run.sample(0, 1, at + 4 * seen, 4 * seen);
        run.sample(0, 7, at + 30, 30 - 4 * seen);
        run.sample(0, 2, at + 40, 10);
        run.sample(1, 1, at + 16, 16);
        run.sample(1, 7, at + 30, 14);
        run.wait(Operation::Barrier, 1, 4, 0x10, (at + 30, at + 40));
        let last = run.wait(Operation::Barrier, 0, 4, 0x10, (at + 40, at + 40));
        (last.end_ns, last.time_ns) = (last.begin_ns + 5_000, 5_000);
    }
    run.blocks_between_samples();
    let (_, blame) = run.blame();
    // Where the first round began is no site, so it is compared alone, and a handful of samples is not
    // enough.
    assert!(on(&blame, 0, 2) > 290.0 && on(&blame, 0, 1) < 3.0, "{:?}", charges(&blame));
}

/// Thread 1 waits for 40 ms at the end of a region, while thread 0 computes 10 ms of context 1 as it did
/// itself, and then 40 ms of context 3; opening the region took 2 ms, in context 2.
fn long_wait(run: &mut Builder) {
    let region = run.region(5);
    for at in [0, 100] {
        run.wait(Operation::Sleep, 0, 2, 0, (at, at + 2));
        run.sample(0, 1, at + 12, 10);
        for piece in 1..=10 {
            run.sample(0, 3, at + 12 + 4 * piece, 4);
        }
        run.sample(1, 1, at + 12, 10);
        run.stay(0, region, at, at + 52);
        run.stay(1, region, at + 2, at + 12);
        run.wait(Operation::OmpRegionEnd, 1, 5, 0x10, (at + 12, at + 52));
    }
    run.blocks_between_samples();
}

/// A sample of a thread that polls cuts its wait in two, and the ledger counts each part by itself.
#[test]
fn a_synchronisation_opens_when_a_wait_is_over_and_not_at_a_sample_in_it() {
    let mut run = Builder::new(2, 201);
    long_wait(&mut run);
    for at in [14, 20, 51, 114, 130] {
        run.sample_in_operation(1, 5, at * MS);
    }
    let (_, blame) = run.blame();
    assert!(on(&blame, 0, 3) > 75.0 && on(&blame, 0, 2) < 4.1, "{:?}", charges(&blame));
}

/// A stopped process continues with the waits that it was in.
#[test]
fn a_synchronisation_does_not_open_where_its_process_is_stopped() {
    let mut run = Builder::new(2, 201);
    long_wait(&mut run);
    run.stopped(14, 16);
    run.stopped(120, 121);
    let (_, blame) = run.blame();
    assert!(on(&blame, 0, 3) > 70.0 && on(&blame, 0, 2) < 4.1, "{:?}", charges(&blame));
}

/// Memory does not grow with the number of synchronisations.
#[test]
fn a_thousand_times_as_many_synchronisations_are_kept_in_as_much() {
    use super::super::{charging, evidence::Evidence, meetings::Gathering, partners::Partners};
    use crate::ledger::{Ledger, Processors};
    use crate::timelines::{OperationStates, timelines};

    let kept = |times: u64| {
        let mut run = Builder::new(3, 20 * times + 1);
        rounds(&mut run, 3, times);
        let profile = run.profile();
        let (timelines, states) = (timelines(&profile), OperationStates::of(&profile));
        let processors = Processors::measured(&timelines, &Windows::all()).unwrap();
        let mut gathering = Gathering::new(&profile);
        let evidence = Evidence::new(&profile, &states, |evidence, done| gathering.see(evidence, done));
        let meetings = gathering.finish(&evidence);
        let partners = Partners::new(&evidence, &timelines);
        let (ledger, charged) = charging::charged(&evidence, &meetings, partners, |observer| {
            Ledger::observed(&timelines, &processors, &Windows::all(), observer)
        });
        ledger.unwrap();
        (charged.delays[0].len(), charged.delays[0].most_open)
    };
    let few = kept(10);
    assert_eq!(few.1, 1);
    assert_eq!(kept(10_000), few);
}
