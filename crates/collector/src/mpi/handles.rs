//! A table by handle, for all threads and without locks.
//!
//! Open addressing in a fixed number of places, of which only a few beside each other are looked at: what
//! finds no place among them is not kept. So every call of this ends soon, whatever another thread does, and
//! an interrupted one hinders nobody. A handle may be there several times: libraries give the same handle to
//! operations that are complete already.

use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

use crate::arena::{self, spread};

/// Places.
const PLACES: usize = 1 << 13;
/// Of these, how many are looked at for one handle.
const NEIGHBOURS: usize = 32;

/// No handle is or was here.
const FREE: u64 = 0;
/// A handle was here.
const LEFT: u64 = 1;
/// One is being put here, or taken away.
const BUSY: u64 = 2;

#[derive(Debug)]
#[repr(C, align(32))]
struct Place {
    /// The handle, or a code.
    handle: AtomicU64,
    words: [AtomicU64; 3],
}

/// What is kept of a handle.
pub type Words = [u64; 3];

/// A table.
#[derive(Debug)]
pub struct Handles(AtomicPtr<[Place; PLACES]>);

impl Handles {
    /// Without memory: it is taken when the first handle is kept.
    pub const fn new() -> Handles {
        Handles(AtomicPtr::new(core::ptr::null_mut()))
    }

    fn memory(&self) -> Option<&[Place; PLACES]> {
        // SAFETY: null, or memory that is zero at first and stays.
        unsafe { self.0.load(Ordering::Acquire).as_ref() }
    }

    #[cold]
    #[inline(never)]
    fn make(&self) -> Option<&[Place; PLACES]> {
        let bytes = size_of::<[Place; PLACES]>();
        let fresh = arena::pages(bytes).cast::<[Place; PLACES]>();
        if fresh.is_null() {
            return None;
        }
        let made = self.0.compare_exchange(core::ptr::null_mut(), fresh, Ordering::AcqRel, Ordering::Acquire);
        if made.is_err() {
            // SAFETY: taken above, and known to nobody.
            unsafe { arena::give_back(fresh.cast(), bytes) };
        }
        self.memory()
    }

    #[inline]
    fn near(places: &[Place; PLACES], handle: u64) -> impl Iterator<Item = &Place> {
        let home = (spread(handle) >> 32) as usize;
        (0..NEIGHBOURS).map(move |next| &places[(home + next) % PLACES])
    }

    /// Keeps `words` of a handle; false if there is no place for it.
    #[inline]
    pub fn put(&self, handle: usize, words: Words) -> bool {
        let handle = handle as u64;
        let Some(places) = self.memory().or_else(|| self.make()) else { return false };
        if handle <= BUSY {
            return false;
        }
        for place in Self::near(places, handle) {
            let seen = place.handle.load(Ordering::Relaxed);
            if seen <= LEFT
                && place.handle.compare_exchange(seen, BUSY, Ordering::Acquire, Ordering::Relaxed).is_ok()
            {
                for (kept, word) in place.words.iter().zip(words) {
                    kept.store(word, Ordering::Relaxed);
                }
                place.handle.store(handle, Ordering::Release);
                return true;
            }
        }
        false
    }

    /// One whose first word is wanted; or else the first one.
    #[inline]
    fn find(&self, handle: usize, is_wanted: impl Fn(u64) -> bool) -> Option<&Place> {
        let handle = handle as u64;
        if handle <= BUSY {
            return None;
        }
        let mut other = None;
        for place in Self::near(self.memory()?, handle) {
            match place.handle.load(Ordering::Acquire) {
                FREE => break,
                found if found != handle => {}
                _ if is_wanted(place.words[0].load(Ordering::Relaxed)) => return Some(place),
                _ => other = other.or(Some(place)),
            }
        }
        other
    }

    /// What is kept of a handle.
    #[inline]
    pub fn get(&self, handle: usize) -> Option<Words> {
        self.get_wanted(handle, |_| true)
    }

    /// Likewise; where it is there several times, of one whose first word is wanted.
    #[inline]
    pub fn get_wanted(&self, handle: usize, is_wanted: impl Fn(u64) -> bool) -> Option<Words> {
        let place = self.find(handle, is_wanted)?;
        Some(place.words.each_ref().map(|word| word.load(Ordering::Relaxed)))
    }

    /// Changes a word that is kept of a handle; the value before.
    #[inline]
    pub fn change(&self, handle: usize, word: usize, change: impl Fn(u64) -> u64) -> Option<u64> {
        let word = self.find(handle, |_| true)?.words.get(word)?;
        word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |value| Some(change(value))).ok()
    }

    /// Takes a handle away; what was kept of it.
    #[inline]
    pub fn take(&self, handle: usize) -> Option<Words> {
        self.take_wanted(handle, |_| true)
    }

    /// Likewise; where it is there several times, one whose first word is wanted.
    #[inline]
    pub fn take_wanted(&self, handle: usize, is_wanted: impl Fn(u64) -> bool) -> Option<Words> {
        loop {
            let place = self.find(handle, &is_wanted)?;
            let was =
                place.handle.compare_exchange(handle as u64, BUSY, Ordering::Acquire, Ordering::Relaxed);
            // Another thread may have taken it: there may be a second one.
            if was.is_ok() {
                let words = place.words.each_ref().map(|word| word.load(Ordering::Relaxed));
                place.handle.store(LEFT, Ordering::Release);
                return Some(words);
            }
        }
    }

    /// Forgets all.
    pub fn clear(&self) {
        for place in self.memory().into_iter().flatten() {
            place.handle.store(FREE, Ordering::Relaxed);
        }
    }
}

impl Default for Handles {
    fn default() -> Handles {
        Handles::new()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;
    use std::thread;

    use super::*;

    #[test]
    fn a_handle_that_is_there_twice_is_taken_twice() {
        let table = Handles::new();
        assert_eq!(table.take(64), None);
        assert!(table.put(64, [1, 2, 3]) && table.put(64, [4, 5, 6]) && table.put(128, [7, 8, 9]));
        assert_eq!(table.get(128), Some([7, 8, 9]));
        assert_eq!(table.change(128, 1, |word| word + 1), Some(8));
        let taken = [table.take(64).unwrap()[0], table.take(64).unwrap()[0]];
        assert!(taken == [1, 4] || taken == [4, 1]);
        assert_eq!((table.take(64), table.take(128)), (None, Some([7, 9, 9])));
        for code in 0..=BUSY as usize {
            assert!(!table.put(code, [0; 3]) && table.get(code).is_none());
        }
    }

    /// A library gives a handle again as soon as its request is complete, which the thread that waited for it
    /// may notice later than another one starts and completes the next request of that handle.
    #[test]
    fn each_takes_what_it_wants_of_a_handle_if_that_is_there() {
        for wanted in [[1, 4], [4, 1]] {
            let table = Handles::new();
            assert!(table.put(64, [1, 2, 3]) && table.put(64, [4, 5, 6]));
            for word in wanted {
                assert_eq!(table.get_wanted(64, |first| first == word).map(|words| words[0]), Some(word));
                assert_eq!(table.take_wanted(64, |first| first == word).map(|words| words[0]), Some(word));
            }
            assert_eq!(table.take_wanted(64, |_| true), None);
        }
        let table = Handles::new();
        assert!(table.put(64, [1, 2, 3]));
        assert_eq!(table.take_wanted(64, |first| first == 7), Some([1, 2, 3]));
    }

    #[test]
    fn handles_that_come_and_go_are_found_however_many_there_were() {
        let table = Handles::new();
        for round in 1..200_000_usize {
            let handle = 0x7f00_0000_0000 + round * 64;
            assert!(table.put(handle, [round as u64; 3]));
            if round > 100 {
                let old = round - 100;
                assert_eq!(table.take(0x7f00_0000_0000 + old * 64), Some([old as u64; 3]));
            }
        }
    }

    #[test]
    fn a_full_table_refuses_and_stays_usable() {
        let table = Handles::new();
        let kept: Vec<usize> =
            (1..3 * PLACES).map(|n| n * 8).filter(|&h| table.put(h, [h as u64; 3])).collect();
        assert!(kept.len() > PLACES / 2 && kept.len() <= PLACES, "{}", kept.len());
        assert!(kept.iter().all(|&handle| table.take(handle) == Some([handle as u64; 3])));
    }

    #[test]
    fn each_of_many_threads_gets_back_its_own() {
        let (table, lost) = (Handles::new(), AtomicUsize::new(0));
        thread::scope(|scope| {
            for who in 0..4_usize {
                let (table, lost) = (&table, &lost);
                scope.spawn(move || {
                    for round in 0..20_000_usize {
                        let handle = 0x1000 + (who * 16 + round % 16) * 32;
                        let words = [handle as u64, round as u64, who as u64];
                        let is_back = table.put(handle, words) && table.take(handle) == Some(words);
                        lost.fetch_add(usize::from(!is_back), Ordering::Relaxed);
                    }
                });
            }
        });
        assert_eq!(lost.into_inner(), 0);
    }
}
