//! Plays a random program: every step, one process that is not blocked does something that is allowed.

mod collectives;
mod failures;
mod meetings;
mod prepared;

use std::collections::{BTreeMap, VecDeque};

use proust_messages::call::{ANY_TAG, Act, Call, Mode, Partner, Received, Slots};
use proust_messages::requests::Endpoints;
use proust_messages::run::{Failed, Membership, Process};
use proust_messages::waits::Times;

use collectives::Series;
use meetings::Meetings;

/// Numbers by which a step is chosen.
pub type Step = (u8, u8, u8, u8);

/// A call as it is recorded when it has ended.
#[derive(Clone, Debug)]
pub struct Recorded {
    begin_ns: u64,
    end_ns: u64,
    act: Act,
    /// A collective's number, the same on all members.
    operation: u32,
    communicator: u32,
    partner: Partner,
    tag: i32,
    bytes: u64,
    slots: Vec<(u16, u16)>,
    received: Vec<Received>,
}

/// The program's calls, and what really happened.
#[derive(Debug, Default)]
pub struct Played {
    pub calls: Vec<Vec<Recorded>>,
    /// Calls that failed, of each process, and after how many others.
    pub failed: Vec<Vec<(usize, Failed)>>,
    /// Messages with an end in a call that failed: nothing is known of them.
    pub unseen: Vec<((u32, u64), (u32, u64))>,
    /// Members of each communicator; all processes are, by their number.
    pub sizes: Vec<u32>,
    /// Sender and begin of the call that sent, receiver and begin of the call that received.
    pub messages: Vec<((u32, u64), (u32, u64))>,
    /// The communicator and tag of each, by its place in `messages`.
    pub channels: Vec<(u32, i32)>,
    pub bytes: u64,
    /// Messages that nobody received.
    pub lost: u64,
    pub instances: u64,
    pub most_under_way: usize,
}

#[derive(Clone, Copy, Debug)]
struct Sent {
    from: u32,
    communicator: u32,
    tag: i32,
    bytes: u64,
    begin_ns: u64,
    /// The call that sent it failed.
    is_unseen: bool,
}

#[derive(Clone, Copy, Debug)]
struct Posted {
    communicator: u32,
    source: Option<u32>,
    tag: Option<i32>,
    begin_ns: u64,
    /// None = the process is blocked in it.
    slot: Option<u16>,
    bytes: u64,
    /// What the same call sends: to whom, its tag and bytes.
    also: Option<(u32, i32, u64)>,
}

/// A prepared request: slot, whether it is under way, what it sends; a receive otherwise.
type Prepared = (u16, bool, Option<(u32, u32, i32)>, Posted);

#[derive(Default)]
struct Proc {
    posted: Vec<Posted>,
    /// Messages that have come and were not received.
    come: Vec<Sent>,
    /// Requests that are complete, with what they received.
    done: Vec<(u16, Option<Received>)>,
    used: Vec<u16>,
    blocked: Option<Posted>,
    /// It waits in a call for other members.
    is_in_collective: bool,
    prepared: Vec<Prepared>,
    called: BTreeMap<u32, u64>,
    series: BTreeMap<u32, Series>,
}

struct World {
    now_ns: u64,
    procs: Vec<Proc>,
    /// Messages on their way, by sender and receiver.
    ways: BTreeMap<(u32, u32), VecDeque<Sent>>,
    played: Played,
    under_way: usize,
    meetings: Meetings,
    with: With,
}

/// What programs may have.
#[derive(Clone, Copy, Debug, Default)]
pub struct With {
    pub wildcards: bool,
    pub failures: bool,
    /// Members of a collective wait for those that they depend on. Otherwise all end at once.
    pub waits: bool,
}

/// Members of a communicator are all processes. There are two, and a schedule of collectives for each.
const COMMUNICATORS: u32 = 2;
pub fn play(processes: usize, steps: &[Step], with: With) -> Played {
    let mut world = World {
        now_ns: 1,
        procs: (0..processes).map(|_| Proc::default()).collect(),
        ways: BTreeMap::new(),
        played: Played {
            calls: vec![Vec::new(); processes],
            failed: vec![Vec::new(); processes],
            sizes: vec![processes as u32; COMMUNICATORS as usize],
            ..Played::default()
        },
        under_way: 0,
        meetings: Meetings::new(),
        with,
    };
    for &step in steps {
        world.step(step);
    }
    world.end();
    world.played
}

impl World {
    fn tick(&mut self) -> u64 {
        self.now_ns += 1;
        self.now_ns
    }

    fn step(&mut self, (who, what, a, b): Step) {
        let process = usize::from(who) % self.procs.len();
        // Something on its way arrives.
        if what % 3 == 0 {
            self.arrive(usize::from(a));
        }
        if !self.is_free(process) {
            return;
        }
        let (to, tag) = (u32::from(a) % self.procs.len() as u32, i32::from(b % 3));
        let communicator = u32::from(b / 3) % COMMUNICATORS;
        let bytes = u64::from(a) * 8;
        if self.with.failures && what >= 224 {
            return self.fail(process, (communicator, to, tag), (a, b), what);
        }
        match what % 16 {
            0 | 1 => self.send(process, (communicator, to, tag, bytes), None),
            2 | 3 => {
                let slot = self.slot(process);
                self.send(process, (communicator, to, tag, bytes), Some(slot));
            }
            4 | 5 => {
                let slot = self.slot(process);
                self.receive(process, (communicator, to, tag), (a, b), Some(slot));
            }
            6 => self.receive(process, (communicator, to, tag), (a, b), None),
            7 => self.complete(process, usize::from(b), Act::Wait),
            8 => self.complete(process, 1, Act::Test),
            9 => self.collective(process, communicator, a),
            10 => self.prepare(process, (communicator, to, tag, bytes), a % 2 == 0),
            11 => self.start(process, usize::from(a)),
            12 => self.send_and_receive(process, (communicator, to, tag, bytes), (a, b), true),
            13 => self.send_and_receive(process, (communicator, to, tag, bytes), (a, b), false),
            14 => self.prepare_collective(process, communicator),
            _ => {
                let prepared = self.procs[process].series.entry(communicator).or_default().all.len();
                self.start_collective(process, communicator, usize::from(a) % prepared.max(1));
            }
        }
    }

    /// Receives from the rank below, and sends to the given one. One that does not only start is called only
    /// if its message has come: what others have got of a call that never ends would not be in any record.
    fn send_and_receive(
        &mut self,
        process: usize,
        (communicator, to, tag, bytes): (u32, u32, i32, u64),
        (a, b): (u8, u8),
        only_starts: bool,
    ) {
        let count = self.procs.len() as u32;
        let (any_source, any_tag) = (self.with.wildcards && a % 4 == 1, self.with.wildcards && b % 5 == 1);
        let mut posted = Posted {
            communicator,
            source: (!any_source).then_some((to + count - 1) % count),
            tag: (!any_tag).then_some((tag + 1) % 3),
            begin_ns: self.now_ns + 1,
            slot: None,
            bytes: 4096,
            also: Some((to, tag, bytes)),
        };
        if !only_starts && !self.procs[process].come.iter().any(|sent| fits(&posted, sent)) {
            return;
        }
        let begin_ns = self.tick();
        if only_starts {
            posted.slot = Some(self.slot(process));
            let end_ns = self.tick();
            let source = posted.source.map_or(Partner::Any, Partner::Rank);
            let tag = posted.tag.unwrap_or(ANY_TAG);
            let expected = Received { slot: None, source, tag, bytes: posted.bytes, cancelled: false };
            let call = self.of_both(&posted, end_ns, Act::StartSendReceive, expected);
            self.record(process, call);
        }
        self.sent(process, begin_ns, (communicator, to, tag, bytes));
        self.post(process, posted);
    }

    fn of_both(&self, posted: &Posted, end_ns: u64, act: Act, received: Received) -> Recorded {
        let (to, tag, bytes) = posted.also.unwrap_or_default();
        Recorded {
            partner: Partner::Rank(to),
            tag,
            bytes,
            received: vec![received],
            ..self.of_posted(posted, end_ns, act)
        }
    }

    fn slot(&mut self, process: usize) -> u16 {
        let used = &mut self.procs[process].used;
        let slot = (0..).find(|slot| !used.contains(slot)).unwrap();
        used.push(slot);
        slot
    }

    fn record(&mut self, process: usize, call: Recorded) {
        self.played.calls[process].push(call);
    }

    fn call(&self, begin_ns: u64, end_ns: u64, act: Act) -> Recorded {
        Recorded {
            begin_ns,
            end_ns,
            act,
            operation: 0,
            communicator: 0,
            partner: Partner::None,
            tag: 0,
            bytes: 0,
            slots: Vec::new(),
            received: Vec::new(),
        }
    }

    fn more(&mut self) {
        self.under_way += 1;
        self.played.most_under_way = self.played.most_under_way.max(self.under_way);
    }

    fn send(
        &mut self,
        process: usize,
        (communicator, to, tag, bytes): (u32, u32, i32, u64),
        slot: Option<u16>,
    ) {
        let (begin_ns, end_ns) = (self.tick(), self.tick());
        let act = if slot.is_some() { Act::StartSend(Mode::Standard) } else { Act::Send(Mode::Standard) };
        let slots = slot.map(|slot| (slot, 1)).into_iter().collect();
        let call = Recorded {
            communicator: communicator + 1,
            partner: Partner::Rank(to),
            tag,
            bytes,
            slots,
            ..self.call(begin_ns, end_ns, act)
        };
        self.record(process, call);
        self.sent(process, begin_ns, (communicator, to, tag, bytes));
        self.procs[process].done.extend(slot.map(|slot| (slot, None)));
    }

    fn sent(&mut self, process: usize, begin_ns: u64, (communicator, to, tag, bytes): (u32, u32, i32, u64)) {
        let sent = Sent { from: process as u32, communicator, tag, bytes, begin_ns, is_unseen: false };
        self.ways.entry((process as u32, to)).or_default().push_back(sent);
        self.more();
    }

    fn receive(
        &mut self,
        process: usize,
        (communicator, from, tag): (u32, u32, i32),
        (a, b): (u8, u8),
        slot: Option<u16>,
    ) {
        let (any_source, any_tag) = (self.with.wildcards && a % 4 == 0, self.with.wildcards && b % 5 == 0);
        let begin_ns = self.tick();
        let posted = Posted {
            communicator,
            source: (!any_source).then_some(from),
            tag: (!any_tag).then_some(tag),
            begin_ns,
            slot,
            bytes: 4096,
            also: None,
        };
        if slot.is_some() {
            let end_ns = self.tick();
            let call = self.of_posted(&posted, end_ns, Act::StartReceive);
            self.record(process, call);
        }
        self.post(process, posted);
    }

    fn of_posted(&self, posted: &Posted, end_ns: u64, act: Act) -> Recorded {
        Recorded {
            communicator: posted.communicator + 1,
            partner: posted.source.map_or(Partner::Any, Partner::Rank),
            tag: posted.tag.unwrap_or(ANY_TAG),
            bytes: posted.bytes,
            slots: posted.slot.map(|slot| (slot, 1)).into_iter().collect(),
            ..self.call(posted.begin_ns, end_ns, act)
        }
    }

    fn post(&mut self, process: usize, posted: Posted) {
        self.more();
        let come = &mut self.procs[process].come;
        match come.iter().position(|sent| fits(&posted, sent)) {
            Some(at) => {
                let sent = come.remove(at);
                self.got(process, posted, sent);
            }
            None if posted.slot.is_some() => self.procs[process].posted.push(posted),
            None => {
                self.procs[process].posted.push(posted);
                self.procs[process].blocked = Some(posted);
            }
        }
    }

    /// The oldest message of one of the ways arrives.
    fn arrive(&mut self, which: usize) {
        let ways: Vec<(u32, u32)> =
            self.ways.iter().filter(|(_, way)| !way.is_empty()).map(|(way, _)| *way).collect();
        let Some(&way) = ways.get(which % ways.len().max(1)) else { return };
        let Some(sent) = self.ways.get_mut(&way).and_then(VecDeque::pop_front) else { return };
        let to = way.1 as usize;
        match self.procs[to].posted.iter().position(|posted| fits(posted, &sent)) {
            Some(at) => {
                let posted = self.procs[to].posted.remove(at);
                self.got(to, posted, sent);
            }
            None => self.procs[to].come.push(sent),
        }
    }

    fn got(&mut self, process: usize, posted: Posted, sent: Sent) {
        self.under_way -= 2;
        let of_message = ((sent.from, sent.begin_ns), (process as u32, posted.begin_ns));
        if sent.is_unseen {
            self.played.unseen.push(of_message);
        } else {
            self.played.bytes += sent.bytes;
            self.played.messages.push(of_message);
            self.played.channels.push((sent.communicator + 1, sent.tag));
        }
        let received = Received {
            slot: posted.slot,
            source: Partner::Rank(sent.from),
            tag: sent.tag,
            bytes: sent.bytes,
            cancelled: false,
        };
        if let Some(slot) = posted.slot {
            self.procs[process].done.push((slot, Some(received)));
            return;
        }
        self.procs[process].blocked = None;
        let end_ns = self.tick();
        if posted.also.is_some() {
            let call = self.of_both(&posted, end_ns, Act::SendReceive, received);
            return self.record(process, call);
        }
        let call = Recorded {
            communicator: posted.communicator + 1,
            partner: received.source,
            tag: sent.tag,
            bytes: sent.bytes,
            ..self.call(posted.begin_ns, end_ns, Act::Receive)
        };
        self.record(process, call);
    }

    /// Completes up to so many requests that are done.
    fn complete(&mut self, process: usize, most: usize, act: Act) {
        let (begin_ns, end_ns) = (self.tick(), self.tick());
        let count = most.min(self.procs[process].done.len());
        // The newest first, so that slots do not follow each other.
        let done: Vec<(u16, Option<Received>)> = self.procs[process].done.drain(..count).rev().collect();
        if done.is_empty() {
            return;
        }
        for &(slot, _) in &done {
            let proc = &mut self.procs[process];
            let of_messages = proc.prepared.iter_mut().map(|prepared| (prepared.0, &mut prepared.1));
            let series = proc.series.values_mut().flat_map(|series| &mut series.all);
            let of_collectives = series.map(|prepared| (prepared.0, &mut prepared.1));
            match of_messages.chain(of_collectives).find(|prepared| prepared.0 == slot) {
                Some((_, is_active)) => *is_active = false,
                None => proc.used.retain(|used| *used != slot),
            }
        }
        let call = Recorded {
            slots: done.iter().map(|&(slot, _)| (slot, 1)).collect(),
            received: done.iter().filter_map(|(_, received)| *received).collect(),
            ..self.call(begin_ns, end_ns, act)
        };
        self.record(process, call);
    }

    /// All that is on its way arrives, and all call what others have called.
    fn end(&mut self) {
        while self.ways.values().any(|way| !way.is_empty()) {
            self.arrive(0);
        }
        for communicator in 0..COMMUNICATORS {
            if self.with.waits {
                self.end_meetings(communicator);
                continue;
            }
            let called = |proc: &Proc| proc.called.get(&communicator).copied().unwrap_or(0);
            let most = self.procs.iter().map(called).max().unwrap_or(0);
            for process in 0..self.procs.len() {
                while called(&self.procs[process]) < most {
                    self.collective(process, communicator, 1);
                }
            }
            self.played.instances += most;
            self.end_series(communicator);
        }
        for process in 0..self.procs.len() {
            self.complete(process, usize::MAX, Act::Wait);
        }
        self.played.lost = self.procs.iter().map(|proc| proc.come.len() as u64).sum();
    }
}

fn fits(posted: &Posted, sent: &Sent) -> bool {
    posted.communicator == sent.communicator
        && posted.source.is_none_or(|source| source == sent.from)
        && posted.tag.is_none_or(|tag| tag == sent.tag)
}

impl Played {
    /// The first so many calls of a process, by a clock that is ahead by so much.
    pub fn process(&self, process: usize, calls: usize, shift_ns: u64) -> Process {
        let mut endpoints = Endpoints::default();
        let mut times = Vec::new();
        for call in &self.calls[process][..calls] {
            let (own, more) = call.slots.split_last().map_or(((0, 0), &[][..]), |(own, more)| (*own, more));
            let (begin_ns, end_ns) = (call.begin_ns + shift_ns, call.end_ns + shift_ns);
            times.push(Times { begin_ns, end_ns });
            endpoints.take(&Call {
                begin_ns,
                end_ns,
                act: call.act,
                operation: call.operation,
                site: 0,
                communicator: call.communicator,
                partner: call.partner,
                tag: call.tag,
                bytes: call.bytes,
                slots: Slots { own, more },
                received: &call.received,
            });
        }
        let (endpoints, unknown) = endpoints.finish();
        assert_eq!(unknown, 0);
        let member = |number: u32| {
            let rank = process as u32;
            (number + 1, Membership { communicator: number, rank, is_on_second_side: false })
        };
        let communicators = (0..self.sizes.len() as u32).map(member).collect();
        let failed = self.failed[process].iter().filter(|(before, _)| *before <= calls);
        let shifted = |(_, one): &(usize, Failed)| Failed { begin_ns: one.begin_ns + shift_ns, ..*one };
        let failed = failed.map(shifted).collect();
        Process { endpoints, calls: times, communicators, failed, ..Process::default() }
    }
}
