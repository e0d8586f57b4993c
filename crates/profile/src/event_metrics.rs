//! What operations are, and what they add to the metrics.

use crate::{EventRow, IndexVec, Metric, Nature, OperationId, OperationKind, Profile};

/// What operations count into, in the order of their numbers.
pub const EVENT_METRICS: [Metric; 7] = [
    Metric::Waits,
    Metric::IoCalls,
    Metric::IoErrors,
    Metric::ReadBytes,
    Metric::WrittenBytes,
    Metric::WaitSquares,
    Metric::IoSquares,
];

/// What the operations of a profile are, by [`OperationId`].
#[derive(Clone, Debug, Default)]
pub struct Operations(IndexVec<OperationId, Option<OperationKind>>);

impl Operations {
    /// Those of a profile.
    pub fn of(profile: &Profile) -> Operations {
        Operations(profile.operations.iter().map(|info| info.kind).collect())
    }

    /// What the operation with this number in the profile is, if that is known.
    pub fn get(&self, id: OperationId) -> Option<OperationKind> {
        self.0.get(id).copied().flatten()
    }

    /// Whether any of them is so: only those that occur in a profile are among its operations.
    pub fn any(&self, is_so: impl Fn(OperationKind) -> bool) -> bool {
        self.0.iter().flatten().any(|kind| is_so(*kind))
    }

    /// What a thread does in the operation with this number.
    pub fn nature(&self, id: OperationId) -> Option<Nature> {
        self.get(id).map(|kind| kind.nature)
    }
}

/// What an event of this nature adds to each of [`EVENT_METRICS`]; to squares in square microseconds.
#[inline]
pub fn amounts_of_event(nature: Option<Nature>, event: &EventRow) -> [u64; EVENT_METRICS.len()] {
    let calls = u64::from(event.calls);
    let time_us = event.time_ns / 1000;
    let squares = if event.summed { time_us.saturating_mul(time_us) } else { 0 };
    if !nature.is_some_and(Nature::is_io) {
        return [calls, 0, 0, 0, 0, squares, 0];
    }
    let bytes = |counts: bool| if counts { event.bytes } else { 0 };
    [
        0,
        calls,
        event.errors.into(),
        bytes(matches!(nature, Some(Nature::Read | Nature::Transfer))),
        bytes(matches!(nature, Some(Nature::Write | Nature::Transfer))),
        0,
        squares,
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_counted_and_of_io_also_errors_and_bytes() {
        let event = EventRow { calls: 3, errors: 1, bytes: 100, ..EventRow::default() };
        let of = |nature| amounts_of_event(Some(nature), &event);
        assert_eq!(of(Nature::Lock), [3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of(Nature::Spin), [3, 0, 0, 0, 0, 0, 0]);
        assert_eq!(of(Nature::Read), [0, 3, 1, 100, 0, 0, 0]);
        assert_eq!(of(Nature::Write), [0, 3, 1, 0, 100, 0, 0]);
        assert_eq!(of(Nature::Transfer), [0, 3, 1, 100, 100, 0, 0]);
        assert_eq!(of(Nature::Manage), [0, 3, 1, 0, 0, 0, 0]);
        assert_eq!(amounts_of_event(None, &event)[0], 3);
        let sum = EventRow { summed: true, time_ns: 2_000_000, ..event };
        assert_eq!(amounts_of_event(Some(Nature::Lock), &sum)[5..], [4_000_000, 0]);
        assert_eq!(amounts_of_event(Some(Nature::Read), &sum)[5..], [0, 4_000_000]);
    }
}
