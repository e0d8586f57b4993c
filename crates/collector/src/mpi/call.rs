//! Begin and end of a call of MPI.

use core::ffi::c_int;

use proust_log::operations::Operation;
use proust_log::records::Envelope;
use proust_mpi_abi::abi::SUCCESS;

use super::library::{self, Library};
use super::{communicators, polls};
use crate::lane::{self, Lane, Output};
use crate::operation::exact::{self, Facts};
use crate::operation::{KeptErrno, Kind, Outcome, Ticket, here, inside};
use crate::path::memo::State;
use crate::{clock, life};

/// A call that has begun, as its hook keeps it.
#[derive(Clone, Copy)]
pub struct Begun {
    operation: Operation,
    ticket: Ticket,
}

impl Begun {
    /// Whether it is followed.
    #[inline]
    pub fn is_followed(&self) -> bool {
        self.ticket.is_followed()
    }

    /// Ends one that is not followed, which may be inside another operation.
    #[inline]
    pub fn end_inside(&self, result: c_int) {
        if self.ticket.counts() && !self.is_followed() {
            let error = if result == SUCCESS { 0 } else { result as u32 };
            inside::end(self.ticket, Outcome { bytes: 0, error });
        }
    }
}

/// Begins a call. `state` is the hook's frame, which lives until its end, and `marker` a word in it.
#[inline(always)]
pub fn begin(operation: Operation, state: State, marker: &mut u64) -> Begun {
    Begun { operation, ticket: begin_ticket(operation, state, marker) }
}

/// One for all hooks: what every call runs fits the processor's cache of instructions.
#[inline(never)]
fn begin_ticket(operation: Operation, state: State, marker: &mut u64) -> Ticket {
    if let Some(lane) = lane::current()
        && lane.mpi.polls.is_any()
        && lane.operations.open.is_free()
    {
        polls::close(lane);
    }
    exact::begin(operation, state, marker)
}

/// Ends a call that returned `result`. `facts` says what it was, if it succeeded.
#[inline(always)]
pub fn end(begun: &Begun, result: c_int, facts: impl FnOnce(&'static Library) -> Facts) {
    let (end_ns, errno) = (clock::now_ns(), KeptErrno::keep());
    let facts = match library::get() {
        Some(library) if result == SUCCESS => facts(library),
        _ => Facts { error: result as u32, ..Facts::default() },
    };
    end_ticket(
        begun.ticket,
        begun.operation,
        end_ns,
        facts.object,
        facts.object2,
        facts.bytes,
        facts.others(),
    );
    errno.restore();
}

/// As [`begin_ticket`], one for all. What the call was is passed as words, so that it need not pass through
/// memory.
#[inline(never)]
fn end_ticket(
    ticket: Ticket,
    operation: Operation,
    end_ns: u64,
    object: u64,
    object2: u64,
    bytes: u64,
    others: u64,
) {
    exact::end(&ticket, operation, end_ns, Facts::of_words(object, object2, bytes, others));
}

/// As [`end`], of a call that completes or starts requests, though it may have returned an error. `write`
/// writes what belongs before the call's record, at most so many records, while the thread's record is taken.
#[inline(always)]
pub fn end_completing(
    begun: &Begun,
    result: c_int,
    beside: usize,
    write: impl FnOnce(&'static Library, &mut Output) -> Facts,
) {
    end_completing_at(begun, clock::now_ns(), result, beside, write);
}

#[inline(always)]
fn end_completing_at(
    begun: &Begun,
    end_ns: u64,
    result: c_int,
    beside: usize,
    write: impl FnOnce(&'static Library, &mut Output) -> Facts,
) {
    let errno = KeptErrno::keep();
    let (ticket, operation, error) = (begun.ticket, begun.operation, result as u32);
    match library::get() {
        Some(library) => exact::end_writing(&ticket, operation, end_ns, beside, |output| Facts {
            error,
            ..write(library, output)
        }),
        None => exact::end(&ticket, operation, end_ns, Facts { error, ..Facts::default() }),
    }
    errno.restore();
}

/// Makes a call of which `facts` says what it was.
#[inline(always)]
pub fn bracket(
    operation: Operation,
    call: impl FnOnce() -> c_int,
    facts: impl FnOnce(&'static Library) -> Facts,
) -> c_int {
    let mut marker = 0;
    let begun = begin(operation, here!(), &mut marker);
    let result = call();
    if begun.is_followed() {
        end(&begun, result, facts);
    } else {
        begun.end_inside(result);
    }
    result
}

/// Makes a call of which nothing but its time is of interest.
#[inline(always)]
pub fn time(operation: Operation, call: impl FnOnce() -> c_int) -> c_int {
    time_moving(operation, call, |_| 0)
}

/// As [`time`], of a call that moves bytes; of one that failed they are not asked for.
#[inline(always)]
pub fn time_moving(
    operation: Operation,
    call: impl FnOnce() -> c_int,
    bytes: impl FnOnce(&'static Library) -> u64,
) -> c_int {
    let mut marker = 0;
    let begun = begin(operation, here!(), &mut marker);
    let result = call();
    if begun.is_followed() {
        let (end_ns, errno) = (clock::now_ns(), KeptErrno::keep());
        let (bytes, error) = match library::get() {
            Some(library) if result == SUCCESS => (bytes(library), 0),
            _ => (0, result as u32),
        };
        end_timed(begun.ticket, begun.operation, end_ns, bytes, error);
        errno.restore();
    } else {
        begun.end_inside(result);
    }
    result
}

/// As [`end_ticket`].
#[inline(never)]
fn end_timed(ticket: Ticket, operation: Operation, end_ns: u64, bytes: u64, error: u32) {
    exact::end_timed(&ticket, operation, end_ns, bytes, error);
}

/// A rank as the log has it: MPI's codes are other numbers in each library.
#[inline]
pub fn rank(library: &Library, word: usize) -> i32 {
    let (rank, abi) = (word as i32, library.abi);
    if rank >= 0 {
        rank
    } else if rank == abi.proc_null {
        Envelope::NOBODY
    } else if rank == abi.any_source {
        Envelope::ANY
    } else if rank == abi.root {
        Envelope::ROOT
    } else {
        Envelope::NONE
    }
}

/// Partner and tag as the log has them.
#[inline]
pub fn envelope(library: &Library, partner: usize, tag: usize) -> Envelope {
    let tag = tag as i32;
    Envelope {
        partner: rank(library, partner),
        tag: if tag == library.abi.any_tag { Envelope::ANY } else { tag },
    }
}

/// A message that a call sends, or is about to receive.
#[inline]
pub fn message(
    library: &Library,
    communicator: usize,
    envelope: Envelope,
    (count, datatype): (i64, usize),
) -> Facts {
    let bytes = if envelope.partner == Envelope::NOBODY { 0 } else { library.bytes(count, datatype) };
    Facts {
        object: communicators::number(library, communicator).into(),
        object2: envelope.word(),
        bytes,
        ..Facts::default()
    }
}

/// A collective: its communicator, its root if it has one, and this process's part of the data.
#[inline]
pub fn collective(library: &Library, communicator: usize, root: Option<usize>, bytes: u64) -> Facts {
    let partner = root.map_or(Envelope::NONE, |root| rank(library, root));
    Facts {
        object: communicators::number(library, communicator).into(),
        object2: Envelope { partner, tag: 0 }.word(),
        bytes,
        ..Facts::default()
    }
}

/// Makes a call that only looks whether something has arrived; `has_arrived` says after it whether it had.
/// One in vain adds to the thread's episode of polls, one that found something is a call like others. `facts`
/// gets the call's result, too: of one that failed, what it should have written may not be there.
#[inline(always)]
pub fn poll(
    operation: Operation,
    call: impl FnOnce() -> c_int,
    has_arrived: impl FnOnce() -> bool,
    beside: usize,
    facts: impl FnOnce(&'static Library, c_int, &mut Output) -> Facts,
) -> c_int {
    let lane = match lane::current() {
        Some(lane) if life::records_here() && lane.operations.open.is_free() => lane,
        // Inside of another operation, or of one that was left: the usual way decides.
        _ => return time(operation, call),
    };
    if library::get().is_none() {
        return time(operation, call);
    }
    let mut marker = 0;
    let begun = if lane.mpi.polls.is_uncounted() {
        if lane.mpi.polls.is_behind_timed() {
            lane.mpi.polls.begin_behind_timed([clock::now_ns(), clock::now_ns()]);
        }
        enter(lane, operation, here!(), &mut marker)
    } else {
        begin_timed(lane, operation, here!(), &mut marker)
    };
    if !begun.is_followed() {
        let result = call();
        begun.end_inside(result);
        return result;
    }
    let result = call();
    if result == SUCCESS && !has_arrived() {
        if lane.mpi.polls.is_uncounted() {
            end_again(lane);
        } else {
            end_in_vain(lane, operation, &begun);
        }
        return result;
    }
    end_in_time(lane, operation, begun, result, beside, facts);
    result
}

/// As [`enter_again`], of any poll that reads no clock.
#[inline(always)]
fn enter(lane: &'static Lane, operation: Operation, state: State, marker: &mut u64) -> Begun {
    enter_again(lane, operation, state, marker);
    Begun { operation, ticket: Ticket::of_open(lane) }
}

/// Enters a poll that reads no clock and is in vain, as those before it: what it calls is part of it.
#[inline(always)]
pub fn enter_again(lane: &'static Lane, operation: Operation, state: State, marker: &mut u64) {
    let begin_ns = lane.mpi.polls.read_ns();
    let place = core::ptr::from_mut(marker);
    // SAFETY: a local variable of the hook. Volatile, since it is read only through its address.
    unsafe { place.write_volatile(begin_ns) };
    lane.operations.open.enter(Kind::from(operation), (0, 0), begin_ns, state, place as u64, 0);
}

/// The calling thread's lane and the library, if the thread has polled, and need not read the clock for its
/// next poll.
#[inline(always)]
pub fn polling_again() -> Option<(&'static Lane, &'static Library)> {
    let lane = lane::current()?;
    let may = life::records_here() && lane.mpi.polls.is_amid_untimed() && lane.operations.open.is_free();
    if may { library::get().map(|library| (lane, library)) } else { None }
}

/// Ends what [`enter_again`] began: nothing has arrived.
#[inline(always)]
pub fn end_again(lane: &'static Lane) {
    lane.mpi.polls.add();
    lane.operations.open.leave();
}

/// Ends what [`enter_again`] began: something has arrived, or the call failed.
#[inline]
pub fn end_at_last(
    lane: &'static Lane,
    operation: Operation,
    result: c_int,
    beside: usize,
    facts: impl FnOnce(&'static Library, c_int, &mut Output) -> Facts,
) {
    end_in_time(lane, operation, Begun { operation, ticket: Ticket::of_open(lane) }, result, beside, facts);
}

/// Begins a poll that is timed: the first one of an episode, or one of many.
#[cold]
#[inline(never)]
fn begin_timed(lane: &'static Lane, operation: Operation, state: State, marker: &mut u64) -> Begun {
    let begun = Begun { operation, ticket: exact::begin(operation, state, marker) };
    if begun.is_followed() {
        lane.operations.open.set_frame(state);
    }
    begun
}

#[cold]
#[inline(never)]
fn end_in_vain(lane: &'static Lane, operation: Operation, begun: &Begun) {
    let times = (begun.ticket.begin_ns(), clock::now_ns());
    let polls = &lane.mpi.polls;
    let node = match life::recording() {
        Some(life) if !polls.is_any() => polls::caller(lane, lane.operations.open.state(), life.pid),
        _ => 0,
    };
    polls.add_timed(operation, node, times);
    lane.leave_as(operation);
}

/// Ends a poll that found something, or failed. Its begin is known only if it was timed; otherwise it took as
/// long as others.
#[inline]
fn end_in_time(
    lane: &'static Lane,
    operation: Operation,
    begun: Begun,
    result: c_int,
    beside: usize,
    facts: impl FnOnce(&'static Library, c_int, &mut Output) -> Facts,
) {
    let end_ns = clock::now_ns();
    let polls = &lane.mpi.polls;
    let mut begun = begun;
    if polls.is_any() {
        if polls.is_uncounted() {
            let begin_ns = end_ns.saturating_sub(polls.each_ns()).max(polls.read_ns());
            let state = lane.operations.open.state();
            let marker = lane.operations.open.marker();
            lane.operations.open.enter(Kind::from(operation), (0, 0), begin_ns, state, marker, 0);
            begun = Begun { operation, ticket: Ticket::of_open(lane) };
        }
        polls::close(lane);
    }
    end_completing_at(&begun, end_ns, result, beside, |library, output| facts(library, result, output));
}
