//! Slots of requests: small numbers, the lowest free one first. So requests that are started one after the
//! other mostly have neighbouring slots, and the same ones in every round of a program's loop.

use core::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Slots; the last number means none.
const SLOTS: usize = u16::MAX as usize;
const WORDS: usize = SLOTS.div_ceil(64);

/// Which slots are in use.
#[derive(Debug)]
pub struct Slots {
    words: [AtomicU64; WORDS],
    /// No word before this one has a free slot, unless one was freed just now.
    first: AtomicUsize,
}

impl Slots {
    /// All free.
    pub const fn new() -> Slots {
        Slots { words: [const { AtomicU64::new(0) }; WORDS], first: AtomicUsize::new(0) }
    }

    /// Takes the lowest free slot; None if there is none.
    #[inline]
    pub fn take(&self) -> Option<u16> {
        let first = self.first.load(Ordering::Relaxed);
        // Another thread may have freed one further down and been overtaken.
        self.take_from(first).or_else(|| if first > 0 { self.take_from(0) } else { None })
    }

    #[inline]
    fn take_from(&self, first: usize) -> Option<u16> {
        for at in first..WORDS {
            let mut word = self.words[at].load(Ordering::Relaxed);
            while word != u64::MAX {
                let bit = word.trailing_ones();
                let slot = at * 64 + bit as usize;
                if slot >= SLOTS {
                    return None;
                }
                match self.words[at].compare_exchange_weak(
                    word,
                    word | 1 << bit,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                ) {
                    Ok(_) => {
                        if at != first {
                            self.first.store(at, Ordering::Relaxed);
                        }
                        return Some(slot as u16);
                    }
                    Err(now) => word = now,
                }
            }
        }
        None
    }

    /// Gives a slot back.
    #[inline]
    pub fn give(&self, slot: u16) {
        let at = usize::from(slot) / 64;
        if at < WORDS {
            self.words[at].fetch_and(!(1 << (slot % 64)), Ordering::Relaxed);
            if at < self.first.load(Ordering::Relaxed) {
                self.first.store(at, Ordering::Relaxed);
            }
        }
    }

    /// All are free.
    pub fn clear(&self) {
        self.words.iter().for_each(|word| word.store(0, Ordering::Relaxed));
        self.first.store(0, Ordering::Relaxed);
    }
}

impl Default for Slots {
    fn default() -> Slots {
        Slots::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_free_slot_is_next() {
        let slots = Slots::new();
        let taken: Vec<u16> = (0..200).map(|_| slots.take().unwrap()).collect();
        assert_eq!(taken, (0..200).collect::<Vec<_>>());
        slots.give(70);
        slots.give(3);
        assert_eq!([slots.take(), slots.take(), slots.take()], [Some(3), Some(70), Some(200)]);
    }

    #[test]
    fn none_is_given_twice_and_the_last_number_never() {
        let slots = Slots::new();
        let taken: Vec<u16> = std::iter::from_fn(|| slots.take()).collect();
        assert_eq!(taken.len(), SLOTS);
        assert!(!taken.contains(&u16::MAX));
        slots.clear();
        assert_eq!(slots.take(), Some(0));
    }
}
