//! Operations that are recorded one by one, however short: calls of MPI, each of which is an end of a
//! message or a part of a collective.
//!
//! What repeats of them is in the log once, so that one takes 24 bytes; and its call path is verified, not
//! unwound.

use proust_log::records::{Event, Received};

use super::recording::{Completed, is_owner, push_event};
use super::{Kind, Outcome, Ticket, postponed};
use crate::lane::{self, Lane, Output, Record};
use crate::path::memo::State;
use crate::path::tree::NodeId;
use crate::{clock, life};

/// What a call was, as it is recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Facts {
    /// As [`Event::object`].
    pub object: u64,
    /// As [`Event::object2`].
    pub object2: u64,
    /// As [`Event::bytes`].
    pub bytes: u64,
    /// As [`Event::request`].
    pub request: u32,
    /// As [`Event::error`].
    pub error: u32,
}

/// Records that a call writes before its own, at most, where the log may not be extended.
const MOST_BESIDE: usize = 32;

/// Ends an operation at `end_ns`. `write` writes what belongs before its record, of which there are `beside`
/// at most, and says what the call was.
#[inline]
pub fn end(ticket: &Ticket, end_ns: u64, beside: usize, write: impl FnOnce(&mut Output) -> Facts) {
    let Some(lane) = ticket.lane else { return };
    // A fork inside the operation: the child has a record of its own.
    if !lane::current().is_some_and(|current| core::ptr::eq(current, lane)) {
        return;
    }
    let Some(kind) = lane.operations.open.kind_since(ticket.begin_ns) else { return };
    if let Some(_held) = lane.take() {
        // SAFETY: called by the owner, which has taken the record.
        let record = unsafe { lane.record() };
        record_it(lane, record, (kind, ticket.begin_ns, end_ns), beside, write);
    }
    lane.leave_as(kind.operation);
}

#[inline(always)]
fn record_it(
    lane: &'static Lane,
    record: &mut Record,
    (kind, begin_ns, end_ns): (Kind, u64, u64),
    beside: usize,
    write: impl FnOnce(&mut Output) -> Facts,
) {
    if lane.operations.postponed.is_any() {
        postponed::settle_in(lane, record);
    }
    let state = lane.operations.open.state();
    let node = lane.mpi.paths.find(&state);
    let mut completed = Completed { state: None, ..Completed::of(kind, begin_ns, end_ns) };
    let has_room = beside <= MOST_BESIDE
        && record.output.has_room_for::<Event>()
        && record.output.has_room_behind::<Event, Received>(MOST_BESIDE);
    if node != 0 && has_room && !completed.is_clocked() && !checks_paths() {
        completed.take(write(&mut record.output));
        push_event(record, &completed, (node, 0), 0, Output::push_in_place);
        return;
    }
    // SAFETY: the owner, which has taken the record.
    unsafe { lane.with_room(|| record_slowly(lane, record, completed, (state, node), write)) }
}

fn checks_paths() -> bool {
    crate::options::live() & proust_log::control::CHECK_PATHS != 0
}

#[cold]
#[inline(never)]
fn record_slowly(
    lane: &'static Lane,
    record: &mut Record,
    mut completed: Completed,
    (state, node): (State, NodeId),
    write: impl FnOnce(&mut Output) -> Facts,
) {
    if !is_owner(lane) {
        return;
    }
    let entered_ns = clock::now_ns();
    let cpu_ns = if completed.is_clocked() { clock::thread_cpu_ns() } else { 0 };
    let path = match life::recording() {
        Some(life) if node != 0 => {
            if checks_paths() {
                record.check_known(state, life.pid, node);
            }
            (node, 0)
        }
        Some(life) if record.output.is_open() => {
            let (node, flags) = record.path_to_know(state, life.pid, &lane.mpi.paths);
            (node, if flags == 0 { 0 } else { proust_log::records::EVENT_PARTIAL })
        }
        _ => (0, 0),
    };
    lane.operations.callers.keep(completed.kind, state.sp, path.0);
    if cpu_ns != 0 {
        super::settle(record);
    }
    completed.take(write(&mut record.output));
    push_event(record, &completed, path, cpu_ns, Output::push_shaped);
    record.spent_since(completed.end_ns.max(entered_ns.saturating_sub(1_000)), cpu_ns);
}

impl Completed {
    /// An operation of which only the times are known.
    fn of(kind: Kind, begin_ns: u64, end_ns: u64) -> Completed {
        Completed {
            kind,
            begin_ns,
            end_ns,
            object: 0,
            object2: 0,
            request: 0,
            outcome: Outcome::default(),
            flags: 0,
            state: None,
            node: (0, 0),
            is_postponed: false,
        }
    }

    fn take(&mut self, facts: Facts) {
        self.object = facts.object;
        self.object2 = facts.object2;
        self.request = facts.request;
        self.outcome = Outcome { bytes: facts.bytes, error: facts.error };
    }
}
