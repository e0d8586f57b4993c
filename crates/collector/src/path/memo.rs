//! The call-path memo: the last path is verified instead of unwound again.
//!
//! A frame's state is (pc, sp, bp). Its caller's state depends on that state and on the words its rule
//! reads from the stack, and on nothing else: with equal state and equal words, the rest of the path is
//! equal, frame by frame up to the root. So after each path every frame's state is kept; the next path is
//! stepped only until it meets a remembered state, from where only the words are compared. The frame
//! pointer counts only where a rule further up needs it.

use crate::arch::unwinding::{self, Link, return_place, strip};
use crate::path::Announce;
use crate::path::coroutine;
use crate::path::modules;
use crate::path::python::{Evaluation, Python};
use crate::path::stack::{OwnStack, StackReader, WideWindow};
use crate::path::tree::{Frame, NodeId, Tree};

mod entries;
mod step;

use entries::{Entries, Entry};
use step::step;
pub use step::{Step, from_frame_pointer, interrupted};

/// Most frames of a path; longer ones are cut and marked.
pub const MAX_FRAMES: usize = 1 << 16;

/// Registers of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Interrupted instruction, or return address.
    pub pc: u64,
    /// Stack pointer.
    pub sp: u64,
    /// Frame pointer.
    pub bp: u64,
    /// Where the function returns to, if it has not stored that: of an interrupted function only.
    pub link: Link,
    /// Whether `pc` is the interrupted instruction itself.
    pub exact: bool,
}

impl State {
    /// The address that belongs to the frame's function: for a caller the last byte of its call, since the
    /// return address may already be behind the function's end.
    #[inline]
    pub fn lookup(&self) -> u64 {
        if self.exact { self.pc } else { self.pc.wrapping_sub(1) }
    }
}

/// A thread's last path, root first, and room for the next one's new frames, leaf first.
pub struct Memo {
    known: Entries,
    fresh: Entries,
    complete: bool,
    generation: u32,
    wide: WideWindow,
    python: Python,
    /// Whether the thread evaluated functions of Python's in the last path.
    evaluated: bool,
    /// What tells those from all others; 0: not known.
    print: u64,
}

/// How a path ended at its upper end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpperEnd {
    /// At the thread's first function.
    Complete,
    /// Somewhere on the way: the caller could not be found.
    Partial,
    /// At the limit of frames.
    Truncated,
}

/// A path's result.
#[derive(Clone, Copy, Debug)]
pub struct Path {
    /// Node of the leaf.
    pub node: NodeId,
    /// How far up it reaches.
    pub upper_end: UpperEnd,
}

/// The surroundings that a path walk needs.
pub struct Surroundings<'a> {
    /// The thread's own stack.
    pub own_stack: OwnStack,
    /// Process id.
    pub process: u32,
    /// Whether the path is the calling thread's.
    pub is_own: bool,
    /// Gets new modules and nodes.
    pub announce: &'a mut dyn Announce,
}

enum Verdict {
    /// Unchanged up to the root.
    Holds,
    /// Unchanged up to this entry, from which it must be stepped.
    Until(usize),
    /// Changed on the way from this entry to its caller; the entries above may still be valid.
    BrokenAt(usize),
}

impl Default for Memo {
    fn default() -> Memo {
        Memo {
            known: Entries::new(),
            fresh: Entries::new(),
            complete: false,
            generation: 0,
            wide: WideWindow::default(),
            python: Python::default(),
            evaluated: false,
            print: 0,
        }
    }
}

impl Memo {
    /// Forgets the last path: another thread will use this memo, or the stack was replaced.
    pub fn forget(&mut self) {
        self.known.count = 0;
    }

    /// The words of the stack that the last path depends on, leaf first, as addresses and values, and whether
    /// it depends on the leaf's frame pointer. None if it depends on more than words of the thread's own
    /// stack, or `add` wants no more of them.
    pub fn words(&self, mut add: impl FnMut(u64, u64) -> bool) -> Option<bool> {
        if !self.complete || self.known.count == 0 {
            return None;
        }
        let leaf = self.known.get(self.known.count - 1);
        for index in (0..self.known.count).rev() {
            let entry = self.known.get(index);
            if entry.barrier || entry.evaluation != Evaluation::No && self.print == 0 {
                return None;
            }
            let Some(index) = index.checked_sub(1) else { break };
            let caller = self.known.get(index);
            let restores = entry.saved != 0 && caller.needs_bp;
            let place = return_place(caller.sp, entry.saved)?;
            if unwinding::IS_PROTECTED
                || !add(place, caller.pc)
                || restores && !add(caller.sp.wrapping_sub(8 * u64::from(entry.saved)), caller.bp)
            {
                return None;
            }
        }
        Some(leaf.needs_bp)
    }

    /// What tells the functions of Python's that the last path led through from all others; 0: there are
    /// none, or they are not known.
    pub fn print(&self) -> u64 {
        self.print
    }

    /// The same of the path that begins at stack pointer `sp`, which is the calling thread's, as far as it is
    /// the last one's; else 0. Changes nothing.
    ///
    /// # Safety
    /// If the thread has an interpreter, it is inside a function that this called.
    pub unsafe fn print_as_before(&mut self, sp: u64, own_stack: OwnStack, process: u32) -> u64 {
        let reader = StackReader::new(process, own_stack, sp, WideWindow::default());
        // SAFETY: the caller's promise.
        unsafe { self.python.print_at_rest(&reader) }
    }

    /// The same of any path that begins at `sp`.
    ///
    /// # Safety
    /// As for [`Memo::print_as_before`].
    pub unsafe fn print_at(&mut self, sp: u64, around: &mut Surroundings<'_>) -> u64 {
        let reader = StackReader::new(around.process, around.own_stack, sp, WideWindow::default());
        // SAFETY: the caller's promise.
        match unsafe { self.python.look_at_rest(around.process, &reader) } {
            true => self.python.print_at_once(around.process, around.announce),
            false => 0,
        }
    }

    /// The node of the path that begins at `leaf`.
    pub fn path(&mut self, leaf: State, tree: &mut Tree, around: &mut Surroundings<'_>) -> Path {
        let generation = modules::generation();
        if generation != self.generation {
            self.forget();
            self.generation = generation;
        }
        let mut reader =
            StackReader::new(around.process, around.own_stack, leaf.sp, core::mem::take(&mut self.wide));
        self.look_at_python(&reader, around);
        let evaluates_as_before =
            self.print != 0 && self.python.print() == self.print && self.python.has_markers();
        let mut cursor = self.known.count;
        let mut joined = None;
        let mut state = leaf;
        self.fresh.count = 0;
        let mut near = None;
        let upper_end = loop {
            while cursor > 0 && self.known.get(cursor - 1).sp < state.sp {
                cursor -= 1;
            }
            if cursor > 0 && self.meets(cursor - 1, &state) {
                match self.verify(cursor - 1, &reader, evaluates_as_before) {
                    Verdict::Holds => {
                        joined = Some(cursor - 1);
                        break if self.complete { UpperEnd::Complete } else { UpperEnd::Partial };
                    }
                    Verdict::Until(barrier) => {
                        let mut index = cursor - 1;
                        while index > barrier && self.fresh.push(*self.known.get(index)) {
                            index -= 1;
                        }
                        let entry = self.known.get(index);
                        state = entry.state();
                        cursor = index;
                    }
                    // Frames that were verified up to there are stepped again; only those above can match.
                    Verdict::BrokenAt(index) => cursor = index,
                }
            }
            if self.fresh.count >= MAX_FRAMES {
                break UpperEnd::Truncated;
            }
            let (mut entry, caller) = step(&state, &mut near, &mut reader, around);
            if self.evaluated
                && let Step::Caller(caller) = &caller
            {
                entry.evaluation = self.python.evaluation(state.lookup(), state.sp, caller.sp);
                entry.needs_bp |= entry.evaluation != Evaluation::No;
            }
            if !self.fresh.push(entry) {
                break UpperEnd::Truncated;
            }
            match caller {
                Step::Caller(caller) if coroutine::ends_at(caller.pc) => break UpperEnd::Complete,
                Step::Caller(caller) => {
                    reader.reached(around.own_stack, caller.sp);
                    state = caller;
                }
                Step::Top => break UpperEnd::Complete,
                Step::Lost => break UpperEnd::Partial,
            }
        };
        self.wide = reader.into_wide();
        let node = self.remember(joined, tree, around);
        if joined.is_none() {
            self.complete = upper_end == UpperEnd::Complete;
        }
        if upper_end == UpperEnd::Truncated || node.is_none() {
            // Where it was cut depends on the leaf: nothing may be concluded from it.
            self.forget();
        }
        Path { node: node.unwrap_or(0), upper_end }
    }

    #[inline]
    fn look_at_python(&mut self, reader: &StackReader, around: &Surroundings<'_>) {
        let evaluates = if around.is_own {
            self.python.look(around.process, reader)
        } else {
            self.python.look_away();
            false
        };
        if evaluates != self.evaluated {
            // Frames that evaluate were remembered as others, or the reverse.
            self.forget();
            self.evaluated = evaluates;
        }
    }

    #[inline]
    fn meets(&self, index: usize, state: &State) -> bool {
        let entry = self.known.get(index);
        entry.sp == state.sp
            && entry.pc == state.pc
            && entry.exact == state.exact
            && (!entry.needs_bp || entry.bp == state.bp)
    }

    /// Whether the words that led from entry `from` to the root are still on the stack. What is evaluated may
    /// change while the native frame stays, unless `evaluates_as_before`.
    #[inline]
    fn verify(&self, from: usize, reader: &StackReader, evaluates_as_before: bool) -> Verdict {
        let mut index = from;
        let mut entry = self.known.get(index);
        loop {
            if entry.barrier || entry.evaluation != Evaluation::No && !evaluates_as_before {
                return Verdict::Until(index);
            }
            if index == 0 {
                return Verdict::Holds;
            }
            let caller = self.known.get(index - 1);
            // Entries without a barrier lie between the interrupted stack pointer and the top of its stack,
            // where words are read directly; those left over from another stack are not valid.
            let returns = return_place(caller.sp, entry.saved)
                .is_some_and(|place| reader.direct_word(place).map(strip) == Some(caller.pc));
            let restores = entry.saved == 0
                || !caller.needs_bp
                || reader.direct_word(caller.sp.wrapping_sub(8 * u64::from(entry.saved))) == Some(caller.bp);
            if !returns || !restores {
                return Verdict::BrokenAt(index);
            }
            index -= 1;
            entry = caller;
        }
    }

    /// Puts the new frames above what is kept of the last path and gives each its node.
    fn remember(
        &mut self,
        joined: Option<usize>,
        tree: &mut Tree,
        around: &mut Surroundings<'_>,
    ) -> Option<NodeId> {
        self.known.count = joined.map_or(0, |index| index + 1);
        let (mut node, mut needs_bp) = match joined {
            Some(index) => (self.known.get(index).node, self.known.get(index).needs_bp),
            None => (0, false),
        };
        let mut counted = 0;
        if self.evaluated {
            let all = (0..self.fresh.count).map(|index| self.fresh.get(index).evaluation);
            let counted = all.filter(|&evaluation| evaluation == Evaluation::Counted).count();
            self.python.seen(counted, around.process, around.announce);
        }
        self.print = if self.evaluated { self.python.print() } else { 0 };
        while self.fresh.count > 0 {
            let mut entry = *self.fresh.get(self.fresh.count - 1);
            self.fresh.count -= 1;
            let keeps = entry.saved == 0 && !entry.barrier;
            entry.needs_bp = entry.needs_bp || (keeps && needs_bp);
            needs_bp = entry.needs_bp;
            let evaluated = self.evaluated_by(&entry, counted, node, tree, around);
            counted += usize::from(entry.evaluation == Evaluation::Counted);
            if let Some(evaluated) = evaluated {
                node = evaluated;
            } else if !entry.hidden {
                let state = entry.state();
                let frame = Frame { parent: node, module: entry.module, lookup: state.lookup() };
                node = tree.child(frame, around.announce)?;
            }
            entry.node = node;
            if !self.known.push(entry) {
                return None;
            }
        }
        Some(node)
    }

    /// The node of the innermost function that a frame evaluates. Where the interpreter writes what it
    /// evaluates into a map (`-X perf`), the frame above is one of that.
    #[inline]
    fn evaluated_by(
        &mut self,
        entry: &Entry,
        counted: usize,
        parent: NodeId,
        tree: &mut Tree,
        around: &mut Surroundings<'_>,
    ) -> Option<NodeId> {
        if entry.evaluation == Evaluation::No {
            return None;
        }
        let above = self.known.count.checked_sub(1).map(|index| self.known.get(index));
        if above.is_some_and(|above| above.module == 0 && above.evaluation == Evaluation::No) {
            return None;
        }
        self.python.node(entry.evaluation, counted, parent, tree, around.announce)
    }
}
