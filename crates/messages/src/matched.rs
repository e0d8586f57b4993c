//! All calls of a run, matched in one pass in order of time.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::call::{ANY_TAG, CallId, Collective, Mode, Partner, Place};
use crate::collectives::{Collectives, Member};
use crate::endpoint::{End, Endpoint, Kind};
use crate::failed::FailedCalls;
use crate::known::Known;
use crate::merge;
use crate::observer::{Attendance, Message, Observer};
use crate::order::{self, Taken};
use crate::point_to_point::{Channel, Matched as Pair, PointToPoint};
use crate::replay::{self, Dependencies};
use crate::run::{Communicator, Membership, Run};
use crate::under_way::{Attending, Under, side};
use crate::unmatched::{Part, Reason};
pub use crate::waits::Wait;
use crate::waits::{self, Part as Arrival, Pattern, Side, Times};

/// Messages from one process to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Traffic {
    /// How many.
    pub messages: u64,
    /// Their bytes, as they were received; of one that was not completed as it was sent.
    pub bytes: u64,
}

/// Collectives of one function in one communicator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gathering {
    /// Instances in which all members took part.
    pub instances: u64,
    /// Members' parts of the data, bytes.
    pub bytes: u64,
}

/// The result.
#[derive(Clone, Debug, Default)]
pub struct Matched {
    /// The calls of each process that waited, and their waits, in the order of the calls.
    pub waits: Vec<Vec<(CallId, Wait)>>,
    /// Messages by their sender and receiver, as positions in [`Run::processes`].
    pub traffic: FxHashMap<(u32, u32), Traffic>,
    /// Messages by communicator.
    pub messages: FxHashMap<u32, (u64, u64)>,
    /// Collectives by communicator and function.
    pub gatherings: FxHashMap<(u32, u32), Gathering>,
    /// Endpoints without a partner, by process.
    pub unmatched: FxHashMap<(u32, Part, Reason), u64>,
    /// Instances whose members did not all call the same function with the same root.
    pub contradictions: u64,
    /// Messages that were received before they were sent, by the clocks.
    pub violations: u64,
    /// The largest such difference, ns.
    pub largest_violation_ns: u64,
    /// From when on nothing was matched.
    pub matched_until_ns: Option<u64>,
    /// The most endpoints that were under way at once.
    pub most_under_way: usize,
    /// Which calls depend on which.
    pub dependencies: Dependencies,
}

/// Matches all calls of a run.
pub fn matched(run: Run) -> Matched {
    matched_with(run, |_: Message| ())
}

/// As [`matched()`]; `observer` gets each message, collective and wait.
pub fn matched_with(mut run: Run, observer: impl Observer) -> Matched {
    let endpoints =
        run.processes.iter_mut().map(|process| std::mem::take(&mut process.endpoints).into_iter());
    let endpoints = endpoints.collect();
    let calls: Vec<Arc<[Times]>> = run.processes.iter().map(|process| Arc::clone(&process.calls)).collect();
    let (waits, taken) = (vec![Vec::new(); calls.len()], vec![Vec::new(); calls.len()]);
    let mut collected = Collected { observer, waits, taken };
    let mut matched = matched_from(run, endpoints, &mut collected);
    let found = collected.waits.into_iter().zip(collected.taken).zip(&calls);
    matched.waits = found.map(|((waits, taken), calls)| order::settled(waits, taken, calls)).collect();
    matched
}

/// What becomes the waits of each process, in memory.
struct Collected<O> {
    observer: O,
    waits: Vec<Vec<(CallId, Wait)>>,
    taken: Vec<Vec<Taken>>,
}

impl<O: Observer> Observer for &mut Collected<O> {
    fn message(&mut self, message: Message) {
        if let Some((process, taken)) = message.taken() {
            self.taken[process as usize].push(taken);
        }
        self.observer.message(message);
    }

    fn collective(&mut self, kind: Collective, members: &[Attendance]) {
        self.observer.collective(kind, members);
    }

    fn wait(&mut self, (process, call): Place, wait: Wait) {
        self.waits[process as usize].push((call, wait));
        self.observer.wait((process, call), wait);
    }
}

/// As [`matched_with()`], in memory for what is under way: the endpoints of each process, in the order in
/// which they were started, are read from `endpoints` and not from [`Run`], and [`Matched::waits`] is empty.
/// The observer gets all waits ([`order::settled`] makes of those of a process one for each call).
pub fn matched_from(
    run: Run,
    endpoints: Vec<impl Iterator<Item = Endpoint>>,
    mut observer: impl Observer,
) -> Matched {
    let until_ns = run.processes.iter().filter_map(|process| process.known_until_ns).min();
    let mut matching = Matching::new(&run, until_ns);
    let begin_ns =
        |process: usize, endpoint: &Endpoint| run.processes[process].times(endpoint.start).begin_ns;
    merge::in_order(endpoints, begin_ns, |process, endpoint, begin_ns| {
        matching.take(process as u32, endpoint, begin_ns, &mut observer);
    });
    matching.finish()
}

struct Matching<'r> {
    run: &'r Run,
    /// Those of [`Run::communicators`].
    communicators: Vec<Known>,
    /// By process, the communicator of its last endpoint, by its own number.
    last: Vec<Option<(u32, Membership)>>,
    failed: FailedCalls,
    /// Receives of which it is not known what they got, by communicator and process.
    unknown: FxHashMap<(u32, u32), Vec<(Partner, i32)>>,
    point_to_point: PointToPoint<Under>,
    collectives: Collectives<Attending>,
    result: Matched,
}

impl<'r> Matching<'r> {
    fn new(run: &'r Run, until_ns: Option<u64>) -> Matching<'r> {
        let mut recorded: Vec<Vec<(bool, u32, u32)>> = vec![Vec::new(); run.communicators.len()];
        for (process, of) in (0..).zip(&run.processes) {
            for &Membership { communicator, rank, is_on_second_side } in of.communicators.values() {
                if let Some(recorded) = recorded.get_mut(communicator as usize) {
                    recorded.push((is_on_second_side, rank, process));
                }
            }
        }
        let known = |(of, mut recorded): (&Communicator, Vec<(bool, u32, u32)>)| {
            // Of several that claim to be one member the last one is.
            recorded.sort_by_key(|&(side, rank, _)| (side, rank));
            recorded.reverse();
            recorded.dedup_by_key(|&mut (side, rank, _)| (side, rank));
            Known::new(*of, &recorded)
        };
        let communicators = run.communicators.iter().zip(recorded).map(known).collect();
        let result = Matched {
            matched_until_ns: until_ns,
            dependencies: Dependencies::new(run.processes.len()),
            ..Matched::default()
        };
        let (point_to_point, collectives) = (PointToPoint::default(), Collectives::default());
        Matching {
            run,
            communicators,
            last: vec![None; run.processes.len()],
            failed: FailedCalls::of(run),
            unknown: FxHashMap::default(),
            point_to_point,
            collectives,
            result,
        }
    }

    /// How a process knows a communicator.
    fn membership(&mut self, process: u32, number: u32) -> Option<Membership> {
        let last = &mut self.last[process as usize];
        match *last {
            Some((known, membership)) if known == number => Some(membership),
            _ => {
                let membership = *self.run.processes[process as usize].communicators.get(&number)?;
                *last = Some((number, membership));
                Some(membership)
            }
        }
    }

    fn take(&mut self, process: u32, endpoint: &Endpoint, begin_ns: u64, observer: &mut impl Observer) {
        let side = match endpoint.kind {
            Kind::Send(_) => Part::Send,
            Kind::Receive | Kind::Probe => Part::Receive,
            Kind::Collective(_) => Part::Collective,
        };
        let until_ns = self.result.matched_until_ns.unwrap_or(u64::MAX);
        let membership = self.membership(process, endpoint.communicator);
        let known = membership.and_then(|of| self.communicators.get(of.communicator as usize));
        let communicator = membership.map(|of| of.communicator);
        let is_shifted = || self.failed.may_shift((process, side), endpoint, communicator, begin_ns);
        let refused = match (endpoint.end, membership.zip(known)) {
            (End::Cancelled, _) => return,
            _ if begin_ns >= until_ns => Err(Reason::BehindGap),
            _ if side != Part::Collective && is_shifted() => Err(Reason::BehindGap),
            (_, Some((membership, known))) if known.of.is_known => Ok((membership, known.of)),
            _ => Err(Reason::UnknownCommunicator),
        };
        let (membership, communicator) = match refused {
            Ok(known) => known,
            Err(reason) => return self.unmatched(process, side, endpoint.kind, reason),
        };
        let under = Under {
            process,
            start: endpoint.start,
            begin_ns,
            end: endpoint.end,
            bytes: endpoint.bytes,
            is_buffered: endpoint.kind == Kind::Send(Mode::Buffered),
        };
        if let Kind::Collective(kind) = endpoint.kind {
            let Endpoint { operation, partner: root, series, .. } = *endpoint;
            let attending = Attending { of: under, kind, operation, root };
            return self.collective(attending, series, (membership, communicator), observer);
        }
        if endpoint.is_unknown_receive() {
            let unknown = self.unknown.entry((membership.communicator, process)).or_default();
            unknown.push((endpoint.partner, endpoint.tag));
            return self.unmatched(process, side, endpoint.kind, Reason::NeverCompleted);
        }
        let Partner::Rank(partner) = endpoint.partner else {
            return self.unmatched(process, side, endpoint.kind, Reason::NeverCompleted);
        };
        if side == Part::Receive && self.may_be_overtaken(process, membership.communicator, endpoint) {
            return self.unmatched(process, side, endpoint.kind, Reason::NeverCompleted);
        }
        let is_between = communicator.second_size > 0;
        let partner_side = membership.is_on_second_side != is_between;
        let known = &self.communicators[membership.communicator as usize];
        if known.process(partner_side, partner).is_none() {
            return self.unmatched(process, side, endpoint.kind, Reason::NotRecorded);
        }
        let of_sender = |from: u32, to: u32, from_second_side: bool| Channel {
            communicator: membership.communicator,
            from_second_side,
            from,
            to,
            tag: endpoint.tag,
        };
        let Matching { run, point_to_point, result, communicators, .. } = self;
        let known = &mut communicators[membership.communicator as usize];
        let found = |pair: Pair<Under>| {
            if let Pair::Message(send, receive) = pair {
                if let End::Waited(call) | End::Tested(call) = receive.end {
                    let sent = (send.process, send.start);
                    result.dependencies.message(sent, (receive.process, call));
                }
                observer.message(Message {
                    sent_ns: send.begin_ns,
                    sent: (send.process, send.start),
                    sent_end: send.end,
                    received: (receive.process, receive.start),
                    received_end: receive.end,
                });
            }
            message(run, result, known, pair, observer);
        };
        match endpoint.kind {
            Kind::Send(_) => {
                let channel = of_sender(membership.rank, partner, membership.is_on_second_side);
                point_to_point.send(channel, under, found);
            }
            Kind::Receive => {
                point_to_point.receive(of_sender(partner, membership.rank, partner_side), under, found);
            }
            Kind::Probe => {
                point_to_point.probe(of_sender(partner, membership.rank, partner_side), under, found);
            }
            Kind::Collective(_) => {}
        }
    }

    /// Whether a receive that was started before, and of which it is not known what it got, may have got
    /// this one's message, and this one the next.
    fn may_be_overtaken(&self, process: u32, communicator: u32, endpoint: &Endpoint) -> bool {
        let may_be = |&(partner, tag): &(Partner, i32)| {
            (partner == Partner::Any || partner == endpoint.partner)
                && (tag == ANY_TAG || tag == endpoint.tag)
        };
        self.unknown.get(&(communicator, process)).is_some_and(|unknown| unknown.iter().any(may_be))
    }

    fn collective(
        &mut self,
        attending: Attending,
        series: u32,
        (Membership { communicator, rank, is_on_second_side }, of): (Membership, Communicator),
        observer: &mut impl Observer,
    ) {
        if !self.communicators[communicator as usize].is_complete {
            let kind = Kind::Collective(attending.kind);
            return self.unmatched(attending.of.process, Part::Collective, kind, Reason::NotRecorded);
        }
        let member = (is_on_second_side, rank);
        if let Some(parts) = self.collectives.call((communicator, series), of.members(), member, attending) {
            self.instance(communicator, of, &parts, observer);
        }
    }

    fn instance(
        &mut self,
        communicator: u32,
        of: Communicator,
        members: &[(Member, Attending)],
        observer: &mut impl Observer,
    ) {
        let Some(&(_, Attending { kind, operation, .. })) = members.first() else { return };
        let root_of = |&(member, attending): &(Member, Attending)| match attending.root {
            Partner::Root => Some(member),
            // Of an intercommunicator those that receive name the root by its rank on the other side.
            Partner::Rank(rank) if of.second_size > 0 => Some((!member.0, rank)),
            Partner::Rank(rank) => Some((false, rank)),
            Partner::Any | Partner::Nobody | Partner::None => None,
        };
        let mut roots = members.iter().filter_map(root_of);
        let root = roots.next();
        let same = members.iter().all(|(_, attending)| attending.operation == operation);
        if !same || roots.any(|other| Some(other) != root) {
            self.result.contradictions += 1;
            return;
        }
        let parts: Vec<Arrival> = members
            .iter()
            .map(|&((second, rank), Attending { of, root: of_root, .. })| {
                let (part, has_part) = (side(self.run, of), of_root != Partner::Nobody);
                Arrival {
                    rank: u64::from(second) << 32 | u64::from(rank),
                    is_root: root == Some((second, rank)),
                    side: if has_part { part } else { Side { waited: None, ..part } },
                }
            })
            .collect();
        let of_part = |(part, (_, Attending { of, .. })): (&Arrival, &(Member, Attending))| Attendance {
            start: (of.process, of.start),
            end: of.end,
            is_root: part.is_root,
        };
        observer.collective(kind, &parts.iter().zip(members).map(of_part).collect::<Vec<_>>());
        let member = |(part, (_, Attending { of, .. })): (&Arrival, &(Member, Attending))| replay::Member {
            rank: part.rank,
            is_root: part.is_root,
            start: (of.process, of.start),
            waited: part.side.waited.and_then(|_| of.end.waited()),
        };
        let depending: Vec<replay::Member> = parts.iter().zip(members).map(member).collect();
        self.result.dependencies.collective(kind, &depending);
        let gathering = self.result.gatherings.entry((communicator, operation)).or_default();
        gathering.instances += 1;
        gathering.bytes += members.iter().map(|(_, attending)| attending.of.bytes).sum::<u64>();
        for (at, wait) in waits::collective(kind, &parts).into_iter().enumerate() {
            let (Some((until_ns, pattern, late)), (_, Attending { of, .. })) = (wait, members[at]) else {
                continue;
            };
            let (_, Attending { of: late, .. }) = members[late];
            let wait =
                Wait { until_ns, pattern, late: (late.process, late.start), misordered_ns: 0, bytes: 0 };
            add(observer, of, wait);
        }
    }

    /// Probes leave their messages to others, which are counted.
    fn unmatched(&mut self, process: u32, side: Part, kind: Kind, reason: Reason) {
        if kind != Kind::Probe {
            *self.result.unmatched.entry((process, side, reason)).or_default() += 1;
        }
    }

    fn finish(mut self) -> Matched {
        self.result.most_under_way = self.point_to_point.most_under_way() + self.collectives.most_open();
        let until_ns = self.result.matched_until_ns;
        let (sends, receives) = std::mem::take(&mut self.point_to_point).finish();
        let mut count = |process: u32, side: Part, reason: Reason| {
            *self.result.unmatched.entry((process, side, reason)).or_default() += 1;
        };
        for (number, known) in (0..).zip(&self.communicators).filter(|(_, known)| known.messages > 0) {
            self.result.messages.insert(number, (known.messages, known.bytes));
        }
        let reason = |part: Part, communicator: u32, (side, rank): (bool, u32), envelope, under: &Under| {
            let process = self.communicators.get(communicator as usize).and_then(|of| of.process(side, rank));
            let Some(process) = process else { return Reason::NotRecorded };
            let may_lack = || self.failed.may_lack((process, part), Some(communicator), envelope, u64::MAX);
            match &self.run.processes[process as usize] {
                partner if partner.was_cut_off => Reason::CutOff,
                _ if until_ns.is_some() || may_lack() => Reason::BehindGap,
                _ if !under.end.is_complete() => Reason::NeverCompleted,
                _ => Reason::Missing,
            }
        };
        let is_between = |channel: &Channel| {
            self.run.communicators.get(channel.communicator as usize).is_some_and(|of| of.second_size > 0)
        };
        for (channel, under) in &sends {
            let side = channel.from_second_side != is_between(channel);
            let envelope = (Partner::Rank(channel.from), channel.tag);
            let partner = (side, channel.to);
            let why = reason(Part::Receive, channel.communicator, partner, envelope, under);
            count(under.process, Part::Send, why);
        }
        for (channel, under) in &receives {
            let envelope = (Partner::Rank(channel.to), channel.tag);
            let partner = (channel.from_second_side, channel.from);
            let why = reason(Part::Send, channel.communicator, partner, envelope, under);
            count(under.process, Part::Receive, why);
        }
        let any_cut_off = self.run.processes.iter().any(|process| process.was_cut_off);
        for (_, members) in std::mem::take(&mut self.collectives).finish() {
            for (_, Attending { of: under, .. }) in members {
                let reason = match until_ns {
                    _ if any_cut_off => Reason::CutOff,
                    Some(_) => Reason::BehindGap,
                    None => Reason::Missing,
                };
                count(under.process, Part::Collective, reason);
            }
        }
        self.result
    }
}

fn message(
    run: &Run,
    result: &mut Matched,
    communicator: &mut Known,
    pair: Pair<Under>,
    observer: &mut impl Observer,
) {
    let (Pair::Message(send, receive) | Pair::Probed(send, receive)) = pair;
    let (sent, received) = (side(run, send), side(run, receive));
    let late_sender = waits::late_sender(sent, received);
    // A receive of which nothing but its buffer is known has got no more than was sent.
    let is_known = receive.end.is_complete();
    let bytes = if is_known { receive.bytes.min(send.bytes) } else { send.bytes };
    let mut late_receiver = None;
    if let Pair::Message(..) = pair {
        late_receiver = waits::late_receiver(sent, received).filter(|_| !send.is_buffered);
        let ended = match receive.end {
            End::Waited(call) | End::Tested(call) => {
                Some(run.processes[receive.process as usize].times(call))
            }
            End::Open | End::Cancelled => None,
        };
        if let Some(violation_ns) = ended.map(|call| waits::violation_ns(sent, call)).filter(|&ns| ns > 0) {
            result.violations += 1;
            result.largest_violation_ns = result.largest_violation_ns.max(violation_ns);
        }
        let traffic = result.traffic.entry((send.process, receive.process)).or_default();
        traffic.messages += 1;
        traffic.bytes += bytes;
        communicator.messages += 1;
        communicator.bytes += bytes;
    }
    if let Some(until_ns) = late_sender {
        let late = (send.process, send.start);
        add(
            observer,
            receive,
            Wait { until_ns, pattern: Pattern::LateSender, late, misordered_ns: 0, bytes },
        );
    }
    if let Some(until_ns) = late_receiver {
        let late = (receive.process, receive.start);
        add(observer, send, Wait { until_ns, pattern: Pattern::LateReceiver, late, misordered_ns: 0, bytes });
    }
}

/// Those of calls that wait for several are sorted out at the end.
fn add(observer: &mut impl Observer, under: Under, wait: Wait) {
    if let Some(call) = under.end.waited() {
        observer.wait((under.process, call), wait);
    }
}
