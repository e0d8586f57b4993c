//! Calls of MPI, divided where their partners arrived.

use proptest::prelude::*;
use proust_profile::WaitPattern;

use super::*;

const PARTNER: State = State::Polling(Wait::MpiPartner);
const TRANSFER: State = State::Working(Work::MpiTransfer);

fn wait(begin_ns: u64, until_ns: u64) -> PartnerWaitRow {
    PartnerWaitRow {
        location: LocationId(0),
        context: ContextId(1),
        operation: event(Operation::MPI_Recv, 0, 0).operation,
        begin_ns,
        until_ns,
        pattern: WaitPattern::LateSender,
        late: LocationId(0),
        late_context: ContextId(1),
        misordered_ns: 0,
        bytes: 0,
    }
}

#[test]
fn until_the_partner_arrives_a_call_waits() {
    let calls = [event(Operation::MPI_Recv, 10, 90), event(Operation::MPI_Recv, 100, 120)];
    let spans = spans_with_waits(&location(130, 0), &[row(130, 30)], &calls, &[wait(10 * MS, 60 * MS)]);
    let of = |state| -> u64 { spans.iter().filter(|span| span.state == state).map(Span::length_ns).sum() };
    assert_eq!((of(PARTNER), of(TRANSFER)), (50 * MS, 50 * MS));
    assert_eq!(spans.iter().find(|span| span.state == PARTNER).map(|span| span.end_ns), Some(60 * MS));
}

proptest! {
    /// Waiting and transfer are the time in calls of MPI: nothing is both, and nothing is left out.
    #[test]
    fn waiting_and_transfer_close(
        calls in proptest::collection::vec((0..5_u64, 0..30_u64, 0..=100_u64), 1..12),
        cpu_ms in 0..200_u64,
    ) {
        let (mut events, mut waits, mut at_ms) = (Vec::new(), Vec::new(), 0);
        for (gap_ms, length_ms, percent) in calls {
            let (begin_ms, end_ms) = (at_ms + gap_ms, at_ms + gap_ms + length_ms);
            events.push(event(Operation::MPI_Recv, begin_ms, end_ms));
            let until_ns = begin_ms * MS + length_ms * MS * percent / 100;
            if until_ns > begin_ms * MS {
                waits.push(wait(begin_ms * MS, until_ns));
            }
            at_ms = end_ms;
        }
        let end_ms = at_ms + 10;
        let rows = [row(end_ms, cpu_ms.min(end_ms))];
        let spans = spans_with_waits(&location(end_ms, 0), &rows, &events, &waits);
        let of = |wanted: State| -> u64 {
            spans.iter().filter(|span| span.state == wanted).map(Span::length_ns).sum()
        };
        let in_calls: u64 = events.iter().map(|event| event.time_ns).sum();
        let waited: u64 = waits.iter().map(|wait| wait.length_ns()).sum();
        prop_assert_eq!(of(PARTNER), waited);
        prop_assert_eq!(of(PARTNER) + of(TRANSFER), in_calls);
    }
}
