//! Words of other objects that the dynamic linker has filled in, changed afterwards.

use core::sync::atomic::{AtomicU64, Ordering};

use super::object::Object;
use crate::{arch, raw};

/// Stores a value in a word of a loaded object; false if that cannot be done. Where the object's words become
/// read-only, they stay what they are: the dynamic linker may not have made them so yet. While nothing is
/// unloaded.
pub fn write(object: &Object, place: u64, value: u64) -> bool {
    if !place.is_multiple_of(size_of::<u64>() as u64) {
        return false;
    }
    if object.stays_writable(place) {
        // SAFETY: an aligned word in a segment that may be written. Another thread reads it as a whole.
        unsafe { AtomicU64::from_ptr(place as *mut u64) }.store(value, Ordering::Relaxed);
        return true;
    }
    through_file(place, value) || write_plainly(place, value) || write_unprotected(place, value)
}

/// The kernel writes there whatever the access, unless it was configured otherwise.
fn through_file(place: u64, value: u64) -> bool {
    let memory = raw::open(c"/proc/self/mem", libc::O_WRONLY, 0);
    if raw::failed(memory) {
        return false;
    }
    let written = raw::pwrite(memory as i32, &value.to_ne_bytes(), place);
    raw::close(memory as i32);
    written == size_of::<u64>() as isize
}

/// If the word may still be written.
fn write_plainly(place: u64, value: u64) -> bool {
    raw::write_memory(raw::getpid(), place, &value.to_ne_bytes()) == size_of::<u64>() as isize
}

/// The word may not be written: it is read-only already, and becomes so again.
fn write_unprotected(place: u64, value: u64) -> bool {
    let page = (place & !(arch::PAGE_BYTES as u64 - 1)) as *mut u8;
    if raw::failed(raw::protect(page, arch::PAGE_BYTES, libc::PROT_READ | libc::PROT_WRITE)) {
        return false;
    }
    // SAFETY: an aligned word that may be written now. Another thread reads it as a whole.
    unsafe { AtomicU64::from_ptr(place as *mut u64) }.store(value, Ordering::Relaxed);
    raw::protect(page, arch::PAGE_BYTES, libc::PROT_READ);
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A page with a word, which may only be read.
    fn read_only() -> *mut u64 {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        let page = raw::map(arch::PAGE_BYTES, access, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS, -1, 0);
        // SAFETY: mapped just now.
        unsafe { page.cast::<u64>().write(1) };
        assert!(!raw::failed(raw::protect(page, arch::PAGE_BYTES, libc::PROT_READ)));
        page.cast()
    }

    fn may_be_written(word: *mut u64) -> bool {
        // SAFETY: a word of the test's own.
        write_plainly(word as u64, unsafe { word.read_volatile() })
    }

    #[test]
    fn a_read_only_word_is_written_in_two_ways_and_stays_read_only() {
        for write in [through_file, write_unprotected] {
            let word = read_only();
            assert!(write(word as u64, 7));
            // SAFETY: as above.
            assert_eq!(unsafe { word.read_volatile() }, 7);
            assert!(!may_be_written(word));
        }
    }

    #[test]
    fn where_nothing_is_mapped_nothing_is_written() {
        assert!(!through_file(8, 7) && !write_plainly(8, 7) && !write_unprotected(8, 7));
    }
}
