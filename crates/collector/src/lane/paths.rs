//! Call paths of a lane's thread: found, and compared with a full unwind in debug mode.

use proust_log::layout::FileHeader;
use proust_log::records;

use super::Record;
use crate::logfile;
use crate::operation::known_paths::Keeps;
use crate::path::memo::{State, Surroundings, UpperEnd};
use crate::path::modules;
use crate::path::python;
use crate::path::tree::{Frame, NodeId};

impl Record {
    /// As [`Record::path`], of a frame of the thread's own stack; notes it in `known` if it is whole.
    pub fn path_to_know(&mut self, leaf: State, process: u32, known: &impl Keeps) -> (NodeId, u16) {
        let (node, flags) = self.path(leaf, process);
        if flags == 0 && node != 0 {
            known.keep(&leaf, node, &self.memo);
        }
        (node, flags)
    }

    /// As [`Record::path_to_know`], but of the call site alone: its node is one below the root, and it is
    /// known again by where it is called from and the depth of its stack.
    pub fn site_to_know(&mut self, leaf: State, process: u32, known: &impl Keeps) -> (NodeId, u16) {
        let (node, flags) = self.path(leaf, process);
        let Some(frame) = self.tree.frame(node) else { return (node, flags) };
        let Some(site) = self.tree.child(Frame { parent: 0, ..frame }, &mut self.output) else {
            return (node, flags);
        };
        // The same place in an interpreter executes other functions the next time.
        if flags == 0 && !python::is_interpreted(&frame) {
            known.keep_site(&leaf, site, &self.memo);
        }
        (site, 0)
    }

    /// What tells the functions of Python's that the calling thread evaluates from all others, if they are
    /// those of its last path; else 0. Changes nothing, but takes more than a hook may of the caller's stack.
    ///
    /// # Safety
    /// If the thread has an interpreter, it is inside a function that this called.
    pub unsafe fn print_as_before(&mut self, sp: u64, process: u32) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { self.memo.print_as_before(sp, self.own_stack, process) }
    }

    /// The same of whatever it evaluates; 0: nothing, or it is not known.
    ///
    /// # Safety
    /// As for [`Record::print_as_before`].
    pub unsafe fn print_at(&mut self, sp: u64, process: u32) -> u64 {
        let mut around =
            Surroundings { own_stack: self.own_stack, process, is_own: true, announce: &mut self.output };
        // SAFETY: the caller's promise.
        unsafe { self.memo.print_at(sp, &mut around) }
    }

    /// In debug mode: whether a path that is known is the one that is found.
    pub fn check_known(&mut self, leaf: State, process: u32, known: NodeId) {
        if self.path(leaf, process) != (known, 0) {
            logfile::count(|header: *mut FileHeader| field(header, |h| &raw mut h.path_mismatches), 1);
        }
    }

    /// The node of the path that begins at `leaf`, and its sample flags.
    pub fn path(&mut self, leaf: State, process: u32) -> (NodeId, u16) {
        self.path_of(leaf, process, true, || true)
    }

    /// As [`Record::path`], of another thread, which may continue meanwhile: the path is valid if `stands`
    /// says afterwards that it has not. Only then does the debug mode's comparison mean anything, which reads
    /// the stack a second time.
    pub fn path_while(&mut self, leaf: State, process: u32, stands: impl FnOnce() -> bool) -> (NodeId, u16) {
        self.path_of(leaf, process, false, stands)
    }

    fn path_of(
        &mut self,
        leaf: State,
        process: u32,
        is_own: bool,
        stands: impl FnOnce() -> bool,
    ) -> (NodeId, u16) {
        let mut around =
            Surroundings { own_stack: self.own_stack, process, is_own, announce: &mut self.output };
        let generation = modules::generation();
        let path = self.memo.path(leaf, &mut self.tree, &mut around);
        if let Some(reference) = &mut self.reference
            && path.upper_end != UpperEnd::Truncated
        {
            let agrees = reference.agrees(leaf, path.node, &self.tree, &around)
                // A thread loaded or unloaded code meanwhile: the two saw different modules.
                || modules::generation() != generation;
            if stands() {
                let count = |pick: fn(&mut FileHeader) -> *mut u64| logfile::count(|h| field(h, pick), 1);
                count(|header| &raw mut header.paths_compared);
                if !agrees {
                    count(|header| &raw mut header.path_mismatches);
                }
            }
        }
        let flags = match path.upper_end {
            UpperEnd::Complete => 0,
            UpperEnd::Partial => records::SAMPLE_PARTIAL,
            UpperEnd::Truncated => records::SAMPLE_TRUNCATED,
        };
        (path.node, flags)
    }
}

/// A field of a header by raw pointer.
pub(super) fn field(header: *mut FileHeader, pick: impl FnOnce(&mut FileHeader) -> *mut u64) -> *mut u64 {
    // SAFETY: callers pass the mapped header of the log.
    pick(unsafe { &mut *header })
}
