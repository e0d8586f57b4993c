//! Streams: opening, closing, flushing, moving about, and blocks of bytes.

use core::ffi::{c_char, c_int, c_long, c_void};

use libc::{FILE, fpos_t, off_t, off64_t, size_t};

use super::bracket::{Closing, Descriptor, io, opens};
use super::buffered::{Locking, flushes_in_passing, has_items, has_plain_room, has_room_for_items};
use super::stream::Stream;
use crate::hooks::family::errno_of;
use crate::operation::{Outcome, errno};

#[inline]
fn on(stream: *mut FILE) -> Descriptor {
    Descriptor(Stream(stream).descriptor())
}

/// As [`on`], for so many items: of none the stream is not looked at.
#[inline]
fn on_items(stream: *mut FILE, size: size_t, count: size_t) -> Descriptor {
    if size.wrapping_mul(count) == 0 { Descriptor(-1) } else { on(stream) }
}

/// Whether so many items fit into the room that a checking function was given. It ends the program before it
/// looks at the stream if they do not.
#[inline(always)]
fn fits(room: size_t, size: size_t, count: size_t) -> bool {
    size.checked_mul(count).is_some_and(|bytes| bytes <= room)
}

/// As [`on_items`], of a checking function.
#[inline]
fn on_items_in(room: size_t, stream: *mut FILE, size: size_t, count: size_t) -> Descriptor {
    if fits(room, size, count) { on_items(stream, size, count) } else { Descriptor(-1) }
}

/// Of `fread`: whole items.
#[inline]
fn read_items(stream: *mut FILE, items: size_t, size: size_t, asked: size_t) -> Outcome {
    let bytes = (items * size) as u64;
    if items == asked || size == 0 { Outcome { bytes, error: 0 } } else { Stream(stream).taken(bytes, false) }
}

/// Of `fwrite`: whole items.
#[inline]
fn written_items(items: size_t, size: size_t, asked: size_t) -> Outcome {
    let error = if items == asked || size == 0 { 0 } else { errno() };
    Outcome { bytes: (items * size) as u64, error }
}

io! {
    fclose(stream: *mut FILE as stream) -> c_int, or -1
        => StreamClose, Closing(Stream(stream).descriptor()), errno_of;
    fflush(stream: *mut FILE as stream) -> c_int, or -1
        => StreamFlush, on(stream), errno_of, in_memory(false, flushes_in_passing(stream, Locking::Locks));
    fflush_unlocked(stream: *mut FILE as stream) -> c_int, or -1
        => StreamFlush, on(stream), errno_of, in_memory(false, flushes_in_passing(stream, Locking::Unlocked));
    fseek(stream: *mut FILE as stream, to: c_long as number(offset), from: c_int as number(whence))
        -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fseeko(stream: *mut FILE as stream, to: off_t as number(offset), from: c_int as number(whence))
        -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fseeko64(stream: *mut FILE as stream, to: off64_t as number(offset), from: c_int as number(whence))
        -> c_int, or -1 => StreamSeek, on(stream), errno_of;
    fsetpos(stream: *mut FILE as stream, to: *const fpos_t as input(fpos)) -> c_int, or -1
        => StreamSeek, on(stream), errno_of;
    fsetpos64(stream: *mut FILE as stream, to: *const c_void as input(fpos)) -> c_int, or -1
        => StreamSeek, on(stream), errno_of;
    rewind(stream: *mut FILE as stream) -> (), or () => StreamSeek, on(stream), |()| Outcome::default();
    fread(
        to: *mut c_void as bytes_out(size, count), size: size_t as number(size),
        count: size_t as number(count), stream: *mut FILE as stream,
    ) -> size_t, or 0
        => StreamRead, on_items(stream, size, count), |items| read_items(stream, items, size, count),
        in_memory(has_items(stream, size, count, Locking::Locks), false);
    fread_unlocked(
        to: *mut c_void as bytes_out(size, count), size: size_t as number(size),
        count: size_t as number(count), stream: *mut FILE as stream,
    ) -> size_t, or 0
        => StreamRead, on_items(stream, size, count), |items| read_items(stream, items, size, count),
        in_memory(has_items(stream, size, count, Locking::Unlocked), false);
    __fread_chk(
        to: *mut c_void as bytes_out(size, count), room: size_t as number(size),
        size: size_t as number(size), count: size_t as number(count), stream: *mut FILE as stream,
    ) -> size_t, or 0
        => StreamRead, on_items_in(room, stream, size, count), |items| read_items(stream, items, size, count),
        in_memory(fits(room, size, count) && has_items(stream, size, count, Locking::Locks), false);
    __fread_unlocked_chk(
        to: *mut c_void as bytes_out(size, count), room: size_t as number(size),
        size: size_t as number(size), count: size_t as number(count), stream: *mut FILE as stream,
    ) -> size_t, or 0
        => StreamRead, on_items_in(room, stream, size, count), |items| read_items(stream, items, size, count),
        in_memory(fits(room, size, count) && has_items(stream, size, count, Locking::Unlocked), false);
    fwrite(
        from: *const c_void as bytes_in(size, count), size: size_t as number(size),
        count: size_t as number(count), stream: *mut FILE as stream,
    ) -> size_t, or 0
        => StreamWrite, on_items(stream, size, count), |items| written_items(items, size, count),
        in_memory(
            has_plain_room(stream, size, count, Locking::Locks),
            has_room_for_items(stream, from.cast(), size, count),
        );
    fwrite_unlocked(
        from: *const c_void as bytes_in(size, count), size: size_t as number(size),
        count: size_t as number(count), stream: *mut FILE as stream,
    ) -> size_t, or 0
        => StreamWrite, on_items(stream, size, count), |items| written_items(items, size, count),
        in_memory(
            has_plain_room(stream, size, count, Locking::Unlocked),
            has_room_for_items(stream, from.cast(), size, count),
        );
}

mod opening {
    use super::{FILE, c_char, opens};

    opens! {
        fopen(path: *const c_char as path, mode: *const c_char as mode) -> *mut FILE, or core::ptr::null_mut()
            => StreamOpen, path;
        fopen64(path: *const c_char as path, mode: *const c_char as mode)
            -> *mut FILE, or core::ptr::null_mut() => StreamOpen, path;
        freopen(path: *const c_char as path, mode: *const c_char as mode, stream: *mut FILE as stream)
            -> *mut FILE, or core::ptr::null_mut()
            => StreamReopen, path;
        freopen64(path: *const c_char as path, mode: *const c_char as mode, stream: *mut FILE as stream)
            -> *mut FILE, or core::ptr::null_mut()
            => StreamReopen, path;
        tmpfile() -> *mut FILE, or core::ptr::null_mut() => StreamOpen, core::ptr::null();
        tmpfile64() -> *mut FILE, or core::ptr::null_mut() => StreamOpen, core::ptr::null();
    }
}

/// Starting a process at the other end of a pipe.
mod process_pipes {
    use proust_log::operations::Operation;

    use super::{FILE, c_char};
    use crate::hooks::io::bracket::{missing, opening};
    use crate::hooks::signal_inheritance::handing_over;
    use crate::interpose::interpose;

    /// `popen`
    #[unsafe(no_mangle)]
    pub unsafe extern "C-unwind" fn popen(command: *const c_char, mode: *const c_char) -> *mut FILE {
        let Some(function) = real::popen() else { return missing(core::ptr::null_mut()) };
        // SAFETY: the real function with the arguments that the program gave; no path.
        unsafe {
            opening(Operation::OpenPipeStream, core::ptr::null(), || handing_over(|| function(command, mode)))
        }
    }

    interpose! {
        popen(command: *const c_char as command, mode: *const c_char as mode)
            -> *mut FILE, or core::ptr::null_mut();
    }
}
