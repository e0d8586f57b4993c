//! The calls of one process to its endpoints: which call completed what another one had started.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;

use rustc_hash::FxHashMap;

use crate::call::{Act, Call, CallId, Mode, Partner, Received};
use crate::endpoint::{End, Endpoint, Kind};
use crate::waits::Times;

/// The endpoints of a process, in the order in which they were started. Endpoints to nobody are left out.
#[derive(Debug, Default)]
pub struct Endpoints {
    all: Vec<Endpoint>,
    slots: FxHashMap<u16, Request>,
    /// Requests that came to a slot before its last one was complete, by the order of calls: a call gives up
    /// slots, and takes them, a little after the end that its record has, and threads may overtake each other
    /// meanwhile. A slot is taken only when it was given up, so the first request there is complete first.
    next: FxHashMap<u16, VecDeque<Request>>,
    /// How many collectives were prepared, by communicator.
    prepared: FxHashMap<u32, u32>,
    calls: CallId,
    /// Requests that were completed and never started, as far as is known.
    unknown: u64,
}

/// A request in its slot.
#[derive(Clone, Copy, Debug)]
struct Request {
    /// Its endpoint while it is under way.
    active: Option<usize>,
    /// Of a request that receives, too: what it sends.
    sent: Option<usize>,
    /// How it is started again; None = it is gone when it is complete.
    prepared: Option<Endpoint>,
}

impl Endpoints {
    /// Takes the process's next call, in the order in which calls ended; its number.
    pub fn take(&mut self, call: &Call<'_>) -> CallId {
        let id = self.calls;
        self.calls = self.calls.saturating_add(1);
        match call.act {
            Act::Send(mode) => self.push(call, Kind::Send(mode), id, End::Waited(id)),
            Act::Receive => self.push(call, Kind::Receive, id, End::Waited(id)),
            Act::Probe => self.push(call, Kind::Probe, id, End::Waited(id)),
            Act::Collective(kind) => self.push(call, Kind::Collective(kind), id, End::Waited(id)),
            Act::SendReceive => {
                self.push(call, Kind::Send(Mode::Standard), id, End::Waited(id));
                for received in call.received.iter().filter(|received| received.slot.is_none()) {
                    let Received { source: partner, tag, bytes, .. } = *received;
                    self.push(&Call { partner, tag, bytes, ..*call }, Kind::Receive, id, End::Waited(id));
                }
            }
            Act::StartSend(mode) => self.begin(call, Kind::Send(mode), id),
            Act::StartReceive | Act::MatchedTest => self.begin(call, Kind::Receive, id),
            Act::MatchedProbe => {
                // The message is there when it returns; the call that receives it only copies.
                let probed = self.all.len();
                self.begin(call, Kind::Receive, id);
                self.all[probed..].iter_mut().for_each(|probed| probed.end = End::Waited(id));
            }
            Act::StartCollective(kind) => self.begin(call, Kind::Collective(kind), id),
            Act::PrepareSend(mode) => self.prepare(call, Kind::Send(mode)),
            Act::PrepareReceive => self.prepare(call, Kind::Receive),
            Act::PrepareCollective(kind) => self.prepare(call, Kind::Collective(kind)),
            Act::StartSendReceive => self.begin_both(call, id),
            Act::Start => call.slots.iter().for_each(|slot| self.start(slot, call, id)),
            Act::StartMatched { from } => {
                if let (Some(request), Some(slot)) = (self.remove(from), call.slots.iter().next()) {
                    self.insert(slot, request);
                }
            }
            Act::ReceiveMatched => {
                // Its own record has the bytes.
                if let Some(slot) = call.slots.iter().next()
                    && let Some(at) = self.slots.get(&slot).and_then(|request| request.active)
                {
                    self.all[at].bytes = call.bytes;
                }
                self.complete(call, End::Waited(id));
            }
            Act::Wait => self.complete(call, End::Waited(id)),
            Act::Test => self.complete(call, End::Tested(id)),
            Act::Free => {
                for slot in call.slots.iter() {
                    self.remove(slot);
                }
            }
            Act::StartOther => {
                if let Some(slot) = call.slots.iter().next() {
                    self.insert(slot, Request { active: None, sent: None, prepared: None });
                }
            }
            Act::Other => {}
        }
        id
    }

    /// All endpoints; and how many requests were completed without a known start.
    pub fn finish(self) -> (Vec<Endpoint>, u64) {
        (self.all, self.unknown)
    }

    fn insert(&mut self, slot: u16, request: Request) {
        match self.slots.entry(slot) {
            Entry::Vacant(place) => {
                place.insert(request);
            }
            Entry::Occupied(_) => self.next.entry(slot).or_default().push_back(request),
        }
    }

    fn remove(&mut self, slot: u16) -> Option<Request> {
        let removed = self.slots.remove(&slot)?;
        if !self.next.is_empty()
            && let Entry::Occupied(mut queue) = self.next.entry(slot)
        {
            if let Some(next) = queue.get_mut().pop_front() {
                self.slots.insert(slot, next);
            }
            if queue.get().is_empty() {
                queue.remove();
            }
        }
        Some(removed)
    }

    fn push(&mut self, call: &Call<'_>, kind: Kind, start: CallId, end: End) {
        if !is_to_nobody(call, kind) {
            self.all.push(endpoint(call, kind, start, end));
        }
    }

    fn begin(&mut self, call: &Call<'_>, kind: Kind, id: CallId) {
        if is_to_nobody(call, kind) {
            return;
        }
        let at = self.all.len();
        self.all.push(endpoint(call, kind, id, End::Open));
        // Without a slot it is not followed: it has no end.
        if let Some(slot) = call.slots.iter().next() {
            self.insert(slot, Request { active: Some(at), sent: None, prepared: None });
        }
    }

    fn prepare(&mut self, call: &Call<'_>, kind: Kind) {
        if let Some(slot) = call.slots.iter().next() {
            let series = match kind {
                Kind::Collective(_) => {
                    let series = self.prepared.entry(call.communicator).or_default();
                    *series = series.saturating_add(1);
                    *series
                }
                _ => 0,
            };
            let prepared = (!is_to_nobody(call, kind))
                .then(|| Endpoint { series, ..endpoint(call, kind, 0, End::Open) });
            self.insert(slot, Request { active: None, sent: None, prepared });
        }
    }

    /// The two ends are apart but for their request, which is complete when both are.
    fn begin_both(&mut self, call: &Call<'_>, id: CallId) {
        let begin = |all: &mut Vec<Endpoint>, call: &Call<'_>, kind: Kind| {
            (!is_to_nobody(call, kind)).then(|| {
                all.push(endpoint(call, kind, id, End::Open));
                all.len() - 1
            })
        };
        let sent = begin(&mut self.all, call, Kind::Send(Mode::Standard));
        let expected = call.received.iter().find(|received| received.slot.is_none());
        let active = expected.and_then(|&Received { source: partner, tag, bytes, .. }| {
            begin(&mut self.all, &Call { partner, tag, bytes, ..*call }, Kind::Receive)
        });
        if let Some(slot) = call.slots.iter().next() {
            self.insert(slot, Request { active, sent, prepared: None });
        }
    }

    fn start(&mut self, slot: u16, call: &Call<'_>, id: CallId) {
        let Some(request) = self.slots.get_mut(&slot) else {
            self.unknown += 1;
            return;
        };
        if let Some(prepared) = request.prepared {
            request.active = Some(self.all.len());
            let (started, ended) = (times(call), times(call));
            self.all.push(Endpoint { start: id, site: call.site, started, ended, ..prepared });
        }
    }

    fn complete(&mut self, call: &Call<'_>, end: End) {
        for slot in call.slots.iter() {
            let Some(request) = self.slots.get_mut(&slot) else {
                self.unknown += 1;
                continue;
            };
            let active = request.active.take();
            for at in active.into_iter().chain(request.sent.take()) {
                // A matched probe has waited for it already.
                if !self.all[at].end.is_complete() {
                    (self.all[at].end, self.all[at].ended) = (end, times(call));
                }
            }
            if request.prepared.is_none() {
                self.remove(slot);
            }
            let received = call.received.iter().find(|received| received.slot == Some(slot));
            if let (Some(at), Some(&received)) = (active, received) {
                let endpoint = &mut self.all[at];
                if received.cancelled {
                    endpoint.end = End::Cancelled;
                } else {
                    let Received { source, tag, bytes, .. } = received;
                    (endpoint.partner, endpoint.tag, endpoint.bytes) = (source, tag, bytes);
                }
            }
        }
    }
}

fn endpoint(call: &Call<'_>, kind: Kind, start: CallId, end: End) -> Endpoint {
    let Call { operation, site, communicator, partner, tag, bytes, .. } = *call;
    let (started, ended) = (times(call), times(call));
    let series = 0;
    Endpoint { kind, operation, communicator, partner, tag, bytes, series, start, started, site, end, ended }
}

fn times(call: &Call<'_>) -> Times {
    Times { begin_ns: call.begin_ns, end_ns: call.end_ns }
}

fn is_to_nobody(call: &Call<'_>, kind: Kind) -> bool {
    match kind {
        Kind::Send(_) | Kind::Receive | Kind::Probe => call.partner == Partner::Nobody,
        // Members of the root's group that have no part give nobody as the root, and are members all the
        // same.
        Kind::Collective(_) => call.communicator == 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::call::Slots;

    /// A call with the request in that slot.
    fn call(act: Act, (begin_ns, end_ns): (u64, u64), slot: u16) -> Call<'static> {
        Call {
            begin_ns,
            end_ns,
            act,
            operation: 0,
            site: 0,
            communicator: 1,
            partner: Partner::Rank(1),
            tag: 7,
            bytes: 8,
            slots: Slots::one(slot),
            received: &[],
        }
    }

    /// Two threads: the second one's receive ends before the first one's wait, by their records, and got its
    /// slot after that.
    #[test]
    fn threads_that_overtake_each_other_at_a_slot_keep_their_requests() {
        let mut endpoints = Endpoints::default();
        for (act, times, tag) in [
            (Act::StartReceive, (0, 1), 7),
            (Act::StartReceive, (2, 3), 8),
            (Act::Wait, (1, 4), 0),
            (Act::StartReceive, (5, 6), 9),
            (Act::Wait, (4, 7), 0),
            (Act::Wait, (7, 8), 0),
            (Act::Wait, (9, 10), 0),
        ] {
            endpoints.take(&Call { tag, ..call(act, times, 3) });
        }
        let (all, unknown) = endpoints.finish();
        let ends: Vec<(i32, End)> = all.iter().map(|one| (one.tag, one.end)).collect();
        assert_eq!(ends, [(7, End::Waited(2)), (8, End::Waited(4)), (9, End::Waited(5))]);
        // The last wait is for none of them.
        assert_eq!(unknown, 1);
    }

    #[test]
    fn who_waits_for_a_message_is_the_probe_that_takes_it() {
        let mut endpoints = Endpoints::default();
        for (act, times, slot) in [
            (Act::MatchedProbe, (0, 10), 3),
            (Act::ReceiveMatched, (11, 12), 3),
            (Act::MatchedProbe, (20, 30), 4),
            (Act::StartMatched { from: 4 }, (31, 32), 5),
            (Act::Wait, (33, 34), 5),
            (Act::MatchedTest, (40, 41), 6),
            (Act::ReceiveMatched, (50, 51), 6),
        ] {
            let bytes = if act == Act::ReceiveMatched { 24 } else { 16 };
            endpoints.take(&Call { bytes, ..call(act, times, slot) });
        }
        let (all, unknown) = endpoints.finish();
        let ends: Vec<_> = all.iter().map(|one| (one.start, one.end, one.ended.end_ns, one.bytes)).collect();
        assert_eq!(
            ends,
            [(0, End::Waited(0), 10, 24), (2, End::Waited(2), 30, 16), (5, End::Waited(6), 51, 24)]
        );
        assert_eq!(unknown, 0);
    }
}
