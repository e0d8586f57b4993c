//! Objects that threads wait for: locks, barriers, conditions.

use proust_profile::{ContextId, EventRow, LocationId, OperationId, ProcessId};

/// An object that was waited for: its position in [`Evidence::objects`](super::evidence::Evidence::objects).
pub(super) type ObjectId = u32;
/// No object.
pub(super) const NONE: ObjectId = ObjectId::MAX;

/// An object: an address in a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub(super) process: ProcessId,
    pub(super) first: First,
    /// Its waits for a lock.
    pub(super) lock_waits: u64,
    /// Its waits for something else.
    pub(super) other_waits: u64,
}

/// The first wait for an object.
#[derive(Clone, Copy, Debug)]
pub(super) struct First {
    pub(super) begin_ns: u64,
    pub(super) location: LocationId,
    pub(super) context: ContextId,
    pub(super) operation: OperationId,
    /// The object's address.
    pub(super) address: u64,
}

impl First {
    pub(super) fn of(event: &EventRow) -> First {
        let EventRow { begin_ns, location, context, operation, object: address, .. } = *event;
        First { begin_ns, location, context, operation, address }
    }
}
