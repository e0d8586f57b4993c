//! The fields of a lane's header in the log for a wait, before its thread blocks: a reader of the log of a
//! killed process must know which operation each thread was in.
//!
//! The owner writes; docking apart, where the opener of a region writes when it was over. All stores are
//! volatile or atomic: they are made now and in this order, since the process may be killed in the wait.

use core::sync::atomic::{AtomicU64, Ordering};

use proust_log::operations::Operation;

use super::Lane;
use crate::operation::{Kind, waited};
use crate::path::memo::State;
use crate::path::tree::NodeId;

impl Lane {
    /// The owner enters an operation, and the log says so before it may block.
    #[inline]
    pub fn enter(
        &self,
        kind: Kind,
        objects: (u64, u64),
        begin_ns: u64,
        state: State,
        marker: u64,
        caller: NodeId,
    ) {
        self.enter_unwatched(kind, objects, begin_ns, state, marker, caller);
        if waited::is_woken(kind.operation) {
            waited::begin(objects.0);
        } else if waited::is_for_lock(kind.operation) {
            waited::want(objects.0);
        }
    }

    /// As [`Lane::enter`], of a wait that no call that we see ends: the thread that releases need not know
    /// that the owner waits.
    #[inline]
    pub fn enter_unwatched(
        &self,
        kind: Kind,
        objects: (u64, u64),
        begin_ns: u64,
        state: State,
        marker: u64,
        caller: NodeId,
    ) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: the header is mapped for the process's life, and these fields are written by the owner
            // alone. Volatile, so that they are stored now and in this order: the process may be killed in
            // the operation.
            unsafe {
                (&raw mut (*header).wait_object).write_volatile(objects.0);
                (&raw mut (*header).wait_since_ns).write_volatile(begin_ns);
                (&raw mut (*header).wait_node).write_volatile(caller);
                (&raw mut (*header).wait_target).write_volatile(kind.target as u32);
                (&raw mut (*header).wait_operation).write_volatile(kind.operation as u32);
            }
        }
        self.operations.open.enter(kind, objects, begin_ns, state, marker, caller);
        if self.operations.open.has_alarm() {
            self.suspend_alarm();
        }
    }

    /// The owner is in no operation any more.
    #[inline]
    pub fn leave(&self) {
        match self.operations.open.kind() {
            Some(kind) => self.leave_as(kind.operation),
            None => self.leave_unwatched(),
        }
    }

    /// As [`Lane::leave`], of an operation of which it is known which one it is.
    #[inline]
    pub fn leave_as(&self, operation: Operation) {
        if waited::is_woken(operation) {
            waited::end(self.operations.open.object());
        }
        self.leave_unwatched();
    }

    /// As [`Lane::leave`], of what was entered by [`Lane::enter_unwatched`].
    #[inline]
    pub fn leave_unwatched(&self) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as in `enter_unwatched`.
            unsafe { (&raw mut (*header).wait_operation).write_volatile(0) };
        }
        if self.operations.open.has_alarm() {
            self.resume_alarm();
        }
        self.operations.open.leave();
    }

    /// The owner's CPU clock at its newest sample or begin, as its header has it. For any thread.
    pub fn last_cpu_ns(&self) -> u64 {
        let header = self.header.load(Ordering::Relaxed);
        // SAFETY: the header is mapped for the process's life; the owner may store to the field meanwhile.
        if header.is_null() { 0 } else { unsafe { (&raw const (*header).last_cpu_ns).read_volatile() } }
    }

    /// The word of the log that says which operation the owner is in; null = there is none.
    pub fn wait_operation_word(&self) -> *mut u32 {
        let header = self.header.load(Ordering::Relaxed);
        if header.is_null() {
            return core::ptr::null_mut();
        }
        // SAFETY: the header is mapped for the process's life.
        unsafe { &raw mut (*header).wait_operation }
    }

    /// The log says that a wait of the owner's which is not measured, and so has no begin, began at this
    /// instant or later.
    pub fn waits_since(&self, ns: u64) {
        let header = self.header.load(Ordering::Relaxed);
        if !header.is_null() {
            // SAFETY: as in `enter_unwatched`.
            unsafe { (&raw mut (*header).wait_since_ns).write_volatile(ns) };
        }
    }

    /// Closes the owner's tail from another thread, or takes that back (with zeros): only the two fields of
    /// the lane's header that no other thread writes.
    pub fn close_tail(&self, time_ns: u64, cpu_ns: u64) {
        let header = self.header.load(Ordering::Acquire);
        if header.is_null() {
            return;
        }
        // SAFETY: the header is mapped for the process's life, and its fields are aligned.
        unsafe {
            AtomicU64::from_ptr(&raw mut (*header).final_cpu_ns).store(cpu_ns, Ordering::Relaxed);
            AtomicU64::from_ptr(&raw mut (*header).final_ns).store(time_ns, Ordering::Release);
        }
    }
}
