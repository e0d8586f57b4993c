use proust_profile::{
    Context, ContextId, ContextKind, Location, LocationId, Ns, OperationId, ProcessId, Profile, RegionId,
    RegionInfo, SegmentRow,
};

use super::*;
use crate::Selection;
use proust_account::ledger::{Account, IoAs, Ledger, Row};
use proust_ingest::operation_info;
use proust_log::operations::Operation;

/// Two threads in a region of which one works three times as long, with a barrier inside, ten times.
fn profile() -> Profile {
    let context = |parent, kind| Context { parent, kind, function: None, file: None, line: None };
    let names = [Operation::OmpBarrier, Operation::OmpRegionEnd, Operation::OmpFork, Operation::OmpCritical];
    let row = |location, operation, context, work_ns, wait_ns, latency_ns| SegmentRow {
        location,
        region: RegionId(0),
        operation,
        context,
        executions: 10,
        contended: u64::from(operation == OperationId(3)) * 4,
        work_ns,
        wait_ns,
        latency_ns,
        team_min: 2,
        team_max: 2,
        ..SegmentRow::default()
    };
    Profile {
        processes: vec![Default::default()].into(),
        locations: vec![Location { end: Ns::from_seconds(1.0), ..Location::default() }; 2].into(),
        contexts: vec![
            context(None, ContextKind::Program),
            context(Some(ContextId(0)), ContextKind::Frame),
            context(Some(ContextId(1)), ContextKind::Frame),
            context(Some(ContextId(2)), ContextKind::Line),
        ]
        .into(),
        operations: names.map(|operation| operation_info(operation.name())).to_vec().into(),
        regions: vec![RegionInfo { process: ProcessId(0), context: ContextId(2), parent: None, told: false }]
            .into(),
        segments: vec![
            row(LocationId(0), OperationId(0), ContextId(3), 3_000, 100, 100),
            row(LocationId(0), OperationId(1), ContextId(2), 60, 40, 40),
            row(LocationId(0), OperationId(2), ContextId(2), 0, 50, 0),
            row(LocationId(0), OperationId(3), ContextId(3), 0, 500, 0),
            row(LocationId(1), OperationId(0), ContextId(3), 1_000, 2_100, 100),
            row(LocationId(1), OperationId(1), ContextId(2), 60, 40, 40),
            row(LocationId(1), OperationId(2), ContextId(2), 0, 70, 0),
        ],
        ..Profile::default()
    }
}

fn ledger() -> Ledger {
    let row = |location, account, context, ns| Row { location, account, context, ns };
    let mut ledger = Ledger {
        total_ns: 10_000,
        spent: vec![
            row(LocationId(0), Account::Compute, ContextId(3), 2_500),
            row(LocationId(0), Account::Preempted, ContextId(3), 560),
            row(LocationId(1), Account::Compute, ContextId(2), 1_060),
            row(LocationId(0), Account::Compute, ContextId(1), 999),
        ],
        ..Ledger::default()
    };
    for (account, ns) in [
        (Account::Barrier, 2_280),
        (Account::Serial, 1_000),
        (Account::Lock, 500),
        (Account::Runtime, 120),
        (Account::Asleep, 2_000),
    ] {
        ledger.accounts[account] = ns;
    }
    ledger
}

#[test]
fn work_and_loss_sum_up_by_thread_and_by_site_alike() {
    let profile = profile();
    let sums = RegionSums::of(&Selection::all(&profile), &ledger());
    let [region] = &sums.regions[..] else { panic!("{sums:?}") };
    assert_eq!((region.executions, region.team_min, region.team_max), (10, 2, 2));
    assert_eq!(region.work_ns, 4_120);
    assert_eq!((region.cpu_ns, region.delayed_ns), (3_560, 560));
    let lost = Lost { imbalance_ns: 2_000, latency_ns: 280, lock_ns: 500, fork_ns: 120, dispatch_ns: 0 };
    assert_eq!(region.lost, lost);
    let of_sites: u64 = region.sites.iter().map(|site| site.work_ns + site.lost.sum_ns()).sum();
    let of_threads: u64 = region.threads.iter().map(|thread| thread.work_ns + thread.lost.sum_ns()).sum();
    assert_eq!((of_sites, of_threads), (4_120 + 2_900, 4_120 + 2_900));
    assert_eq!(region.sites[0].imbalance(), Some(1.5));
    assert_eq!(region.imbalance().map(|factor| (factor * 100.0).round()), Some(149.0));
}

#[test]
fn efficiencies_multiply_and_are_the_ledgers() {
    let profile = profile();
    let selection = Selection::all(&profile);
    let mut ledger = ledger();
    // Of 10 s: 2.1 computed and 0.3 in I/O, 0.9 queued, 0.5 preempted, 0.2 in faults, 0.1 measuring.
    for (account, ns) in [
        (Account::Compute, 2_100),
        (Account::Io, 300),
        (Account::Oversubscribed, 900),
        (Account::Preempted, 500),
        (Account::Fault, 200),
        (Account::Measurement, 100),
    ] {
        ledger.accounts[account] = ns;
    }
    assert_eq!(ledger.residual_ns(), 0);
    let sums = RegionSums::of(&selection, &ledger);
    for (io, useful_ns, other_ns) in [(IoAs::Productive, 2_400, 300), (IoAs::Lost, 2_100, 600)] {
        let all = Efficiencies::of(&ledger, &sums, io);
        assert_eq!((all.total_ns(), all.useful_ns, all.other_ns), (8_000, useful_ns, other_ns));
        // The queue is no use: it is a loss of its own.
        assert_eq!((all.serialisation_ns, all.imbalance_ns, all.scheduling_ns), (1_500, 2_000, 400));
        assert_eq!(all.processors_ns, 1_400);
        let factors =
            [all.serialisation(), all.load_balance(), all.scheduling(), all.processors(), all.other()];
        assert!((factors.iter().product::<f64>() - all.parallel()).abs() < 1e-12);
        assert!((all.parallel() - ledger.efficiency(io).unwrap()).abs() < 1e-12);
    }
    assert_eq!(Efficiencies::default().parallel(), 1.0);
}

/// From the last arrival on, a thread without a processor queues: that is neither work nor latency.
#[test]
fn time_queued_at_a_barrier_is_of_the_processors() {
    let profile = profile();
    let mut ledger = ledger();
    let row = |account, ns| Row { location: LocationId(1), account, context: ContextId(2), ns };
    ledger.spent.extend([row(Account::Barrier, 2_130), row(Account::Preempted, 150)]);
    ledger.accounts[Account::Barrier] = 2_130;
    ledger.accounts[Account::Preempted] = 710;
    let sums = RegionSums::of(&Selection::all(&profile), &ledger);
    assert_eq!((sums.queued_ns, sums.regions[0].delayed_ns), (150, 560));
    let all = Efficiencies::of(&ledger, &sums, IoAs::Productive);
    // Of 280 of latency 150 are queued.
    assert_eq!((all.imbalance_ns, all.scheduling_ns, all.processors_ns), (2_000, 120 + 130, 710));
}

/// Whatever is on which account: parallel efficiency and ledger agree, and every account is in one factor.
#[test]
fn each_account_is_in_one_factor() {
    let profile = profile();
    let sums = RegionSums::of(&Selection::all(&profile), &ledger());
    for one in Account::ALL {
        let mut ledger = Ledger::default();
        for (n, account) in Account::ALL.into_iter().enumerate() {
            ledger.accounts[account] = 7 + 13 * n as u64;
        }
        ledger.accounts[one] += 1_000;
        ledger.total_ns = ledger.accounts.sum_ns();
        for io in [IoAs::Productive, IoAs::Lost] {
            let all = Efficiencies::of(&ledger, &sums, io);
            assert!((all.parallel() - ledger.efficiency(io).unwrap()).abs() < 1e-12, "{one}");
        }
    }
}
