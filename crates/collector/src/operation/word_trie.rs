//! Call paths that a thread found before, by the words of the stack that lead from frame to frame.
//!
//! Like [`super::known_paths`], but for thousands of paths: a library that calls MPI for others does so at
//! few instructions and depths of the stack, from very many paths. Which word decides next, and where it
//! lies, follows from the registers and the words before it. So the words of all paths are a tree: each step
//! has where the next word lies, and what follows for each value that was found there. Paths share what they
//! have in common near their leaves, and a lookup takes a load and a comparison for each word.
//!
//! Whether a saved frame pointer matters is decided by frames further up. Where that makes two paths disagree
//! about the next word, the second one begins a tree of its own: a *variant*. A path is only ever found if
//! all words that it depends on are the same.
//!
//! Most calls have the path of the last one from the same place. So the words of each path also lie in a row:
//! those of the last one are compared first, without waiting for one to find the next.

use core::sync::atomic::{AtomicPtr, Ordering, compiler_fence};

use super::known_paths::Keeps;
use crate::arena;
use crate::path::memo::{Memo, State};
use crate::path::modules;
use crate::path::tree::NodeId;
use steps::{Memory, VARIANTS};
use words::{MOST_WORDS, Words};

mod steps;
mod words;

/// Steps that there is room for at first, and at most. When room is used up all are forgotten, and there is
/// [`GROWTH`] times as much.
const FIRST_STEPS: u32 = 1 << 11;
const MOST_STEPS: u32 = 1 << 17;
const GROWTH: u32 = 4;

/// A thread's paths. Used by the owner alone.
#[derive(Debug, Default)]
pub struct WordTrie(AtomicPtr<Memory>);

impl WordTrie {
    fn memory(&self) -> Option<&Memory> {
        // SAFETY: null, or a value made by `new`, which belongs to this lane and stays until another one
        // takes its place: in `begin_anew`, where nobody else uses it.
        unsafe { self.0.load(Ordering::Relaxed).as_ref() }
    }

    /// The node of the path that begins at `state`, a frame of the calling function on the thread's own
    /// stack; 0 = not known.
    #[inline]
    pub fn find(&self, state: &State) -> NodeId {
        let Some(memory) = self.memory() else { return 0 };
        if memory.generation.load(Ordering::Relaxed) != modules::generation() {
            return 0;
        }
        let was_read = memory.is_read.load(Ordering::Relaxed);
        memory.is_read.store(true, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let mut node = memory.is_last(state);
        if node == 0 {
            node = memory.find_any(state, !was_read);
        }
        compiler_fence(Ordering::SeqCst);
        memory.is_read.store(was_read, Ordering::Relaxed);
        node
    }

    /// As [`WordTrie::find`], of a path through the functions of Python's with this print.
    #[inline]
    pub fn find_through(&self, print: u64, state: &State) -> NodeId {
        self.find(&through(print, state))
    }

    fn note(&self, state: &State, node: NodeId, memo: &Memo, most_words: usize) {
        if self.0.load(Ordering::Relaxed).is_null() {
            let Some(fresh) = Memory::new(FIRST_STEPS) else { return };
            self.0.store(fresh, Ordering::Relaxed);
        }
        let Some(memory) = self.memory() else { return };
        // A path of a single frame depends on no word: its first step would be its end.
        let path = Words::of(state, node, memo, most_words).filter(|path| path.count > 0);
        let Some(path) = path else { return };
        let is_read = memory.is_read.load(Ordering::Relaxed);
        if memory.generation.load(Ordering::Relaxed) != modules::generation() {
            if is_read {
                return;
            }
            memory.forget();
            memory.generation.store(modules::generation(), Ordering::Relaxed);
        }
        let kept = (0..VARIANTS).find_map(|variant| match memory.keep_in(variant, state, &path) {
            Some(false) => None,
            done => Some(done.is_some()),
        });
        // A lookup that was left by a jump is under way for good: then the rest stays unknown.
        if kept == Some(false) && !is_read {
            self.begin_anew(memory);
        }
    }

    /// Forgets all, in more memory if there is some to be had.
    fn begin_anew(&self, old: &Memory) {
        let more = old.capacity.saturating_mul(GROWTH);
        match Some(more).filter(|&more| more <= MOST_STEPS).and_then(Memory::new) {
            Some(fresh) => {
                let bytes = Memory::bytes(old.capacity);
                let old = self.0.swap(fresh, Ordering::Relaxed);
                // SAFETY: made with this size, and no lookup is under way in it.
                unsafe { arena::give_back(old.cast(), bytes) };
            }
            None => old.forget(),
        }
    }

    /// The lane's next thread begins, on another stack.
    pub fn forget(&self) {
        if let Some(memory) = self.memory() {
            memory.is_read.store(false, Ordering::Relaxed);
            memory.forget();
        }
    }
}

/// What a path is looked up by that leads through an interpreter's functions: they decide over it as the
/// words do, but are on no stack. 0 = there are none.
fn through(print: u64, state: &State) -> State {
    State { pc: state.pc ^ print, ..*state }
}

impl Keeps for WordTrie {
    fn keep(&self, state: &State, node: NodeId, memo: &Memo) {
        self.note(&through(memo.print(), state), node, memo, MOST_WORDS);
    }

    fn keep_site(&self, state: &State, node: NodeId, memo: &Memo) {
        self.note(state, node, memo, 1);
    }
}
