//! One thread's intercepted operations, as they are in the log.
//!
//! The collector writes an operation when it has ended, so that they are ordered by their ends; a sum is
//! written before the next record that has a CPU clock. An operation that contradicts that is damage that its
//! check did not detect: it is clamped where something of it can be believed, dropped otherwise, and counted.

use proust_log::layout::LaneHeader;
use proust_log::operations::{Operation, Target as LogTarget};
use proust_log::records::{EVENT_CLOCK, EVENT_LEFT, EVENT_PARTIAL, EVENT_TARGET_SHIFT, Event, Inside, Sum};
use proust_profile::{ContextId, EventRow, InsideRow, LocationId, OperationId, Spool, Target};

use super::raw_rows::{Raw, RawRows, RawRowsBuilder};
use super::thread::{NO_PATH, Place, SLACK_NS, goes_on};

/// The highest place that an operation may have.
const MOST: Place = u32::MAX - 2;

/// The facts about the thread whose operations these are.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub(super) begin_ns: u64,
    pub(super) begin_cpu_ns: u64,
    /// Later times are damage.
    pub(super) latest_ns: u64,
    /// Found running: an operation may have begun before its record did.
    pub(super) found: bool,
}

/// The operations of a thread while its records are read.
#[derive(Debug)]
pub(super) struct Events {
    rows: RawRowsBuilder<EventRow>,
    /// Operations inside others; of the contexts and numbers the same is true.
    inside: Vec<InsideRow>,
    /// Operations, those in sums included.
    operations: u64,
    implausible: u64,
    /// End of the newest single operation.
    last_end_ns: u64,
    /// CPU time of the thread at the newest operation at which it was read, and when that was.
    last_clock: Option<Clock>,
    /// The last caller of the operations of a kind.
    callers: Vec<(Operation, Place, bool)>,
}

/// What a lane's header says that the thread's operation was on, as an event's head has it.
pub(super) fn target_head(header: &LaneHeader) -> u16 {
    (header.wait_target.min(0xff) as u16) << EVENT_TARGET_SHIFT
}

/// A thread's CPU clock as it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Clock {
    pub(super) time_ns: u64,
    pub(super) cpu_ns: u64,
}

/// The operations of a finished thread.
#[derive(Debug, Default)]
pub(super) struct Finished {
    pub(super) rows: RawRows<EventRow>,
    /// Operations inside others, as in [`Raw::row`].
    pub(super) inside: Vec<InsideRow>,
    pub(super) operations: u64,
    pub(super) implausible: u64,
}

impl Events {
    /// None yet; they will lie in `spool`.
    pub(super) fn new(spool: &Spool) -> Events {
        Events {
            rows: RawRowsBuilder::new(spool),
            inside: Vec::new(),
            operations: 0,
            implausible: 0,
            last_end_ns: 0,
            last_clock: None,
            callers: Vec::new(),
        }
    }

    /// End of the newest operation that was recorded by itself.
    pub(super) fn end_ns(&self) -> u64 {
        self.last_end_ns
    }

    /// The newest reading of the CPU clock, absolute.
    pub(super) fn last_clock(&self) -> Option<Clock> {
        self.last_clock
    }

    /// An operation that was recorded by itself.
    pub(super) fn event(&mut self, number: u16, head: u16, event: &Event, bounds: &Bounds) {
        let earliest_ns = bounds.begin_ns.max(self.last_end_ns);
        let ordered = event.begin_ns <= event.end_ns && event.end_ns <= bounds.latest_ns;
        let operation = Operation::from_number(number);
        let Some(operation) = operation.filter(|_| ordered && event.end_ns >= earliest_ns) else {
            self.implausible += 1;
            return;
        };
        let begin_ns = event.begin_ns.max(earliest_ns);
        if begin_ns != event.begin_ns && !(bounds.found && self.last_end_ns <= event.begin_ns) {
            self.implausible += 1;
        }
        let (place, partial) = self.caller(operation, event.node, head, false);
        // Nothing but a reading of the clock has neither length nor result.
        let is_call = head & EVENT_CLOCK == 0;
        let begin_ns = if is_call { begin_ns } else { event.end_ns };
        let row = EventRow {
            context: ContextId(place),
            operation: OperationId(number.into()),
            target: target(head),
            begin_ns,
            end_ns: event.end_ns,
            time_ns: event.end_ns - begin_ns,
            calls: u32::from(is_call),
            errors: u32::from(is_call && event.error != 0),
            bytes: if is_call { event.bytes } else { 0 },
            cpu_clock_ns: self.clock(event, bounds),
            object: event.object,
            object2: event.object2,
            left: head & EVENT_LEFT != 0,
            ..EventRow::default()
        };
        self.last_end_ns = event.end_ns;
        self.push(row, partial);
    }

    /// Short operations of one kind.
    pub(super) fn sum(&mut self, number: u16, head: u16, sum: &Sum, bounds: &Bounds) {
        let ordered = sum.since_ns <= sum.until_ns && sum.until_ns <= bounds.latest_ns;
        let believed = ordered && sum.until_ns >= bounds.begin_ns && sum.calls > 0;
        let Some(operation) = Operation::from_number(number).filter(|_| believed) else {
            self.implausible += 1;
            return;
        };
        let begin_ns = sum.since_ns.max(bounds.begin_ns);
        let time_ns = sum.ns.min(sum.until_ns - begin_ns);
        let errors = sum.errors.min(sum.calls);
        if (begin_ns, time_ns, errors) != (sum.since_ns, sum.ns, sum.errors) {
            self.implausible += 1;
        }
        // The path is found now and then, and is used for all until it is found again.
        let (place, partial) = self.caller(operation, sum.node, head, true);
        let row = EventRow {
            context: ContextId(place),
            operation: OperationId(number.into()),
            target: target(head),
            begin_ns,
            end_ns: sum.until_ns,
            time_ns,
            calls: sum.calls,
            errors,
            bytes: sum.bytes,
            summed: true,
            ..EventRow::default()
        };
        self.push(row, partial);
    }

    /// Operations inside others.
    pub(super) fn inside(&mut self, number: u16, outer: u16, inside: &Inside, bounds: &Bounds) {
        let ordered = inside.since_ns <= inside.until_ns && inside.until_ns <= bounds.latest_ns;
        let believed = ordered && inside.until_ns >= bounds.begin_ns && inside.calls > 0;
        let operations = Operation::from_number(number).zip(Operation::from_number(outer));
        let Some((_, of)) = operations.filter(|_| believed) else {
            self.implausible += 1;
            return;
        };
        let begin_ns = inside.since_ns.max(bounds.begin_ns);
        let time_ns = inside.ns.min(inside.until_ns - begin_ns);
        let (longest_ns, errors) = (inside.longest_ns.min(time_ns), inside.errors.min(inside.calls));
        let said = (inside.since_ns, inside.ns, inside.longest_ns, inside.errors);
        if (begin_ns, time_ns, longest_ns, errors) != said {
            self.implausible += 1;
        }
        // The outer one's caller is not always known: then it is the last known one of such operations.
        let (place, _) = match inside.node {
            NO_PATH => self.caller(of, NO_PATH, 0, true),
            node => (node.min(MOST), false),
        };
        self.inside.push(InsideRow {
            location: LocationId(0),
            context: ContextId(place),
            outer: OperationId(outer.into()),
            operation: OperationId(number.into()),
            begin_ns,
            end_ns: inside.until_ns,
            time_ns,
            longest_ns,
            calls: inside.calls,
            errors,
            bytes: inside.bytes,
        });
    }

    /// The operation that the thread was in when its record ended at `end_ns`, if it was in one.
    pub(super) fn open(&mut self, header: &LaneHeader, end_ns: u64, bounds: &Bounds) {
        let Ok(number) = u16::try_from(header.wait_operation) else {
            self.implausible += 1;
            return;
        };
        // An operation that began before the newest one ended is that one: killed before it was taken back.
        if number == 0 || header.wait_since_ns < self.last_end_ns {
            return;
        }
        let Some(operation) =
            Operation::from_number(number).filter(|_| header.wait_since_ns <= bounds.latest_ns)
        else {
            self.implausible += 1;
            return;
        };
        let begin_ns = header.wait_since_ns.max(bounds.begin_ns);
        let end_ns = end_ns.max(begin_ns);
        let (place, partial) = self.caller(operation, header.wait_node, 0, true);
        let row = EventRow {
            context: ContextId(place),
            operation: OperationId(number.into()),
            target: target(target_head(header)),
            begin_ns,
            end_ns,
            time_ns: end_ns - begin_ns,
            calls: 1,
            object: header.wait_object,
            open: true,
            ..EventRow::default()
        };
        self.last_end_ns = end_ns;
        self.push(row, partial);
    }

    pub(super) fn finish(self) -> Finished {
        Finished {
            rows: self.rows.finish(),
            inside: self.inside,
            operations: self.operations,
            implausible: self.implausible,
        }
    }

    fn push(&mut self, row: EventRow, partial: bool) {
        self.operations = self.operations.saturating_add(row.calls.into());
        self.rows.push(Raw { row, partial });
    }

    /// CPU time of the thread at the end of an event, where it was read and can be.
    fn clock(&mut self, event: &Event, bounds: &Bounds) -> Option<u64> {
        if event.cpu_ns == 0 {
            return None;
        }
        let last_cpu_ns = self.last_clock.map_or(bounds.begin_cpu_ns, |clock| clock.cpu_ns);
        let most_ns = (event.end_ns - bounds.begin_ns) / 64 * 65 + SLACK_NS;
        let cpu_ns = goes_on(last_cpu_ns, event.cpu_ns);
        let used_ns = cpu_ns.checked_sub(bounds.begin_cpu_ns);
        let used_ns = used_ns.filter(|&used| used <= most_ns && cpu_ns >= last_cpu_ns);
        match used_ns {
            Some(_) => self.last_clock = Some(Clock { time_ns: event.end_ns, cpu_ns }),
            None => self.implausible += 1,
        }
        used_ns
    }

    /// The caller: the node where it is known, otherwise, if `inherit`, the last caller of such an operation.
    fn caller(&mut self, operation: Operation, node: u32, head: u16, inherit: bool) -> (Place, bool) {
        let known = self.callers.iter_mut().find(|(of, ..)| *of == operation);
        if node == NO_PATH {
            return known
                .filter(|_| inherit)
                .map_or((NO_PATH, false), |&mut (_, place, partial)| (place, partial));
        }
        // A damaged record must not name one of the codes for "not known".
        let caller = (node.min(MOST), head & EVENT_PARTIAL != 0);
        match known {
            Some(known) => (known.1, known.2) = caller,
            None => self.callers.push((operation, caller.0, caller.1)),
        }
        caller
    }
}

fn target(head: u16) -> Target {
    let target = LogTarget::from_number((head >> EVENT_TARGET_SHIFT) as u8);
    Target::from_id(target.id()).unwrap_or_default()
}
