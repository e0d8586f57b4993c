//! Where the collector's own memory lies: away from the program's.
//!
//! The kernel puts a mapping into the highest hole that is large enough. A program may have left that hole on
//! purpose, as for a stack that grows downwards, so the collector asks for places of its own, far below its
//! code. Its later mappings there follow its earlier ones, and become one mapping with them: the number of
//! mappings is limited, too.
//!
//! A mapping is made without access first, and opened when the kernel has instructions not to lock it: a
//! program that locks all its future memory would otherwise lock ours, too, of which most is not used yet.

use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering};

use crate::arch::PAGE_BYTES;
use crate::raw;

/// From the collector's code down to its places. Far enough for what a program maps, and still where run
/// times that divide the address space between themselves and the program expect the program's memory.
const DISTANCE: usize = 64 << 30;
/// A place of this size for the log; each forked child takes the next one, since its parent's is mapped until
/// it has its own.
const LOG_BYTES: usize = 4 << 30;
const LOG_PLACES: u32 = 4;
const ALIGNMENT: usize = 1 << 30;
const READ_WRITE: i32 = libc::PROT_READ | libc::PROT_WRITE;

/// Threads that need more memory at the same time want the same place: so many are tried, one behind the
/// other, before the kernel chooses one.
const TRIED: usize = 16;

/// From the base to the place of large pieces, which are neither the log's nor the arena's, and its size.
const LARGE_DISTANCE: usize = 32 << 30;
const LARGE_BYTES: usize = 24 << 30;

static LARGE_USED: AtomicUsize = AtomicUsize::new(0);

static LOG_PLACE: AtomicU32 = AtomicU32::new(0);

fn base() -> usize {
    let code = base as *const () as usize;
    (code & !(ALIGNMENT - 1)).saturating_sub(DISTANCE)
}

/// Where the first memory of the arena is to lie.
pub fn arena() -> usize {
    match base() {
        0 => 0,
        base => base + LOG_PLACES as usize * LOG_BYTES,
    }
}

/// Where the first piece of a log is to lie.
pub fn log() -> usize {
    match base() {
        0 => 0,
        base => base + (LOG_PLACE.fetch_add(1, Ordering::Relaxed) % LOG_PLACES) as usize * LOG_BYTES,
    }
}

/// Where a large piece of so many bytes is to lie.
fn large(bytes: usize) -> usize {
    let used = LARGE_USED.fetch_add(bytes.next_multiple_of(PAGE_BYTES), Ordering::Relaxed) % LARGE_BYTES;
    match base() {
        0 => 0,
        base => base + LARGE_DISTANCE + used,
    }
}

/// Private memory that is zero, at `wanted` if that is free; null on failure.
pub fn map_private(wanted: usize, bytes: usize) -> *mut u8 {
    map(wanted, bytes, READ_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE, -1, 0)
}

/// A large piece of private memory that is zero; null on failure.
pub fn map_large(bytes: usize) -> *mut u8 {
    map_private(large(bytes), bytes)
}

/// Part of a file, for reading; null on failure.
pub fn map_for_reading(bytes: usize, descriptor: i32, offset: u64) -> *mut u8 {
    map(large(bytes), bytes, libc::PROT_READ, libc::MAP_PRIVATE, descriptor, offset)
}

/// Part of a file, shared, at `wanted` if that is free; null on failure.
pub fn map_shared(wanted: usize, bytes: usize, descriptor: i32, offset: u64) -> *mut u8 {
    map(wanted, bytes, READ_WRITE, libc::MAP_SHARED | libc::MAP_NORESERVE, descriptor, offset)
}

fn map(wanted: usize, bytes: usize, protection: i32, flags: i32, descriptor: i32, offset: u64) -> *mut u8 {
    let mut memory = core::ptr::null_mut();
    for nth in 0..if wanted == 0 { 0 } else { TRIED } {
        memory =
            raw::map_at(wanted + nth * bytes, bytes, flags | libc::MAP_FIXED_NOREPLACE, descriptor, offset);
        if !memory.is_null() {
            break;
        }
    }
    if memory.is_null() {
        memory = raw::map_at(0, bytes, flags, descriptor, offset);
    }
    if memory.is_null() {
        return memory;
    }
    raw::unlock(memory, bytes);
    if raw::failed(raw::protect(memory, bytes, protection)) {
        // SAFETY: mapped above, and not yet known to other threads.
        unsafe { raw::unmap(memory, bytes) };
        return core::ptr::null_mut();
    }
    memory
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: usize = PAGE_BYTES;

    /// The bounds of the mapping with `address`, as the kernel lists it.
    fn mapping_of(address: usize) -> (usize, usize) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let bounds = maps.lines().map(|line| {
            let (start, rest) = line.split_once('-').unwrap();
            let end = rest.split(' ').next().unwrap();
            (usize::from_str_radix(start, 16).unwrap(), usize::from_str_radix(end, 16).unwrap())
        });
        bounds.into_iter().find(|(start, end)| (*start..*end).contains(&address)).unwrap()
    }

    #[test]
    fn large_pieces_do_not_lie_in_holes_of_the_program() {
        let code = base as *const () as usize;
        let place = code - DISTANCE - ALIGNMENT..code;
        let pieces = [map_large(PAGE), map_large(3 * PAGE)];
        assert!(pieces.iter().all(|piece| place.contains(&(*piece as usize))), "{place:x?} {pieces:?}");
        assert_eq!(pieces[1] as usize % PAGE, 0);
        // SAFETY: mapped above, and used by nothing else.
        unsafe {
            raw::unmap(pieces[0], PAGE);
            raw::unmap(pieces[1], 3 * PAGE);
        }
    }

    #[test]
    fn threads_that_want_the_same_place_lie_side_by_side() {
        const THREADS: usize = 8;
        let wanted = arena() + (3 << 32);
        let all_are_ready = std::sync::Barrier::new(THREADS);
        let map_at_once = || {
            all_are_ready.wait();
            map_private(wanted, 4 * PAGE) as usize
        };
        let mut pieces: Vec<usize> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(map_at_once)).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        pieces.sort_unstable();
        let side_by_side: Vec<usize> = (0..THREADS).map(|nth| wanted + nth * 4 * PAGE).collect();
        assert_eq!(pieces, side_by_side);
        // SAFETY: mapped above, and used by nothing else.
        unsafe { raw::unmap(wanted as *mut u8, THREADS * 4 * PAGE) };
    }

    #[test]
    fn what_follows_becomes_part_of_the_mapping_before_it() {
        // Not where the arena of this process grows meanwhile.
        let first = map_private(arena() + (1 << 33), 4 * PAGE);
        let second = map_private(first as usize + 4 * PAGE, 4 * PAGE);
        assert_eq!(second as usize, first as usize + 4 * PAGE);
        assert_eq!(mapping_of(first as usize), (first as usize, first as usize + 8 * PAGE));
        // A range that is taken is not taken again.
        let third = map_private(first as usize, PAGE);
        assert!(!third.is_null() && third != first);
        // SAFETY: mapped above, and used by nothing else.
        unsafe {
            assert_eq!(first.read(), 0);
            second.write(1);
            raw::unmap(first, 8 * PAGE);
            raw::unmap(third, PAGE);
        }
    }
}
