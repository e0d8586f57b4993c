//! What can be seen of a stream from outside: the part of the C library's `FILE` that is public (`struct_FILE.h`).
//!
//! Read without the stream's lock, as a hint: another thread may change it meanwhile.

use core::ffi::{c_char, c_int, c_ushort, c_void};

use libc::FILE;

use crate::lane::thread_pointer;
use crate::operation::{Outcome, errno};

#[repr(C)]
struct Layout {
    flags: c_int,
    read_ptr: usize,
    read_end: usize,
    read_base: usize,
    write_base: usize,
    write_ptr: usize,
    write_end: usize,
    buffer_base: usize,
    buffer_end: usize,
    save_base: usize,
    backup_base: usize,
    save_end: usize,
    markers: *mut c_void,
    chain: *mut c_void,
    descriptor: c_int,
    flags2: c_int,
    old_offset: i64,
    column: c_ushort,
    vtable_offset: i8,
    short_buffer: [c_char; 1],
    lock: *const Lock,
}

const _: () =
    assert!(core::mem::offset_of!(Layout, descriptor) == 112 && core::mem::offset_of!(Layout, lock) == 136);

/// A stream's lock.
#[repr(C)]
struct Lock {
    taken: c_int,
    count: c_int,
    owner: u64,
}

const UNBUFFERED: c_int = 0x2;
const END_SEEN: c_int = 0x10;
const ERROR_SEEN: c_int = 0x20;
const IN_BACKUP: c_int = 0x100;
const LINE_BUFFERED: c_int = 0x200;
const WRITING: c_int = 0x800;
const HAS_DESCRIPTOR: c_int = 0x2000;
const NO_LOCK: c_int = 0x8000;

unsafe extern "C" {
    static stdin: *mut FILE;
    static stdout: *mut FILE;
}

/// The standard input.
#[inline]
pub fn input() -> *mut FILE {
    // SAFETY: the C library's variable, which the program may set.
    unsafe { stdin }
}

/// The standard output.
#[inline]
pub fn output() -> *mut FILE {
    // SAFETY: as above.
    unsafe { stdout }
}

/// A stream.
#[derive(Clone, Copy, Debug)]
pub struct Stream(pub *mut FILE);

/// Where reading stands in a stream's buffer.
#[derive(Clone, Copy, Debug)]
pub struct Position {
    at: usize,
    end: usize,
    base: usize,
    backup: bool,
}

macro_rules! field {
    ($stream:expr, $field:ident) => {
        // SAFETY: the program gives a stream that is open; its public part has this layout. Volatile, since other
        // threads may write it.
        unsafe { (&raw const (*$stream.0.cast::<Layout>()).$field).read_volatile() }
    };
}

impl Stream {
    /// Its descriptor; -1 if it has none (a stream in memory, or of the program's own functions; no stream).
    #[inline]
    pub fn descriptor(self) -> c_int {
        if self.0.is_null() || field!(self, flags) & HAS_DESCRIPTOR == 0 {
            -1
        } else {
            field!(self, descriptor)
        }
    }

    /// Whether the next character can be taken from memory.
    #[inline]
    pub fn has_character(self) -> bool {
        field!(self, read_ptr) < field!(self, read_end) && self.is_free()
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

    /// Where reading stands.
    #[inline]
    pub fn position(self) -> Position {
        Position {
            at: field!(self, read_ptr),
            end: field!(self, read_end),
            base: field!(self, read_base),
            backup: field!(self, flags) & IN_BACKUP != 0,
        }
    }

    /// Bytes read since `before`, where the buffer was filled at most once meanwhile.
    pub fn taken_since(self, before: Position) -> u64 {
        let now = self.position();
        if now.backup || before.backup {
            return 0;
        }
        let taken = if (now.base, now.end) == (before.base, before.end) && now.at >= before.at {
            now.at - before.at
        } else {
            before.end.saturating_sub(before.at) + now.at.saturating_sub(now.base)
        };
        taken as u64
    }

    /// Whether it has seen its end.
    #[inline]
    pub fn is_at_end(self) -> bool {
        field!(self, flags) & END_SEEN != 0
    }

    /// The error of reading that came to nothing: none at the end of the stream.
    pub fn read_error(self) -> u32 {
        if field!(self, flags) & (ERROR_SEEN | END_SEEN) == ERROR_SEEN { errno() } else { 0 }
    }

    /// Of reading that returns how many bytes it took where it `succeeded`.
    #[inline]
    pub fn taken(self, bytes: u64, succeeded: bool) -> Outcome {
        Outcome { bytes, error: if succeeded { 0 } else { self.read_error() } }
    }
}

/// Of writing that returns a negative number where it failed.
#[inline]
pub fn written(result: c_int, bytes: u64) -> Outcome {
    if result < 0 { Outcome { bytes: 0, error: errno() } } else { Outcome { bytes, error: 0 } }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::ffi::CStr;

    fn in_memory(content: &CStr) -> Stream {
        // SAFETY: the content outlives the stream, which only reads it.
        Stream(unsafe {
            libc::fmemopen(content.as_ptr().cast_mut().cast(), content.count_bytes(), c"r".as_ptr())
        })
    }

    #[test]
    fn what_was_read_is_seen_from_outside() {
        let stream = in_memory(c"first\nsecond\n");
        let start = stream.position();
        assert!(!stream.has_character());
        // SAFETY: an open stream.
        unsafe {
            assert_eq!(libc::fgetc(stream.0), 'f' as c_int);
            assert_eq!(stream.taken_since(start), 1);
            assert!(stream.has_character());
            let before = stream.position();
            for _ in 0..5 {
                libc::fgetc(stream.0);
            }
            assert_eq!(stream.taken_since(before), 5);
            assert!(!stream.is_at_end());
            while libc::fgetc(stream.0) >= 0 {}
            assert!(stream.is_at_end() && !stream.has_character());
            assert!(stream.read_error() == 0 && stream.descriptor() < 0);
            libc::fclose(stream.0);
        }
    }

    #[test]
    fn room_depends_on_the_buffer_and_on_the_character() {
        // SAFETY: an open stream, closed at the end.
        unsafe {
            let stream = Stream(libc::fopen(c"/dev/null".as_ptr(), c"w".as_ptr()));
            assert!(stream.descriptor() >= 0);
            assert!(!stream.has_room('a' as c_int));
            libc::fputc('a' as c_int, stream.0);
            assert!(stream.has_room('b' as c_int) && stream.has_room('\n' as c_int));
            libc::setvbuf(stream.0, core::ptr::null_mut(), libc::_IOLBF, 1024);
            libc::fflush(stream.0);
            libc::fputc('a' as c_int, stream.0);
            assert!(stream.has_room('b' as c_int) && !stream.has_room('\n' as c_int));
            libc::setvbuf(stream.0, core::ptr::null_mut(), libc::_IONBF, 0);
            libc::fputc('a' as c_int, stream.0);
            assert!(!stream.has_room('b' as c_int));
            libc::fclose(stream.0);
        }
    }
}
