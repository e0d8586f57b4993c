//! Any bytes as a file of streams. The checks of what may be blocks are put right, so that contents are read
//! that no writer wrote.

#![no_main]

use std::collections::BTreeMap;

use proust_streams::records::{Event, Release, Sample, State, Stay, Synchronisation};
use proust_streams::{Key, Lost, Nesting, Record, StreamFile, Summed, Times, put_checks_right, sums_by_scan};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut bytes = bytes.to_vec();
    put_checks_right(&mut bytes);
    let Ok(file) = StreamFile::new(bytes) else { return };
    read::<State>(&file);
    read::<Event>(&file);
    read::<Sample>(&file);
    read::<Release>(&file);
    read::<Stay>(&file);
    read::<Synchronisation>(&file);
    sums(&file);
});

fn read<R: Record>(file: &StreamFile<Vec<u8>>) {
    for location in file.locations::<R>() {
        let stream = file.stream::<R>(location);
        let forward: Vec<Result<R, Lost>> = stream.forward().collect();
        let ends: Vec<u64> = forward.iter().flatten().map(Record::end_ns).collect();
        assert!(ends.is_sorted());
        let mut nesting = Nesting::default();
        for record in stream.backward().flatten() {
            assert!(R::TIMES == Times::Instants || record.begin_ns() <= record.end_ns());
            nesting.enter(record);
        }
        let _ = stream.overlapping(1000..1_000_000).count();
    }
}

/// Where every block is intact, reading records and summing blocks agree.
fn sums(file: &StreamFile<Vec<u8>>) {
    let locations = file.locations::<State>();
    let mut naive: BTreeMap<Key, u128> = BTreeMap::new();
    for &location in &locations {
        for state in file.stream::<State>(location).forward() {
            let Ok(state) = state else { return };
            state.charge(0, u64::MAX, |key, ns| *naive.entry(key).or_default() += u128::from(ns));
        }
    }
    let found = sums_by_scan::<State, _>(file, &locations, 0..u64::MAX);
    if found.lost().is_empty() {
        assert!(found.sorted().into_iter().eq(naive));
    }
}
