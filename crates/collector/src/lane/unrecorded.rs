//! The fields of a lane's header in the log for a wait that is over and that no record has yet: should the
//! process be killed before there is one, that is all that is known of it.

use core::sync::atomic::{AtomicU32, Ordering};

use proust_log::layout::WAIT_PASSED;
use proust_log::operations::Operation;

use super::Lane;
use crate::path::tree::NodeId;

impl Lane {
    /// As [`Lane::leave_unwatched`], of an operation that took `ns` and is recorded later; `node` is its call
    /// path, 0 = none but the one that it was entered with.
    #[inline]
    pub fn leave_to_record(&self, operation: Operation, ns: u64, node: NodeId) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: the header is mapped for the process's life, and these fields are written by the owner
            // alone. Volatile and in this order: the process may be killed at any of them, and the operation
            // is either open or over.
            unsafe {
                (&raw mut (*header).wait_passed_ns).write_volatile(u32::try_from(ns).unwrap_or(u32::MAX));
                if node != 0 {
                    (&raw mut (*header).wait_node).write_volatile(node);
                }
                (&raw mut (*header).wait_operation).write_volatile(operation as u32 | WAIT_PASSED);
            }
        }
        if self.operations.open.has_alarm() {
            self.resume_alarm();
        }
        self.operations.open.leave();
    }

    /// There is a record of it now. Called by the owner, or by a thread that closes its record for it: an
    /// operation that the owner has entered since stays.
    pub fn is_recorded(&self) {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return;
        }
        // SAFETY: as above; other threads store to the word in one access.
        let word = unsafe { AtomicU32::from_ptr(&raw mut (*header).wait_operation) };
        let said = word.load(Ordering::Relaxed);
        if said & WAIT_PASSED != 0 {
            // Another value is an operation that was entered meanwhile.
            let _ = word.compare_exchange(said, 0, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
}
