//! Programs for which the right ledger is known. P processors, T seconds, total = P × T unless more locations
//! were active; the accounts are worked out by hand beside each.

use super::super::*;
use super::build::*;
use proust_profile::ProcessId;

/// P = 1, T = 10: compute 10.
#[test]
fn one_busy_thread() {
    let ledger = Program::new().process(1, 0.0, 10.0).thread(1, vec![span(0.0, 10.0, COMPUTE)]).ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Compute, 10.0)]);
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(1.0));
    assert_eq!((ledger.wall_ns, ledger.beyond_ns, ledger.lost_ns(IoAs::Productive)), (ns(10.0), 0, 0));
}

/// 1 thread for 100 s, 63 more from 50 on for `burst` seconds.
fn burst_of_64(burst: f64) -> Ledger {
    let main = Program::new().process(1, 0.0, 100.0).thread(1, vec![span(0.0, 100.0, COMPUTE)]);
    (2..=64).fold(main, |run, id| run.thread(id, vec![span(50.0, 50.0 + burst, COMPUTE)])).ledger()
}

/// 64 are active for 0.9 s = 0.9 % < 1 %: P = 1. The 63 × 0.9 = 56.7 s stand beyond P × T, and nothing is
/// lost.
#[test]
fn a_burst_too_short_to_count() {
    let ledger = burst_of_64(0.9);
    assert_accounts(&ledger, 1, 100.0, &[(Account::Compute, 100.0)]);
    assert_eq!(ledger.beyond, accounts(&[(Account::Compute, 56.7)]));
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(1.0));
}

/// 1.1 s = 1.1 %: P = 64, total 6400, compute 100 + 63 × 1.1 = 169.3, serial 63 × (100 − 1.1) = 6230.7.
#[test]
fn a_burst_long_enough_to_count() {
    let ledger = burst_of_64(1.1);
    assert_accounts(&ledger, 64, 6400.0, &[(Account::Compute, 169.3), (Account::Serial, 6230.7)]);
    assert_eq!(ledger.beyond_ns, 0);
}

/// 64 are active for 1.1 s, on 4 processors: P = 4, total 400. Meanwhile all 64 ask for a processor, and 4 ×
/// 1.1 s were there; so compute 98.9 + 4.4, serial 3 × 98.9, and the rest of 70.4 s stands beyond the
/// processors.
#[test]
fn a_burst_never_counts_for_more_than_there_is() {
    let main = Program::new().process(1, 0.0, 100.0).thread(1, vec![span(0.0, 100.0, COMPUTE)]);
    let ledger = (2..=64)
        .fold(main, |run, id| run.thread(id, vec![span(50.0, 51.1, COMPUTE)]))
        .on_processors(4)
        .ledger();
    assert_accounts(&ledger, 4, 400.0, &[(Account::Compute, 103.3), (Account::Serial, 296.7)]);
    assert_eq!((ledger.beyond, ledger.active), (accounts(&[(Account::Compute, 66.0)]), 64));
}

/// `xz -T2` on two processors: main hands blocks out for 0.2 s of 10, two workers compute throughout. Three
/// are active for 2 % of the time, but there are two processors: P = 2, and nothing is serial.
#[test]
fn two_workers_and_their_main() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 0.2, COMPUTE), span(0.2, 10.0, passive(PassiveReason::Condition))])
        .thread(2, vec![span(0.0, 10.0, COMPUTE)])
        .thread(3, vec![span(0.0, 10.0, COMPUTE)])
        .on_processors(2)
        .ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 20.0)]);
    assert_eq!(ledger.beyond, accounts(&[(Account::Compute, 0.2)]));
    assert_eq!(ledger.locations.iter().map(|one| one.accounts.sum_ns()).sum::<u64>(), ns(20.2));
}

/// A queue: one producer and three consumers on two processors, T = 10. For 9 s two of them compute and the
/// others wait for the queue's lock; for 1 s one computes, one waits for the lock, and two have no work.
/// Efficiency 19 ÷ 20: what waits while both processors compute costs nothing.
#[test]
fn a_queue_that_is_busy() {
    const LOCK: State = State::Waiting(Wait::Lock);
    let none = passive(PassiveReason::Condition);
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .thread(2, vec![span(0.0, 9.0, COMPUTE), span(9.0, 10.0, LOCK)])
        .thread(3, vec![span(0.0, 9.0, LOCK), span(9.0, 10.0, none)])
        .thread(4, vec![span(0.0, 9.0, LOCK), span(9.0, 10.0, none)])
        .on_processors(2)
        .ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 19.0), (Account::Lock, 1.0)]);
    assert_eq!(ledger.beyond, accounts(&[(Account::Lock, 18.0)]));
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(0.95));
}

/// Exactly 1 % is enough.
#[test]
fn a_burst_just_long_enough_to_count() {
    assert_eq!(burst_of_64(1.0).processors, 64);
}

/// `sh -c 'a & b; wait'`: the shell waits, a works for 10 s, b for 6 s. P = 2, T = 10: compute 16, and from 6
/// to 10 one of two slots is empty while a works: serial 4, charged to a, shown under the shell.
#[test]
fn a_shell_with_a_background_job() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, passive(PassiveReason::Wait))])
        .process(2, 0.0, 10.0)
        .child_of(1)
        .thread(2, vec![span_at(20, 0.0, 10.0, COMPUTE)])
        .process(3, 0.0, 6.0)
        .child_of(1)
        .thread(3, vec![span_at(30, 0.0, 6.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 16.0), (Account::Serial, 4.0)]);
    assert_blamed(&ledger, &[(2, 20, Account::Serial, 4.0)]);
    assert_eq!(ledger.slots.len(), 1);
    assert_eq!(ledger.slots[0].process, ProcessId(1));
    assert_eq!(ledger.locations[0].passive[PassiveReason::Wait], ns(10.0));
}

/// `sh -c 'sleep 9'`: P = 1, T = 9, all asleep: nothing lost, and no efficiency to speak of.
#[test]
fn a_shell_that_sleeps() {
    let ledger = Program::new()
        .process(1, 0.0, 9.0)
        .thread(1, vec![span(0.0, 9.0, passive(PassiveReason::Wait))])
        .process(2, 0.0, 9.0)
        .child_of(1)
        .thread(2, vec![span(0.0, 9.0, passive(PassiveReason::Sleep))])
        .ledger();
    assert_accounts(&ledger, 1, 9.0, &[(Account::Asleep, 9.0)]);
    assert_eq!(ledger.efficiency(IoAs::Productive), None);
    assert_eq!(ledger.lost_ns(IoAs::Productive), 0);
}

/// make -j2: compilers for 10 s and 8 s side by side, then 5 s of linking alone. P = 2, T = 15, total 30:
/// compute 10 + 8 + 5 = 23, serial 2 (the longer compiler) + 5 (the linker) = 7.
#[test]
fn make_with_a_serial_link_step() {
    let ledger = Program::new()
        .process(1, 0.0, 15.0)
        .thread(1, vec![span(0.0, 15.0, passive(PassiveReason::Wait))])
        .process(2, 0.0, 10.0)
        .child_of(1)
        .thread(2, vec![span_at(20, 0.0, 10.0, COMPUTE)])
        .process(3, 0.0, 8.0)
        .child_of(1)
        .thread(3, vec![span_at(30, 0.0, 8.0, COMPUTE)])
        .process(4, 10.0, 15.0)
        .child_of(1)
        .thread(4, vec![span_at(40, 10.0, 15.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 2, 30.0, &[(Account::Compute, 23.0), (Account::Serial, 7.0)]);
    assert_blamed(&ledger, &[(2, 20, Account::Serial, 2.0), (4, 40, Account::Serial, 5.0)]);
}

/// `sleep 60 | cat`: both are passive. P = 1, T = 60, all asleep.
#[test]
fn a_pipe_behind_a_sleep() {
    let ledger = Program::new()
        .process(1, 0.0, 60.0)
        .thread(1, vec![span(0.0, 60.0, passive(PassiveReason::Sleep))])
        .process(2, 0.0, 60.0)
        .thread(2, vec![span(0.0, 60.0, passive(PassiveReason::Pipe))])
        .ledger();
    assert_accounts(&ledger, 1, 60.0, &[(Account::Asleep, 60.0)]);
    assert_eq!(ledger.locations[1].passive[PassiveReason::Pipe], ns(60.0));
}

/// OpenMP, 2 threads on 2 processors, 60 % serial, T = 10: total 20, compute 6 + 2 × 4 = 1.4 T, serial 0.6 T.
#[test]
fn openmp_mostly_serial() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span_at(10, 0.0, 6.0, COMPUTE), span_at(11, 6.0, 10.0, COMPUTE).in_region()])
        .thread(
            2,
            vec![span(0.0, 6.0, passive(PassiveReason::Pool)), span_at(11, 6.0, 10.0, COMPUTE).in_region()],
        )
        .on_processors(2)
        .ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 14.0), (Account::Serial, 6.0)]);
    assert_blamed(&ledger, &[(1, 10, Account::Serial, 6.0)]);
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(0.7));
}

/// OpenMP, 8 threads on 2 processors, all busy for T = 8: each computes 2 s and queues 6 s, known only as
/// parts of one sampled span. P = 2, total 16: compute 16. Queued time is beyond the processors. Nothing can
/// be won: C × T − CPU = 0.
#[test]
fn openmp_with_too_many_threads() {
    let busy = span(0.0, 8.0, COMPUTE).in_region().with(PartKind::Delayed, ns(6.0));
    let ledger = (1..=8)
        .fold(Program::new().process(1, 0.0, 8.0), |run, id| run.thread(id, vec![busy]))
        .on_processors(2)
        .ledger();
    assert_accounts(&ledger, 2, 16.0, &[(Account::Compute, 16.0)]);
    assert_eq!((ledger.beyond, ledger.active), (accounts(&[(Account::Oversubscribed, 48.0)]), 8));
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(1.0));
    assert_eq!(
        ledger.locations[0].accounts,
        accounts(&[(Account::Compute, 2.0), (Account::Oversubscribed, 6.0)])
    );
    assert_eq!(ledger.recoverable_ns(2, ns(16.0)), 0);
    assert_eq!(ledger.recoverable_ns(4, ns(16.0)), ns(16.0));
}

/// MPI, 4 ranks on 2 processors, T = 8: two compute, two poll for a message. All four want a processor, each
/// gets half: the computing ones spend 4 of 8 s in the queue. P = 4, total 32: compute 8, oversubscribed 8,
/// and the polling ones wait for their partner all the time, whether they had a processor for it or not:
/// mpi-partner 16.
#[test]
fn mpi_ranks_polling() {
    let busy = span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(4.0));
    let polling = span(0.0, 8.0, State::Polling(Wait::MpiPartner));
    let ledger = (0..4)
        .fold(Program::new(), |run, rank| {
            run.rank(rank, 0.0, 8.0).thread(rank, vec![if rank < 2 { busy } else { polling }])
        })
        .on_processors(2)
        .ledger();
    let expected = [(Account::Compute, 8.0), (Account::Oversubscribed, 8.0), (Account::MpiPartner, 16.0)];
    assert_accounts(&ledger, 4, 32.0, &expected);
}

/// The same, but the waiting ranks are blocked: then only two want the two processors, and another process
/// had those they queued for: preempted 8.
#[test]
fn mpi_ranks_blocked_crowd_nobody_out() {
    let busy = span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(4.0));
    let blocked = span(0.0, 8.0, State::Waiting(Wait::MpiPartner));
    let ledger = (0..4)
        .fold(Program::new(), |run, rank| {
            run.rank(rank, 0.0, 8.0).thread(rank, vec![if rank < 2 { busy } else { blocked }])
        })
        .on_processors(2)
        .ledger();
    let expected = [(Account::Compute, 8.0), (Account::Preempted, 8.0), (Account::MpiPartner, 16.0)];
    assert_accounts(&ledger, 4, 32.0, &expected);
}

/// Hybrid, 2 ranks × 2 threads, T = 10. Rank 0 computes with both; rank 1 with both until 6, then its master
/// waits for a message and its worker idles in the pool. P = 2 + 2, total 40: compute 20 + 12 = 32, and the
/// master's wait takes the worker's slot along: mpi-partner 4 + 4 = 8.
#[test]
fn hybrid_with_a_rank_waiting() {
    let ledger = Program::new()
        .rank(0, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE).in_region()])
        .thread(2, vec![span(0.0, 10.0, COMPUTE).in_region()])
        .rank(1, 0.0, 10.0)
        .thread(
            3,
            vec![
                span(0.0, 6.0, COMPUTE).in_region(),
                span_at(7, 6.0, 10.0, State::Waiting(Wait::MpiPartner)),
            ],
        )
        .thread(4, vec![span(0.0, 6.0, COMPUTE).in_region(), span(6.0, 10.0, passive(PassiveReason::Pool))])
        .ledger();
    assert_accounts(&ledger, 4, 40.0, &[(Account::Compute, 32.0), (Account::MpiPartner, 8.0)]);
    assert_eq!(ledger.slots[0].accounts, Accounts::default());
    assert_eq!(ledger.slots[1].accounts, accounts(&[(Account::MpiPartner, 4.0)]));
    assert_blamed(&ledger, &[(3, 7, Account::MpiPartner, 4.0)]);
}

/// A pool of 4 busy for 10, 9, 8 and 7 s, main in join: P = 4, T = 10, total 40, compute 34, serial 6.
/// Charged to those that still work: from 7 to 8 three of them carry one slot (1/3 each), from 8 to 9 two
/// carry two (1 each), from 9 to 10 one carries three: 4.33, 1.33, 0.33.
#[test]
fn a_pool_with_main_in_join() {
    let pool =
        Program::new().process(1, 0.0, 10.0).thread(1, vec![span(0.0, 10.0, passive(PassiveReason::Join))]);
    let ledger = [10.0, 9.0, 8.0, 7.0]
        .into_iter()
        .zip(2..)
        .fold(pool, |run, (end, id)| run.thread(id, vec![span(0.0, end, COMPUTE)]))
        .ledger();
    assert_accounts(&ledger, 4, 40.0, &[(Account::Compute, 34.0), (Account::Serial, 6.0)]);
    let charged: Vec<u64> = ledger.blamed.iter().map(|row| row.ns).collect();
    assert_eq!(charged, [4_333_333_333, 1_333_333_334, 333_333_333]);
}

/// Producer and consumer 10:2: each of 10 items is produced in 1 s and consumed in 0.2 s; the consumer waits
/// on a condition in between. T = 10.2; both are active for 9 × 0.2 s: P = 2, total 20.4; compute 10 + 2 =
/// 12; serial: the producer alone 10 − 1.8, the consumer alone 0.2 at the end: 8.4.
#[test]
fn a_producer_and_a_consumer() {
    let mut consumer = vec![];
    for item in 1..=10 {
        let ready = f64::from(item);
        consumer.push(span(
            ready - if item == 1 { 1.0 } else { 0.8 },
            ready,
            passive(PassiveReason::Condition),
        ));
        consumer.push(span_at(2, ready, ready + 0.2, COMPUTE));
    }
    let ledger = Program::new()
        .process(1, 0.0, 10.2)
        .thread(1, vec![span_at(1, 0.0, 10.0, COMPUTE)])
        .thread(2, consumer)
        .ledger();
    assert_accounts(&ledger, 2, 20.4, &[(Account::Compute, 12.0), (Account::Serial, 8.4)]);
    assert_blamed(&ledger, &[(1, 1, Account::Serial, 8.2), (2, 2, Account::Serial, 0.2)]);
    assert_eq!(ledger.locations[1].passive[PassiveReason::Condition], ns(8.2));
}

/// A server, T = 100, that polls and is busy `busy` seconds. P = 1 in any case: compute what it was busy,
/// asleep the rest, and all of what it was awake is productive.
#[test]
fn a_server_hardly_and_moderately_busy() {
    for busy in [0.3, 5.0] {
        let ledger = Program::new()
            .process(1, 0.0, 100.0)
            .thread(
                1,
                vec![
                    span(0.0, 50.0, passive(PassiveReason::Poll)),
                    span(50.0, 50.0 + busy, COMPUTE),
                    span(50.0 + busy, 100.0, passive(PassiveReason::Poll)),
                ],
            )
            .ledger();
        assert_accounts(&ledger, 1, 100.0, &[(Account::Compute, busy), (Account::Asleep, 100.0 - busy)]);
        assert_eq!(ledger.efficiency(IoAs::Productive), Some(1.0));
    }
}

/// Python with two threads that hand the interpreter's lock to each other every second: T = 10, both are
/// active throughout, P = 2, total 20: compute 10, lock 10.
#[test]
fn python_with_two_threads() {
    let thread = |parity: u32| {
        (0..10)
            .map(|second| {
                let state = if second % 2 == parity { COMPUTE } else { State::Waiting(Wait::Lock) };
                span(f64::from(second), f64::from(second + 1), state)
            })
            .collect()
    };
    let ledger = Program::new().process(1, 0.0, 10.0).thread(1, thread(0)).thread(2, thread(1)).ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 10.0), (Account::Lock, 10.0)]);
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(0.5));
}

/// One busy thread among 100 sleeping ones, T = 10: as if it were alone.
#[test]
fn many_sleeping_threads() {
    let main = Program::new().process(1, 0.0, 10.0).thread(0, vec![span(0.0, 10.0, COMPUTE)]);
    let ledger = (1..=100)
        .fold(main, |run, id| run.thread(id, vec![span(0.0, 10.0, passive(PassiveReason::Sleep))]))
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Compute, 10.0)]);
    assert!(ledger.locations[1..].iter().all(|sleeper| sleeper.passive[PassiveReason::Sleep] == ns(10.0)));
}

/// Killed at T = 10 while 8 workers are parked since 4; until then all 8 compute and main waits for them;
/// after that main computes alone. P = 8, total 80: compute 8 × 4 + 6 = 38, serial 7 × 6 = 42. The waits
/// still open at the end are known: park 6 s each.
#[test]
fn killed_with_parked_workers() {
    let main = vec![span(0.0, 4.0, passive(PassiveReason::Condition)), span(4.0, 10.0, COMPUTE)];
    let worker = vec![span(0.0, 4.0, COMPUTE), span(4.0, 10.0, passive(PassiveReason::Park))];
    let ledger = (1..=8)
        .fold(Program::new().process(1, 0.0, 10.0).thread(0, main), |run, id| run.thread(id, worker.clone()))
        .ledger();
    assert_accounts(&ledger, 8, 80.0, &[(Account::Compute, 38.0), (Account::Serial, 42.0)]);
    assert!(ledger.locations[1..].iter().all(|worker| worker.passive[PassiveReason::Park] == ns(6.0)));
}

/// The same if the workers never had work: they do not make P larger. P = 1, total 10, compute 10.
#[test]
fn killed_with_workers_that_never_worked() {
    let main = Program::new().process(1, 0.0, 10.0).thread(0, vec![span(0.0, 10.0, COMPUTE)]);
    let ledger = (1..=8)
        .fold(main, |run, id| run.thread(id, vec![span(0.0, 10.0, passive(PassiveReason::Park))]))
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Compute, 10.0)]);
}
