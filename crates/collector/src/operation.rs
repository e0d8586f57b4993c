//! Intercepted operations: what a thread does between the call of a hooked function and its return.
//!
//! A hook brackets the real function with [`begin`] and [`end`], by [`around`]. Before the thread may block, the log's
//! lane header says what it is in and since when. Afterwards the operation is told alone if it was long enough
//! ([`threshold`]), otherwise summed ([`sums`]). An operation inside another one of the same thread (a signal
//! handler's, a stream's own reads) belongs to the outer one. Nothing here has a destructor: cancellation, exceptions
//! and longjmp leave an operation open, which the thread's next record notices ([`open`]).

use core::sync::atomic::Ordering;

use proust_log::control::{NO_IO, NO_WAITS};
use proust_log::operations::{Nature, Operation, Target};
use proust_log::records::{EVENT_LEFT, EVENT_PARTIAL, EVENT_TARGET_SHIFT, Event};

use crate::lane::{self, Lane, Record};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::path::tree::NodeId;
use crate::{clock, options, raw};

pub mod callers;
pub mod counted;
pub mod held;
pub mod open;
pub mod releases;
pub mod stretch;
pub mod sums;
pub mod targets;
pub mod threshold;
pub mod tries;
pub mod waited;

use sums::Short;

/// From this length on an operation's end is worth reading the thread's CPU clock.
const CLOCKED_NS: u64 = 10_000;

/// An operation and what it is about: what is summed together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    /// Which.
    pub operation: Operation,
    /// What its descriptor leads to.
    pub target: Target,
}

impl Kind {
    /// As one number.
    #[inline]
    pub fn number(self) -> u16 {
        self.operation as u16 | (self.target as u16) << 8
    }

    /// Operation and target of [`Kind::number`], as numbers.
    pub fn parts(number: u16) -> (u16, u16) {
        (number & 0xff, number >> 8)
    }
}

impl From<Operation> for Kind {
    fn from(operation: Operation) -> Kind {
        Kind { operation, target: Target::None }
    }
}

/// What came of an operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Bytes moved.
    pub bytes: u64,
    /// Error number; 0 = it did not fail.
    pub error: u32,
}

impl Outcome {
    /// Of a function that returns an error number, as those of POSIX threads do.
    #[inline]
    pub fn code(result: i32) -> Outcome {
        Outcome { bytes: 0, error: result as u32 }
    }

    /// Of a function that returns -1 and sets `errno`.
    #[inline]
    pub fn errno(result: i64) -> Outcome {
        if result == -1 { Outcome { bytes: 0, error: errno() } } else { Outcome::default() }
    }

    /// Of a function that returns the number of bytes it moved, or -1 and sets `errno`.
    #[inline]
    pub fn bytes(result: isize) -> Outcome {
        match u64::try_from(result) {
            Ok(bytes) => Outcome { bytes, error: 0 },
            Err(_) => Outcome { bytes: 0, error: errno() },
        }
    }
}

/// The program's `errno`.
#[inline]
pub fn errno() -> u32 {
    // SAFETY: the C library's function returns this thread's own `errno`.
    unsafe { *libc::__errno_location() as u32 }
}

/// Sets the program's `errno`.
#[inline]
pub fn set_errno(value: u32) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = value as i32 };
}

/// An operation that has begun, as its hook holds it.
#[derive(Clone, Copy)]
pub struct Ticket {
    lane: Option<&'static Lane>,
    begin_ns: u64,
}

impl Ticket {
    /// Of an operation that is not followed.
    pub const NONE: Ticket = Ticket { lane: None, begin_ns: 0 };

    /// Of the operation that the lane's owner, the caller, is in.
    #[inline]
    pub fn of_open(lane: &'static Lane) -> Ticket {
        Ticket { lane: Some(lane), begin_ns: lane.open.begin_ns() }
    }

    /// When it began; 0 if it is not followed.
    #[inline]
    pub fn begin_ns(&self) -> u64 {
        self.begin_ns
    }

    /// Whether it is followed.
    #[inline]
    pub fn is_followed(&self) -> bool {
        self.lane.is_some()
    }
}

/// The registers of the function it is expanded in.
macro_rules! here {
    () => {{
        let mut state = $crate::path::memo::State { exact: true, ..Default::default() };
        // SAFETY: reads three registers. They belong together: the path is taken from this very instruction.
        unsafe {
            core::arch::asm!(
                "lea {pc}, [rip]",
                "mov {sp}, rsp",
                "mov {bp}, rbp",
                pc = out(reg) state.pc,
                sp = out(reg) state.sp,
                bp = out(reg) state.bp,
                options(nomem, nostack, preserves_flags)
            );
        }
        state
    }};
}
pub(crate) use here;

/// Whether the run wants operations of this nature.
#[inline]
fn wanted(nature: Nature) -> bool {
    options::live() & (if nature.is_io() { NO_IO } else { NO_WAITS }) == 0
}

/// Runs `call` as an operation; `outcome` tells what came of it. Expanded in the hook itself, whose frame the call
/// path begins at.
#[inline(always)]
pub fn around<R: Copy>(
    kind: impl Into<Kind>,
    object: u64,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> R {
    let kind = kind.into();
    let mut marker = 0;
    let ticket = begin(kind, (object, 0), here!(), &mut marker);
    let result = call();
    if ticket.is_followed() {
        end(&ticket, outcome(result));
    }
    result
}

/// As [`around`], and when it ended; 0 if it was not followed.
#[inline(always)]
pub fn around_until<R: Copy>(
    kind: impl Into<Kind>,
    object: u64,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> (R, u64) {
    let kind = kind.into();
    let mut marker = 0;
    let ticket = begin(kind, (object, 0), here!(), &mut marker);
    let result = call();
    (result, if ticket.is_followed() { end(&ticket, outcome(result)) } else { 0 })
}

/// As [`around`], of a call that asks for some time; `asked_ns` tells for how long, of its result and when it began.
#[inline(always)]
pub fn around_asking<R: Copy>(
    operation: Operation,
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
    asked_ns: impl FnOnce(R, u64) -> u64,
) -> R {
    let mut marker = 0;
    let ticket = begin(Kind::from(operation), (0, 0), here!(), &mut marker);
    let result = call();
    if let Some(lane) = ticket.lane {
        lane.open.set_object2(asked_ns(result, ticket.begin_ns));
        end(&ticket, outcome(result));
    }
    result
}

/// As [`around`], with a second object.
#[inline(always)]
pub fn around_two<R: Copy>(
    kind: impl Into<Kind>,
    objects: (u64, u64),
    call: impl FnOnce() -> R,
    outcome: impl FnOnce(R) -> Outcome,
) -> R {
    let kind = kind.into();
    let mut marker = 0;
    let ticket = begin(kind, objects, here!(), &mut marker);
    let result = call();
    if ticket.is_followed() {
        end(&ticket, outcome(result));
    }
    result
}

/// Begins an operation; `state` is the hook's frame, which lives until [`end`], and `marker` a word in it.
#[inline]
pub fn begin(kind: Kind, objects: (u64, u64), state: State, marker: &mut u64) -> Ticket {
    let Some(life) = life::in_hook() else { return Ticket::NONE };
    let Some(lane) = lane::current() else { return Ticket::NONE };
    if !wanted(kind.operation.nature()) || !lane.open.is_free() && !leave(life, lane, state.sp) {
        return Ticket::NONE;
    }
    if lane.tries.is_active() {
        if kind.operation.nature() == Nature::Yield {
            // It gives the processor away in order to try again.
            return Ticket::NONE;
        }
        tries::stop(life, lane);
    }
    if lane.member.docked_ns() != 0 {
        // The runtime's own, while it waits for work.
        return Ticket::NONE;
    }
    let begin_ns = clock::now_ns();
    let marker = core::ptr::from_mut(marker);
    // SAFETY: a local variable of the hook. Volatile, since nobody reads it but through its address.
    unsafe { marker.write_volatile(begin_ns) };
    if kind.operation.nature() == Nature::Condition && waited::is_waited_for(objects.1) {
        // Waiting for a condition lets its mutex go.
        releases::told(Operation::MutexUnlock, objects.1, releases::LetGo::now(), state);
    }
    let mut caller = lane.callers.known(kind, state.sp);
    if caller == 0 && lane.callers.may_find(begin_ns) {
        caller = find_beforehand(life, lane, kind, state, begin_ns);
    }
    lane.enter(kind, objects, begin_ns, state, marker as u64, caller);
    Ticket { lane: Some(lane), begin_ns }
}

/// The caller of an operation that is about to begin.
#[cold]
#[inline(never)]
fn find_beforehand(life: &Life, lane: &'static Lane, kind: Kind, state: State, now_ns: u64) -> NodeId {
    lane.callers.looked(now_ns);
    if !is_owner(lane) {
        return 0;
    }
    let found = lane.with_record(|record| {
        // SAFETY: the owner, and `with_record` has set `busy`.
        unsafe { lane.with_room(|| if record.output.is_open() { record.path(state, life.pid).0 } else { 0 }) }
    });
    let node = found.unwrap_or(0);
    if node != 0 {
        lane.callers.keep(kind, state.sp, node);
    }
    node
}

/// Counts an operation of [`counted`] that touches memory only; false if it has to be bracketed, or not to be
/// followed, like others.
#[inline]
pub fn count(kind: Kind) -> bool {
    if life::in_hook().is_none() || !wanted(kind.operation.nature()) {
        return false;
    }
    match lane::current() {
        Some(lane) if lane.open.is_free() && !lane.tries.is_active() => {
            lane.counted.add(kind);
            true
        }
        _ => false,
    }
}

/// Ends an operation; when that was, or 0 if it is none of this thread's any more.
#[inline]
pub fn end(ticket: &Ticket, outcome: Outcome) -> u64 {
    end_with(ticket, outcome, |kind, object| (kind, object))
}

/// Ends an operation of which only its end shows what it was about: `found` makes of its kind and object what they
/// really are. What that takes is no part of the operation.
#[inline]
pub fn end_with(ticket: &Ticket, outcome: Outcome, found: impl FnOnce(Kind, u64) -> (Kind, u64)) -> u64 {
    let Some(lane) = ticket.lane else { return 0 };
    // A fork inside the operation: the child has a record of its own.
    if !lane::current().is_some_and(|current| core::ptr::eq(current, lane)) {
        return 0;
    }
    let end_ns = clock::now_ns();
    let Some(kind) = lane.open.kind_since(ticket.begin_ns) else { return 0 };
    let (kind, object) = found(kind, lane.open.object());
    let passed = Passed {
        kind,
        begin_ns: ticket.begin_ns,
        end_ns,
        object,
        object2: lane.open.object2(),
        outcome,
        flags: 0,
        state: Some(lane.open.state()),
        node: (0, 0),
    };
    tell(lane, &passed);
    lane.leave();
    end_ns
}

/// Ends the `pthread_once` that the calling thread is in: it waits for nobody, but initialises itself.
pub fn stop_waiting(lane: &'static Lane) {
    if lane.open.kind().is_some_and(|kind| matches!(kind.operation, Operation::Once | Operation::CallOnce)) {
        end(&Ticket { lane: Some(lane), begin_ns: lane.open.begin_ns() }, Outcome::default());
    }
}

/// An operation that is over.
#[derive(Clone, Copy)]
pub struct Passed {
    kind: Kind,
    begin_ns: u64,
    end_ns: u64,
    object: u64,
    object2: u64,
    outcome: Outcome,
    flags: u16,
    /// A frame that is still there, where the call path begins.
    state: Option<State>,
    /// The call path, where there is no such frame.
    node: (NodeId, u16),
}

/// Tells an operation, alone or as part of a sum.
#[inline]
fn tell(lane: &'static Lane, passed: &Passed) {
    if lane.busy.swap(true, Ordering::Acquire) {
        return;
    }
    // SAFETY: called by the owner, with `busy` set.
    let record = unsafe { lane.record() };
    let ns = passed.end_ns.saturating_sub(passed.begin_ns);
    if ns >= record.limit.ns {
        // SAFETY: `busy` is set; should this not be the owner, but his vforked child, it has his stack, too.
        unsafe { lane.with_room(|| tell_alone(lane, record, passed)) };
    } else {
        let short = Short {
            kind: passed.kind,
            begin_ns: passed.begin_ns,
            end_ns: passed.end_ns,
            bytes: passed.outcome.bytes,
            failed: passed.outcome.error != 0,
        };
        if record.sums.add(&short, &mut record.output) {
            // SAFETY: as above.
            unsafe { lane.with_room(|| find_caller(lane, record, passed)) };
        }
    }
    lane.busy.store(false, Ordering::Release);
}

/// Whether the calling thread is the lane's: a vforked child runs on its parent's lane.
fn is_owner(lane: &Lane) -> bool {
    lane.owner.load(Ordering::Relaxed) == raw::gettid()
}

#[cold]
#[inline(never)]
fn find_caller(lane: &Lane, record: &mut Record, passed: &Passed) {
    if !is_owner(lane) {
        return;
    }
    let (node, flags) = path_of(record, passed);
    let region = record.member.region();
    record.sums.caller(passed.kind, (node, flags, region), &mut record.output);
    record.spent(clock::now_ns().saturating_sub(passed.end_ns));
}

fn path_of(record: &mut Record, passed: &Passed) -> (NodeId, u16) {
    match (passed.state, life::recording()) {
        (Some(state), Some(life)) if record.output.is_open() => {
            record.look_for_own_stack(life, state.sp);
            let (node, flags) = record.path(state, life.pid);
            (node, if flags == 0 { 0 } else { EVENT_PARTIAL })
        }
        _ => passed.node,
    }
}

#[inline(never)]
fn tell_alone(lane: &Lane, record: &mut Record, passed: &Passed) {
    if !is_owner(lane) {
        return;
    }
    let kind = targets::settled(passed.kind, passed.object, passed.object2);
    let passed = &Passed { kind, ..*passed };
    let (node, node_flags) = path_of(record, passed);
    if let Some(state) = passed.state {
        lane.callers.keep(passed.kind, state.sp, node);
    }
    let clocked = passed.end_ns.saturating_sub(passed.begin_ns) >= CLOCKED_NS;
    let cpu_ns = if clocked { clock::thread_cpu_ns() } else { 0 };
    push_event(record, passed, (node, node_flags), cpu_ns);
    record.limit.told(passed.end_ns);
    record.spent(clock::now_ns().saturating_sub(passed.end_ns));
}

/// Writes an event, and before it what its clock would otherwise separate from its time.
fn push_event(record: &mut Record, passed: &Passed, node: (NodeId, u16), cpu_ns: u64) {
    if cpu_ns != 0 {
        record.tell_sums();
    }
    let event = Event {
        begin_ns: passed.begin_ns,
        end_ns: passed.end_ns,
        cpu_ns,
        object: passed.object,
        object2: passed.object2,
        bytes: passed.outcome.bytes,
        node: node.0,
        region: record.member.region(),
        error: passed.outcome.error,
        processor: clock::processor() as u16,
        ..Event::default()
    };
    let (operation, target) = Kind::parts(passed.kind.number());
    let flags = passed.flags | node.1 | target << EVENT_TARGET_SHIFT;
    if !record.output.push(operation, flags, &event) {
        record.output.header(|header| {
            header.unrecorded_operations += 1;
            header.unrecorded_operation_ns += passed.end_ns.saturating_sub(passed.begin_ns);
        });
    }
}

/// The operation that the thread was in is over, though its hook never returned; false if it is not.
#[cold]
#[inline(never)]
fn leave(life: &Life, lane: &'static Lane, sp: u64) -> bool {
    // Whether its frame is still there can be told on a known stack only.
    if is_owner(lane) {
        // SAFETY: the owner, and `with_record` has set `busy`.
        lane.with_record(|record| unsafe { lane.with_room(|| record.look_for_own_stack(life, sp)) });
    }
    if lane.open.is_live(sp, true, lane) {
        return false;
    }
    let left = lane.with_record(|record| note_left(life, lane, record, clock::now_ns()));
    left.is_some()
}

/// Tells the operation that the thread has left without a return, with `busy` set or in its handler.
pub fn note_left(_: &Life, lane: &Lane, record: &mut Record, now_ns: u64) {
    let Some(kind) = lane.open.kind() else { return };
    let passed = Passed {
        kind,
        begin_ns: lane.open.begin_ns(),
        end_ns: now_ns,
        object: lane.open.object(),
        object2: lane.open.object2(),
        outcome: Outcome::default(),
        flags: EVENT_LEFT,
        state: None,
        node: (lane.open.node(), 0),
    };
    let node = if passed.node.0 != 0 { passed.node } else { record.sums.last_caller(kind) };
    push_event(record, &passed, node, clock::thread_cpu_ns());
    lane.leave();
}

/// Finds the call path of the operation that another thread is blocked in, and tells its sums: at the process's end,
/// or before it is cancelled. The thread may wake up meanwhile: then nothing is told.
pub fn look_into(life: &Life, lane: &Lane) {
    if lane.busy.swap(true, Ordering::AcqRel) {
        return;
    }
    // SAFETY: `busy` was free and is ours now: neither the owner's hooks nor its handler touch the record.
    let record = unsafe { lane.record() };
    record.tell_sums();
    record.sites.tell(&mut record.output);
    if lane.open.kind().is_some() && record.output.is_open() {
        let (begin_ns, state) = (lane.open.begin_ns(), lane.open.state());
        // Its stack may go away at any moment: it is read as a foreign one.
        let own_stack = core::mem::take(&mut record.own_stack);
        let (node, flags) = record.path(state, life.pid);
        record.own_stack = own_stack;
        record.memo.forget();
        if flags == 0 && lane.open.kind().is_some() && lane.open.begin_ns() == begin_ns {
            lane.open.set_node(node);
            record.output.header(|header| header.wait_node = node);
        }
    }
    lane.busy.store(false, Ordering::Release);
}
