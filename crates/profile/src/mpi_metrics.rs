//! What calls of MPI add to the metrics.
//!
//! Time: `mpi_s` is all time in calls, `mpi_wait_s` the part before partners arrived, `mpi_work_s` the rest;
//! the beginning and the end of MPI are in neither of the two. Messages are counted at the call that started
//! them, sends and receives apart, once they are complete, with the bytes that they really had. Prepared
//! collectives are counted at each call that starts them.

use crate::event_metrics::Operations;
use crate::{
    ContextId, Detail, EventRow, Family, LocationId, Metric, Nature, OperationKind, PartnerWaitRow, Profile,
    TransferRow, seek,
};

/// The metrics that calls of MPI add to.
pub const MPI_METRICS: [Metric; 10] = [
    Metric::Mpi,
    Metric::MpiWork,
    Metric::MpiWait,
    Metric::MpiSends,
    Metric::MpiReceives,
    Metric::MpiSentBytes,
    Metric::MpiReceivedBytes,
    Metric::MpiCollectives,
    Metric::MpiCollectiveBytes,
    Metric::MpiOtherCalls,
];

/// The waits for partners that calls begin with. Fast where calls follow each other nearly in the order of
/// their locations and begins, as events do.
pub struct Waits<'p> {
    rows: &'p [PartnerWaitRow],
    last: usize,
}

impl<'p> Waits<'p> {
    /// Those of a profile.
    pub fn of(rows: &'p [PartnerWaitRow]) -> Waits<'p> {
        Waits { rows, last: 0 }
    }

    /// The wait that this call began with.
    pub fn find(&mut self, event: &EventRow) -> Option<&'p PartnerWaitRow> {
        let key = |wait: &PartnerWaitRow| (wait.location, wait.begin_ns);
        self.last = seek(self.rows, self.last, |wait| key(wait) < (event.location, event.begin_ns));
        let of_begin = |wait: &&PartnerWaitRow| key(wait) == (event.location, event.begin_ns);
        let mut same = self.rows[self.last..].iter().take_while(of_begin);
        same.find(|wait| (wait.context, wait.operation) == (event.context, event.operation))
            .filter(|wait| wait.until_ns <= event.end_ns)
    }
}

/// What a call adds by itself, without what it started: time, work, wait, collectives, their bytes, other
/// calls.
fn amounts_of_call(kind: OperationKind, event: &EventRow, waited_ns: u64) -> [(Metric, u64); 6] {
    let is_runtime = kind.nature == Nature::Runtime;
    let waited_ns = waited_ns.min(event.time_ns);
    let work_ns = if is_runtime { 0 } else { event.time_ns - waited_ns };
    let calls = u64::from(event.calls);
    let is_exchange = kind.detail == Detail::Exchange;
    let is_message = matches!(kind.detail, Detail::Send | Detail::Receive | Detail::SendReceive);
    [
        (Metric::Mpi, event.time_ns),
        (Metric::MpiWork, work_ns),
        (Metric::MpiWait, if is_runtime { 0 } else { waited_ns }),
        (Metric::MpiCollectives, if is_exchange { calls } else { 0 }),
        (Metric::MpiCollectiveBytes, if is_exchange { event.bytes } else { 0 }),
        (Metric::MpiOtherCalls, if is_exchange || is_message { 0 } else { calls }),
    ]
}

/// Calls `add` with all that calls of MPI add to the metrics, as far as `has` says that a call is wanted.
pub fn each_amount(
    profile: &Profile,
    has: impl Fn(&EventRow) -> bool,
    mut add: impl FnMut(ContextId, LocationId, Metric, u64),
) {
    for location in calling(profile) {
        each_amount_of(profile, location, &has, |context, metric, amount| {
            add(context, location, metric, amount);
        });
    }
}

/// The locations that may have called MPI, in order.
pub fn calling(profile: &Profile) -> Vec<LocationId> {
    if !Operations::of(profile).any(|kind| kind.family == Family::Mpi) {
        return Vec::new();
    }
    let mut locations = profile.events.locations();
    locations.extend(profile.transfers.locations());
    locations.sort_unstable();
    locations.dedup();
    locations
}

/// As [`each_amount`], of one location.
pub fn each_amount_of(
    profile: &Profile,
    location: LocationId,
    has: impl Fn(&EventRow) -> bool,
    mut add: impl FnMut(ContextId, Metric, u64),
) {
    let operations = Operations::of(profile);
    let mut waits = Waits::of(waits_of(&profile.partner_waits, location));
    for event in profile.events.of(location) {
        let kind = operations.get(event.operation).filter(|kind| kind.family == Family::Mpi);
        let Some(kind) = kind.filter(|_| has(&event)) else { continue };
        let waited_ns = waits.find(&event).map_or(0, PartnerWaitRow::length_ns);
        for (metric, amount) in amounts_of_call(kind, &event, waited_ns) {
            if amount != 0 {
                add(event.context, metric, amount);
            }
        }
    }
    for row in profile.transfers.of(location).filter(|row| has(&row.as_event())) {
        let TransferRow { sends, receives, sent_bytes, received_bytes, .. } = row;
        let TransferRow { collectives, collective_bytes, .. } = row;
        for (metric, amount) in [
            (Metric::MpiSends, sends.into()),
            (Metric::MpiReceives, receives.into()),
            (Metric::MpiSentBytes, sent_bytes),
            (Metric::MpiReceivedBytes, received_bytes),
            (Metric::MpiCollectives, collectives.into()),
            (Metric::MpiCollectiveBytes, collective_bytes),
        ] {
            if amount != 0 {
                add(row.context, metric, amount);
            }
        }
    }
}

/// The waits of a location, among those of a run in their order.
pub fn waits_of(waits: &[PartnerWaitRow], location: LocationId) -> &[PartnerWaitRow] {
    let first = waits.partition_point(|wait| wait.location < location);
    let count = waits[first..].partition_point(|wait| wait.location == location);
    &waits[first..first + count]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{OperationId, OperationInfo, WaitPattern};

    #[test]
    fn work_and_waits_are_all_time_but_that_of_the_runtime() {
        let kind = |nature, detail| Some(OperationKind { nature, family: Family::Mpi, detail });
        let info = |kind| OperationInfo { name: String::new(), kind };
        let call = |operation: u32, begin_ns: u64, end_ns: u64, bytes: u64| EventRow {
            operation: OperationId(operation),
            begin_ns,
            end_ns,
            time_ns: end_ns - begin_ns,
            calls: 1,
            bytes,
            ..EventRow::default()
        };
        let profile = Profile {
            operations: vec![
                info(kind(Nature::Runtime, Detail::Plain)),
                info(kind(Nature::Message, Detail::Receive)),
                info(kind(Nature::Collective, Detail::Exchange)),
                info(kind(Nature::Message, Detail::Plain)),
                info(None),
            ]
            .into(),
            events: vec![
                call(0, 0, 1_000, 0),
                call(1, 2_000, 5_000, 8),
                call(2, 6_000, 8_000, 64),
                call(3, 8_000, 8_500, 0),
                call(4, 9_000, 10_000, 0),
            ]
            .into(),
            partner_waits: vec![PartnerWaitRow {
                location: LocationId(0),
                context: ContextId(0),
                operation: OperationId(1),
                begin_ns: 2_000,
                until_ns: 4_000,
                pattern: WaitPattern::LateSender,
                late: LocationId(0),
                late_context: ContextId(0),
                misordered_ns: 0,
                bytes: 0,
            }]
            .into(),
            transfers: vec![TransferRow {
                begin_ns: 2_000,
                end_ns: 5_000,
                receives: 1,
                received_bytes: 4,
                ..TransferRow::default()
            }]
            .into(),
            ..Profile::default()
        };
        let of = |wanted: Metric, has: fn(&EventRow) -> bool| {
            let mut sum = 0;
            each_amount(&profile, has, |_, _, metric, amount| {
                sum += if metric == wanted { amount } else { 0 };
            });
            sum
        };
        let all = |wanted| of(wanted, |_| true);
        assert_eq!((all(Metric::Mpi), all(Metric::MpiWork), all(Metric::MpiWait)), (6_500, 3_500, 2_000));
        assert_eq!(all(Metric::MpiReceivedBytes), 4);
        assert_eq!((all(Metric::MpiSends), all(Metric::MpiReceives)), (0, 1));
        assert_eq!(all(Metric::MpiCollectiveBytes), 64);
        // The beginning of MPI and the call that is none of the others.
        assert_eq!((all(Metric::MpiCollectives), all(Metric::MpiOtherCalls)), (1, 2));
        assert_eq!(of(Metric::MpiReceives, |event| event.begin_ns > 5_000), 0);
    }
}
