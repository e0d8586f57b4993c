//! How the calls of a message or collective lay to each other in time: who began later and ended later, and
//! what was computed between the halves of a call that does not block. Summed by call site.

use proust_log::operations::{Nature, Operation};
use proust_messages::call::{CallId, Collective, Place};
use proust_messages::observer::{self, Attendance, Message, Observer};
use proust_messages::replay::Dependency;
use proust_messages::waits::{Times, Wait};
use proust_profile::{ContextId, ExchangeRow, LocationId, OperationId, Spool};
use rustc_hash::FxHashMap as Map;

use super::gathered::Gathered;
use super::handed_on::Beside;
use super::made::Calls;
use super::of_call::{Meetings, Met, OfCall, OfCalls, of_calls};
use super::side_by_side;
use super::site::Site;

/// The processes, by their position.
pub(super) struct Exchanges {
    processes: Vec<Process>,
}

/// A process while messages are matched.
struct Process {
    beside: Beside,
    meetings: Meetings,
}

/// A group's start: how much later its partners began and ended, and its first call.
#[derive(Clone, Copy)]
struct Group {
    first: CallId,
    later_begins_ns: u64,
    later_ends_ns: u64,
    endpoints: u32,
}

impl Exchanges {
    /// Of these processes, whose endpoints are not matched yet.
    pub(super) fn of(processes: &mut [Gathered], spool: &Spool) -> Exchanges {
        let process = |process: &mut Gathered| Process {
            beside: std::mem::take(&mut process.beside),
            meetings: Meetings::new(spool),
        };
        Exchanges { processes: processes.iter_mut().map(process).collect() }
    }

    fn add(&mut self, (process, call): Place, met: Met) {
        if let Some(process) = self.processes.get_mut(process as usize) {
            process.meetings.add(call, met);
        }
    }

    fn hands_on_io(&mut self, places: impl Iterator<Item = Place>) {
        places.for_each(|place| self.add(place, Met::HandsOnIo));
    }

    fn is_behind_input(&self, (process, call): Place) -> bool {
        self.processes.get(process as usize).is_some_and(|process| process.beside.is_behind_input(call))
    }

    fn is_before_output(&self, (process, call): Place) -> bool {
        self.processes.get(process as usize).is_some_and(|process| process.beside.is_before_output(call))
    }

    /// The sums by call site; `take` gets what `each` makes of each process, its calls, and what was found of
    /// them. `sizes`: the members of each process's communicators.
    pub(super) fn rows<T: Send>(
        self,
        processes: &[Gathered],
        sizes: &[Map<u32, u32>],
        operations: &[Option<OperationId>],
        spool: &Spool,
        each: impl Fn(usize, &Calls, OfCalls) -> T + Sync,
        mut take: impl FnMut(T),
    ) -> Vec<ExchangeRow> {
        type Key = (LocationId, ContextId, OperationId, Option<OperationId>, bool, bool);
        let of_operation = |operation: Operation| operations.get(operation as usize).copied().flatten();
        let of_process = |(at, of): (usize, Process)| {
            let mut sums: Map<Key, ExchangeRow> = Map::default();
            let process = &processes[at];
            let all = process.calls.read();
            let made_calls = all.made(&process.ways);
            let found = of_calls(process.endpoints.iter(), &of.meetings.finish(), &all.times);
            let groups = groups(&found.calls, &all.times);
            let mut waits = &found.waits[..];
            for (number, call) in found.calls.iter().enumerate() {
                let (times, made) = (all.times[number], made_calls[number]);
                let Some(Site { context, operation }) = made.site else { continue };
                let own = groups.get(&(number as CallId));
                let group = own.or_else(|| groups.get(&call.completed_by?));
                let started = call.started_in.and_then(|start| made_calls.get(start as usize));
                let completes = started.and_then(|made| of_operation(made.operation));
                let key = (made.location, context, operation, completes, group.is_some(), call.hands_on_io);
                let row = sums.entry(key).or_insert(ExchangeRow {
                    location: made.location,
                    context,
                    operation,
                    completes,
                    is_group: group.is_some(),
                    hands_on_io: call.hands_on_io,
                    ..ExchangeRow::default()
                });
                // A call that completes has no communicator of its own.
                let communicator = started.unwrap_or(&made).communicator;
                let members = sizes[at].get(&communicator).copied().unwrap_or(1).max(1);
                row.shares += match group {
                    // The whole group counts once in each of its halves.
                    Some(group) if own.is_none() => {
                        f64::from(call.started) / f64::from(group.endpoints.max(1)) / f64::from(members)
                    }
                    _ => share(call, made.operation, members, own.is_some()),
                };
                row.calls += 1;
                row.time_ns += times.end_ns.saturating_sub(times.begin_ns);
                while waits.first().is_some_and(|(waiting, _)| (*waiting as usize) < number) {
                    waits = &waits[1..];
                }
                let wait = waits.first().filter(|(waiting, _)| *waiting as usize == number);
                let until_ns = wait.map_or(0, |(_, wait)| wait.until_ns.min(times.end_ns));
                row.partner_ns += until_ns.saturating_sub(times.begin_ns);
                let partners = call.started + call.completed;
                let is_matched = partners > 0 && call.matched == partners;
                row.matched += u64::from(is_matched);
                row.unmatched += u64::from(partners > 0 && !is_matched);
                if is_matched {
                    let later = match group {
                        Some(group) if own.is_none() && group.first == number as CallId => {
                            (group.later_begins_ns, group.later_ends_ns)
                        }
                        Some(_) if own.is_none() => (0, 0),
                        _ => later(call, times),
                    };
                    row.later_begins_ns += later.0;
                    row.later_ends_ns += later.1;
                    if call.completed > 0 {
                        row.overlap_ns += times.begin_ns.saturating_sub(call.starts_end_ns);
                    }
                }
                row.late_sends_ns += call.late_sends_ns;
                row.received += u64::from(call.received);
                row.spans_ns += call.spans_ns;
            }
            (sums, each(at, &all, found))
        };
        let numbered = self.processes.into_iter().enumerate();
        let calls = |(at, _): &(usize, Process)| processes[*at].calls.len();
        let mut rows: Vec<(Key, ExchangeRow)> = Vec::new();
        side_by_side::of_each(numbered, spool.budget(), calls, of_process, |(sums, made)| {
            // No two processes have a location in common.
            rows.extend(sums);
            take(made);
        });
        rows.sort_unstable_by_key(|(key, _)| *key);
        rows.into_iter().map(|(_, row)| row).collect()
    }
}

/// Groups of messages to and from others that one call completes, by that call.
fn groups(calls: &[OfCall], times: &[Times]) -> Map<CallId, Group> {
    let mut groups: Map<CallId, Group> = Map::default();
    for ((number, call), times) in (0..).zip(calls).zip(times) {
        let Some(end) = call.completed_by else { continue };
        let completing = calls.get(end as usize).copied().unwrap_or_default();
        if completing.completed < 2 || !completing.has_sends || !completing.has_receives {
            continue;
        }
        let (begins_ns, ends_ns) = later(call, *times);
        let group = groups.entry(end).or_insert(Group {
            first: number,
            later_begins_ns: 0,
            later_ends_ns: 0,
            endpoints: completing.completed,
        });
        group.later_begins_ns = group.later_begins_ns.max(begins_ns);
        group.later_ends_ns = group.later_ends_ns.max(ends_ns);
    }
    groups
}

impl Observer for &mut Exchanges {
    fn wait(&mut self, call: Place, wait: Wait) {
        self.add(call, Met::Waited(wait));
    }

    fn depends(&mut self, call: Place, on: Dependency) {
        self.add(call, Met::Depends(on));
    }

    fn message(&mut self, Message { sent, received }: Message) {
        let (send, receive) = (sent.started, received.started);
        self.add(sent.start, Met::Partners(receive));
        self.add(received.start, Met::Partners(send));
        let starts_end_ns = send.end_ns.max(receive.end_ns);
        for (own, other) in [(&sent, &received), (&received, &sent)] {
            if let Some(completing) = own.completing().filter(|&completing| completing != own.start) {
                self.add(completing, Met::Completed(other.ended, starts_end_ns));
            }
        }
        if let Some(end) = received.completing() {
            let late_ns = send.begin_ns.min(received.ended.end_ns).saturating_sub(receive.begin_ns);
            if late_ns > 0 {
                self.add(received.start, Met::LateSend(late_ns));
            }
            self.add(end, Met::Received(send.begin_ns));
        }
        let is_blocking = |of: &observer::Calls| of.completing() == Some(of.start);
        let is_beside = self.is_behind_input(sent.start) || self.is_before_output(received.start);
        if is_blocking(&sent) && is_blocking(&received) && is_beside {
            self.hands_on_io([sent.start, received.start].into_iter());
        }
    }

    fn collective(&mut self, kind: Collective, members: &[Attendance]) {
        let end_of = |of: &observer::Calls| of.completing().filter(|&end| end != of.start);
        let all = || members.iter().map(|member| &member.calls);
        let starts = latest(all().map(|of| of.started));
        let ends = latest(all().filter(|of| end_of(of).is_some()).map(|of| of.ended));
        for of in all() {
            self.add(of.start, Met::Partners(starts));
            if let Some(end) = end_of(of) {
                self.add(end, Met::Completed(ends, starts.end_ns));
            }
        }
        let is_blocking = all().all(|of| end_of(of).is_none());
        let root = members.iter().find(|member| member.is_root).filter(|_| is_blocking);
        let hands_on = root.is_some_and(|root| match kind {
            Collective::OneToAll => self.is_behind_input(root.calls.start),
            Collective::AllToOne => self.is_before_output(root.calls.start),
            _ => false,
        });
        if hands_on {
            self.hands_on_io(all().map(|of| of.start));
        }
    }
}

/// The last begin and the last end.
fn latest(all: impl Iterator<Item = Times>) -> Times {
    all.fold(Times { begin_ns: 0, end_ns: 0 }, |last, times| Times {
        begin_ns: last.begin_ns.max(times.begin_ns),
        end_ns: last.end_ns.max(times.end_ns),
    })
}

/// How much later partners began and ended.
fn later(call: &OfCall, own: Times) -> (u64, u64) {
    (call.latest_begin_ns.saturating_sub(own.begin_ns), call.latest_end_ns.saturating_sub(own.end_ns))
}

/// One call, divided by those who take part in it.
fn share(call: &OfCall, operation: Operation, members: u32, ends_group: bool) -> f64 {
    let of_members = 1.0 / f64::from(members);
    let is_of_messages = call.has_sends || call.has_receives;
    match operation.nature() {
        Nature::Collective => of_members,
        Nature::Message if is_exchange(operation) => of_members,
        // What it completes are collectives.
        Nature::Message if ends_group || call.completed > 0 && !is_of_messages => of_members,
        Nature::Message => f64::from(call.started + call.completed) / 2.0,
        // Files that are used together.
        _ if call.started > 0 => of_members,
        _ => 1.0,
    }
}

fn is_exchange(operation: Operation) -> bool {
    use Operation as O;
    matches!(
        operation,
        O::MPI_Sendrecv | O::MPI_Sendrecv_replace | O::MPI_Isendrecv | O::MPI_Isendrecv_replace
    )
}
