//! How an operation that is over gets into the log: alone, with its call path, or as part of a sum. And the
//! one that a thread is still in, recorded for it by others.

use core::sync::atomic::Ordering;

use proust_log::records::{EVENT_LEFT, EVENT_PARTIAL, EVENT_TARGET_SHIFT, Event};

use super::sums::{Found, Short};
use super::{Kind, Outcome, postponed, targets};
use crate::hooks::borrowers;
use crate::lane::{self, Lane, Output, Record};
use crate::life::{self, Life};
use crate::path::memo::State;
use crate::path::tree::NodeId;
use crate::{clock, raw, room, source};

/// From this length on an operation's end is worth reading the thread's CPU clock.
const CLOCKED_NS: u64 = 10_000;

/// The same of what is postponed: a reading takes 0.4 µs.
pub(super) const CLOCKED_LATER_NS: u64 = 100_000;

/// An operation that ended less than that before it is recorded was over just now.
const JUST_NOW_NS: u64 = 10_000;

/// Since when recording an operation that ended at `end_ns` took the thread's time, if recording began at
/// `entered_ns`: an operation that is known only when it is over, such as waiting without work, may have
/// ended long before.
fn taken_since(end_ns: u64, entered_ns: u64) -> u64 {
    if is_just_now(end_ns, entered_ns) { end_ns } else { entered_ns }
}

fn is_just_now(end_ns: u64, now_ns: u64) -> bool {
    now_ns.saturating_sub(end_ns) < JUST_NOW_NS
}

/// An operation that is over.
#[derive(Clone, Copy)]
pub struct Completed {
    pub(super) kind: Kind,
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) object: u64,
    pub(super) object2: u64,
    /// Of a call of MPI, as the event has it.
    pub(super) request: u32,
    pub(super) outcome: Outcome,
    pub(super) flags: u16,
    /// A frame that is still there, where the call path begins.
    pub(super) state: Option<State>,
    /// The call path, where there is no such frame.
    pub(super) node: (NodeId, u16),
    /// The thread continued its own work before it records this.
    pub(super) is_postponed: bool,
}

impl Completed {
    /// Whether it is so long that its end is worth reading the thread's CPU clock.
    #[inline]
    pub(super) fn is_clocked(&self) -> bool {
        let least_ns = if self.is_postponed { CLOCKED_LATER_NS } else { CLOCKED_NS };
        self.end_ns.saturating_sub(self.begin_ns) >= least_ns
    }

    /// As an operation that is added to a sum.
    #[inline(always)]
    pub(super) fn as_short(&self) -> Short {
        Short {
            kind: self.kind,
            begin_ns: self.begin_ns,
            end_ns: self.end_ns,
            bytes: self.outcome.bytes,
            failed: self.outcome.error != 0,
        }
    }

    /// Since when recording it, begun at `entered_ns`, has taken the thread's time.
    fn taken_since(&self, entered_ns: u64) -> u64 {
        if self.is_postponed { entered_ns } else { taken_since(self.end_ns, entered_ns) }
    }
}

/// Records an operation, alone or as part of a sum.
#[inline(always)]
pub(super) fn record_completed(lane: &'static Lane, completed: &Completed) {
    let Some(_guard) = lane.take() else { return };
    // SAFETY: called by the owner, which has taken the record.
    record_in(lane, unsafe { lane.record() }, completed);
}

/// As [`record_completed`], where the lane's record has been taken. A wait that ended before this operation
/// is recorded first: the log is in the order of time.
#[inline(always)]
pub(super) fn record_in(lane: &Lane, record: &mut Record, completed: &Completed) {
    if lane.operations.postponed.is_any() {
        postponed::settle_in(lane, record);
    }
    record_next(lane, record, completed);
}

/// As [`record_in`], of an operation that ended before anything that is not recorded yet.
#[inline(always)]
pub(super) fn record_next(lane: &Lane, record: &mut Record, completed: &Completed) {
    let ns = completed.end_ns.saturating_sub(completed.begin_ns);
    let is_long = ns >= record.operations.limit.ns;
    let short = completed.as_short();
    let wants_path = !is_long && record.operations.sums.add(&short, &mut record.output);
    // Whether the path of a postponed one is found was settled when it ended.
    let has_path = if completed.is_postponed { completed.node.0 != 0 } else { wants_path };
    if is_long || has_path {
        look(lane, record, &{ *completed }, is_long);
    }
}

/// Records an operation alone, or finds the caller of one that was added to a sum. Not part of what all short
/// ones execute, which therefore need not keep the whole of `completed` in memory.
#[cold]
#[inline(never)]
fn look(lane: &Lane, record: &mut Record, completed: &Completed, is_long: bool) {
    if record.operations.is_rehearsal {
        return;
    }
    if is_long && completed.is_postponed && !completed.is_clocked() && record.output.has_room_for::<Event>() {
        record_postponed(lane, record, completed);
        return;
    }
    // SAFETY: the record has been taken; should this not be the owner, but its vforked child, the child has
    // the owner's stack, too.
    unsafe {
        lane.with_room(|| {
            if is_long { record_alone(lane, record, completed) } else { find_caller(lane, record, completed) }
        });
    }
}

/// Whether the calling thread is the lane's: a vforked child runs on its parent's lane. The kernel is asked
/// only where there may be one.
pub(super) fn is_owner(lane: &Lane) -> bool {
    is_current(lane) && (!borrowers::may_be() || lane.owner.load(Ordering::Relaxed) == raw::gettid())
}

/// Whether the lane is the calling thread's, or lent to it: not that of another thread whose record it
/// closes.
fn is_current(lane: &Lane) -> bool {
    lane::current().is_some_and(|current| core::ptr::eq(current, lane))
}

#[cold]
#[inline(never)]
fn find_caller(lane: &Lane, record: &mut Record, completed: &Completed) {
    if !is_owner(lane) {
        return;
    }
    let taken_since_ns = completed.taken_since(clock::now_ns());
    let (node, flags) = path_of(record, completed);
    let found =
        Found { node, flags, region: record.parallel.member.region(), interval: record.marks.interval() };
    record.operations.sums.caller(completed.kind, found, &mut record.output);
    record.spent_since(taken_since_ns, 0);
}

fn path_of(record: &mut Record, completed: &Completed) -> (NodeId, u16) {
    match (completed.state, life::recording()) {
        (Some(state), Some(life)) if record.output.is_open() => {
            let (node, flags) = record.path(state, life.pid);
            (node, if flags == 0 { 0 } else { EVENT_PARTIAL })
        }
        _ => completed.node,
    }
}

#[inline(never)]
fn record_alone(lane: &Lane, record: &mut Record, completed: &Completed) {
    let is_owner = is_owner(lane);
    // A thread that closes the record of another one records what that one has postponed.
    if !is_owner && (is_current(lane) || !completed.is_postponed) {
        return;
    }
    let entered_ns = clock::now_ns();
    let kind = targets::settled(completed.kind, completed.object, completed.object2);
    let completed = &Completed { kind, ..*completed };
    let is_clocked = is_owner && completed.is_clocked();
    let cpu_ns = if is_clocked { cpu_at_end(completed, entered_ns) } else { 0 };
    let (node, node_flags) = path_of(record, completed);
    if let Some(state) = completed.state {
        lane.operations.callers.keep(completed.kind, state.sp, node);
    }
    if cpu_ns != 0 {
        super::settle(record);
    }
    push_event(record, completed, (node, node_flags), cpu_ns);
    record.operations.limit.recorded(completed.end_ns);
    record.spent_since(completed.taken_since(entered_ns), cpu_ns);
}

/// As [`record_alone`], of what was postponed and has its call path. Stays on the caller's stack, of which it
/// takes little, with signals as they are: it writes numbers in fixed places, and at the end one store makes
/// the record part of the log, so that it may be left at any instruction.
#[inline(never)]
fn record_postponed(lane: &Lane, record: &mut Record, completed: &Completed) {
    // A thread that closes another one's record is not its current owner; a vforked child seems to be.
    if is_current(lane) && !is_owner(lane) {
        return;
    }
    let entered_ns = clock::now_ns();
    let (node, flags) = completed.node;
    push_event_in_place(record, &Completed { flags: completed.flags | flags, ..*completed }, node);
    record.operations.limit.recorded(completed.end_ns);
    record.spent_since(entered_ns, 0);
}

/// The thread's CPU clock when an operation ended; 0 where that was too long ago to be known. Since then the
/// thread had a processor, so far as can be known.
fn cpu_at_end(completed: &Completed, entered_ns: u64) -> u64 {
    if !is_just_now(completed.end_ns, entered_ns) {
        return 0;
    }
    let since_ns = if completed.is_postponed { clock::now_ns().saturating_sub(completed.end_ns) } else { 0 };
    clock::thread_cpu_ns().saturating_sub(since_ns)
}

/// Writes an event, in a new chunk if need be. Before one with a clock the sums are written, which the clock
/// would otherwise separate from their time.
pub(super) fn push_event(record: &mut Record, completed: &Completed, node: (NodeId, u16), cpu_ns: u64) {
    let (operation, flags, event) = event_of(record, completed, node, cpu_ns);
    if !record.output.push_shaped(operation, flags, &event) {
        count_unrecorded(&mut record.output, completed.end_ns.saturating_sub(completed.begin_ns));
    }
    settle_inside(record, completed, (event.node, event.region, event.interval));
}

/// As [`push_event`], of an event that has room ([`Output::push_in_place`]).
#[inline(always)]
pub(super) fn push_event_in_place(record: &mut Record, completed: &Completed, node: NodeId) {
    let (operation, flags, event) = event_of(record, completed, (node, 0), 0);
    if !record.output.push_in_place(operation, flags, &event) {
        count_unrecorded(&mut record.output, completed.end_ns.saturating_sub(completed.begin_ns));
    }
    settle_inside(record, completed, (event.node, event.region, event.interval));
}

/// What was inside an operation was inside one with that call path, in that region and interval.
#[inline(always)]
pub(super) fn settle_inside(record: &mut Record, completed: &Completed, place: (NodeId, u32, u32)) {
    if record.operations.inside.is_pending_of((completed.kind.operation, completed.begin_ns)) {
        record.operations.inside.settle_pending(place, &mut record.output);
    }
}

/// The event of an operation, and what stands in its head.
#[inline(always)]
fn event_of(
    record: &mut Record,
    completed: &Completed,
    node: (NodeId, u16),
    cpu_ns: u64,
) -> (u16, u16, Event) {
    // Parts of an operation that is known only when it is over may have been recorded already: what the
    // thread called meanwhile. And two readings of the clock may differ by some nanoseconds the wrong way
    // round.
    let end_ns = completed.end_ns.max(record.operations.recorded_until_ns);
    let begin_ns = completed.begin_ns.max(record.operations.recorded_until_ns).min(end_ns);
    record.operations.recorded_until_ns = end_ns;
    record.operations.elapsed.add(completed.kind.operation, end_ns - begin_ns);
    let event = Event {
        begin_ns,
        end_ns,
        cpu_ns,
        object: completed.object,
        object2: completed.object2,
        bytes: completed.outcome.bytes,
        node: node.0,
        interval: record.marks.interval(),
        region: record.parallel.member.region(),
        error: completed.outcome.error,
        request: completed.request,
        processor: clock::processor() as u16,
        ..Event::default()
    };
    let (operation, target) = Kind::parts(completed.kind.number());
    (operation, completed.flags | node.1 | target << EVENT_TARGET_SHIFT, event)
}

#[cold]
#[inline(never)]
fn count_unrecorded(output: &mut Output, ns: u64) {
    output.header(|header| {
        header.unrecorded_operations += 1;
        header.unrecorded_operation_ns += ns;
    });
}

/// Records the operation that the thread has left without a return; its record has been taken.
pub fn note_left(_: &Life, lane: &Lane, record: &mut Record, now_ns: u64) {
    let Some(kind) = lane.operations.open.kind() else { return };
    let completed = Completed {
        kind,
        begin_ns: lane.operations.open.begin_ns(),
        end_ns: now_ns,
        object: lane.operations.open.object(),
        object2: lane.operations.open.object2(),
        request: 0,
        outcome: Outcome::default(),
        flags: EVENT_LEFT,
        state: None,
        node: (lane.operations.open.node(), 0),
        is_postponed: false,
    };
    if lane.operations.postponed.is_any() {
        postponed::settle_in(lane, record);
    }
    let node = if completed.node.0 != 0 { completed.node } else { record.operations.sums.last_caller(kind) };
    super::settle(record);
    push_event(record, &completed, node, clock::thread_cpu_ns());
    lane.leave();
}

/// Finds the call path of the operation that thread `owner` is blocked in, another one than the caller, and
/// writes its sums: at the process's end, or before it is cancelled. The thread may wake up meanwhile: then
/// nothing is written.
pub fn look_into(life: &Life, lane: &Lane, owner: u32) {
    if let Some(_guard) = lane.record_lock.acquire_from_owner()
        && lane.owner.load(Ordering::Acquire) == owner
    {
        // SAFETY: the record is ours now: neither the owner's hooks nor its handler touch it.
        room::apart(|| look_into_record(life, lane, unsafe { lane.record() }));
    }
}

/// As [`look_into`], of a lane whose record the caller has taken.
pub fn look_into_record(life: &Life, lane: &Lane, record: &mut Record) {
    postponed::settle_in(lane, record);
    source::each(|source| source.settle(record));
    let mut caller = 0;
    if lane.operations.open.kind().is_some() && record.output.is_open() {
        let (begin_ns, state) = (lane.operations.open.begin_ns(), lane.operations.open.state());
        // Its stack may go away at any moment: it is read as a foreign one.
        let own_stack = core::mem::take(&mut record.own_stack);
        let stands = || lane.operations.open.kind().is_some() && lane.operations.open.begin_ns() == begin_ns;
        let (node, flags) = record.path_while(state, life.pid, stands);
        record.own_stack = own_stack;
        record.memo.forget();
        if flags == 0 && stands() {
            lane.operations.open.set_node(node);
            record.output.header(|header| header.wait_node = node);
            caller = node;
        }
    }
    let place = (caller, record.parallel.member.region(), record.marks.interval());
    record.operations.inside.write_all(place, &mut record.output);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_since_an_operation_that_ended_long_ago_was_not_taken_by_recording() {
        let entered_ns = 1_000_000_000;
        let since = |ago_ns: u64| entered_ns - taken_since(entered_ns - ago_ns, entered_ns);
        assert_eq!(since(300), 300);
        assert_eq!(since(50_000_000), 0);
    }
}
