//! Levels against the naive sum over records.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::naive::{Run, file, run, states, sums};
use crate::levels::{AccountSums, Group, LevelOptions, Members};
use crate::records::State;
use crate::{
    BinsIn, Key, Levels, LevelsError, Location, Record, StreamFile, Summed, Sums, bins_by_scan, sums_by_scan,
};

fn as_map(sums: &Sums) -> BTreeMap<Key, u128> {
    sums.sorted().into_iter().collect()
}

/// Locations in pairs, and all of them.
fn groups(run: &Run<State>) -> Vec<Group> {
    let locations: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
    let mut groups: Vec<Group> = locations
        .chunks(2)
        .enumerate()
        .map(|(at, pair)| Group { id: at as u32, members: Members::Locations(pair.to_vec()) })
        .collect();
    groups.push(Group { id: 99, members: Members::Groups((0..groups.len()).collect()) });
    groups
}

fn end_ns(run: &Run<State>) -> u64 {
    run.iter().filter_map(|(_, states)| Some(states.last()?.end_ns)).max().unwrap_or(0)
}

/// The k of bins such that there are up to some hundred of them.
fn shift_for(run: &Run<State>, more: u32) -> u32 {
    (64 - end_ns(run).leading_zeros()).saturating_sub(1 + more)
}

fn pool(threads: usize) -> rayon::ThreadPool {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn sums_are_those_of_the_records(
        run in run(states(900)), block_bytes in 256usize..700, order: [u8; 8],
        ranges in prop::collection::vec(any::<[(prop::sample::Index, i8); 2]>(), 8),
        chosen: [bool; 6], bins in 0u32..9,
        default_bins: bool,
    ) {
        let streams = StreamFile::new(file(&run, block_bytes, &order)).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("levels");
        let bin_shift = (!default_bins).then(|| shift_for(&run, bins));
        let options = LevelOptions { groups: groups(&run), bin_shift };
        Levels::<State, _>::build(&streams, &path, &options).unwrap();
        let levels = Levels::<State, _>::open(&streams, &path).unwrap();
        let locations: Vec<Location> = run
            .iter()
            .zip(chosen.iter().chain([&true]))
            .filter(|(_, chosen)| **chosen)
            .map(|((location, _), _)| *location)
            .collect();
        let everything: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
        let end_ns = end_ns(&run);
        let states = run.iter().flat_map(|(_, states)| states);
        let mut times: Vec<u64> = states.map(|state| state.end_ns).collect();
        times.push(end_ns);
        let some = ranges.into_iter().map(|range| {
            // Near the ends of records, and some at the borders of bins.
            let near =
                |(at, more): (prop::sample::Index, i8)| at.get(&times).saturating_add_signed(more.into());
            let [from, to] = range.map(near);
            if from % 3 == 0 { from & !(levels.bin_ns() - 1)..to & !(levels.bin_ns() - 1) } else { from..to }
        });
        for range_ns in some.chain([0..end_ns, 0..u64::MAX, 1..end_ns.saturating_sub(1)]) {
            for locations in [&locations, &everything] {
                let naive = sums(&run, locations, &range_ns);
                let found = levels.sums(locations, range_ns.clone()).unwrap();
                prop_assert_eq!(&as_map(&found), &naive, "{:?}", &range_ns);
                prop_assert_eq!(found.lost(), &[]);
                let scanned = sums_by_scan::<State, _>(&streams, locations, range_ns.clone());
                prop_assert_eq!(&as_map(&scanned), &naive);
            }
        }
    }

    #[test]
    fn bins_of_a_picture_are_exact(
        run in run(states(600)), block_bytes in 256usize..700,
        begin: u64, width in 1u64..400, count in 1usize..90,
        aligned: bool, bins in 0u32..9,
    ) {
        let streams = StreamFile::new(file(&run, block_bytes, &[1, 2, 3])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("levels");
        let options = LevelOptions { groups: groups(&run), bin_shift: Some(shift_for(&run, bins)) };
        Levels::<State, _>::build(&streams, &path, &options).unwrap();
        let levels = Levels::<State, _>::open(&streams, &path).unwrap();
        let (mut begin_ns, mut width_ns) = (begin % (end_ns(&run) + 1), width);
        if aligned {
            let bin_ns = levels.bin_ns();
            (begin_ns, width_ns) = (begin_ns & !(bin_ns - 1), width_ns % 3 * bin_ns + bin_ns);
        }
        let everything: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
        for locations in [&everything[..], &everything[..1]] {
            let place = BinsIn { begin_ns, width_ns, count };
            let row = levels.bins(locations, place).unwrap();
            prop_assert_eq!(row.len(), count);
            let some = |key: Key| (!key.context.is_multiple_of(3)).then_some((key.context % 3, key.account));
            let folded = levels.bins_by(locations, place, some).unwrap();
            if let [location] = locations {
                let (scanned, lost) = bins_by_scan::<State, _, _>(&streams, *location, place, some);
                prop_assert_eq!((&scanned, lost.len()), (&folded, 0));
            }
            for (at, found) in folded.into_iter().enumerate() {
                let from_ns = begin_ns + at as u64 * width_ns;
                let mut naive = BTreeMap::new();
                for (key, ns) in sums(&run, locations, &(from_ns..from_ns + width_ns)) {
                    if let Some(as_what) = some(key).filter(|_| ns > 0) {
                        *naive.entry(as_what).or_default() += ns;
                    }
                }
                prop_assert_eq!(found, naive);
            }
            for (at, found) in row.into_iter().enumerate() {
                let from_ns = begin_ns + at as u64 * width_ns;
                let mut naive = AccountSums::new();
                for (key, ns) in sums(&run, locations, &(from_ns..from_ns + width_ns)) {
                    *naive.entry(key.account).or_default() += ns;
                }
                prop_assert_eq!(found, naive);
            }
        }
    }

    #[test]
    fn files_and_answers_are_the_same_for_any_number_of_threads(
        run in run(states(500)), block_bytes in 256usize..700, range: (u64, u64),
    ) {
        let streams = StreamFile::new(file(&run, block_bytes, &[9, 4])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let locations: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
        let end_ns = end_ns(&run) + 1;
        let range_ns = range.0 % end_ns..range.1 % end_ns;
        let mut kept: Option<(Vec<u8>, Sums)> = None;
        for threads in [1, 2, 4] {
            let path = folder.path().join(threads.to_string());
            let options = LevelOptions { groups: groups(&run), bin_shift: None };
            let answer = pool(threads).install(|| {
                Levels::<State, _>::build(&streams, &path, &options).unwrap();
                let levels = Levels::<State, _>::open(&streams, &path).unwrap();
                levels.sums(&locations, range_ns.clone()).unwrap()
            });
            let made = (std::fs::read(&path).unwrap(), answer);
            prop_assert!(kept.get_or_insert_with(|| made.clone()) == &made);
        }
    }

    #[test]
    fn damaged_levels_are_refused_or_right(
        run in run(states(400)), at: prop::sample::Index, bit in 0u8..8, cut: bool,
    ) {
        let streams = StreamFile::new(file(&run, 300, &[0, 1])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("levels");
        Levels::<State, _>::build(
            &streams,
            &path,
            &LevelOptions { groups: groups(&run), bin_shift: None },
        )
        .unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        if cut {
            bytes.truncate(at);
        }
        std::fs::write(&path, bytes).unwrap();
        let locations: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
        let range_ns = 1..end_ns(&run).max(2) - 1;
        let answer = Levels::<State, _>::open(&streams, &path)
            .and_then(|levels| levels.sums(&locations, range_ns.clone()));
        match answer {
            Ok(found) => prop_assert_eq!(as_map(&found), sums(&run, &locations, &range_ns)),
            Err(error) => prop_assert!(!matches!(error, LevelsError::Stale) || !cut),
        }
    }

    #[test]
    fn what_is_lost_is_said_and_the_rest_is_exact(
        run in run(states(900)), at: prop::sample::Index, before: bool,
    ) {
        let bytes = file(&run, 300, &[0, 1]);
        let whole = StreamFile::new(bytes.clone()).unwrap();
        let blocks: Vec<(Location, crate::BlockEntry)> = run
            .iter()
            .flat_map(|(location, _)| {
                whole.stream::<State>(*location).blocks().iter().map(|block| (*location, *block))
            })
            .collect();
        // One that ends at 0 has no part in any range of time, and is not read.
        let with_time: Vec<_> = blocks.iter().filter(|(_, block)| block.last_end_ns > 0).collect();
        prop_assume!(!with_time.is_empty());
        let &(location, block) = with_time[at.index(with_time.len())];
        let mut damaged = bytes;
        damaged[block.offset as usize + 50.min(usize::from(block.length) - 1)] ^= 4;
        let streams = StreamFile::new(damaged).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("levels");
        // The block is damaged before the levels are made, or afterwards; the index is the same.
        let made_from = if before { &streams } else { &whole };
        let options = LevelOptions { groups: groups(&run), bin_shift: Some(shift_for(&run, 5)) };
        Levels::<State, _>::build(made_from, &path, &options).unwrap();
        let levels = Levels::<State, _>::open(&streams, &path).unwrap();

        let mut rest = run.clone();
        for (whose, states) in &mut rest {
            if *whose == location {
                let first: u32 = blocks
                    .iter()
                    .filter(|(whose, other)| *whose == location && other.sequence < block.sequence)
                    .map(|(_, other)| u32::from(other.records))
                    .sum();
                states.drain(first as usize..first as usize + usize::from(block.records));
            }
        }
        let everything: Vec<Location> = run.iter().map(|(location, _)| *location).collect();
        let all = 0..u64::MAX;
        let scanned = sums_by_scan::<State, _>(&streams, &everything, all.clone());
        prop_assert_eq!(as_map(&scanned), sums(&rest, &everything, &all));
        prop_assert_eq!(scanned.lost().len(), 1);
        prop_assert_eq!(scanned.lost()[0].sequence, block.sequence);
        let found = levels.sums(&everything, all.clone()).unwrap();
        if before {
            prop_assert_eq!(as_map(&found), sums(&rest, &everything, &all));
            prop_assert_eq!(found.lost(), scanned.lost());
        } else {
            // The groups' bins know what the block had said.
            prop_assert_eq!(as_map(&found), sums(&run, &everything, &all));
            prop_assert_eq!(found.lost(), &[]);
        }
    }

    #[test]
    fn drawn_records_are_records(run in run(states(900)), width in 0u64..1 << 20) {
        let streams = StreamFile::new(file(&run, 256, &[0, 1])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("levels");
        Levels::<State, _>::build(&streams, &path, &LevelOptions::default()).unwrap();
        let levels = Levels::<State, _>::open(&streams, &path).unwrap();
        for (location, states) in &run {
            let drawn = levels.drawn(*location, 0..u64::MAX, width).unwrap();
            prop_assert!(drawn.len() <= streams.stream::<State>(*location).blocks().len());
            for record in drawn {
                let same = |state: &&State| {
                    let shown = (state.begin_ns(), state.end_ns(), state.key());
                    shown == (record.begin_ns, record.end_ns, record.key)
                };
                prop_assert!(states.iter().any(|state| same(&state)));
            }
        }
    }
}

#[test]
fn levels_of_other_streams_are_stale() {
    let one = vec![(Location(1), vec![State { begin_ns: 0, end_ns: 9, ..State::default() }])];
    let other = vec![(Location(1), vec![State { begin_ns: 0, end_ns: 8, ..State::default() }])];
    let [one, other] = [one, other].map(|run| StreamFile::new(file(&run, 4096, &[0])).unwrap());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("levels");
    Levels::<State, _>::build(&one, &path, &LevelOptions::default()).unwrap();
    assert!(Levels::<State, _>::open(&one, &path).is_ok());
    assert!(matches!(Levels::<State, _>::open(&other, &path), Err(LevelsError::Stale)));
}
