//! A thread opens a region.

use core::sync::atomic::Ordering;

use proust_log::operations::Operation;
use proust_log::records::RegionOrigin;

use super::Team;
use crate::lane::{self, Lane, Record};
use crate::openmp::gomp::chunk::Step;
use crate::openmp::member::LONG_WORK_NS;
use crate::openmp::runtime::Table;
use crate::operation::{self, Kind, Outcome, stretch};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::Frame as PathFrame;
use crate::{clock, life};

/// The data from which a region is made.
#[derive(Clone, Copy, Debug)]
pub struct Opening {
    /// A word that distinguishes the construct from others.
    pub construct: u64,
    /// Which interface reports it.
    pub origin: RegionOrigin,
    /// The function that the program wants to be run, and its argument, if that is known.
    pub function: usize,
    /// See `function`.
    pub data: usize,
    /// The functions of the runtime that the opener called, if it is not one that reports to tools itself.
    pub runtime: Option<&'static Table>,
    /// Where the region is a loop whose iterations are handed out: by how much its variable grows.
    pub step: Step,
    /// A frame of the opener, where its call path begins.
    pub state: State,
    /// A word in that frame, if it lives until the region is over; null otherwise.
    pub marker: *mut u64,
}

/// The calling thread opens a region; None where that is not followed.
pub fn open(opening: &Opening) -> Option<&'static Team> {
    let life = life::in_hook()?;
    let lane = lane::current()?;
    let member = &lane.member;
    leave_stale(lane, opening.state.sp);
    // They have work again in a moment, and find out themselves.
    let _ = member.take_owed();
    let mut none = 0;
    // SAFETY: the opener's own frame.
    let marker = unsafe { opening.marker.as_mut() };
    let ticket =
        operation::begin(Kind::from(Operation::OmpFork), (0, 0), opening.state, marker.unwrap_or(&mut none));
    if !ticket.is_followed() {
        return None;
    }
    if opening.marker.is_null() {
        lane.operations.open.outlives_its_frame();
    }
    let fork_ns = lane.operations.open.begin_ns();
    member.own_cost.begin_part();
    member.pause(fork_ns);
    let outside_ns = fork_ns.saturating_sub(member.closed_ns());
    if outside_ns >= LONG_WORK_NS {
        stretch::clock_at(lane, Operation::OmpFork, fork_ns, outside_ns);
    }
    let Some(team) = member.push_level() else {
        operation::end(ticket, Outcome::default());
        return None;
    };
    let parent = member.region();
    let node = lane.member.opening_paths.find(&opening.state);
    let region = lane.with_record_in_silence(|record| {
        let interval = record.marks.interval();
        record.parallel.regions.known(node, parent, interval).unwrap_or_else(|| {
            // SAFETY: the owner, and `with_record_in_silence` has taken the record.
            unsafe { lane.with_room(|| find_number(life, (lane, record), opening, parent)) }
        })
    });
    team.times.open(fork_ns);
    team.is_for(region.unwrap_or(0), opening, lane);
    team.own.size.store(0, Ordering::Relaxed);
    team.own.frame.set(opening.state, opening.marker);
    team.own.done_ns.store(0, Ordering::Relaxed);
    team.own.outer.set(&member.place());
    team.forget_far();
    member.own_cost.took(fork_ns);
    Some(team)
}

#[cold]
#[inline(never)]
fn find_number(
    life: &life::Life,
    (lane, record): (&Lane, &mut Record),
    opening: &Opening,
    parent: u32,
) -> u32 {
    if !record.output.is_open() {
        return 0;
    }
    let (node, _) = record.path_to_know(opening.state, life.pid, &lane.member.opening_paths);
    let mut body = 0;
    if opening.function != 0 {
        let lookup = opening.function as u64;
        let module = modules::known(lookup).map_or(0, |module| module.id);
        body = record.tree.child(PathFrame { parent: 0, module, lookup }, &mut record.output).unwrap_or(0);
    }
    let place = (node, parent, record.marks.interval());
    record.parallel.regions.number(place, (opening.origin, body), &mut record.output)
}

/// Regions that the thread has left without an end: by an exception, longjmp or cancellation.
fn leave_stale(lane: &'static Lane, sp: u64) {
    while let Some(team) = lane.member.last_level() {
        let frame = team.own.frame.sp.load(Ordering::Relaxed);
        // SAFETY: this is the owner.
        let own_stack = unsafe { lane.own_stack() };
        let is_left = frame <= sp && own_stack.contains(frame) && own_stack.contains(sp);
        if !is_left || team.own.frame.marker.load(Ordering::Relaxed) == 0 {
            return;
        }
        lane.member.pop_level();
        lane.member.restore(&team.own.outer.place(), clock::now_ns());
    }
}
