//! Callers of the family nothing of which is bound yet.
//!
//! The dynamic linker binds most functions when they are called first. Before anything is loaded or unloaded
//! each caller has to be looked at, whether it has had something bound since
//! ([`learn_all`](super::callers::learn_all)). A large library has a hundred thousand references, so the few
//! words that count are remembered.

use core::ops::Range;
use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use crate::interpose::object::has_bound;

/// Words of one caller.
const MOST_WORDS: usize = 63;
/// Callers that are remembered.
const MOST_CALLERS: usize = 16;

/// The words that the dynamic linker fills in for a caller.
pub struct Words {
    places: [u64; MOST_WORDS],
    count: usize,
}

impl Default for Words {
    fn default() -> Words {
        Words { places: [0; MOST_WORDS], count: 0 }
    }
}

impl Words {
    /// One more.
    pub fn push(&mut self, place: u64) {
        if let Some(slot) = self.places.get_mut(self.count) {
            *slot = place;
        }
        self.count += 1;
    }
}

/// Changes under the dynamic linker's lock.
struct Caller {
    /// What it is; 0 = none.
    mark: AtomicU64,
    /// Its addresses.
    start: AtomicU64,
    end: AtomicU64,
    count: AtomicUsize,
    places: [AtomicU64; MOST_WORDS],
}

static CALLERS: [Caller; MOST_CALLERS] = [const {
    Caller {
        mark: AtomicU64::new(0),
        start: AtomicU64::new(0),
        end: AtomicU64::new(0),
        count: AtomicUsize::new(0),
        places: [const { AtomicU64::new(0) }; MOST_WORDS],
    }
}; MOST_CALLERS];

fn with(mark: u64) -> Option<&'static Caller> {
    CALLERS.iter().find(|caller| caller.mark.load(Ordering::Acquire) == mark)
}

/// Remembers a caller at these addresses by its words, none of which is bound; false if there is no room. One
/// without words needs none.
pub fn remember(mark: u64, range: &Range<u64>, words: &Words) -> bool {
    if words.count == 0 {
        return true;
    }
    let (Some(places), Some(free)) = (words.places.get(..words.count), with(0)) else { return false };
    for (slot, &place) in free.places.iter().zip(places) {
        slot.store(place, Ordering::Relaxed);
    }
    free.start.store(range.start, Ordering::Relaxed);
    free.end.store(range.end, Ordering::Relaxed);
    free.count.store(words.count, Ordering::Relaxed);
    free.mark.store(mark, Ordering::Release);
    true
}

impl Caller {
    /// # Safety
    /// It is loaded.
    unsafe fn has_bound(&self) -> bool {
        let range = self.start.load(Ordering::Relaxed)..self.end.load(Ordering::Relaxed);
        let mut places = self.places.iter().take(self.count.load(Ordering::Relaxed));
        // SAFETY: words of this caller's references.
        places.any(|place| unsafe { has_bound(&range, place.load(Ordering::Relaxed)) })
    }
}

/// Whether something is bound in a caller that is remembered by this mark.
///
/// # Safety
/// It is loaded.
pub unsafe fn has_bound_in(mark: u64) -> bool {
    // SAFETY: the caller's promise.
    with(mark).is_some_and(|caller| unsafe { caller.has_bound() })
}

/// Whether something is bound in any of those that are remembered.
///
/// # Safety
/// They are loaded.
pub unsafe fn has_bound_in_any() -> bool {
    let mut callers = CALLERS.iter().filter(|caller| caller.mark.load(Ordering::Acquire) != 0);
    // SAFETY: the caller's promise.
    callers.any(|caller| unsafe { caller.has_bound() })
}

/// Forgets a caller, if it is remembered.
pub fn forget(mark: u64) {
    if let Some(caller) = with(mark) {
        caller.mark.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(count: usize) -> Words {
        let mut words = Words::default();
        (0..count).for_each(|number| words.push(8 * number as u64));
        words
    }

    #[test]
    fn callers_are_remembered_while_there_is_room_and_seen_when_they_are_bound() {
        let here = 0..0;
        assert!(remember(1, &here, &words(0)) && with(1).is_none());
        assert!(!remember(1, &here, &words(MOST_WORDS + 1)) && with(1).is_none());

        let word = AtomicU64::new(0x1010);
        let mut one = Words::default();
        one.push(word.as_ptr() as u64);
        assert!(remember(1, &(0x1000..0x2000), &one));
        // SAFETY: the word lives as long as it is remembered here; no other test remembers any.
        let bound = || unsafe { (has_bound_in(1), has_bound_in(2), has_bound_in_any()) };
        assert_eq!(bound(), (false, false, false));
        word.store(0x2010, Ordering::Relaxed);
        assert_eq!(bound(), (true, false, true));
        forget(1);
        assert_eq!(bound(), (false, false, false));

        for mark in 1..=MOST_CALLERS as u64 {
            assert!(remember(mark, &here, &words(MOST_WORDS)));
        }
        assert!(!remember(100, &here, &words(1)));
        forget(3);
        assert!(with(3).is_none() && remember(100, &here, &words(1)) && with(100).is_some());
    }
}
