//! The calls of MPI in one lane, as they are in the log.

use proust_log::operations::Operation;
use proust_log::records::{
    ClockOffset, Communicator, EVENT_CLOCK, EVENT_LEFT, Event, NO_SLOT, RECEIVED_CANCELLED, Received,
};

/// A call.
#[derive(Clone, Debug)]
pub(super) struct RawCall {
    /// Which of the lane's threads made it.
    pub(super) thread: u32,
    pub(super) operation: Operation,
    /// CLOCK_MONOTONIC of the log.
    pub(super) begin_ns: u64,
    pub(super) end_ns: u64,
    pub(super) object: u64,
    pub(super) object2: u64,
    pub(super) bytes: u64,
    /// One more than the first slot; 0 = none.
    pub(super) request: u32,
    pub(super) has_failed: bool,
    /// Where the records end that belong to it and to the calls before, in [`MpiCalls`].
    completed_end: u32,
    received_end: u32,
}

/// All calls of a lane, in the order in which they ended.
#[derive(Debug, Default)]
pub(crate) struct MpiCalls {
    pub(super) calls: Vec<RawCall>,
    /// First slot and how many.
    completed: Vec<(u16, u16)>,
    received: Vec<proust_messages::call::Received>,
    /// With the bits of its head.
    pub(super) communicators: Vec<(u16, Communicator)>,
    /// Likewise.
    clock_offsets: Vec<(u16, ClockOffset)>,
    /// The end of the last call before records were lost.
    pub(super) lost_after_ns: Option<u64>,
}

impl MpiCalls {
    /// A call, by thread number `thread` of the lane.
    pub(crate) fn event(&mut self, number: u16, head: u16, event: &Event, thread: usize) {
        let operation = Operation::from_number(number);
        let is_call = head & EVENT_CLOCK == 0 && event.begin_ns <= event.end_ns;
        let Some(operation) = operation.filter(|operation| operation.is_of_mpi() && is_call) else { return };
        self.calls.push(RawCall {
            thread: thread as u32,
            operation,
            begin_ns: event.begin_ns,
            end_ns: event.end_ns,
            object: event.object,
            object2: event.object2,
            bytes: event.bytes,
            request: event.request,
            // One that was left by a jump says no more of itself than one that failed.
            has_failed: event.error != 0 || head & EVENT_LEFT != 0,
            completed_end: self.completed.len() as u32,
            received_end: self.received.len() as u32,
        });
    }

    /// The requests that a call completed beyond its own record's, and what it received.
    pub(super) fn records_of(&self, call: usize) -> (&[(u16, u16)], &[proust_messages::call::Received]) {
        // What was written before the previous call belongs to that one.
        let ends = |call: &RawCall| (call.completed_end as usize, call.received_end as usize);
        let begins = call.checked_sub(1).and_then(|before| self.calls.get(before)).map_or((0, 0), ends);
        let ends = self.calls.get(call).map_or(begins, ends);
        let completed = self.completed.get(begins.0..ends.0).unwrap_or_default();
        (completed, self.received.get(begins.1..ends.1).unwrap_or_default())
    }

    /// Gives up the calls, and what belongs to them.
    pub(super) fn forget_calls(&mut self) {
        (self.calls, self.completed, self.received) = Default::default();
    }

    /// More requests of the next call.
    pub(crate) fn completed(&mut self, first: u16, count: u16) {
        self.completed.push((first, count));
    }

    /// What a receive got.
    pub(crate) fn received(&mut self, slot: u16, flags: u16, received: &Received) {
        self.received.push(proust_messages::call::Received {
            slot: (slot != NO_SLOT).then_some(slot),
            source: super::acts::partner(received.source),
            tag: received.tag,
            bytes: received.bytes,
            cancelled: flags & RECEIVED_CANCELLED != 0,
        });
    }

    /// A communicator, with the bits of its head.
    pub(crate) fn communicator(&mut self, flags: u16, communicator: Communicator) {
        self.communicators.push((flags, communicator));
    }

    /// A comparison of clocks, with the bits of its head.
    pub(crate) fn clock_offset(&mut self, flags: u16, offset: ClockOffset) {
        self.clock_offsets.push((flags, offset));
    }

    /// The comparisons of clocks.
    pub(crate) fn clock_offsets(&self) -> &[(u16, ClockOffset)] {
        &self.clock_offsets
    }

    /// Records were lost here.
    pub(crate) fn lost(&mut self) {
        let last_ns = self.last_ns();
        self.lost_after_ns.get_or_insert(last_ns);
    }

    /// The end of the last call.
    pub(super) fn last_ns(&self) -> u64 {
        self.calls.last().map_or(0, |call| call.end_ns)
    }
}

#[cfg(test)]
impl RawCall {
    /// A call of which nothing else is known.
    pub(super) fn of(operation: Operation) -> RawCall {
        RawCall {
            thread: 0,
            operation,
            begin_ns: 0,
            end_ns: 0,
            object: 0,
            object2: 0,
            bytes: 0,
            request: 0,
            has_failed: false,
            completed_end: 0,
            received_end: 0,
        }
    }
}
