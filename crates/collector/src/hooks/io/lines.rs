//! Lines and strings of streams.

use core::ffi::{CStr, c_char, c_int};

use libc::{FILE, size_t, ssize_t};

use super::bracket::{Descriptor, io};
use super::buffered::{has_line, has_room_for_string, has_up_to};
use super::stream::{Stream, output, written};
use crate::operation::Outcome;

#[inline]
fn on(stream: *mut FILE) -> Descriptor {
    Descriptor(Stream(stream).descriptor())
}

/// Bytes that `fgets` stored before its final zero, where it was asked for less than `size`.
///
/// A line may have zeros within. The final one follows a newline, or fills the room, or is at the stream's
/// end: a zero of which none of this is true belongs to the line. (The rest of a last line without newline
/// that has zeros is not counted.)
///
/// # Safety
/// `line` holds what `fgets` stored.
unsafe fn line_bytes(line: *const u8, size: usize, at_end: bool) -> u64 {
    let mut at = 0;
    loop {
        // SAFETY: up to `at` all was stored, and a zero follows.
        at += unsafe { CStr::from_ptr(line.add(at).cast()) }.count_bytes();
        // SAFETY: `at` is the place of a zero, so the byte before it was stored too.
        let after_newline = at > 0 && unsafe { *line.add(at - 1) } == b'\n';
        if after_newline || at_end || at + 1 >= size {
            return at as u64;
        }
        at += 1;
    }
}

/// As [`on`], for a line of so many bytes with its final zero: for no other byte the stream is not looked at.
#[inline]
fn on_line(size: c_int, stream: *mut FILE) -> Descriptor {
    if size <= 1 { Descriptor(-1) } else { on(stream) }
}

#[inline]
fn line(result: *mut c_char, size: c_int, stream: *mut FILE) -> Outcome {
    if size <= 1 {
        return Outcome::default();
    }
    let stream = Stream(stream);
    if result.is_null() {
        return stream.taken(0, false);
    }
    // SAFETY: `fgets` succeeded: it has stored a line there.
    let bytes = unsafe { line_bytes(result.cast(), usize::try_from(size).unwrap_or(0), stream.is_at_end()) };
    Outcome { bytes, error: 0 }
}

/// Of functions that return how many bytes they took, or -1.
#[inline]
fn bytes(result: ssize_t, stream: *mut FILE) -> Outcome {
    Stream(stream).taken(u64::try_from(result).unwrap_or(0), result >= 0)
}

/// Of functions that write a string.
#[inline]
fn string(result: c_int, text: *const c_char, more: u64) -> Outcome {
    // SAFETY: the program gave a string, which was just written.
    written(result, if result < 0 { 0 } else { unsafe { CStr::from_ptr(text) }.count_bytes() as u64 + more })
}

io! {
    fgets(to: *mut c_char as bytes_out(size), size: c_int as number(size), stream: *mut FILE as stream)
        -> *mut c_char, or core::ptr::null_mut()
        => StreamLine, on_line(size, stream), |result| line(result, size, stream),
        in_memory(false, has_line(stream, size, false));
    fgets_unlocked(to: *mut c_char as bytes_out(size), size: c_int as number(size),
        stream: *mut FILE as stream) -> *mut c_char, or core::ptr::null_mut()
        => StreamLine, on_line(size, stream), |result| line(result, size, stream),
        in_memory(false, has_line(stream, size, true));
    __fgets_chk(
        to: *mut c_char as bytes_out(size), room: size_t as number(size), size: c_int as number(size),
        stream: *mut FILE as stream,
    ) -> *mut c_char, or core::ptr::null_mut()
        => StreamLine, on_line(size, stream), |result| line(result, size, stream),
        in_memory(false, has_line(stream, size, false));
    __fgets_unlocked_chk(
        to: *mut c_char as bytes_out(size), room: size_t as number(size), size: c_int as number(size),
        stream: *mut FILE as stream,
    ) -> *mut c_char, or core::ptr::null_mut()
        => StreamLine, on_line(size, stream), |result| line(result, size, stream),
        in_memory(false, has_line(stream, size, true));
    getline(
        to: *mut *mut c_char as inout(line), room: *mut size_t as inout(capacity),
        stream: *mut FILE as stream,
    ) -> ssize_t, or -1
        => StreamGetLine, on(stream), |result| bytes(result, stream),
        in_memory(false, has_up_to(stream, b'\n'.into()));
    getdelim(
        to: *mut *mut c_char as inout(line), room: *mut size_t as inout(capacity),
        end: c_int as number(character), stream: *mut FILE as stream,
    ) -> ssize_t, or -1
        => StreamGetLine, on(stream), |result| bytes(result, stream),
        in_memory(false, has_up_to(stream, end));
    __getdelim(
        to: *mut *mut c_char as inout(line), room: *mut size_t as inout(capacity),
        end: c_int as number(character), stream: *mut FILE as stream,
    ) -> ssize_t, or -1
        => StreamGetLine, on(stream), |result| bytes(result, stream),
        in_memory(false, has_up_to(stream, end));
    fputs(text: *const c_char as text, stream: *mut FILE as stream) -> c_int, or -1
        => StreamPutString, on(stream), |result| string(result, text, 0),
        in_memory(false, has_room_for_string(stream, text, false));
    fputs_unlocked(text: *const c_char as text, stream: *mut FILE as stream) -> c_int, or -1
        => StreamPutString, on(stream), |result| string(result, text, 0),
        in_memory(false, has_room_for_string(stream, text, false));
    puts(text: *const c_char as text) -> c_int, or -1
        => PutString, on(output()), |result| string(result, text, 1),
        in_memory(false, has_room_for_string(output(), text, true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_as_long_as_it_was_read() {
        // SAFETY: the stored text ends with a zero.
        let bytes = |stored: &[u8], size, at_end| unsafe { line_bytes(stored.as_ptr(), size, at_end) };
        assert_eq!(bytes(b"abc\n\0", 100, false), 4);
        assert_eq!(bytes(b"\n\0", 100, false), 1);
        assert_eq!(bytes(b"a\0b\n\0", 100, false), 4);
        assert_eq!(bytes(b"\0\0\n\0", 100, false), 3);
        assert_eq!(bytes(b"abc\0", 4, false), 3);
        assert_eq!(bytes(b"a\0c\0", 4, false), 3);
        assert_eq!(bytes(b"\0", 1, false), 0);
        assert_eq!(bytes(b"last\0", 100, true), 4);
    }
}
