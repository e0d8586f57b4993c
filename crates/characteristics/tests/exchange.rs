//! The example of the analyzer of MPI traces: `exch.c` on four ranks, with the end of its report.

use proust_characteristics::mpi::{Mpi, MpiInterval, Rank, Reading};

/// Ranks with the printed sums, leasts and mosts, in µs: time in MPI, idle, point-to-point, collective,
/// potential waits, spread. Of ranks 1 and 2 only some are printed; theirs share the rest.
const RANKS: [(u64, u64, u64, u64, u64, u64); 4] = [
    (59_159, 898, 3_000, 31_854, 1_800, 600),
    (41_036, 0, 4_000, 14_000, 17_000, 161),
    (41_036, 890, 5_000, 12_112, 20_594, 422),
    (32_259, 828, 1_295, 5_302, 29_369, 607),
];

const EXECUTION_US: u64 = 2_079_975;

fn ranks() -> Vec<Rank> {
    let rank =
        |&(mpi, idle, send_receive, collective, sync, variation): &(u64, u64, u64, u64, u64, u64)| Rank {
            elapsed_ns: (EXECUTION_US - idle) * 1000,
            mpi_ns: Some(mpi * 1000),
            send_receive_ns: Some(send_receive * 1000),
            collective_ns: Some(collective * 1000),
            all_to_all_ns: Some(0),
            potential_sync_ns: Some(sync * 1000),
            variation_ns: Some(variation * 1000),
            start_ns: Some(0),
            message_span_ns: None,
        };
    RANKS.iter().map(rank).collect()
}

#[track_caller]
fn assert_printed(of: &str, ns: Option<u64>, printed_s: f64) {
    let s = ns.unwrap_or_else(|| panic!("{of} is not known")) as f64 / 1e9;
    // The document prints sums and parts that were rounded one by one.
    assert!((s - printed_s).abs() < 1.1e-6, "{of}: {s} and not {printed_s}");
}

#[test]
fn the_main_characteristics_are_those_printed() {
    let exchange = MpiInterval::of(&ranks(), Reading::AllLost).unwrap();
    assert_eq!(format!("{:.6}", exchange.efficiency().unwrap()), "0.978833");
    assert_eq!(exchange.processors(), 4);
    assert_printed("Execution Time", Some(exchange.execution_ns), 2.079975);
    assert_printed("Total Time", Some(exchange.total_ns), 8.319900);
    assert_printed("Productive Time", exchange.productive_ns, 8.143794);
    assert_printed("Lost Time", exchange.lost_ns, 0.176106);
    for (of, printed_s) in [
        (Mpi::MpiTime, 0.173490),
        (Mpi::Idle, 0.002616),
        (Mpi::Comm, 0.076563),
        (Mpi::SendRecv, 0.013295),
        (Mpi::CollectiveAll, 0.063268),
        (Mpi::AllToAll, 0.0),
        (Mpi::PotentialSync, 0.068763),
        (Mpi::Variation, 0.001790),
        (Mpi::Start, 0.0),
    ] {
        assert_printed(of.name(), exchange.sum(of), printed_s);
    }
    assert_eq!(exchange.message_span_ns, None);
}

#[test]
fn the_comparative_characteristics_are_those_printed() {
    let exchange = MpiInterval::of(&ranks(), Reading::AllLost).unwrap();
    for (of, (min, min_at, max, max_at, mean)) in [
        (Mpi::Lost, (0.033087, 3, 0.060057, 0, 0.044026)),
        (Mpi::Idle, (0.0, 1, 0.000898, 0, 0.000654)),
        (Mpi::Comm, (0.006597, 3, 0.034854, 0, 0.019140)),
        (Mpi::MpiTime, (0.032259, 3, 0.059159, 0, 0.043372)),
        (Mpi::PotentialSync, (0.001800, 0, 0.029369, 3, 0.017190)),
        (Mpi::Variation, (0.000161, 1, 0.000607, 3, 0.000447)),
    ] {
        let over = exchange.comparative(of).unwrap();
        assert_printed(of.name(), Some(over.min), min);
        assert_printed(of.name(), Some(over.max), max);
        assert_eq!((over.min_at, over.max_at), (min_at, max_at), "{}", of.name());
        assert_printed(of.name(), Some(over.mean() as u64), mean);
    }
}

/// The document says that the time in MPI counts as useful on one processor, and as lost on the others. Its
/// numbers do not show which reading they follow; the other one divides.
#[test]
fn by_the_other_reading_one_part_of_the_time_in_mpi_is_productive() {
    let all = MpiInterval::of(&ranks(), Reading::AllLost).unwrap();
    let divided = MpiInterval::of(&ranks(), Reading::Replicated).unwrap();
    let mpi_ns = all.sum(Mpi::MpiTime).unwrap();
    assert_eq!(divided.productive_ns.unwrap() - all.productive_ns.unwrap(), mpi_ns / 4);
    assert_eq!(divided.total_ns, divided.productive_ns.unwrap() + divided.lost_ns.unwrap());
    assert_eq!(divided.lost_mpi_ns(), Some(mpi_ns - mpi_ns / 4));
}

#[test]
fn without_the_time_in_mpi_nothing_is_known_but_the_times_of_ranks() {
    let ranks = [Rank { elapsed_ns: 4, ..Rank::default() }, Rank { elapsed_ns: 3, ..Rank::default() }];
    let interval = MpiInterval::of(&ranks, Reading::AllLost).unwrap();
    assert_eq!((interval.execution_ns, interval.total_ns, interval.sum(Mpi::Idle)), (4, 8, Some(1)));
    assert_eq!((interval.productive_ns, interval.efficiency(), interval.sum(Mpi::Lost)), (None, None, None));
    assert_eq!(MpiInterval::of(&[], Reading::AllLost), None);
}
