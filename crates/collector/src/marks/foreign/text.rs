//! Names as these interfaces pass them: ending with a zero byte, in wide characters, or registered once.

use core::ffi::{CStr, c_char};
use core::sync::atomic::{AtomicU32, Ordering};

use crate::marks::mark::lane_of_caller;

/// A text of the program's; empty where there is none.
///
/// # Safety
/// It is null, or ends with a zero byte and stays during the call.
#[inline]
pub unsafe fn of<'t>(start: *const c_char) -> &'t [u8] {
    // SAFETY: the caller's promise.
    if start.is_null() { &[] } else { unsafe { CStr::from_ptr(start).to_bytes() } }
}

/// Most bytes of a text in wide characters: the hook has it on the thread's own stack.
const MOST_BYTES: usize = 240;

/// A text that was in wide characters, in UTF-8.
pub struct Narrow {
    bytes: [u8; MOST_BYTES],
    length: usize,
}

impl Narrow {
    /// Of characters of 4 bytes, the last of which is 0. What is no character becomes U+FFFD.
    ///
    /// # Safety
    /// It is null, or ends with a zero and stays during the call.
    pub unsafe fn of(mut wide: *const u32) -> Narrow {
        let mut narrow = Narrow { bytes: [0; MOST_BYTES], length: 0 };
        if wide.is_null() {
            return narrow;
        }
        loop {
            // SAFETY: the caller's promise: no zero was read before.
            let code = unsafe { wide.read_unaligned() };
            if code == 0 {
                return narrow;
            }
            let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
            let mut encoded = [0; 4];
            let encoded = character.encode_utf8(&mut encoded).as_bytes();
            let Some(room) = narrow.bytes.get_mut(narrow.length..narrow.length + encoded.len()) else {
                return narrow;
            };
            room.copy_from_slice(encoded);
            narrow.length += encoded.len();
            // SAFETY: as above.
            wide = unsafe { wide.add(1) };
        }
    }

    /// The text.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or(&[])
    }
}

/// A text that the program registered: it has its address as a handle.
#[derive(Debug)]
pub struct Registered(&'static [u8]);

/// So many texts of a process are registered. A program that has more, of which each stays for ever, gets no
/// handles for further ones.
const MOST_REGISTERED: u32 = 1 << 16;

impl Registered {
    /// Keeps a copy of the text as long as the process; null where that cannot be done.
    pub fn keep(text: &[u8]) -> *const Registered {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let Some((_, lane)) = lane_of_caller() else { return core::ptr::null() };
        if COUNT.fetch_add(1, Ordering::Relaxed) >= MOST_REGISTERED {
            COUNT.fetch_sub(1, Ordering::Relaxed);
            return core::ptr::null();
        }
        let kept = lane.with_record(|_| {
            let text: &'static [u8] = Vec::leak(text.to_vec());
            &*Box::leak(Box::new(Registered(text)))
        });
        kept.map_or(core::ptr::null(), core::ptr::from_ref)
    }

    /// The text of a handle; empty where there is none.
    ///
    /// # Safety
    /// The handle is null or one that [`Registered::keep`] returned.
    #[inline]
    pub unsafe fn text(handle: *const Registered) -> &'static [u8] {
        // SAFETY: the caller's promise; it is never freed.
        unsafe { handle.as_ref() }.map_or(&[], |registered| registered.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_become_utf_8() {
        let wide: Vec<u32> = "Größe – ∑".chars().map(u32::from).chain([0]).collect();
        // SAFETY: ends with a zero.
        assert_eq!(unsafe { Narrow::of(wide.as_ptr()) }.bytes(), "Größe – ∑".as_bytes());
        let none = [0x11_0000, 0xd800, u32::from(b'x'), 0];
        // SAFETY: as above.
        assert_eq!(unsafe { Narrow::of(none.as_ptr()) }.bytes(), "\u{fffd}\u{fffd}x".as_bytes());
        // SAFETY: null.
        assert_eq!(unsafe { Narrow::of(core::ptr::null()) }.bytes(), b"");
    }

    #[test]
    fn a_long_text_ends_with_a_whole_character() {
        let wide: Vec<u32> = core::iter::repeat_n(u32::from('∑'), 200).chain([0]).collect();
        // SAFETY: ends with a zero.
        let narrow = unsafe { Narrow::of(wide.as_ptr()) };
        assert_eq!(narrow.bytes(), "∑".repeat(MOST_BYTES / 3).as_bytes());
    }
}
