//! A list of things that are free, which any thread, and any handler on it, may take from and give to.
//!
//! No thread waits: the head is changed by one exchange. It is a place and a number that changes each time,
//! so that a thread that was interrupted between looking and taking notices.

use crate::sync::{AtomicU64, Ordering, word_at};

/// Things are aligned to so many bytes.
pub const ALIGNMENT: usize = 64;

/// The low bits of a head are a place, in units of [`ALIGNMENT`].
const PLACE_BITS: u32 = 41;

/// Free items that stay mapped; each has a word at the same place for the next one.
#[derive(Debug)]
pub struct FreeList {
    head: AtomicU64,
    link: usize,
}

impl FreeList {
    /// None yet, of things with a word for the list at the offset `link`, which is theirs while they are not
    /// free.
    #[cfg(not(loom))]
    pub const fn new(link: usize) -> FreeList {
        FreeList { head: AtomicU64::new(0), link }
    }

    /// As above; a checker's words are not made by the compiler.
    #[cfg(loom)]
    pub fn new(link: usize) -> FreeList {
        FreeList { head: AtomicU64::new(0), link }
    }

    fn place(head: u64) -> *mut u8 {
        ((head & ((1 << PLACE_BITS) - 1)) << ALIGNMENT.ilog2()) as *mut u8
    }

    fn head(place: *mut u8, before: u64) -> u64 {
        let number = (before >> PLACE_BITS).wrapping_add(1) << PLACE_BITS;
        number | place as u64 >> ALIGNMENT.ilog2()
    }

    /// # Safety
    /// `place` was given to this list once.
    unsafe fn link<'a>(&self, place: *mut u8) -> &'a AtomicU64 {
        // SAFETY: whatever was ever in the list stays mapped, and the word inside it is aligned.
        unsafe { word_at(place.add(self.link).cast::<u64>()) }
    }

    /// One of them; null if there is none.
    pub fn take(&self) -> *mut u8 {
        let mut head = self.head.load(Ordering::Acquire);
        loop {
            let place = Self::place(head);
            if place.is_null() {
                return place;
            }
            // SAFETY: a head's place was given, and stays mapped. If another thread has taken it meanwhile it
            // may write there, not even by an atomic word: the load yields anything, which nothing depends
            // on, since the exchange fails then.
            let next = unsafe { self.link(place) }.load(Ordering::Relaxed) as *mut u8;
            match self.head.compare_exchange_weak(
                head,
                Self::head(next, head),
                Ordering::AcqRel,
                Ordering::Acquire,
            ) {
                Ok(_) => return place,
                Err(other) => head = other,
            }
        }
    }

    /// Gives one.
    ///
    /// # Safety
    /// `place` stays mapped, is aligned to [`ALIGNMENT`], has the list's word, and nothing uses it.
    pub unsafe fn give(&self, place: *mut u8) {
        let mut head = self.head.load(Ordering::Relaxed);
        loop {
            // SAFETY: the caller's promise.
            unsafe { self.link(place) }.store(Self::place(head) as u64, Ordering::Relaxed);
            let new = Self::head(place, head);
            match self.head.compare_exchange_weak(head, new, Ordering::AcqRel, Ordering::Relaxed) {
                Ok(_) => return,
                Err(other) => head = other,
            }
        }
    }

    /// Forgets all: in a forked child they are what only the parent counts.
    pub fn forget(&self) {
        self.head.store(0, Ordering::Release);
    }
}
