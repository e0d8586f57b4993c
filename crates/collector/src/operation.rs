//! Intercepted operations: a thread's time between the call of a hooked function and its return.
//!
//! A hook brackets the real function with [`begin`] and [`end`], by [`bracket`]. Before the thread may block,
//! the log's lane header says which operation it is in and since when. Afterwards the operation is recorded
//! alone if it was long enough ([`threshold`]), otherwise summed ([`sums`]). The time of an operation inside
//! another one of the same thread (a signal handler's, a library's own) is the outer one's; it is counted
//! apart ([`inside`]). Nothing here has a
//! destructor: cancellation, exceptions and longjmp leave an operation open, which the thread's next record
//! notices ([`open`]).

use proust_log::control::{CHECK_PATHS, NO_IO, NO_WAITS, OFF};
use proust_log::operations::{Nature, Operation, Target};
use proust_log::records::{NoteCode, ThreadEnd};

use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::openmp::team;
use crate::path::memo::State;
use crate::path::tree::NodeId;
use crate::source::Source;
use crate::{clock, control, options, raw};

pub mod callers;
pub mod elapsed;
pub mod exact;
pub mod inside;
pub mod known_paths;
pub mod meeting;
pub mod open;
mod outcome;
pub mod postponed;
mod recording;
pub mod rehearsal;
pub mod releases;
pub mod sampling;
pub mod sections;
mod short_waits;
mod state;
pub mod stretch;
pub mod sums;
pub mod targets;
pub mod threshold;
pub mod tries;
pub mod waited;
pub mod word_trie;

pub use outcome::{KeptErrno, Outcome, errno, set_errno};
use recording::{Completed, is_owner, record_completed};
pub use recording::{look_into, look_into_record, note_left};
pub use state::{Owned, Shared, fits_at, settle};

/// Operations as a source of data: waits and I/O.
pub struct Operations;

impl Source for Operations {
    fn thread_born(&self, lane: &Lane, tid: u32) {
        lane.operations.begin(tid);
    }

    fn record_begins(&self, record: &mut Record) {
        record.operations.begin();
    }

    fn settle(&self, record: &mut Record) {
        state::settle(record);
    }

    fn record_ends(&self, record: &mut Record, _: &mut ThreadEnd) {
        record.operations.inside.write_all((0, 0, record.marks.interval()), &mut record.output);
        let coarsest_ns = record.operations.limit.coarsest_ns;
        if coarsest_ns > 0 {
            record.note(NoteCode::Coarsened, coarsest_ns);
        }
    }

    fn forked(&self) {
        waited::forget();
    }
}

/// An operation and its kind of object: the key of sums.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Which.
    pub operation: Operation,
    /// The kind of file or device that its descriptor leads to.
    pub target: Target,
}

impl Kind {
    /// As one number.
    #[inline]
    pub fn number(self) -> u32 {
        self.operation as u32 | (self.target as u32) << 16
    }

    /// Operation and target of [`Kind::number`], as numbers.
    pub fn parts(number: u32) -> (u16, u16) {
        (number as u16, (number >> 16) as u16)
    }
}

impl From<Operation> for Kind {
    fn from(operation: Operation) -> Kind {
        Kind { operation, target: Target::None }
    }
}

/// An operation that has begun, as its hook keeps it: two words, which are returned in registers.
#[derive(Clone, Copy)]
pub struct Ticket {
    /// None if it is not followed: it is inside another one, or it does not count.
    lane: Option<&'static Lane>,
    /// 0 if it does not count.
    begin_ns: u64,
}

impl Ticket {
    /// Of an operation that is not followed.
    pub const NONE: Ticket = Ticket { lane: None, begin_ns: 0 };

    /// Of the operation that the lane's owner, the caller, is in.
    #[inline]
    pub fn of_open(lane: &'static Lane) -> Ticket {
        Ticket { lane: Some(lane), begin_ns: lane.operations.open.begin_ns() }
    }

    /// When it began; 0 if it does not count.
    #[inline]
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Whether it is followed: the thread is in it, and in no other one around it.
    #[inline]
    pub fn is_followed(&self) -> bool {
        self.lane.is_some()
    }

    /// Whether its end is of interest: it is followed, or counted inside another one.
    #[inline]
    pub fn counts(&self) -> bool {
        self.begin_ns != 0
    }
}

pub(crate) use crate::arch::registers::here;

/// Whether the run wants operations of this nature, now.
#[inline]
fn wanted(nature: Nature) -> bool {
    options::live() & (OFF | if nature.is_io() { NO_IO } else { NO_WAITS }) == 0 || not_wanted()
}

/// As [`wanted`], where the operation is not known when this is compiled: in most runs all are wanted.
#[inline]
fn is_wanted(operation: Operation) -> bool {
    options::live() & (OFF | NO_IO | NO_WAITS) == 0 || wanted(operation.nature())
}

/// The run does not, or not now: then this process is the first to notice.
#[cold]
#[inline(never)]
fn not_wanted() -> bool {
    if let Some(life) = life::in_hook() {
        control::look_here(life);
    }
    false
}

/// Runs `call` as an operation; `outcome` turns its result into the operation's outcome. Expanded in the hook
/// itself, whose frame the call path begins at.
#[inline(always)]
pub fn bracket<R: Copy>(
    kind: impl Into<Kind>,
    object: u64,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> R {
    let kind = kind.into();
    let mut marker = 0;
    let ticket = begin(kind, (object, 0), here!(), &mut marker);
    let result = call();
    if ticket.counts() {
        end(ticket, outcome(result));
    }
    result
}

/// As [`bracket`], of a wait for a lock: its end may be recorded later.
#[inline(always)]
pub fn bracket_lock<R: Copy>(
    operation: Operation,
    object: u64,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> R {
    let mut marker = 0;
    let ticket = begin(Kind::from(operation), (object, 0), here!(), &mut marker);
    let result = call();
    if ticket.counts() {
        postponed::end(ticket, outcome(result));
    }
    result
}

/// As [`bracket`], of a call that asks for some time; `asked_ns` says how much, from its result and when it
/// began.
#[inline(always)]
pub fn bracket_asking<R: Copy>(
    operation: Operation,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
    asked_ns: impl FnOnce(R, u64) -> u64,
) -> R {
    let mut marker = 0;
    let ticket = begin(Kind::from(operation), (0, 0), here!(), &mut marker);
    let result = call();
    if let Some(lane) = ticket.lane {
        lane.operations.open.set_object2(asked_ns(result, ticket.begin_ns));
        end(ticket, outcome(result));
    } else if ticket.counts() {
        inside::end(ticket, outcome(result));
    }
    result
}

/// As [`bracket`], with a second object.
#[inline(always)]
pub fn bracket_two<R: Copy>(
    kind: impl Into<Kind>,
    objects: (u64, u64),
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> R {
    let kind = kind.into();
    let mut marker = 0;
    let ticket = begin(kind, objects, here!(), &mut marker);
    let result = call();
    if ticket.counts() {
        end(ticket, outcome(result));
    }
    result
}

/// Whether a forked child makes its log for such an operation: before it ends, or loads another image, it
/// closes what it does not need.
#[inline(always)]
const fn is_worth_a_log(operation: Operation) -> bool {
    !matches!(operation, Operation::Close)
}

/// Begins an operation; `state` is the hook's frame, which lives until [`end`], and `marker` a word in it.
#[inline]
pub fn begin(kind: Kind, objects: (u64, u64), state: State, marker: &mut u64) -> Ticket {
    let life = if is_worth_a_log(kind.operation) { life::measuring() } else { life::measuring_in_passing() };
    let Some(life) = life else { return Ticket::NONE };
    let Some(lane) = lane::current() else { return Ticket::NONE };
    if !wanted(kind.operation.nature()) {
        return Ticket::NONE;
    }
    if !lane.operations.open.is_free() && !leave(life, lane, state.sp) {
        return inside::begin(lane, kind.operation, state.sp, marker);
    }
    if lane.operations.tries.is_active() {
        if kind.operation.nature() == Nature::Yield {
            // It gives the processor away in order to try again.
            return Ticket::NONE;
        }
        tries::stop(life, lane);
    }
    let Some(begin_ns) = begin_of(lane, kind.operation, state.sp) else { return Ticket::NONE };
    let marker = mark(marker, begin_ns);
    if kind.operation.nature() == Nature::Condition {
        releases::unlocked_by_wait(lane, objects.1, state);
    }
    let caller = caller_of(life, lane, kind, state, begin_ns);
    lane.enter(kind, objects, begin_ns, state, marker, caller);
    Ticket { lane: Some(lane), begin_ns }
}

/// When an operation of the lane's owner begins, that is to say now; None if it is none of the program's.
#[inline(always)]
fn begin_of(lane: &'static Lane, operation: Operation, sp: u64) -> Option<u64> {
    if lane.member.docked_ns() != 0 || is_at_barrier(lane, sp) {
        // The runtime's own, while it waits for work or for the others.
        return None;
    }
    if lane.member.owes() {
        team::notify_the_others(lane);
    }
    let is_next_wait = waited::is_for_lock(operation) && lane.operations.postponed.may_wait();
    Some(if lane.operations.postponed.is_any() && !is_next_wait {
        postponed::settle_before(lane, operation)
    } else {
        clock::now_ns()
    })
}

/// Marks the hook's frame by its operation's begin.
#[inline(always)]
fn mark(marker: &mut u64, begin_ns: u64) -> u64 {
    let marker = core::ptr::from_mut(marker);
    // SAFETY: a local variable of the hook. Volatile, since it is read only through its address.
    unsafe { marker.write_volatile(begin_ns) };
    marker as u64
}

/// The probable caller of an operation that begins.
#[inline(always)]
fn caller_of(life: &Life, lane: &'static Lane, kind: Kind, state: State, begin_ns: u64) -> NodeId {
    let caller = lane.operations.callers.known(kind, state.sp);
    if caller == 0 && lane.operations.callers.may_find(begin_ns) {
        find_beforehand(life, lane, kind, state, begin_ns)
    } else {
        caller
    }
}

/// The node of the path that begins at `state`, if it is known already.
#[inline]
fn known_path(life: &Life, lane: &'static Lane, state: &State) -> NodeId {
    let node = lane.operations.known_paths.find(state);
    if node != 0 && options::live() & CHECK_PATHS != 0 {
        lane.with_record(|record| record.check_known(*state, life.pid, node));
    }
    node
}

/// Whether the thread is inside a barrier for which no operation is open, seen from a hook's frame at `sp`.
#[inline]
fn is_at_barrier(lane: &Lane, sp: u64) -> bool {
    // SAFETY: the owner, outside of its handler; the own stack is written by it, with the record taken.
    lane::visits()
        .is_some_and(|visits| visits.is_inside() && visits.is_inside_at(sp, unsafe { lane.own_stack() }))
}

/// The caller of an operation that is about to begin.
#[cold]
#[inline(never)]
fn find_beforehand(life: &Life, lane: &'static Lane, kind: Kind, state: State, now_ns: u64) -> NodeId {
    lane.operations.callers.looked(now_ns);
    if !is_owner(lane) {
        return 0;
    }
    let found = lane.with_record(|record| {
        if !record.output.is_open() {
            0
        } else if waited::is_for_lock(kind.operation) {
            record.path_to_know(state, life.pid, &lane.operations.known_paths).0
        } else {
            record.path(state, life.pid).0
        }
    });
    let node = found.unwrap_or(0);
    if node != 0 {
        lane.operations.callers.keep(kind, state.sp, node);
    }
    node
}

/// Ends an operation; when that was, or 0 if it is none of this thread's any more. A hook calls it, and it
/// calls little: what it finds out stays in registers.
#[inline(never)]
pub fn end(ticket: Ticket, outcome: Outcome) -> u64 {
    let Some(lane) = ticket.lane else {
        inside::end(ticket, outcome);
        return 0;
    };
    match ending(lane, ticket) {
        Some((end_ns, kind)) => {
            end_at(lane, ticket, (kind, lane.operations.open.object()), end_ns, outcome);
            end_ns
        }
        None => 0,
    }
}

/// Ends an operation whose end shows what it really was: `found` replaces its kind and object. The cost of
/// that is no part of the operation.
#[inline]
pub fn end_with(ticket: Ticket, outcome: Outcome, found: impl FnOnce(Kind, u64) -> (Kind, u64)) {
    match ticket.lane {
        Some(lane) => {
            if let Some((end_ns, kind)) = ending(lane, ticket) {
                end_found(lane, ticket, found(kind, lane.operations.open.object()), end_ns, outcome);
            }
        }
        None => inside::end(ticket, outcome),
    }
}

/// The operation of `ticket` ends now, on the caller's lane: when that is, and its kind. None if it is none
/// of this thread's any more.
#[inline(always)]
fn ending(lane: &'static Lane, ticket: Ticket) -> Option<(u64, Kind)> {
    // A fork inside the operation: the child has a record of its own.
    if !lane::current().is_some_and(|current| core::ptr::eq(current, lane)) {
        return None;
    }
    let end_ns = clock::now_ns();
    Some((end_ns, lane.operations.open.kind_since(ticket.begin_ns)?))
}

/// As [`end_at`], as a function.
#[inline(never)]
fn end_found(lane: &'static Lane, ticket: Ticket, found: (Kind, u64), end_ns: u64, outcome: Outcome) {
    end_at(lane, ticket, found, end_ns, outcome);
}

/// Ends the operation that the lane's owner, the caller, is in, as one of that kind and object.
#[inline(always)]
fn end_at(lane: &'static Lane, ticket: Ticket, (kind, object): (Kind, u64), end_ns: u64, outcome: Outcome) {
    let completed = Completed {
        kind,
        begin_ns: ticket.begin_ns,
        end_ns,
        object,
        object2: lane.operations.open.object2(),
        request: 0,
        outcome,
        flags: 0,
        state: Some(lane.operations.open.state()),
        node: (0, 0),
        is_postponed: false,
    };
    record_completed(lane, &completed);
    lane.leave_as(kind.operation);
    if kind.operation.nature() == Nature::Condition {
        // The thread has the mutex again, where it had acquired it before.
        releases::acquired(lane, completed.object2, lane.operations.sections.site(completed.object2));
    }
}

/// Ends the `pthread_once` that the calling thread is in: it waits for no other thread, but initialises
/// itself.
pub fn stop_waiting(lane: &'static Lane) {
    if lane
        .operations
        .open
        .kind()
        .is_some_and(|kind| matches!(kind.operation, Operation::Once | Operation::CallOnce))
    {
        end(Ticket::of_open(lane), Outcome::default());
    }
}

/// The operation that the thread was in is over, though its hook never returned; false if it is not.
///
/// A program that polls, yields or locks inside an operation asks this at each call.
#[inline(never)]
fn leave(life: &Life, lane: &'static Lane, sp: u64) -> bool {
    if lane.operations.open.is_live(sp, true, lane, raw::alternate_stack) {
        return false;
    }
    leave_behind(life, lane)
}

#[cold]
#[inline(never)]
fn leave_behind(life: &Life, lane: &'static Lane) -> bool {
    lane.with_record(|record| note_left(life, lane, record, clock::now_ns())).is_some()
}
