//! Laws that hold for any processors.

use proptest::prelude::*;
use proust_characteristics::comparative::Comparative;
use proust_characteristics::dvm::{Column, Interval};
use proust_characteristics::mpi::{Mpi, MpiInterval, Rank, Reading};
use proust_characteristics::name::Characteristic as C;
use proust_characteristics::operation::Operation;
use proust_characteristics::terms::{OperationTerms, Processor, replicated_ns};

const MOST_NS: u64 = 1 << 40;

fn term() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![1 => Just(None), 3 => (0..MOST_NS).prop_map(Some)]
}

fn operation() -> impl Strategy<Value = (Operation, OperationTerms)> {
    let which = proptest::sample::select(Operation::ALL);
    let count = prop_oneof![Just(None), (0..100u32).prop_map(|n| Some(f64::from(n) / 4.0))];
    (which, count, term(), term(), term(), term()).prop_map(|(which, count, a, b, c, d)| {
        let terms = OperationTerms {
            count,
            communication_ns: a,
            synchronization_ns: b,
            variation_ns: c,
            overlap_ns: d,
        };
        (which, terms)
    })
}

fn processor() -> impl Strategy<Value = Processor> {
    let operations = proptest::collection::btree_map(
        proptest::sample::select(Operation::ALL),
        operation().prop_map(|(_, terms)| terms),
        0..6,
    );
    let degrees = (1u32..64, 1u32..64);
    (0..MOST_NS, 0..MOST_NS, any::<bool>(), term(), term(), term(), degrees, operations, term()).prop_map(
        |(seq_ns, par_ns, is_known, io_ns, absent_seq_ns, absent_par_ns, degrees, operations, iterations)| {
            Processor {
                cpu_ns: seq_ns + par_ns,
                cpu_seq_ns: is_known.then_some(seq_ns),
                cpu_passive_ns: Some(seq_ns / 2),
                io_ns,
                replicated_seq_ns: is_known.then(|| replicated_ns(seq_ns, degrees.0)),
                replicated_par_ns: is_known.then(|| replicated_ns(par_ns, degrees.1)),
                absent_seq_ns,
                absent_par_ns,
                operations,
                iterations,
            }
        },
    )
}

fn processors() -> impl Strategy<Value = Vec<Processor>> {
    proptest::collection::vec(processor(), 1..12)
}

proptest! {
    #[test]
    fn the_total_is_productive_and_lost(processors in processors()) {
        let all = Interval::of(&processors).unwrap();
        prop_assert_eq!(all.total_ns, all.productive_ns + all.lost_ns);
        prop_assert_eq!(all.productive_ns, all.productive_cpu_ns + all.io_ns.unwrap_or(0));
        let lost_ns =
            all.insufficient_ns.unwrap_or(0) + all.communication_ns.unwrap_or(0) + all.idle_ns;
        prop_assert_eq!(all.lost_ns, lost_ns);
        let each: u64 =
            (0..processors.len()).map(|at| all.of_processor(at, C::LostTime).unwrap()).sum();
        prop_assert_eq!(all.lost_ns, each);
        prop_assert_eq!(
            all.insufficient_ns.unwrap_or(0),
            all.insufficient_seq_ns.unwrap_or(0) + all.insufficient_par_ns.unwrap_or(0)
        );
    }

    #[test]
    fn a_column_sums_to_the_characteristic(processors in processors()) {
        let all = Interval::of(&processors).unwrap();
        for column in Column::ALL {
            let sum = all.operations.values().filter_map(|row| column.of(row)).reduce(|a, b| a + b);
            prop_assert_eq!(sum, all.main(column.characteristic()));
            for (operation, row) in &all.operations {
                let over = all.comparative_of(*operation, column);
                prop_assert_eq!(over.map(|over| over.sum), column.of(row));
            }
        }
    }

    #[test]
    fn the_efficiency_is_that_of_pop_without_the_replicated_work(processors in processors()) {
        let all = Interval::of(&processors).unwrap();
        match (all.efficiency(), all.pop.dvm_efficiency()) {
            (Some(own), Some(by_pop)) => prop_assert!((own - by_pop).abs() < 1e-9, "{} {}", own, by_pop),
            (own, by_pop) => prop_assert_eq!(own.is_none(), by_pop.is_none()),
        }
        if let (Some(whole), Some(balance), Some(communication)) = (
            all.pop.parallel_efficiency,
            all.pop.load_balance,
            all.pop.communication_efficiency,
        ) {
            prop_assert!((whole - balance * communication).abs() < 1e-9);
        }
    }

    #[test]
    fn what_is_known_of_all_processors_sums_up(processors in processors()) {
        let all = Interval::of(&processors).unwrap();
        for of in [C::InsufficientParallelismSeq, C::Communication, C::Idle, C::IoTime, C::LostTime] {
            if let Some(over) = all.comparative(of) {
                prop_assert_eq!(Some(over.sum), all.main(of), "{}", of.name());
                prop_assert!(over.min as f64 <= over.mean() + 1e-3 && over.mean() <= over.max as f64 + 1e-3);
            }
        }
        let execution = all.comparative(C::ExecutionTime).unwrap();
        prop_assert_eq!(execution.max, all.execution_ns);
        prop_assert_eq!(all.idle_ns, execution.max * execution.count as u64 - execution.sum);
    }

    /// The order of the processors changes where a value is, and no value.
    #[test]
    fn the_order_of_processors_changes_no_number(processors in processors()) {
        let all = Interval::of(&processors).unwrap();
        let turned: Vec<Processor> = processors.into_iter().rev().collect();
        let turned = Interval::of(&turned).unwrap();
        for &of in C::ALL {
            prop_assert_eq!(all.main(of), turned.main(of));
            let values = |over: Comparative| (over.min, over.max, over.sum);
            prop_assert_eq!(all.comparative(of).map(values), turned.comparative(of).map(values));
        }
    }

    #[test]
    fn no_term_without_a_source_becomes_a_number(cpu_ns in 0..MOST_NS, count in 1usize..6) {
        let processors = vec![Processor { cpu_ns, ..Processor::default() }; count];
        let all = Interval::of(&processors).unwrap();
        for of in [
            C::IoTime, C::InsufficientParallelism, C::Communication, C::Synchronization, C::TimeVariation,
            C::Overlap, C::CpuTimeSeq, C::CpuTimePar, C::AbsentTime, C::Iterations,
        ] {
            prop_assert_eq!(all.main(of), None);
            prop_assert_eq!(all.comparative(of), None);
        }
        prop_assert_eq!(all.may_contain_replicated(), count > 1);
    }

    #[test]
    fn of_mpi_too_the_total_is_productive_and_lost(
        times in proptest::collection::vec((0..MOST_NS, 0..MOST_NS), 1..9),
        divided in any::<bool>(),
    ) {
        let rank = |&(a, b): &(u64, u64)| Rank {
            elapsed_ns: a.max(b),
            mpi_ns: Some(a.min(b)),
            ..Rank::default()
        };
        let ranks: Vec<Rank> = times.iter().map(rank).collect();
        let reading = if divided { Reading::Replicated } else { Reading::AllLost };
        let all = MpiInterval::of(&ranks, reading).unwrap();
        let lost_ns = all.lost_mpi_ns().unwrap() + all.sum(Mpi::Idle).unwrap();
        prop_assert_eq!(all.lost_ns, Some(lost_ns));
        let cpu_ns = all.sum(Mpi::Cpu).unwrap();
        let productive_mpi_ns = all.sum(Mpi::MpiTime).unwrap() - all.lost_mpi_ns().unwrap();
        prop_assert_eq!(all.productive_ns, Some(cpu_ns + productive_mpi_ns));
    }
}
