//! A thread's part of a region: it begins, does it, and is docked until it has work again.

use core::sync::atomic::Ordering;

use proust_log::operations::Operation;
use proust_log::records::Stay;

use super::Team;
use super::closing::release_the_rest;
use super::given::{Given, Opened};
use super::times::end_of_wait;
use crate::lane::{self, Lane, Record};
use crate::openmp::long_gaps;
use crate::openmp::member::LONG_WORK_NS;
use crate::openmp::sites::{Segment, Site};
use crate::openmp::wait;
use crate::operation::{self, Kind, Outcome, Ticket, here, stretch};
use crate::path::memo::State;
use crate::path::tree::NodeId;
use crate::{clock, life};

/// The calling thread begins its part, as number `number` of `size`; a thread that did not open the region
/// need not know that, and passes 0. `given`: what it was given of the region with its work.
pub fn join(team: &'static Team, number: u32, size: u32, given: Option<Given>) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let member = &lane.member;
    let (fork_ns, now_ns) = if team.is_opened_by(lane) {
        team.own.size.store(size, Ordering::Relaxed);
        release_the_rest(team, lane, size);
        let now_ns = end_open(lane, Operation::OmpFork);
        let now_ns = if now_ns == 0 { clock::now_ns() } else { now_ns };
        (team.times.fork_ns(), now_ns)
    } else {
        let now_ns = clock::now_ns();
        let opened = given
            .and_then(|given| given.opened(now_ns))
            .unwrap_or_else(|| Opened { fork_ns: team.times.fork_ns(), before_end_ns: None });
        member.own_cost.begin_part();
        undock(lane, Some(team), &opened, now_ns);
        team.add(lane, number);
        (opened.fork_ns, now_ns)
    };
    learn_of_last_barrier(lane, team);
    member.enter(team, team.region(), (number, size), (fork_ns, now_ns));
    let segment = Segment {
        end_ns: now_ns,
        wait_ns: now_ns.saturating_sub(fork_ns),
        executions: 1,
        team: u16::try_from(size).unwrap_or(u16::MAX),
        added: member.own_cost.take(),
        ..Segment::default()
    };
    add(lane, Operation::OmpFork, team.region(), &segment);
    member.own_cost.took(now_ns);
}

/// The region is over in which the thread left a barrier of this team last, if it is the one before this:
/// then all have left that barrier, and none was at another one since.
#[inline]
fn learn_of_last_barrier(lane: &'static Lane, team: &'static Team) {
    let leaving = &lane.member.leaving;
    if leaving.is_of(team) {
        if leaving.epoch() == team.before_fork_ns() {
            learn(lane, team);
        }
        leaving.forget();
    }
}

/// All of the team have left the barrier that the thread left last.
pub(super) fn learn(lane: &'static Lane, team: &'static Team) {
    if let Some((site, spread_ns)) = lane.member.leaving.learn(team) {
        lane.with_record_in_silence(|record| record.parallel.sites.spread(&site, spread_ns));
    }
}

/// The calling thread has done its part.
pub fn done(team: &'static Team) {
    if life::recording().is_none() {
        return;
    }
    let Some(lane) = lane::current() else { return };
    let member = &lane.member;
    if !member.team().is_some_and(|mine| core::ptr::eq(mine, team)) {
        return;
    }
    let is_opener = team.is_opened_by(lane);
    let now_ns = if is_opener {
        let now_ns = begin_end(lane, team);
        team.own.done_ns.store(now_ns, Ordering::Relaxed);
        now_ns
    } else {
        clock::now_ns()
    };
    member.pause(now_ns);
    if let Some(visits) = member.visits() {
        long_gaps::take_out(lane, visits, now_ns);
    }
    let region = team.region();
    let state = here!();
    lane.with_record_in_silence(|record| {
        let segment = Segment {
            end_ns: now_ns,
            work_ns: member.take_work_after_visits(now_ns),
            executions: 1,
            team: member.team_size(),
            added: member.own_cost.take(),
            ..Segment::default()
        };
        add_to(record, Operation::OmpRegionEnd, region, &segment);
        let begin_ns = member.begin_ns();
        if now_ns.saturating_sub(begin_ns) >= record.parallel.stay_limit.ns {
            let stay = Stay {
                fork_ns: team.times.fork_ns(),
                begin_ns,
                end_ns: now_ns,
                region,
                interval: record.marks.interval(),
            };
            let number = u16::try_from(member.number()).unwrap_or(u16::MAX);
            // SAFETY: the owner, which has taken the record.
            unsafe { lane.with_room(|| record.output.push_shaped(number, member.team_size(), &stay)) };
            record.parallel.stay_limit.recorded(now_ns);
        }
        if !is_opener && member.idle_node() == 0 {
            // SAFETY: as above.
            let node = unsafe { lane.with_room(|| idle_node(record, state)) };
            member.set_idle_node(node);
        }
    });
    let waits = wait::of_team(Operation::OmpRegionEnd, member);
    member.leave();
    let inside_ns = now_ns.saturating_sub(member.begin_ns());
    if member.waits_long() || inside_ns >= LONG_WORK_NS {
        stretch::clock_at(lane, waits, now_ns, inside_ns.max(member.last_wait_ns()));
    }
    if !is_opener {
        member.set_docked(now_ns);
        member.set_docked_in(team);
        lane.dock(now_ns, team.object(), region);
    }
    member.own_cost.took(now_ns);
}

#[cold]
#[inline(never)]
fn idle_node(record: &mut Record, state: State) -> NodeId {
    match life::recording() {
        Some(life) if record.output.is_open() => record.path(state, life.pid).0,
        _ => 0,
    }
}

/// The opener begins to wait for the others; when that was.
fn begin_end(lane: &'static Lane, team: &'static Team) -> u64 {
    let marker = team.own.frame.marker.load(Ordering::Relaxed) as *mut u64;
    let mut none = 0;
    // SAFETY: a word in the frame of the opener's hook, which lives until the region is over.
    let word = unsafe { marker.as_mut() };
    let state = if marker.is_null() { here!() } else { team.own.frame.state() };
    let kind = Kind::from(wait::of_team(Operation::OmpRegionEnd, lane.member));
    let ticket = operation::begin(kind, (team.object(), 0), state, word.unwrap_or(&mut none));
    if !ticket.is_followed() {
        return clock::now_ns();
    }
    if marker.is_null() {
        lane.operations.open.outlives_its_frame();
    }
    lane.operations.open.begin_ns()
}

/// A thread that was docked is no longer docked: records what it waited for since. `team` is the one in which
/// it got work again.
fn undock(lane: &'static Lane, team: Option<&'static Team>, opened: &Opened, now_ns: u64) {
    let member = &lane.member;
    let (region, fork_ns) = (team.map_or(0, Team::region), opened.fork_ns);
    let docked_ns = member.docked_ns();
    let mut free_ns = lane.born_ns();
    if docked_ns != 0 {
        member.set_docked(0);
        member.has_waited(now_ns.saturating_sub(docked_ns));
        let docked_for = lane.docked_for();
        let released = lane.undock(docked_ns);
        let docked_in = member.docked_in();
        let is_same = docked_in.zip(team).is_some_and(|(docked_in, team)| core::ptr::eq(team, docked_in));
        let ended_ns = end_of_wait(
            docked_ns,
            released.map(|released| released.at_ns),
            opened.before_end_ns.filter(|_| is_same),
            docked_in.map(|team| &team.times),
        );
        let until_ns = ended_ns.unwrap_or(0).clamp(docked_ns, now_ns);
        let wait_ns = until_ns - docked_ns;
        let old = member.region();
        let end = (Operation::OmpRegionEnd, docked_for);
        stretch::record(lane, end, (docked_ns, until_ns), member.idle_node());
        let segment = Segment {
            end_ns: until_ns,
            wait_ns,
            latency_ns: released.map_or(0, |released| released.latency_ns.min(wait_ns)),
            is_whole: released.is_none(),
            ..Segment::default()
        };
        add(lane, Operation::OmpRegionEnd, old, &segment);
        member.set_region(0);
        free_ns = fork_ns.clamp(until_ns, now_ns);
        stretch::record(lane, (Operation::OmpIdle, 0), (until_ns, free_ns), member.idle_node());
    }
    member.set_region(region);
    stretch::record(
        lane,
        (Operation::OmpFork, 0),
        (fork_ns.clamp(free_ns.min(now_ns), now_ns), now_ns),
        member.idle_node(),
    );
}

/// A thread that is docked ends.
pub fn settle(lane: &'static Lane) {
    if lane.member.docked_ns() != 0 {
        let now_ns = clock::now_ns();
        undock(lane, None, &Opened { fork_ns: now_ns, before_end_ns: None }, now_ns);
    }
}

/// Ends the operation that the lane is in, if it is this one; when that was, 0 if it is not.
pub fn end_open(lane: &'static Lane, operation: Operation) -> u64 {
    if lane.operations.open.kind().is_some_and(|kind| kind.operation == operation) {
        operation::end(Ticket::of_open(lane), Outcome::default())
    } else {
        0
    }
}

pub(super) fn add(lane: &'static Lane, operation: Operation, region: u32, segment: &Segment) {
    lane.with_record_in_silence(|record| add_to(record, operation, region, segment));
}

fn add_to(record: &mut Record, operation: Operation, region: u32, segment: &Segment) {
    record.parallel.sites.add_elsewhere(&Site::of_region(region, operation), segment, &mut record.output);
}
