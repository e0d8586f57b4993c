//! Random runs, and what a stream of them must say.

use std::collections::BTreeMap;
use std::ops::Range;

use proptest::prelude::*;

use crate::records::{Event, State};
use crate::{BlockOptions, BlockWriter, Key, Location, Record, StreamBuilder};

/// Locations with their records, in any order of locations.
pub type Run<R> = Vec<(Location, Vec<R>)>;

/// A file of these streams, with which location's record comes next drawn by `order`.
pub fn file<R: Record>(run: &Run<R>, block_bytes: usize, order: &[u8]) -> Vec<u8> {
    let mut writer = BlockWriter::new(Vec::new()).unwrap();
    let options = BlockOptions { block_bytes };
    let mut open: Vec<_> = run
        .iter()
        .map(|(location, records)| (StreamBuilder::new(*location, options), records.iter()))
        .collect();
    let mut draws = order.iter().cycle();
    while !open.is_empty() {
        let at = usize::from(*draws.next().unwrap_or(&0)) % open.len();
        let (builder, records) = &mut open[at];
        match records.next() {
            Some(&record) => builder.push(record, &mut writer).unwrap(),
            None => open.swap_remove(at).0.finish(&mut writer).unwrap(),
        }
    }
    writer.finish().unwrap()
}

/// Whether a record has a time in common with a range.
pub fn overlaps<R: Record>(record: &R, range_ns: &Range<u64>) -> bool {
    record.begin_ns() < range_ns.end
        && (record.end_ns() > range_ns.start || record.begin_ns() >= range_ns.start)
}

/// Time by key between two instants, by adding up one record after the other.
pub fn sums(run: &Run<State>, locations: &[Location], range_ns: &Range<u64>) -> BTreeMap<Key, u128> {
    let mut sums = BTreeMap::new();
    for (location, states) in run {
        if locations.contains(location) {
            for state in states {
                use crate::Summed;
                state.charge(range_ns.start, range_ns.end, |key, ns| {
                    *sums.entry(key).or_default() += u128::from(ns);
                });
            }
        }
    }
    sums
}

/// States without overlap; some without length, some with gaps before them, some very long.
pub fn states(most: usize) -> impl Strategy<Value = Vec<State>> {
    let gap = prop_oneof![4 => Just(0u64), 1 => 0u64..50];
    let length = prop_oneof![1 => Just(0u64), 8 => 0u64..60, 1 => 0u64..1 << 34];
    let parts =
        prop_oneof![4 => Just([0u64; 4]), 1 => any::<[u8; 4]>().prop_map(|parts| parts.map(u64::from))];
    let state = (gap, length, 0u8..4, prop_oneof![3 => 0u32..5, 1 => 0u32..2000], any::<bool>(), parts);
    prop::collection::vec(state, 0..most).prop_map(|drawn| {
        let mut end_ns = 0;
        let make = |(gap, length, account, context, flag, mut parts_ns): (u64, u64, _, _, bool, [u64; 4])| {
            let begin_ns = end_ns + gap;
            end_ns = begin_ns + length;
            if parts_ns.iter().sum::<u64>() > length {
                parts_ns = [length / 5; 4];
            }
            State { begin_ns, end_ns, key: Key { account, context }, flags: u8::from(flag), parts_ns }
        };
        drawn.into_iter().map(make).collect()
    })
}

/// A tree of operations, those inside before those around them. A step opens an operation, closes one, or
/// only lets time pass.
pub fn events(most: usize) -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0u8..3, 0u64..40, any::<u64>()), 0..most).prop_map(|steps| {
        let (mut now_ns, mut open, mut events) = (0, Vec::new(), Vec::new());
        let mut close = |open: &mut Vec<(u64, u64)>, now_ns: u64| {
            if let Some((begin_ns, value)) = open.pop() {
                events.push(Event {
                    begin_ns,
                    end_ns: now_ns,
                    time_ns: now_ns - begin_ns,
                    depth: open.len() as u16,
                    context: value as u32 % 7,
                    operation: value as u32 % 3,
                    calls: 1,
                    bytes: value >> 40,
                    object: value % 5 * 0x7f00_0000_1000,
                    cpu_clock_ns: (value % 2 == 0).then_some(now_ns / 2),
                    ..Event::default()
                });
            }
        };
        for (step, time_ns, value) in steps {
            now_ns += time_ns;
            match step {
                0 => open.push((now_ns, value)),
                1 => close(&mut open, now_ns),
                _ => {}
            }
        }
        while !open.is_empty() {
            close(&mut open, now_ns);
        }
        events
    })
}

/// Up to six locations of any numbers.
pub fn run<R: Record>(records: impl Strategy<Value = Vec<R>>) -> impl Strategy<Value = Run<R>> {
    prop::collection::btree_map(0u32..40, records, 1..6)
        .prop_map(|run| run.into_iter().map(|(location, records)| (Location(location), records)).collect())
}
