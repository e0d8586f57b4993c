//! Rows that are read by position: in memory while a budget lasts, and in a mapped file after that.
//!
//! What is written once and read once goes into a [`Spool`]. An [`Array`] is for what is sorted, searched and
//! written at any place: the kernel keeps as much of the file in memory as there is room for, and writes the
//! rest to disk. The file has no name, and nobody else has it, so that it does not become shorter than what
//! is mapped; its disk space is reserved before it is mapped, so that no store meets a full disk.

#![allow(unsafe_code)]

use std::fmt;
use std::fs::File;
use std::marker::PhantomData;
use std::mem::size_of;
use std::ops::{Deref, DerefMut};

use memmap2::{MmapMut, RemapOptions};
use rustix::fs::FallocateFlags;

use crate::spool::{Spool, Taken};

/// An array begins with room for so many bytes.
const LEAST_BYTES: usize = 1 << 12;
/// The smallest mapped file: below that memory is used, whatever the budget.
const LEAST_MAPPED_BYTES: usize = 1 << 16;

/// Rows in order, as a vector has them, with as much of them in memory as a [`Spool`]'s budget allows.
pub struct Array<T> {
    rows: Rows<T>,
    /// None = all memory that there is.
    spool: Option<Spool>,
}

enum Rows<T> {
    Memory { rows: Vec<T>, taken: Option<Taken> },
    Mapped(Mapped<T>),
}

/// Rows in a file of their own.
struct Mapped<T> {
    map: MmapMut,
    file: File,
    count: usize,
    rows: PhantomData<T>,
}

impl<T: Copy> Mapped<T> {
    /// Copies of these rows, with room for `capacity`. None = there is no file, or no room on disk.
    fn of(rows: &[T], capacity: usize, spool: &Spool) -> Option<Mapped<T>> {
        // A page is aligned for any row.
        const { assert!(size_of::<T>() > 0 && align_of::<T>() <= LEAST_BYTES) };
        let file = tempfile::tempfile_in(spool.folder()).ok()?;
        let bytes = reserved(&file, capacity.checked_mul(size_of::<T>())?)?;
        // SAFETY: the file has no name and this process alone has it, so that nobody changes or cuts it
        // meanwhile, and it is as long as the mapping.
        let map = unsafe { memmap2::MmapOptions::new().len(bytes).map_mut(&file) }.ok()?;
        let mut mapped = Mapped { map, file, count: 0, rows: PhantomData };
        for &row in rows {
            mapped.push_within(row);
        }
        Some(mapped)
    }

    fn capacity(&self) -> usize {
        self.map.len() / size_of::<T>()
    }

    /// Adds a row for which there is room.
    fn push_within(&mut self, row: T) {
        assert!(self.count < self.capacity());
        // SAFETY: the place lies within the mapping, as has just been seen, and is aligned, since the mapping
        // begins at a page.
        unsafe { self.map.as_mut_ptr().cast::<T>().add(self.count).write(row) };
        self.count += 1;
    }

    /// Makes room for so many rows. False = there is none.
    fn grow(&mut self, capacity: usize) -> bool {
        let bytes = capacity.checked_mul(size_of::<T>()).and_then(|bytes| reserved(&self.file, bytes));
        // SAFETY: the file is as long as the mapping is going to be, and nobody else has it. No reference
        // into the mapping is alive: this one is exclusive.
        bytes
            .is_some_and(|bytes| unsafe { self.map.remap(bytes, RemapOptions::new().may_move(true)).is_ok() })
    }
}

impl<T> Deref for Mapped<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: the first `count` places of the mapping have been written with rows, which are `Copy`; they
        // lie within it and are aligned. Only this value changes them.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<T>(), self.count) }
    }
}

impl<T> DerefMut for Mapped<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and this reference is exclusive.
        unsafe { std::slice::from_raw_parts_mut(self.map.as_mut_ptr().cast::<T>(), self.count) }
    }
}

/// Makes a file so long, with all of it on disk. None = it cannot be.
fn reserved(file: &File, bytes: usize) -> Option<usize> {
    rustix::fs::fallocate(file, FallocateFlags::empty(), 0, bytes as u64).ok()?;
    Some(bytes)
}

impl<T: Copy> Array<T> {
    /// An empty one, within the budget of a spool, and with its file in the spool's folder.
    pub fn new(spool: &Spool) -> Array<T> {
        Array { spool: Some(spool.clone()), ..Array::default() }
    }

    /// `count` times the same.
    pub fn filled(spool: &Spool, row: T, count: usize) -> Array<T> {
        let mut array = Array::new(spool);
        array.make_room(count);
        array.extend(std::iter::repeat_n(row, count));
        array
    }

    /// Where it belongs.
    pub fn spool(&self) -> Spool {
        self.spool.clone().unwrap_or_default()
    }

    /// Adds a row behind the others.
    #[inline]
    pub fn push(&mut self, row: T) {
        loop {
            match &mut self.rows {
                Rows::Memory { rows, .. } if rows.len() < rows.capacity() => return rows.push(row),
                Rows::Mapped(rows) if rows.count < rows.capacity() => return rows.push_within(row),
                _ => self.make_room(self.len() + 1),
            }
        }
    }

    /// Makes room for at least so many rows in all.
    #[cold]
    fn make_room(&mut self, count: usize) {
        let least = LEAST_BYTES.div_ceil(size_of::<T>());
        let capacity = count.max(2 * self.len()).max(least);
        match &mut self.rows {
            Rows::Memory { rows, taken } => {
                if let Some(spool) = &self.spool {
                    let bytes = capacity * size_of::<T>();
                    let more = spool.budget().take(bytes as u64);
                    if more.is_none()
                        && bytes >= LEAST_MAPPED_BYTES
                        && let Some(mapped) = Mapped::of(rows, capacity, spool)
                    {
                        self.rows = Rows::Mapped(mapped);
                        return;
                    }
                    *taken = more;
                }
                rows.reserve_exact(capacity - rows.len());
            }
            Rows::Mapped(mapped) => {
                if !mapped.grow(capacity) {
                    let mut rows = Vec::with_capacity(capacity);
                    rows.extend_from_slice(mapped);
                    self.rows = Rows::Memory { rows, taken: None };
                }
            }
        }
    }
}

impl<T> Default for Array<T> {
    fn default() -> Array<T> {
        Array { rows: Rows::Memory { rows: Vec::new(), taken: None }, spool: None }
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        match &self.rows {
            Rows::Memory { rows, .. } => rows,
            Rows::Mapped(rows) => rows,
        }
    }
}

impl<T> DerefMut for Array<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        match &mut self.rows {
            Rows::Memory { rows, .. } => rows,
            Rows::Mapped(rows) => rows,
        }
    }
}

impl<T: Copy> Extend<T> for Array<T> {
    fn extend<I: IntoIterator<Item = T>>(&mut self, rows: I) {
        rows.into_iter().for_each(|row| self.push(row));
    }
}

impl<T> From<Vec<T>> for Array<T> {
    fn from(rows: Vec<T>) -> Array<T> {
        Array { rows: Rows::Memory { rows, taken: None }, spool: None }
    }
}

impl<T> FromIterator<T> for Array<T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Array<T> {
        Vec::from_iter(rows).into()
    }
}

impl<'a, T> IntoIterator for &'a Array<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> std::slice::Iter<'a, T> {
        self.iter()
    }
}

impl<T: Copy> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        let mut copy = Array { spool: self.spool.clone(), ..Array::default() };
        copy.make_room(self.len());
        copy.extend(self.iter().copied());
        copy
    }
}

impl<T: PartialEq> PartialEq for Array<T> {
    fn eq(&self, other: &Array<T>) -> bool {
        self[..] == other[..]
    }
}

impl<T: fmt::Debug> fmt::Debug for Array<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use proptest::prelude::*;

    use super::*;
    use crate::spool::Budget;

    fn is_mapped<T>(array: &Array<T>) -> bool {
        matches!(array.rows, Rows::Mapped(_))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(48))]
        #[test]
        fn it_is_a_vector_whatever_the_budget(
            parts in prop::collection::vec(prop::collection::vec(any::<(u64, u8)>(), 0..9_000), 0..6),
            budget_bytes in 0_u64..600_000,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let spool = Spool::new(folder.path(), Budget::new(budget_bytes));
            let mut array = Array::new(&spool);
            let mut expected = Vec::new();
            for part in &parts {
                array.extend(part.iter().copied());
                expected.extend_from_slice(part);
                prop_assert_eq!(&array[..], &expected[..]);
                array.sort_unstable();
                expected.sort_unstable();
            }
            prop_assert_eq!(&array, &Array::from(expected.clone()));
            let mut copy = array.clone();
            if let Some(last) = copy.last_mut() {
                last.0 = !last.0;
                prop_assert_ne!(&copy, &array);
            }
            let bytes = 16 * expected.len();
            if budget_bytes < bytes as u64 && bytes >= LEAST_MAPPED_BYTES {
                prop_assert!(is_mapped(&array), "{} rows", expected.len());
            }
            prop_assert!(spool.budget().left_bytes() <= budget_bytes);
            drop((array, copy));
            prop_assert_eq!(spool.budget().left_bytes(), budget_bytes);
            prop_assert_eq!(folder.path().read_dir().unwrap().count(), 0, "its file has no name");
        }
    }

    #[test]
    fn without_a_budget_it_is_in_memory() {
        let mut array: Array<u32> = Array::default();
        array.extend(0..100_000);
        assert!(!is_mapped(&array) && array.iter().copied().eq(0..100_000));
        assert_eq!(array.spool().budget().left_bytes(), u64::MAX);
    }

    #[test]
    fn as_many_rows_as_wanted_are_the_same() {
        let folder = tempfile::tempdir().unwrap();
        for budget_bytes in [0, 1 << 20] {
            let spool = Spool::new(folder.path(), Budget::new(budget_bytes));
            let mut array = Array::filled(&spool, 7_u64, 100_000);
            assert_eq!(is_mapped(&array), budget_bytes == 0);
            array[99_999] = 8;
            assert_eq!((array.iter().filter(|&&row| row == 7).count(), array[99_999]), (99_999, 8));
        }
    }

    #[test]
    fn without_a_folder_it_is_in_memory() {
        let spool = Spool::new(Path::new("/nowhere/at/all"), Budget::new(0));
        let array = Array::filled(&spool, 1_u8, 100_000);
        assert!(!is_mapped(&array) && array.len() == 100_000);
    }

    /// More than any disk has.
    #[test]
    fn what_a_full_disk_has_no_room_for_stays_in_memory() {
        let file = tempfile::tempfile().unwrap();
        assert_eq!(reserved(&file, 1 << 60), None);
        let folder = tempfile::tempdir().unwrap();
        let spool = Spool::new(folder.path(), Budget::new(0));
        let mut mapped = Mapped::of(&[1_u64, 2], 8_192, &spool).unwrap();
        assert!(!mapped.grow(1 << 57) && mapped[..] == [1, 2]);
    }
}
