//! A table by hash: open addressing in pages of the collector's own, for one thread.
//!
//! Entries are plain values, and one whose bytes are all zero is free. How entries are distinguished, and
//! whether there is room for more, is up to the caller: an entry may be a key, a key with its value, or the
//! number of something that lies elsewhere.

use core::marker::PhantomData;

/// An entry of a table.
///
/// # Safety
/// All zeros is a valid value, for which [`Entry::is_free`] is true.
pub unsafe trait Entry: Copy {
    /// Whether the slot has no entry.
    fn is_free(&self) -> bool;
}

// SAFETY: zero is a valid number.
unsafe impl Entry for u32 {
    #[inline]
    fn is_free(&self) -> bool {
        *self == 0
    }
}

/// A table.
#[derive(Debug)]
pub struct Table<T: Entry> {
    slots: *mut T,
    /// A power of two, or 0.
    capacity: usize,
    count: usize,
    entries: PhantomData<T>,
}

impl<T: Entry> Default for Table<T> {
    fn default() -> Table<T> {
        Table { slots: core::ptr::null_mut(), capacity: 0, count: 0, entries: PhantomData }
    }
}

/// One word, spread over all of its bits; the upper ones are the best.
#[inline]
pub fn spread(word: u64) -> u64 {
    word.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl<T: Entry> Table<T> {
    /// Slots.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// Entries.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether one more entry would leave less than a quarter of the slots free.
    #[inline]
    pub fn is_full(&self) -> bool {
        self.count * 4 >= self.capacity * 3
    }

    /// The slot at this position; None where there is none.
    #[inline]
    pub fn at(&mut self, position: usize) -> Option<&mut T> {
        // SAFETY: below the capacity; so many slots are mapped, and only the table's owner uses them.
        (position < self.capacity).then(|| unsafe { &mut *self.slots.add(position) })
    }

    /// Position of the entry that `is_it`, or of the free slot where it would be. None of a table without
    /// slots.
    #[inline]
    pub fn position(&self, hash: u64, mut is_it: impl FnMut(&T) -> bool) -> Option<usize> {
        let mask = self.capacity.checked_sub(1)?;
        let mut at = (hash >> 32) as usize & mask;
        loop {
            // SAFETY: as in `at`. At least a slot is free, so the search ends.
            let entry = unsafe { &*self.slots.add(at) };
            if entry.is_free() || is_it(entry) {
                return Some(at);
            }
            at = (at + 1) & mask;
        }
    }

    /// Puts an entry into the free slot at this position.
    #[inline]
    pub fn put(&mut self, position: usize, entry: T) {
        if let Some(slot) = self.at(position) {
            *slot = entry;
            self.count += 1;
        }
    }

    /// Takes the free slot at this position, which is all zeros: the caller fills it in where it lies.
    #[inline]
    pub fn occupy(&mut self, position: usize) -> Option<&mut T> {
        self.count += usize::from(position < self.capacity);
        self.at(position)
    }

    /// Twice as many slots, and `least` at least; false without memory. Entries keep their values and change
    /// their positions.
    #[cold]
    pub fn grow(&mut self, least: usize, hash: impl Fn(&T) -> u64) -> bool {
        let capacity = (self.capacity * 2).max(least.next_power_of_two());
        let fresh = super::pages(capacity * size_of::<T>()).cast::<T>();
        if fresh.is_null() {
            return false;
        }
        let mut grown = Table { slots: fresh, capacity, count: 0, entries: PhantomData };
        for entry in self.iter().filter(|entry| !entry.is_free()) {
            let Some(place) = grown.position(hash(entry), |_| false) else { return false };
            // Not by way of the stack, which may be a small one.
            // SAFETY: two slots of two tables.
            unsafe { core::ptr::copy_nonoverlapping(entry, grown.slots.add(place), 1) };
            grown.count += 1;
        }
        *self = grown;
        true
    }

    /// All slots, free ones too.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        // SAFETY: as in `at`.
        (0..self.capacity).map(|position| unsafe { &*self.slots.add(position) })
    }

    /// All slots, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        // SAFETY: as in `at`, each of them once.
        (0..self.capacity).map(|position| unsafe { &mut *self.slots.add(position) })
    }

    /// Frees all slots, and keeps them.
    pub fn clear(&mut self) {
        if self.count > 0 {
            // SAFETY: so many slots are mapped, and all zeros is a free one.
            unsafe { self.slots.write_bytes(0, self.capacity) };
            self.count = 0;
        }
    }
}

impl<T: Entry> Drop for Table<T> {
    fn drop(&mut self) {
        if !self.slots.is_null() {
            // SAFETY: made here with this size, and not used any more.
            unsafe { super::give_back(self.slots.cast(), self.capacity * size_of::<T>()) };
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::*;

    /// A key and a value; the hash is so bad that entries stand in each other's way.
    #[derive(Clone, Copy, Debug, Default)]
    struct Pair(u32, u64);

    // SAFETY: two numbers.
    unsafe impl Entry for Pair {
        fn is_free(&self) -> bool {
            self.0 == 0
        }
    }

    fn hash(pair: &Pair) -> u64 {
        u64::from(pair.0 / 7) << 32
    }

    #[test]
    fn it_holds_what_a_map_holds() {
        let (mut table, mut map) = (Table::<Pair>::default(), HashMap::new());
        assert_eq!(table.position(0, |_| true), None);
        for step in 0..20_000_u64 {
            let key = 1 + (spread(step) >> 50) as u32;
            if table.is_full() {
                assert!(table.grow(8, hash));
            }
            let at = table.position(hash(&Pair(key, 0)), |pair| pair.0 == key).unwrap();
            if table.at(at).unwrap().is_free() {
                table.put(at, Pair(key, step));
            } else {
                table.at(at).unwrap().1 = step;
            }
            map.insert(key, step);
        }
        assert_eq!(table.count(), map.len());
        assert!(table.capacity() < 4 * map.len());
        for (&key, &value) in &map {
            let at = table.position(hash(&Pair(key, 0)), |pair| pair.0 == key).unwrap();
            assert_eq!(table.at(at).unwrap().1, value);
        }
        assert_eq!(table.iter().filter(|pair| !pair.is_free()).count(), map.len());
        table.clear();
        assert_eq!((table.count(), table.iter().filter(|pair| !pair.is_free()).count()), (0, 0));
        assert!(table.capacity() > 0);
    }
}
