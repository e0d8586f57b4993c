//! Calls of MPI. Most are recorded one by one, however short: each is an end of a message or a part of a
//! collective. What repeats of them is in the log once, so that one takes 24 bytes; and its call path is
//! verified, not unwound.
//!
//! Short calls of which nothing but the time is of interest are summed, for each place. So are all short
//! calls once most of the log's size is used: nothing is matched from then on, but all time is known.

use proust_log::operations::Operation;
use proust_log::records::{Event, NoteCode, Received};

use super::recording::{Completed, is_owner, push_event, push_event_in_place, record_next, settle_inside};
use super::sums::Found;
use super::{Kind, Outcome, Ticket, begin_of, caller_of, inside, is_wanted, leave, mark, postponed, tries};
use crate::lane::{self, Lane, Output, Record};
use crate::path::memo::State;
use crate::path::python;
use crate::path::tree::NodeId;
use crate::{clock, life, logfile};

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

impl Facts {
    /// Request and error as one word.
    #[inline(always)]
    pub fn others(&self) -> u64 {
        u64::from(self.request) << 32 | u64::from(self.error)
    }

    /// The facts with these fields, the last two of them as in [`Facts::others`].
    #[inline(always)]
    pub fn of_words(object: u64, object2: u64, bytes: u64, others: u64) -> Facts {
        Facts { object, object2, bytes, request: (others >> 32) as u32, error: others as u32 }
    }
}

/// Records that a call writes before its own, at most, where the log may not be extended.
const MOST_BESIDE: usize = 32;

/// Begins an operation, as [`super::begin`] does, which is none that another thread's call ends.
#[inline(always)]
pub fn begin(operation: Operation, state: State, marker: &mut u64) -> Ticket {
    let Some(life) = life::measuring() else { return Ticket::NONE };
    let Some(lane) = lane::current() else { return Ticket::NONE };
    if !is_wanted(operation) {
        return Ticket::NONE;
    }
    if !lane.operations.open.is_free() && !leave(life, lane, state.sp) {
        return inside::begin(lane, operation, state.sp, marker);
    }
    if lane.operations.tries.is_active() {
        tries::stop(life, lane);
    }
    let Some(begin_ns) = begin_of(lane, operation, state.sp) else { return Ticket::NONE };
    let (kind, marker) = (Kind::from(operation), mark(marker, begin_ns));
    let caller = caller_of(life, lane, kind, state, begin_ns);
    lane.enter_unwatched(kind, (0, 0), begin_ns, state, marker, caller);
    Ticket { lane: Some(lane), begin_ns }
}

/// Ends an operation at `end_ns`, of which all is known.
#[inline(always)]
pub fn end(ticket: &Ticket, operation: Operation, end_ns: u64, facts: Facts) {
    end_writing(ticket, operation, end_ns, 0, |_| facts);
}

/// Ends an operation at `end_ns`. `write` writes what belongs before its record, of which there are `beside`
/// at most, and says what the call was.
#[inline(always)]
pub fn end_writing(
    ticket: &Ticket,
    operation: Operation,
    end_ns: u64,
    beside: usize,
    write: impl FnOnce(&mut Output) -> Facts,
) {
    with_record(ticket, operation, |lane, record| {
        record_it(lane, record, (operation, ticket.begin_ns, end_ns), beside, write);
    });
}

/// Ends an operation at `end_ns`, of which nothing but its time and its bytes is of interest.
#[inline(always)]
pub fn end_timed(ticket: &Ticket, operation: Operation, end_ns: u64, bytes: u64, error: u32) {
    with_record(ticket, operation, |lane, record| {
        let facts = Facts { bytes, error, ..Facts::default() };
        sum_or_record(lane, record, (operation, ticket.begin_ns, end_ns), facts);
    });
}

/// Ends the operation of `ticket`: `work` records it.
#[inline(always)]
fn with_record(ticket: &Ticket, operation: Operation, work: impl FnOnce(&'static Lane, &mut Record)) {
    let Some(lane) = ticket.lane else {
        return inside::end(*ticket, Outcome::default());
    };
    // A fork inside the operation: the child has a record of its own.
    let is_current = lane::current().is_some_and(|current| core::ptr::eq(current, lane));
    if !is_current || !lane.operations.open.is_since(operation, ticket.begin_ns) {
        return;
    }
    if let Some(_guard) = lane.take() {
        // SAFETY: called by the owner, which has taken the record.
        work(lane, unsafe { lane.record() });
    }
    lane.leave_unwatched();
}

#[inline(always)]
fn sum_or_record(
    lane: &'static Lane,
    record: &mut Record,
    (operation, begin_ns, end_ns): (Operation, u64, u64),
    facts: Facts,
) {
    if end_ns.saturating_sub(begin_ns) < record.operations.limit.ns {
        let node = known_path(lane, record, &lane.operations.open.state());
        let completed = Completed::of(operation.into(), begin_ns, end_ns).as_facts_say(facts);
        if node != 0 && !checks_paths() && sum(lane, record, &completed, node) {
            return;
        }
    } else {
        record.operations.limit.recorded(end_ns);
    }
    record_it(lane, record, (operation, begin_ns, end_ns), 0, |_| facts);
}

/// Adds an operation to those of the same caller; false if there are too many callers.
#[inline]
fn sum(lane: &'static Lane, record: &mut Record, completed: &Completed, node: NodeId) -> bool {
    if lane.operations.postponed.is_any() {
        postponed::settle_in(lane, record);
    }
    let (region, interval) = (record.parallel.member.region(), record.marks.interval());
    let caller = Found { node, flags: 0, region, interval };
    let is_added = record.operations.sums.add_known(&completed.as_short(), &caller, &mut record.output);
    if is_added {
        settle_inside(record, completed, (node, region, interval));
    }
    is_added
}

/// Records an operation where most of the log's size is used.
#[cold]
#[inline(never)]
fn record_sparingly(
    lane: &'static Lane,
    record: &mut Record,
    completed: &Completed,
    (state, node): (State, NodeId),
) {
    if !record.operations.spares {
        record.operations.spares = true;
        record.note(NoteCode::CallsSummed, completed.begin_ns);
    }
    let is_short = completed.end_ns.saturating_sub(completed.begin_ns) < record.operations.limit.ns;
    if !(is_short && node != 0 && sum(lane, record, completed, node)) {
        record_next(lane, record, &Completed { state: Some(state), ..*completed });
    }
}

#[inline(always)]
fn record_it(
    lane: &'static Lane,
    record: &mut Record,
    (operation, begin_ns, end_ns): (Operation, u64, u64),
    beside: usize,
    write: impl FnOnce(&mut Output) -> Facts,
) {
    if lane.operations.postponed.is_any() {
        postponed::settle_in(lane, record);
    }
    let state = lane.operations.open.state();
    let node = known_path(lane, record, &state);
    let completed = Completed::of(operation.into(), begin_ns, end_ns);
    if logfile::spares() {
        let completed = completed.as_facts_say(write(&mut record.output));
        return record_sparingly(lane, record, &completed, (state, node));
    }
    let has_room = record.output.has_room_for::<Event>()
        && (beside == 0
            || beside <= MOST_BESIDE && record.output.has_room_behind::<Event, Received>(MOST_BESIDE));
    if node != 0 && has_room && !completed.is_clocked() && !checks_paths() {
        let completed = completed.as_facts_say(write(&mut record.output));
        push_event_in_place(record, &completed, node);
        return;
    }
    // SAFETY: the owner, which has taken the record.
    unsafe { lane.with_room(|| record_slowly(lane, record, completed, (state, node), write)) }
}

/// The path of a call, if it is known; 0 if not.
#[inline(always)]
pub fn known_path(lane: &'static Lane, record: &mut Record, state: &State) -> NodeId {
    match python::is_there() {
        true => lane.mpi.paths.find_through(evaluated(lane, record, state.sp), state),
        false => lane.mpi.paths.find(state),
    }
}

/// What tells the functions of Python's that the thread evaluates from all others; 0: there are none, or they
/// do not matter.
#[cold]
#[inline(never)]
fn evaluated(lane: &'static Lane, record: &mut Record, sp: u64) -> u64 {
    let Some(life) = life::recording().filter(|life| life.options.mpi_paths) else { return 0 };
    if !is_owner(lane) || !record.output.is_open() || !python::knows_this_thread() {
        return 0;
    }
    // SAFETY: the owner, which has taken the record. Nothing of an interpreter calls MPI but a function that
    // it called, or one that frees an object, for which it still has all that its lists lead to.
    unsafe {
        match lane.with_room_for(|| record.print_as_before(sp, life.pid)) {
            0 => lane.with_room(|| record.print_at(sp, life.pid)),
            print => print,
        }
    }
}

#[inline]
fn checks_paths() -> bool {
    crate::options::live() & proust_log::control::CHECK_PATHS != 0
}

#[cold]
#[inline(never)]
fn record_slowly(
    lane: &'static Lane,
    record: &mut Record,
    completed: Completed,
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
            if checks_paths() && life.options.mpi_paths {
                record.check_known(state, life.pid, node);
            }
            (node, 0)
        }
        Some(life) if record.output.is_open() => {
            let (node, flags) = match life.options.mpi_paths {
                true => record.path_to_know(state, life.pid, &lane.mpi.paths),
                false => record.site_to_know(state, life.pid, &lane.mpi.paths),
            };
            (node, if flags == 0 { 0 } else { proust_log::records::EVENT_PARTIAL })
        }
        _ => (0, 0),
    };
    lane.operations.callers.keep(completed.kind, state.sp, path.0);
    if cpu_ns != 0 {
        super::settle(record);
    }
    let completed = completed.as_facts_say(write(&mut record.output));
    push_event(record, &completed, path, cpu_ns);
    record.spent_since(completed.end_ns.max(entered_ns.saturating_sub(1_000)), cpu_ns);
}

impl Completed {
    /// An operation of which only the times are known.
    #[inline(always)]
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

    #[inline(always)]
    fn as_facts_say(self, facts: Facts) -> Completed {
        Completed {
            object: facts.object,
            object2: facts.object2,
            request: facts.request,
            outcome: Outcome { bytes: facts.bytes, error: facts.error },
            ..self
        }
    }
}
