//! Laws for all rows and operations.

use proptest::prelude::*;

use super::*;
use crate::accounted::ledger;
use crate::ledger::PartKind;

const END_MS: u64 = 400;

/// Rows with any clocks, sorted by time as a profile has them.
fn rows() -> impl Strategy<Value = Vec<SampleRow>> {
    let row = (0..END_MS + 50, 0..60_u64, 0..5_u32, any::<[bool; 4]>(), 0..3_u64);
    proptest::collection::vec(row, 0..20).prop_map(|rows| {
        let mut rows: Vec<SampleRow> = rows
            .into_iter()
            .map(|(time_ms, cpu_ms, context, flags, own_ms)| SampleRow {
                context,
                in_operation: flags[0],
                voluntary_switches: u32::from(flags[1]),
                involuntary_switches: u32::from(flags[3]),
                minor_faults: if flags[2] { 3000 } else { 0 },
                system_ns: cpu_ms * MS / 2,
                measurement_ns: own_ms.min(cpu_ms) * MS,
                ..row_of(time_ms, cpu_ms)
            })
            .collect();
        rows.sort_by_key(|row| row.time_ns);
        rows
    })
}

fn row_of(time_ms: u64, cpu_ms: u64) -> SampleRow {
    // Not all in whole milliseconds.
    SampleRow { time_ns: time_ms * MS + time_ms % 7, cpu_ns: cpu_ms * MS, ..SampleRow::default() }
}

/// Operations as the profile allows them: overlapping, outside, with clocks that contradict everything.
fn events() -> impl Strategy<Value = Vec<EventRow>> {
    let any_event = (
        0..OPERATIONS.len(),
        0..Target::ALL.len(),
        0..END_MS + 50,
        0..60_u64,
        proptest::option::of(0..END_MS),
        any::<bool>(),
        1..5_u32,
    );
    proptest::collection::vec(any_event, 0..25).prop_map(|events| {
        let mut events: Vec<EventRow> = events
            .into_iter()
            .map(|(operation, target, begin_ms, length_ms, clock_ms, summed, calls)| {
                let whole = event(OPERATIONS[operation], begin_ms, begin_ms + length_ms);
                EventRow {
                    target: Target::ALL[target],
                    cpu_clock_ns: clock_ms.filter(|_| !summed).map(|ms| ms * MS),
                    time_ns: if summed { whole.time_ns / u64::from(calls) } else { whole.time_ns },
                    calls,
                    summed,
                    ..whole
                }
            })
            .collect();
        events.sort_by_key(|event| event.end_ns);
        events
    })
}

proptest! {

    #[test]
    fn spans_tile_a_location_and_the_ledger_closes(
        rows in rows(), events in events(), queued_ms in 0..200_u64
    ) {
        let location = location(END_MS, queued_ms);
        let profile = profile(vec![location.clone()], rows, events);
        prop_assert_eq!(profile.check(), Ok(()));
        let run = timelines(&profile);
        let spans = &run.timelines[0].spans;
        assert_tiled(&location, spans);

        let ledger = ledger(&profile).unwrap();
        prop_assert_eq!(ledger.residual_ns(), 0);
        // By hand: each account of the location has what the spans say, the parts first.
        let mut by_hand = std::collections::BTreeMap::new();
        let mut add = |account: Account, ns: u64| *by_hand.entry(account.id()).or_insert(0_u64) += ns;
        for span in spans {
            let in_parts: u64 = span.parts.sum_ns();
            let own = match span.state {
                State::Passive(_) => continue,
                State::Working(work) => work.account(),
                State::Waiting(wait) | State::Polling(wait) => wait.account(),
            };
            add(own, span.length_ns() - in_parts);
            for (kind, ns) in span.parts.iter() {
                add(kind.work().account(), ns);
            }
        }
        let one = &ledger.locations[0];
        let mut drawn = std::collections::BTreeMap::new();
        for (account, ns) in one.accounts.iter().filter(|(_, ns)| *ns > 0) {
            // One thread alone cannot be crowded out by others, but by its own run it can: both are delay.
            let id = if account == Account::Oversubscribed { Account::Preempted.id() } else { account.id() };
            *drawn.entry(id).or_insert(0_u64) += ns;
        }
        by_hand.retain(|_, ns| *ns > 0);
        prop_assert_eq!(drawn, by_hand);
    }

    #[test]
    fn processor_time_is_active_time(rows in rows(), events in events()) {
        // With room for all of it nothing that the CPU clock counted is passive, and nothing else is active
        // but waits, and I/O that needs no processor.
        let location = location(END_MS, 0);
        let spans = spans_within(&location, &rows, &events);
        let cpu_ns: u64 = rows.iter().map(|row| row.cpu_ns).sum();
        let active = spans.iter().filter(|span| !matches!(span.state, State::Passive(_)));
        let active_ns: u64 = active.map(Span::length_ns).sum();
        prop_assert!(active_ns >= cpu_ns.min(END_MS * MS), "{} of {}", active_ns, cpu_ns);
        let computing = spans.iter().filter(|span| span.state == COMPUTE);
        let computed_ns: u64 =
            computing.map(|span| span.length_ns() - span.parts.get(PartKind::Delayed)).sum();
        prop_assert!(computed_ns <= cpu_ns, "{} of {}", computed_ns, cpu_ns);
    }
}
