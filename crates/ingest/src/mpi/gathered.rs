//! The calls of one process, of all its lanes in the order in which they ended, as endpoints.

use std::sync::Arc;

use proust_log::operations::Operation;
use proust_log::records::{Communicator, Envelope};
use proust_messages::call::{Act, Call, Slots};
use proust_messages::endpoint::Endpoint;
use proust_messages::requests::Endpoints;
use proust_messages::waits::Times;
use proust_profile::{LocationId, OperationId, Profile};
use rustc_hash::FxHashMap;

use super::acts;
use super::calls::RawCall;
use super::site::{Site, Sites};
use crate::clock::RunClock;
use crate::log::LogHarvest;

/// Which location each thread of a log is, by lane and position.
pub(crate) type Places = FxHashMap<(usize, usize), LocationId>;

/// A call, as the profile knows it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Made {
    pub(super) location: LocationId,
    pub(super) operation: Operation,
    /// The communicator, by the process's number; 0 = none.
    pub(super) communicator: u32,
    /// Where it was made, if that is known ([`find_sites`]).
    pub(super) site: Option<Site>,
}

/// The calls of a process.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    pub(super) endpoints: Vec<Endpoint>,
    /// Begin and end of each call since the run's start.
    pub(super) times: Arc<[Times]>,
    /// Likewise by call.
    pub(super) made: Vec<Made>,
    /// With the bits of their heads.
    pub(super) communicators: Vec<(u16, Communicator)>,
    pub(super) unknown_requests: u64,
    pub(super) untraced_calls: u64,
    /// From when on it is not complete, since the run's start.
    pub(super) known_until_ns: Option<u64>,
    /// From when on it may have received messages that are not known: a receive failed.
    pub(super) receives_known_until_ns: Option<u64>,
    /// It has not come to the end of MPI.
    pub(super) was_cut_off: bool,
}

/// The calls of log number `number`, which gives them up; None where it made none.
pub(super) fn gathered(
    number: usize,
    log: &mut LogHarvest,
    places: &Places,
    clock: &RunClock,
) -> Option<Gathered> {
    let mut order: Vec<(u64, u32, u32)> = Vec::new();
    for (l, lane) in log.lanes.iter().enumerate() {
        let ends = lane.mpi.calls.iter().enumerate();
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
    let mut all_times = Vec::with_capacity(order.len());
    all.made.reserve_exact(order.len());
    for (_, l, at) in order {
        let (l, at) = (l as usize, at as usize);
        let lane = &log.lanes[l].mpi;
        let raw = &lane.calls[at];
        let times = Times { begin_ns: since_start_ns(raw.begin_ns), end_ns: since_start_ns(raw.end_ns) };
        let (more, received) = lane.records_of(at);
        endpoints.take(&Call { slots: Slots { own: own_slots(raw), more }, received, ..call(raw, times) });
        all_times.push(times);
        let location = places.get(&(l, raw.thread as usize)).copied().unwrap_or_default();
        let communicator = u32::try_from(raw.object).unwrap_or_default();
        all.made.push(Made { location, operation: raw.operation, communicator, site: None });
        all.was_cut_off &= raw.operation != Operation::MPI_Finalize;
        if raw.has_failed && acts::receives(raw.operation) {
            all.receives_known_until_ns.get_or_insert(times.begin_ns);
        }
        all.untraced_calls += u64::from(acts::is_untraced(raw.operation));
    }
    (all.endpoints, all.unknown_requests) = endpoints.finish();
    let lanes = log.lanes.iter();
    all.communicators = lanes.flat_map(|lane| &lane.mpi.communicators).copied().collect();
    all.known_until_ns = known_until_ns(log).map(since_start_ns);
    all.times = all_times.into();
    log.lanes.iter_mut().for_each(|lane| lane.mpi.forget_calls());
    Some(all)
}

/// Finds where the calls were made. The profile has its events; `operations` are its numbers of the log's.
pub(super) fn find_sites(profile: &Profile, calls: &mut [Gathered], operations: &[Option<OperationId>]) {
    let mut sites = Sites::of(&profile.events);
    for process in calls {
        for (made, times) in process.made.iter_mut().zip(&*process.times) {
            let operation = operations.get(made.operation as usize).copied().flatten();
            made.site = operation.and_then(|operation| sites.find(made.location, operation, times.end_ns));
        }
    }
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

/// From when on calls may be missing, by the log's clock: records were lost, found no room, or recording was
/// off.
fn known_until_ns(log: &LogHarvest) -> Option<u64> {
    let lost = log.lanes.iter().filter_map(|lane| {
        let without_room = (lane.unrecorded_operations > 0).then(|| lane.mpi.last_ns());
        lane.mpi.lost_after_ns.into_iter().chain(without_room).min()
    });
    let paused = log.paused.iter().map(|&(from_ns, _)| from_ns);
    lost.chain(paused).min()
}
