//! The calls of MPI in one lane, as they are in the log.

use proust_log::operations::{Nature, Operation};
use proust_log::records::{
    ClockOffset, Communicator, EVENT_CLOCK, EVENT_LEFT, Event, NO_SLOT, RECEIVED_CANCELLED, Received,
};
use proust_messages::call::Received as Content;
use proust_messages::stored::{number_of, partner_of};
use proust_profile::{NumbersReader, NumbersWriter, Spool, SpooledNumbers, far, near};

/// A call.
#[derive(Clone, Debug, PartialEq)]
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
    /// Where the records end that belong to it and to the calls before, in [`LaneCalls`].
    completed_end: u32,
    received_end: u32,
}

/// The calls of a lane, in the order in which they ended: while the log is read, and until all of its
/// process's are gathered, numbers in a spool.
#[derive(Debug, Default)]
pub(crate) struct MpiCalls {
    writer: Option<NumbersWriter>,
    written: SpooledNumbers,
    /// How many.
    pub(super) count: usize,
    /// Of the next call: first slot and how many.
    completed: Vec<(u16, u16)>,
    received: Vec<Content>,
    /// The end of the last call.
    last_ns: u64,
    /// With the bits of its head.
    pub(super) communicators: Vec<(u16, Communicator)>,
    /// Likewise.
    clock_offsets: Vec<(u16, ClockOffset)>,
    /// The end of the last call before records were lost.
    pub(super) lost_after_ns: Option<u64>,
}

/// All calls of a lane, read.
#[derive(Debug, Default)]
pub(super) struct LaneCalls {
    pub(super) calls: Vec<RawCall>,
    completed: Vec<(u16, u16)>,
    received: Vec<Content>,
}

impl MpiCalls {
    /// A call, by thread number `thread` of the lane.
    pub(crate) fn event(&mut self, (number, head): (u16, u16), event: &Event, thread: usize, spool: &Spool) {
        let operation = Operation::from_number(number);
        let is_call = head & EVENT_CLOCK == 0 && event.begin_ns <= event.end_ns;
        // What MPI does in one process is as long on any network, as the program's own work is.
        let is_replayed =
            |operation: &Operation| operation.is_of_mpi() && operation.nature() != Nature::Local;
        let Some(operation) = operation.filter(|operation| is_call && is_replayed(operation)) else { return };
        // One that was left by a jump says no more of itself than one that failed.
        let has_failed = event.error != 0 || head & EVENT_LEFT != 0;
        let to = self.writer.get_or_insert_with(|| NumbersWriter::new(spool));
        to.put(&[
            u64::from(operation as u16) << 1 | u64::from(has_failed),
            thread as u64,
            near(event.end_ns, self.last_ns),
            event.end_ns - event.begin_ns,
            event.object,
            event.object2,
            event.bytes,
            event.request.into(),
            self.completed.len() as u64,
            self.received.len() as u64,
        ]);
        for (first, count) in self.completed.drain(..) {
            to.put(&[first.into(), count.into()]);
        }
        for Content { slot, source, tag, bytes, cancelled } in self.received.drain(..) {
            let slot = slot.map_or(0, |slot| u64::from(slot) + 1);
            let tag = near(i64::from(tag).cast_unsigned(), 0);
            to.put(&[slot << 1 | u64::from(cancelled), number_of(source), tag, bytes]);
        }
        self.last_ns = event.end_ns;
        self.count += 1;
    }

    /// The lane has been read.
    pub(crate) fn finish(&mut self) {
        if let Some(writer) = self.writer.take() {
            self.written = writer.finish();
        }
        // What was written after the last call belongs to none.
        (self.completed, self.received) = Default::default();
    }

    /// The calls, which it gives up.
    pub(super) fn take_calls(&mut self) -> LaneCalls {
        let written = std::mem::take(&mut self.written);
        let (mut from, mut all, mut last_ns) = (written.read(), LaneCalls::default(), 0);
        while all.read(&mut from, last_ns).is_some() {
            last_ns = all.calls.last().map_or(0, |call| call.end_ns);
        }
        all
    }

    /// More requests of the next call.
    pub(crate) fn completed(&mut self, first: u16, count: u16) {
        self.completed.push((first, count));
    }

    /// What a receive got.
    pub(crate) fn received(&mut self, slot: u16, flags: u16, received: &Received) {
        self.received.push(Content {
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
        self.last_ns
    }
}

impl LaneCalls {
    /// The requests that a call completed beyond its own record's, and what it received.
    pub(super) fn records_of(&self, call: usize) -> (&[(u16, u16)], &[Content]) {
        // What was written before the previous call belongs to that one.
        let ends = |call: &RawCall| (call.completed_end as usize, call.received_end as usize);
        let begins = call.checked_sub(1).and_then(|before| self.calls.get(before)).map_or((0, 0), ends);
        let ends = self.calls.get(call).map_or(begins, ends);
        let completed = self.completed.get(begins.0..ends.0).unwrap_or_default();
        (completed, self.received.get(begins.1..ends.1).unwrap_or_default())
    }

    /// Reads the next call; None behind the last one.
    fn read(&mut self, from: &mut NumbersReader<'_>, last_ns: u64) -> Option<()> {
        let head = from.next()?;
        let (thread, end_ns, length_ns) = (from.next()? as u32, far(from.next()?, last_ns), from.next()?);
        let (object, object2, bytes) = (from.next()?, from.next()?, from.next()?);
        let (request, completed, received) = (from.next()? as u32, from.next()?, from.next()?);
        for _ in 0..completed {
            self.completed.push((from.next()? as u16, from.next()? as u16));
        }
        for _ in 0..received {
            let (slot, source, tag, bytes) = (from.next()?, from.next()?, from.next()?, from.next()?);
            self.received.push(Content {
                slot: (slot >> 1).checked_sub(1).map(|slot| slot as u16),
                source: partner_of(source),
                tag: far(tag, 0) as i32,
                bytes,
                cancelled: slot & 1 != 0,
            });
        }
        self.calls.push(RawCall {
            thread,
            operation: Operation::from_number((head >> 1) as u16)?,
            begin_ns: end_ns.wrapping_sub(length_ns),
            end_ns,
            object,
            object2,
            bytes,
            request,
            has_failed: head & 1 != 0,
            completed_end: self.completed.len() as u32,
            received_end: self.received.len() as u32,
        });
        Some(())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_come_back_with_what_belongs_to_them() {
        let (mut lane, spool) = (MpiCalls::default(), Spool::default());
        let event = |begin_ns, end_ns, error| Event {
            begin_ns,
            end_ns,
            object: u64::MAX,
            object2: 1 << 40,
            bytes: 8,
            request: 65_536,
            error,
            ..Event::default()
        };
        lane.completed(7, 2);
        lane.received(NO_SLOT, RECEIVED_CANCELLED, &Received { source: 3, tag: -1, bytes: 9 });
        lane.received(65_534, 0, &Received { source: 0, tag: 5, bytes: u64::MAX });
        lane.event((Operation::MPI_Waitall as u16, 0), &event(5, 90, 0), 4, &spool);
        // By its record it ended before: a thread of another clock.
        lane.event((Operation::MPI_Recv as u16, 0), &event(20, 70, 1), 0, &spool);
        lane.completed(1, 1);
        lane.finish();
        assert_eq!(lane.last_ns(), 70);
        let read = lane.take_calls();
        let call = |operation, (begin_ns, end_ns), thread, has_failed| RawCall {
            thread,
            begin_ns,
            end_ns,
            object: u64::MAX,
            object2: 1 << 40,
            bytes: 8,
            request: 65_536,
            has_failed,
            completed_end: 1,
            received_end: 2,
            ..RawCall::of(operation)
        };
        let expected =
            [call(Operation::MPI_Waitall, (5, 90), 4, false), call(Operation::MPI_Recv, (20, 70), 0, true)];
        assert_eq!(read.calls, expected);
        let (completed, received) = read.records_of(0);
        assert_eq!(completed, [(7, 2)]);
        let content = |slot, rank, tag, bytes, cancelled| Content {
            slot,
            source: super::super::acts::partner(rank),
            tag,
            bytes,
            cancelled,
        };
        assert_eq!(received, [content(None, 3, -1, 9, true), content(Some(65_534), 0, 5, u64::MAX, false)]);
        assert_eq!(read.records_of(1), (&[][..], &[][..]));
        assert!(lane.take_calls().calls.is_empty());
    }
}
