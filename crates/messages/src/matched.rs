//! All calls of a run, matched in one pass in order of time.

use proust_streams::Spool;
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
use crate::replay::{Arrival, Dependency};
use crate::run::{Communicator, Membership, Run};
use crate::under_way::Under;
use crate::unmatched::{Part, Reason};
pub use crate::waits::Wait;
use crate::waits::{self, Part as Attendee, Pattern, Side};

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
    /// By process: what its calls depend on, or others on them, as it was found ([`crate::replay::steps`]).
    pub dependencies: Vec<Vec<(CallId, Dependency)>>,
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
    let of_each = vec![OfProcess::default(); run.processes.len()];
    let mut collected = Collected { observer, of_each };
    let mut matched = matched_from(&run, endpoints, &mut collected, &Spool::default());
    for (OfProcess { waits, taken, dependencies }, process) in
        collected.of_each.into_iter().zip(&run.processes)
    {
        matched.waits.push(order::settled(waits, taken, &process.calls));
        matched.dependencies.push(dependencies);
    }
    matched
}

/// What is found of the calls of each process, in memory.
struct Collected<O> {
    observer: O,
    of_each: Vec<OfProcess>,
}

#[derive(Clone, Debug, Default)]
struct OfProcess {
    waits: Vec<(CallId, Wait)>,
    taken: Vec<Taken>,
    dependencies: Vec<(CallId, Dependency)>,
}

impl<O: Observer> Observer for &mut Collected<O> {
    fn message(&mut self, message: Message) {
        if let Some((process, taken)) = message.taken() {
            self.of_each[process as usize].taken.push(taken);
        }
        self.observer.message(message);
    }

    fn collective(&mut self, kind: Collective, members: &[Attendance]) {
        self.observer.collective(kind, members);
    }

    fn wait(&mut self, (process, call): Place, wait: Wait) {
        self.of_each[process as usize].waits.push((call, wait));
        self.observer.wait((process, call), wait);
    }

    fn depends(&mut self, (process, call): Place, on: Dependency) {
        self.of_each[process as usize].dependencies.push((call, on));
        self.observer.depends((process, call), on);
    }
}

/// As [`matched_with()`], in memory for what is under way, as far as that is not in `spool`: the endpoints
/// of each process, in the order in which they were started, are read from `endpoints` and not from [`Run`],
/// nor are its calls. [`Matched::waits`] and [`Matched::dependencies`] are empty: the observer gets them all
/// ([`order::settled`] makes of the waits of a process one for each call).
pub fn matched_from(
    run: &Run,
    endpoints: Vec<impl Iterator<Item = Endpoint>>,
    mut observer: impl Observer,
    spool: &Spool,
) -> Matched {
    let until_ns = run.processes.iter().filter_map(|process| process.known_until_ns).min();
    let mut matching = Matching::new(run, until_ns, spool);
    let begin_ns = |endpoint: &Endpoint| endpoint.started.begin_ns;
    merge::in_order(endpoints, begin_ns, |process, endpoint| {
        matching.take(process as u32, endpoint, &mut observer);
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
    collectives: Collectives<Under>,
    /// How many messages and instances of collectives others depend on.
    numbered: u64,
    result: Matched,
}

impl<'r> Matching<'r> {
    fn new(run: &'r Run, until_ns: Option<u64>, spool: &Spool) -> Matching<'r> {
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
        let result = Matched { matched_until_ns: until_ns, ..Matched::default() };
        Matching {
            run,
            communicators,
            last: vec![None; run.processes.len()],
            failed: FailedCalls::of(run),
            unknown: FxHashMap::default(),
            point_to_point: PointToPoint::new(spool),
            collectives: Collectives::new(spool),
            numbered: 0,
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

    fn take(&mut self, process: u32, endpoint: &Endpoint, observer: &mut impl Observer) {
        let begin_ns = endpoint.started.begin_ns;
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
        let under = Under { process, endpoint: *endpoint };
        if let Kind::Collective(kind) = endpoint.kind {
            return self.collective(kind, under, (membership, communicator), observer);
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
        let Matching { point_to_point, result, communicators, numbered, .. } = self;
        let known = &mut communicators[membership.communicator as usize];
        let found = |pair: Pair<Under>| {
            if let Pair::Message(send, receive) = &pair {
                let message = Message { sent: send.calls(), received: receive.calls() };
                observer.message(message);
                if let Some(completing) = message.received.completing() {
                    observer.depends(message.sent.start, Dependency::Sends(*numbered));
                    observer.depends(completing, Dependency::Takes(*numbered));
                    *numbered += 1;
                }
            }
            message(result, known, &pair, observer);
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
        kind: Collective,
        attending: Under,
        (Membership { communicator, rank, is_on_second_side }, of): (Membership, Communicator),
        observer: &mut impl Observer,
    ) {
        if !self.communicators[communicator as usize].is_complete {
            let Under { process, endpoint } = attending;
            return self.unmatched(process, Part::Collective, endpoint.kind, Reason::NotRecorded);
        }
        let member = (is_on_second_side, rank);
        let series = (communicator, attending.endpoint.series);
        if let Some(parts) = self.collectives.call(series, of.members(), member, attending) {
            self.instance(kind, communicator, of, &parts, observer);
        }
    }

    fn instance(
        &mut self,
        kind: Collective,
        communicator: u32,
        of: Communicator,
        members: &[(Member, Under)],
        observer: &mut impl Observer,
    ) {
        let Some(&(_, Under { endpoint: Endpoint { operation, .. }, .. })) = members.first() else { return };
        let root_of = |(member, under): &(Member, Under)| match under.endpoint.partner {
            Partner::Root => Some(*member),
            // Of an intercommunicator those that receive name the root by its rank on the other side.
            Partner::Rank(rank) if of.second_size > 0 => Some((!member.0, rank)),
            Partner::Rank(rank) => Some((false, rank)),
            Partner::Any | Partner::Nobody | Partner::None => None,
        };
        let mut roots = members.iter().filter_map(root_of);
        let root = roots.next();
        let same = members.iter().all(|(_, under)| under.endpoint.operation == operation);
        if !same || roots.any(|other| Some(other) != root) {
            self.result.contradictions += 1;
            return;
        }
        let parts: Vec<Attendee> = members
            .iter()
            .map(|((second, rank), under)| {
                let (side, has_part) = (under.side(), under.endpoint.partner != Partner::Nobody);
                Attendee {
                    rank: u64::from(*second) << 32 | u64::from(*rank),
                    is_root: root == Some((*second, *rank)),
                    side: if has_part { side } else { Side { waited: None, ..side } },
                }
            })
            .collect();
        let attendance = |(part, (_, under)): (&Attendee, &(Member, Under))| Attendance {
            calls: under.calls(),
            is_root: part.is_root,
        };
        observer.collective(kind, &parts.iter().zip(members).map(attendance).collect::<Vec<_>>());
        self.depend(kind, &parts, members, observer);
        let gathering = self.result.gatherings.entry((communicator, operation)).or_default();
        gathering.instances += 1;
        gathering.bytes += members.iter().map(|(_, under)| under.endpoint.bytes).sum::<u64>();
        for (at, wait) in waits::collective(kind, &parts).into_iter().enumerate() {
            let Some((until_ns, pattern, late)) = wait else { continue };
            add(observer, &members[at].1, (until_ns, pattern, 0), &members[late].1);
        }
    }

    /// Which members of an instance depend on others.
    fn depend(
        &mut self,
        kind: Collective,
        parts: &[Attendee],
        members: &[(Member, Under)],
        observer: &mut impl Observer,
    ) {
        let has_root = parts.iter().any(|part| part.is_root);
        let first = parts.iter().map(|part| part.rank).min();
        let depends = |part: &Attendee| {
            part.side.waited.is_some()
                && match kind {
                    Collective::Barrier | Collective::AllToAll => true,
                    Collective::OneToAll => has_root && !part.is_root,
                    Collective::AllToOne => part.is_root,
                    Collective::Scan => Some(part.rank) != first,
                    Collective::Loose | Collective::Neighbours => false,
                }
        };
        let depending = parts.iter().filter(|part| depends(part)).count() as u32;
        if depending == 0 {
            return;
        }
        let mut order: Vec<usize> = (0..parts.len()).collect();
        if kind == Collective::Scan {
            order.sort_unstable_by_key(|&at| parts[at].rank);
        }
        let (number, in_all) = (self.numbered, parts.len() as u32);
        self.numbered += 1;
        for (member, at) in (0..).zip(order) {
            let (part, calls) = (&parts[at], members[at].1.calls());
            let is_root = part.is_root;
            let arrival = Arrival { number, kind, is_root, members: in_all, depending, member };
            observer.depends(calls.start, Dependency::Arrives(arrival));
            if let (true, Some(completing)) = (depends(part), calls.completing()) {
                observer.depends(completing, Dependency::Meets { number, member });
            }
        }
    }

    /// Probes leave their messages to others, which are counted.
    fn unmatched(&mut self, process: u32, side: Part, kind: Kind, reason: Reason) {
        if kind != Kind::Probe {
            *self.result.unmatched.entry((process, side, reason)).or_default() += 1;
        }
    }

    fn finish(self) -> Matched {
        let until_ns = self.result.matched_until_ns;
        let Matching { run, communicators, failed, point_to_point, collectives, mut result, .. } = self;
        result.most_under_way = point_to_point.most_under_way() + collectives.most_under_way();
        let mut count = |process: u32, side: Part, reason: Reason| {
            *result.unmatched.entry((process, side, reason)).or_default() += 1;
        };
        for (number, known) in (0..).zip(&communicators).filter(|(_, known)| known.messages > 0) {
            result.messages.insert(number, (known.messages, known.bytes));
        }
        let reason = |part: Part, communicator: u32, (side, rank): (bool, u32), envelope, of: &Endpoint| {
            let process = communicators.get(communicator as usize).and_then(|of| of.process(side, rank));
            let Some(process) = process else { return Reason::NotRecorded };
            let may_lack = || failed.may_lack((process, part), Some(communicator), envelope, u64::MAX);
            match &run.processes[process as usize] {
                partner if partner.was_cut_off => Reason::CutOff,
                _ if until_ns.is_some() || may_lack() => Reason::BehindGap,
                _ if !of.end.is_complete() => Reason::NeverCompleted,
                _ => Reason::Missing,
            }
        };
        let is_between = |channel: &Channel| {
            run.communicators.get(channel.communicator as usize).is_some_and(|of| of.second_size > 0)
        };
        point_to_point.finish(|channel, is_sent, Under { process, endpoint }| {
            let (own, others, envelope, partner) = match is_sent {
                true => {
                    let side = channel.from_second_side != is_between(&channel);
                    (Part::Send, Part::Receive, channel.from, (side, channel.to))
                }
                false => (Part::Receive, Part::Send, channel.to, (channel.from_second_side, channel.from)),
            };
            let envelope = (Partner::Rank(envelope), channel.tag);
            count(process, own, reason(others, channel.communicator, partner, envelope, &endpoint));
        });
        let any_cut_off = run.processes.iter().any(|process| process.was_cut_off);
        let reason = match until_ns {
            _ if any_cut_off => Reason::CutOff,
            Some(_) => Reason::BehindGap,
            None => Reason::Missing,
        };
        collectives.finish(|under| count(under.process, Part::Collective, reason));
        result
    }
}

fn message(result: &mut Matched, communicator: &mut Known, pair: &Pair<Under>, observer: &mut impl Observer) {
    let (Pair::Message(send, receive) | Pair::Probed(send, receive)) = pair;
    let (sent, received) = (send.side(), receive.side());
    let late_sender = waits::late_sender(sent, received);
    // A receive of which nothing but its buffer is known has got no more than was sent.
    let completing = receive.calls().completing();
    let most = send.endpoint.bytes;
    let bytes = if completing.is_some() { receive.endpoint.bytes.min(most) } else { most };
    let mut late_receiver = None;
    if let Pair::Message(..) = pair {
        let is_buffered = send.endpoint.kind == Kind::Send(Mode::Buffered);
        late_receiver = waits::late_receiver(sent, received).filter(|_| !is_buffered);
        let violation_ns = completing.map_or(0, |_| waits::violation_ns(sent, receive.endpoint.ended));
        if violation_ns > 0 {
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
        add(observer, receive, (until_ns, Pattern::LateSender, bytes), send);
    }
    if let Some(until_ns) = late_receiver {
        add(observer, send, (until_ns, Pattern::LateReceiver, bytes), receive);
    }
}

/// Those of calls that wait for several are sorted out at the end.
fn add(
    observer: &mut impl Observer,
    of: &Under,
    (until_ns, pattern, bytes): (u64, Pattern, u64),
    late: &Under,
) {
    if let Some(call) = of.endpoint.end.waited() {
        let (late_site, late) = (late.endpoint.site, (late.process, late.endpoint.start));
        let wait = Wait { until_ns, pattern, late, late_site, misordered_ns: 0, bytes };
        observer.wait((of.process, call), wait);
    }
}
