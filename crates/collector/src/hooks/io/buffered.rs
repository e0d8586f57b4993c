//! Calls for which a stream's buffer is enough: it has all the bytes that they take, or room for all that they put.
//!
//! Such a call takes a few nanoseconds and is counted, not timed. It is foreseen, since only then the clock of a call
//! that may block is read before it does. Where it cannot be foreseen for sure, the call is timed.
//!
//! The hook itself asks only what takes some thirty instructions without any call, so that it need not save a register
//! ([`at_once`]). What that leaves open is asked in full, apart ([`counted`]).

use core::ffi::{c_char, c_int};

use libc::FILE;
use proust_log::operations::{Operation, Target};

use super::stream::{Stream, field};
use crate::lane::thread_pointer;
use crate::operation::{self, Kind, targets};
use crate::single_threaded;

const UNBUFFERED: c_int = 0x2;
const LINE_BUFFERED: c_int = 0x200;
const WRITING: c_int = 0x800;
const NO_LOCK: c_int = 0x8000;

/// Copying or searching more than this takes longer than reading clocks.
const MOST_BYTES: usize = 4096;

/// Counts a call whose `bytes` move in memory; false if it is none, or not to be followed.
#[inline(always)]
pub fn counted(operation: Operation, stream: Stream, bytes: Option<u64>) -> bool {
    let Some(bytes) = bytes else { return false };
    operation::count(Kind { operation, target: targets::known(stream.descriptor()) }, bytes)
}

/// As [`counted`] of the operation with this [`row`](operation::counted::row), where the thread's last call was counted, too; false
/// says nothing. Of the stream that the row's last call was of only the bytes are asked.
#[inline(always)]
pub fn at_once<const ROW: usize>(stream: Stream, bytes: impl Fn() -> Option<u64>) -> bool {
    let Some(counted) = operation::count_again() else { return false };
    if counted.knows::<ROW>(stream.0.cast()) {
        let Some(bytes) = bytes() else { return false };
        counted.add_known::<ROW>(bytes);
        return true;
    }
    let Some(bytes) = bytes() else { return false };
    let mode = field!(stream, mode);
    if mode > 0 {
        return false;
    }
    let target = match stream.own_descriptor() {
        Some(descriptor) => targets::number(descriptor),
        None => Some(Target::None as usize),
    };
    let Some(target) = target else { return false };
    counted.add_more::<ROW>(target, bytes);
    // Once it is one of bytes, it stays so.
    if mode < 0 {
        counted.keep::<ROW>(stream.0.cast(), target);
    }
    true
}

/// Whether a function takes its stream's lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locking {
    /// It does, as all do whose names do not say otherwise.
    Locks,
    /// It leaves that to the program.
    Unlocked,
}

/// Bytes of so many items, if they are few.
#[inline]
fn few(size: usize, count: usize) -> Option<usize> {
    size.checked_mul(count).filter(|&bytes| bytes <= MOST_BYTES)
}

/// As [`few`], of at least one byte: of no items a stream may be null.
#[inline(always)]
fn few_and_some(size: usize, count: usize) -> Option<usize> {
    // Of a product that is too large the C library, too, takes what is left of it.
    let bytes = size.wrapping_mul(count);
    (bytes.wrapping_sub(1) < MOST_BYTES).then_some(bytes)
}

/// As [`items_to_read`], for [`at_once`].
#[inline(always)]
pub fn items_at_once(stream: *mut FILE, size: usize, count: usize, locking: Locking) -> Option<u64> {
    let bytes = few_and_some(size, count)?;
    Stream(stream).holds(bytes, locking).then_some(bytes as u64)
}

/// As [`items_to_write`], for [`at_once`].
#[inline(always)]
pub fn room_at_once(stream: *mut FILE, size: usize, count: usize, locking: Locking) -> Option<u64> {
    let bytes = few_and_some(size, count)?;
    Stream(stream).has_plain_room(bytes, locking).then_some(bytes as u64)
}

/// `fread`: the bytes of all its items, if the buffer has them.
#[inline]
pub fn items_to_read(stream: *mut FILE, size: usize, count: usize) -> Option<u64> {
    let bytes = few(size, count)?;
    let stream = Stream(stream);
    (!stream.0.is_null() && stream.has(bytes)).then_some(bytes as u64)
}

/// `fwrite`: the bytes of all its items, if the buffer has room for them.
///
/// # Safety
/// `from` holds the items.
#[inline]
pub unsafe fn items_to_write(stream: *mut FILE, from: *const u8, size: usize, count: usize) -> Option<u64> {
    let bytes = few(size, count)?;
    let stream = Stream(stream);
    // SAFETY: the caller's promise.
    (!stream.0.is_null() && unsafe { stream.has_room_for(from, bytes, false) }).then_some(bytes as u64)
}

/// `fputs`, or `puts` which adds a `newline`: the bytes, if the buffer has room for them.
///
/// # Safety
/// `text` is a C string.
#[inline]
pub unsafe fn string_to_write(stream: *mut FILE, text: *const c_char, newline: bool) -> Option<u64> {
    let stream = Stream(stream);
    if stream.0.is_null() || text.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { libc::strlen(text) };
    // SAFETY: as above.
    let fits = bytes < MOST_BYTES && unsafe { stream.has_room_for(text.cast(), bytes, newline) };
    fits.then_some(bytes as u64 + u64::from(newline))
}

/// `fgets`: bytes of the line, or of as much as there is `room` for, if the buffer has them. `alone`: the caller sees
/// to it that no other thread uses the stream.
#[inline]
pub fn line_to_read(stream: *mut FILE, room: c_int, alone: bool) -> Option<u64> {
    let room = usize::try_from(room).ok()?.checked_sub(1).filter(|&room| room > 0)?;
    Stream(stream).bytes_up_to(b'\n', room, alone)
}

/// `getdelim`: bytes up to `end`, if the buffer has that.
#[inline]
pub fn rest_to_read(stream: *mut FILE, end: c_int) -> Option<u64> {
    Stream(stream).bytes_up_to(u8::try_from(end).ok()?, usize::MAX, false)
}

impl Stream {
    /// Whether so many bytes can be taken from memory, without waiting for the lock.
    #[inline(always)]
    pub fn holds(self, bytes: usize, locking: Locking) -> bool {
        field!(self, read_ptr).wrapping_add(bytes) <= field!(self, read_end)
            && (locking == Locking::Unlocked || self.is_free())
    }

    /// Whether so many bytes can be put into memory, whatever they are, without waiting for the lock.
    #[inline(always)]
    pub fn has_plain_room(self, bytes: usize, locking: Locking) -> bool {
        field!(self, flags) & LINE_BUFFERED == 0
            && field!(self, write_ptr).wrapping_add(bytes) <= field!(self, write_end)
            && (locking == Locking::Unlocked || self.is_free())
    }

    /// Whether so many bytes can be taken from memory.
    #[inline]
    pub fn has(self, bytes: usize) -> bool {
        bytes <= field!(self, read_end).saturating_sub(field!(self, read_ptr)) && self.is_free()
    }

    /// Whether `character` can be put into memory.
    #[inline]
    pub fn has_room(self, character: c_int) -> bool {
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

    /// How many bytes there are up to the first `end`, or `most` if it is not among the first so many; None if the
    /// buffer has neither, or if that is not to be looked at.
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
        // SAFETY: the stream's buffer, from where it is read next to where it ends. Nobody changes it: there is no other
        // thread, or the program sees to it that none uses the stream meanwhile.
        let found = unsafe { libc::memchr(at as *const _, c_int::from(end), there.min(most)) };
        if !found.is_null() {
            return Some((found as usize - at + 1) as u64);
        }
        (most <= there).then_some(most as u64)
    }

    /// Whether its lock is free, or the calling thread's.
    #[inline]
    fn is_free(self) -> bool {
        let lock = field!(self, lock);
        if lock.is_null() || field!(self, flags) & NO_LOCK != 0 {
            return true;
        }
        // SAFETY: a stream's lock lives as long as the stream.
        unsafe {
            (&raw const (*lock).taken).read_volatile() == 0
                || (&raw const (*lock).owner).read_volatile() == thread_pointer()
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
    fn what_the_buffer_has_is_foreseen() {
        let content = c"first\nsecond line\nlast";
        // SAFETY: open streams of this test; the content outlives the stream, which only reads it.
        unsafe {
            let stream =
                libc::fmemopen(content.as_ptr().cast_mut().cast(), content.count_bytes(), c"r".as_ptr());
            assert_eq!(items_to_read(stream, 1, 1), None);
            libc::fgetc(stream);
            assert_eq!(items_to_read(stream, 2, 3), Some(6));
            assert_eq!(items_to_read(stream, 1, 21), Some(21));
            assert_eq!(items_to_read(stream, 1, 22), None);
            assert_eq!(items_to_read(stream, usize::MAX, 2), None);
            assert_eq!(items_to_read(core::ptr::null_mut(), 1, 0), None);
            assert_eq!(line_to_read(stream, 100, true), Some(5));
            assert_eq!(line_to_read(stream, 6, true), Some(5));
            assert_eq!(line_to_read(stream, 4, true), Some(3));
            assert_eq!((line_to_read(stream, 1, true), line_to_read(stream, -1, true)), (None, None));
            let mut line = [0; 64];
            libc::fgets(line.as_mut_ptr(), 64, stream);
            assert_eq!(line_to_read(stream, 64, true), Some(12));
            libc::fgets(line.as_mut_ptr(), 64, stream);
            // Without its newline the last line may go on.
            assert_eq!((line_to_read(stream, 64, true), line_to_read(stream, 5, true)), (None, Some(4)));
            libc::fclose(stream);
        }
    }

    #[test]
    fn room_depends_on_the_buffer_and_on_what_is_put() {
        // SAFETY: open streams of this test, and C strings.
        unsafe {
            let stream = opened(c"/dev/null", c"w");
            let room = |text: &core::ffi::CStr, newline| string_to_write(stream, text.as_ptr(), newline);
            assert!(!Stream(stream).has_room('a' as c_int) && room(c"a", false).is_none());
            libc::fputc('a' as c_int, stream);
            assert!(Stream(stream).has_room('b' as c_int) && Stream(stream).has_room('\n' as c_int));
            assert_eq!((room(c"b\n", false), room(c"b", true)), (Some(2), Some(2)));
            assert_eq!(items_to_write(stream, c"abcdef".as_ptr().cast(), 3, 2), Some(6));
            assert_eq!(items_to_write(stream, core::ptr::null(), 0, 7), Some(0));

            libc::setvbuf(stream, core::ptr::null_mut(), libc::_IOLBF, 1024);
            libc::fflush(stream);
            libc::fputc('a' as c_int, stream);
            assert!(Stream(stream).has_room('b' as c_int) && !Stream(stream).has_room('\n' as c_int));
            assert_eq!((room(c"b", false), room(c"b\n", false), room(c"b", true)), (Some(1), None, None));

            libc::setvbuf(stream, core::ptr::null_mut(), libc::_IONBF, 0);
            libc::fputc('a' as c_int, stream);
            assert!(!Stream(stream).has_room('b' as c_int) && room(c"b", false).is_none());
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
            assert_eq!(items_to_write(stream, [0; 100].as_ptr(), 1, 99), Some(99));
            assert_eq!(items_to_write(stream, [0; 100].as_ptr(), 1, 100), None);
            libc::fclose(stream);
        }
    }
}
