//! Objects that threads wait for: locks, barriers, conditions.

use proust_profile::ProcessId;

/// An object that was waited for: its position in [`Evidence::objects`].
pub(super) type ObjectId = u32;
/// No object.
pub(super) const NONE: ObjectId = ObjectId::MAX;

/// An object: an address in a process.
#[derive(Clone, Copy, Debug)]
pub(super) struct Object {
    pub(super) process: ProcessId,
    /// The first wait for it, as a position in the profile's events.
    pub(super) first: usize,
    /// Its waits for a lock.
    pub(super) lock_waits: u64,
    /// Its waits for something else.
    pub(super) other_waits: u64,
}
