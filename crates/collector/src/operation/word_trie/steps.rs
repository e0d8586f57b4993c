//! The steps that lead to paths, and the paths that were found last.

use core::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence};

use super::words::{MOST_WORDS, Words};
use crate::arena::{self, spread};
use crate::path::memo::State;
use crate::path::modules;
use crate::path::tree::NodeId;

/// Trees of paths that begin at the same instruction and depth.
pub(super) const VARIANTS: u32 = 4;

/// Values of [`Step::next`] that are no distance: nothing follows yet; the frame pointer decides; the path is
/// known.
const NOTHING: u16 = u16::MAX;
const BASE_POINTER: u16 = u16::MAX - 1;
const END: u16 = u16::MAX - 2;

/// The word that was found at some place. Written before it can be reached, and not changed while it can be,
/// but for what follows it.
#[derive(Debug)]
#[repr(C, align(8))]
struct Step {
    /// The word; of a first step the instruction.
    value: AtomicU64,
    /// Of a first step the stack pointer; of others 0.
    depth: AtomicU64,
    /// The step before it; of a first one its variant.
    before: AtomicU32,
    /// Another step of the same hash; 0 = none.
    beside: AtomicU32,
    /// The step that followed last; 0 = none.
    likely: AtomicU32,
    /// Of an [`END`]: the path's node.
    node: AtomicU32,
    /// Of an [`END`]: where its row begins.
    row: AtomicU32,
    /// How many words it has; 0 = there is none.
    in_row: AtomicU16,
    /// How many words above the stack pointer the next word lies, or one of the codes.
    next: AtomicU16,
}

/// A word of a path, in its row.
#[derive(Debug)]
#[repr(C)]
struct InRow {
    /// How many words above the stack pointer it lies.
    words: AtomicU64,
    value: AtomicU64,
}

/// The path that was found last from one of the places at which paths begin.
#[derive(Debug)]
#[repr(C, align(64))]
struct Last {
    pc: AtomicU64,
    sp: AtomicU64,
    bp: AtomicU64,
    row: AtomicU32,
    /// 0 = there is none.
    node: AtomicU32,
    in_row: AtomicU16,
    needs_bp: AtomicBool,
}

const LASTS: usize = 64;

/// Which one it is.
#[inline(always)]
fn last_of(state: &State) -> usize {
    (spread(state.pc) >> (u64::BITS - LASTS.ilog2())) as usize
}

/// Places in rows for each step that there is room for.
const IN_ROWS: usize = 2;

/// Behind it, in the same memory, lie so many heads of lists of steps, so many steps, and [`IN_ROWS`] times
/// as many places of rows.
#[derive(Debug)]
#[repr(C, align(64))]
pub(super) struct Memory {
    /// Steps that there is room for: a power of two. Not changed.
    pub(super) capacity: u32,
    /// Steps in use, the first ones of which stand for the variants.
    used: AtomicU32,
    /// Places of rows in use.
    rows_used: AtomicU32,
    /// Of the list of modules.
    pub(super) generation: AtomicU32,
    /// A lookup is under way: it may be one that a handler of the program interrupts.
    pub(super) is_read: AtomicBool,
    last: [Last; LASTS],
}

/// Which words follow each other.
#[derive(Clone, Copy)]
struct Key {
    before: u32,
    value: u64,
    depth: u64,
}

impl Key {
    fn first(variant: u32, state: &State) -> Key {
        Key { before: variant, value: state.pc, depth: state.sp }
    }

    #[inline]
    fn hash(self) -> u64 {
        spread(spread(self.value ^ self.depth.rotate_left(32)) ^ u64::from(self.before)) >> 32
    }
}

impl Memory {
    pub(super) const fn bytes(capacity: u32) -> usize {
        let of_step = size_of::<u64>() + size_of::<Step>() + IN_ROWS * size_of::<InRow>();
        size_of::<Memory>() + capacity as usize * of_step
    }

    /// Fresh memory for so many steps; None if there is none to be had.
    pub(super) fn new(capacity: u32) -> Option<*mut Memory> {
        let memory = arena::pages(Memory::bytes(capacity)).cast::<Memory>();
        if memory.is_null() {
            return None;
        }
        // SAFETY: fresh memory, of which this is the begin, and zero, a valid value: no list has a step.
        unsafe {
            (*memory).capacity = capacity;
            (*memory).used = AtomicU32::new(VARIANTS);
            (*memory).generation = AtomicU32::new(modules::generation());
        }
        Some(memory)
    }

    #[inline]
    fn head(&self, key: Key) -> &AtomicU32 {
        let at = key.hash() as u32 & (self.capacity - 1);
        // SAFETY: so many words lie behind the value, which was made with its memory (`new`), are zero at
        // first, and are used by atomic accesses alone.
        unsafe { &*core::ptr::from_ref(self).add(1).cast::<AtomicU32>().add(at as usize) }
    }

    #[inline]
    fn step(&self, at: u32) -> &Step {
        let at = at & (self.capacity - 1);
        // SAFETY: as above; the steps lie behind eight bytes for each of them.
        unsafe {
            let steps = core::ptr::from_ref(self).add(1).cast::<u64>().add(self.capacity as usize);
            &*steps.cast::<Step>().add(at as usize)
        }
    }

    /// All places of rows.
    #[inline]
    fn rows(&self) -> &[InRow] {
        // SAFETY: as above; they lie behind the steps.
        unsafe {
            let heads_end = core::ptr::from_ref(self).add(1).cast::<u64>().add(self.capacity as usize);
            let steps_end = heads_end.cast::<Step>().add(self.capacity as usize);
            core::slice::from_raw_parts(steps_end.cast(), self.capacity as usize * IN_ROWS)
        }
    }

    /// The node of the path that was found last from this place, if that is the path of `state`; 0 = it is
    /// not.
    #[inline(always)]
    pub(super) fn is_last(&self, state: &State) -> NodeId {
        let last = &self.last[last_of(state)];
        let node = last.node.load(Ordering::Relaxed);
        if node == 0
            || last.pc.load(Ordering::Relaxed) != state.pc
            || last.sp.load(Ordering::Relaxed) != state.sp
            || last.needs_bp.load(Ordering::Relaxed) && last.bp.load(Ordering::Relaxed) != state.bp
        {
            return 0;
        }
        let (from, count) = (last.row.load(Ordering::Relaxed), last.in_row.load(Ordering::Relaxed));
        let row = self.rows().get(from as usize..from as usize + usize::from(count)).unwrap_or(&[]);
        let is_same = |word: &InRow| {
            let address = state.sp + 8 * word.words.load(Ordering::Relaxed);
            // SAFETY: when this was noted the stack pointer was the same, and this word lay between it and
            // the top of the same stack, which is there.
            unsafe { (address as *const u64).read_volatile() == word.value.load(Ordering::Relaxed) }
        };
        if row.iter().all(is_same) { node } else { 0 }
    }

    /// The path that ends there was found from `state`.
    fn is_found(&self, end: &Step, state: &State, needs_bp: bool) {
        let (last, count) = (&self.last[last_of(state)], end.in_row.load(Ordering::Relaxed));
        if count == 0 {
            return;
        }
        last.pc.store(state.pc, Ordering::Relaxed);
        last.sp.store(state.sp, Ordering::Relaxed);
        last.bp.store(state.bp, Ordering::Relaxed);
        last.needs_bp.store(needs_bp, Ordering::Relaxed);
        last.row.store(end.row.load(Ordering::Relaxed), Ordering::Relaxed);
        last.in_row.store(count, Ordering::Relaxed);
        last.node.store(end.node.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    /// Puts the words of a path into a row, if there is room.
    fn keep_row(&self, end: &Step, path: &Words) {
        let (from, count) = (self.rows_used.load(Ordering::Relaxed), path.count);
        let Some(places) = self.rows().get(from as usize..from as usize + count) else { return };
        self.rows_used.store(from + count as u32, Ordering::Relaxed);
        for (place, &(words, value)) in places.iter().zip(path.words()) {
            place.words.store(words.into(), Ordering::Relaxed);
            place.value.store(value, Ordering::Relaxed);
        }
        end.row.store(from, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        end.in_row.store(count as u16, Ordering::Relaxed);
    }

    fn is_it(&self, at: u32, key: Key) -> bool {
        let step = self.step(at);
        step.value.load(Ordering::Relaxed) == key.value
            && step.before.load(Ordering::Relaxed) == key.before
            && step.depth.load(Ordering::Relaxed) == key.depth
    }

    /// The step of this key; 0 = there is none.
    #[inline]
    fn find(&self, key: Key) -> u32 {
        let at = self.step(key.before).likely.load(Ordering::Relaxed);
        if at != 0 && self.is_it(at, key) { at } else { self.look_up(key) }
    }

    /// As [`Memory::find`], of one that need not be the likely one.
    #[inline(never)]
    fn look_up(&self, key: Key) -> u32 {
        let mut at = self.head(key).load(Ordering::Relaxed);
        // No list is longer than there are steps, whatever a handler does meanwhile.
        for _ in 0..self.capacity {
            if at == 0 || self.is_it(at, key) {
                break;
            }
            at = self.step(at).beside.load(Ordering::Relaxed);
        }
        if at != 0 {
            self.step(key.before).likely.store(at, Ordering::Relaxed);
        }
        at
    }

    /// The step of this key, which is made if need be; None without room.
    fn find_or_make(&self, key: Key) -> Option<u32> {
        let at = self.find(key);
        if at != 0 {
            return Some(at);
        }
        let fresh = self.used.load(Ordering::Relaxed);
        if fresh >= self.capacity {
            return None;
        }
        self.used.store(fresh + 1, Ordering::Relaxed);
        let (step, head) = (self.step(fresh), self.head(key));
        step.value.store(key.value, Ordering::Relaxed);
        step.depth.store(key.depth, Ordering::Relaxed);
        step.before.store(key.before, Ordering::Relaxed);
        step.likely.store(0, Ordering::Relaxed);
        step.node.store(0, Ordering::Relaxed);
        step.in_row.store(0, Ordering::Relaxed);
        step.next.store(NOTHING, Ordering::Relaxed);
        step.beside.store(head.load(Ordering::Relaxed), Ordering::Relaxed);
        // A lookup that a handler interrupts finds it whole or not at all.
        compiler_fence(Ordering::SeqCst);
        head.store(fresh, Ordering::Relaxed);
        Some(fresh)
    }

    /// From here on `next` decides behind the step; false if something else does.
    fn agrees(&self, at: u32, next: u16) -> bool {
        let said = &self.step(at).next;
        if said.load(Ordering::Relaxed) == NOTHING {
            said.store(next, Ordering::Relaxed);
        }
        said.load(Ordering::Relaxed) == next
    }

    pub(super) fn forget(&self) {
        self.used.store(VARIANTS, Ordering::Relaxed);
        self.rows_used.store(0, Ordering::Relaxed);
        self.last.iter().for_each(|last| last.node.store(0, Ordering::Relaxed));
        // SAFETY: as in `head`.
        let heads = unsafe {
            let first = core::ptr::from_ref(self).add(1).cast::<AtomicU32>();
            core::slice::from_raw_parts(first, self.capacity as usize)
        };
        heads.iter().for_each(|head| head.store(0, Ordering::Relaxed));
        (0..VARIANTS).for_each(|variant| self.step(variant).likely.store(0, Ordering::Relaxed));
    }

    /// The node of the path that begins at `state`, in one variant: None if it is not there. 0: nothing
    /// begins there in this variant, and so in none behind it. `may_note`: it is the last one from now on.
    fn find_in(&self, variant: u32, state: &State, may_note: bool) -> Option<NodeId> {
        let mut at = self.find(Key::first(variant, state));
        if at == 0 {
            return Some(0);
        }
        let mut needs_bp = false;
        for _ in 0..MOST_WORDS + 2 {
            let step = self.step(at);
            let value = match step.next.load(Ordering::Relaxed) {
                END => {
                    if may_note {
                        self.is_found(step, state, needs_bp);
                    }
                    return Some(step.node.load(Ordering::Relaxed));
                }
                NOTHING => return None,
                BASE_POINTER => {
                    needs_bp = true;
                    state.bp
                }
                words => {
                    let address = state.sp + 8 * u64::from(words);
                    // SAFETY: when this was noted the stack pointer was the same, and this word lay between
                    // it and the top of the same stack; the frames up there are alive. It lies where the
                    // registers and the words before it say, and they are the same.
                    unsafe { (address as *const u64).read_volatile() }
                }
            };
            let likely = step.likely.load(Ordering::Relaxed);
            // Whatever followed it once follows it.
            at = if likely != 0 && self.step(likely).value.load(Ordering::Relaxed) == value {
                likely
            } else {
                self.look_up(Key { before: at, value, depth: 0 })
            };
            if at == 0 {
                return None;
            }
        }
        None
    }

    #[inline(never)]
    pub(super) fn find_any(&self, state: &State, may_note: bool) -> NodeId {
        (0..VARIANTS).find_map(|variant| self.find_in(variant, state, may_note)).unwrap_or(0)
    }

    /// Adds a path to one variant. None without room; false if the variant disagrees with it.
    pub(super) fn keep_in(&self, variant: u32, state: &State, path: &Words) -> Option<bool> {
        let mut at = self.find_or_make(Key::first(variant, state))?;
        if path.needs_bp {
            if !self.agrees(at, BASE_POINTER) {
                return Some(false);
            }
            at = self.find_or_make(Key { before: at, value: state.bp, depth: 0 })?;
        }
        for &(words, value) in path.words() {
            if !self.agrees(at, words) {
                return Some(false);
            }
            at = self.find_or_make(Key { before: at, value, depth: 0 })?;
        }
        // The node first: the path is known from the moment on at which it has an end.
        let end = self.step(at);
        if end.next.load(Ordering::Relaxed) == NOTHING {
            end.node.store(path.node, Ordering::Relaxed);
            self.keep_row(end, path);
            compiler_fence(Ordering::SeqCst);
        }
        Some(self.agrees(at, END))
    }
}
