//! Calls for which a stream's buffer is enough: it has all the bytes that they take, or room for all that
//! they put.
//!
//! Such a call touches the program's memory only, takes a few nanoseconds, and is no operation: it is passed
//! on as it is. It is foreseen, since only then the clock of a call that may block is read before it does.
//! Where it cannot be foreseen for sure, the call is an operation.
//!
//! The hook itself checks only what takes a few loads without any call, so that it need not save a register.
//! Cases that this leaves open are checked in full, apart.

use core::ffi::{c_char, c_int};

use libc::FILE;

use super::stream::{Stream, field};
use crate::lane::control_block;
use crate::life;
use crate::single_threaded;

const UNBUFFERED: c_int = 0x2;
const LINE_BUFFERED: c_int = 0x200;
const WRITING: c_int = 0x800;
const NO_LOCK: c_int = 0x8000;

/// Copying or searching more than this takes longer than reading clocks.
const MOST_BYTES: usize = 4096;

/// Whether a function takes its stream's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// It does, as all do whose names do not say otherwise.
    Locks,
    /// It leaves that to the program.
    Unlocked,
}

/// Bytes of so many items, if there are some, and they are few: of no items a stream may be null.
#[inline(always)]
fn few(size: usize, count: usize) -> Option<usize> {
    // Of a product that is too large the C library, too, takes what is left of it.
    let bytes = size.wrapping_mul(count);
    (bytes.wrapping_sub(1) < MOST_BYTES).then_some(bytes)
}

/// `fread`: whether the buffer has the bytes of all its items.
#[inline(always)]
pub fn has_items(stream: *mut FILE, size: usize, count: usize, locking: Locking) -> bool {
    few(size, count).is_some_and(|bytes| Stream(stream).holds(bytes, locking))
}

/// `fwrite`: whether the buffer has room for the bytes of all its items, whatever they are.
#[inline(always)]
pub fn has_plain_room(stream: *mut FILE, size: usize, count: usize, locking: Locking) -> bool {
    few(size, count).is_some_and(|bytes| Stream(stream).has_plain_room(bytes, locking))
}

/// `fwrite`: whether the buffer has room for the bytes of all its items.
///
/// # Safety
/// `from` holds the items.
#[inline]
pub unsafe fn has_room_for_items(stream: *mut FILE, from: *const u8, size: usize, count: usize) -> bool {
    // SAFETY: the caller's promise.
    few(size, count).is_some_and(|bytes| unsafe { Stream(stream).has_room_for(from, bytes, false) })
}

/// `fputs`, or `puts` which adds a `newline`: whether the buffer has room for the string.
///
/// # Safety
/// `text` is a C string.
#[inline]
pub unsafe fn has_room_for_string(stream: *mut FILE, text: *const c_char, newline: bool) -> bool {
    let stream = Stream(stream);
    if stream.0.is_null() || text.is_null() {
        return false;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { libc::strlen(text) };
    // SAFETY: as above.
    bytes < MOST_BYTES && unsafe { stream.has_room_for(text.cast(), bytes, newline) }
}

/// `fgets`: whether the buffer has the line, or as much of it as there is `room` for. `alone`: the caller
/// sees to it that no other thread uses the stream.
#[inline]
pub fn has_line(stream: *mut FILE, room: c_int, alone: bool) -> bool {
    let room = usize::try_from(room).ok().and_then(|room| room.checked_sub(1)).filter(|&room| room > 0);
    room.is_some_and(|room| Stream(stream).bytes_up_to(b'\n', room, alone).is_some())
}

/// `getdelim`: whether the buffer has all up to `end`.
#[inline]
pub fn has_up_to(stream: *mut FILE, end: c_int) -> bool {
    u8::try_from(end).is_ok_and(|end| Stream(stream).bytes_up_to(end, usize::MAX, false).is_some())
}

/// `fflush`: whether a forked child that has recorded nothing yet flushes a stream that has nothing to flush.
/// Such a call counts as an operation otherwise, but many children make one before they exit, and it is not
/// worth a log.
#[inline]
pub fn flushes_in_passing(stream: *mut FILE, locking: Locking) -> bool {
    life::is_brief() && !stream.is_null() && Stream(stream).has_nothing_to_flush(locking)
}

impl Stream {
    /// Whether nothing of it is to be written, nor to be read again.
    fn has_nothing_to_flush(self, locking: Locking) -> bool {
        field!(self, write_ptr) <= field!(self, write_base)
            && field!(self, read_ptr) == field!(self, read_end)
            && field!(self, mode) <= 0
            && (locking == Locking::Unlocked || self.is_free())
    }

    /// Whether so many bytes can be taken from memory, without waiting for the lock.
    #[inline(always)]
    pub fn holds(self, bytes: usize, locking: Locking) -> bool {
        field!(self, read_ptr).wrapping_add(bytes) <= field!(self, read_end)
            && field!(self, mode) <= 0
            && (locking == Locking::Unlocked || self.is_free())
    }

    /// Whether so many bytes can be put into memory, whatever they are, without waiting for the lock.
    #[inline(always)]
    pub fn has_plain_room(self, bytes: usize, locking: Locking) -> bool {
        field!(self, flags) & LINE_BUFFERED == 0
            && field!(self, write_ptr).wrapping_add(bytes) <= field!(self, write_end)
            && field!(self, mode) <= 0
            && (locking == Locking::Unlocked || self.is_free())
    }

    /// Whether `character` can be put into memory.
    #[inline]
    pub fn has_room(self, character: c_int) -> bool {
        if field!(self, mode) > 0 {
            return false;
        }
        let at = field!(self, write_ptr);
        if at < field!(self, write_end) {
            return self.is_free();
        }
        let flags = field!(self, flags);
        flags & (LINE_BUFFERED | WRITING | UNBUFFERED) == LINE_BUFFERED | WRITING
            && character as u8 != b'\n'
            && at < field!(self, buffer_end)
            && self.is_free()
    }

    /// Whether so many bytes can be put into memory at once, and a `newline` behind them.
    ///
    /// # Safety
    /// They are at `from`.
    #[inline]
    unsafe fn has_room_for(self, from: *const u8, bytes: usize, newline: bool) -> bool {
        let flags = field!(self, flags);
        let lines = flags & LINE_BUFFERED != 0;
        let end = if lines { field!(self, buffer_end) } else { field!(self, write_end) };
        if bytes + usize::from(newline) > end.saturating_sub(field!(self, write_ptr))
            || field!(self, mode) > 0
            || !self.is_free()
        {
            return false;
        }
        // SAFETY: the caller's promise.
        let has_newline = || unsafe { core::slice::from_raw_parts(from, bytes) }.contains(&b'\n');
        !lines || flags & (WRITING | UNBUFFERED) == WRITING && !newline && (bytes == 0 || !has_newline())
    }

    /// How many bytes there are up to the first `end`, or `most` if it is not among the first so many; None
    /// if the buffer has neither, or if that is not to be looked at.
    #[inline]
    fn bytes_up_to(self, end: u8, most: usize, alone: bool) -> Option<u64> {
        if self.0.is_null() || field!(self, mode) > 0 {
            return None;
        }
        let at = field!(self, read_ptr);
        let there = field!(self, read_end).saturating_sub(at).min(MOST_BYTES);
        if there == 0 || !alone && field!(self, flags) & NO_LOCK == 0 && !single_threaded::is() {
            return None;
        }
        // SAFETY: the stream's buffer, from where it is read next to where it ends. Nothing changes it: there
        // is no other thread, or the program makes sure that none uses the stream meanwhile.
        let found = unsafe { libc::memchr(at as *const _, c_int::from(end), there.min(most)) };
        if !found.is_null() {
            return Some((found as usize - at + 1) as u64);
        }
        (most <= there).then_some(most as u64)
    }

    /// Whether its lock is free, or the calling thread's.
    #[inline(always)]
    fn is_free(self) -> bool {
        let lock = field!(self, lock);
        if lock.is_null() || field!(self, flags) & NO_LOCK != 0 {
            return true;
        }
        // SAFETY: a stream's lock lives as long as the stream.
        unsafe {
            (&raw const (*lock).taken).read_volatile() == 0
                || (&raw const (*lock).owner).read_volatile() == control_block()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn opened(path: &core::ffi::CStr, mode: &core::ffi::CStr) -> *mut FILE {
        // SAFETY: C strings.
        let stream = unsafe { libc::fopen(path.as_ptr(), mode.as_ptr()) };
        assert!(Stream(stream).descriptor() >= 0);
        stream
    }

    #[test]
    fn a_stream_has_nothing_to_flush_until_something_is_written_or_read_ahead() {
        let path = std::env::temp_dir().join(format!("proust-flush-{}", std::process::id()));
        std::fs::write(&path, "text").unwrap();
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        let stream = opened(&name, c"r+");
        let is_empty = || Stream(stream).has_nothing_to_flush(Locking::Locks);
        // SAFETY: an open stream.
        unsafe {
            assert!(is_empty());
            libc::fgetc(stream);
            assert!(!is_empty());
            libc::fflush(stream);
            libc::fputc(c_int::from(b'x'), stream);
            assert!(!is_empty());
            libc::fflush(stream);
            assert!(is_empty());
            libc::fclose(stream);
        }
        std::fs::remove_file(path).unwrap();
    }

    #[test]
    fn what_the_buffer_has_is_foreseen() {
        let content = c"first\nsecond line\nlast";
        let items = |stream, size, count| has_items(stream, size, count, Locking::Locks);
        let line = |stream, room: usize| Stream(stream).bytes_up_to(b'\n', room - 1, true);
        // SAFETY: open streams of this test; the content outlives the stream, which only reads it.
        unsafe {
            let stream =
                libc::fmemopen(content.as_ptr().cast_mut().cast(), content.count_bytes(), c"r".as_ptr());
            assert!(!items(stream, 1, 1));
            libc::fgetc(stream);
            assert!(items(stream, 2, 3));
            assert!(items(stream, 1, 21));
            assert!(!items(stream, 1, 22));
            assert!(!items(stream, usize::MAX, 2));
            assert!(!items(core::ptr::null_mut(), 1, 0));
            assert_eq!(line(stream, 100), Some(5));
            assert_eq!(line(stream, 6), Some(5));
            assert_eq!(line(stream, 4), Some(3));
            assert!(!has_line(stream, 1, true) && !has_line(stream, -1, true));
            let mut stored = [0; 64];
            libc::fgets(stored.as_mut_ptr(), 64, stream);
            assert_eq!(line(stream, 64), Some(12));
            libc::fgets(stored.as_mut_ptr(), 64, stream);
            // Without its newline the last line may continue.
            assert_eq!((line(stream, 64), line(stream, 5)), (None, Some(4)));
            assert!(!has_line(stream, 64, true) && has_line(stream, 5, true));
            libc::fclose(stream);
        }
    }

    #[test]
    fn room_depends_on_the_buffer_and_on_what_is_put() {
        // SAFETY: open streams of this test, and C strings.
        unsafe {
            let stream = opened(c"/dev/null", c"w");
            let room = |text: &core::ffi::CStr, newline| has_room_for_string(stream, text.as_ptr(), newline);
            assert!(!Stream(stream).has_room('a' as c_int) && !room(c"a", false));
            libc::fputc('a' as c_int, stream);
            assert!(Stream(stream).has_room('b' as c_int) && Stream(stream).has_room('\n' as c_int));
            assert!(room(c"b\n", false) && room(c"b", true));
            assert!(has_room_for_items(stream, c"abcdef".as_ptr().cast(), 3, 2));
            assert!(!has_room_for_items(stream, core::ptr::null(), 0, 7));

            libc::setvbuf(stream, core::ptr::null_mut(), libc::_IOLBF, 1024);
            libc::fflush(stream);
            libc::fputc('a' as c_int, stream);
            assert!(Stream(stream).has_room('b' as c_int) && !Stream(stream).has_room('\n' as c_int));
            assert_eq!((room(c"b", false), room(c"b\n", false), room(c"b", true)), (true, false, false));

            libc::setvbuf(stream, core::ptr::null_mut(), libc::_IONBF, 0);
            libc::fputc('a' as c_int, stream);
            assert!(!Stream(stream).has_room('b' as c_int) && !room(c"b", false));
            libc::fclose(stream);
        }
    }

    #[test]
    fn a_full_buffer_has_no_room() {
        let mut buffer = [0_u8; 100];
        // SAFETY: an open stream of this test; the buffer outlives it.
        unsafe {
            let stream = opened(c"/dev/null", c"w");
            libc::setvbuf(stream, buffer.as_mut_ptr().cast(), libc::_IOFBF, buffer.len());
            libc::fputc('a' as c_int, stream);
            assert!(has_room_for_items(stream, [0; 100].as_ptr(), 1, 99));
            assert!(!has_room_for_items(stream, [0; 100].as_ptr(), 1, 100));
            libc::fclose(stream);
        }
    }
}
