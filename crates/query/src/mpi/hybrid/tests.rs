//! Identities of the variants for random ranks, and ranks whose efficiencies are known.

use proptest::prelude::*;
use proust_ingest::operation_info;
use proust_log::operations::Operation;
use proust_profile::{
    Context, ContextKind, Events, Location, Ns, OperationId, RegionId, RegionInfo, SegmentRow, StayRow,
};

use super::*;

fn near(what: &str, a: f64, b: f64) {
    assert!((a - b).abs() < 1e-9, "{what}: {a} {b}");
}

/// A rank with a time outside of MPI, the part in regions, and each thread's work there.
fn rank(outside_s: f64, regions_s: f64, work_s: &[f64], scheduling_s: f64) -> Rank {
    let serial_s = outside_s - regions_s;
    let others = work_s[1..].iter().copied().fold(0.0, f64::max);
    Rank {
        threads: work_s.len() as u32,
        outside: Ns::from_seconds(outside_s),
        regions: Ns::from_seconds(regions_s),
        work: Ns::from_seconds(work_s.iter().sum()),
        scheduling: Ns::from_seconds(scheduling_s),
        most_useful: Ns::from_seconds((serial_s + work_s[0]).max(others)),
        ..Rank::default()
    }
}

fn check(hybrid: &Hybrid, time_s: f64) {
    let [(_, additive), (_, multiplicative), (_, threads), (_, processors)] = &hybrid.variants;
    for (variant, of) in &hybrid.variants {
        near(&format!("{variant:?}"), of.parallel, additive.parallel);
    }
    let of = additive;
    near("additive", of.parallel, of.mpi + of.openmp - 1.0);
    near("additive, ranks", of.mpi, of.mpi_load_balance + of.mpi_communication - 1.0);
    near("additive, threads", of.openmp, of.openmp_regions.unwrap() + of.openmp_serial.unwrap() - 1.0);
    if let (Some(serialisation), Some(transfer)) = (of.mpi_serialisation, of.mpi_transfer) {
        near("additive, communication", of.mpi_communication, serialisation + transfer - 1.0);
    }
    let of = multiplicative;
    near("multiplicative", of.parallel, of.mpi * of.openmp);
    near("multiplicative, ranks", of.mpi, of.mpi_load_balance * of.mpi_communication);
    near("multiplicative, threads", of.openmp, of.openmp_regions.unwrap() * of.openmp_serial.unwrap());
    if let (Some(serialisation), Some(transfer)) = (of.mpi_serialisation, of.mpi_transfer) {
        near("multiplicative, communication", of.mpi_communication, serialisation * transfer);
    }
    let of = threads;
    near("threads", of.parallel, of.load_balance.unwrap() * of.communication.unwrap());
    near("threads, of both", of.parallel, of.mpi * of.openmp);
    near("threads, balance", of.load_balance.unwrap(), of.mpi_load_balance * of.openmp_load_balance.unwrap());
    let openmp = of.openmp_load_balance.unwrap() * of.openmp_communication.unwrap();
    near("threads, OpenMP", of.openmp, openmp);
    let of = processors;
    let openmp = of.openmp_serial.unwrap() * of.openmp_load_balance.unwrap() * of.openmp_scheduling.unwrap();
    near("processors", of.openmp, openmp);
    near("processors, ranks", of.mpi, of.mpi_load_balance * of.mpi_communication);
    let all_s: f64 = hybrid.ranks.iter().map(|rank| f64::from(rank.threads) * time_s).sum();
    let mpi_s: f64 = hybrid.ranks.iter().map(|rank| time_s - rank.outside.as_seconds()).sum();
    // All is divided: what is useful or in MPI is the part of all processors.
    near("processors, all", of.openmp, of.parallel + mpi_s / all_s);
}

proptest! {
    /// Whatever the times of ranks and threads are, with different numbers of threads, the parts of each
    /// variant make up the whole, and all variants have the same one.
    #[test]
    fn parts_make_up_the_whole(
        of in prop::collection::vec(
            (0.01..1.0_f64, 0.0..1.0_f64, prop::collection::vec(0.0..1.0_f64, 1..5), 0.0..1.0_f64),
            1..6,
        ),
        ideal in prop::option::of(1.0..2.0_f64),
    ) {
        let ranks = of.iter().map(|(outside, regions, work, scheduling)| {
            let regions_s = outside * regions;
            let work_s: Vec<f64> = work.iter().map(|work| work * regions_s).collect();
            let lost_s = regions_s * work.len() as f64 - work_s.iter().sum::<f64>();
            rank(*outside, regions_s, &work_s, scheduling * lost_s)
        });
        check(&Hybrid::of_ranks(ranks.collect(), Ns::from_seconds(2.0), ideal.map(Ns::from_seconds)), 2.0);
    }
}

#[test]
fn each_loss_is_on_its_level() {
    let factors = |ranks: Vec<Rank>| Hybrid::of_ranks(ranks, SECOND, Some(SECOND)).variants;
    // Nothing is lost.
    for (variant, of) in factors(vec![rank(1.0, 1.0, &[1.0, 1.0], 0.0); 2]) {
        assert_eq!((of.parallel, of.mpi, of.openmp), (1.0, 1.0, 1.0), "{variant:?}");
    }
    // Threads do not wait for each other, but one rank for the other.
    for (variant, of) in factors(vec![rank(1.0, 1.0, &[1.0; 2], 0.0), rank(0.5, 0.5, &[0.5; 2], 0.0)]) {
        near(&format!("{variant:?}"), of.mpi, 0.75);
        near(&format!("{variant:?}"), of.mpi_load_balance, 0.75);
        // TALP has idle threads in MPI on both levels.
        let openmp = if variant == Variant::Processors { 0.875 } else { 1.0 };
        near(&format!("{variant:?}"), of.openmp, openmp);
    }
    // The other way round: one thread of each rank works half.
    for (variant, of) in factors(vec![rank(1.0, 1.0, &[1.0, 0.5], 0.0); 2]) {
        assert_eq!((of.mpi, of.openmp), (1.0, 0.75), "{variant:?}");
        assert_eq!(of.openmp_serial.unwrap_or(1.0), 1.0, "{variant:?}");
    }
    // Half of the time only one thread of each rank has anything to do.
    for (variant, of) in factors(vec![rank(1.0, 0.5, &[0.5, 0.5], 0.0); 2]) {
        assert_eq!((of.mpi, of.openmp), (1.0, 0.75), "{variant:?}");
        assert_eq!(of.openmp_regions.unwrap_or(1.0), 1.0, "{variant:?}");
        assert_eq!(
            of.openmp_load_balance.unwrap_or(1.0),
            if variant == Variant::Threads { 0.75 } else { 1.0 }
        );
    }
    // The runtime takes a tenth of all threads' time in regions.
    let [.., (_, of)] = factors(vec![rank(1.0, 1.0, &[0.9, 0.9], 0.2); 2]);
    near("scheduling", of.openmp_scheduling.unwrap(), 0.9);
    near("balance", of.openmp_load_balance.unwrap(), 1.0);
}

const MS: u64 = 1_000_000;
const SECOND: Ns = Ns::new(1_000_000_000);

/// One rank of two threads: MPI begins at 10 ms and ends at 110 ms; in the 100 ms between, the first thread
/// is in a region for 60 ms and works there for 50 ms, 10 ms of which are in MPI; the other works for 40 ms.
fn profile() -> Profile {
    let context = |parent, kind| Context { parent, kind, function: None, file: None, line: None };
    let names = [Operation::MPI_Init, Operation::MPI_Finalize, Operation::OmpRegionEnd, Operation::MPI_Bcast];
    let event = |operation: u32, context: u32, begin_ms: u64, end_ms: u64| EventRow {
        operation: OperationId(operation),
        context: ContextId(context),
        begin_ns: begin_ms * MS,
        end_ns: end_ms * MS,
        time_ns: (end_ms - begin_ms) * MS,
        calls: 1,
        ..EventRow::default()
    };
    let row = |location: u32, work_ms: u64, wait_ms: u64, latency_ms: u64| SegmentRow {
        location: LocationId(location),
        operation: OperationId(2),
        context: ContextId(1),
        executions: 1,
        work_ns: work_ms * MS,
        wait_ns: wait_ms * MS,
        latency_ns: latency_ms * MS,
        team_min: 2,
        team_max: 2,
        ..SegmentRow::default()
    };
    let region = RegionInfo { process: ProcessId(0), context: ContextId(1), parent: None, told: false };
    Profile {
        processes: vec![Default::default()].into(),
        locations: vec![Location { end: Ns::from_seconds(1.0), ..Location::default() }; 2].into(),
        contexts: vec![
            context(None, ContextKind::Program),
            context(Some(ContextId(0)), ContextKind::Frame),
            context(Some(ContextId(1)), ContextKind::Frame),
        ]
        .into(),
        operations: names.map(|operation| operation_info(operation.name())).to_vec().into(),
        regions: vec![region].into(),
        events: vec![event(0, 0, 0, 10), event(3, 2, 30, 40), event(1, 0, 110, 120)].into(),
        segments: vec![row(0, 50, 10, 4), row(1, 40, 20, 4)],
        ..Profile::default()
    }
}

fn efficiency(outside_s: f64) -> Efficiency {
    Efficiency {
        time: Ns::from_seconds(0.1),
        ideal: None,
        parallel: 0.9,
        load_balance: 1.0,
        communication: 0.9,
        serialisation: None,
        transfer: None,
        outside: vec![(ProcessId(0), Ns::from_seconds(outside_s))],
    }
}

#[test]
fn ranks_are_what_their_regions_were() {
    let found = Hybrid::of(&profile(), &efficiency(0.09)).expect("threads").expect("known");
    let rank = found.ranks[0];
    assert_eq!((rank.threads, found.ranks.len()), (2, 1));
    for (what, found, expected) in [
        ("regions", rank.regions, 0.05),
        ("work", rank.work, 0.04 + 0.04),
        ("scheduling", rank.scheduling, 0.008),
        ("MPI", rank.mpi_in_regions, 0.01),
        ("most", rank.most_useful, 0.08),
    ] {
        near(what, found.as_seconds(), expected);
    }
    check(&found, 0.1);
    near("parallel", found.variants[0].1.parallel, (0.04 + 0.04 + 0.04) / 0.2);
    assert_eq!(found.variants[0].1.mpi_transfer, None);
}

#[test]
fn without_threads_there_is_nothing_to_say() {
    let mut alone = profile();
    alone.segments.truncate(1);
    assert_eq!(Hybrid::of(&alone, &efficiency(0.09)), None);
    alone.segments.clear();
    assert_eq!(Hybrid::of(&alone, &efficiency(0.09)), None);
}

#[test]
fn what_is_not_known_is_said() {
    let of = |change: &dyn Fn(&mut Profile)| {
        let mut profile = profile();
        change(&mut profile);
        Hybrid::of(&profile, &efficiency(0.09)).expect("threads").err()
    };
    assert_eq!(of(&|_| ()), None);
    let call_by_the_other = |profile: &mut Profile| {
        profile.events.edit(|events| events[1].location = LocationId(1));
    };
    assert_eq!(of(&call_by_the_other), Some(Unknown::OtherThreads));
    assert_eq!(of(&|profile| profile.events = Events::default()), Some(Unknown::OtherThreads));
    let nested = |profile: &mut Profile| {
        let inner = RegionInfo { parent: Some(RegionId(0)), ..profile.regions[RegionId(0)] };
        profile.regions.push(inner);
        profile.segments[1].region = RegionId(1);
    };
    assert_eq!(of(&nested), Some(Unknown::Nested));
    let stay = |begin_ms: u64, end_ms: u64| StayRow {
        begin_ns: begin_ms * MS,
        end_ns: end_ms * MS,
        ..StayRow::default()
    };
    assert_eq!(of(&|profile| profile.stays.edit(|stays| stays.push(stay(20, 80)))), None);
    assert_eq!(
        of(&|profile| profile.stays.edit(|stays| stays.push(stay(1, 8)))),
        Some(Unknown::OutsideOfMpi)
    );
    assert_eq!(
        of(&|profile| profile.stays.edit(|stays| stays.push(stay(130, 180)))),
        Some(Unknown::OutsideOfMpi)
    );
    // More than the rank was outside of MPI.
    assert_eq!(of(&|profile| profile.segments[0].wait_ns += 60 * MS), Some(Unknown::OutsideOfMpi));
}
