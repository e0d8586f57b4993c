//! Stretches of a thread's time that are known only when they are over: no hook stood around them.

use proust_log::operations::Operation;
use proust_log::records::{EVENT_CLOCK, Event};

use super::{Completed, Kind, Outcome, postponed, record_completed};
use crate::clock;
use crate::lane::Lane;
use crate::path::tree::NodeId;

/// Records that the thread was in `operation` on `object` (0 = on none) from the one instant to the other;
/// `node` is its call path, 0 if that is known from its region.
#[inline]
pub fn record(
    lane: &'static Lane,
    (operation, object): (Operation, u64),
    (begin_ns, end_ns): (u64, u64),
    node: NodeId,
) {
    if end_ns <= begin_ns {
        return;
    }
    record_completed(
        lane,
        &Completed {
            kind: Kind::from(operation),
            begin_ns,
            end_ns,
            object,
            object2: 0,
            request: 0,
            outcome: Outcome::default(),
            flags: 0,
            state: None,
            node: (node, 0),
            is_postponed: false,
        },
    );
}

/// Records the thread's CPU clock at `now_ns`, where an operation begins: it separates the CPU time used
/// before it from that used in it. It is read only if the stretch to be separated is about `length_ns` long,
/// and operations of that length are recorded alone.
pub fn clock_at(lane: &'static Lane, operation: Operation, now_ns: u64, length_ns: u64) {
    lane.with_record_in_silence(|record| {
        if length_ns < record.operations.limit.ns || now_ns < record.operations.recorded_until_ns {
            return;
        }
        if lane.operations.postponed.is_any() {
            postponed::settle_in(lane, record);
        }
        let cpu_ns = clock::thread_cpu_ns();
        let event = Event { begin_ns: now_ns, end_ns: now_ns, cpu_ns, ..Event::default() };
        // SAFETY: the owner, and `with_record_in_silence` has taken the record.
        unsafe {
            lane.with_room(|| {
                super::settle(record);
                record.output.push_shaped(operation as u16, EVENT_CLOCK, &event);
            });
        }
        // All later records lie after this reading.
        record.operations.recorded_until_ns = now_ns;
        record.operations.limit.recorded(now_ns);
    });
}
