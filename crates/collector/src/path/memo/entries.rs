//! The memo's data of each frame.

use super::State;
use crate::arch::unwinding::Link;
use crate::arena;
use crate::path::python::Evaluation;
use crate::path::tree::NodeId;

#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) pc: u64,
    pub(super) sp: u64,
    pub(super) bp: u64,
    pub(super) link: Link,
    /// Rule's distance of the frame pointer's place below the CFA in words; 0 = kept.
    pub(super) saved: u16,
    pub(super) exact: bool,
    /// The frame pointer's value matters for this frame or one above it.
    pub(super) needs_bp: bool,
    /// The way to the caller must be stepped each time.
    pub(super) barrier: bool,
    /// The module, or 0; only for frames that get a node.
    pub(super) module: u32,
    /// Whether the frame is the collector's own and gets no node.
    pub(super) hidden: bool,
    /// Which functions of an interpreter's it evaluates.
    pub(super) evaluation: Evaluation,
    pub(super) node: NodeId,
}

impl Entry {
    #[inline]
    pub(super) fn state(&self) -> State {
        State { pc: self.pc, sp: self.sp, bp: self.bp, link: self.link, exact: self.exact }
    }
}

/// A growing array that a signal handler may grow.
pub(super) struct Entries {
    start: *mut Entry,
    capacity: usize,
    pub(super) count: usize,
}

const FIRST_ENTRIES: usize = 5;

impl Entries {
    pub(super) const fn new() -> Entries {
        Entries { start: core::ptr::null_mut(), capacity: 0, count: 0 }
    }

    #[inline]
    pub(super) fn get(&self, index: usize) -> &Entry {
        debug_assert!(index < self.count);
        // SAFETY: all callers index below `count`, and `count` entries are initialised.
        unsafe { &*self.start.add(index) }
    }

    #[inline]
    pub(super) fn push(&mut self, entry: Entry) -> bool {
        if self.count == self.capacity && !self.grow() {
            return false;
        }
        // SAFETY: count < capacity after the check.
        unsafe { self.start.add(self.count).write(entry) };
        self.count += 1;
        true
    }

    #[cold]
    fn grow(&mut self) -> bool {
        let capacity = (self.capacity * 2).max(FIRST_ENTRIES);
        let fresh = arena::pages(capacity * size_of::<Entry>()).cast::<Entry>();
        if fresh.is_null() {
            return false;
        }
        if !self.start.is_null() {
            // SAFETY: both ranges are mapped and have room for at least `count` entries; the old one was
            // returned by `pages` with this size and is not used again.
            unsafe {
                core::ptr::copy_nonoverlapping(self.start, fresh, self.count);
                arena::give_back(self.start.cast(), self.capacity * size_of::<Entry>());
            }
        }
        self.start = fresh;
        self.capacity = capacity;
        true
    }
}
