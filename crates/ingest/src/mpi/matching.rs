//! The calls of all processes, matched: the profile's tables of messages.

use proust_log::records::{
    COMMUNICATOR_SECOND_SIDE, COMMUNICATOR_UNKNOWN, COMMUNICATOR_WORLD, Communicator as Recorded, Subject,
};
use proust_messages::call::CallId;
use proust_messages::endpoint::{Endpoint, Kind};
use proust_messages::matched::{Matched, Wait, matched_from};
use proust_messages::replay;
use proust_messages::run::{Communicator, Membership, Process, Run};
use proust_messages::unmatched::{Part, Reason};
use proust_messages::waits::Pattern;
use proust_profile::bindings;
use proust_profile::{
    CommunicatorInfo, ContextId, GatheringRow, IdealNetwork, LocationId, MessagePart, MessageQuality,
    OperationId, PartnerWaitRow, PartnerWaits, ProcessId, Profile, RowsBuilder, Spool, TrafficRow,
    TransferRow, UnmatchedReason, UnmatchedRow, WaitPattern,
};
use rustc_hash::FxHashMap;

use rustc_hash::FxHashMap as Map;

use super::exchanges::Exchanges;
use super::gathered::{Gathered, Places, gathered, sites};
use super::handed_on::beside;
use super::made::{Calls, Made, Ways};
use super::of_call::OfCalls;
use super::replayed::StoredSteps;
use super::side_by_side;
use super::site::Site;
use crate::clock::RunClock;
use crate::log::LogHarvest;

/// Fills the profile's tables of messages, and takes the calls of the logs for that. The events are there
/// already, `places` says which location each thread of each log is, and `operations` which number the
/// profile gives each operation of the log.
pub(crate) fn fill(
    profile: &mut Profile,
    logs: &mut [LogHarvest],
    places: &[Places],
    operations: &[Option<OperationId>],
    clock: &RunClock,
    spool: &Spool,
) {
    let mut ids: Vec<ProcessId> = Vec::new();
    let mut calls: Vec<Gathered> = Vec::new();
    let mut rows: RowsBuilder<TransferRow> = RowsBuilder::new(spool);
    let counted = |(_, (log, _)): &(usize, (&mut LogHarvest, &Places))| {
        log.lanes.iter().map(|lane| lane.mpi.count).sum::<usize>()
    };
    let known = &*profile;
    let read = |(number, (log, places)): (usize, (&mut LogHarvest, &Places))| {
        let mut transferred = Vec::new();
        let each = |all: &Calls, ways: &Ways, endpoints: &[Endpoint]| {
            transferred = transfers(all, ways, endpoints);
            beside(known, all, ways)
        };
        let mut sites = sites(known, operations);
        let gathered = gathered(number, log, places, clock, &mut sites, spool, each)?;
        Some((ProcessId::from_index(number), gathered, transferred))
    };
    let numbered = logs.iter_mut().zip(places).enumerate();
    let mut implausible = 0;
    side_by_side::of_each(numbered, spool.budget(), counted, read, |read| {
        let Some((id, gathered, transferred)) = read else { return };
        ids.push(id);
        calls.push(gathered);
        // A process's locations follow those of the one before it.
        implausible += transferred.iter().map(|row| u64::from(rows.push(row).is_err())).sum::<u64>();
    });
    profile.quality.implausible_records += implausible;
    if calls.is_empty() {
        return;
    }
    profile.transfers = rows.finish();
    let mut exchanges = Exchanges::of(&mut calls, spool);
    let mut communicators = Communicators::default();
    let jobs = jobs(profile);
    let mut run = Run::default();
    for (id, gathered) in ids.iter().zip(&mut calls) {
        let memberships = (gathered.communicators.iter())
            .map(|&(flags, recorded)| {
                let members = members(&logs[id.index()], recorded.number);
                let job = jobs[id.index()].ok_or(*id);
                let membership = communicators.add((job, *id), flags, &recorded, members);
                (recorded.number, membership)
            })
            .collect();
        run.processes.push(Process {
            endpoints: Vec::new(),
            calls: Vec::new(),
            communicators: memberships,
            known_until_ns: gathered.known_until_ns,
            failed: std::mem::take(&mut gathered.failed),
            was_cut_off: gathered.was_cut_off,
        });
    }
    run.communicators = communicators.all.iter().map(|of| of.as_matched()).collect();
    let sizes: Vec<Map<u32, u32>> = run.processes.iter().map(|process| sizes(process, &run)).collect();
    let endpoints = calls.iter().map(|gathered| gathered.endpoints.iter()).collect();
    let matched = matched_from(&run, endpoints, &mut exchanges, spool);
    let of_process = |process: usize, all: &Calls, found: OfCalls| {
        let mut waits: Vec<PartnerWaitRow> = partner_waits(&calls, process, all, &found.waits).collect();
        waits.sort_unstable_by_key(in_order);
        let steps = replay::steps(&all.times, &found.dependencies, calls[process].span.calls.clone());
        (waits, StoredSteps::of(steps, spool))
    };
    let (mut waits, mut parts) = (PartnerWaits::new(spool), Vec::new());
    profile.exchanges = exchanges.rows(&calls, &sizes, operations, spool, of_process, |(some, steps)| {
        waits.extend(some);
        parts.push(steps);
    });
    let ideal = ideal_network(&ids, &calls, &jobs, &matched, parts, spool);
    // A process's locations follow those of the one before it.
    if !waits.is_sorted_by_key(in_order) {
        waits.sort_unstable_by_key(in_order);
    }
    profile.partner_waits = waits;
    tables(profile, &ids, communicators, &matched, operations);
    profile.quality.messages = Some(MessageQuality {
        messages: matched.traffic.values().map(|traffic| traffic.messages).sum(),
        contradictions: matched.contradictions,
        violations: matched.violations,
        largest_violation_ns: matched.largest_violation_ns,
        matched_until_ns: matched.matched_until_ns,
        unknown_requests: calls.iter().map(|gathered| gathered.unknown_requests).sum(),
        untraced_calls: calls.iter().map(|gathered| gathered.untraced_calls).sum(),
        ideal,
    });
}

/// How many members each of a process's communicators has, by its own number of it.
fn sizes(process: &Process, run: &Run) -> Map<u32, u32> {
    let size = |(&number, membership): (&u32, &Membership)| {
        let of = run.communicators.get(membership.communicator as usize).copied().unwrap_or_default();
        (number, of.size + of.second_size)
    };
    process.communicators.iter().map(size).collect()
}

/// The messages of a process that were completed, and its prepared collectives, by the calls that started
/// them; by location and end.
fn transfers(all: &Calls, ways: &Ways, endpoints: &[Endpoint]) -> Vec<TransferRow> {
    let made = all.made(ways);
    let messages = endpoints.iter().filter(|endpoint| match endpoint.kind {
        Kind::Send(_) | Kind::Receive => endpoint.end.is_complete(),
        Kind::Probe => false,
        // All others are calls of their own.
        Kind::Collective(_) => endpoint.series > 0,
    });
    let messages: Vec<_> = messages.collect();
    // Endpoints are in the order in which they were started: those of a call are neighbours.
    let rows = messages.chunk_by(|a, b| a.start == b.start).filter_map(|of_call| {
        let call = of_call[0].start as usize;
        let (times, Made { location, site, .. }) = (all.times[call], made[call]);
        let Site { context, operation } = site?;
        let (begin_ns, end_ns) = (times.begin_ns, times.end_ns.max(times.begin_ns));
        let mut row = TransferRow { location, context, operation, begin_ns, end_ns, ..Default::default() };
        for endpoint in of_call {
            let (count, bytes) = match endpoint.kind {
                Kind::Receive => (&mut row.receives, &mut row.received_bytes),
                Kind::Collective(_) => (&mut row.collectives, &mut row.collective_bytes),
                _ => (&mut row.sends, &mut row.sent_bytes),
            };
            *count += 1;
            *bytes = bytes.saturating_add(endpoint.bytes);
        }
        Some(row)
    });
    let mut rows: Vec<TransferRow> = rows.collect();
    rows.sort_unstable_by_key(|row| (row.location, row.end_ns, row.begin_ns));
    rows
}

/// The run on an ideal network, from the end of each process's begin of MPI to the begin of its end.
fn ideal_network(
    ids: &[ProcessId],
    calls: &[Gathered],
    jobs: &[Option<u32>],
    matched: &Matched,
    parts: Vec<StoredSteps>,
    spool: &Spool,
) -> Option<IdealNetwork> {
    let job = jobs[ids.first()?.index()]?;
    if ids.len() < 2 || ids.iter().any(|id| jobs[id.index()] != Some(job)) {
        return None;
    }
    let times = || calls.iter().map(|gathered| &gathered.span.time_ns);
    let (first_ns, last_ns) = (times().map(|time| time.start).min()?, times().map(|time| time.end).max()?);
    let is_complete = matched.unmatched.is_empty()
        && matched.contradictions == 0
        && matched.matched_until_ns.is_none()
        && calls.iter().all(|gathered| gathered.untraced_calls == 0);
    let part = |(steps, Gathered { span, .. }): (StoredSteps, &Gathered)| replay::Part {
        before_ns: span.before_ns,
        after_ns: span.after_ns,
        steps: steps.into_steps(),
    };
    let (replayed, dropped) = replay::replay(parts.into_iter().zip(calls).map(part).collect(), spool);
    let ideal_ns = replayed.iter().map(|process| process.ideal_ns).max()?;
    Some(IdealNetwork {
        time_ns: last_ns.saturating_sub(first_ns),
        ideal_ns: (is_complete && dropped == 0).then_some(ideal_ns),
        outside: ids.iter().copied().zip(replayed.iter().map(|process| process.outside_ns)).collect(),
    })
}

/// The job of each process that is a rank.
fn jobs(profile: &Profile) -> Vec<Option<u32>> {
    let processes = &profile.processes.raw;
    let parent_of = |id: usize| {
        let is_parent = |other: &&proust_profile::Process| {
            (other.pid, &other.host) == (processes[id].parent_pid, &processes[id].host)
        };
        processes.iter().position(|other| is_parent(&other))
    };
    bindings::jobs(processes, parent_of)
}

/// World ranks of the members of a communicator, where this process wrote them down.
fn members(log: &LogHarvest, number: u32) -> Vec<u32> {
    let texts = log.lanes.iter().flat_map(|lane| lane.texts.of(Subject::Members));
    let bytes = texts.filter(|text| text.id == number).map(|text| text.bytes()).next().unwrap_or_default();
    bytes.chunks_exact(4).map(|rank| u32::from_le_bytes([rank[0], rank[1], rank[2], rank[3]])).collect()
}

/// Whose communicators have the same ids: a job's, or those of a process alone.
type World = Result<u32, ProcessId>;

/// The communicators of a run.
#[derive(Default)]
struct Communicators {
    all: Vec<Found>,
    numbers: FxHashMap<(World, u64, u32), u32>,
    /// Which process is which member; another one with the same place would be another communicator.
    taken: FxHashMap<(u32, bool, u32), ProcessId>,
}

#[derive(Default)]
struct Found {
    info: CommunicatorInfo,
    is_contradictory: bool,
}

impl Communicators {
    fn add(
        &mut self,
        (world, process): (World, ProcessId),
        flags: u16,
        recorded: &Recorded,
        members: Vec<u32>,
    ) -> Membership {
        let is_known = flags & COMMUNICATOR_UNKNOWN == 0;
        let is_on_second_side = flags & COMMUNICATOR_SECOND_SIDE != 0;
        let sides = (recorded.size, recorded.remote_size);
        let (size, second_size) = if is_on_second_side { (sides.1, sides.0) } else { sides };
        // One process alone, and one that was made unnoticed, is none that another process knows.
        let is_shared = is_known && u64::from(size) + u64::from(second_size) > 1;
        let world = if is_shared { world } else { Err(process) };
        let next = self.all.len() as u32;
        let own = if is_shared { 0 } else { recorded.number };
        let communicator = *self.numbers.entry((world, recorded.id, own)).or_insert(next);
        if communicator == next {
            self.all.push(Found::default());
        }
        let found = &mut self.all[communicator as usize];
        let info = &mut found.info;
        if info.recorded == 0 {
            (info.id, info.size, info.second_size) = (recorded.id, size, second_size);
            info.is_world = flags & COMMUNICATOR_WORLD != 0;
            info.is_known = is_known;
        }
        info.recorded += 1;
        if !members.is_empty() && !is_on_second_side {
            info.members = members;
        }
        found.is_contradictory |= (info.size, info.second_size) != (size, second_size);
        let place = (communicator, is_on_second_side, recorded.rank);
        found.is_contradictory |= self.taken.insert(place, process).is_some();
        Membership { communicator, rank: recorded.rank, is_on_second_side }
    }
}

impl Found {
    fn as_matched(&self) -> Communicator {
        let CommunicatorInfo { size, second_size, is_known, .. } = self.info;
        Communicator { size, second_size, is_known: is_known && !self.is_contradictory }
    }
}

fn tables(
    profile: &mut Profile,
    ids: &[ProcessId],
    communicators: Communicators,
    matched: &Matched,
    operations: &[Option<OperationId>],
) {
    profile.communicators = (0_u32..)
        .zip(communicators.all)
        .map(|(number, found)| {
            let is_known = found.as_matched().is_known;
            let (messages, bytes) = matched.messages.get(&number).copied().unwrap_or_default();
            CommunicatorInfo { is_known, messages, bytes, ..found.info }
        })
        .collect();
    profile.traffic = (matched.traffic.iter())
        .map(|(&(from, to), traffic)| TrafficRow {
            from: ids[from as usize],
            to: ids[to as usize],
            messages: traffic.messages,
            bytes: traffic.bytes,
        })
        .collect();
    profile.traffic.sort_unstable_by_key(|row| (row.from, row.to));
    profile.gatherings = (matched.gatherings.iter())
        .filter_map(|(&(communicator, operation), gathering)| {
            let operation = operations.get(operation as usize).copied().flatten()?;
            let (instances, bytes) = (gathering.instances, gathering.bytes);
            Some(GatheringRow { communicator, operation, instances, bytes })
        })
        .collect();
    profile.gatherings.sort_unstable_by_key(|row| (row.communicator, row.operation));
    profile.unmatched = (matched.unmatched.iter())
        .map(|(&(process, part, reason), &count)| UnmatchedRow {
            process: ids[process as usize],
            part: match part {
                Part::Send => MessagePart::Send,
                Part::Receive => MessagePart::Receive,
                Part::Collective => MessagePart::Collective,
            },
            reason: match reason {
                Reason::NotRecorded => UnmatchedReason::NotRecorded,
                Reason::UnknownCommunicator => UnmatchedReason::UnknownCommunicator,
                Reason::BehindGap => UnmatchedReason::BehindGap,
                Reason::CutOff => UnmatchedReason::CutOff,
                Reason::NeverCompleted => UnmatchedReason::NeverCompleted,
                Reason::Missing => UnmatchedReason::Missing,
            },
            count,
        })
        .collect();
    profile.unmatched.sort_unstable_by_key(|row| (row.process, row.part, row.reason));
}

fn in_order(wait: &PartnerWaitRow) -> (LocationId, u64, u64) {
    (wait.location, wait.begin_ns, wait.until_ns)
}

/// The waits of a process as rows, at the call sites of their events.
fn partner_waits<'w>(
    processes: &'w [Gathered],
    process: usize,
    all: &'w Calls,
    waits: &'w [(CallId, Wait)],
) -> impl Iterator<Item = PartnerWaitRow> + 'w {
    let made = all.made(&processes[process].ways);
    waits.iter().filter_map(move |&(call, wait)| {
        let (times, Made { location, site, .. }) = (all.times[call as usize], made[call as usize]);
        let late = processes[wait.late.0 as usize].ways.get(wait.late_site)?;
        let late_context = late.site.map_or(ContextId::PROGRAM, |site| site.context);
        site.map(|Site { context, operation }| PartnerWaitRow {
            location,
            context,
            operation,
            begin_ns: times.begin_ns,
            until_ns: wait.until_ns.clamp(times.begin_ns, times.end_ns.max(times.begin_ns)),
            pattern: pattern(wait.pattern),
            late: late.location,
            late_context,
            misordered_ns: wait.misordered_ns,
            bytes: wait.bytes,
        })
    })
}

fn pattern(pattern: Pattern) -> WaitPattern {
    match pattern {
        Pattern::LateSender => WaitPattern::LateSender,
        Pattern::LateReceiver => WaitPattern::LateReceiver,
        Pattern::Barrier => WaitPattern::Barrier,
        Pattern::AllToAll => WaitPattern::AllToAll,
        Pattern::LateRoot => WaitPattern::LateBroadcast,
        Pattern::EarlyRoot => WaitPattern::EarlyReduce,
        Pattern::EarlyScan => WaitPattern::EarlyScan,
    }
}
