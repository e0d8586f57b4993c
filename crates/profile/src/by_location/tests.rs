//! Rows of every kind come back from what they are stored as.

use proptest::prelude::*;

use proust_streams::Budget;

use super::*;
use crate::{EventRow, Events, EventsBuilder, ReleaseRow, SampleRow, StayRow, Target};

fn event() -> impl Strategy<Value = EventRow> {
    let times = (0u64..1000, 0u64..300, 0u64..300);
    let what = (0u32..4, 0u32..9, 0u32..5, 0u32..7, any::<u64>(), any::<u64>());
    let amounts = (any::<u32>(), any::<u32>(), any::<u64>(), any::<Option<u64>>());
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    (times, what, amounts, flags).prop_map(|(times, what, amounts, flags)| {
        let (begin_ns, length_ns, less_ns) = times;
        EventRow {
            location: LocationId(what.0),
            context: ContextId(what.1),
            operation: OperationId(what.2),
            target: Target::from_number(what.3).unwrap(),
            begin_ns,
            end_ns: begin_ns + length_ns,
            time_ns: if flags.0 { length_ns.saturating_sub(less_ns) } else { length_ns },
            calls: amounts.0,
            errors: amounts.1,
            bytes: amounts.2,
            cpu_clock_ns: amounts.3.map(|clock_ns| clock_ns >> 1),
            object: what.4,
            object2: what.5,
            summed: flags.0,
            left: flags.1,
            open: flags.2,
        }
    })
}

fn sample() -> impl Strategy<Value = SampleRow> {
    let what = (0u32..4, 0u32..9, 0u64..1300, any::<u16>());
    let amounts = (any::<[u64; 4]>(), any::<[u32; 4]>(), prop_oneof![Just(u32::MAX), any::<u32>()]);
    (what, amounts, any::<[bool; 5]>()).prop_map(|(what, amounts, flags)| SampleRow {
        location: LocationId(what.0),
        context: ContextId(what.1),
        time_ns: what.2,
        cpu_ns: amounts.0[0],
        user_ns: amounts.0[1],
        system_ns: amounts.0[2],
        measurement_ns: amounts.0[3],
        minor_faults: amounts.1[0],
        major_faults: amounts.1[1],
        voluntary_switches: amounts.1[2],
        involuntary_switches: amounts.1[3],
        queued_us: amounts.2,
        processor: what.3,
        tail: flags[0],
        partial: flags[1],
        in_operation: flags[2],
        is_busy_wait: flags[3],
        is_atomic: flags[4],
    })
}

fn release() -> impl Strategy<Value = ReleaseRow> {
    let what = (0u32..4, 0u32..9, any::<Option<u32>>(), 0u32..5, 0u64..1300);
    let site = |site: u32| ContextId(site % 9);
    (what, any::<[u64; 3]>(), any::<Option<u64>>()).prop_map(move |(what, numbers, since_ns)| ReleaseRow {
        location: LocationId(what.0),
        context: ContextId(what.1),
        site: what.2.map(site),
        operation: OperationId(what.3),
        time_ns: what.4,
        object: numbers[0],
        held_ns: numbers[1],
        weight_ns: numbers[2],
        since_ns: since_ns.map(|since_ns| since_ns % (what.4 + 1)),
    })
}

fn stay() -> impl Strategy<Value = StayRow> {
    let times = (0u64..1300, 0u64..300, 0u64..300);
    (0u32..4, 0u32..9, times, any::<[u32; 2]>()).prop_map(|(location, region, times, team)| StayRow {
        location: LocationId(location),
        region: RegionId(region),
        fork_ns: times.0.saturating_sub(times.1),
        begin_ns: times.0,
        end_ns: times.0 + times.2,
        number: team[0],
        team: team[1],
    })
}

fn bytes<R: Row>(rows: &ByLocation<R>) -> Vec<u8> {
    let mut bytes = Vec::new();
    rows.write_to(&mut bytes).unwrap();
    bytes
}

/// Those of all locations and of one, in both directions and in a range of time, and what is read from the
/// bytes, are the rows themselves, as are those in a spool without memory.
fn come_back<R: Row>(mut rows: Vec<R>, asked: (u32, u64, u64)) -> Result<(), TestCaseError> {
    let all = ByLocation::from(rows.clone());
    let end_ns = |row: &R| row.record().end_ns();
    rows.sort_by_key(|row| (row.location(), end_ns(row)));
    prop_assert_eq!(all.len(), rows.len());
    prop_assert!(all.iter().eq(rows.iter().copied()));
    let (location, after_ns) = (LocationId(asked.0), asked.1);
    let of = || rows.iter().copied().filter(move |row| row.location() == location);
    prop_assert!(all.of(location).eq(of()));
    prop_assert!(all.of_backward(location).eq(of().rev()));
    let after = of().filter(|row| end_ns(row) > after_ns);
    prop_assert!(all.ending_after(location, after_ns).eq(after));
    let begun = of().filter(|row| row.record().begin_ns() <= after_ns);
    prop_assert!(all.begun_backward(location, after_ns).eq(begun.rev()));
    let range_ns = after_ns..after_ns + asked.2;
    let overlap = of().filter(|row| {
        let (begin_ns, end_ns) = (row.record().begin_ns(), end_ns(row));
        begin_ns < range_ns.end && (end_ns > range_ns.start || begin_ns >= range_ns.start)
    });
    prop_assert!(all.overlapping(location, range_ns.clone()).eq(overlap));
    let wide_ns = all.read_together(location, range_ns.clone(), usize::MAX).unwrap();
    prop_assert!(wide_ns.start <= range_ns.start && range_ns.end <= wide_ns.end);
    prop_assert_eq!(all.count_of(location), of().count());
    prop_assert_eq!(all.of(location).size_hint().0, of().count());
    let read = ByLocation::read(bytes(&all).into());
    prop_assert_eq!(read.as_ref(), Ok(&all));
    let folder = tempfile::tempdir().unwrap();
    let mut spooled = RowsBuilder::new(&Spool::new(folder.path(), Budget::new(0)));
    rows.iter().for_each(|row| spooled.push(row).unwrap());
    prop_assert_eq!(spooled.finish(), all);
    Ok(())
}

/// With one bit changed, they are refused.
fn changed_is_refused<R: Row>(
    rows: Vec<R>,
    place: prop::sample::Index,
    bit: u32,
) -> Result<(), TestCaseError> {
    let all = ByLocation::from(rows);
    let mut bytes = bytes(&all);
    let at = place.index(bytes.len());
    bytes[at] ^= 1 << bit;
    // What lies between blocks has no meaning.
    if let Ok(read) = ByLocation::<R>::read(bytes.into()) {
        prop_assert_eq!(read, all);
    }
    Ok(())
}

proptest! {
    #[test]
    fn events_come_back(
        rows in prop::collection::vec(event(), 0..400),
        asked in (0u32..5, 0u64..1400, 0u64..300),
    ) {
        come_back(rows, asked)?;
    }

    #[test]
    fn samples_come_back(
        rows in prop::collection::vec(sample(), 0..400),
        asked in (0u32..5, 0u64..1400, 0u64..300),
    ) {
        come_back(rows, asked)?;
    }

    #[test]
    fn releases_come_back(
        rows in prop::collection::vec(release(), 0..400),
        asked in (0u32..5, 0u64..1400, 0u64..300),
    ) {
        come_back(rows, asked)?;
    }

    #[test]
    fn stays_come_back(
        rows in prop::collection::vec(stay(), 0..400),
        asked in (0u32..5, 0u64..1400, 0u64..300),
    ) {
        come_back(rows, asked)?;
    }

    #[test]
    fn events_that_were_changed_are_refused(
        rows in prop::collection::vec(event(), 1..200),
        place in any::<prop::sample::Index>(),
        bit in 0u32..8,
    ) {
        changed_is_refused(rows, place, bit)?;
    }

    #[test]
    fn samples_that_were_changed_are_refused(
        rows in prop::collection::vec(sample(), 1..200),
        place in any::<prop::sample::Index>(),
        bit in 0u32..8,
    ) {
        changed_is_refused(rows, place, bit)?;
    }

    #[test]
    fn releases_that_were_changed_are_refused(
        rows in prop::collection::vec(release(), 1..200),
        place in any::<prop::sample::Index>(),
        bit in 0u32..8,
    ) {
        changed_is_refused(rows, place, bit)?;
    }

    #[test]
    fn stays_that_were_changed_are_refused(
        rows in prop::collection::vec(stay(), 1..200),
        place in any::<prop::sample::Index>(),
        bit in 0u32..8,
    ) {
        changed_is_refused(rows, place, bit)?;
    }
}

#[test]
fn rows_out_of_order_are_left_out() {
    let row = |begin_ns, end_ns| EventRow { begin_ns, end_ns, ..EventRow::default() };
    let mut builder = EventsBuilder::default();
    assert_eq!(builder.push(&row(5, 9)), Ok(()));
    assert!(matches!(builder.push(&row(5, 8)), Err(NotOrdered::Earlier { .. })));
    assert!(matches!(builder.push(&row(20, 11)), Err(NotOrdered::Backwards { .. })));
    assert_eq!(builder.push(&row(6, 9)), Ok(()));
    assert_eq!(builder.finish(), Events::from(vec![row(5, 9), row(6, 9)]));
}

#[test]
fn of_none_there_is_a_file_too() {
    assert_eq!(Events::read(bytes(&Events::default()).into()), Ok(Events::default()));
}
