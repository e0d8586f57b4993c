//! The calls of one process, of all its lanes in the order in which they ended, as endpoints.

use std::ops::Range;

use proust_log::operations::Operation;
use proust_log::records::{Communicator, Envelope, NoteCode};
use proust_messages::call::{ANY_TAG, Act, Call, Partner, Received, Slots};
use proust_messages::endpoint::Endpoint;
use proust_messages::requests::Endpoints;
use proust_messages::run::Failed;
use proust_messages::stored::StoredEndpoints;
use proust_messages::unmatched::Part;
use proust_messages::waits::Times;
use proust_profile::{LocationId, OperationId, Profile, Spool};
use rustc_hash::FxHashMap;

use super::acts;
use super::calls::{LaneCalls, RawCall};
use super::handed_on::Beside;
use super::made::{Calls, Made, StoredCalls, Ways};
use super::site::{Site, Sites};
use crate::clock::RunClock;
use crate::gaps::noted;
use crate::log::LogHarvest;

/// Which location each thread of a log is, by lane and position.
pub(crate) type Places = FxHashMap<(usize, usize), LocationId>;

/// The calls of a process, as numbers in a spool.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) endpoints: StoredEndpoints,
    pub(super) calls: StoredCalls,
    pub(super) ways: Ways,
    /// Calls beside its input and output.
    pub(super) beside: Beside,
    /// Its begin and its end of MPI.
    pub(super) span: Span,
    /// With the bits of their heads.
    pub(super) communicators: Vec<(u16, Communicator)>,
    pub(super) unknown_requests: u64,
    pub(super) untraced_calls: u64,
    /// From when on it is not complete, since the run's start.
    pub(super) known_until_ns: Option<u64>,
    /// Its receives that failed.
    pub(super) failed: Vec<Failed>,
    /// It has not come to the end of MPI.
    pub(super) was_cut_off: bool,
}

/// The calls of a process between its begin and its end of MPI, and the times of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) calls: Range<usize>,
    /// The end of the begin of MPI, if that is known.
    pub(super) before_ns: Option<u64>,
    /// The begin of the end of it.
    pub(super) after_ns: Option<u64>,
    /// From that end, or the first call's begin, to that begin, or the last call's end.
    pub(super) time_ns: Range<u64>,
}

impl Span {
    fn of(calls: &Calls, ways: &Ways) -> Span {
        let (times, made) = (&calls.times, calls.made(ways));
        let is_begin =
            |made: &Made| matches!(made.operation, Operation::MPI_Init | Operation::MPI_Init_thread);
        let begin = made.iter().position(is_begin).map_or(0, |at| at + 1);
        let is_end = |made: &Made| made.operation == Operation::MPI_Finalize;
        let end = made.iter().position(is_end).unwrap_or(times.len()).max(begin);
        let before_ns = begin.checked_sub(1).map(|at| times[at].end_ns);
        let after_ns = times.get(end).map(|call| call.begin_ns);
        let first_ns = before_ns.or(times.first().map(|call| call.begin_ns)).unwrap_or(0);
        let last_ns = after_ns.or(times.last().map(|call| call.end_ns)).unwrap_or(0);
        Span { calls: begin..end, before_ns, after_ns, time_ns: first_ns..last_ns }
    }
}

/// The calls of log number `number`, which gives them up. `each` gets them and their endpoints while they are
/// in memory. None where it made none.
pub(super) fn gathered(
    number: usize,
    log: &mut LogHarvest,
    places: &Places,
    clock: &RunClock,
    site: &mut impl FnMut(LocationId, Operation, u64) -> Option<Site>,
    spool: &Spool,
    each: impl FnOnce(&Calls, &Ways, &[Endpoint]) -> Beside,
) -> Option<Gathered> {
    let lanes: Vec<LaneCalls> = log.lanes.iter_mut().map(|lane| lane.mpi.take_calls()).collect();
    let mut order: Vec<(u64, u32, u32)> = Vec::new();
    for (l, lane) in lanes.iter().enumerate() {
        let ends = lane.calls.iter().enumerate();
        order.extend(ends.map(|(at, call)| (call.end_ns, l as u32, at as u32)));
    }
    if order.is_empty() {
        return None;
    }
    // Those of a lane are in order already.
    order.sort_by_key(|&(end_ns, ..)| end_ns);
    let since_start_ns = |time_ns: u64| clock.since_start_ns(number, time_ns);
    let mut all = Gathered { was_cut_off: true, ..Gathered::default() };
    let mut endpoints = Endpoints::default();
    let mut calls = Calls::with_capacity(order.len());
    for (_, l, at) in order {
        let (l, at) = (l as usize, at as usize);
        let lane = &lanes[l];
        let raw = &lane.calls[at];
        let times = Times { begin_ns: since_start_ns(raw.begin_ns), end_ns: since_start_ns(raw.end_ns) };
        let (more, received) = lane.records_of(at);
        let location = places.get(&(l, raw.thread as usize)).copied().unwrap_or_default();
        let communicator = u32::try_from(raw.object).unwrap_or_default();
        let site = site(location, raw.operation, times.end_ns);
        let made = all.ways.number(Made { location, operation: raw.operation, communicator, site });
        calls.push(times, made);
        let slots = Slots { own: own_slots(raw), more };
        endpoints.take(&Call { site: made, slots, received, ..call(raw, times) });
        all.was_cut_off &= raw.operation != Operation::MPI_Finalize;
        if raw.has_failed {
            all.failed.extend(failed(raw, received, times.begin_ns));
        }
        all.untraced_calls += u64::from(acts::is_untraced(raw.operation));
    }
    let (endpoints, unknown_requests) = endpoints.finish();
    all.unknown_requests = unknown_requests;
    all.communicators = log.lanes.iter().flat_map(|lane| &lane.mpi.communicators).copied().collect();
    all.known_until_ns = known_until_ns(log).map(since_start_ns);
    all.beside = each(&calls, &all.ways, &endpoints);
    all.span = Span::of(&calls, &all.ways);
    all.endpoints = StoredEndpoints::of(&endpoints, spool);
    all.calls = calls.stored(spool);
    Some(all)
}

/// Finds the sites of a process's calls, in the order of their ends: by location, operation and end. The
/// profile has its events; `operations` are its numbers of the log's.
pub(super) fn sites<'p>(
    profile: &'p Profile,
    operations: &'p [Option<OperationId>],
) -> impl FnMut(LocationId, Operation, u64) -> Option<Site> + 'p {
    let mut sites = Sites::of(&profile.events);
    move |location, operation, end_ns| {
        let operation = operations.get(operation as usize).copied().flatten()?;
        sites.find(location, operation, end_ns)
    }
}

/// The messages that a call which failed may have sent or received all the same. What a matched probe took
/// out of the queue has its place there, whatever became of its receive.
fn failed(raw: &RawCall, expected: &[Received], begin_ns: u64) -> Vec<Failed> {
    // One that was left by a jump, or named a communicator that is not known, says of itself no more.
    let communicator = u32::try_from(raw.object).ok().filter(|&number| number > 0);
    let (asked, act) = (Envelope::of_word(raw.object2), acts::act(raw.operation, 0));
    let of = |part, partner, tag| {
        let (partner, tag) = match communicator {
            Some(_) if partner != Partner::None => (partner, tag),
            _ => (Partner::Any, ANY_TAG),
        };
        Failed { begin_ns, part, communicator, partner, tag }
    };
    let own = |part| of(part, acts::partner(asked.partner), asked.tag);
    let all = match act {
        Act::Receive => vec![own(Part::Receive)],
        Act::SendReceive => {
            let expected = expected.iter().find(|one| one.slot.is_none());
            let (partner, tag) = expected.map_or((Partner::None, ANY_TAG), |one| (one.source, one.tag));
            vec![own(Part::Send), of(Part::Receive, partner, tag)]
        }
        _ => Vec::new(),
    };
    all.into_iter().filter(|one| one.partner != Partner::Nobody).collect()
}

fn call(raw: &RawCall, times: Times) -> Call<'static> {
    let envelope = Envelope::of_word(raw.object2);
    let from = u16::try_from(raw.object2.saturating_sub(1)).unwrap_or_default();
    let is_of_use = !raw.has_failed || acts::completes(raw.operation);
    let act = match acts::act(raw.operation, from) {
        _ if !is_of_use => Act::Other,
        Act::Other if raw.request > 0 => Act::StartOther,
        act => act,
    };
    Call {
        begin_ns: times.begin_ns,
        end_ns: times.end_ns,
        act,
        operation: raw.operation as u32,
        site: 0,
        communicator: u32::try_from(raw.object).unwrap_or_default(),
        partner: acts::partner(envelope.partner),
        tag: envelope.tag,
        bytes: raw.bytes,
        slots: Slots::default(),
        received: &[],
    }
}

/// The requests that the call's own record names: the first one's slot, and how many.
fn own_slots(raw: &RawCall) -> (u16, u16) {
    let Some(first) = raw.request.checked_sub(1).and_then(|slot| u16::try_from(slot).ok()) else {
        return (0, 0);
    };
    let count = match acts::act(raw.operation, 0) {
        Act::Start | Act::Wait | Act::Test | Act::Free | Act::ReceiveMatched => {
            u16::try_from(raw.object2).unwrap_or(u16::MAX)
        }
        _ => 1,
    };
    (first, count)
}

/// From when on calls may be missing, by the log's clock: records were lost, found no room, were summed to
/// leave room for others, or recording was off.
fn known_until_ns(log: &LogHarvest) -> Option<u64> {
    let lost = log.lanes.iter().filter_map(|lane| {
        let without_room = (lane.unrecorded_operations > 0).then(|| lane.mpi.last_ns());
        lane.mpi.lost_after_ns.into_iter().chain(without_room).min()
    });
    let paused = log.paused.iter().map(|&(from_ns, _)| from_ns);
    lost.chain(paused).chain(noted(log, NoteCode::CallsSummed)).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(operation: Operation, object: u64, envelope: Envelope, expected: &[Received]) -> Vec<Failed> {
        let mut raw = RawCall::of(operation);
        (raw.object, raw.object2, raw.has_failed) = (object, envelope.word(), true);
        failed(&raw, expected, 7)
    }

    #[test]
    fn a_call_that_failed_may_have_had_the_messages_that_it_names() {
        let any =
            |part| Failed { begin_ns: 7, part, communicator: None, partner: Partner::Any, tag: ANY_TAG };
        let asked = Envelope { partner: 3, tag: 5 };
        let known = Failed { communicator: Some(1), partner: Partner::Rank(3), tag: 5, ..any(Part::Receive) };
        assert_eq!(of(Operation::MPI_Recv, 1, asked, &[]), [known]);
        let from_any = Envelope { partner: Envelope::ANY, tag: 5 };
        let wild = Failed { partner: Partner::Any, ..known };
        assert_eq!(of(Operation::MPI_Recv, 1, from_any, &[]), [wild]);
        // A communicator that is not known, a rank that is none, and nobody.
        assert_eq!(of(Operation::MPI_Recv, 0, asked, &[]), [any(Part::Receive)]);
        let odd = Envelope { partner: Envelope::NONE, tag: 5 };
        assert_eq!(
            of(Operation::MPI_Recv, 1, odd, &[]),
            [Failed { communicator: Some(1), ..any(Part::Receive) }]
        );
        let nobody = Envelope { partner: Envelope::NOBODY, tag: 5 };
        assert_eq!(of(Operation::MPI_Recv, 1, nobody, &[]), []);
        // An exchange may have sent, too.
        let expected = Received { slot: None, source: Partner::Rank(2), tag: 9, bytes: 0, cancelled: false };
        let both = of(Operation::MPI_Sendrecv, 1, asked, &[expected]);
        let received = Failed { partner: Partner::Rank(2), tag: 9, ..known };
        assert_eq!(both, [Failed { part: Part::Send, ..known }, received]);
        assert_eq!(of(Operation::MPI_Sendrecv, 0, asked, &[]), [any(Part::Send), any(Part::Receive)]);
        // What a matched probe took has its place; a send that failed has sent nothing.
        assert_eq!(of(Operation::MPI_Mrecv, 0, asked, &[]), []);
        assert_eq!(of(Operation::MPI_Send, 1, asked, &[]), []);
    }
}
