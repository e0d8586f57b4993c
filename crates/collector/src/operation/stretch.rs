//! Stretches of a thread's time that are known only when they are over: no hook stood around them.

use proust_log::operations::Operation;

use super::{Kind, Outcome, Passed, tell as tell_passed};
use crate::lane::Lane;
use crate::path::tree::NodeId;

/// Tells that the thread was in `operation` from the one instant to the other; `node` is its call path, 0 if that is known
/// from its region.
#[inline]
pub fn tell(lane: &'static Lane, operation: Operation, (begin_ns, end_ns): (u64, u64), node: NodeId) {
    if end_ns <= begin_ns {
        return;
    }
    tell_passed(
        lane,
        &Passed {
            kind: Kind::from(operation),
            begin_ns,
            end_ns,
            object: 0,
            object2: 0,
            outcome: Outcome::default(),
            flags: 0,
            state: None,
            node: (node, 0),
        },
    );
}
