//! The collector's memory: never the program's heap.
//!
//! Memory is taken from areas, by one atomic exchange; an area that is used up is followed by a new one, a
//! quarter as large as all before it together. So little unused memory is mapped, and the mappings are few. A
//! block that is given back is kept in a list for its size and used again. None of it locks or falls back to
//! the C library, so it may be called anywhere.
//!
//! Memory that the language's own collections take by the global allocator is never taken back.

use core::alloc::{GlobalAlloc, Layout};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};

use crate::arch::PAGE_BYTES;
use crate::free_list::{self, FreeList};
use crate::{placement, raw, room};

mod table;

pub use table::{Entry, Table, spread};

/// Least size of a block that is given back and used again, and the greatest that is taken from an area.
const LEAST_BYTES: usize = free_list::ALIGNMENT;
const MOST_BYTES: usize = 1 << 20;
const SIZES: usize = (MOST_BYTES / LEAST_BYTES).ilog2() as usize + 1;
/// From here on what is given back goes to the kernel, and only its place is kept.
const WORTH_GIVING_BACK: usize = 64 << 10;

/// An area of small things; the least size of one of pages, and the greatest.
const SMALL_AREA_BYTES: usize = 64 << 10;
const LEAST_AREA_BYTES: usize = 64 << 10;
const MOST_AREA_BYTES: usize = 8 << 20;
/// How much larger all areas are together than the next one.
const AREA_SHARE: usize = 4;

/// Bytes handed out so far, for the run's facts.
pub static HANDED_OUT_BYTES: AtomicU64 = AtomicU64::new(0);

/// Bytes of all areas of pages.
static MAPPED_BYTES: AtomicUsize = AtomicUsize::new(0);

/// An area's first bytes.
struct Area {
    next: AtomicUsize,
    end: usize,
}

impl Area {
    /// Makes an area of fresh memory that no other thread can reach yet.
    ///
    /// # Safety
    /// `bytes` bytes at `memory` stay mapped, and are aligned to a page.
    unsafe fn lay(memory: *mut u8, bytes: usize) -> *mut Area {
        let area = memory.cast::<Area>();
        let next = AtomicUsize::new(memory as usize + size_of::<Area>());
        // SAFETY: the caller's promise.
        unsafe { area.write(Area { next, end: memory as usize + bytes }) };
        area
    }

    fn take(&self, bytes: usize, alignment: usize) -> *mut u8 {
        let mut next = self.next.load(Ordering::Relaxed);
        loop {
            let start = next.next_multiple_of(alignment);
            if start + bytes > self.end {
                return core::ptr::null_mut();
            }
            match self.next.compare_exchange_weak(next, start + bytes, Ordering::Relaxed, Ordering::Relaxed) {
                Ok(_) => return start as *mut u8,
                Err(other) => next = other,
            }
        }
    }
}

/// The newest area of a kind.
struct Areas {
    newest: AtomicPtr<Area>,
    /// Memory for a new one: where it is to begin, if it can, how much has to fit; and how much it is.
    more: fn(usize, usize) -> (*mut u8, usize),
    /// Gives it back: another thread was faster.
    less: unsafe fn(*mut u8, usize),
}

static SMALL: Areas =
    Areas { newest: AtomicPtr::new(core::ptr::null_mut()), more: small_area, less: give_back };
static PAGES: Areas =
    Areas { newest: AtomicPtr::new(core::ptr::null_mut()), more: area_of_pages, less: unmap_area };

impl Areas {
    fn take(&self, bytes: usize, alignment: usize) -> *mut u8 {
        loop {
            let newest = self.newest.load(Ordering::Acquire);
            // SAFETY: an area, once published, stays for the process's life.
            let area = unsafe { newest.as_ref() };
            let memory = area.map_or(core::ptr::null_mut(), |area| area.take(bytes, alignment));
            if !memory.is_null() {
                return memory;
            }
            let (memory, area_bytes) = (self.more)(area.map_or(0, |area| area.end), bytes);
            if memory.is_null() {
                return memory;
            }
            // SAFETY: fresh memory of that size.
            let fresh = unsafe { Area::lay(memory, area_bytes) };
            if self.newest.compare_exchange(newest, fresh, Ordering::AcqRel, Ordering::Relaxed).is_err() {
                // SAFETY: made above, and never published.
                unsafe { (self.less)(memory, area_bytes) };
            }
        }
    }
}

fn small_area(_: usize, _: usize) -> (*mut u8, usize) {
    (pages(SMALL_AREA_BYTES), SMALL_AREA_BYTES)
}

fn area_of_pages(behind: usize, least: usize) -> (*mut u8, usize) {
    let wanted = if behind == 0 { placement::arena() } else { behind };
    let share = MAPPED_BYTES.load(Ordering::Relaxed) / AREA_SHARE;
    let bytes = share.clamp(LEAST_AREA_BYTES, MOST_AREA_BYTES).max(least + PAGE_BYTES);
    let bytes = bytes.next_multiple_of(LEAST_AREA_BYTES);
    let memory = placement::map_private(wanted, bytes);
    if !memory.is_null() {
        MAPPED_BYTES.fetch_add(bytes, Ordering::Relaxed);
        // The kernel would otherwise make large pages of what is hardly used.
        raw::madvise(memory, bytes, libc::MADV_NOHUGEPAGE);
    }
    (memory, bytes)
}

unsafe fn unmap_area(memory: *mut u8, bytes: usize) {
    MAPPED_BYTES.fetch_sub(bytes, Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe { raw::unmap(memory, bytes) };
}

/// Blocks that were given back, by size; the first word is the list's.
static RETURNED: [FreeList; SIZES] = [const { FreeList::new(0) }; SIZES];

/// The size handed out for `bytes`: a power of two, or whole pages.
fn size_for(bytes: usize) -> usize {
    if bytes > MOST_BYTES {
        bytes.next_multiple_of(PAGE_BYTES)
    } else {
        bytes.next_power_of_two().max(LEAST_BYTES)
    }
}

fn returned(size: usize) -> &'static FreeList {
    &RETURNED[(size / LEAST_BYTES).ilog2() as usize]
}

/// Memory that is zero, or null. It is aligned to its size rounded up to a power of two, or to a page.
pub fn pages(bytes: usize) -> *mut u8 {
    let size = size_for(bytes);
    let memory = if size > MOST_BYTES { placement::map_large(size) } else { take(size) };
    if !memory.is_null() {
        HANDED_OUT_BYTES.fetch_add(size as u64, Ordering::Relaxed);
    }
    memory
}

fn take(size: usize) -> *mut u8 {
    let memory = returned(size).take();
    if memory.is_null() {
        let areas = if size < PAGE_BYTES { &SMALL } else { &PAGES };
        return areas.take(size, size.min(PAGE_BYTES));
    }
    let used = if size >= WORTH_GIVING_BACK { size_of::<u64>() } else { size };
    // SAFETY: taken from the list just now; it has that size.
    unsafe { memory.write_bytes(0, used) };
    memory
}

/// Gives memory of [`pages`] back.
///
/// # Safety
/// `memory` was returned by `pages(bytes)` and nothing uses it any more.
pub unsafe fn give_back(memory: *mut u8, bytes: usize) {
    let size = size_for(bytes);
    HANDED_OUT_BYTES.fetch_sub(size as u64, Ordering::Relaxed);
    // SAFETY: the caller's promise.
    unsafe {
        if size > MOST_BYTES {
            raw::unmap(memory, size);
            return;
        }
        // Locked memory stays: the program wanted so.
        if size >= WORTH_GIVING_BACK && raw::failed(raw::madvise(memory, size, libc::MADV_DONTNEED)) {
            memory.write_bytes(0, size);
        }
        returned(size).give(memory);
    }
}

/// A type of which all zeros is a value.
///
/// # Safety
/// It is.
pub unsafe trait Zeroed {}

/// A value that takes memory when it is first used: most threads need few of what a thread may need. The
/// owner of this is never dropped, and neither is the value.
#[derive(Debug)]
pub struct Lazily<T>(*mut T);

impl<T> Default for Lazily<T> {
    fn default() -> Lazily<T> {
        Lazily(core::ptr::null_mut())
    }
}

impl<T> Lazily<T> {
    /// The value, if it was used before.
    #[inline]
    pub fn get(&mut self) -> Option<&mut T> {
        // SAFETY: null, or memory that only this value uses and that stays.
        unsafe { self.0.as_mut() }
    }

    /// The value, which is `first()` at first; None without memory.
    #[inline]
    pub fn get_or_make(&mut self, first: impl FnOnce() -> T) -> Option<&mut T> {
        if self.0.is_null() {
            self.make(first);
        }
        self.get()
    }

    /// The value, which is all zeros at first and needs no room on a stack; None without memory.
    #[inline]
    pub fn get_or_make_zeroed(&mut self) -> Option<&mut T>
    where
        T: Zeroed,
    {
        if self.0.is_null() {
            const { assert!(align_of::<T>() <= LEAST_BYTES) };
            self.0 = room::apart(|| pages(size_of::<T>())).cast::<T>();
        }
        self.get()
    }

    /// The value is made on a stack before it is where it belongs, and may be larger than the caller's has
    /// room for.
    #[cold]
    #[inline(never)]
    fn make(&mut self, first: impl FnOnce() -> T) {
        const { assert!(align_of::<T>() <= LEAST_BYTES) };
        room::apart(|| {
            let memory = pages(size_of::<T>()).cast::<T>();
            if !memory.is_null() {
                // SAFETY: fresh memory of that size and alignment.
                unsafe { memory.write(first()) };
                self.0 = memory;
            }
        });
    }
}

/// The language's allocator.
pub struct Arena;

#[global_allocator]
static ARENA: Arena = Arena;

// SAFETY: addresses lie in disjoint ranges of mapped memory, aligned as asked; nothing is freed.
unsafe impl GlobalAlloc for Arena {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let (bytes, alignment) = (layout.size(), layout.align());
        if bytes.max(alignment) > SMALL_AREA_BYTES / 4 {
            pages(bytes.max(alignment))
        } else {
            SMALL.take(bytes, alignment)
        }
    }

    unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_is_used_again_and_zero() {
        for bytes in [1, 100, 3000, 4096, 60_000, 200_000, 3 << 20] {
            let memory = pages(bytes);
            // SAFETY: so many bytes were handed out, and are given back once.
            unsafe {
                assert!(core::slice::from_raw_parts(memory, bytes).iter().all(|&byte| byte == 0));
                memory.write_bytes(7, bytes);
                give_back(memory, bytes);
            }
            let again = pages(bytes);
            // SAFETY: as above.
            unsafe { assert!(core::slice::from_raw_parts(again, bytes).iter().all(|&byte| byte == 0)) };
        }
    }

    #[test]
    fn threads_never_get_the_same() {
        std::thread::scope(|scope| {
            for mark in 1..=4_u8 {
                scope.spawn(move || {
                    let mut mine: Vec<(*mut u8, usize)> = Vec::new();
                    for round in 0..20_000_usize {
                        let bytes = 64 << (round * 7 % 5);
                        let memory = pages(bytes);
                        // SAFETY: so many bytes were handed out to this thread, and are given back once.
                        unsafe {
                            assert!(core::slice::from_raw_parts(memory, bytes).iter().all(|&b| b == 0));
                            memory.write_bytes(mark, bytes);
                            mine.push((memory, bytes));
                            if round % 3 != 0 {
                                let (memory, bytes) = mine.swap_remove(round * 31 % mine.len());
                                assert!(
                                    core::slice::from_raw_parts(memory, bytes).iter().all(|&b| b == mark)
                                );
                                give_back(memory, bytes);
                            }
                        }
                    }
                });
            }
        });
    }
}
