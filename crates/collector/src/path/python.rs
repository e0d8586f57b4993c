//! Functions of Python in paths, by the interpreter's own list of frames.
//!
//! On a native stack all of them look like the function that evaluates their code. At each path the frames
//! of the thread's interpreter are read (`frames`), each evaluation found on the native stack is replaced
//! by the functions that it evaluates, and what they are is written once (`codes`). Where they stand in
//! memory depends on the interpreter's version (`layout`); one of another version, or frames that do not
//! look as they should, leave the path as it is on the native stack.
//!
//! Memory of the interpreter is read by system calls that fail instead of faulting (`memory`): the thread may
//! be anywhere, also within the few instructions that change its list. Only in calls of MPI, which interrupt
//! nothing, what a system call has read before is read directly.

mod codes;
mod frames;
mod interpreter;
mod layout;
mod memory;
mod text;

#[cfg(test)]
mod tests;

use proust_log::records::INTERPRETED;

use crate::arena::Lazily;
use crate::path::Announce;
use crate::path::stack::StackReader;
use crate::path::tree::{Frame, NodeId, Tree};
use codes::{Codes, Facts};
use frames::Found;
pub use interpreter::{after_unloading, before_unloading, find, follow_changes, is_there};
use layout::Layout;

/// Which evaluation a frame of the native stack is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Evaluation {
    /// None.
    #[default]
    No,
    /// That of the group with this number.
    Of(u16),
    /// Some: which one is known when all have been counted.
    Counted,
}

/// A lane's state.
#[derive(Default)]
pub struct Python {
    found: Lazily<Found>,
    facts: Lazily<Facts>,
    codes: Codes,
    /// How evaluations of the path in work are recognised; None: there are none.
    layout: Option<&'static Layout>,
    /// The group that comes next on the way up.
    next: u16,
}

impl Python {
    /// Looks at the calling thread's frames, before its path is walked. Whether there are any.
    #[inline]
    pub fn look(&mut self, process: u32, reader: &StackReader) -> bool {
        self.layout = None;
        // SAFETY: it is not said to be at rest.
        interpreter::is_there() && unsafe { self.look_at_frames(false, process, reader) }
    }

    /// As [`Python::look`], of a thread that is at rest.
    ///
    /// # Safety
    /// If the calling thread has an interpreter, it is inside a function that this called.
    pub unsafe fn look_at_rest(&mut self, process: u32, reader: &StackReader) -> bool {
        self.layout = None;
        // SAFETY: the caller's promise.
        interpreter::is_there() && unsafe { self.look_at_frames(true, process, reader) }
    }

    /// The path in work is another thread's: there is nothing to see.
    pub fn look_away(&mut self) {
        self.layout = None;
    }

    /// The print of the last path's functions, if they are those of the calling thread, which is at rest;
    /// else 0. Changes nothing.
    ///
    /// # Safety
    /// As for [`Python::look_at_rest`].
    pub unsafe fn print_at_rest(&mut self, reader: &StackReader) -> u64 {
        let Some(found) = self.found.get() else { return 0 };
        let Some((layout, thread)) = interpreter::of_this_thread() else { return 0 };
        // SAFETY: the caller's promise.
        unsafe { found.print_at_rest(layout, thread, reader) }
    }

    #[cold]
    #[inline(never)]
    unsafe fn look_at_frames(&mut self, at_rest: bool, process: u32, reader: &StackReader) -> bool {
        let Some((layout, thread)) = interpreter::of_this_thread() else { return false };
        let Some(found) = self.found.get_or_make_zeroed() else { return false };
        // SAFETY: the caller's promise.
        unsafe { found.look(layout, thread, at_rest, (process, reader)) };
        self.next = 0;
        if found.is_empty() {
            return false;
        }
        self.layout = Some(layout);
        true
    }

    /// Whether the native frame at `pc`, which reaches from `sp` to its caller's stack pointer, evaluates.
    /// Asked on the way up, once for each frame.
    #[inline]
    pub fn evaluation(&mut self, pc: u64, sp: u64, callers_sp: u64) -> Evaluation {
        let Some(layout) = self.layout else { return Evaluation::No };
        let Some(found) = self.found.get() else { return Evaluation::No };
        if !layout.has_markers() {
            return if interpreter::evaluates(pc) { Evaluation::Counted } else { Evaluation::No };
        }
        while let Some(marker) = found.marker(self.next) {
            if marker >= callers_sp {
                break;
            }
            self.next += 1;
            if marker >= sp {
                return Evaluation::Of(self.next - 1);
            }
        }
        Evaluation::No
    }

    /// All evaluations of the path have been seen, so many of them [`Evaluation::Counted`]: finds out what is
    /// evaluated.
    #[inline]
    pub fn seen(&mut self, counted: usize, process: u32, announce: &mut dyn Announce) {
        let Some(layout) = self.layout else { return };
        let (Some(found), Some(facts)) = (self.found.get(), self.facts.get_or_make_zeroed()) else { return };
        if !layout.has_markers() && !found.is_as_many_as(counted) {
            self.layout = None;
            return;
        }
        found.number(layout, &mut self.codes, facts, (process, announce));
    }

    /// What tells the functions that were looked at from all others, before their evaluations have been seen;
    /// 0: there are none, or they are not known.
    pub fn print_at_once(&mut self, process: u32, announce: &mut dyn Announce) -> u64 {
        let Some(layout) = self.layout else { return 0 };
        if let (Some(found), Some(facts)) = (self.found.get(), self.facts.get_or_make_zeroed()) {
            found.number(layout, &mut self.codes, facts, (process, announce));
        }
        self.print()
    }

    /// The same of functions that have been seen, or that were looked at and are those of the last path.
    #[inline]
    pub fn print(&mut self) -> u64 {
        match self.layout {
            Some(_) => self.found.get().map_or(0, |found| found.print()),
            None => 0,
        }
    }

    /// Whether evaluations are known by their place on the native stack, one by one.
    #[inline]
    pub fn has_markers(&self) -> bool {
        self.layout.is_some_and(Layout::has_markers)
    }

    /// The node of the innermost function of an evaluation below `parent`; None: the native frame stays.
    /// `from_outermost` is its place among those that are counted.
    pub fn node(
        &mut self,
        evaluation: Evaluation,
        from_outermost: usize,
        parent: NodeId,
        tree: &mut Tree,
        announce: &mut dyn Announce,
    ) -> Option<NodeId> {
        self.layout?;
        let found = self.found.get()?;
        let functions = match evaluation {
            Evaluation::No => return None,
            Evaluation::Of(group) => found.functions(group),
            Evaluation::Counted => found.counted(from_outermost),
        };
        if functions.is_empty() || functions.iter().any(|function| function.number == 0) {
            return None;
        }
        let mut node = parent;
        for function in functions.iter().rev() {
            let lookup = u64::from(function.number) << 32 | u64::from(function.at);
            node = tree.child(Frame { parent: node, module: INTERPRETED, lookup }, announce)?;
        }
        Some(node)
    }
}

/// Whether the calling thread is one that an interpreter knows.
pub fn knows_this_thread() -> bool {
    interpreter::is_there() && interpreter::of_this_thread().is_some()
}

/// Whether a frame is a function of an interpreter's, and not one of a native stack.
pub fn is_interpreted(frame: &Frame) -> bool {
    frame.module == INTERPRETED
}
