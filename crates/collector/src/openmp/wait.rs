//! Waiting at a site of a region: for all others, or for who is in a section.
//!
//! An operation like any other; besides, the segment of work before it ends here.

use proust_log::operations::Operation;

use super::sites::{Passed, Site};
use super::team::{self, Team};
use crate::lane::{self, Lane};
use crate::operation::{self, Kind, here, stretch};
use crate::path::memo::State;
use crate::{clock, life};

/// Runs `call`, in which the thread waits until all of its team have come. `site` is where the hook returns to.
#[inline(always)]
pub fn for_all<R: Copy>(operation: Operation, site: u64, call: impl FnOnce() -> R) -> R {
    let mut marker = 0;
    let state = here!();
    let begun = begin_for_all(operation, state, Some(&mut marker));
    let result = call();
    if let Some(begun) = begun {
        end_for_all(operation, &begun, site, state);
    }
    result
}

/// A wait for all that has begun.
#[derive(Clone, Copy)]
pub struct Begun {
    lane: &'static Lane,
    team: Option<&'static Team>,
    barrier: u32,
}

impl Begun {
    /// The number of the barrier.
    pub fn barrier(&self) -> u32 {
        self.barrier
    }

    /// Of what the calling thread is in, where no frame lasts from its begin to its end.
    pub fn of_current() -> Option<Begun> {
        let lane = lane::current()?;
        let comes = lane.open.kind().is_some_and(|kind| kind.operation == Operation::OmpBarrier);
        Some(Begun { lane, team: lane.member.team().filter(|_| comes), barrier: lane.member.barrier() })
    }
}

/// Begins to wait for all; `state` lives until the end, where there is a `marker` in its frame.
#[inline]
pub fn begin_for_all(operation: Operation, state: State, marker: Option<&mut u64>) -> Option<Begun> {
    let lane = lane::current()?;
    let team = lane.member.team();
    let object = team.map_or(0, Team::object);
    let (mut none, lasts) = (0, marker.is_some());
    let ticket = operation::begin(Kind::from(operation), (object, 0), state, marker.unwrap_or(&mut none));
    if !ticket.is_followed() {
        return None;
    }
    if !lasts {
        lane.open.hold();
    }
    let begin_ns = lane.open.begin_ns();
    lane.member.pause(begin_ns);
    let comes = operation == Operation::OmpBarrier;
    if lane.member.waits_long() {
        stretch::clock_at(lane, operation, begin_ns, lane.member.last_wait_ns());
    }
    let barrier = team.filter(|_| comes).map_or(0, |team| team.arrive(lane.member, begin_ns));
    Some(Begun { lane, team: team.filter(|_| comes), barrier })
}

/// Ends it.
#[inline]
pub fn end_for_all(operation: Operation, begun: &Begun, site: u64, state: State) {
    let lane = begun.lane;
    let begin_ns = lane.open.begin_ns();
    let end_ns = team::end_open(lane, operation);
    if end_ns == 0 {
        return;
    }
    lane.member.has_waited(end_ns.saturating_sub(begin_ns));
    // Without a team of known members nobody knows who came last.
    let last_ns = begun.team.map_or(end_ns, |team| team.last_arrival_ns(begun.barrier));
    let latency_ns = end_ns.saturating_sub(last_ns.max(begin_ns));
    let wait_ns = end_ns.saturating_sub(begin_ns) + lane.member.take_waited();
    let work_ns = lane.member.take_work();
    let passed = Passed { end_ns, work_ns, wait_ns, latency_ns, executions: 1, ..Passed::default() };
    add(lane, operation, (site, state), &passed);
    lane.member.resume(end_ns);
}

/// Adds to the site what was worked before it and waited in it; `state` is where its call path begins.
#[inline]
fn add(lane: &'static Lane, operation: Operation, (site, state): (u64, State), passed: &Passed) {
    let member = &lane.member;
    let place = Site { region: member.region(), operation: operation as u16, address: site, sp: state.sp };
    let passed = Passed { team: if member.team().is_some() { member.team_size() } else { 1 }, ..*passed };
    lane.with_record_in_silence(|record| {
        let record = &mut *record;
        if record.sites.knows(&place) {
            record.sites.add(&place, &passed, &mut record.output, |_| 0);
        } else {
            // SAFETY: the owner, and `with_record_in_silence` has set `busy`.
            let node = unsafe { lane.with_room(|| node_of(record, state)) };
            record.sites.add(&place, &passed, &mut record.output, |_| node);
        }
    });
}

#[cold]
#[inline(never)]
fn node_of(record: &mut lane::Record, state: State) -> u32 {
    match life::recording() {
        Some(life) if record.output.is_open() => {
            record.look_for_own_stack(life, state.sp);
            record.path(state, life.pid).0
        }
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
