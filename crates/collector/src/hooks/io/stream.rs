//! The state of a stream that is visible from outside: the part of the C library's `FILE` that is public
//! (`struct_FILE.h`).
//!
//! Read without the stream's lock, as a hint: another thread may change it meanwhile.

use core::ffi::{c_char, c_int, c_ushort, c_void};

use libc::FILE;

use crate::operation::{Outcome, errno};

#[repr(C)]
pub(super) struct Layout {
    pub(super) flags: c_int,
    pub(super) read_ptr: usize,
    pub(super) read_end: usize,
    read_base: usize,
    pub(super) write_base: usize,
    pub(super) write_ptr: usize,
    pub(super) write_end: usize,
    buffer_base: usize,
    pub(super) buffer_end: usize,
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
    pub(super) lock: *const Lock,
    offset: i64,
    wide: [usize; 5],
    /// Above 0: of wide characters.
    pub(super) mode: c_int,
}

const _: () = {
    use core::mem::offset_of;
    assert!(offset_of!(Layout, descriptor) == 112 && offset_of!(Layout, lock) == 136);
    assert!(offset_of!(Layout, mode) == 192);
};

/// A stream's lock.
#[repr(C)]
pub(super) struct Lock {
    pub(super) taken: c_int,
    count: c_int,
    pub(super) owner: u64,
}

const END_SEEN: c_int = 0x10;
const ERROR_SEEN: c_int = 0x20;
const IN_BACKUP: c_int = 0x100;
const HAS_DESCRIPTOR: c_int = 0x2000;

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
        // SAFETY: the program gives a stream that is open; its public part has this layout. Volatile, since
        // other threads may write it.
        unsafe {
            (&raw const (*$stream.0.cast::<$crate::hooks::io::stream::Layout>()).$field).read_volatile()
        }
    };
}
pub(super) use field;

impl Stream {
    /// Its descriptor, if it has one. Of a stream that is not null.
    #[inline(always)]
    pub fn own_descriptor(self) -> Option<c_int> {
        (field!(self, flags) & HAS_DESCRIPTOR != 0).then(|| field!(self, descriptor))
    }

    /// Its descriptor; -1 if it has none (a stream in memory, or of the program's own functions; no stream).
    #[inline]
    pub fn descriptor(self) -> c_int {
        if self.0.is_null() { -1 } else { self.own_descriptor().unwrap_or(-1) }
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

    /// The error of a read that returned nothing: none at the end of the stream.
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
    use crate::hooks::io::buffered::Locking;
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
        assert!(!stream.holds(1, Locking::Locks));
        // SAFETY: an open stream.
        unsafe {
            assert_eq!(libc::fgetc(stream.0), 'f' as c_int);
            assert_eq!(stream.taken_since(start), 1);
            assert!(stream.holds(1, Locking::Locks));
            let before = stream.position();
            for _ in 0..5 {
                libc::fgetc(stream.0);
            }
            assert_eq!(stream.taken_since(before), 5);
            assert!(!stream.is_at_end());
            while libc::fgetc(stream.0) >= 0 {}
            assert!(stream.is_at_end() && !stream.holds(1, Locking::Locks));
            assert!(stream.read_error() == 0 && stream.descriptor() < 0);
            libc::fclose(stream.0);
        }
    }
}
