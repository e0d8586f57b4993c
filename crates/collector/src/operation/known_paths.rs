//! Call paths that a thread found before, at the same instruction and depth of its stack: verified, not
//! unwound.
//!
//! A path is a function of the registers where it begins and of the words of the stack that lead from each
//! frame to its caller ([`crate::path::memo`]). Here are, for a few places of a thread, where those words lie
//! and a digest of them: if the digest is still the same, so is the path. That takes a load for each frame,
//! changes nothing, and so needs neither the lane's record nor blocked signals. It is for threads that want
//! one lock a hundred thousand times a second: to find a path takes two system calls, and the other threads
//! would have to wait for them.

use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU16, AtomicU32, AtomicU64, Ordering, compiler_fence};

use crate::arena;
use crate::path::memo::{Memo, State};
use crate::path::modules;
use crate::path::tree::NodeId;

/// Of a thread's places, how many are looked at for one path.
const NEAR: usize = 8;
const _: () = assert!(size_of::<[Place; 8]>() == 2048);
/// A path that depends on more words is found from scratch each time.
const MOST_WORDS: usize = 104;

#[derive(Debug)]
#[repr(align(32))]
struct Place {
    /// Odd while the rest is being written.
    version: AtomicU32,
    /// 0 = nothing is known.
    node: AtomicU32,
    pc: AtomicU64,
    sp: AtomicU64,
    bp: AtomicU64,
    digest: AtomicU64,
    /// Of the list of modules.
    generation: AtomicU32,
    count: AtomicU16,
    /// The frame pointer's value matters.
    needs_bp: AtomicBool,
    /// How many words above the stack pointer each of them lies.
    words: [AtomicU16; MOST_WORDS],
}

impl Place {
    /// The node, if this is the path that begins at `state`.
    #[inline]
    fn find(&self, state: &State) -> Option<NodeId> {
        let version = self.version.load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let node = self.node.load(Ordering::Relaxed);
        if node == 0
            || self.pc.load(Ordering::Relaxed) != state.pc
            || self.sp.load(Ordering::Relaxed) != state.sp
            || self.needs_bp.load(Ordering::Relaxed) && self.bp.load(Ordering::Relaxed) != state.bp
            || self.generation.load(Ordering::Relaxed) != modules::generation()
        {
            return None;
        }
        let count = usize::from(self.count.load(Ordering::Relaxed)).min(MOST_WORDS);
        let mut digest = Digest::default();
        for word in &self.words[..count] {
            let address = state.sp + 8 * u64::from(word.load(Ordering::Relaxed));
            // SAFETY: when these words were noted the stack pointer was the same, and they lay between it and
            // the top of the same stack, whose frames up there are alive.
            digest.add(unsafe { (address as *const u64).read_volatile() });
        }
        let holds = digest.get() == self.digest.load(Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        // A handler of the program may have noted another path meanwhile.
        if holds && version & 1 == 0 && self.version.load(Ordering::Relaxed) == version {
            Some(node)
        } else {
            None
        }
    }
}

/// A thread's: a power of two of places. Used by the owner alone.
#[derive(Debug)]
pub struct KnownPaths<const PLACES: usize>(AtomicPtr<[Place; PLACES]>);

/// Where paths are kept that were just found.
pub trait Keeps {
    /// Notes the path that `memo` has just found for `state`, if it depends on a few words of the thread's
    /// own stack alone. With all signals blocked.
    fn keep(&self, state: &State, node: NodeId, memo: &Memo);

    /// As [`Keeps::keep`], of the place that called alone: only where it continues is looked at again.
    fn keep_site(&self, state: &State, node: NodeId, memo: &Memo);
}

/// Those of a thread for its locks, or for the regions it opens.
pub type FewPaths = KnownPaths<8>;

impl<const PLACES: usize> Default for KnownPaths<PLACES> {
    fn default() -> KnownPaths<PLACES> {
        const { assert!(PLACES.is_power_of_two() && PLACES >= NEAR) };
        KnownPaths(AtomicPtr::new(core::ptr::null_mut()))
    }
}

/// A digest of words in their order. It has two halves, which take a word in turn, since a word has to wait
/// for the one before it in the same half.
#[derive(Default)]
struct Digest {
    next: u64,
    other: u64,
}

impl Digest {
    #[inline(always)]
    fn add(&mut self, word: u64) {
        let added = (self.next.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (self.next, self.other) = (self.other, added);
    }

    #[inline(always)]
    fn get(&self) -> u64 {
        (self.next.rotate_left(23) ^ self.other).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}

impl<const PLACES: usize> KnownPaths<PLACES> {
    /// Where the path of a state may be: a place by the instruction and the depth, then those behind it,
    /// since several paths may lead to one instruction at one depth.
    #[inline]
    fn places(&self, state: &State) -> Option<impl Iterator<Item = &Place>> {
        // SAFETY: null, or memory that is zero at first, belongs to this lane, and stays.
        let places = unsafe { self.0.load(Ordering::Relaxed).as_ref() }?;
        let mixed = (state.pc ^ state.sp.rotate_left(32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let home = (mixed >> (64 - PLACES.ilog2())) as usize;
        Some((0..NEAR).map(move |way| &places[(home + way) % PLACES]))
    }

    /// The node of the path that begins at `state`, a frame of the calling function on the thread's own
    /// stack; 0 = not known.
    #[inline]
    pub fn find(&self, state: &State) -> NodeId {
        let Some(mut places) = self.places(state) else { return 0 };
        places.find_map(|place| place.find(state)).unwrap_or(0)
    }

    /// Where a path that is not known is kept: where there is none, or else where most time has passed since
    /// one was noted, in turn.
    fn free(&self, state: &State) -> Option<&Place> {
        let all = self.places(state)?;
        all.min_by_key(|place| match place.node.load(Ordering::Relaxed) {
            0 => (0, 0),
            _ => (1, place.version.load(Ordering::Relaxed)),
        })
    }

    fn note(&self, state: &State, node: NodeId, memo: &Memo, most_words: usize) {
        if self.0.load(Ordering::Relaxed).is_null() {
            // Memory that is zero: no place knows anything.
            self.0.store(arena::pages(size_of::<[Place; PLACES]>()).cast(), Ordering::Relaxed);
        }
        let Some(place) = self.free(state) else { return };
        place.version.fetch_add(1, Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        let (mut count, mut digest) = (0, Digest::default());
        // Functions of an interpreter's may be others while the words are the same.
        let is_native = memo.print() == 0 || most_words < MOST_WORDS;
        let needs_bp = memo.words(|address, word| {
            if !is_native {
                return false;
            }
            if most_words < MOST_WORDS && count == most_words {
                // What lies above does not matter.
                return true;
            }
            let distance = address.wrapping_sub(state.sp);
            let Ok(words) = u16::try_from(distance / 8) else { return false };
            if distance % 8 != 0 || count == MOST_WORDS {
                return false;
            }
            place.words[count].store(words, Ordering::Relaxed);
            count += 1;
            digest.add(word);
            true
        });
        place.node.store(if needs_bp.is_some() { node } else { 0 }, Ordering::Relaxed);
        place.pc.store(state.pc, Ordering::Relaxed);
        place.sp.store(state.sp, Ordering::Relaxed);
        place.bp.store(state.bp, Ordering::Relaxed);
        place.needs_bp.store(needs_bp == Some(true), Ordering::Relaxed);
        place.generation.store(modules::generation(), Ordering::Relaxed);
        place.count.store(count as u16, Ordering::Relaxed);
        place.digest.store(digest.get(), Ordering::Relaxed);
        compiler_fence(Ordering::SeqCst);
        place.version.fetch_add(1, Ordering::Relaxed);
    }

    /// The lane's next thread begins, on another stack.
    pub fn forget(&self) {
        // SAFETY: as in `place`.
        if let Some(places) = unsafe { self.0.load(Ordering::Relaxed).as_ref() } {
            for place in places {
                place.node.store(0, Ordering::Relaxed);
            }
        }
    }
}

impl<const PLACES: usize> Keeps for KnownPaths<PLACES> {
    fn keep(&self, state: &State, node: NodeId, memo: &Memo) {
        self.note(state, node, memo, MOST_WORDS);
    }

    fn keep_site(&self, state: &State, node: NodeId, memo: &Memo) {
        self.note(state, node, memo, 1);
    }
}
