//! What was written comes back, within any range; sums are those of the spans; and the ledger of what was
//! stored is the ledger.

use proptest::prelude::*;

use super::*;
use crate::ledger::tests::laws::{run, windows};
use crate::ledger::{Ledger, Processors, Windows};

/// All states that a span may be in.
fn states() -> impl Iterator<Item = State> {
    let works = Work::ALL.into_iter().map(State::Working);
    let waits = WAITS.into_iter().flat_map(|wait| [State::Waiting(wait), State::Polling(wait)]);
    works.chain(waits).chain(PassiveReason::ALL.into_iter().map(State::Passive))
}

#[test]
fn every_state_has_a_number_of_its_own() {
    let mut met = rustc_hash::FxHashSet::default();
    for state in states() {
        assert!(met.insert(number(state)), "{state:?}");
        assert!(!PART_ACCOUNTS.contains(&number(state)), "{state:?}");
        assert_eq!(state_of(number(state)), Some(state));
    }
    let known = (0..=u8::MAX).filter(|&number| state_of(number).is_some()).count();
    assert_eq!(known, met.len() + PART_ACCOUNTS.len());
    for (kind, part) in PartKind::ALL.into_iter().zip(PART_ACCOUNTS) {
        assert_eq!(state_of(part), Some(State::Working(kind.work())));
    }
}

/// The same run, its spans read from what was stored of those that overlap a range.
fn read<'s>(run: &Run, stored: &'s StoredTimelines, range_ns: &Range<u64>) -> Run<StoredSpans<'s>> {
    let timelines = run.timelines.iter().map(|timeline| Timeline {
        location: timeline.location,
        process: timeline.process,
        service: timeline.service,
        spans: stored.spans(timeline.location, range_ns.clone()),
    });
    Run {
        processes: run.processes.clone(),
        timelines: timelines.collect(),
        processor_sets: run.processor_sets.clone(),
        bound: run.bound.clone(),
    }
}

/// As written: parts of passive spans do not count.
fn as_it_counts(span: &Span) -> Span {
    match span.state {
        State::Passive(_) => Span { parts: Default::default(), ..*span },
        _ => *span,
    }
}

/// The time of spans in a range, by state and context, a nanosecond more or less where a span is cut.
fn naive(spans: &[Span], range_ns: &Range<u64>) -> BTreeMap<(u8, ContextId), f64> {
    let mut sums = BTreeMap::new();
    for span in spans.iter().map(as_it_counts) {
        let within_ns = span.end_ns.min(range_ns.end).saturating_sub(span.start_ns.max(range_ns.start));
        if within_ns > 0 {
            let share = within_ns as f64 / span.length_ns() as f64;
            let mut add = |state, ns: u64| {
                *sums.entry((number(state), span.context)).or_default() += ns as f64 * share;
            };
            span.parts.iter().for_each(|(kind, ns)| add(State::Working(kind.work()), ns));
            add(span.state, span.length_ns() - span.parts.sum_ns());
        }
    }
    sums
}

/// Writes the timelines of a run as streams.
fn write_run(run: &Run, to: impl Write) -> io::Result<()> {
    let mut blocks = BlockWriter::new(to)?;
    for timeline in &run.timelines {
        write_spans(timeline.location, &mut timeline.spans.iter().copied(), &mut blocks)?;
    }
    blocks.finish().map(|_| ())
}

fn in_memory(run: &Run) -> StoredTimelines {
    StoredTimelines::in_memory(|bytes| write_run(run, bytes))
}

/// Streams and levels on disk.
fn on_disk(run: &Run) -> StoredTimelines {
    let (mut streams, levels) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    write_run(run, &mut streams).unwrap();
    write_levels(streams.try_clone().unwrap(), &levels).unwrap();
    StoredTimelines::open(streams, Some(levels)).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_comes_back(run in run(), range in (0u64..2500, 0u64..2500)) {
        let range_ns = range.0.min(range.1)..range.0.max(range.1);
        let stored = in_memory(&run);
        for timeline in &run.timelines {
            let whole: Vec<Span> = timeline.spans.iter().map(as_it_counts).collect();
            let read: Vec<Span> = stored.spans(timeline.location, 0..u64::MAX).spans().collect();
            prop_assert_eq!(&read, &whole);
            let within: Vec<Span> = stored.spans(timeline.location, range_ns.clone()).spans().collect();
            let overlaps = |span: &&Span| span.start_ns < range_ns.end && span.end_ns > range_ns.start;
            let expected: Vec<Span> = whole.iter().filter(overlaps).copied().collect();
            prop_assert_eq!(within, expected);
        }
        prop_assert!(!stored.is_damaged());
    }

    #[test]
    fn the_ledger_of_what_was_stored_is_the_ledger(run in run(), windows in windows()) {
        let stored = on_disk(&run);
        let all = Windows::all();
        let processors = Processors::measured(&run, &all).unwrap();
        let read_again = read(&run, &stored, &(0..u64::MAX));
        prop_assert_eq!(&Processors::measured(&read_again, &all).unwrap(), &processors);
        let ledger = Ledger::of(&run, &processors, &all).unwrap();
        prop_assert_eq!(&Ledger::of(&read_again, &processors, &all).unwrap(), &ledger);
        prop_assert_eq!(&ledger.drawn_up_with(), &processors);

        let within = read(&run, &stored, &windows.span_ns());
        let expected = Ledger::of(&run, &processors, &windows).unwrap();
        prop_assert_eq!(Ledger::of(&within, &processors, &windows).unwrap(), expected);
        prop_assert!(!stored.is_damaged());
    }

    #[test]
    fn bins_are_sums_of_spans(run in run(), begin_ns in 0u64..2500, width_ns in 1u64..700) {
        let place = BinsIn { begin_ns, width_ns, count: 5 };
        let stored = [in_memory(&run), on_disk(&run)];
        let whole = |state: State, context: ContextId| Some((number(state), context));
        for timeline in &run.timelines {
            let [scanned, found] = stored.each_ref().map(|one| one.bins(timeline.location, place, whole));
            prop_assert_eq!(&scanned, &found);
            let mut from_ns = begin_ns;
            for bin in &found {
                let naive = naive(&timeline.spans, &(from_ns..from_ns + width_ns));
                let all: u128 = bin.values().sum();
                let exact: u64 = timeline
                    .spans
                    .iter()
                    .map(|s| s.end_ns.min(from_ns + width_ns).saturating_sub(s.start_ns.max(from_ns)))
                    .sum();
                prop_assert_eq!(all, u128::from(exact));
                // Each span that the bin cuts rounds each of its parts.
                for (key, ns) in &naive {
                    let found_ns = bin.get(key).copied().unwrap_or(0) as f64;
                    prop_assert!((found_ns - ns).abs() < 10.0, "{:?}: {} of {}", key, found_ns, ns);
                }
                from_ns += width_ns;
            }
        }
    }

    #[test]
    fn any_damage_is_noticed_or_does_no_harm(run in run(), at: prop::sample::Index, bit in 0u8..8) {
        let mut bytes = Vec::new();
        write_run(&run, &mut bytes).unwrap();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        if let Ok(stored) = StoredTimelines::open(file, None) {
            let mut is_whole = true;
            for timeline in &run.timelines {
                let read: Vec<Span> = stored.spans(timeline.location, 0..u64::MAX).spans().collect();
                is_whole &= read == timeline.spans.iter().map(as_it_counts).collect::<Vec<_>>();
            }
            prop_assert!(is_whole || stored.is_damaged(), "spans are gone and nobody says so");
        }
    }
}

#[test]
fn a_process_that_wrote_nothing_has_no_spans() {
    let stored = in_memory(&Run {
        processes: vec![],
        timelines: vec![],
        processor_sets: vec![],
        bound: Default::default(),
    });
    assert_eq!(stored.spans(LocationId(7), 0..u64::MAX).spans().count(), 0);
    let place = BinsIn { begin_ns: 0, width_ns: 10, count: 3 };
    let bins = stored.bins(LocationId(7), place, |state, _| Some(number(state)));
    assert!(bins.iter().all(BTreeMap::is_empty));
}
