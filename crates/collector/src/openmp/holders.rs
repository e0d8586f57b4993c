//! Which threads are in a section that only one at a time may be in: critical, atomic, ordered, locks.
//!
//! Whether any thread is in one is counted here, so that a thread that need not wait reads no clock. The
//! count is by address, and two sections may share one: then some waits are looked at that are none.

use crate::arena::spread;
use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::operations::Operation;

use super::team::{self, Team};
use super::{long_gaps, wait};
use crate::clock;
use crate::lane::{self, Lane};
use crate::operation::{self, Kind, here, releases, stretch, tries};
use crate::path::memo::State;

const SLOTS: usize = 1024;

#[derive(Debug)]
#[repr(align(64))]
struct Slot(AtomicU32);

static TABLE: [Slot; SLOTS] = [const { Slot(AtomicU32::new(0)) }; SLOTS];

#[inline]
fn slot(object: u64) -> &'static AtomicU32 {
    &TABLE[(spread(object) >> 54) as usize % SLOTS].0
}

/// Stands for the turn of the calling thread's team in an ordered loop.
#[inline]
pub fn turn() -> u64 {
    lane::current().and_then(|lane| lane.member.team()).map_or(1, |team| Team::object(team) + 1)
}

/// Runs `call`, in which the thread waits until no thread is in `object`, and is in it from then on.
#[inline(always)]
pub fn enter<R: Copy>(operation: Operation, object: u64, site: u64, call: impl FnOnce() -> R) -> R {
    let timed = lane::current().filter(|lane| lane.member.own_cost.times_section());
    let begin_ns = timed.map_or(0, |_| clock::ordered_ns());
    // Being in an ordered loop does not say whose turn it is.
    let is_free = arrive(object) && operation != Operation::OmpOrdered;
    if is_free {
        let arrived_ns = timed.map_or(0, |_| clock::ordered_ns().saturating_sub(begin_ns));
        let result = call();
        match timed {
            Some(lane) => enter_timed(lane, operation, (object, site), arrived_ns, here!()),
            None => entered_at(operation, object, site, here!()),
        }
        return result;
    }
    let mut marker = 0;
    let state = here!();
    let is_followed = begin(operation, object, state, Some(&mut marker));
    let result = call();
    if is_followed {
        end(operation, object, site, state);
    }
    result
}

/// Another thread arrives at `object`; whether no thread was there.
#[inline]
pub fn arrive(object: u64) -> bool {
    slot(object).fetch_add(1, Ordering::Relaxed) == 0
}

/// A thread leaves `object`.
#[inline]
pub fn leave(object: u64) {
    // A lock that was set before the record began was never counted.
    let _ = slot(object).fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| count.checked_sub(1));
}

/// The calling thread is in `object` by a function that tries. Before, it may have tried in vain.
#[inline]
pub fn tried(object: u64, site: u64, state: impl FnOnce() -> State) {
    arrive(object);
    if let Some(lane) = lane::current() {
        tries::answered(lane, object, state);
        releases::acquired(lane, object, site);
    }
}

/// The calling thread is in `object` without having waited.
#[inline]
pub fn entered_at(operation: Operation, object: u64, site: u64, state: State) {
    let Some(lane) = lane::current() else { return };
    releases::acquired(lane, object, site);
    if lane.member.team().is_some() {
        wait::counted(lane, operation, site, state);
    }
}

/// As [`entered_at`]; the time that this takes is measured, after arriving took `arrived_ns`.
#[cold]
#[inline(never)]
fn enter_timed(
    lane: &'static Lane,
    operation: Operation,
    (object, site): (u64, u64),
    arrived_ns: u64,
    state: State,
) {
    let begin_ns = clock::ordered_ns();
    entered_at(operation, object, site, state);
    let entered_ns = clock::ordered_ns();
    let empty_ns = 2 * clock::ordered_ns().saturating_sub(entered_ns);
    if lane.member.team().is_some() {
        let stretches_ns = arrived_ns + entered_ns.saturating_sub(begin_ns);
        wait::took(lane, operation, site, state, lane.member.own_cost.of_section(stretches_ns, empty_ns));
    }
}

/// The calling thread begins to wait; `state` is a frame that lasts until the end where there is a `marker`
/// in it.
#[inline]
pub fn begin(operation: Operation, object: u64, state: State, marker: Option<&mut u64>) -> bool {
    let Some(lane) = lane::current() else { return false };
    let (mut none, lasts) = (0, marker.is_some());
    let ticket = operation::begin(Kind::from(operation), (object, 0), state, marker.unwrap_or(&mut none));
    if !ticket.is_followed() {
        return false;
    }
    if !lasts {
        lane.operations.open.outlives_its_frame();
    }
    let begin_ns = lane.operations.open.begin_ns();
    lane.member.pause(begin_ns);
    if let Some(visits) = lane.member.visits() {
        long_gaps::take_out_before(lane, visits, begin_ns);
    }
    if lane.member.waits_long() {
        stretch::clock_at(lane, operation, begin_ns, lane.member.last_wait_ns());
    }
    true
}

/// Its wait is over.
#[inline]
pub fn end(operation: Operation, object: u64, site: u64, state: State) {
    let Some(lane) = lane::current() else { return };
    let begin_ns = lane.operations.open.begin_ns();
    let end_ns = team::end_open(lane, operation);
    if end_ns == 0 {
        return;
    }
    lane.member.has_waited(end_ns.saturating_sub(begin_ns));
    releases::acquired(lane, object, site);
    wait::waited_for_holder(lane, operation, (site, state), end_ns, end_ns.saturating_sub(begin_ns));
}

/// A forked child has no other threads.
pub fn after_fork() {
    for slot in &TABLE {
        slot.0.store(0, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_thread_finds_the_first() {
        let object = 0x7f12_3450;
        assert!(arrive(object));
        assert!(!arrive(object));
        leave(object);
        leave(object);
        leave(object);
        assert!(arrive(object));
        leave(object);
    }
}
