//! Messages between ranks by their size.
//!
//! Classes reach from a power of eight to below the next; messages of no bytes are one of their own. Messages
//! are counted at the call that started them, sends and receives apart, once they are complete; so the sums
//! are those of the metrics `mpi_sends`, `mpi_receives` and their bytes. Of a call that started several in
//! one direction (`MPI_Startall`) each counts as their mean. Its time is divided among its messages; that of
//! calls without any, as `MPI_Wait`, stands in a class of its own, so that all of it sums to the time in
//! calls for messages. A wait is that for the message of the class, whatever call it was in.

use proust_profile::{EventRow, Nature, TransferRow};
use rustc_hash::FxHashMap as Map;

use super::{is_of_messages, kind, waits_in_scope};
use crate::selection::Selection;

/// The messages of a size.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SizeSum {
    /// The least bytes, and the least of the next class; None = calls without a message.
    pub bytes: Option<(u64, u64)>,
    /// Sent ones.
    pub sends: u64,
    /// Received ones.
    pub receives: u64,
    /// Bytes of those that were sent.
    pub sent_bytes: u64,
    /// Bytes of those that were received.
    pub received_bytes: u64,
    /// Time in the calls that started them, ns.
    pub time_ns: f64,
    /// Time that was waited for one, by sender or receiver, ns.
    pub waited_ns: u64,
}

/// From a power of eight to the next.
fn class(bytes: u64) -> (u64, u64) {
    match bytes.checked_ilog2() {
        None => (0, 1),
        Some(log) => {
            let least = 1 << (log - log % 3);
            (least, least.saturating_mul(8))
        }
    }
}

/// In scope: the smallest first, calls without a message last. Empty without any.
pub fn sizes(selection: &Selection<'_>) -> Vec<SizeSum> {
    let (profile, scope) = (selection.profile(), selection.scope());
    let mut sums: Map<Option<(u64, u64)>, SizeSum> = Map::default();
    let mut add = |bytes: Option<u64>, add: &dyn Fn(&mut SizeSum)| {
        let bytes = bytes.map(class);
        add(sums.entry(bytes).or_insert(SizeSum { bytes, ..SizeSum::default() }));
    };
    let mut transfers = profile.transfers.iter().peekable();
    // Those that ended with the last call.
    let mut at_end: Vec<TransferRow> = Vec::new();
    let key = |event: &EventRow| (event.location, event.end_ns, event.begin_ns);
    for event in profile.events.iter() {
        let event = &event;
        let kind = kind(profile, event.operation).filter(|kind| kind.is_of_mpi());
        if kind.is_none_or(|kind| kind.nature != Nature::Message) || !scope.has_event(event) {
            continue;
        }
        // Both are by location and end.
        let end = |row: &TransferRow| (row.location, row.end_ns);
        let ended = (event.location, event.end_ns);
        if at_end.first().is_none_or(|row| end(row) != ended) {
            at_end.clear();
            while transfers.next_if(|row| end(row) < ended).is_some() {}
            at_end.extend(std::iter::from_fn(|| transfers.next_if(|row| end(row) == ended)));
        }
        let is_it = |row: &&TransferRow| {
            !event.summed && key(&row.as_event()) == key(event) && row.operation == event.operation
        };
        // One that only starts prepared collectives has no message either.
        let has_message = |row: &&TransferRow| is_it(row) && row.sends + row.receives > 0;
        let Some(row) = at_end.iter().find(has_message) else {
            add(None, &|sum| sum.time_ns += event.time_ns as f64);
            continue;
        };
        let (sends, receives) = (u64::from(row.sends), u64::from(row.receives));
        let for_each_ns = event.time_ns as f64 / (sends + receives).max(1) as f64;
        if let Some(mean_bytes) = row.sent_bytes.checked_div(sends) {
            add(Some(mean_bytes), &|sum| {
                sum.sends += sends;
                sum.sent_bytes = sum.sent_bytes.saturating_add(row.sent_bytes);
                sum.time_ns += for_each_ns * sends as f64;
            });
        }
        if let Some(mean_bytes) = row.received_bytes.checked_div(receives) {
            add(Some(mean_bytes), &|sum| {
                sum.receives += receives;
                sum.received_bytes = sum.received_bytes.saturating_add(row.received_bytes);
                sum.time_ns += for_each_ns * receives as f64;
            });
        }
    }
    for wait in waits_in_scope(selection).filter(|wait| is_of_messages(wait.pattern)) {
        add(Some(wait.bytes), &|sum| sum.waited_ns += wait.length_ns());
    }
    let mut sums: Vec<SizeSum> = sums.into_values().collect();
    sums.sort_unstable_by_key(|sum| (sum.bytes.is_none(), sum.bytes));
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_reach_from_a_power_of_eight_to_the_next() {
        assert_eq!(class(0), (0, 1));
        assert_eq!((class(1), class(7)), ((1, 8), (1, 8)));
        assert_eq!((class(8), class(63), class(64)), ((8, 64), (8, 64), (64, 512)));
        assert_eq!(class(4096), (4096, 32768));
        assert_eq!(class(u64::MAX), (1 << 63, u64::MAX));
    }
}
