//! Waiting at a site of a region: for all others, or for the thread that is in a section.
//!
//! An operation like any other; besides, the segment of work before it ends here. Of barriers that follow
//! each other closely only some are measured ([`visits`]).

use proust_log::control::NO_WAITS;
use proust_log::operations::Operation;

use super::arrivals::{Shared, Visit};
use super::long_gaps;
use super::member::Member;
use super::settling;
use super::sites::{Added, Arrived, Divided, Segment, Site};
use super::team::Team;
use super::visits::{self, CallSite, Inside, Pending, SiteOf, Visits, Way};
use crate::lane::{self, Lane};
use crate::operation::{here, meeting, stretch};
use crate::path::memo::State;
use crate::{clock, life, options};

/// Runs `call`, which is a barrier. Where it ends by a jump to the runtime, nothing of this frame is left.
#[inline(always)]
pub fn at_barrier<R: Copy>(site: CallSite, call: impl FnOnce() -> R) -> R {
    if visits::pass_alone(site) { call() } else { at_barrier_of_several(site, call) }
}

#[inline(never)]
fn at_barrier_of_several<R: Copy>(site: CallSite, call: impl FnOnce() -> R) -> R {
    let Some(visits) = visits::pass(site, Inside::WithFrame) else {
        return for_all(Operation::OmpBarrier, site, call);
    };
    let state = here!();
    let result = call();
    visits.over(|end_ns| end_drawn_visit(visits, end_ns, state));
    result
}

/// Runs `call`, in which the thread waits until all of its team have arrived, or all tasks that it waits for
/// are done.
#[inline(always)]
pub fn for_all<R: Copy>(operation: Operation, site: CallSite, call: impl FnOnce() -> R) -> R {
    let mut marker = 0;
    let state = here!();
    let begun = begin_for_all(operation, site, state, Some(&mut marker));
    let result = call();
    match begun {
        Begun::Measured(lane) => end_for_all(lane, operation, site, state),
        Begun::Passed(visits) => visits.over(|end_ns| end_drawn_visit(visits, end_ns, state)),
        Begun::Unknown => {}
    }
    result
}

/// How a wait for all has begun.
#[derive(Clone, Copy)]
pub enum Begun {
    /// It is measured, in this lane.
    Measured(&'static Lane),
    /// It is a visit to a barrier of which not all are measured.
    Passed(&'static Visits),
    /// It is not followed.
    Unknown,
}

/// The operation that waiting for all counts as: a team of one waits for no other thread, and all its time
/// there is the runtime's.
#[inline]
pub fn of_team(operation: Operation, member: &Member) -> Operation {
    let is_alone = if member.team().is_some() { member.team_size() == 1 } else { member.is_outside() };
    match operation {
        Operation::OmpBarrier if is_alone => Operation::OmpBarrierOfOne,
        _ if is_alone => Operation::OmpWaitOfOne,
        _ => operation,
    }
}

/// Begins to wait for all at `site`; `state` lives until the end, where there is a `marker` in its frame.
#[inline(never)]
pub fn begin_for_all(operation: Operation, site: CallSite, state: State, marker: Option<&mut u64>) -> Begun {
    let visits = if operation == Operation::OmpBarrier { visits_of_caller() } else { None };
    if let Some((lane, visits)) = visits {
        let counts_as = of_team(operation, lane.member);
        let inside = if marker.is_some() { Inside::WithFrame } else { Inside::WithoutFrame };
        let (way, is_first) = visits.arrive(lane, counts_as, site, inside);
        if way != Way::Drawn {
            pass_without_measuring(lane, visits, way, is_first, (site, state));
            visits.enter(inside);
            return Begun::Passed(visits);
        }
        if visits.leaves_out() {
            visits.enter_drawn(inside);
            return Begun::Passed(visits);
        }
    }
    let what = |lane: &Lane| (of_team(operation, lane.member), lane.member.team().map_or(0, Team::object));
    let Some((lane, begin_ns)) = meeting::begin(what, state, marker) else { return Begun::Unknown };
    let member = lane.member;
    member.pause(begin_ns);
    if let Some(visits) = member.visits() {
        long_gaps::take_out(lane, visits, begin_ns);
    }
    if member.waits_long() {
        stretch::clock_at(lane, of_team(operation, member), begin_ns, member.last_wait_ns());
    }
    if operation == Operation::OmpBarrier
        && let Some(team) = member.team()
    {
        let level = || visits.map_or(0, |(lane, visits)| wanted_level(lane, visits, begin_ns));
        team.arrivals.arrive(&member.barriers, member.number() == 0, begin_ns, level);
    }
    if let Some((_, visits)) = visits {
        visits.took(begin_ns);
    }
    Begun::Measured(lane)
}

/// The calling thread and its visits to barriers, if those are followed.
fn visits_of_caller() -> Option<(&'static Lane, &'static Visits)> {
    life::in_hook()?;
    let lane = lane::current()?;
    let is_followed = options::live() & NO_WAITS == 0 && lane.member.docked_ns() == 0;
    if is_followed { Some((lane, visits::of(lane)?)) } else { None }
}

fn wanted_level(lane: &'static Lane, visits: &Visits, now_ns: u64) -> u32 {
    // SAFETY: the owner, and `with_record_in_silence` has taken the record.
    let level = lane.with_record_in_silence(|_| visits.wanted_level(unsafe { visits.pending() }, now_ns));
    level.unwrap_or_else(|| visits.level())
}

/// Whether the thread draws alone, without a team to agree with. A worker may not know how many are in its
/// team.
fn is_alone(member: &Member) -> bool {
    member.team().is_none() || member.team_size() == 1
}

/// Begins a visit that is not drawn. Where the visit before it was, the work between the two is measured.
#[inline(never)]
fn pass_without_measuring(
    lane: &'static Lane,
    visits: &'static Visits,
    way: Way,
    is_first: bool,
    (site, state): (CallSite, State),
) {
    if way == Way::ClockBefore {
        let now_ns = clock::now_ns();
        lane.member.pause(now_ns);
        let work_ns = lane.member.take_work();
        lane.with_record_in_silence(|record| {
            // SAFETY: the owner, which has taken the record.
            let tally = unsafe { &mut visits.pending().tallies[visits.at()] };
            tally.worked(work_ns, visits.weight().into());
            tally.segment_was_measured();
            let segment = Segment { end_ns: now_ns, work_ns, ..Segment::default() };
            add_to(lane, record, Operation::OmpBarrier, (site, state), &segment);
        });
        lane.member.resume(now_ns);
    } else if is_first {
        // The site's call path is found while the thread stands there.
        lane.with_record_in_silence(|record| learn_path(lane, record, (site, state)));
    }
}

/// Ends a wait that is measured.
#[inline(never)]
pub fn end_for_all(lane: &'static Lane, operation: Operation, site: CallSite, state: State) {
    let member = lane.member;
    let arrives = operation == Operation::OmpBarrier;
    let team = member.team();
    let size = if team.is_some() { member.team_size() } else { 1 };
    let counts_as = if lane.operations.open.is(operation) { operation } else { of_team(operation, member) };
    let visits = member.visits().filter(|_| arrives);
    let mut is_recorded = false;
    let end_ns = meeting::end(lane, counts_as, |record, begin_ns, end_ns| {
        is_recorded = true;
        let ns = end_ns.saturating_sub(begin_ns);
        member.has_waited(ns);
        let mut segment = Segment {
            end_ns,
            wait_ns: ns + member.take_waited(),
            executions: 1,
            team: size,
            ..Segment::default()
        };
        let (mut level, mut left) = (None, None);
        // Without a team of known members it is unknown which thread arrived last.
        if let Some(team) = team.filter(|_| arrives) {
            match team.arrivals.last(&member.barriers) {
                Some(last) => {
                    segment.latency_ns = end_ns.saturating_sub(last.ns.max(begin_ns));
                    segment.arrived = if last.ns <= begin_ns { Arrived::Last } else { Arrived::Early };
                    level = Some(last.level);
                    let line = team.arrivals.leave(&member.barriers, end_ns);
                    left = Some((team, line));
                }
                None => segment.is_whole = true,
            }
            if let Some((place, spread_ns)) = member.leaving.learn(team) {
                record.parallel.sites.spread(&place, spread_ns);
            }
            let awaited = team.arrivals.awaited(&member.barriers);
            if let (Some(visits), Some(awaited)) = (visits, &awaited) {
                learn(lane, record, visits, awaited);
            }
        }
        match visits {
            Some(visits) => {
                // SAFETY: the owner, and `meeting::end` has taken the record.
                let pending = unsafe { visits.pending() };
                if is_alone(member) {
                    level = Some(visits.wanted_level(pending, end_ns));
                }
                take_segment(lane, (visits, pending), level, begin_ns, &mut segment);
            }
            None => segment.work_ns = member.take_work_after_visits(begin_ns),
        }
        add_to(lane, record, operation, (site, state), &segment);
        if let Some((team, line)) = left {
            member.leaving.left(team, line, (member.epoch(), end_ns), &place_at(lane, operation, site));
        }
    });
    if end_ns != 0 {
        if let Some(visits) = visits {
            if !is_recorded {
                let level = team.and_then(|team| team.arrivals.last(&member.barriers)).map(|last| last.level);
                let awaited = team.and_then(|team| team.arrivals.awaited(&member.barriers));
                keep_step(lane, visits, level, awaited);
            }
            lane.waits_since(end_ns);
            visits.took(end_ns);
        }
        member.resume(end_ns);
    }
}

/// Ends a drawn visit to a barrier of which not all visits are measured. All that takes time is done only
/// now, when no thread waits for this one any more. `state` is a frame that is still there.
#[cold]
#[inline(never)]
pub fn end_drawn_visit(visits: &'static Visits, end_ns: u64, state: State) {
    let Some(lane) = lane::current() else { return };
    let member = lane.member;
    let (arrived_ns, since_ns) = visits.arrived_and_waits_since();
    member.pause(since_ns);
    long_gaps::take_out(lane, visits, since_ns);
    let team = member.team();
    let size = if team.is_some() { member.team_size() } else { 1 };
    let (at, of) = (visits.at(), visits.site(visits.at()));
    let what = (of.operation.unwrap_or(Operation::OmpBarrier), team.map_or(0, Team::object));
    let awaited = team.and_then(|team| {
        let visit = Visit { at, arrived_ns, since_ns, end_ns };
        let level = || wanted_level(lane, visits, end_ns);
        team.arrivals.passed(&member.barriers, member.number() == 0, &visit, level)
    });
    let mut is_recorded = false;
    meeting::record_passed(lane, what, (since_ns, end_ns), state, |record| {
        is_recorded = true;
        let ns = end_ns.saturating_sub(since_ns);
        member.has_waited(ns);
        // SAFETY: the owner, which has taken the record.
        let pending = unsafe { visits.pending() };
        let mut segment = Segment {
            end_ns,
            wait_ns: ns + member.take_waited(),
            executions: 1,
            team: size,
            is_whole: team.is_some(),
            ..Segment::default()
        };
        let level = is_alone(member).then(|| visits.wanted_level(pending, end_ns));
        let longest_ns = pending.long.from_ns();
        if let Some(trial) = pending.trials.get_mut(at) {
            visits.end_stretch(trial, at, arrived_ns, longest_ns);
        }
        take_segment(lane, (visits, pending), level, since_ns, &mut segment);
        let place = place_of(&of);
        record.parallel.sites.add_elsewhere(&place, &segment, &mut record.output);
        if let Some((place, spread_ns)) = team.and_then(|team| member.leaving.learn(team)) {
            record.parallel.sites.spread(&place, spread_ns);
        }
        if let Some(awaited) = &awaited {
            learn(lane, record, visits, awaited);
        }
    });
    if !is_recorded {
        keep_step(lane, visits, None, awaited);
    }
    lane.waits_since(end_ns);
    member.resume(end_ns);
    visits.took(end_ns);
}

/// A drawn visit is over while another thread uses the record: the team's agreement advances all the same.
#[cold]
#[inline(never)]
fn keep_step(lane: &Lane, visits: &Visits, level: Option<u32>, awaited: Option<(Visit, Shared)>) {
    visits.drawn(lane, level);
    if let Some((visit, last)) = awaited {
        visits.set_level(lane, visit.at, last.level);
    }
}

fn place_at(lane: &Lane, operation: Operation, site: CallSite) -> Site {
    let (region, operation) = (lane.member.region(), operation as u16);
    Site { region, operation, address: site.address, sp: site.sp }
}

fn place_of(of: &SiteOf) -> Site {
    Site { region: of.region, operation: Operation::OmpBarrier as u16, address: of.address, sp: of.sp }
}

/// The team's data by now of a barrier whose times were exchanged after it.
#[cold]
#[inline(never)]
fn learn(lane: &Lane, record: &mut lane::Record, visits: &Visits, &(visit, last): &(Visit, Shared)) {
    if !visits.is_of_now(lane, visit.at) {
        return;
    }
    visits.set_level(lane, visit.at, last.level);
    let divided = Divided {
        wait_ns: visit.end_ns.saturating_sub(visit.since_ns),
        latency_ns: visit.end_ns.saturating_sub(last.ns.max(visit.since_ns)),
        arrived: if last.ns <= visit.arrived_ns { Arrived::Last } else { Arrived::Early },
    };
    let place = place_of(&visits.site(visit.at));
    record.parallel.sites.divide(&place, &divided);
    record.parallel.sites.spread(&place, last.left_ns.saturating_sub(visit.end_ns));
}

/// Takes the work before a drawn visit, or adds to the gap; and notes what the visit represents.
fn take_segment(
    lane: &Lane,
    (visits, pending): (&Visits, &mut Pending),
    level: Option<u32>,
    begin_ns: u64,
    segment: &mut Segment,
) {
    let work_ns = lane.member.take_work();
    let weight_before = visits.weight();
    let (weight, was_in_gap) = visits.drawn(lane, level);
    if was_in_gap {
        settling::add_gap(pending, work_ns, begin_ns);
    } else {
        segment.work_ns = work_ns;
    }
    let (at, reading_ns) = (visits.at(), clock::reading_ns());
    let Some(tally) = pending.tallies.get_mut(at) else { return };
    pending.drawn[at] += 1;
    let long_ns = pending.long.from_ns();
    if was_in_gap {
        tally.segment_was_not_measured();
    } else if work_ns >= long_ns {
        pending.long.worked(work_ns, weight_before.into());
    } else {
        tally.worked(work_ns, weight_before.into());
    }
    // Reading the clock is part of what was measured, and no part of what was not.
    let wait_ns = segment.wait_ns.saturating_sub(reading_ns);
    if wait_ns >= long_ns {
        // Others of that length are found by themselves.
        pending.long.waited(wait_ns, weight.into());
    } else {
        segment.variance_ns2 = tally.waited(wait_ns, weight.into());
    }
}

/// Adds to the site what was worked before it and waited in it; `state` is where its call path begins.
#[inline]
fn add(lane: &'static Lane, operation: Operation, address: u64, state: State, segment: &Segment) {
    let team = if lane.member.team().is_some() { lane.member.team_size() } else { 1 };
    let segment = Segment { team, ..*segment };
    let site = CallSite { address, sp: state.sp };
    lane.with_record_in_silence(|record| add_to(lane, record, operation, (site, state), &segment));
}

/// As [`add`], where the lane's record has been taken.
#[inline]
fn add_to(
    lane: &'static Lane,
    record: &mut lane::Record,
    operation: Operation,
    (site, state): (CallSite, State),
    segment: &Segment,
) {
    let place = place_at(lane, operation, site);
    if !record.parallel.sites.add_known(&place, segment) {
        add_first(lane, record, &{ place }, state, &{ *segment });
    }
}

/// Finds the call path of a barrier's site, if it is not known.
#[inline(never)]
fn learn_path(lane: &'static Lane, record: &mut lane::Record, (site, state): (CallSite, State)) {
    let place = place_at(lane, Operation::OmpBarrier, site);
    if !record.parallel.sites.knows(&place) {
        // SAFETY: the owner, which has taken the record.
        unsafe { lane.with_room(|| find_and_learn(record, &place, state)) };
    }
}

/// The work of [`learn_path`] on a stack with room.
#[inline(never)]
fn find_and_learn(record: &mut lane::Record, place: &Site, state: State) {
    let node = node_of(record, state);
    record.parallel.sites.learn(place, &mut record.output, node);
}

/// Apart, so that what is added to a known site need not lie in memory for it.
#[cold]
#[inline(never)]
fn add_first(lane: &'static Lane, record: &mut lane::Record, place: &Site, state: State, segment: &Segment) {
    // SAFETY: the owner, which has taken the record.
    unsafe { lane.with_room(|| find_and_add(record, place, state, segment)) };
}

/// The work of [`add_first`] on a stack with room.
#[inline(never)]
fn find_and_add(record: &mut lane::Record, place: &Site, state: State, segment: &Segment) {
    let node = node_of(record, state);
    record.parallel.sites.add(place, segment, &mut record.output, |_| node);
}

fn node_of(record: &mut lane::Record, state: State) -> u32 {
    match life::recording() {
        Some(life) if record.output.is_open() => record.path(state, life.pid).0,
        _ => 0,
    }
}

/// A free section was entered: counts it, and leaves the segment as it is.
#[inline]
pub fn counted(lane: &'static Lane, operation: Operation, site: u64, state: State) {
    add(lane, operation, site, state, &Segment { executions: 1, ..Segment::default() });
}

/// The thread got iterations of a loop, or ended so many, at no cost that is measured.
pub fn received(lane: &'static Lane, site: u64, state: State, iterations: u64) {
    if iterations > 0 && lane.member.team().is_some() {
        let segment = Segment { iterations, ..Segment::default() };
        add(lane, Operation::OmpDispatch, site, state, &segment);
    }
}

/// The cost of measuring at a site.
pub fn took(lane: &'static Lane, operation: Operation, site: u64, state: State, added: Added) {
    add(lane, operation, site, state, &Segment { added, ..Segment::default() });
}

/// A section was entered after another thread had been in it.
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
    let segment = Segment { end_ns, wait_ns, executions: 1, contended: true, ..Segment::default() };
    add(lane, operation, site, state, &segment);
    lane.member.resume(end_ns);
}

/// Of so many requests for iterations one is timed.
const TIMED_OF: u32 = 16;

/// Runs `call`, which asks for iterations; `gets` are the first of them and the end, from its result.
#[inline(always)]
pub fn for_iterations<R: Copy>(
    site: u64,
    state: State,
    call: impl FnOnce() -> R,
    gets: impl FnOnce(R) -> Option<(u64, u64)>,
) -> R {
    let Some(lane) = lane::current().filter(|lane| lane.member.team().is_some()) else { return call() };
    if life::recording().is_none() {
        return call();
    }
    let timed = lane.member.next_request() % TIMED_OF == 0;
    let begin_ns = if timed { clock::now_ns() } else { 0 };
    let result = call();
    let mut segment = Segment { executions: 1, ..Segment::default() };
    if timed {
        segment.end_ns = clock::now_ns();
        segment.wait_ns = segment.end_ns.saturating_sub(begin_ns) * u64::from(TIMED_OF);
    }
    if let Some((first, end)) = gets(result) {
        segment.iterations = lane.member.step().iterations(first, end);
    }
    add(lane, Operation::OmpDispatch, site, state, &segment);
    result
}
