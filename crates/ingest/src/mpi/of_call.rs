//! What is known of each call of a process: the ends of messages and collectives that it started or
//! completed, and when their partners' calls began and ended.

use proust_messages::call::CallId;
use proust_messages::endpoint::{End, Endpoint, Kind};
use proust_messages::order::{Taken, settled};
use proust_messages::replay::Dependency;
use proust_messages::waits::{Pattern, Times, Wait};
use proust_profile::{NumbersReader, NumbersWriter, Spool, SpooledNumbers, far, near};

use super::replayed;

/// What is known of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct OfCall {
    /// Ends of messages and parts of collectives that it started.
    pub(super) started: u32,
    /// Those that it completed, and another call had started.
    pub(super) completed: u32,
    /// Of both, how many have their partners.
    pub(super) matched: u32,
    /// The last begin of a partner's call.
    pub(super) latest_begin_ns: u64,
    /// The last end of one.
    pub(super) latest_end_ns: u64,
    /// The last end of a call that started what this one completes.
    pub(super) starts_end_ns: u64,
    pub(super) late_sends_ns: u64,
    pub(super) received: u32,
    pub(super) spans_ns: f64,
    /// A call that started what it completes.
    pub(super) started_in: Option<CallId>,
    pub(super) has_sends: bool,
    pub(super) has_receives: bool,
    pub(super) hands_on_io: bool,
    /// The call that completes what this one started.
    pub(super) completed_by: Option<CallId>,
}

/// Something that is found out of a call while messages are matched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Met {
    /// One end of its messages or collectives has its partners, whose last call began and ended then.
    Partners(Times),
    /// The same, of an end that another call started, and when the last of the calls that did ended.
    Completed(Times, u64),
    /// A message that it started to receive was sent so much later, ns.
    LateSend(u64),
    /// A message that it completed was sent then.
    Received(u64),
    /// It hands on what its process reads, or writes.
    HandsOnIo,
    /// It waited, perhaps for others, too.
    Waited(Wait),
    /// It depends on others, or others on it.
    Depends(Dependency),
}

/// Patterns of waits by their number.
const PATTERNS: [Pattern; 7] = [
    Pattern::LateSender,
    Pattern::LateReceiver,
    Pattern::Barrier,
    Pattern::AllToAll,
    Pattern::LateRoot,
    Pattern::EarlyRoot,
    Pattern::EarlyScan,
];

/// Of a number in the spool: which of them it is.
const MET_BITS: u32 = 3;

/// What is met by the calls of a process, in the order in which it is found.
#[derive(Debug)]
pub(super) struct Meetings {
    to: NumbersWriter,
    last: Last,
}

/// What was written, or read, before: the next call, and the next time, are near to them.
#[derive(Clone, Copy, Debug, Default)]
struct Last {
    call: u64,
    time_ns: u64,
    depends: replayed::Last,
}

impl Meetings {
    pub(super) fn new(spool: &Spool) -> Meetings {
        Meetings { to: NumbersWriter::new(spool), last: Last::default() }
    }

    pub(super) fn add(&mut self, call: CallId, met: Met) {
        let Last { call: last, time_ns: last_ns, .. } = self.last;
        let which = match met {
            Met::Partners(_) => 0,
            Met::Completed(..) => 1,
            Met::LateSend(_) => 2,
            Met::Received(_) => 3,
            Met::HandsOnIo => 4,
            Met::Waited(_) => 5,
            Met::Depends(_) => 6,
        };
        // Calls have 32 bits: nothing is shifted out.
        let head = near(call.into(), last) << MET_BITS | which;
        self.last.call = call.into();
        match met {
            Met::Partners(Times { begin_ns, end_ns }) => {
                self.to.put(&[head, near(begin_ns, last_ns), near(end_ns, begin_ns)]);
                self.last.time_ns = begin_ns;
            }
            Met::Completed(Times { begin_ns, end_ns }, starts_end_ns) => {
                let starts_end = near(starts_end_ns, begin_ns);
                self.to.put(&[head, near(begin_ns, last_ns), near(end_ns, begin_ns), starts_end]);
                self.last.time_ns = begin_ns;
            }
            Met::LateSend(ns) => self.to.put(&[head, ns]),
            Met::Received(sent_ns) => self.to.put(&[head, near(sent_ns, last_ns)]),
            Met::HandsOnIo => self.to.put(&[head]),
            Met::Waited(Wait { until_ns, pattern, late, late_site, misordered_ns, bytes }) => {
                let pattern = PATTERNS.iter().position(|&of| of == pattern).unwrap_or_default() as u64;
                let late_call = near(late.1.into(), call.into());
                let until = near(until_ns, last_ns);
                let (of, site) = (late.0.into(), late_site.into());
                self.to.put(&[head, until, pattern, of, late_call, site, misordered_ns, bytes]);
            }
            Met::Depends(on) => {
                self.to.put(&[head]);
                replayed::put(&on, &mut self.to, &mut self.last.depends);
            }
        }
    }

    pub(super) fn finish(self) -> StoredMeetings {
        StoredMeetings(self.to.finish())
    }
}

/// The same in a spool.
#[derive(Debug, Default)]
pub(super) struct StoredMeetings(SpooledNumbers);

impl StoredMeetings {
    fn iter(&self) -> impl Iterator<Item = (CallId, Met)> + '_ {
        let (mut from, mut last) = (self.0.read(), Last::default());
        std::iter::from_fn(move || read(&mut from, &mut last))
    }
}

fn read(from: &mut NumbersReader<'_>, last: &mut Last) -> Option<(CallId, Met)> {
    let head = from.next()?;
    let call = far(head >> MET_BITS, last.call);
    last.call = call;
    let mut times = |from: &mut NumbersReader<'_>| {
        let begin_ns = far(from.next()?, last.time_ns);
        last.time_ns = begin_ns;
        Some(Times { begin_ns, end_ns: far(from.next()?, begin_ns) })
    };
    let met = match head & ((1 << MET_BITS) - 1) {
        0 => Met::Partners(times(from)?),
        1 => {
            let times = times(from)?;
            Met::Completed(times, far(from.next()?, times.begin_ns))
        }
        2 => Met::LateSend(from.next()?),
        3 => Met::Received(far(from.next()?, last.time_ns)),
        4 => Met::HandsOnIo,
        6 => Met::Depends(replayed::read(from.next()?, from, &mut last.depends)?),
        _ => Met::Waited(Wait {
            until_ns: far(from.next()?, last.time_ns),
            pattern: *PATTERNS.get(from.next()? as usize)?,
            late: (from.next()? as u32, far(from.next()?, call) as CallId),
            late_site: from.next()? as u32,
            misordered_ns: from.next()?,
            bytes: from.next()?,
        }),
    };
    Some((call as CallId, met))
}

/// What is known of the calls of a process.
pub(super) struct OfCalls {
    /// All of them, by their number.
    pub(super) calls: Vec<OfCall>,
    /// The waits, one for each call that waited, in the order of calls.
    pub(super) waits: Vec<(CallId, Wait)>,
    /// What they depend on, and others on them, in the order in which it was found.
    pub(super) dependencies: Vec<(CallId, Dependency)>,
}

/// All calls of a process, of which `times` are known.
pub(super) fn of_calls(
    endpoints: impl Iterator<Item = Endpoint>,
    meetings: &StoredMeetings,
    times: &[Times],
) -> OfCalls {
    let (mut waits, mut taken, mut dependencies) = (Vec::new(), Vec::new(), Vec::new());
    let mut calls = vec![OfCall::default(); times.len()];
    for endpoint in endpoints.filter(|one| one.kind != Kind::Probe && one.end != End::Cancelled) {
        let Some(start) = calls.get_mut(endpoint.start as usize) else { continue };
        start.started += 1;
        let Some(end) = endpoint.end.completing().filter(|&end| end != endpoint.start) else { continue };
        start.completed_by = Some(end);
        let Some(call) = calls.get_mut(end as usize) else { continue };
        call.completed += 1;
        call.has_sends |= matches!(endpoint.kind, Kind::Send(_));
        call.has_receives |= endpoint.kind == Kind::Receive;
        call.started_in = Some(endpoint.start);
    }
    for (number, met) in meetings.iter() {
        let Some(call) = calls.get_mut(number as usize) else { continue };
        let mut meet = |partner: Times, starts_end_ns: u64| {
            call.matched += 1;
            call.latest_begin_ns = call.latest_begin_ns.max(partner.begin_ns);
            call.latest_end_ns = call.latest_end_ns.max(partner.end_ns);
            call.starts_end_ns = call.starts_end_ns.max(starts_end_ns);
        };
        match met {
            Met::Partners(partner) => meet(partner, 0),
            Met::Completed(partner, starts_end_ns) => meet(partner, starts_end_ns),
            Met::LateSend(ns) => call.late_sends_ns += ns,
            Met::Received(sent_ns) => {
                call.received += 1;
                call.spans_ns += times[number as usize].end_ns as f64 - sent_ns as f64;
                taken.push(Taken { call: number, sent_ns });
            }
            Met::HandsOnIo => call.hands_on_io = true,
            Met::Waited(wait) => waits.push((number, wait)),
            Met::Depends(on) => dependencies.push((number, on)),
        }
    }
    OfCalls { calls, waits: settled(waits, taken, times), dependencies }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_met_comes_back() {
        let times = |begin_ns, end_ns| Times { begin_ns, end_ns };
        let wait = |pattern, late| {
            let (until_ns, late_site, misordered_ns, bytes) = (77, u32::MAX, 3, u64::MAX);
            Wait { until_ns, pattern, late, late_site, misordered_ns, bytes }
        };
        let met = [
            (7, Met::Partners(times(1_000, 900))),
            (u32::MAX, Met::Completed(times(5, u64::MAX), 3)),
            (0, Met::LateSend(u64::MAX)),
            (1, Met::Received(1 << 63)),
            (1, Met::HandsOnIo),
            (0, Met::Received(0)),
            (3, Met::Depends(Dependency::Sends(u64::MAX))),
            (2, Met::Depends(Dependency::Meets { number: 7, member: 1 })),
            (9, Met::Waited(wait(Pattern::LateSender, (u32::MAX, 7)))),
            (0, Met::Waited(wait(Pattern::EarlyScan, (0, u32::MAX)))),
        ];
        let mut meetings = Meetings::new(&Spool::default());
        met.iter().for_each(|&(call, met)| meetings.add(call, met));
        assert_eq!(meetings.finish().iter().collect::<Vec<_>>(), met);
    }
}
