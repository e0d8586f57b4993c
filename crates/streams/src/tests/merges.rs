//! Merges against sorting everything in memory.

use proptest::prelude::*;

use super::naive::{Run, events, file, run, states};
use crate::merge::{Budget, Located, Merge, MergeError, Order, Sorter};
use crate::records::{Event, State};
use crate::{Location, Lost, Record, StreamFile};

/// All records by (time, location, place), or exactly reversed.
fn naive<R: Record>(run: &Run<R>, order: Order) -> Vec<Located<R>> {
    let mut run = run.clone();
    run.sort_by_key(|(location, _)| *location);
    let mut all: Vec<Located<R>> = run
        .into_iter()
        .flat_map(|(location, records)| records.into_iter().map(move |record| Located { location, record }))
        .collect();
    all.sort_by_key(|located| order.time_ns(&located.record));
    if order.is_backward() {
        all.reverse();
    }
    all
}

fn merged<R: Record>(mut merge: Merge<'_, R, Vec<u8>>) -> (Vec<Located<R>>, Vec<Lost>) {
    let mut all = Vec::new();
    while let Some(located) = merge.next().unwrap() {
        all.push(located);
    }
    (all, merge.lost())
}

fn check<R: Record>(
    run: &Run<R>,
    block_bytes: usize,
    bytes: usize,
    orders: &[Order],
) -> Result<(), TestCaseError> {
    let streams = StreamFile::new(file(run, block_bytes, &[1, 0, 2])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let budget = Budget::new(bytes, folder.path());
    let locations: Vec<Location> = run.iter().rev().map(|(location, _)| *location).collect();
    for &order in orders {
        let expected = naive(run, order);
        let windows = Merge::new(&streams, &locations, order, &Budget::new(bytes, folder.path())).unwrap();
        prop_assert_eq!(merged(windows), (expected.clone(), vec![]));
        let spilled = Merge::spilled(&streams, &locations, order, &budget).unwrap();
        prop_assert_eq!(merged(spilled), (expected, vec![]));
    }
    prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn states_are_merged_by_begin_and_by_end(
        run in run(states(700)), block_bytes in 256usize..2000, bytes in 0usize..100_000,
    ) {
        let orders = [Order::ByEnd, Order::ByEndBackward, Order::ByBegin, Order::ByBeginBackward];
        check(&run, block_bytes, bytes, &orders)?;
    }

    #[test]
    fn events_are_merged_by_end(
        run in run(events(700)), block_bytes in 256usize..2000, bytes in 0usize..100_000,
    ) {
        check(&run, block_bytes, bytes, &[Order::ByEnd, Order::ByEndBackward])?;
    }

    #[test]
    fn many_records_at_one_time(counts in prop::collection::vec(0usize..1500, 1..5), other in run(events(60))) {
        let mut run = other;
        for (at, count) in counts.into_iter().enumerate() {
            let at_one_time = |n: usize| {
                let (begin_ns, end_ns) = (20, 20);
                Event { begin_ns, end_ns, bytes: n as u64, ..Event::default() }
            };
            run.push((Location(100 + at as u32), (0..count).map(at_one_time).collect()));
        }
        check(&run, 400, 0, &[Order::ByEnd, Order::ByEndBackward])?;
    }

    #[test]
    fn lost_blocks_are_said_once_by_both_ways(run in run(states(700)), at: prop::sample::Index, backward: bool) {
        let mut bytes = file(&run, 300, &[0, 1]);
        let whole = StreamFile::new(bytes.clone()).unwrap();
        let blocks: Vec<u64> = run
            .iter()
            .flat_map(|(location, _)| whole.stream::<State>(*location).blocks().iter().map(|block| block.offset))
            .collect();
        prop_assume!(!blocks.is_empty());
        bytes[at.get(&blocks).wrapping_add(49) as usize] ^= 1;
        let folder = tempfile::tempdir().unwrap();
        let budget = Budget::new(0, folder.path());
        let locations: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
        let order = if backward { Order::ByEndBackward } else { Order::ByEnd };
        // With its footer the block is damaged, without it the block is missing.
        for length in [bytes.len(), bytes.len() - 1] {
            let streams = StreamFile::new(bytes[..length].to_vec()).unwrap();
            let windows = merged(Merge::<State, _>::new(&streams, &locations, order, &budget).unwrap());
            let spilled = merged(Merge::<State, _>::spilled(&streams, &locations, order, &budget).unwrap());
            prop_assert_eq!(&windows.1, &spilled.1);
            prop_assert!(windows.0 == spilled.0);
            prop_assert!(windows.1.len() <= 1);
            if length == bytes.len() {
                prop_assert_eq!(windows.1.len(), 1);
            }
        }
    }

    #[test]
    fn sorting_by_any_key_is_stable(
        records in prop::collection::vec((0u32..9, any::<u32>(), 0u64..1000), 0..3000), bytes in 0usize..20_000,
    ) {
        let folder = tempfile::tempdir().unwrap();
        let located = |(at, (location, object, length)): (usize, (u32, u32, u64))| Located {
            location: Location(location),
            record: Event {
                begin_ns: at as u64,
                end_ns: at as u64 + length,
                object: u64::from(object) % 50,
                bytes: at as u64,
                ..Event::default()
            },
        };
        let all: Vec<Located<Event>> = records.into_iter().enumerate().map(located).collect();
        let mut expected = all.clone();
        expected.sort_by_key(|located| located.record.object);
        let mut sorter = Sorter::new(&Budget::new(bytes, folder.path()), |located: &Located<Event>| {
            u128::from(located.record.object)
        });
        for located in all {
            sorter.push(located).unwrap();
        }
        let mut sorted = sorter.finish().unwrap();
        // 256 records fit in any case: with more of them, runs were written, and merged by twos.
        prop_assert_eq!(sorted.runs() > 0, expected.len() > 256.max(bytes / 200 + 1) || sorted.runs() > 0);
        let mut found = Vec::new();
        while let Some(located) = sorted.next().unwrap() {
            found.push(located);
        }
        prop_assert_eq!(found, expected);
        drop(sorted);
        prop_assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}

#[test]
fn what_contains_others_has_no_order_by_begin() {
    let streams = StreamFile::new(file(&Run::<Event>::new(), 4096, &[0])).unwrap();
    let budget = Budget::new(1 << 20, &std::env::temp_dir());
    let merge = Merge::<Event, _>::new(&streams, &[], Order::ByBegin, &budget);
    assert!(matches!(merge.err(), Some(MergeError::NotByBegin)));
}

#[test]
fn very_many_short_streams_are_sorted_with_runs() {
    let states = |location: u64| -> Vec<State> {
        let state = |at: u64| {
            let begin_ns = 100_000 * at + 7 * location;
            State { begin_ns, end_ns: begin_ns + 1000, ..State::default() }
        };
        (0..40).map(state).collect()
    };
    let run: Run<State> = (0..500).map(|location| (Location(location), states(location.into()))).collect();
    let streams = StreamFile::new(file(&run, 4096, &[0])).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let locations: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
    let expected = naive(&run, Order::ByEnd);
    let runs_with = |bytes: usize| {
        let merge =
            Merge::<State, _>::new(&streams, &locations, Order::ByEnd, &Budget::new(bytes, folder.path()));
        let merge = merge.unwrap();
        let runs = merge.runs();
        assert!(runs == 0 || std::fs::read_dir(folder.path()).unwrap().count() == 2);
        assert!(merged(merge).0 == expected);
        runs
    };
    assert_eq!(runs_with(1 << 24), 0);
    assert!(runs_with(1 << 15) > 30);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}
