//! Two words in place of one: where two tools get the events, each has its own word for every region and
//! every task.
//!
//! The runtime keeps one word for a tool. It leads to a pair here, of which each tool is shown its half.
//! Pairs are taken from one pool and returned to it when the region or task is over, so that there are as
//! many as there are regions and tasks at a time. Neither takes a lock or memory of the program's.

use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};

use super::layout::Data;
use crate::arena;

/// A pair. Its words are the tools': nothing here reads them.
#[repr(C)]
#[derive(Debug)]
struct Pair {
    ours: Data,
    other: Data,
    /// Its number, from 1.
    number: u32,
    /// The next free one; 0 = none.
    next: AtomicU32,
}

const CHUNK: usize = 1024;
/// Eight million tasks at a time.
const MOST_CHUNKS: usize = 8192;

static CHUNKS: [AtomicPtr<Pair>; MOST_CHUNKS] =
    [const { AtomicPtr::new(core::ptr::null_mut()) }; MOST_CHUNKS];
/// Pairs that were ever made.
static MADE: AtomicU32 = AtomicU32::new(0);
/// The first free one, and above it a count of changes: a slow thread must not take the list for what it was.
static FREE: AtomicU64 = AtomicU64::new(0);

fn pair(number: u32) -> *mut Pair {
    let at = number as usize - 1;
    let chunk = CHUNKS[at / CHUNK].load(Ordering::Acquire);
    // SAFETY: the number of a pair that was made: its chunk is mapped.
    unsafe { chunk.add(at % CHUNK) }
}

fn take() -> Option<*mut Pair> {
    let mut free = FREE.load(Ordering::Acquire);
    while free as u32 != 0 {
        let first = pair(free as u32);
        // SAFETY: pairs are never unmapped. Should another thread take this one meanwhile, what is read here
        // is not used.
        let next = unsafe { &*first }.next.load(Ordering::Relaxed);
        let after = ((free >> 32) + 1) << 32 | u64::from(next);
        match FREE.compare_exchange_weak(free, after, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return Some(first),
            Err(now) => free = now,
        }
    }
    make()
}

#[cold]
fn make() -> Option<*mut Pair> {
    let made = MADE.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |made| {
        ((made as usize) < MOST_CHUNKS * CHUNK).then_some(made + 1)
    });
    let at = made.ok()? as usize;
    let chunk = &CHUNKS[at / CHUNK];
    if chunk.load(Ordering::Acquire).is_null() {
        let fresh = arena::pages(CHUNK * size_of::<Pair>()).cast::<Pair>();
        if fresh.is_null() {
            return None;
        }
        if chunk.compare_exchange(core::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire).is_err()
        {
            // SAFETY: mapped above, and never published.
            unsafe { arena::give_back(fresh.cast(), CHUNK * size_of::<Pair>()) };
        }
    }
    let number = at as u32 + 1;
    let fresh = pair(number);
    // SAFETY: no other thread has got this number.
    unsafe { (&raw mut (*fresh).number).write(number) };
    Some(fresh)
}

fn put(back: *mut Pair) {
    // SAFETY: the caller has it from `take`, and gives it up here.
    let (number, next) = unsafe { ((*back).number, &(*back).next) };
    let mut free = FREE.load(Ordering::Acquire);
    loop {
        next.store(free as u32, Ordering::Relaxed);
        let after = ((free >> 32) + 1) << 32 | u64::from(number);
        match FREE.compare_exchange_weak(free, after, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => return,
            Err(now) => free = now,
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

/// The other tool is shown this where there is no memory left: it may write there, and finds what was written
/// last.
static SPARE: AtomicU64 = AtomicU64::new(0);

impl Words {
    /// Those that represent `word`; they are made when they are first asked for.
    ///
    /// # Safety
    /// `word` is null, or a word that the runtime keeps and that no other code uses.
    pub unsafe fn of(word: *mut Data) -> Words {
        if word.is_null() {
            return Words { ours: word, other: word };
        }
        // SAFETY: the caller's promise; several threads may reach one word at once.
        let place = unsafe { AtomicU64::from_ptr(&raw mut (*word).value) };
        let mut found = place.load(Ordering::Acquire) as *mut Pair;
        if found.is_null() {
            let Some(fresh) = take() else {
                return Words { ours: core::ptr::null_mut(), other: SPARE.as_ptr().cast() };
            };
            // SAFETY: ours alone until it is published.
            unsafe { ((*fresh).ours.value, (*fresh).other.value) = (0, 0) };
            match place.compare_exchange(0, fresh as u64, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => found = fresh,
                Err(theirs) => {
                    put(fresh);
                    found = theirs as *mut Pair;
                }
            }
        }
        // SAFETY: a pair: no other thread writes this word.
        unsafe { Words { ours: &raw mut (*found).ours, other: &raw mut (*found).other } }
    }
}

/// The region or task of `word` is over.
///
/// # Safety
/// As for [`Words::of`]; and no tool uses its half any more.
pub unsafe fn give_back(word: *mut Data) {
    if word.is_null() {
        return;
    }
    // SAFETY: the caller's promise.
    let found = unsafe { AtomicU64::from_ptr(&raw mut (*word).value) }.swap(0, Ordering::AcqRel) as *mut Pair;
    if !found.is_null() {
        put(found);
    }
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
        assert!(MADE.load(Ordering::Relaxed) <= 400, "{MADE:?}");
    }

    #[test]
    fn a_word_that_is_not_there_is_none_for_both() {
        // SAFETY: null.
        let shown = unsafe { Words::of(core::ptr::null_mut()) };
        assert!(shown.ours.is_null() && shown.other.is_null());
    }
}
