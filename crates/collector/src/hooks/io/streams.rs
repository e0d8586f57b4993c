//! Streams: opening, closing, flushing, moving about, and blocks of bytes.

use core::ffi::{c_char, c_int, c_long, c_void};

use libc::{FILE, fpos_t, off_t, off64_t, size_t};

use super::bracket::{Closing, Descriptor, io, opens};
use super::buffered::{Locking, items_at_once, items_to_read, items_to_write, room_at_once};
use super::stream::Stream;
use crate::hooks::family::errno_of;
use crate::operation::{Outcome, errno};

#[inline]
fn on(stream: *mut FILE) -> Descriptor {
    Descriptor(Stream(stream).descriptor())
}

/// Of `fread`: whole items.
#[inline]
fn read_items(stream: *mut FILE, items: size_t, size: size_t, asked: size_t) -> Outcome {
    Stream(stream).taken((items * size) as u64, items == asked || size == 0)
}

/// Of `fwrite`: whole items.
#[inline]
fn written_items(items: size_t, size: size_t, asked: size_t) -> Outcome {
    let error = if items == asked || size == 0 { 0 } else { errno() };
    Outcome { bytes: (items * size) as u64, error }
}

io! {
    fclose(stream: *mut FILE) -> c_int, or -1 => StreamClose, Closing(Stream(stream).descriptor()), errno_of;
    fflush(stream: *mut FILE) -> c_int, or -1 => StreamFlush, on(stream), errno_of;
    fflush_unlocked(stream: *mut FILE) -> c_int, or -1 => StreamFlush, on(stream), errno_of;
    fseek(stream: *mut FILE, to: c_long, from: c_int) -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fseeko(stream: *mut FILE, to: off_t, from: c_int) -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fseeko64(stream: *mut FILE, to: off64_t, from: c_int) -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fsetpos(stream: *mut FILE, to: *const fpos_t) -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fsetpos64(stream: *mut FILE, to: *const c_void) -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    rewind(stream: *mut FILE) -> (), or () => StreamSeek, on(stream), |()| Outcome::default();
    fread(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t, or 0
        => StreamRead, on(stream), |items| read_items(stream, items, size, count),
        in_memory(stream, items_at_once(stream, size, count, Locking::Locks), items_to_read(stream, size, count));
    fread_unlocked(to: *mut c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t, or 0
        => StreamRead, on(stream), |items| read_items(stream, items, size, count),
        in_memory(stream, items_at_once(stream, size, count, Locking::Unlocked), items_to_read(stream, size, count));
    __fread_chk(to: *mut c_void, room: size_t, size: size_t, count: size_t, stream: *mut FILE) -> size_t, or 0
        => StreamRead, on(stream), |items| read_items(stream, items, size, count),
        in_memory(stream, items_at_once(stream, size, count, Locking::Locks), items_to_read(stream, size, count));
    __fread_unlocked_chk(
        to: *mut c_void, room: size_t, size: size_t, count: size_t, stream: *mut FILE,
    ) -> size_t, or 0 => StreamRead, on(stream), |items| read_items(stream, items, size, count),
        in_memory(stream, items_at_once(stream, size, count, Locking::Unlocked), items_to_read(stream, size, count));
    fwrite(from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t, or 0
        => StreamWrite, on(stream), |items| written_items(items, size, count),
        in_memory(
            stream, room_at_once(stream, size, count, Locking::Locks), items_to_write(stream, from.cast(), size, count),
        );
    fwrite_unlocked(from: *const c_void, size: size_t, count: size_t, stream: *mut FILE) -> size_t, or 0
        => StreamWrite, on(stream), |items| written_items(items, size, count),
        in_memory(
            stream, room_at_once(stream, size, count, Locking::Unlocked), items_to_write(stream, from.cast(), size, count),
        );
}

mod opening {
    use super::{FILE, c_char, opens};

    opens! {
        fopen(path: *const c_char, mode: *const c_char) -> *mut FILE, or core::ptr::null_mut() => StreamOpen, path;
        fopen64(path: *const c_char, mode: *const c_char) -> *mut FILE, or core::ptr::null_mut() => StreamOpen, path;
        freopen(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE, or core::ptr::null_mut()
            => StreamReopen, path;
        freopen64(path: *const c_char, mode: *const c_char, stream: *mut FILE) -> *mut FILE, or core::ptr::null_mut()
            => StreamReopen, path;
        tmpfile() -> *mut FILE, or core::ptr::null_mut() => StreamOpen, core::ptr::null();
        tmpfile64() -> *mut FILE, or core::ptr::null_mut() => StreamOpen, core::ptr::null();
    }
}

/// Starting a process at the other end of a pipe.
mod process_pipes {
    use proust_log::operations::Operation;

    use super::{FILE, c_char};
    use crate::hooks::family::real_functions;
    use crate::hooks::io::bracket::{missing, opening};
    use crate::hooks::signal_inheritance::handing_over;

    /// `popen`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
        let Some(function) = real::popen() else { return missing(core::ptr::null_mut()) };
        // SAFETY: the real function with the arguments that the program gave; no path.
        unsafe {
            opening(Operation::OpenPipeStream, core::ptr::null(), || handing_over(|| function(command, mode)))
        }
    }

    real_functions! {
        popen(*const c_char, *const c_char) -> *mut FILE;
    }
}

/// Finds the real functions of the whole family.
pub fn find_family() {
    find_all();
    opening::find_all();
    process_pipes::find_all();
}
