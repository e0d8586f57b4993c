//! Two words in place of one: where two tools get the events, each has its own word for every region and
//! every task.
//!
//! The runtime keeps one word for a tool. It leads to a pair here, of which each tool is shown its half.
//! Pairs are taken from one pool and returned to it when the region or task is over, so that there are as
//! many as there are regions and tasks at a time. Neither takes a lock or memory of the program's.

use core::mem::offset_of;

use super::layout::Data;
use crate::arena;
use crate::free_list::FreeList;
use crate::sync::{AtomicU64, Ordering, word_at};

/// A pair. Its words are the tools': nothing here reads them.
#[repr(C, align(64))]
#[derive(Debug, Default)]
struct Pair {
    ours: Data,
    other: Data,
    /// The list's.
    next: AtomicU64,
}

/// Pairs that are made at once.
const CHUNK: usize = if cfg!(loom) { 2 } else { 64 };

/// The pairs of a process.
#[derive(Debug)]
pub struct Pairs {
    free: FreeList,
    /// The other tool is shown this where there is no memory left: it may write there, and finds what was
    /// written last.
    spare: AtomicU64,
}

#[cfg(not(loom))]
static PAIRS: Pairs = Pairs { free: FreeList::new(offset_of!(Pair, next)), spare: AtomicU64::new(0) };

impl Pairs {
    /// None yet; a checker's words are not made by the compiler.
    #[cfg(loom)]
    pub fn new() -> Pairs {
        Pairs { free: FreeList::new(offset_of!(Pair, next)), spare: AtomicU64::new(0) }
    }

    fn take(&self) -> Option<*mut Pair> {
        let free = self.free.take().cast::<Pair>();
        if free.is_null() { self.make() } else { Some(free) }
    }

    #[cold]
    fn make(&self) -> Option<*mut Pair> {
        let fresh = arena::pages(CHUNK * size_of::<Pair>()).cast::<Pair>();
        if fresh.is_null() {
            return None;
        }
        for number in 0..CHUNK {
            // SAFETY: so many were mapped just now, for ever, aligned to their size; the first is the
            // caller's and no thread knows the others yet.
            unsafe {
                let pair = fresh.add(number);
                pair.write(Pair::default());
                if number != 0 {
                    self.free.give(pair.cast());
                }
            }
        }
        Some(fresh)
    }

    /// The words that represent `word`; they are made when they are first asked for.
    ///
    /// # Safety
    /// `word` is null, or a word that the runtime keeps and that no other code uses.
    pub unsafe fn words(&self, word: *mut Data) -> Words {
        if word.is_null() {
            return Words { ours: word, other: word };
        }
        // SAFETY: the caller's promise; several threads may reach one word at once.
        let place = unsafe { word_at(&raw mut (*word).value) };
        let mut found = place.load(Ordering::Acquire) as *mut Pair;
        if found.is_null() {
            let Some(fresh) = self.take() else {
                return Words {
                    ours: core::ptr::null_mut(),
                    other: (&raw const self.spare).cast_mut().cast(),
                };
            };
            // SAFETY: ours alone until it is published.
            unsafe {
                Data::clear(&raw mut (*fresh).ours);
                Data::clear(&raw mut (*fresh).other);
            }
            match place.compare_exchange(0, fresh as u64, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => found = fresh,
                Err(theirs) => {
                    // SAFETY: taken above, and never published.
                    unsafe { self.free.give(fresh.cast()) };
                    found = theirs as *mut Pair;
                }
            }
        }
        // SAFETY: a pair: no other thread writes this word.
        unsafe { Words { ours: &raw mut (*found).ours, other: &raw mut (*found).other } }
    }

    /// The region or task of `word` is over.
    ///
    /// # Safety
    /// As for [`Pairs::words`]; and no tool uses its half any more.
    pub unsafe fn give_back(&self, word: *mut Data) {
        if word.is_null() {
            return;
        }
        // SAFETY: the caller's promise.
        let found = unsafe { word_at(&raw mut (*word).value) }.swap(0, Ordering::AcqRel);
        if found != 0 {
            // SAFETY: the word's pair, which is in nobody's use any more.
            unsafe { self.free.give(found as *mut u8) };
        }
    }
}

/// The half of one word that each of the two tools is shown.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// Null where there is no word, or no memory for one.
    pub ours: *mut Data,
    /// Null where there is no word.
    pub other: *mut Data,
}

#[cfg(not(loom))]
impl Words {
    /// As [`Pairs::words`], of the process's pairs.
    ///
    /// # Safety
    /// As there.
    pub unsafe fn of(word: *mut Data) -> Words {
        // SAFETY: the caller's promise.
        unsafe { PAIRS.words(word) }
    }
}

/// As [`Pairs::give_back`], of the process's pairs.
///
/// # Safety
/// As there.
#[cfg(not(loom))]
pub unsafe fn give_back(word: *mut Data) {
    // SAFETY: the caller's promise.
    unsafe { PAIRS.give_back(word) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_has_a_word_of_its_own_and_what_is_over_is_used_again() {
        let threads: Vec<_> = (0..4_u64)
            .map(|thread| {
                std::thread::spawn(move || {
                    let mut words: Vec<Data> = (0..100).map(|_| Data { value: 0 }).collect();
                    for round in 0..500_u64 {
                        for (number, word) in words.iter_mut().enumerate() {
                            let value = thread << 32 | round << 8 | number as u64;
                            // SAFETY: words of this thread alone.
                            unsafe {
                                let shown = Words::of(word);
                                assert_eq!(((*shown.ours).value, (*shown.other).value), (0, 0));
                                ((*shown.ours).value, (*shown.other).value) = (value, !value);
                            }
                        }
                        for (number, word) in words.iter_mut().enumerate() {
                            let value = thread << 32 | round << 8 | number as u64;
                            // SAFETY: as above.
                            unsafe {
                                let shown = Words::of(word);
                                assert_eq!(((*shown.ours).value, (*shown.other).value), (value, !value));
                                give_back(word);
                            }
                        }
                    }
                })
            })
            .collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap());
        // Those of the words that there were at a time, and of chunks that several threads made at once.
        // Between those of one thread and those of all; and of chunks that several threads made at once.
        let made = core::iter::repeat_with(|| PAIRS.free.take()).take_while(|pair| !pair.is_null()).count();
        assert!((100..400 + 4 * CHUNK).contains(&made), "{made}");
    }

    #[test]
    fn a_word_that_is_not_there_is_none_for_both() {
        // SAFETY: null.
        let shown = unsafe { Words::of(core::ptr::null_mut()) };
        assert!(shown.ours.is_null() && shown.other.is_null());
    }
}
