use proust_log::operations::Operation;
use proust_profile::{Context, ContextKind, Location, OperationInfo, Profile, RegionInfo, SegmentRow};

use super::*;
use crate::ledger::{Account, Ledger, Row};
use crate::query::Selection;

/// Two threads in a region of which one works three times as long, with a barrier inside, ten times.
fn profile() -> Profile {
    let context = |parent, kind| Context { parent, kind, function: None, file: None, line: None };
    let names = [Operation::OmpBarrier, Operation::OmpRegionEnd, Operation::OmpFork, Operation::OmpCritical];
    let row = |location, operation, context, work_ns, wait_ns, latency_ns| SegmentRow {
        location,
        region: 0,
        operation,
        context,
        executions: 10,
        contended: u64::from(operation == 3) * 4,
        work_ns,
        wait_ns,
        latency_ns,
        team_min: 2,
        team_max: 2,
    };
    Profile {
        processes: vec![Default::default()],
        locations: vec![Location { end_s: 1.0, ..Location::default() }; 2],
        contexts: vec![
            context(None, ContextKind::Program),
            context(Some(0), ContextKind::Frame),
            context(Some(1), ContextKind::Frame),
            context(Some(2), ContextKind::Line),
        ],
        operations: names.map(|operation| OperationInfo { name: operation.name().into() }).to_vec(),
        regions: vec![RegionInfo { process: 0, context: 2, parent: None, told: false }],
        segments: vec![
            row(0, 0, 3, 3_000, 100, 100),
            row(0, 1, 2, 60, 40, 40),
            row(0, 2, 2, 0, 50, 0),
            row(0, 3, 3, 0, 500, 0),
            row(1, 0, 3, 1_000, 2_100, 100),
            row(1, 1, 2, 60, 40, 40),
            row(1, 2, 2, 0, 70, 0),
        ],
        ..Profile::default()
    }
}

fn ledger() -> Ledger {
    let row = |location, account, context, ns| Row { location, account, context, ns };
    let mut ledger = Ledger {
        total_ns: 10_000,
        spent: vec![
            row(0, Account::Compute, 3, 2_500),
            row(0, Account::Preempted, 3, 560),
            row(1, Account::Compute, 2, 1_060),
            row(0, Account::Compute, 1, 999),
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
fn efficiencies_multiply_and_their_losses_add() {
    let profile = profile();
    let (selection, ledger) = (Selection::all(&profile), ledger());
    let all = Efficiencies::of(&ledger, &RegionSums::of(&selection, &ledger));
    assert_eq!(all.total_ns, 8_000);
    assert_eq!((all.serialisation_ns, all.imbalance_ns, all.scheduling_ns), (1_500, 2_000, 400));
    assert_eq!(all.useful_ns(), 4_100);
    let product = all.serialisation() * all.load_balance() * all.scheduling();
    assert!((product - all.parallel()).abs() < 1e-12);
    assert_eq!(Efficiencies::default().parallel(), 1.0);
}
