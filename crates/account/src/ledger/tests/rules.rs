//! The rules one by one.

use super::super::*;
use super::build::*;
use proust_profile::{ContextId, LocationId, ProcessId};

const LOCK: State = State::Waiting(Wait::Lock);
const BARRIER: State = State::Waiting(Wait::Barrier);

/// A team of 2 on 4 processors (P = 4 from an earlier region of 4): from 0 to 5 all four, then two inside a
/// region. total 40, compute 20 + 10, narrow 2 × 5, charged half to each.
#[test]
fn a_small_team_is_narrow() {
    let program = (1..=4).fold(Program::new().process(1, 0.0, 10.0), |run, id| {
        let rest = if id <= 2 { COMPUTE } else { passive(PassiveReason::Pool) };
        run.thread(
            id,
            vec![span_at(1, 0.0, 5.0, COMPUTE).in_region(), span_at(2, 5.0, 10.0, rest).in_region()],
        )
    });
    let ledger = program.ledger();
    assert_accounts(&ledger, 4, 40.0, &[(Account::Compute, 30.0), (Account::Narrow, 10.0)]);
    assert_blamed(&ledger, &[(1, 2, Account::Narrow, 5.0), (2, 2, Account::Narrow, 5.0)]);
}

/// The locations that work determine the account of the empty slots: two processes of a tree work, one of
/// them inside a region; two of four slots are empty for 5 s: 5 s narrow, 5 s serial.
#[test]
fn serial_and_narrow_side_by_side() {
    let run = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .thread(2, vec![span(0.0, 5.0, COMPUTE)])
        .process(2, 0.0, 10.0)
        .thread(3, vec![span(0.0, 10.0, COMPUTE).in_region()])
        .thread(4, vec![span(0.0, 5.0, COMPUTE).in_region()]);
    let expected = [(Account::Compute, 30.0), (Account::Serial, 5.0), (Account::Narrow, 5.0)];
    assert_accounts(&run.ledger(), 4, 40.0, &expected);
}

/// No location works from 5 to 10: one waits for a lock, one at a barrier, two slots are empty. Each wait
/// gets its own 5 s and one slot's 5 s.
#[test]
fn empty_slots_go_to_those_who_wait_if_nobody_works() {
    let program = [LOCK, BARRIER, passive(PassiveReason::Pool), passive(PassiveReason::Pool)]
        .into_iter()
        .zip(1..)
        .fold(Program::new().process(1, 0.0, 10.0), |run, (state, id)| {
            run.thread(id, vec![span(0.0, 5.0, COMPUTE), span_at(9, 5.0, 10.0, state)])
        });
    let ledger = program.ledger();
    let expected = [(Account::Compute, 20.0), (Account::Lock, 10.0), (Account::Barrier, 10.0)];
    assert_accounts(&ledger, 4, 40.0, &expected);
    assert_blamed(&ledger, &[(1, 9, Account::Lock, 5.0), (2, 9, Account::Barrier, 5.0)]);
}

/// Every wait is reported with the slots it cost: two threads wait for 5 s, two slots are empty.
#[test]
fn waits_are_reported_with_their_slots() {
    let program = (1..=4).fold(Program::new().process(1, 0.0, 10.0), |run, id| {
        let then = if id <= 2 { LOCK } else { passive(PassiveReason::Pool) };
        run.thread(id, vec![span(0.0, 5.0, COMPUTE), span_at(9, 5.0, 10.0, then)])
    });
    let processors = Processors::measured(&program.0, &Windows::all()).unwrap();
    let mut waits = vec![];
    Ledger::with_waits(&program.0, &processors, &Windows::all(), |wait| waits.push(*wait)).unwrap();
    waits.sort_by_key(|wait| wait.location);
    let expected = [1, 2].map(|id| WaitCharge {
        location: LocationId(id),
        context: ContextId(9),
        wait: Wait::Lock,
        window: Window::new(ns(5.0), ns(10.0)),
        slots_ns: 5e9,
    });
    assert_eq!(waits, expected);
}

/// Rank 0 lives from 0 to 10, rank 1 from 2 to 7: T = 10, P = 2, total 20: compute 15, idle 2 + 3.
#[test]
fn a_rank_is_idle_before_its_start_and_after_its_end() {
    let ledger = Program::new()
        .rank(0, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .rank(1, 2.0, 7.0)
        .thread(2, vec![span(2.0, 7.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 15.0), (Account::Idle, 5.0)]);
    assert_eq!(ledger.slots[1].accounts, accounts(&[(Account::Idle, 5.0)]));
}

/// mpirun starts before and ends after the ranks, and works: it has no processors, T is that of the ranks,
/// and it is shown with all of its own time.
#[test]
fn the_launcher_is_shown_but_not_charged() {
    let ledger = Program::new()
        .process(1, 0.0, 12.0)
        .thread(1, vec![span(0.0, 12.0, COMPUTE)])
        .rank(0, 1.0, 11.0)
        .child_of(1)
        .thread(2, vec![span(1.0, 11.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Compute, 10.0)]);
    assert!(!ledger.locations[0].charged);
    assert_eq!(ledger.locations[0].accounts[Account::Compute], ns(12.0));
}

/// A rank waits for its child, which computes: the child fills the rank's slot.
#[test]
fn a_rank_s_child_uses_its_slots() {
    let ledger = Program::new()
        .rank(0, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, passive(PassiveReason::Wait))])
        .process(1, 0.0, 10.0)
        .child_of(100)
        .thread(2, vec![span(0.0, 10.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Compute, 10.0)]);
}

/// A service thread computes while the program sleeps: the program is asleep nevertheless.
#[test]
fn service_locations_fill_no_slots() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, passive(PassiveReason::Poll))])
        .service(2, vec![span(0.0, 10.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Asleep, 10.0)]);
    assert_eq!(ledger.locations[1].accounts, accounts(&[(Account::Compute, 10.0)]));
}

/// Two threads compute for 10 s, recording is off from 4 to 7: P = 2, total 20: compute 14, paused 6. The
/// threads' own time meanwhile is not known.
#[test]
fn a_pause() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .paused(4.0, 7.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .thread(2, vec![span(0.0, 10.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 2, 20.0, &[(Account::Compute, 14.0), (Account::Paused, 6.0)]);
    assert_eq!(ledger.efficiency(IoAs::Productive), Some(1.0));
    assert_eq!(ledger.locations[0].passive[PassiveReason::NotRecorded], ns(3.0));
}

/// Recorded for 1 of 1000 s only, two threads computing then: the pause does not make P smaller.
#[test]
fn a_pause_is_not_part_of_the_lifetime() {
    let ledger = Program::new()
        .process(1, 0.0, 1000.0)
        .paused(1.0, 1000.0)
        .thread(1, vec![span(0.0, 1.0, COMPUTE)])
        .thread(2, vec![span(0.0, 1.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 2, 2000.0, &[(Account::Compute, 2.0), (Account::Paused, 1998.0)]);
}

/// One thread computes for 10 s, another from 0 to 6. In the window from 4 to 8 P stays 2: total 8, compute
/// 4 + 2, serial 2. Asked for the window 6 to 8 alone, one processor was used.
#[test]
fn a_window() {
    let program = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .thread(2, vec![span(0.0, 6.0, COMPUTE)]);
    let ledger = program.ledger_within(&Windows::between(ns(4.0), ns(8.0)));
    assert_accounts(&ledger, 2, 8.0, &[(Account::Compute, 6.0), (Account::Serial, 2.0)]);
    assert_eq!(ledger.locations[1].wall_ns, ns(2.0));
    let late = Windows::between(ns(6.0), ns(8.0));
    assert_eq!(Processors::measured(&program.0, &late).unwrap().total(), 1);
}

/// An interval executed twice: the same sums over both windows.
#[test]
fn several_windows() {
    let program = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .thread(2, vec![span(0.0, 6.0, COMPUTE)]);
    let windows = [Window::new(ns(8.0), ns(9.0)), Window::new(ns(5.0), ns(7.0))].into_iter().collect();
    let ledger = program.ledger_within(&windows);
    assert_accounts(&ledger, 2, 6.0, &[(Account::Compute, 4.0), (Account::Serial, 2.0)]);
}

/// A window that cuts a sampled span takes the same fraction of each of its parts: a quarter of 8 s, of which
/// 1 s the sampler's, 2 s faults, 1 s in the queue (no other run's fault: preempted).
#[test]
fn a_window_cuts_parts_proportionally() {
    let program = Program::new().process(1, 0.0, 8.0).thread(
        1,
        vec![
            span(0.0, 8.0, COMPUTE)
                .with(PartKind::Measurement, ns(1.0))
                .with(PartKind::Fault, ns(2.0))
                .with(PartKind::Delayed, ns(1.0)),
        ],
    );
    let expected = [
        (Account::Compute, 1.0),
        (Account::Measurement, 0.25),
        (Account::Fault, 0.5),
        (Account::Preempted, 0.25),
    ];
    assert_accounts(&program.ledger_within(&Windows::between(ns(3.0), ns(5.0))), 1, 2.0, &expected);
}

/// Measurement inside a wait belongs to the measurement, the rest to the wait.
#[test]
fn measurement_comes_before_the_wait() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, LOCK).with(PartKind::Measurement, ns(0.5))])
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Lock, 9.5), (Account::Measurement, 0.5)]);
}

/// Three threads on two processors from 0 to 4, two from 4 to 8; the first one has three quarters of a
/// processor all the time. Until 4 the run has 1.75 processors and queues for 1.25 more: it wants one too
/// many, so 1 of 1.25 is its own doing, and the rest was taken by others. After that it wants no more than
/// there is: preempted.
#[test]
fn a_delay_is_split_by_who_held_the_processors() {
    let ledger = Program::new()
        .process(1, 0.0, 8.0)
        .thread(1, vec![span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(2.0))])
        .thread(2, vec![span(0.0, 8.0, COMPUTE)])
        .thread(3, vec![span(0.0, 4.0, DELAYED)])
        .on_processors(2)
        .ledger();
    assert_eq!(
        ledger.locations[0].accounts,
        accounts(&[(Account::Compute, 6.0), (Account::Oversubscribed, 0.8), (Account::Preempted, 1.2)])
    );
    let expected = accounts(&[(Account::Oversubscribed, 3.2), (Account::Preempted, 0.8)]);
    assert_eq!(ledger.locations[2].accounts, expected);
    // The two slots hold the 1.75 that compute and, first of the queued, the quarter that others displaced.
    let expected = [(Account::Compute, 14.0), (Account::Preempted, 2.0)];
    assert_accounts(&ledger, 2, 16.0, &expected);
    assert_eq!(ledger.beyond, accounts(&[(Account::Oversubscribed, 4.0)]));
}

/// Four threads that each have a twentieth of a processor and queue for the rest, on two: others have nine
/// tenths of the machine. The run's own threads hold a tenth of what is queued for; no more of the delay is
/// its own doing.
#[test]
fn a_run_that_gets_little_is_not_oversubscribed() {
    let queueing = span(0.0, 20.0, COMPUTE).with(PartKind::Delayed, ns(19.0));
    let ledger = (1..=4)
        .fold(Program::new().process(1, 0.0, 20.0), |run, id| run.thread(id, vec![queueing]))
        .on_processors(2)
        .ledger();
    assert_eq!(ledger.with_beyond_ns(Account::Compute), ns(4.0));
    assert_eq!(ledger.with_beyond_ns(Account::Oversubscribed), ns(7.6));
    assert_eq!(ledger.with_beyond_ns(Account::Preempted), ns(68.4));
    assert_accounts(&ledger, 2, 40.0, &[(Account::Compute, 4.0), (Account::Preempted, 36.0)]);
}

/// One thread computes, one reads a file, one waits for a lock, and one queues, on 1, 2 and 3 processors:
/// those beyond them are first the queued, then the waiting, then the reading ones.
#[test]
fn slots_are_filled_in_order() {
    let run = || {
        Program::new()
            .process(1, 0.0, 10.0)
            .thread(1, vec![span(0.0, 10.0, LOCK)])
            .thread(2, vec![span(0.0, 10.0, State::Working(Work::Io))])
            .thread(3, vec![span(0.0, 10.0, DELAYED)])
            .thread(4, vec![span(0.0, 10.0, COMPUTE)])
    };
    let all =
        [(Account::Compute, 10.0), (Account::Io, 10.0), (Account::Lock, 10.0), (Account::Preempted, 10.0)];
    for processors in 1..=4 {
        let (within, beyond) = all.split_at(processors);
        let ledger = run().on_processors(processors as u32).ledger();
        let sum = |account| ledger.with_beyond_ns(account);
        let queued = sum(Account::Preempted) + sum(Account::Oversubscribed);
        assert_eq!(queued, ns(10.0));
        assert_eq!(ledger.beyond_ns, ns(10.0 * beyond.len() as f64));
        for (account, seconds) in within.iter().filter(|(account, _)| *account != Account::Preempted) {
            assert_eq!(ledger.accounts[*account], ns(*seconds), "{account} on {processors}");
        }
    }
}

/// Two ranks that compute, each bound to a processor of its own: they do not compete, and the processors that
/// they queue for were taken by others. Bound to the same one they crowd each other out.
#[test]
fn ranks_compete_only_with_those_who_share_their_processors() {
    let busy = span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(4.0));
    let run = |masks: [u64; 2]| {
        let set = |mask| ProcessorSet { mask: vec![mask], ..ProcessorSet::default() };
        let run = (0..2).fold(Program::new(), |run, rank| {
            run.rank(rank, 0.0, 8.0).bound_to(set(masks[rank as usize])).thread(rank, vec![busy])
        });
        run.ledger()
    };
    let apart = run([0b01, 0b10]);
    assert_accounts(&apart, 2, 16.0, &[(Account::Compute, 8.0), (Account::Preempted, 8.0)]);
    let together = run([0b10, 0b10]);
    assert_accounts(&together, 2, 16.0, &[(Account::Compute, 8.0), (Account::Oversubscribed, 8.0)]);
}

/// Two threads that bound themselves to the same one of two processors crowd each other out; on one each,
/// others have what they queue for.
#[test]
fn threads_bound_to_one_processor_crowd_each_other_out() {
    let busy = span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(4.0));
    let run = |masks: [u64; 2]| {
        let set = |mask| ProcessorSet { mask: vec![mask], ..ProcessorSet::default() };
        let run = Program::new().process(1, 0.0, 8.0).on_set(set(0b11));
        let bind = |run: Program, id: u32| run.thread(id, vec![busy]).alone_on(set(masks[id as usize]));
        (0..2).fold(run, bind).ledger()
    };
    let together = run([0b01, 0b01]);
    assert_accounts(&together, 2, 16.0, &[(Account::Compute, 8.0), (Account::Oversubscribed, 8.0)]);
    let apart = run([0b01, 0b10]);
    assert_accounts(&apart, 2, 16.0, &[(Account::Compute, 8.0), (Account::Preempted, 8.0)]);
}

/// Two jobs of two ranks after one another in one script: four owners of one processor each, idle while the
/// others run.
#[test]
fn ranks_of_two_jobs_are_not_the_same() {
    let run = [(0, 0.0), (1, 10.0)].into_iter().fold(Program::new(), |run, (job, from)| {
        (0..2).fold(run, |run, rank| {
            let mut run = run.process(10 * job + rank, from, from + 10.0);
            let process = run.0.processes.last_mut().expect("just added");
            (process.rank, process.job) = (Some(rank), Some(job));
            run.thread(10 * job + rank, vec![span(from, from + 10.0, COMPUTE)])
        })
    });
    assert_accounts(&run.ledger(), 4, 80.0, &[(Account::Compute, 40.0), (Account::Idle, 40.0)]);
}

/// Four threads under a quota of one processor and a half: P = 2, and the run can have 1.5 of them.
#[test]
fn part_of_a_processor_counts_as_one() {
    let busy = span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(5.0));
    let set = ProcessorSet { quota_milli: Some(1500), ..ProcessorSet::first(4) };
    let ledger = (1..=4)
        .fold(Program::new().process(1, 0.0, 8.0), |run, id| run.thread(id, vec![busy]))
        .on_set(set)
        .ledger();
    assert_eq!(ledger.with_beyond_ns(Account::Oversubscribed), ns(20.0));
    assert_accounts(&ledger, 2, 16.0, &[(Account::Compute, 12.0), (Account::Oversubscribed, 4.0)]);
}

/// Disk I/O takes no processor from anybody: one computes delayed, one reads, one processor: others had it.
/// The one slot is filled by what computes and then by what reads.
#[test]
fn io_crowds_nobody_out() {
    let ledger = Program::new()
        .process(1, 0.0, 8.0)
        .thread(1, vec![span(0.0, 8.0, COMPUTE).with(PartKind::Delayed, ns(2.0))])
        .thread(2, vec![span(0.0, 8.0, State::Working(Work::Io))])
        .on_processors(1)
        .ledger();
    assert_accounts(&ledger, 1, 8.0, &[(Account::Compute, 6.0), (Account::Io, 2.0)]);
    assert_eq!(ledger.beyond, accounts(&[(Account::Preempted, 2.0), (Account::Io, 6.0)]));
    assert_eq!(ledger.lost_ns(IoAs::Productive), 0);
    assert_eq!(ledger.lost_ns(IoAs::Lost), ns(2.0));
}

/// 5 processors given to 2 ranks: 3 and 2.
#[test]
fn processors_can_be_given() {
    let program = Program::new()
        .rank(0, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE)])
        .rank(1, 0.0, 10.0)
        .thread(2, vec![span(0.0, 10.0, COMPUTE)]);
    let processors = Processors::given(&program.0, 5).unwrap();
    assert_eq!((processors.of(ProcessId(100)), processors.of(ProcessId(101))), (Some(3), Some(2)));
    let ledger = Ledger::of(&program.0, &processors, &Windows::all()).unwrap();
    assert_closes(&ledger);
    assert_accounts(&ledger, 5, 50.0, &[(Account::Compute, 20.0), (Account::Serial, 30.0)]);
}

/// Parts that claim more than the span has are not hidden: 12 s claimed in 10 s leave a residual of −2 s.
#[test]
fn claims_beyond_the_span_show_in_the_residual() {
    let program = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 10.0, COMPUTE).with(PartKind::Fault, ns(12.0))]);
    let processors = Processors::measured(&program.0, &Windows::all()).unwrap();
    let ledger = Ledger::of(&program.0, &processors, &Windows::all()).unwrap();
    assert_eq!(ledger.residual_ns(), -2_000_000_000);
}

/// A span that begins before its predecessor's end counts from there on, and the rest is reported.
#[test]
fn overlapping_spans_are_cut() {
    let ledger = Program::new()
        .process(1, 0.0, 10.0)
        .thread(1, vec![span(0.0, 6.0, COMPUTE), span(4.0, 10.0, LOCK), span(7.0, 8.0, COMPUTE)])
        .ledger();
    assert_accounts(&ledger, 1, 10.0, &[(Account::Compute, 6.0), (Account::Lock, 4.0)]);
    assert_eq!(ledger.overlap_ns, ns(3.0));
}

#[test]
fn an_empty_run_has_an_empty_ledger() {
    let ledger = Program::new().ledger();
    assert_accounts(&ledger, 0, 0.0, &[]);
}

#[test]
fn contradictions_are_errors() {
    let stray = Program::new().process(1, 0.0, 1.0).thread(1, vec![]).thread(1, vec![]);
    let processors = Processors::measured(&stray.0, &Windows::all()).unwrap();
    let location = 1;
    assert_eq!(
        Ledger::of(&stray.0, &processors, &Windows::all()),
        Err(LedgerError::DuplicateLocation { location: LocationId(location) })
    );
    let other = Program::new().process(2, 0.0, 1.0);
    let process = 2;
    assert_eq!(
        Ledger::of(&other.0, &processors, &Windows::all()),
        Err(LedgerError::NoProcessors { process: ProcessId(process) })
    );
    let mut unknown = Program::new().process(1, 0.0, 1.0).thread(1, vec![]);
    unknown.0.timelines[0].process = ProcessId(process);
    assert_eq!(
        Processors::measured(&unknown.0, &Windows::all()),
        Err(LedgerError::UnknownProcess { process: ProcessId(process) })
    );
    let twice = Program::new().process(2, 0.0, 1.0).process(2, 0.0, 1.0);
    assert_eq!(
        Processors::given(&twice.0, 1),
        Err(LedgerError::DuplicateProcess { process: ProcessId(process) })
    );
}

#[test]
fn identifiers_are_unique_and_found_again() {
    for account in Account::ALL {
        assert_eq!(Account::from_id(account.id()), Some(account));
    }
    for reason in PassiveReason::ALL {
        assert_eq!(PassiveReason::from_id(reason.id()), Some(reason));
    }
    for (index, account) in Account::ALL.into_iter().enumerate() {
        assert_eq!(account as usize, index);
    }
    for (index, reason) in PassiveReason::ALL.into_iter().enumerate() {
        assert_eq!(reason as usize, index);
    }
    for (index, work) in Work::ALL.into_iter().enumerate() {
        assert_eq!(work as usize, index);
    }
}

/// 64 bits of nanoseconds hold 584 years of processor time: a longer run is refused, not wrapped around.
#[test]
fn more_processor_time_than_can_be_counted_is_refused() {
    const DAY_S: f64 = 86_400.0;
    let of_days = |days: f64| {
        let whole = Program::new().process(1, 0.0, days * DAY_S);
        (1..=1000).fold(whole, |run, id| run.thread(id, vec![span(0.0, days * DAY_S, COMPUTE)]))
    };
    let ledger = of_days(100.0).ledger();
    assert_eq!((ledger.processors, ledger.accounts.sum_ns()), (1000, 1000 * ns(100.0 * DAY_S)));
    let long = of_days(250.0).0;
    let processors = Processors::measured(&long, &Windows::all()).unwrap();
    let refused = Ledger::of(&long, &processors, &Windows::all()).unwrap_err();
    assert!(matches!(refused, LedgerError::TooLong { years: 1368 }), "{refused}");
    let first_day = Windows::between(0, ns(DAY_S));
    assert_eq!(Ledger::of(&long, &processors, &first_day).unwrap().total_ns, 1000 * ns(DAY_S));
}
