//! Waits of a team for each other: operations like others, begun and ended by a shorter way.
//!
//! There are a million of them a second in some programs. They wait for no lock and no condition, no call
//! releases them, and the sums by site are written in the same bracket as the operation.

use proust_log::control::NO_WAITS;
use proust_log::operations::Operation;

use super::recording::{Completed, record_in};
use super::{Kind, Outcome, find_beforehand, leave};
use crate::lane::{self, Lane, Record};
use crate::path::memo::State;
use crate::{clock, life, options};

/// Begins one; where, and when. `what` says which, and the object. `state` is the hook's frame, and `marker`
/// a word in it, if that lives until the end.
#[inline]
pub fn begin(
    what: impl FnOnce(&Lane) -> (Operation, u64),
    state: State,
    marker: Option<&mut u64>,
) -> Option<(&'static Lane, u64)> {
    let life = life::in_hook()?;
    let lane = lane::current()?;
    if options::live() & NO_WAITS != 0 || lane.member.docked_ns() != 0 {
        return None;
    }
    if !lane.operations.open.is_free() && !leave(life, lane, state.sp) {
        return None;
    }
    if lane.operations.tries.is_active() {
        super::tries::stop(life, lane);
    }
    let begin_ns = clock::now_ns();
    let (operation, object) = what(lane);
    let kind = Kind::from(operation);
    let mut caller = lane.operations.callers.known(kind, state.sp);
    if caller == 0 && lane.operations.callers.may_find(begin_ns) {
        caller = find_beforehand(life, lane, kind, state, begin_ns);
    }
    let marker = marker.map_or(0, |marker| {
        let marker = core::ptr::from_mut(marker);
        // SAFETY: a local variable of the hook. Volatile, since it is read only through its address.
        unsafe { marker.write_volatile(begin_ns) };
        marker as u64
    });
    lane.enter_unwatched(kind, (object, 0), begin_ns, state, marker, caller);
    if marker == 0 {
        lane.operations.open.outlives_its_frame();
    }
    Some((lane, begin_ns))
}

/// Ends the one that the lane is in, if it is of this kind; when that was, 0 if it is not. `add` may add to
/// the record; it gets begin and end.
#[inline]
pub fn end(lane: &'static Lane, operation: Operation, add: impl FnOnce(&mut Record, u64, u64)) -> u64 {
    // A fork inside the operation: the child has a record of its own.
    if !lane.operations.open.is(operation)
        || !lane::current().is_some_and(|current| core::ptr::eq(current, lane))
    {
        return 0;
    }
    let (begin_ns, end_ns) = (lane.operations.open.begin_ns(), clock::now_ns());
    if let Some(_guard) = lane.take() {
        // SAFETY: the owner, which has taken the record.
        let record = unsafe { lane.record() };
        let what = (operation, lane.operations.open.object());
        record_one(lane, record, what, (begin_ns, end_ns), lane.operations.open.state());
        add(record, begin_ns, end_ns);
    }
    lane.leave_unwatched();
    end_ns
}

/// Records one that was never open, and is over: the operation and its object, begin and end. `state` is a
/// frame that is still there.
/// `add` may add to the record.
pub fn record_passed(
    lane: &'static Lane,
    what: (Operation, u64),
    times: (u64, u64),
    state: State,
    add: impl FnOnce(&mut Record),
) {
    if let Some(_guard) = lane.take() {
        // SAFETY: the owner, which has taken the record.
        let record = unsafe { lane.record() };
        record_one(lane, record, what, times, state);
        add(record);
    }
}

#[inline(always)]
fn record_one(
    lane: &Lane,
    record: &mut Record,
    (operation, object): (Operation, u64),
    (begin_ns, end_ns): (u64, u64),
    state: State,
) {
    let completed = Completed {
        kind: Kind::from(operation),
        begin_ns,
        end_ns,
        object,
        object2: 0,
        request: 0,
        outcome: Outcome::default(),
        flags: 0,
        state: Some(state),
        node: (0, 0),
        is_postponed: false,
    };
    record_in(lane, record, &completed);
}
