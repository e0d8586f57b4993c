//! Waiting at a site of a region: for all others, or for who is in a section.
//!
//! An operation like any other; besides, the segment of work before it ends here.

use proust_log::operations::Operation;

use super::member::Member;
use super::sites::{Passed, Site};
use super::team::Team;
use crate::lane::{self, Lane};
use crate::operation::{here, meeting, stretch};
use crate::path::memo::State;
use crate::{clock, life};

/// Runs `call`, in which the thread waits until all of its team have come. `site` is where the hook returns to.
#[inline(always)]
pub fn for_all<R: Copy>(operation: Operation, site: u64, call: impl FnOnce() -> R) -> R {
    let mut marker = 0;
    let state = here!();
    let begun = begin_for_all(operation, state, Some(&mut marker));
    let result = call();
    if let Some(lane) = begun {
        end_for_all(lane, operation, site, state);
    }
    result
}

/// What waiting for all counts as: a team of one waits for nobody, and all that it takes is the runtime's.
#[inline]
pub fn of_team(operation: Operation, member: &Member) -> Operation {
    let is_alone = if member.team().is_some() { member.team_size() == 1 } else { member.is_outside() };
    match operation {
        Operation::OmpBarrier if is_alone => Operation::OmpBarrierOfOne,
        _ if is_alone => Operation::OmpWaitOfOne,
        _ => operation,
    }
}

/// Begins to wait for all; `state` lives until the end, where there is a `marker` in its frame. The thread's lane, if that is
/// followed.
#[inline(never)]
pub fn begin_for_all(operation: Operation, state: State, marker: Option<&mut u64>) -> Option<&'static Lane> {
    let what = |lane: &Lane| (of_team(operation, lane.member), lane.member.team().map_or(0, Team::object));
    let (lane, begin_ns) = meeting::begin(what, state, marker)?;
    let member = lane.member;
    member.pause(begin_ns);
    if member.waits_long() {
        stretch::clock_at(lane, of_team(operation, member), begin_ns, member.last_wait_ns());
    }
    if operation == Operation::OmpBarrier
        && let Some(team) = member.team()
    {
        team.arrivals.come(&member.barriers, member.number() == 0, begin_ns);
    }
    Some(lane)
}

/// Ends it.
#[inline(never)]
pub fn end_for_all(lane: &'static Lane, operation: Operation, site: u64, state: State) {
    let member = lane.member;
    let comes = operation == Operation::OmpBarrier;
    let team = member.team();
    let size = if team.is_some() { member.team_size() } else { 1 };
    let counts_as = if lane.open.is(operation) { operation } else { of_team(operation, member) };
    let end_ns = meeting::end(lane, counts_as, |record, begin_ns, end_ns| {
        let ns = end_ns.saturating_sub(begin_ns);
        member.has_waited(ns);
        let mut passed = Passed {
            end_ns,
            work_ns: member.take_work(),
            wait_ns: ns + member.take_waited(),
            executions: 1,
            team: size,
            ..Passed::default()
        };
        // Without a team of known members nobody knows who came last.
        if let Some(team) = team.filter(|_| comes) {
            match team.arrivals.last_ns(&member.barriers) {
                Some(last_ns) => passed.latency_ns = end_ns.saturating_sub(last_ns.max(begin_ns)),
                None => passed.is_whole = true,
            }
        }
        add_to(lane, record, operation, (site, state), &passed);
    });
    if end_ns != 0 {
        member.resume(end_ns);
    }
}

/// Adds to the site what was worked before it and waited in it; `state` is where its call path begins.
#[inline]
fn add(lane: &'static Lane, operation: Operation, (site, state): (u64, State), passed: &Passed) {
    let team = if lane.member.team().is_some() { lane.member.team_size() } else { 1 };
    let passed = Passed { team, ..*passed };
    lane.with_record_in_silence(|record| add_to(lane, record, operation, (site, state), &passed));
}

/// As [`add`], where the lane's record has been taken.
#[inline]
fn add_to(
    lane: &'static Lane,
    record: &mut lane::Record,
    operation: Operation,
    (site, state): (u64, State),
    passed: &Passed,
) {
    let place =
        Site { region: lane.member.region(), operation: operation as u16, address: site, sp: state.sp };
    if !record.sites.add_known(&place, passed) {
        add_first(lane, record, &{ place }, state, &{ *passed });
    }
}

/// Apart, so that what is added to a known site need not lie in memory for it.
#[cold]
#[inline(never)]
fn add_first(lane: &'static Lane, record: &mut lane::Record, place: &Site, state: State, passed: &Passed) {
    // SAFETY: the owner, who has taken the record.
    let node = unsafe { lane.with_room(|| node_of(record, state)) };
    record.sites.add(place, passed, &mut record.output, |_| node);
}

fn node_of(record: &mut lane::Record, state: State) -> u32 {
    match life::recording() {
        Some(life) if record.output.is_open() => record.path(state, life.pid).0,
        _ => 0,
    }
}

/// A section was entered in which nobody was: counts it, and leaves the segment as it is.
#[inline]
pub fn counted(lane: &'static Lane, operation: Operation, site: u64, state: State) {
    add(lane, operation, (site, state), &Passed { executions: 1, ..Passed::default() });
}

/// A section was entered after somebody had been in it.
#[inline]
pub fn waited_for_holder(
    lane: &'static Lane,
    operation: Operation,
    (site, state): (u64, State),
    end_ns: u64,
    wait_ns: u64,
) {
    if lane.member.team().is_none() {
        return;
    }
    let passed = Passed { end_ns, wait_ns, executions: 1, contended: true, ..Passed::default() };
    add(lane, operation, (site, state), &passed);
    lane.member.resume(end_ns);
}

/// Of so many requests for iterations one is timed.
const TIMED_OF: u32 = 16;

/// Runs `call`, which asks for iterations.
#[inline(always)]
pub fn for_iterations<R: Copy>(site: u64, state: State, call: impl FnOnce() -> R) -> R {
    let Some(lane) = lane::current().filter(|lane| lane.member.team().is_some()) else { return call() };
    if life::recording().is_none() {
        return call();
    }
    let timed = lane.member.next_request() % TIMED_OF == 0;
    let begin_ns = if timed { clock::now_ns() } else { 0 };
    let result = call();
    let mut passed = Passed { executions: 1, ..Passed::default() };
    if timed {
        passed.end_ns = clock::now_ns();
        passed.wait_ns = passed.end_ns.saturating_sub(begin_ns) * u64::from(TIMED_OF);
    }
    add(lane, Operation::OmpDispatch, (site, state), &passed);
    result
}
