//! The unwind tables of what was loaded after the start, from its file: the collector's own, since the
//! program may unload it.
//!
//! A handler may be reading them at any moment, so they are never given back. That must not add up in a
//! program that loads plugins all its life: small tables are copied into the arena, which needs no mapping of
//! its own; a file that is loaded again finds those of the time before; and of large ones no more are mapped
//! than a process has mappings to spare.

use core::sync::atomic::{AtomicPtr, Ordering};

use crate::turn::Mine;
use crate::{arena, placement, raw};

/// Tables up to this size are copied: most plugins'.
const SMALL_BYTES: usize = 64 << 10;
/// Most tables that are mapped. A process may have 65 530 mappings, as it is set up usually.
const MOST_MAPPED: u32 = 4096;

/// The identity of a part of a file: device, number, length, time of its last change, and the part.
type Identity = [u64; 6];

struct Kept {
    identity: Identity,
    bytes: &'static [u8],
    is_mapped: bool,
    next: *const Kept,
}

static NEWEST: AtomicPtr<Kept> = AtomicPtr::new(core::ptr::null_mut());

/// All that was kept, the newest first. Nothing is ever taken out.
fn kept() -> impl Iterator<Item = &'static Kept> {
    // SAFETY: null, or made below and never freed.
    let at = |pointer: *const Kept| unsafe { pointer.as_ref() };
    core::iter::successors(at(NEWEST.load(Ordering::Acquire)), move |kept| at(kept.next))
}

/// `bytes` bytes from `offset` on of an open file, which is that long. For the thread that may change the
/// list of modules.
pub fn part(
    _: &Mine,
    descriptor: i32,
    status: &libc::stat,
    offset: u64,
    bytes: u64,
) -> Option<&'static [u8]> {
    let identity = [
        status.st_dev,
        status.st_ino,
        status.st_size as u64,
        (status.st_mtime as u64).wrapping_mul(1_000_000_000).wrapping_add(status.st_mtime_nsec as u64),
        offset,
        bytes,
    ];
    if let Some(known) = kept().find(|kept| kept.identity == identity) {
        return Some(known.bytes);
    }
    let length = usize::try_from(bytes).ok()?;
    let is_mapped = length > SMALL_BYTES;
    let memory =
        if is_mapped { mapped(descriptor, offset, length)? } else { copied(descriptor, offset, length)? };
    // SAFETY: so many bytes, which nothing changes and which stay.
    let bytes = unsafe { core::slice::from_raw_parts(memory, length) };
    let next = NEWEST.load(Ordering::Relaxed);
    NEWEST.store(Box::into_raw(Box::new(Kept { identity, bytes, is_mapped, next })), Ordering::Release);
    Some(bytes)
}

fn copied(descriptor: i32, offset: u64, bytes: usize) -> Option<*const u8> {
    let memory = arena::pages(bytes.max(1));
    if memory.is_null() {
        return None;
    }
    // SAFETY: fresh memory of that size.
    let buffer = unsafe { core::slice::from_raw_parts_mut(memory, bytes) };
    let mut got = 0;
    while got < bytes {
        let piece = raw::pread(descriptor, &mut buffer[got..], offset + got as u64);
        if piece <= 0 {
            // SAFETY: made above with this size, and not yet known to other threads.
            unsafe { arena::give_back(memory, bytes.max(1)) };
            return None;
        }
        got += piece as usize;
    }
    Some(memory)
}

fn mapped(descriptor: i32, offset: u64, bytes: usize) -> Option<*const u8> {
    if kept().filter(|kept| kept.is_mapped).count() as u32 >= MOST_MAPPED {
        return None;
    }
    let skip = offset as usize & 0xfff;
    let memory = placement::map_for_reading(bytes + skip, descriptor, offset - skip as u64);
    // SAFETY: the mapping is so much longer.
    (!memory.is_null()).then(|| unsafe { memory.add(skip).cast_const() })
}

#[cfg(test)]
mod tests {
    use std::os::fd::AsRawFd;

    use super::*;
    use crate::turn::Turn;

    static TURN: Turn = Turn::new();

    #[test]
    fn the_same_part_of_a_file_is_kept_once() {
        let mine = TURN.try_begin().unwrap();
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let content = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let status = raw::fstat(file.as_raw_fd()).unwrap();
        for (offset, bytes) in [(100, 3000), (5000, 60_000), (4321, 200_000)] {
            let first = part(&mine, file.as_raw_fd(), &status, offset, bytes).unwrap();
            assert!(first == &content[offset as usize..][..bytes as usize]);
            let again = part(&mine, file.as_raw_fd(), &status, offset, bytes).unwrap();
            assert_eq!(first.as_ptr(), again.as_ptr());
            let mut other = status;
            other.st_mtime_nsec += 1;
            assert_ne!(
                part(&mine, file.as_raw_fd(), &other, offset, bytes).unwrap().as_ptr(),
                first.as_ptr()
            );
        }
        assert!(part(&mine, file.as_raw_fd(), &status, content.len() as u64, 10).is_none());
    }
}
