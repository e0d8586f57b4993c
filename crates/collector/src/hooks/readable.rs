//! Whether what the program points to can be read or written, found out as the kernel does: by an error, not
//! by a fault.
//!
//! A system call that is given a bad address fails with EFAULT. A hook in front of it that reads the same
//! memory itself would end the program instead: it asks here first, and where something cannot be read it
//! passes the arguments on as they are.

use core::ffi::c_char;

use crate::arch::PAGE_BYTES;
use crate::raw;
use crate::real::Strings;

/// The unit in which memory becomes readable.
const PAGE: u64 = PAGE_BYTES as u64;

/// Remembers which pages could be read, since neighbours mostly lie in the same one.
struct Readable {
    /// Process that reads.
    process: u32,
    /// Pages from here on could be read …
    from: u64,
    /// … up to here.
    to: u64,
}

impl Readable {
    /// Nothing is known yet.
    fn new() -> Readable {
        Readable { process: raw::getpid(), from: 0, to: 0 }
    }

    /// Whether the page of this address can be read.
    fn page(&mut self, address: u64) -> bool {
        let page = address & !(PAGE - 1);
        if (self.from..self.to).contains(&page) {
            return true;
        }
        let outcome = raw::read_memory(self.process, address, &mut [0]);
        // Where the call itself is forbidden nothing can be found out: then the program is trusted.
        let is_readable = outcome == 1 || outcome != -(libc::EFAULT as isize);
        if is_readable && page == self.to {
            self.to += PAGE;
        } else if is_readable {
            (self.from, self.to) = (page, page.saturating_add(PAGE));
        }
        is_readable
    }

    /// Whether this is a C string that can be read to its end.
    fn string(&mut self, text: *const c_char) -> bool {
        let mut at = text as u64;
        while self.page(at) {
            let Some(next) = (at & !(PAGE - 1)).checked_add(PAGE) else { return false };
            // SAFETY: the rest of this page can be read.
            let rest = unsafe { core::slice::from_raw_parts(at as *const u8, (next - at) as usize) };
            if rest.contains(&0) {
                return true;
            }
            at = next;
        }
        false
    }
}

/// Whether this is a C string that can be read.
pub fn is_string(text: *const c_char) -> bool {
    Readable::new().string(text)
}

/// The value at `place`; None where not all of it can be read.
///
/// # Safety
/// All that can be read there is a `T`.
pub unsafe fn read<T: Copy>(place: *const T) -> Option<T> {
    let mut value = core::mem::MaybeUninit::<T>::zeroed();
    // SAFETY: the value's own bytes, zeroed above.
    let bytes = unsafe { core::slice::from_raw_parts_mut(value.as_mut_ptr().cast::<u8>(), size_of::<T>()) };
    let got = raw::read_memory(raw::getpid(), place as u64, bytes);
    if got == size_of::<T>() as isize {
        // SAFETY: the caller's promise, and all bytes have been read.
        return Some(unsafe { value.assume_init() });
    }
    if got >= 0 || got == -(libc::EFAULT as isize) {
        return None;
    }
    // SAFETY: the call itself is forbidden: then the program is trusted. It need not be aligned.
    Some(unsafe { place.read_unaligned() })
}

/// Writes a value to `place`; false where not all of it can be written.
///
/// # Safety
/// The program has passed `place` for such a value.
pub unsafe fn write<T: Copy>(place: *mut T, value: &T) -> bool {
    // SAFETY: the value's own bytes, all of which were zeroed or written by the kernel.
    let bytes =
        unsafe { core::slice::from_raw_parts(core::ptr::from_ref(value).cast::<u8>(), size_of::<T>()) };
    let put = raw::write_memory(raw::getpid(), place as u64, bytes);
    if put < 0 && put != -(libc::EFAULT as isize) {
        // SAFETY: the call itself is forbidden: then the program is trusted. It need not be aligned.
        unsafe { place.write_unaligned(*value) };
        return true;
    }
    put == size_of::<T>() as isize
}

/// Whether this is null, or a list of C strings that can all be read, up to the null pointer that ends it.
pub fn is_list_of_strings(list: Strings) -> bool {
    const LAST: u64 = size_of::<u64>() as u64 - 1;
    // The list and its strings may lie far from each other.
    let (mut of_list, mut of_strings) = (Readable::new(), Readable::new());
    let mut at = list as u64;
    if at == 0 {
        return true;
    }
    loop {
        let Some(end) = at.checked_add(LAST) else { return false };
        if !of_list.page(at) || !of_list.page(end) {
            return false;
        }
        // SAFETY: its first and its last byte can be read. It need not be aligned.
        let text = unsafe { (at as Strings).read_unaligned() };
        if text.is_null() {
            return true;
        }
        if !of_strings.string(text) {
            return false;
        }
        let Some(next) = end.checked_add(1) else { return false };
        at = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_not() {
        let mut value = 1_u64;
        // SAFETY: a place for a number; and one at which nothing is mapped.
        unsafe {
            assert!(write(&mut value, &7) && value == 7);
            assert!(!write(core::ptr::dangling_mut(), &7));
        }
    }

    /// Two pages, of which the second cannot be read.
    fn before_nothing() -> *mut u8 {
        // SAFETY: a new mapping of this test.
        unsafe {
            let memory = libc::mmap(
                core::ptr::null_mut(),
                2 * PAGE as usize,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                -1,
                0,
            );
            assert_ne!(memory, libc::MAP_FAILED);
            assert_eq!(libc::mprotect(memory.byte_add(PAGE as usize), PAGE as usize, libc::PROT_NONE), 0);
            memory.cast::<u8>().add(PAGE as usize)
        }
    }

    #[test]
    fn a_value_is_read_if_all_of_it_can_be() {
        let edge = before_nothing();
        // SAFETY: the eight bytes before the edge are this test's.
        unsafe {
            let place = edge.sub(8).cast::<u64>();
            place.write(0x0102_0304_0506_0708);
            assert_eq!(read(place), Some(0x0102_0304_0506_0708));
            assert_eq!(read(place.byte_add(1)), None);
            assert_eq!(read(edge.cast::<u64>()), None);
            assert_eq!(read(core::ptr::null::<u64>()), None);
            assert_eq!(read(0x8000_0000_0000_0000_u64 as *const u64), None);
        }
    }

    #[test]
    fn a_string_is_readable_if_its_end_is() {
        let edge = before_nothing();
        assert!(is_string(c"a string".as_ptr()));
        assert!(!is_string(core::ptr::null()) && !is_string(8 as *const c_char) && !is_string(edge.cast()));
        assert!(
            !is_string(usize::MAX as *const c_char) && !is_string(0x8000_0000_0000_0000_u64 as *const c_char)
        );
        // SAFETY: the three bytes before the edge are this test's.
        unsafe {
            let text = edge.sub(3);
            text.copy_from_nonoverlapping(c"ab".as_ptr().cast(), 3);
            assert!(is_string(text.cast()));
            text.add(2).write(b'c');
            assert!(!is_string(text.cast()));
        }
    }

    #[test]
    fn a_list_is_readable_if_all_of_it_is() {
        let (one, bad, none) = (c"one".as_ptr(), 8 as *const c_char, core::ptr::null::<c_char>());
        assert!(is_list_of_strings(none.cast()));
        assert!(is_list_of_strings([one, one, none].as_ptr()));
        assert!(!is_list_of_strings([one, bad, none].as_ptr()));
        assert!(!is_list_of_strings(8 as Strings));
        let edge = before_nothing().cast::<*const c_char>();
        // SAFETY: the two words before the edge are this test's.
        unsafe {
            edge.sub(1).write(one);
            assert!(!is_list_of_strings(edge.sub(1)));
            edge.sub(1).write(none);
            edge.sub(2).write(one);
            assert!(is_list_of_strings(edge.sub(2)) && is_list_of_strings(edge.sub(1)));
        }
    }
}
