//! Files: what was written is read, in any order of writing and of any block size, and damage costs the
//! blocks that it is in.

use proptest::prelude::*;

use super::naive::{Run, events, file, overlaps, run, states};
use crate::records::{Event, State};
use crate::{Fault, Location, Lost, Nesting, Note, Record, StreamFile, Times};

fn block_bytes() -> impl Strategy<Value = usize> {
    prop_oneof![Just(256usize), Just(4096), 200usize..4096]
}

fn read_all<R: Record>(file: &StreamFile<Vec<u8>>, run: &Run<R>) -> Result<(), TestCaseError> {
    prop_assert_eq!(file.notes(), &[]);
    for (location, records) in run {
        let stream = file.stream::<R>(*location);
        prop_assert_eq!(stream.count(), records.len() as u64);
        let forward: Vec<R> = stream.forward().collect::<Result<_, Lost>>().unwrap();
        prop_assert_eq!(&forward, records);
        let mut backward: Vec<R> = stream.backward().collect::<Result<_, Lost>>().unwrap();
        backward.reverse();
        prop_assert_eq!(&backward, records);
        prop_assert!(stream.blocks().iter().all(|block| usize::from(block.length) <= crate::MAX_BLOCK_BYTES));
    }
    Ok(())
}

fn read_overlapping<R: Record>(
    file: &StreamFile<Vec<u8>>,
    run: &Run<R>,
    range_ns: std::ops::Range<u64>,
) -> Result<(), TestCaseError> {
    for (location, records) in run {
        let expected: Vec<R> = records.iter().copied().filter(|record| overlaps(record, &range_ns)).collect();
        let stream = file.stream::<R>(*location);
        let found: Vec<R> = stream.overlapping(range_ns.clone()).collect::<Result<_, Lost>>().unwrap();
        prop_assert_eq!(&found, &expected);
        let mut backward: Vec<R> =
            stream.overlapping_backward(range_ns.clone()).collect::<Result<_, Lost>>().unwrap();
        backward.reverse();
        prop_assert_eq!(&backward, &expected);
    }
    Ok(())
}

/// The last end in a run, ns.
fn end_ns<R: Record>(run: &Run<R>) -> u64 {
    run.iter().filter_map(|(_, records)| Some(records.last()?.end_ns())).max().unwrap_or(0)
}

/// What is read of a file that may be damaged: only records that were written, each at most once, in order;
/// and of each stream either all, or something is said to be lost.
fn read_damaged<R: Record>(bytes: Vec<u8>, run: &Run<R>, truncated: bool) -> Result<(), TestCaseError> {
    let Ok(file) = StreamFile::new(bytes) else { return Ok(()) };
    for (location, records) in run {
        let stream = file.stream::<R>(*location);
        let mut lost = !file.notes().is_empty();
        let mut found = Vec::new();
        for record in stream.forward() {
            match record {
                Ok(record) => found.push(record),
                Err(_) => lost = true,
            }
        }
        prop_assert!(is_subsequence(&found, records));
        prop_assert!(found.len() == records.len() || lost);
        if truncated {
            prop_assert!(records.starts_with(&found), "a cut file has the beginnings of streams");
        }
        let mut backward: Vec<R> = stream.backward().filter_map(Result::ok).collect();
        backward.reverse();
        prop_assert_eq!(&backward, &found);
        if R::TIMES == Times::Nested {
            let mut nesting = Nesting::default();
            stream.backward().filter_map(Result::ok).for_each(|record| {
                nesting.enter(record);
            });
        }
    }
    Ok(())
}

fn is_subsequence<R: PartialEq>(found: &[R], all: &[R]) -> bool {
    let mut all = all.iter();
    found.iter().all(|record| all.any(|other| other == record))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn states_come_back(
        run in run(states(700)), block_bytes in block_bytes(), order: [u8; 32], range: [f64; 2],
    ) {
        let read = StreamFile::new(file(&run, block_bytes, &order)).unwrap();
        read_all(&read, &run)?;
        let end_ns = end_ns(&run) as f64;
        let [from, to] = range.map(|at| (at.abs().fract() * 1.1 * end_ns) as u64);
        read_overlapping(&read, &run, from..to)?;
    }

    #[test]
    fn nested_events_come_back(
        run in run(events(700)), block_bytes in block_bytes(), order: [u8; 32], range: [u64; 2],
    ) {
        let read = StreamFile::new(file(&run, block_bytes, &order)).unwrap();
        read_all(&read, &run)?;
        let [from, to] = range.map(|at| at % (end_ns(&run) + 3));
        read_overlapping(&read, &run, from..to)?;
    }

    #[test]
    fn backwards_each_operation_has_those_that_enclose_it(run in run(events(400))) {
        let read = StreamFile::new(file(&run, 300, &[0])).unwrap();
        for (location, records) in &run {
            let mut nesting = Nesting::default();
            for event in read.stream::<Event>(*location).backward() {
                let event = event.unwrap();
                let around = nesting.enter(event).to_vec();
                prop_assert_eq!(around.len(), usize::from(event.depth));
                for (depth, outer) in around.iter().enumerate() {
                    prop_assert_eq!(usize::from(outer.depth), depth);
                    prop_assert!(outer.begin_ns <= event.begin_ns && event.end_ns <= outer.end_ns);
                    prop_assert!(records.contains(outer));
                }
            }
        }
    }

    #[test]
    fn a_file_cut_at_any_byte_is_read_up_to_there(
        run in run(states(500)), block_bytes in block_bytes(), order: [u8; 8], cut: prop::sample::Index,
    ) {
        let mut bytes = file(&run, block_bytes, &order);
        let cut = cut.index(bytes.len());
        let whole = StreamFile::new(bytes.clone()).unwrap();
        bytes.truncate(cut);
        // All blocks that end before the cut are found.
        if let Ok(read) = StreamFile::new(bytes.clone()) {
            prop_assert!(read.notes().contains(&Note::Unfinished));
            for (location, _) in &run {
                let cut_at = cut as u64;
                let intact =
                    |block: &&crate::BlockEntry| block.offset + u64::from(block.length) <= cut_at;
                let stream = whole.stream::<State>(*location);
                let expected: Vec<_> = stream.blocks().iter().filter(intact).collect();
                let found: Vec<_> = read.stream::<State>(*location).blocks().iter().collect();
                prop_assert_eq!(found, expected);
            }
        }
        read_damaged(bytes, &run, true)?;
    }

    #[test]
    fn a_flipped_bit_costs_the_block_that_it_is_in(
        run in run(events(500)), block_bytes in block_bytes(), order: [u8; 8],
        at: prop::sample::Index, bit in 0u8..8,
    ) {
        let mut bytes = file(&run, block_bytes, &order);
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let read = StreamFile::new(bytes.clone()).unwrap();
        for (location, records) in &run {
            let stream = read.stream::<Event>(*location);
            let found = stream.forward().filter_map(Result::ok).count();
            for lost in stream.forward().filter_map(Result::err) {
                // The footer is intact, so the block's own place is known.
                prop_assert_eq!(&lost.fault, &Fault::Check);
                let block = stream.blocks().iter().find(|block| block.sequence == lost.sequence).unwrap();
                prop_assert!((block.offset..block.offset + u64::from(block.length)).contains(&(at as u64)));
                prop_assert_eq!(records.len() - found, usize::from(block.records));
            }
        }
        read_damaged(bytes, &run, false)?;
    }

    #[test]
    fn many_flipped_bits_and_no_footer(
        run in run(states(500)), block_bytes in 256usize..1024,
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0u8..8), 1..30), cut: bool,
    ) {
        let mut bytes = file(&run, block_bytes, &[3, 1, 4, 1, 5]);
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        if cut {
            bytes.truncate(bytes.len() - 8);
        }
        read_damaged(bytes, &run, false)?;
    }

    #[test]
    fn blocks_that_no_writer_wrote_are_read_or_refused(
        run in run(states(300)), block_bytes in 256usize..4096,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..12), cut: bool,
    ) {
        let mut bytes = file(&run, block_bytes, &[3, 1]);
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if cut {
            bytes.truncate(bytes.len() - 1);
        }
        crate::block::put_checks_right(&mut bytes);
        let Ok(read) = StreamFile::new(bytes) else { return Ok(()) };
        for location in read.locations::<State>() {
            let stream = read.stream::<State>(location);
            let forward: Vec<State> = stream.forward().flatten().collect();
            prop_assert!(forward.iter().map(|state| state.end_ns).is_sorted());
            prop_assert!(forward.iter().all(|state| state.begin_ns <= state.end_ns));
            let _ = (stream.backward().count(), stream.overlapping(5..900).count());
            let _ = crate::sums_by_scan::<State, _>(&read, &[location], 3..u64::MAX);
        }
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, seed: [u8; 8]) {
        if let Ok(file) = StreamFile::new(bytes.clone()) {
            prop_assert!(file.stream::<State>(crate::Location(0)).forward().next().is_none());
        }
        // Behind a proper header, too.
        let mut whole = file(&vec![(crate::Location(0), Vec::<State>::new())], 4096, &seed);
        whole.truncate(64);
        whole.extend(&bytes);
        let _ = StreamFile::new(whole);
    }
}

#[test]
fn a_file_without_records_is_known_by_its_footer_too() {
    let mut bytes = file(&vec![(Location(0), Vec::<State>::new())], 256, &[0]);
    bytes[0] ^= 1;
    assert_eq!(StreamFile::new(bytes).unwrap().notes(), &[Note::DamagedHeader]);
}

#[test]
fn a_lost_block_leaves_a_gap_with_its_times() {
    let states = |n: u64| -> Vec<State> {
        (0..n).map(|at| State { begin_ns: 10 * at, end_ns: 10 * at + 10, ..State::default() }).collect()
    };
    let run = vec![(crate::Location(7), states(30_000))];
    let mut bytes = file(&run, 256, &[0]);
    let whole = StreamFile::new(bytes.clone()).unwrap();
    let blocks = whole.stream::<State>(crate::Location(7)).blocks().to_vec();
    bytes[blocks[1].offset as usize + 60] ^= 1;
    let bytes_without_footer = bytes[..bytes.len() - 1].to_vec();
    let expected = |fault| Lost {
        kind: State::KIND,
        location: crate::Location(7),
        sequence: 1,
        blocks: 1,
        from_ns: if fault == Fault::Missing { blocks[0].last_end_ns } else { blocks[1].first_end_ns },
        to_ns: if fault == Fault::Missing { blocks[2].first_end_ns } else { blocks[1].last_end_ns },
        fault,
    };
    for (bytes, lost, forward) in [
        (bytes.clone(), expected(Fault::Check), true),
        (bytes, expected(Fault::Check), false),
        (bytes_without_footer.clone(), expected(Fault::Missing), true),
        (bytes_without_footer, expected(Fault::Missing), false),
    ] {
        let file = StreamFile::new(bytes).unwrap();
        let stream = file.stream::<State>(crate::Location(7));
        let records: Vec<_> = if forward { stream.forward().collect() } else { stream.backward().collect() };
        assert_eq!(
            records.iter().filter(|record| record.is_ok()).count(),
            30_000 - usize::from(blocks[1].records)
        );
        assert_eq!(
            records.into_iter().filter_map(Result::err).collect::<Vec<_>>(),
            std::slice::from_ref(&lost)
        );
        // Where it lies outside of what is asked for, it is not said.
        assert!(stream.overlapping(lost.to_ns + 1..u64::MAX).all(|record| record.is_ok()));
        assert!(stream.overlapping(0..lost.to_ns + 1).any(|record| record == Err(lost.clone())));
    }
}

#[test]
fn records_that_contradict_their_blocks_times_are_refused() {
    let states: Vec<State> =
        (0..400).map(|at| State { begin_ns: 10 * at, end_ns: 10 * at + 10, ..State::default() }).collect();
    // The times of all units follow from the block's earliest begin: 9 ns later, still before the first end.
    let mut bytes = file(&vec![(crate::Location(0), states)], 4096, &[0]);
    let begin = (64..).step_by(64).find(|&at| bytes[at..].starts_with(b"PSB")).unwrap() + 24;
    bytes[begin] = 9;
    crate::block::put_checks_right(&mut bytes);
    bytes.pop();
    let read = StreamFile::new(bytes).unwrap();
    let stream = read.stream::<State>(crate::Location(0));
    let records: Vec<_> = stream.forward().collect();
    assert!(matches!(&records[..], [Err(lost)] if lost.fault == Fault::Contradiction));
}
